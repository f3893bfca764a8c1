// What was said. Words of a model are claims: the last ones cite receipts, or are marked.
import { Link } from "@tanstack/react-router";
import { memo, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { useEvents } from "./events";
import { useAct, useDraft } from "~/ipc/client";
import type { Task } from "~/ipc/generated/task";
import { Button, Segmented } from "~/primitives/Button";
import { TextArea } from "~/primitives/Field";
import { Icon, Mark } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { Answer, Failed } from "~/primitives/States";
import { Unverified } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Prose, Words } from "~/primitives/Words";
import { said } from "~/features/words";
import { type Message, type See, type Story, shortReceipt } from "./story";
import styles from "./Task.module.css";

/** So many of the last messages stand there at first, and as many more whenever they are wanted. */
const TAIL = 40;

export const Conversation = memo(function Conversation({ task, story, live, events, see }: {
  task: Task; story: Story; live: boolean; events: ReturnType<typeof useEvents>; see: (see: See) => void;
}) {
  const end = useRef<HTMLDivElement>(null);
  const log = useRef<HTMLDivElement>(null);
  const draft = useDraft(task.row.task_id);
  const [shown, setShown] = useState(TAIL);
  const before = Math.max(0, story.messages.length - shown);
  // What a person looks at stays where it is while earlier words come in above it.
  const below = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (log.current !== null && below.current !== null) log.current.scrollTop = log.current.scrollHeight - below.current;
    below.current = null;
  }, [shown]);
  const earlier = () => {
    below.current = log.current === null ? null : log.current.scrollHeight - log.current.scrollTop;
    setShown(shown + TAIL);
  };
  useEffect(() => {
    // Newer browsers answer with a promise, which is no clean-up.
    void end.current?.scrollIntoView({ block: "end" });
  }, [story.messages.length, draft]);
  return (
    <section className={styles.column} aria-label="Conversation">
      <header><h2>Conversation</h2><span title={task.reasoner}>{task.reasoner}</span></header>
      <div className={styles.messages} ref={log} tabIndex={0} role="log" aria-label="What was said">
        <p className={styles.origin}><Icon name="folder" size={14} />From {task.channel}: {said(task.workspace, "no folder")}</p>
        <Answer asked={events} what="the conversation">
          {() => (
            <>
              {before > 0 && <Button look="link" onClick={earlier}>{many(before)} earlier</Button>}
              {story.messages.slice(before).map((message) => <Said key={message.key} message={message} ended={task.row.ended_at !== null} see={see} />)}
            </>
          )}
        </Answer>
        {live && draft !== "" && (
          <div className={styles.message} aria-busy="true">
            <div className={styles.who}><b>Hermit</b> writing</div>
            <p><Words of={draft} /></p>
          </div>
        )}
        <div ref={end} />
      </div>
      <Composer task={task} live={live} />
    </section>
  );
});

function Said({ message, ended, see }: { message: Message; ended: boolean; see: (see: See) => void }) {
  if (message.who === "asks") {
    return (
      <div className={styles.asks}>
        <Mark name="waiting" />
        <span>Asks to <Prose of={message.text} /></span>
        <Link to="/" search={{ at: message.approval ?? undefined }}>Review</Link>
      </div>
    );
  }
  return (
    <div className={styles.message} data-who={message.who}>
      <div className={styles.who}><b>{message.who === "you" ? "You" : "Hermit"}</b><Time at={message.at} clock /></div>
      <p>
        <Prose of={message.text} />
        {message.receipts.map((id) => (
          <button key={id} type="button" className={styles.cite} title={`Receipt ${id}`} onClick={() => see({ kind: "receipt", id })}>{shortReceipt(id)}</button>
        ))}
        {message.final && ended && message.receipts.length === 0 && <> <span title="These words cite no receipt"><Unverified /></span></>}
      </p>
    </div>
  );
}

/** When words are heard. The host knows the same three. */
const MODES = [
  { value: "steer", label: "Next turn", says: "Read at the next turn; what waits for a yes is asked anew" },
  { value: "queue", label: "When done", says: "Read when it would else be done, behind what was queued before" },
  { value: "stop_and_send", label: "Stop first", says: "What it is at ends, and it begins anew with your words" },
] as const;

function Composer({ task, live }: { task: Task; live: boolean }) {
  const note = useAct("task.note");
  const [mode, setMode] = useState<(typeof MODES)[number]["value"]>("steer");
  const [text, setText] = useState("");
  const ended = task.row.ended_at !== null;
  const because = !live ? "You look at an earlier moment" : text.trim() === "" ? "Write something first" : null;
  const send = () => {
    if (because !== null) return;
    note.mutate({ task: task.row.task_id, text: text.trim(), mode, channel: "app" }, { onSuccess: () => setText("") });
  };
  return (
    <div className={styles.composer}>
      <TextArea
        label="Add to this task" hideLabel rows={2} placeholder={ended ? "This task has ended; try it again to go on" : "Add to this task"} disabled={ended}
        value={text} onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(); }}
      />
      <div className={styles.composing}>
        {!ended && <Segmented label="When it is read" value={mode} options={MODES} onChange={setMode} />}
        <span>{ended ? "" : MODES.find((one) => one.value === mode)?.says}</span>
        <Button because={ended ? "The task has ended" : because} onClick={send}>Send</Button>
      </div>
      {note.error !== null && <Failed error={note.error} />}
    </div>
  );
}
