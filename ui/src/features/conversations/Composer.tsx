// Where a person writes: to whom it goes stands above it, Enter sends, and what was begun is kept.
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { PromptPicker } from "~/features/tools/PromptPicker";
import { useAct, useSending } from "~/ipc/client";
import type { Conversation, Say } from "~/ipc/generated/conversations";
import { oneOf } from "~/ipc/words";
import { Button, Segmented } from "~/primitives/Button";
import { Select, TextArea } from "~/primitives/Field";
import { Failed, Trouble } from "~/primitives/States";
import { Prose } from "~/primitives/Words";
import { isTaken, sends, useDraftOf, useUnanswered } from "~/screen/drafts";
import { isComposing, useKey } from "~/screen/keyboard";
import { isCommand } from "~/screen/slash";
import { said } from "~/screen/words";
import { Attach, Enclosed, type Enclosing, pasted } from "~/features/enclosing/Enclosing";
import { Dictate } from "~/features/enclosing/Dictate";
import { Menu, useMenu } from "./Menu";
import { type Target, type Tasks, keyOf, nameOf, targetsOf } from "./target";
import styles from "./Conversations.module.css";

/** When words are heard by a task at work. The host knows the same three. */
const MODE = ["steer", "queue", "stop_and_send"] as const;
type Mode = (typeof MODE)[number];
const MODES: readonly { value: Mode; label: string }[] = [
  { value: "steer", label: "Add now" }, { value: "queue", label: "Queue" }, { value: "stop_and_send", label: "Interrupt" },
];
const HEARD: Readonly<Record<Mode, string>> = {
  steer: "Read at its next turn.", queue: "Read when it would otherwise be done.", stop_and_send: "It stops and starts again with your words.",
};

/** What a target is told as. */
function sayOf(target: Target, conversation: string, text: string): Say {
  const say = { conversation, text, channel: "app" };
  switch (target.kind) {
    case "input": case "follow":
      return { ...say, task: target.task.task_id };
    case "new":
      return { ...say, about: "new" };
    case "ask":
      return say;
    default:
      return target satisfies never;
  }
}

/** Whom words go to: whoever a person chose, as long as they are there, and otherwise the likeliest, once that is known. */
function useTarget(conversation: Conversation, tasks: Tasks, before: string | null) {
  const [wanted, setWanted] = useState<string | null>(null);
  const targets = tasks.rows === null ? [] : targetsOf(conversation, tasks.rows, tasks.canFollow);
  const key = wanted ?? before;
  const target = key !== null ? targets.find((one) => keyOf(one) === key) : tasks.isWhole ? targets[0] : undefined;
  const isReading = tasks.error === null && !tasks.isWhole;
  const because = target !== undefined ? null : isReading ? "Its tasks are being read" : tasks.rows === null ? "Its tasks could not be read" : "Choose who hears it";
  return { target, targets, because, choose: setWanted };
}

/** Sends, and knows what was sent again. What was taken leaves nothing behind, whether this is still on the screen or not. */
function useSend(id: string) {
  const note = useAct("task.note", { of: id, taken: (_, { idempotency_key }) => isTaken(id, idempotency_key) });
  const say = useAct("conversations.say", { of: id, taken: (_, { idempotency_key }) => isTaken(id, idempotency_key) });
  return { note, say, failed: say.error ?? note.error };
}

