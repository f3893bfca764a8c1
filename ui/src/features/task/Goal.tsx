// The goal of a task that has not ended, and how a person edits it. Every goal that it had stays on record.
import { useState } from "react";
import { Dictate } from "~/features/enclosing/Dictate";
import { Marked, useSpokenWords } from "~/features/enclosing/Spoken";
import { useAct } from "~/ipc/client";
import type { Task } from "~/ipc/generated/task";
import { Button } from "~/primitives/Button";
import { TextArea } from "~/primitives/Field";
import { Failed } from "~/primitives/States";
import { said } from "~/screen/words";
import styles from "./Task.module.css";

/** `hasBegun`: whether an attempt was made. */
export function EditGoal({ task, hasBegun }: { task: Task; hasBegun: boolean }) {
  const edit = useAct("task.edit_goal");
  const now = said(task.goal);
  const [isOpen, setOpen] = useState(false);
  const { text, isSpoken, typed, spoken, anew, mark } = useSpokenWords();
  if (task.row.ended_at !== null || now === "") return null;
  const open = () => { anew(now); setOpen(true); };
  const close = () => setOpen(false);
  if (!isOpen) return <Button look="link" onClick={open}>Edit the goal</Button>;
  const because = text.trim() === "" ? "A task needs a goal" : text.trim() === now.trim() ? "That is its goal already" : edit.isPending ? "Saving" : null;
  const save = () => edit.mutate({ task: task.row.task_id, goal: text.trim(), ...mark, channel: "app" }, { onSuccess: close });
  return (
    <form className={styles.goal} onSubmit={(event) => { event.preventDefault(); if (because === null) save(); }}>
      <TextArea label="Goal" rows={3} value={text} onChange={(event) => typed(event.target.value)} onKeyDown={(event) => event.key === "Escape" && close()} />
      <Marked isSpoken={isSpoken} />
      <p>{hasBegun ? "The agent reads it at its next turn. What waits for you is asked again." : "The task has not begun: it begins with this goal."} The goal that it had stays in the conversation.</p>
      <div><Button type="submit" because={because}>Save the goal</Button><Dictate text={text} onSpoken={spoken} /><Button look="quiet" onClick={close}>Keep it as it is</Button></div>
      {edit.error !== null && <Failed error={edit.error} />}
    </form>
  );
}
