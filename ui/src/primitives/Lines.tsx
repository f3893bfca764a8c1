// Many lines of text behind a title that opens: nothing is drawn before it is open, and of many lines those in sight.
import { useState } from "react";
import { VirtualRows } from "./VirtualRows";
import { Words } from "./Words";
import styles from "./Lines.module.css";

/** Up to so many lines all of them are drawn. */
const ALL_MAX = 200;

interface Line { key: string; text: string; as: Change }
const keyOf = (line: Line) => line.key;

type Change = "add" | "del" | "place" | undefined;

/** What each line of a unified diff is; names of files stand before the first place. */
function changesOf(lines: readonly string[]): Change[] {
  const first = lines.findIndex((line) => line.startsWith("@@"));
  return lines.map((line, at) => (line.startsWith("@@") || at < first ? "place" : line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : undefined));
}

/** `diff`: the lines are a unified diff, and look like one. `opened` is told whenever it opens. */
export function Lines({ title, lines, mono = false, diff = false, opened }: { title: string; lines: readonly string[]; mono?: boolean; diff?: boolean; opened?: () => void }) {
  const [isOpen, setOpen] = useState(false);
  if (lines.length === 0) return null;
  const changes = diff ? changesOf(lines) : [];
  const rows = lines.map((text, at) => ({ key: String(at), text, as: changes[at] }));
  const drawn = (line: Line) => <div className={styles.line} data-change={line.as}><Words of={line.text} /></div>;
  return (
    <details className={styles.lines} data-mono={mono || undefined} data-diff={diff || undefined} onToggle={(event) => { setOpen(event.currentTarget.open); if (event.currentTarget.open) opened?.(); }}>
      <summary>{title}</summary>
      {isOpen && (rows.length <= ALL_MAX
        ? <div className={styles.all}>{rows.map((line) => <div key={line.key} className={styles.line} data-change={line.as}><Words of={line.text} /></div>)}</div>
        : <div className={styles.many}><VirtualRows rows={rows} height={18} measured rowKey={keyOf} role="list" label={title}>{drawn}</VirtualRows></div>)}
    </details>
  );
}
