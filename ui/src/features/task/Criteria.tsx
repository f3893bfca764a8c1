// What must hold at the end of a task, and what was found when that was checked.
import type { Criterion, Task } from "~/ipc/generated/task";
import type { CriterionOutcome } from "~/ipc/generated/words";
import { Mark, type MarkName } from "~/primitives/Icon";
import type { Tone } from "~/primitives/Tag";
import { Words } from "~/primitives/Words";
import { said } from "~/screen/words";
import type { See } from "~/screen/see";
import styles from "./Task.module.css";

const LOOK: Readonly<Record<CriterionOutcome, { tone: Tone; mark: MarkName; word: string }>> = {
  met: { tone: "done", mark: "done", word: "met" },
  unmet: { tone: "failed", mark: "failed", word: "not met" },
  unchecked: { tone: "waiting", mark: "unknown", word: "you judge it" },
};
const OPEN = { tone: "mute", mark: "idle", word: "checked at the end" } as const;

export function Criteria({ task, see }: { task: Task; see: (see: See) => void }) {
  if (task.criteria.length === 0) return null;
  const met = task.criteria.filter((one) => one.outcome === "met").length;
  const isChecked = task.criteria.some((one) => one.outcome !== null);
  return (
    <details className={styles.criteria} open>
      <summary>Must hold at the end{isChecked ? `: ${met} of ${task.criteria.length} met` : ""}</summary>
      <ul>{task.criteria.map((one) => <Row key={said(one.criterion)} one={one} see={see} />)}</ul>
    </details>
  );
}

function Row({ one, see }: { one: Criterion; see: (see: See) => void }) {
  const look = one.outcome === null ? OPEN : LOOK[one.outcome];
  const [receipt, found] = [one.receipt_id, said(one.found)];
  return (
    <li data-tone={look.tone}>
      <Mark name={look.mark} size={11} />
      {receipt === null
        ? <span><Words of={said(one.criterion)} /></span>
        : <button type="button" onClick={() => see({ kind: "receipt", id: receipt })}><Words of={said(one.criterion)} /></button>}
      <span>{look.word}{found === "" || one.outcome === "unchecked" ? "" : <>: <Words of={found} /></>}</span>
    </li>
  );
}
