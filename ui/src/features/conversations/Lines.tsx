// The lines of a conversation, the newest last: what was said, asked, done, and how it ended, under the task that each belongs to.
import { Link } from "@tanstack/react-router";
import { memo, useRef } from "react";
import { FromChat } from "~/features/chats/FromChat";
import { shortReceipt } from "~/features/task/story";
import { useAct } from "~/ipc/client";
import type { Line, LineTask } from "~/ipc/generated/conversations";
import { Button } from "~/primitives/Button";
import { bytes } from "~/primitives/Diff";
import { Icon, Mark } from "~/primitives/Icon";
import { Failed } from "~/primitives/States";
import { countsOf, isBare } from "~/screen/answer";
import { CheckedAnswer } from "~/screen/CheckedAnswer";
import { Unverified } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Prose, Words } from "~/primitives/Words";
import type { Quoted } from "~/screen/drafts";
import { cameOf } from "~/screen/tense";
import { approvalLook, asksFor, capital, isOver, plain, result, run, said } from "~/screen/words";
import { Decide } from "./Decide";
import { Speaker } from "./Skin";
import styles from "./Conversations.module.css";

export interface Acts {
  /** The conversation whose lines they are. */
  conversation: string;
  /** The task in focus. */
  focus: string | null;
  turnTo: (task: string) => void;
  quote: (message: Quoted) => void;
  hasFolder: boolean;
  /** The title of a task that is not in the line itself. */
  titleOf: (task: string) => string;
}

/** How a task stands, as its lines know it. */
const look = (task: LineTask) => run({ run_status: task.status, unknown_effects: 0, refused_by: null, undone: null, interrupted: null });

/** `before`: the line above, whose task needs not be named again. */
export const Row = memo(function Row({ line, before, acts }: { line: Line; before: Line | undefined; acts: Acts }) {
  const { task } = line;
  const isOther = task !== null && task.task_id !== before?.task?.task_id;
  return (
    <>
      {isOther && <Under task={task} acts={acts} />}
      <Told line={line} acts={acts} />
    </>
  );
});

/** The task that the lines below belong to. */
function Under({ task, acts }: { task: LineTask; acts: Acts }) {
  const at = look(task);
  const hasEnded = isOver(task.status);
  return (
    <div className={styles.under}>
      <Icon name={task.parent_task_id !== null ? "lineage" : "task"} size={14} />
      <Link to="/task/$id" params={{ id: task.task_id }}><Words of={said(task.title)} /></Link>
      <span className={styles.state} data-tone={at.tone}><Mark name={at.mark} size={11} />{at.word}</span>
      {task.task_id === acts.focus ? <span className={styles.focused}>In focus</span>
        : !hasEnded && <Button look="link" onClick={() => acts.turnTo(task.task_id)}>Focus</Button>}
    </div>
  );
}

function Told({ line, acts }: { line: Line; acts: Acts }) {
  switch (line.kind) {
    case "message":
      return <Message line={line} acts={acts} />;
    case "question":
      return <Question line={line} />;
    case "approval":
      return <Approval line={line} />;
    case "receipt":
      return <Receipt line={line} acts={acts} />;
    case "answer":
      return <Answer line={line} acts={acts} />;
    case "ended":
      return <Ended line={line} />;
    default:
      return line.kind satisfies never;
  }
}

/** What a message became. */
function became(line: Line, titleOf: (task: string) => string): string {
  const heard = line.heard;
  if (heard === null) return "";
  switch (heard.resolution) {
    case "start_new_root":
      return line.task?.follows == null ? "Began a task" : `Began a task that goes on from “${titleOf(line.task.follows)}”`;
    case "fork_child":
      return line.task?.parent_task_id == null ? "Began a part of a task" : `Began a part of “${titleOf(line.task.parent_task_id)}”`;
    case "append_note":
      return heard.answers !== null ? "Answered its question" : heard.is_waiting ? "For this task, not read yet" : "For this task, read";
    case "chat_only":
      return "No action needed";
    case "control": case "approval":
      return heard.rationale === null ? "" : capital(said(heard.rationale));
    case "pending_disambiguation":
      return "";
    default:
      return heard.resolution satisfies never;
  }
}

