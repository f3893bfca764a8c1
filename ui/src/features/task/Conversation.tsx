// What was said and done. Words of a model are never proven; what was done is told apart from them, with its receipt.
import { Link, useNavigate } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { useEvents } from "./events";
import { useAct, useAsk, useDraft, useHost, useSending } from "~/ipc/client";
import type { AnswerCheck } from "~/ipc/generated/answer";
import type { Task } from "~/ipc/generated/task";
import { Button, Segmented } from "~/primitives/Button";
import { TextArea } from "~/primitives/Field";
import { bytes } from "~/primitives/Diff";
import { Icon, Mark } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { Answer, Failed } from "~/primitives/States";
import { agentOf, hearsWords } from "~/screen/agent";
import { checkOf, countsOf, isBare } from "~/screen/answer";
import { CheckedAnswer } from "~/screen/CheckedAnswer";
import { Unverified } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Prose, Words } from "~/primitives/Words";
import { isTaken, sends, useDraftOf, useUnanswered } from "~/screen/drafts";
import { isComposing } from "~/screen/keyboard";
import { isCommand } from "~/screen/slash";
import { asksFor, modelName, originName, plain, said } from "~/screen/words";
import { FromChat } from "~/features/chats/FromChat";
import { Dictate } from "~/features/enclosing/Dictate";
import { Attach, DropZone, Enclosed, pasted, useEnclosing } from "~/features/enclosing/Enclosing";
import { PromptPicker } from "../tools/PromptPicker";
import type { Given as GivenWith, Message } from "./message";
import type { See } from "~/screen/see";
import { type Story, shortReceipt } from "./story";
import { sourceOf, textOf } from "./quoted";
import type { Part } from "./parts";
import { EditGoal } from "./Goal";
import { Criteria } from "./Criteria";
import { Plan } from "./Plan";
import { BrokenOff, Working } from "./Working";
import { transcript, transcriptName } from "./transcript";
import styles from "./Task.module.css";

/** So many of the last messages stand there at first, and as many more whenever they are wanted. */
const TAIL = 40;

export const Conversation = memo(function Conversation({ task, story, live, events, see }: {
  task: Task; story: Story; live: boolean; events: ReturnType<typeof useEvents>; see: (see: See) => void;
}) {
  const end = useRef<HTMLDivElement>(null);
  const log = useRef<HTMLDivElement>(null);
  const draft = useDraft(task.row.task_id, task);
  const [shown, setShown] = useState(TAIL);
  const agent = agentOf(task);
  // Between its first word and its last a playbook says only what it proposes, which stands there as what was done.
  const messages = useMemo(() => story.messages.filter((message) => agent === "Model" || message.who !== "agent" || message.final), [story.messages, agent]);
  const before = Math.max(0, messages.length - shown);
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
  }, [messages.length, draft]);
  return (
    <section className={styles.column} aria-label="Conversation">
      <header>
        <h2>Conversation</h2><span title={task.reasoner}>{modelName(task.reasoner)}</span>
        <Take task={task} story={story} agent={agent} isWhole={events.data !== undefined && story.messages.length > 0} />
      </header>
      <div className={styles.messages} ref={log} tabIndex={0} role="log" aria-label="What was said">
        <Plan rows={story.rows} see={see} />
        {live && <Criteria task={task} see={see} />}
        <p className={styles.origin}><Icon name="talk" size={14} /><Link to="/conversations" search={{ at: task.conversation_id }}>Its conversation</Link></p>
        <p className={styles.origin}><Icon name="folder" size={14} /><span>Started {task.channel === "chat" ? <>from <FromChat conversation={task.conversation_id} /></> : task.row.origin !== "person" ? `by ${originName(task.row.origin)}` : task.channel === "cli" ? "in the terminal" : task.channel === "app" ? "in Hermit" : task.channel === "mesh" ? "at another machine of yours" : `by ${task.channel}`}: {said(task.workspace, "no folder")}</span></p>
        {task.row.parent_task_id !== null && task.row.origin === "agent" && <p className={styles.origin}><Icon name="lineage" size={14} />A part of&nbsp;<Before task={task.row.parent_task_id} /></p>}
        {story.parts.some((part) => part.task !== "") && <Parts parts={story.parts} />}
        {task.follows !== null && <p className={styles.origin}><Icon name="undo" size={14} />Goes on from&nbsp;<Before task={task.follows} /></p>}
        <Answer asked={events} what="the conversation" large>
          {() => (
            <>
              {before > 0 && <Button look="link" onClick={earlier}>{many(before)} earlier</Button>}
              {messages.slice(before).map((message) => <Said key={message.key} message={message} agent={agent} check={checkOf(task, message)} see={see} />)}
            </>
          )}
        </Answer>
        {live && task.row.run_status === "running" && task.interrupted !== true && <Working task={task} draft={draft} doing={story.doing} since={story.since} />}
        {live && <BrokenOff task={task} />}
        {live && <EditGoal task={task} hasBegun={task.attempts.length > 0} />}
        <div ref={end} />
      </div>
      {(task.row.ended_at !== null || hearsWords(task.row)) && <Composer task={task} live={live} />}
    </section>
  );
});

