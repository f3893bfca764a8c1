// Where a person writes: to whom it goes stands above it, Enter sends, and what was begun is kept.
import { type KeyboardEvent, useCallback, useEffect, useId, useRef, useState } from "react";
import { agentOf } from "~/features/task/Working";
import { PromptPicker } from "~/features/tools/PromptPicker";
import { useAct, useAsk } from "~/ipc/client";
import type { Conversation, Say } from "~/ipc/generated/conversations";
import type { TaskRow } from "~/ipc/generated/task";
import { Button, Segmented } from "~/primitives/Button";
import { Select, TextArea } from "~/primitives/Field";
import { Icon } from "~/primitives/Icon";
import { Failed } from "~/primitives/States";
import { Prose, Words } from "~/primitives/Words";
import { useKey } from "~/screen/keyboard";
import { chosen, isCommand, meant } from "~/screen/slash";
import { said } from "~/screen/words";
import { useDraftOf } from "./drafts";
import { type Target, keyOf, nameOf, targetsOf } from "./target";
import styles from "./Conversations.module.css";

/** When words are heard by a task at work. The host knows the same three. */
type Mode = "steer" | "queue" | "stop_and_send";
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

export interface Quoted { id: string; text: string }

export function Composer({ conversation, tasks, quoted, unquote, sent, open }: {
  conversation: Conversation; tasks: readonly TaskRow[]; quoted: Quoted | null; unquote: () => void; sent: (text: string | null) => void; open: (conversation: string) => void;
}) {
  const id = conversation.conversation_id;
  const [text, setText] = useDraftOf(id);
  const [wanted, setWanted] = useState<string | null>(null);
  const [mode, setMode] = useState<Mode>("steer");
  const field = useRef<HTMLTextAreaElement>(null);
  const [told, setTold] = useState<readonly string[]>([]);
  const [at, setAt] = useState(0);
  const menu = useId();
  const commands = useAsk("conversations.commands", {});
  const offered = meant(text, commands.data?.commands ?? []);
  const marked = offered[Math.min(at, offered.length - 1)];
  const note = useAct("task.note");
  const say = useAct("conversations.say");
  // The same words sent again after an error are the same message.
  const once = useRef<{ text: string; key: string } | null>(null);
  const last = conversation.focus_task_id === null ? conversation.last_focus : null;
  const before = useAsk("task.show", { task: last ?? "" }, { enabled: last !== null });
  const canFollow = before.data === undefined || agentOf(before.data) === "Model";
  const targets = targetsOf(conversation, tasks, canFollow);
  const target = targets.find((one) => keyOf(one) === wanted) ?? targets[0] ?? { kind: "ask" };
  const isAtWork = target.kind === "input" && target.task.run_status !== "awaiting_clarify";
  const isSending = say.isPending || note.isPending;
  const because = text.trim() === "" ? "Write something first" : isSending ? "Sending" : null;
  useKey("m", useCallback(() => field.current?.focus(), []));
  useEffect(() => {
    if (quoted !== null) field.current?.focus();
  }, [quoted]);
  const send = () => {
    if (because !== null) return;
    const words = text.trim();
    if (once.current?.text !== words) once.current = { text: words, key: crypto.randomUUID() };
    const { key } = once.current;
    sent(words);
    const after = {
      onSuccess: () => {
        // What was written meanwhile stays.
        if (field.current?.value.trim() === words) setText("");
        once.current = null;
        setWanted(null);
        unquote();
      },
      onSettled: () => sent(null),
    };
    setTold([]);
    if (isAtWork && mode !== "steer" && !isCommand(words) && target.kind === "input") note.mutate({ task: target.task.task_id, text: words, mode, channel: "app", idempotency_key: key }, after);
    else say.mutate({ ...sayOf(target, id, words), idempotency_key: key, ...(quoted === null ? {} : { quotes: quoted.id }) }, {
      ...after,
      onSuccess: (came) => {
        after.onSuccess();
        setTold(came.told ?? []);
        if (came.conversation_id !== undefined && came.conversation_id !== id) open(came.conversation_id);
      },
    });
  };
  const take = (command: (typeof offered)[number]) => {
    setText(chosen(command));
    setAt(0);
    field.current?.focus();
  };
  const pressed = (event: KeyboardEvent) => {
    if (marked !== undefined && !event.nativeEvent.isComposing) {
      const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? offered.length - 1 : 0;
      if (step !== 0) {
        event.preventDefault();
        setAt((Math.min(at, offered.length - 1) + step) % offered.length);
        return;
      }
      // What is typed whole is sent; what is not is completed first.
      if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && text !== `/${marked.name}`)) {
        event.preventDefault();
        take(marked);
        return;
      }
    }
    if (event.key === "Enter" && !event.shiftKey && !event.altKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      send();
    }
    if (event.key === "Escape" && quoted !== null) unquote();
  };
  const failed = say.error ?? note.error;
  return (
    <div className={styles.composer}>
      {quoted !== null && (
        <p className={styles.quoted}><Icon name="right" size={12} /><span><Words of={quoted.text} /></span><Button look="quiet" icon="cross" aria-label="Do not quote it" onClick={unquote} /></p>
      )}
      {told.length > 0 && (
        <div className={styles.told} role="status">
          <ul>{told.map((line, n) => <li key={n}><Prose of={line} /></li>)}</ul>
          <Button look="quiet" icon="cross" aria-label="Close" onClick={() => setTold([])} />
        </div>
      )}
      {marked !== undefined && (
        <ul className={styles.menu} id={menu} role="listbox" aria-label="Commands">
          {offered.map((one) => (
            <li key={one.name} id={`${menu}-${one.name}`} role="option" aria-selected={one === marked} onMouseDown={(event) => { event.preventDefault(); take(one); }}>
              <b>/{one.name}</b>{one.takes !== "" && <i>{one.takes}</i>}<span>{one.about}</span>
            </li>
          ))}
        </ul>
      )}
      <TextArea
        aria-controls={marked === undefined ? undefined : menu} aria-activedescendant={marked === undefined ? undefined : `${menu}-${marked.name}`} aria-autocomplete="list"
        label="Message" hideLabel rows={2} placeholder={placeholder(target)} value={text} ref={field}
        onChange={(event) => { setText(event.target.value); setAt(0); }} onKeyDown={pressed}
      />
      <PromptPicker text={text} folder={said(conversation.folder)} draft={setText} />
      <div className={styles.sending}>
        <Select label="Who hears it" hideLabel value={keyOf(target)} options={targets.map((one) => ({ value: keyOf(one), label: nameOf(one) }))} onChange={(event) => setWanted(event.target.value)} />
        {isAtWork && <Segmented<Mode> label="When it is read" value={mode} options={MODES} onChange={setMode} />}
        <span className={styles.hint}>{isAtWork ? HEARD[mode] : ""}</span>
        <Button look="person" because={because} onClick={send} title="Enter sends, Shift and Enter begins a line">Send</Button>
      </div>
      {failed !== null && <Failed error={failed} />}
    </div>
  );
}

function placeholder(target: Target): string {
  switch (target.kind) {
    case "input":
      return target.task.run_status === "awaiting_clarify" ? "Answer its question" : "Tell it more";
    case "follow":
      return "Ask for something next. The new task knows how the last one ended.";
    case "new":
      return "What should be done?";
    case "ask":
      return "Write a message";
    default:
      return target satisfies never;
  }
}