function Message({ line, acts }: { line: Line; acts: Acts }) {
  const words = said(line.text, "(erased)");
  const { heard } = line;
  const of = useRef<HTMLParagraphElement>(null);
  const what = became(line, acts.titleOf);
  return (
    <div className={styles.message} data-who={line.role}>
      <div className={styles.who}>
        {line.role === "user" && heard?.channel === "chat" ? <span>From <FromChat conversation={acts.conversation} /></span> : line.role === "user" ? <b>{heard?.channel === "app" || heard?.channel === "cli" ? "You" : heard?.channel === "mesh" ? "You, at another machine" : capital(plain(heard?.channel ?? "you"))}</b> : <Speaker name="Hermit" />}<Time at={line.at} clock />
        {heard?.spoken === true && <span>spoken</span>}
        {heard?.trust === "untrusted" && <span>sent by a sender that nobody confirms</span>}
        <QuoteIt line={line} of={of} acts={acts} />
      </div>
      <p className={styles.words} ref={of}><Words of={words} /></p>
      {heard?.quoted == null && heard?.quotes != null && <p className={styles.became}>Quotes an earlier message</p>}
      {heard !== null && <WithIt heard={heard} />}
      {what !== "" && <p className={styles.became} title={said(heard?.rationale)}>{what}</p>}
      {heard?.is_open === true && <Decide message={line.ref_id} heard={heard} hasFolder={acts.hasFolder} />}
    </div>
  );
}

/** What a person has marked within the words, where it stands there as it is shown. */
function marked(within: HTMLElement | null, whole: string): string | null {
  const selection = getSelection();
  if (selection === null || selection.isCollapsed || within === null || !within.contains(selection.anchorNode) || !within.contains(selection.focusNode)) return null;
  const flat = (text: string) => text.split(/\s+/).join(" ").trim();
  const text = selection.toString().trim();
  return text !== "" && flat(whole).includes(flat(text)) ? text : null;
}

/** Quotes all of a line, or what is marked in it. */
function QuoteIt({ line, of, acts }: { line: Line; of?: React.RefObject<HTMLElement | null>; acts: Acts }) {
  const words = said(line.text);
  if (words === "") return null;
  const quote = () => {
    const part = marked(of?.current ?? null, words);
    acts.quote(part === null ? { id: line.ref_id, text: words } : { id: line.ref_id, text: part, isPart: true });
  };
  // Pressing it must not take away what is marked.
  return <Button look="quiet" className={styles.quote ?? ""} title="Quotes what you have marked, or all of it" onMouseDown={(event) => event.preventDefault()} onClick={quote}>Quote</Button>;
}

/** What is quoted, by what it is. */
function sourceOf(of: string): string {
  const kinds: Readonly<Record<string, string>> = { ing: "a message", clr: "a question", apr: "a request for approval", rcp: "a receipt", att: "the last words of a run", task: "the end of a task" };
  return kinds[of.split("_")[0] ?? ""] ?? "what was said";
}

/** What came with a message: content, which is not its words. */
function WithIt({ heard }: { heard: NonNullable<Line["heard"]> }) {
  const { quoted, attached = [] } = heard;
  if (quoted == null && attached.length === 0) return null;
  return (
    <ul className={styles.with} aria-label="Came with it">
      {quoted != null && <li><blockquote><Words of={said(quoted.text, "(erased)")} /></blockquote><small title={quoted.of}>quoted from {sourceOf(quoted.of)}</small></li>}
      {attached.map((file) => (
        <li key={file.artifact_id}>
          <Icon name="file" size={12} /><Link to="/lineage" search={{ of: file.artifact_id }}><Words of={said(file.name, "a file")} /></Link>
          <small>{bytes(file.byte_size)}{file.is_erased ? ", erased" : ""}</small>
        </li>
      ))}
    </ul>
  );
}

