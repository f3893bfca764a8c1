import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { said } from "~/screen/words";
import { WithPassphrase } from "~/features/approvals/WithPassphrase";
import { useAct, useAsk, useHost } from "~/ipc/client";
import type { TaskRow } from "~/ipc/generated/task";
import { Button, Segmented } from "~/primitives/Button";
import { TextArea } from "~/primitives/Field";
import { Answer, Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Inbox.module.css";

const FOUND = [
  { value: "succeeded", label: "It happened" },
  { value: "partial", label: "In part" },
  { value: "failed", label: "It did not" },
] as const;

/** An effect whose end nobody saw. Hermit never repeats it; a person looks and says what is there. */
export function Unknown({ task }: { task: TaskRow }) {
  const asked = useAsk("task.show", { task: task.task_id });
  const settle = useAct("task.settle");
  const [found, setFound] = useState<(typeof FOUND)[number]["value"]>("succeeded");
  const [note, setNote] = useState("");
  const { person } = useHost();
  const finding = { task: task.task_id, result: found, note: note.trim() };
  const unsaid = note.trim() === "" ? "Say how you know" : null;
  return (
    <section className={styles.form} aria-label="Unknown outcome">
      <div className={styles.meta}>
        <StateTag tone="unknown" mark="unknown">Unknown outcome</StateTag>
        <span>Since <Time at={task.updated_at} ago /></span>
        <Link to="/task/$id" params={{ id: task.task_id }}>Open its task</Link>
      </div>
      <h2><Words of={said(task.title)} /></h2>
      <p>Hermit was interrupted during this action and could not find out how it ended. It does not run it again. Look for yourself, then say what you found; that is recorded as your words.</p>
      <Answer asked={asked} what="the act" lines={2}>
        {(shown) => (
          <ul>
            {shown.actions.filter((action) => action.state === "uncertain").map((action) => (
              <li key={action.action_request_id}><Words of={said(action.summary)} />{action.trouble !== null && <>: <Words of={said(action.trouble)} /></>}</li>
            ))}
          </ul>
        )}
      </Answer>
      <Segmented label="What you found" value={found} options={FOUND} onChange={setFound} />
      <TextArea label="How you know" value={note} rows={2} onChange={(event) => setNote(event.target.value)} />
      {person === undefined ? (
        <div className={styles.row}>
          <Button because={unsaid} onClick={() => settle.mutate(finding)}>Settle it</Button>
        </div>
      ) : <WithPassphrase what="Settle it" because={unsaid} say={(passphrase) => person.settle(finding, passphrase)} />}
      {settle.error !== null && <Failed error={settle.error} />}
    </section>
  );
}
