// The contexts that a memory was sent in: of which task, in which turns, and whether it helped there.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { TaskContexts, TurnRange } from "~/ipc/generated/knowledge";
import { Answer } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { seeKey } from "~/screen/see";
import { brief, count, said } from "~/screen/words";
import styles from "./Knowledge.module.css";

export function Contexts({ of }: { of: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details className={styles.over} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Contexts it was sent in</summary>
      {open && <Tasks of={of} />}
    </details>
  );
}

function Tasks({ of }: { of: string }) {
  const asked = useAsk("knowledge.memory_contexts", { memory: of });
  return (
    <Answer asked={asked} what="the contexts it was sent in" isEmpty={(answer) => answer.tasks.length === 0} empty={<p className={styles.none}>It was sent in no context yet.</p>}>
      {(answer) => (
        <>
          <ul className={styles.contexts} aria-label="Contexts it was sent in">
            {answer.tasks.map((task) => <OneTask key={task.task_id} task={task} />)}
          </ul>
          {answer.more > 0 && <p className={styles.none}>It was sent in {count(answer.more, "more task")} before these.</p>}
        </>
      )}
    </Answer>
  );
}

function OneTask({ task }: { task: TaskContexts }) {
  const came = [task.helped && "helped", task.contradicted && "contradicted"].filter((part) => part !== false).join(", ");
  return (
    <li>
      <Link to="/task/$id" params={{ id: task.task_id }}><Words of={brief(said(task.title, "A task"))} /></Link>
      <span>{count(task.contexts, "context")}, last <Time at={task.last_at} ago />{came !== "" && <>, <b>{came}</b></>}</span>
      <span>{task.turns.map((range, at) => <span key={at}>{at > 0 && ", "}<Turns task={task.task_id} range={range} /></span>)}</span>
    </li>
  );
}

/** Leads to what was sent in the first of these turns, and in the last. */
function Turns({ task, range }: { task: string; range: TurnRange }) {
  const to = (turn: number, text: string) => (
    <Link to="/task/$id" params={{ id: task }} search={{ see: seeKey({ kind: "turn", attempt: range.attempt, iteration: turn }) }}>{text}</Link>
  );
  const first = to(range.first, `attempt ${range.attempt}, turn ${range.first}`);
  return range.first === range.last ? first : <>{first} to {to(range.last, `turn ${range.last}`)}</>;
}
