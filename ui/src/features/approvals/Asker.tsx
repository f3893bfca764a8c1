// Who asks, and of which whole. It stands beside what is signed and is no part of it.
import { Link } from "@tanstack/react-router";
import { Words } from "~/primitives/Words";
import { whoAsks } from "~/screen/words";
import styles from "./Asker.module.css";

type Of = Parameters<typeof whoAsks>[0];

/** `leads`: to the whole; not in a window that leads nowhere. */
export function Asker({ of, leads = true }: { of: Of; leads?: boolean }) {
  const lines = whoAsks(of);
  if (lines.length === 0) return null;
  return (
    <ul className={styles.asker} aria-label="Who asks">
      {lines.map(({ words, task }) => <li key={words}>{leads && task !== null ? <Link to="/task/$id" params={{ id: task }}><Words of={words} /></Link> : <Words of={words} />}</li>)}
    </ul>
  );
}

/** The same in a row of a list, on one line. */
export function AskerLine({ of }: { of: Of }) {
  const lines = whoAsks(of);
  return lines.length === 0 ? null : <Words of={lines.map(({ words }) => words).join(" · ")} />;
}
