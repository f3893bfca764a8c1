// What stands in a context in the place of the oldest turns, line by line; each line unfolds to the events it stands for.
import { capital, count, plain, trust } from "~/screen/words";
import { useAsk } from "~/ipc/client";
import type { SummaryLine } from "~/ipc/generated/context";
import type { Task } from "~/ipc/generated/task";
import type { SummaryLineKind } from "~/ipc/generated/words";
import { Button } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { useParts } from "~/primitives/Parts";
import { Answer } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import type { See } from "~/screen/see";
import styles from "./Task.module.css";

const KIND: Record<SummaryLineKind, string> = {
  correction: "Refused", answer: "Asked", done: "Done", error: "Failed", said: "Model said", retold: "In short", seen: "Looked", quote: "Quoted",
};

export function SummaryView({ task, artifact, onSee }: { task: Task; artifact: string; onSee: (see: See) => void }) {
  const asked = useAsk("context.summary", { task: task.row.task_id, artifact });
  return (
    <Answer asked={asked} what="the summary">
      {(summary) => (
        <>
          <div className={styles.summed}>
            <h3>Summary of turns 1 to {summary.through}</h3>
            <p>The model reads this in the place of {count(summary.results, "result")}. Nothing of it was made up: each line stands for recorded events.</p>
            {summary.retold_by !== null && <p>The model <Words of={summary.retold_by} /> left words out of the lines marked In short. Hermit checked that each of their words stands in the summary before this one.</p>}
            <Facts rows={[
              ["Made", <Time key="1" at={summary.made_at} ago />],
              ["Trust", capital(trust(summary.trust))],
              ["Artifact", <Hash key="2" of={summary.artifact_id} what="artifact" />],
            ]} />
          </div>
          <Lines lines={summary.lines} onSee={onSee} />
          <div className={styles.summed}>
            {summary.left_out > 0 && <p>{count(summary.left_out, "older line")} found no room.</p>}
            {summary.before !== null && <Button onClick={() => onSee({ kind: "summary", id: summary.before ?? "" })}>Summary before this one</Button>}
          </div>
        </>
      )}
    </Answer>
  );
}

function Lines({ lines, onSee }: { lines: readonly SummaryLine[]; onSee: (see: See) => void }) {
  const { shown, rest } = useParts(lines);
  return (
    <>
      <ul className={styles.summary}>
        {shown.map((line, at) => (
          <li key={at}>
            <details>
              <summary><b>{KIND[line.kind]}</b> <Words of={line.text} /> <span className={styles.faint}>turn {line.iteration}</span></summary>
              <ul>
                {line.events.map((event) => (
                  <li key={event.event_id}><button type="button" onClick={() => onSee({ kind: "event", seq: event.seq })}>{event.seq}: {plain(event.event_type)}</button></li>
                ))}
                {line.artifact_id !== null && <li>From <Hash of={line.artifact_id} what="artifact" /></li>}
              </ul>
            </details>
          </li>
        ))}
      </ul>
      {rest}
    </>
  );
}