function Question({ line }: { line: Line }) {
  const answer = useAct("task.answer");
  const isOpen = line.question === "pending" && line.task !== null;
  const send = (text: string) => line.task !== null && answer.mutate({ task: line.task.task_id, question: line.ref_id, text, channel: "app" });
  return (
    <div className={styles.asks} data-open={isOpen || undefined}>
      <Mark name="question" />
      <div>
        <p><Prose of={said(line.text, "(erased)")} /></p>
        {isOpen && line.choices.length > 0 && (
          <div className={styles.row}>{line.choices.map((choice, at) => <Button key={at} because={answer.isPending ? "Sending" : null} onClick={() => send(said(choice))}><Words of={said(choice)} /></Button>)}</div>
        )}
        {!isOpen && line.question !== null && <p className={styles.became}>{line.question === "answered" ? "You answered" : capital(plain(line.question))}</p>}
        {answer.error !== null && <Failed error={answer.error} />}
      </div>
    </div>
  );
}

function Approval({ line }: { line: Line }) {
  const isOpen = line.approval === "pending";
  const at = approvalLook(line.approval ?? "pending");
  if (!isOpen) {
    return (
      <p className={styles.did} data-tone={at.tone === "done" ? "done" : "mute"}>
        <Mark name={at.mark} size={11} /><span>{at.word}: <Prose of={said(line.text, "(erased)")} /> <Link to="/" search={{ at: line.ref_id }}>Card</Link></span>
      </p>
    );
  }
  return (
    <div className={styles.asks} data-open>
      <Mark name="waiting" />
      <div><p><Prose of={asksFor(said(line.text, "(erased)"))} /></p></div>
      <Link to="/" search={{ at: line.ref_id }}>Review</Link>
    </div>
  );
}

function Receipt({ line, acts }: { line: Line; acts: Acts }) {
  // The answer to a card stands there as the card.
  if (line.result === null || line.result === "granted" || line.result === "denied" || line.task === null) return null;
  const came = result(line.result, null, line.as_chosen);
  const words = said(line.text, "(erased)");
  return (
    <p className={styles.did} data-tone={came.tone}>
      <Mark name={came.mark} size={11} />
      <span>
        <Prose of={cameOf(came, words, line.as_chosen)} />
        <Link className={styles.cite} to="/task/$id" params={{ id: line.task.task_id }} search={{ see: line.ref_id }} title={`Receipt ${line.ref_id}`}>{shortReceipt(line.ref_id)}</Link>
      </span>
      <QuoteIt line={line} acts={acts} />
    </p>
  );
}

function Answer({ line, acts }: { line: Line; acts: Acts }) {
  const of = useRef<HTMLParagraphElement>(null);
  const words = said(line.text);
  if (words === "") return null;
  const isClaim = line.said_by === "model";
  const check = line.answer_check ?? null;
  const task = line.task?.task_id;
  const cite = (receipt: string) => task !== undefined && (
    <Link key={receipt} className={styles.cite} to="/task/$id" params={{ id: task }} search={{ see: receipt }} title={`Receipt ${receipt}`}>{shortReceipt(receipt)}</Link>
  );
  return (
    <div className={styles.message} data-who={line.role}>
      <div className={styles.who}>
        <Speaker name={isClaim ? "Agent" : "Hermit"} /><Time at={line.at} clock />
        {isClaim && (check === null || isBare(check) ? <span title="Nothing on record shows these words. What was done is listed with its receipts."><Unverified /></span> : <span>{countsOf(check)}</span>)}
        <QuoteIt line={line} of={of} acts={acts} />
      </div>
      <p className={styles.words} ref={of}>{check === null ? <Prose of={words} /> : <CheckedAnswer check={check} cite={cite} />}</p>
    </div>
  );
}

function Ended({ line }: { line: Line }) {
  const retry = useAct("task.retry");
  if (line.ended === null || line.ended === "completed" || line.task === null) return null;
  const task = line.task.task_id;
  return (
    <div>
      <p className={styles.did} data-tone={line.ended === "failed" ? "failed" : "mute"}>
        <Mark name={line.ended === "failed" ? "failed" : "deny"} size={11} />
        <span>{capital(plain(line.ended))}{line.text === null || said(line.text) === "" ? "" : ": "}<Prose of={said(line.text)} /></span>
        {line.ended !== "rolled_back" && <Button look="link" because={retry.isPending ? "Starting" : null} onClick={() => retry.mutate({ task })}>Retry</Button>}
      </p>
      {retry.error !== null && <Failed error={retry.error} />}
    </div>
  );
}
