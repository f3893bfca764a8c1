// The ways by which messages travel: relays, and machines that are reached directly, as the host knows them at this moment.
import type { Mesh, Way } from "~/ipc/generated/mesh";
import { Copyable } from "~/primitives/Copyable";
import { useParts } from "~/primitives/Parts";
import { StateTag } from "~/primitives/Tag";
import { Words } from "~/primitives/Words";
import { capital } from "~/screen/words";
import styles from "./Mesh.module.css";
import { wayLook } from "./words";

export function Ways({ mesh }: { mesh: Mesh }) {
  const { shown, rest } = useParts(mesh.ways);
  return (
    <section className={styles.section} aria-labelledby="ways">
      <h2 id="ways">Ways</h2>
      <p>A message is written to every way that leads to its machine, and counts once, whichever brings it.</p>
      {mesh.ways.length === 0
        ? <p className={styles.note}>None is tried. Name a relay, or the address of this machine on your network.</p>
        : <ul className={styles.rows} aria-label="Ways">{shown.map((one, at) => <li key={`${String(one.is_direct)} ${one.at} ${at}`}><Row way={one} /></li>)}</ul>}
      {rest}
      <details>
        <summary>A relay of your own</summary>
        <div className={styles.form}>
          <p>Hermit can be one, on a machine that the others reach. It keeps sealed messages in memory and reads none of them. It runs until you end it, and needs no store:</p>
          <Copyable text="hermit mesh relay --listen 0.0.0.0:7447" />
        </div>
      </details>
    </section>
  );
}

function Row({ way }: { way: Way }) {
  const look = wayLook(way);
  return (
    <>
      <div className={styles.head}>
        <StateTag tone={look.tone} mark={look.mark}>{look.word}</StateTag>
        <b><Words of={way.at} /></b>
        <span>{way.is_direct ? "directly, on your network" : "relay"}</span>
      </div>
      {way.says !== null && way.says !== "" && <p className={styles.note}><Words of={capital(way.says)} /></p>}
    </>
  );
}
