// What a task is doing at this moment: for how long, and the words as they come.
import { useEffect, useState } from "react";
import { useHowFar, useOutput, useThought } from "~/ipc/client";
import type { Task } from "~/ipc/generated/task";
import { Mark } from "~/primitives/Icon";
import { Words } from "~/primitives/Words";
import { agentOf } from "~/screen/agent";
import styles from "./Task.module.css";

/** What it is doing now: for how long, and the words as they come. */
export function Working({ task, draft, doing, since }: { task: Task; draft: string; doing: string; since: number | null }) {
  const agent = agentOf(task);
  const now = useNow();
  const started = since ?? task.attempts.at(-1)?.started_at ?? task.row.created_at;
  const thought = useThought(task.row.task_id, task);
  const output = useOutput(task.row.task_id);
  const told = useHowFar(task.row.task_id) || doing;
  const isReadable = isWords(draft);
  return (
    <div className={styles.message} aria-busy="true">
      <div className={styles.who}><Mark name="running" size={11} /><b>{agent}</b><span>{isReadable ? "writing" : draft !== "" ? "choosing the next action" : thought !== "" ? "thinking" : told === "" ? "working" : <Words of={told} />}</span><span>{elapsed(now - started)}</span></div>
      {thought !== "" && <details className={styles.thought}><summary>What it is thinking</summary><p><Words of={thought} /></p></details>}
      {output !== "" && <details className={styles.thought} open><summary>What it prints</summary><pre><Words of={output} /></pre></details>}
      {isReadable && <p><Words of={draft} /></p>}
    </div>
  );
}

/** What the agent had said or reasoned of an answer in whose middle its task was ended, or its work broke off: words that were read do not go away. */
export function BrokenOff({ task }: { task: Task }) {
  const [words, thought] = [task.writing ?? "", task.thinking ?? ""];
  const readable = isWords(words) ? words : "";
  if ((task.row.ended_at === null && task.interrupted !== true) || (readable === "" && thought === "")) return null;
  return (
    <div className={styles.message} data-who="agent" role="group" aria-label="Broken off">
      <div className={styles.who}><b>{agentOf(task)}</b><span>stopped in the middle of this answer</span></div>
      {thought !== "" && <details className={styles.thought}><summary>What it was thinking</summary><p><Words of={thought} /></p></details>}
      {readable !== "" && <p><Words of={readable} /></p>}
    </div>
  );
}

/** A model that answers in the form of a request has no words to read along. */
const isWords = (draft: string) => draft !== "" && !/^\s*(```|[{[])/.test(draft);

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function elapsed(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  return s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}
