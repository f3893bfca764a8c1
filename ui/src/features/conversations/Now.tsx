// What is at work in a conversation at this moment, as it comes; and what is paused, with why.
import { Link } from "@tanstack/react-router";
import { Working } from "~/features/task/Working";
import { useAct, useAsk, useDraft } from "~/ipc/client";
import type { TaskRow } from "~/ipc/generated/task";
import { Button } from "~/primitives/Button";
import { Mark } from "~/primitives/Icon";
import { Failed, sentence } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { run, said } from "~/screen/words";
import styles from "./Conversations.module.css";

/** So many are told word by word; of the others, that they are at work. */
const WHOLE = 3;

export function Now({ tasks }: { tasks: readonly TaskRow[] }) {
  const live = tasks.filter((row) => row.run_status === "running" || row.run_status === "queued" || row.run_status === "cancelling");
  const paused = tasks.filter((row) => row.run_status === "paused" && row.because !== null);
  if (live.length + paused.length === 0) return null;
  return (
    <>
      {live.length > 0 && (
        <ul className={styles.now} aria-label="At work now">
          {live.map((row, at) => <li key={row.task_id}>{at < WHOLE && row.run_status === "running" && row.interrupted !== true ? <Whole row={row} /> : <Brief row={row} />}</li>)}
        </ul>
      )}
      {paused.length > 0 && (
        <ul className={styles.now} aria-label="Paused">
          {paused.map((row) => <li key={row.task_id}><Paused row={row} /></li>)}
        </ul>
      )}
    </>
  );
}

/** A task that waits to be resumed: without this a conversation would end in silence. */
function Paused({ row }: { row: TaskRow }) {
  const resume = useAct("task.resume");
  return (
    <>
      <Link className={styles.at} to="/task/$id" params={{ id: row.task_id }}><Words of={said(row.title)} /></Link>
      <p>{sentence(said(row.because))}</p>
      <Button icon="play" because={resume.isPending ? "It is being resumed" : null} onClick={() => resume.mutate({ task: row.task_id })}>Resume</Button>
      {resume.error !== null && <Failed error={resume.error} />}
    </>
  );
}

function Brief({ row }: { row: TaskRow }) {
  const at = run(row);
  return (
    <p className={styles.did}><Mark name={at.mark} size={11} /><span>{at.word}: <Link to="/task/$id" params={{ id: row.task_id }}><Words of={said(row.title)} /></Link></span></p>
  );
}

function Whole({ row }: { row: TaskRow }) {
  const asked = useAsk("task.show", { task: row.task_id });
  const draft = useDraft(row.task_id, asked.data);
  if (asked.data === undefined || asked.data.row.run_status !== "running") return <Brief row={row} />;
  return (
    <>
      <Link className={styles.at} to="/task/$id" params={{ id: row.task_id }}><Words of={said(row.title)} /></Link>
      <Working task={asked.data} draft={draft} doing="" since={null} />
    </>
  );
}