/** What a person takes out of a browser: an address of this page, which opens nothing without a session, and the words. */
function Take({ task, story, agent, isWhole }: { task: Task; story: Story; agent: string; isWhole: boolean }) {
  const host = useHost();
  const { files } = host;
  const [isCopied, setCopied] = useState(false);
  if (files === undefined) return null;
  // What was quoted stands in artifacts of its own.
  const save = async () => {
    const quotes = story.messages.flatMap((message) => message.given).filter((one) => one.isQuote);
    const texts = await Promise.all(quotes.map(async ({ id }) => [id, await textOf(host, id)] as const));
    files.save(transcript(task, story, agent, new Map(texts)), transcriptName(task));
  };
  const copy = () => void navigator.clipboard?.writeText(location.href).then(() => setCopied(true), () => setCopied(false));
  return (
    <>
      <Button look="quiet" icon={isCopied ? "ok" : "copy"} aria-label="Copy the link to this task" title={isCopied ? "Copied" : "Copy the link to this task"} onClick={copy} />
      <Button look="link" because={isWhole ? null : "The conversation is still being read"} title="Download what was said and done as a text file" onClick={() => void save()}>Transcript</Button>
    </>
  );
}

/** The task before this one, by its title. */
function Before({ task }: { task: string }) {
  const asked = useAsk("task.show", { task });
  return <Link to="/task/$id" params={{ id: task }}><Words of={asked.data === undefined ? "the task before" : said(asked.data.row.title, "the task before")} /></Link>;
}

/** Parts that the agent gave away, each with how it stands; one that waits for a person says so. */
function Parts({ parts }: { parts: readonly Part[] }) {
  return (
    <ul className={styles.parts} aria-label="Parts given away">
      {parts.filter((part) => part.task !== "").map((part) => (
        <li key={part.task}><Link to="/task/$id" params={{ id: part.task }}><Words of={part.title} /></Link><span>{part.ended !== null ? plain(part.ended) : <Stands task={part.task} />}</span></li>
      ))}
    </ul>
  );
}

function Stands({ task }: { task: string }) {
  const kind = useAsk("task.show", { task }).data?.waits_for?.kind;
  return <>{kind === undefined || kind === "dependency" ? "at work" : "waits for you"}</>;
}

function Said({ message, agent, check, see }: { message: Message; agent: string; check: AnswerCheck | null; see: (see: See) => void }) {
  if (message.who === "asks") {
    return (
      <div className={styles.asks}>
        <Mark name="waiting" />
        <span><Prose of={asksFor(message.text)} /></span>
        <Link to="/" search={{ at: message.approval ?? undefined }}>Review</Link>
      </div>
    );
  }
  const cite = (id: string) => (
    <button key={id} type="button" className={styles.cite} title={`Receipt ${id}`} onClick={() => see({ kind: "receipt", id })}>{shortReceipt(id)}</button>
  );
  const receipts = message.receipts.map(cite);
  if (message.who === "did") {
    return (
      <p className={styles.did} data-tone={message.tone}>
        <Mark name={message.tone === "failed" ? "failed" : message.tone === "unknown" ? "unknown" : message.tone === "running" ? "low" : "done"} size={11} />
        <span><Prose of={message.text} />{message.many > 1 && ` and ${many(message.many - 1)} more`}{receipts}</span>
      </p>
    );
  }
  const isClaim = message.who === "agent" && agent === "Model" && message.final;
  return (
    <div className={styles.message} data-who={message.who}>
      <div className={styles.who}><b>{message.who === "you" ? "You" : message.who === "other" ? message.from : message.who === "agent" ? agent : "Hermit"}</b><Time at={message.at} clock />{isClaim && (check === null || isBare(check) ? <span title="Nothing on record shows these words. What was done is listed with its receipts."><Unverified /></span> : <span>{countsOf(check)}</span>)}</div>
      <p>{check === null ? <Prose of={message.text} /> : <CheckedAnswer check={check} cite={cite} />}</p>
      {message.goal !== null && <p className={styles.isgoal}>{message.goal === "now" ? "The goal as it is now" : "The goal until it was edited"}</p>}
      {message.given.length > 0 && <ul className={styles.given} aria-label="Came with it">{message.given.map((one) => <li key={one.id}><Given one={one} /></li>)}</ul>}
      {message.final && (receipts.length > 0
        ? <p className={styles.proven}>Done in this task, each with its receipt: {receipts}</p>
        : isClaim && <p className={styles.proven}>Nothing was changed or sent in this task.</p>)}
    </div>
  );
}

