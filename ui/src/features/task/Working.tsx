// What a task is doing at this moment: for how long, and the words as they come.
import { useEffect, useState } from "react";
import { useHowFar, useOutput, useThought } from "~/ipc/client";
import type { Task } from "~/ipc/generated/task";
import { Mark } from "~/primitives/Icon";
import { Words } from "~/primitives/Words";
import { agentOf } from "~/screen/agent";
import styles from "./Task.module.css";

/** What it is doing now: for how long, and the words as they come. */
export function Working({ task, draft, doing }: { task: Task; draft: string; doing: string }) {
  const agent = agentOf(task);
  const now = useNow();
  const started = task.attempts.at(-1)?.started_at ?? task.row.created_at;
  // A model that answers in the form of a request has no words to read along.
  const thought = useThought(task.row.task_id, task.thinking ?? null);
  const output = useOutput(task.row.task_id);
  const told = useHowFar(task.row.task_id) || doing;
  const isWords = draft !== "" && !/^\s*(```|[{[])/.test(draft);
  return (
    <div className={styles.message} aria-busy="true">
      <div className={styles.who}><Mark name="running" size={11} /><b>{agent}</b><span>{isWords ? "writing" : draft !== "" ? "choosing the next action" : thought !== "" ? "thinking" : told === "" ? "working" : <Words of={told} />}</span><span>{elapsed(now - started)}</span></div>
      {thought !== "" && <details className={styles.thought}><summary>What it is thinking</summary><p><Words of={thought} /></p></details>}
      {output !== "" && <details className={styles.thought} open><summary>What it prints</summary><pre><Words of={output} /></pre></details>}
      {isWords && <p><Words of={draft} /></p>}
    </div>
  );
}

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
