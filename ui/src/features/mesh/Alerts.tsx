// What a person has to know of their machines, the newest first: what it is, in what words it was found, and what to do.
import type { Alert } from "~/ipc/generated/mesh";
import { Mark } from "~/primitives/Icon";
import { useParts } from "~/primitives/Parts";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Mesh.module.css";
import { alertWords } from "./words";

export function Alerts({ alerts }: { alerts: readonly Alert[] }) {
  const { shown, rest } = useParts(alerts);
  if (alerts.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby="alerts">
      <h2 id="alerts">What you should look at</h2>
      <ul className={styles.list}>
        {shown.map((one, at) => <li key={`${one.at} ${one.kind} ${one.node ?? ""} ${at}`}><One alert={one} /></li>)}
      </ul>
      {rest}
    </section>
  );
}

function One({ alert }: { alert: Alert }) {
  const { title, todo } = alertWords(alert);
  return (
    <article className={styles.alert} aria-label={title}>
      <h3><Mark name="unknown" size={13} /> <Words of={title} /></h3>
      <p>{todo}</p>
      <p className={styles.note}>{alert.says !== "" && <>What was found: <Words of={`${alert.says}${/[.!?]$/.test(alert.says) ? "" : "."}`} /> </>}<Time at={alert.at} ago /></p>
    </article>
  );
}
