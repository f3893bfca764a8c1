// How a trial stands, and changes that raced over the same tasks.
import { Link } from "@tanstack/react-router";
import type { TrialRow } from "~/ipc/generated/successor";
import { many } from "~/primitives/number";
import tables from "~/primitives/Table.module.css";
import { StateTag } from "~/primitives/Tag";
import { Words } from "~/primitives/Words";
import styles from "./Successor.module.css";
import { after, measureName, standing } from "./words";

export function Standing({ row }: { row: TrialRow }) {
  const look = standing(row);
  const then = after(row);
  return <span className={styles.head}><StateTag tone={look.tone} mark={look.mark}>{look.word}</StateTag>{then !== null && <span>{then}</span>}</span>;
}

/** Changes that raced over the same tasks, side by side: each number without the change, and with it. */
export function Race({ rows, of }: { rows: readonly TrialRow[]; of: string }) {
  const names = ["questions", "tokens", "turns", "denials"];
  return (
    <div className={styles.wide}>
      <table className={tables.table} aria-label="Changes that raced">
        <thead>
          <tr><th scope="col">Change</th><th scope="col">Verdict</th>{names.map((name) => <th key={name} scope="col" className={tables.right}>{measureName(name)}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.trial_id}>
              <td className={tables.main}>{row.trial_id === of ? <b><Words of={row.says ?? "This one"} /></b> : <Link to="/successor" search={{ of: row.trial_id }}><Words of={row.says ?? "Its words were erased"} /></Link>}</td>
              <td><Standing row={row} /></td>
              {names.map((name) => {
                const one = row.measures.find((measure) => measure.name === name);
                return <td key={name} className={tables.right}>{one === undefined ? "–" : `${many(one.parent)} to ${many(one.successor)}`}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