export function Composer({ conversation, tasks, enclosing, open }: {
  conversation: Conversation; tasks: Tasks; enclosing: Enclosing; open: (conversation: string) => void;
}) {
  const id = conversation.conversation_id;
  const { quoted, files, isSpoken } = enclosing;
  const [text, setText] = useDraftOf(id);
  const before = useUnanswered(id);
  const { target, targets, because: unsure, choose } = useTarget(conversation, tasks, before?.to ?? null);
  const [picked, setMode] = useState<Mode | null>(null);
  const mode = picked ?? oneOf(MODE, before?.mode) ?? "steer";
  const field = useRef<HTMLTextAreaElement>(null);
  const [told, setTold] = useState<readonly string[]>([]);
  const menu = useMenu(text, (words) => { setText(words); field.current?.focus(); });
  const { note, say, failed } = useSend(id);
  const isSending = useSending(id) !== null;
  const isAtWork = target?.kind === "input" && target.task.run_status !== "awaiting_clarify";
  const because = text.trim() === "" ? "Write something first" : isSending ? "Sending" : enclosing.isAdding ? "A file is being taken in" : unsure;
  useKey("m", useCallback(() => field.current?.focus(), []));
  useEffect(() => {
    if (quoted !== null) field.current?.focus();
  }, [quoted]);
  const send = () => {
    if (because !== null || target === undefined) return;
    const words = text.trim();
    const when = isAtWork && !isCommand(words) ? mode : "steer";
    const key = sends(id, { text: words, to: keyOf(target), mode: when, quoted, files, isSpoken });
    const done = () => choose(null);
    setTold([]);
    if (when !== "steer" && target.kind === "input") note.mutate({ task: target.task.task_id, text: words, mode: when, channel: "app", idempotency_key: key, ...enclosing.said() }, { onSuccess: done });
    else say.mutate({ ...sayOf(target, id, words), idempotency_key: key, ...enclosing.said() }, {
      onSuccess: (came) => {
        done();
        setTold(came.told ?? []);
        if (came.conversation_id !== undefined && came.conversation_id !== id) open(came.conversation_id);
      },
    });
  };
  const pressed = (event: KeyboardEvent) => {
    if (isComposing(event) || menu.pressed(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      send();
    }
    if (event.key === "Escape" && quoted !== null) enclosing.quote(null);
  };
  return (
    <div className={styles.composer}>
      <Enclosed enclosing={enclosing} />
      {told.length > 0 && <Told lines={told} close={() => setTold([])} />}
      <Menu of={menu} />
      <TextArea
        aria-controls={menu.marked === undefined ? undefined : menu.id} aria-activedescendant={menu.marked === undefined ? undefined : `${menu.id}-${menu.marked.name}`} aria-autocomplete="list"
        label="Message" hideLabel rows={2} placeholder={placeholder(target)} value={text} ref={field}
        onChange={(event) => setText(event.target.value)} onKeyDown={pressed} onPaste={(event) => pasted(event, enclosing)}
      />
      <PromptPicker text={text} folder={said(conversation.folder)} draft={setText} />
      <div className={styles.sending}>
        <Hears target={target} targets={targets} choose={choose} />
        {isAtWork && <Segmented<Mode> label="When it is read" value={mode} options={MODES} onChange={setMode} />}
        <Attach enclosing={enclosing} conversation={id} />
        <Dictate text={text} onSpoken={(words) => { enclosing.spoken(); setText(words); }} />
        <span className={styles.hint}>{isAtWork ? HEARD[mode] : ""}</span>
        <Button look="person" because={because} onClick={send} title="Enter sends, Shift and Enter begins a line">Send</Button>
      </div>
      {tasks.error !== null && <Trouble error={tasks.error} what="its tasks" again={tasks.again} />}
      {failed !== null && <Failed error={failed} />}
    </div>
  );
}

/** What a command told. */
function Told({ lines, close }: { lines: readonly string[]; close: () => void }) {
  return (
    <div className={styles.told} role="status">
      <ul>{lines.map((line, n) => <li key={n}><Prose of={line} /></li>)}</ul>
      <Button look="quiet" icon="cross" aria-label="Close" onClick={close} />
    </div>
  );
}

/** Who hears it; where nobody can be named yet, nobody is. */
function Hears({ target, targets, choose }: { target: Target | undefined; targets: readonly Target[]; choose: (key: string) => void }) {
  const options = targets.map((one) => ({ value: keyOf(one), label: nameOf(one) }));
  const none = { value: "", label: targets.length === 0 ? "Not known yet" : "Choose who hears it" };
  return (
    <Select
      label="Who hears it" hideLabel value={target === undefined ? "" : keyOf(target)} options={target === undefined ? [none, ...options] : options}
      onChange={(event) => event.target.value !== "" && choose(event.target.value)}
    />
  );
}

function placeholder(target: Target | undefined): string {
  switch (target?.kind) {
    case "input":
      return target.task.run_status === "awaiting_clarify" ? "Answer its question" : "Tell it more";
    case "follow":
      return "Ask for something next. The new task knows how the last one ended.";
    case "new":
      return "What should be done?";
    case "ask": case undefined:
      return "Write a message";
    default:
      return target satisfies never;
  }
}