/** A quotation or a file that came with a message. */
function Given({ one }: { one: GivenWith }) {
  const host = useHost();
  const text = useQuery({ queryKey: ["quoted", one.id], queryFn: () => textOf(host, one.id), enabled: one.isQuote, staleTime: Number.POSITIVE_INFINITY });
  return one.isQuote
    ? <><blockquote><Words of={text.data ?? one.name} /></blockquote><small title={one.name}>{sourceOf(one.name)}</small></>
    : <><Icon name="file" size={12} /><Link to="/lineage" search={{ of: one.id }}><Words of={one.name} /></Link><small>{bytes(one.size)}</small></>;
}

/** When words are heard. The host knows the same three. */
const MODES = [
  { value: "steer", label: "Add now", says: "The agent reads this next. What waits for you is asked again." },
  { value: "queue", label: "Queue", says: "The agent reads this when it would otherwise be done." },
  { value: "stop_and_send", label: "Interrupt", says: "The agent stops what it is doing and starts again with your words." },
] as const;

function Composer({ task, live }: { task: Task; live: boolean }) {
  const id = task.row.task_id;
  const note = useAct("task.note", { of: id, taken: (_, { idempotency_key }) => isTaken(id, idempotency_key) });
  const say = useAct("conversations.say", { of: id, taken: (_, { idempotency_key }) => isTaken(id, idempotency_key) });
  const isSending = useSending(id) !== null;
  const navigate = useNavigate();
  const [text, setText] = useDraftOf(id);
  const before = useUnanswered(id);
  const enclosing = useEnclosing(id);
  const { quoted, files, isSpoken } = enclosing;
  const [picked, setMode] = useState<(typeof MODES)[number]["value"] | null>(null);
  const mode = picked ?? MODES.find((one) => one.value === before?.mode)?.value ?? "steer";
  const ended = task.row.ended_at !== null;
  const because = !live ? "You are looking at an earlier moment" : text.trim() === "" ? "Write something first" : isSending ? "Sending" : enclosing.isAdding ? "A file is being taken in" : null;
  const key = (to: string) => sends(id, { text: text.trim(), to, mode, quoted, files, isSpoken });
  const follow = () => {
    // A playbook hears no words: what follows it is a task for a model, in the same folder.
    if (agentOf(task) !== "Model") {
      void navigate({ to: "/tasks/new", search: { folder: said(task.workspace), goal: text.trim() } });
      setText("");
      return;
    }
    say.mutate({ task: id, text: text.trim(), channel: "app", idempotency_key: key("follow"), ...enclosing.said() }, {
      onSuccess: (made) => {
        if (made.task_id !== null) void navigate({ to: "/task/$id", params: { id: made.task_id } });
      },
    });
  };
  // Commands are the host's, the same as in a conversation; what one tells stands below.
  const command = () => say.mutate({ task: id, text: text.trim(), channel: "app", idempotency_key: key("command"), ...enclosing.said() }, {
    onSuccess: (came) => {
      if (came.task_id !== null && came.task_id !== id) void navigate({ to: "/task/$id", params: { id: came.task_id } });
    },
  });
  const send = () => {
    if (because !== null) return;
    if (isCommand(text)) command();
    else if (ended) follow();
    else note.mutate({ task: id, text: text.trim(), mode, channel: "app", idempotency_key: key("input"), ...enclosing.said() });
  };
  const failed = note.error ?? say.error;
  return (
    <DropZone enclosing={enclosing} className={styles.composer}>
      <Enclosed enclosing={enclosing} />
      <TextArea
        label={ended ? "Continue with a follow-up" : "Message"} hideLabel rows={2} placeholder={ended ? "Ask for something next. The follow-up knows how this task ended." : "Message the agent"}
        value={text} onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !isComposing(event)) send(); }}
        onPaste={(event) => pasted(event, enclosing)}
      />
      <PromptPicker text={text} folder={said(task.workspace)} draft={setText} />
      <div className={styles.composing}>
        {!ended && <Segmented label="When it is read" value={mode} options={MODES} onChange={setMode} />}
        <span>{ended ? "Starts a new task in the same folder." : MODES.find((one) => one.value === mode)?.says}</span>
        <Attach enclosing={enclosing} conversation={null} />
        <Dictate text={text} onSpoken={(words) => { enclosing.spoken(); setText(words); }} />
        <Button because={because} onClick={send}>{ended ? "Follow up" : "Send"}</Button>
      </div>
      {failed !== null && <Failed error={failed} />}
      {(say.data?.told ?? []).length > 0 && <ul className={styles.told} role="status">{say.data?.told.map((line, at) => <li key={at}><Prose of={line} /></li>)}</ul>}
    </DropZone>
  );
}
