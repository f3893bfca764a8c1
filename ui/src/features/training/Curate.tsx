// What a dataset of the work so far would hold: counts, some examples, and what is left out and why, before a person keeps it.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "~/ipc/client";
import type { Curation, ShownExample } from "~/ipc/generated/training";
import { Button } from "~/primitives/Button";
import { Check } from "~/primitives/Field";
import { Hash } from "~/primitives/Hash";
import { Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { capital } from "~/screen/words";
import styles from "./Training.module.css";
import { reason } from "./words";

export function Curate() {
  const look = useAct("training.preview");
  const keep = useAct("training.curate");
  const [byTime, setByTime] = useState(false);
  const found = look.data;
  return (
    <section className={styles.section} aria-labelledby="curate">
      <h2 id="curate">What would be learned from</h2>
      <p>What a model was sent and what it answered, of tasks that completed, where a receipt says what came of it. You see what it would hold before you keep it.</p>
      <Check label="All my work is in one project: hold the newest of it out" checked={byTime} onChange={() => setByTime(!byTime)} />
      <div className={styles.buttons}>
        <Button because={look.isPending ? "Reading your work" : null} onClick={() => { keep.reset(); look.mutate({ by_time: byTime }); }}>Preview the dataset</Button>
      </div>
      {look.error !== null && <Failed error={look.error} />}
      {found !== undefined && <Card found={found} />}
      {found !== undefined && found.trouble === null && keep.data === undefined && (
        <div className={styles.buttons}>
          <Button because={keep.isPending ? "Keeping" : null} onClick={() => keep.mutate({ by_time: found.by_time, shown: found.sha256 })}>Keep this dataset</Button>
        </div>
      )}
      {keep.error !== null && <Failed error={keep.error} />}
      {keep.data !== undefined && <Said tone="done">Kept: {keep.data.examples} examples, {keep.data.held_out} of them held out.</Said>}
    </section>
  );
}

function Card({ found }: { found: Curation }) {
  return (
    <div className={styles.card} role="group" aria-label="What a dataset would hold">
      {found.trouble !== null
        ? <p role="status"><Words of={capital(found.trouble)} /></p>
        : <p>{found.examples - found.held_out} examples are learned from, with {found.receipts} receipts; {found.held_out} are held out{found.by_time ? ", new in time alone" : ", of other projects"}. <Hash of={found.sha256} /></p>}
      {found.shown.length > 0 && <ul className={styles.list} aria-label="Some of them">{found.shown.map((one) => <Shown key={one.id} of={one} />)}</ul>}
      {found.left_out.length > 0 && (
        <table className={styles.table}>
          <caption className="visually-hidden">What is left out</caption>
          <thead><tr><th scope="col">Left out because</th><th scope="col">Turns</th></tr></thead>
          <tbody>{found.left_out.map((one) => <tr key={one.why}><th scope="row">{reason(one.why)}</th><td>{one.turns}</td></tr>)}</tbody>
        </table>
      )}
      {found.private.map((folder) => <p key={folder}>Private: <Words of={folder} />{found.missing.includes(folder) && ". It is not there: if you moved it, mark it private where it is now"}</p>)}
    </div>
  );
}

function Shown({ of }: { of: ShownExample }) {
  return (
    <li>
      <p>{of.held_out ? "Held out" : "Learned from"}, of <Link to="/task/$id" params={{ id: of.task_id }}>its task</Link></p>
      <p><Words of={of.asked} /></p>
      <p><strong>Answer:</strong> <Words of={of.answer} /></p>
    </li>
  );
}
