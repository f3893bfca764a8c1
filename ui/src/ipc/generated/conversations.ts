// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { AnswerCheck } from "./answer";
import type { Page, Text } from "./shared";
import type { Reasoner } from "./task";
import type { ApprovalStatus, Channel, ClarificationStatus, IngressResolution, MessageKind, ResultCode, Role, RunStatus, TaskStatus, TerminationReason, TrustTier, WordsBy } from "./words";

/** All of them, the newest first. */
export interface List {
  after?: string | null;
  limit?: number | null;
}

/** One of them. */
export interface Show {
  conversation: string;
}

/** What was said and done in one, the newest first; of one of its tasks alone when that is named. */
export interface Lines {
  /** The first one when absent. */
  conversation?: string | null;
  task?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** A new one. */
export interface Open {
  title: string;
  /** The folder whose work is talked about, absolute: the first words said begin a task there. */
  folder?: string | null;
}

/** Free words. */
export interface Say {
  /** The first one when absent. */
  conversation?: string | null;
  text: string;
  /** The task it names outright, by identifier, beginning or end. */
  task?: string | null;
  /** The identifier of what it answers: a task, approval, question, receipt or message. */
  reply_to?: string | null;
  /** The identifier of what it quotes: a message, question, approval, receipt, or the attempt whose last words are quoted. */
  quotes?: string | null;
  /** The passage of it, word for word; all of it when absent. */
  passage?: string | null;
  /** Files that come with it, which were taken in before, by their artifacts. */
  encloses?: string[];
  /** Whether the words were spoken and written down by a machine. */
  spoken?: boolean;
  /** `new`: it begins work of its own, whatever is open. `child`: it begins a part of `task`. By the order of what it names when absent. */
  about?: string | null;
  /** The folder of such work, absolute; the conversation's, or that of the task last in focus, when absent. */
  workspace?: string | null;
  /** Who proposes in such work. */
  reasoner?: Reasoner;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** What waits for a person to say what it is about, the newest first. */
export interface Undecided {
  after?: string | null;
  limit?: number | null;
}

/** One open message by its identifier. */
export interface Bind {
  message: string;
  /** `task`: input for it, or a task that follows it when it has ended. `child`: work of its own under it. `new`: work of its own, in its folder and by its reasoner. `talk`: no work. */
  about: string;
  /** Which task; needed unless it is `talk`, or `new` in a conversation that has a folder. */
  task?: string | null;
}

/** See the table. */
export type Commands = Record<string, never>;

/** Files that came with messages of one, the newest first. */
export interface Files {
  /** The first one when absent. */
  conversation?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** The task a person turns to; none turns away. */
export interface Focus {
  conversation?: string | null;
  task?: string | null;
}

/** One conversation. */
export interface Conversation {
  conversation_id: string;
  title: Text;
  opened_at: number;
  updated_at: number;
  focus_task_id: string | null;
  focus_reason: string;
  last_focus: string | null;
  open_tasks: number;
  /** Of these, those that wait for a person. */
  waiting: number;
  /** Its folder, if it has one. */
  workspace_id: string | null;
  folder: Text | null;
  /** What was said in it last. */
  last_said: Text | null;
}

/** One line of a conversation: what was said, asked, done, or how it ended. */
export interface Line {
  /** Its place in the log, which no other line has. */
  seq: number;
  kind: MessageKind;
  role: Role;
  at: number;
  text: Text | null;
  /** The message, question, approval, receipt, attempt or task that it tells of. */
  ref_id: string;
  task: LineTask | null;
  /** Of a message. */
  heard: Heard | null;
  /** Of a question. */
  question: ClarificationStatus | null;
  choices: Text[];
  /** Of a request for approval. */
  approval: ApprovalStatus | null;
  /** Of a receipt. */
  result: ResultCode | null;
  /** Of a result in part: whether a person chose the part, and all of it was done. */
  as_chosen?: boolean;
  /** Of words at the end of a run: whose they are. */
  said_by: WordsBy | null;
  /** Of a model's words at the end of a run: what bears each sentence. */
  answer_check?: AnswerCheck | null;
  /** Of the end of a run of the loop. */
  termination: TerminationReason | null;
  /** Of the end of a task. */
  ended: TaskStatus | null;
}

/** The task of a line. */
export interface LineTask {
  task_id: string;
  title: Text;
  status: RunStatus;
  /** The ended task that it goes on from. */
  follows: string | null;
  parent_task_id: string | null;
}

/** What became of a message. */
export interface Heard {
  channel: Channel;
  trust: TrustTier | null;
  resolution: IngressResolution;
  /** Nobody can tell yet what it is about. */
  is_open: boolean;
  /** A task has it as its input, and has not taken it up yet. */
  is_waiting: boolean;
  candidates: Candidate[];
  /** How many of a thousand of its words the first candidate's title and goal hold. */
  confidence: number | null;
  /** How far the first is ahead of the second, of a thousand. */
  margin: number | null;
  rationale: Text | null;
  /** The question of a task that it answers. */
  answers: string | null;
  reply_to: string | null;
  quotes: string | null;
  /** What it quotes, as it was quoted. */
  quoted?: QuotedPassage | null;
  /** Files that came with it. */
  attached?: AttachedFile[];
  /** Whether the words were spoken and written down by a machine. */
  spoken?: boolean;
}

/** A passage that a message quotes. It is content: a model is told it as data, with this trust, and never as the message. */
export interface QuotedPassage {
  artifact_id: string;
  /** What is quoted: a message, question, approval, receipt or attempt. */
  of: string;
  /** Absent where it was erased. */
  text: Text | null;
  trust: TrustTier;
}

/** A file that came with a message. */
export interface AttachedFile {
  artifact_id: string;
  name: Text | null;
  byte_size: number;
  media_type: string;
  trust: TrustTier;
  /** Whether its content was erased. */
  is_erased: boolean;
  message_id: string;
  at: number;
}

/** It is open. */
export interface Opened {
  conversation_id: string;
}

/** What became of words. */
export interface Said {
  message_id: string;
  resolution: IngressResolution;
  task_id: string | null;
  candidates: Candidate[];
  /** Why, in words. */
  rationale: string;
  /** What a command tells whoever gave it. */
  told: string[];
  /** The conversation it stands in, or that a command opened. */
  conversation_id: string;
}

/** The commands behind a slash. */
export interface CommandList {
  commands: SlashRow[];
}

/** One of them. */
export interface SlashRow {
  name: string;
  /** What stands behind it; empty where nothing does. */
  takes: string;
  about: string;
}

/** A task that words might be about. */
export interface Candidate {
  task_id: string;
  title: Text;
  status: RunStatus;
  updated_at: number;
}

/** An open message. */
export interface Message {
  message_id: string;
  conversation_id: string;
  channel: Channel;
  /** How far its sender's words may be relied on; absent in what older versions took in. */
  trust: TrustTier | null;
  text: Text;
  said_at: number;
  candidates: Candidate[];
  /** How many of a thousand of its words the first candidate's title and goal hold. */
  confidence: number | null;
  /** How far the first is ahead of the second, of a thousand. */
  margin: number | null;
  rationale: Text | null;
}

/** Where the focus is now. */
export interface Focused {
  conversation_id: string;
  focus_task_id: string | null;
}

/** A part of the list. */
export type Conversations = Page<Conversation>;

/** A part of the list. */
export type LineList = Page<Line>;

/** A part of the list. */
export type FileList = Page<AttachedFile>;

/** A part of the list. */
export type Messages = Page<Message>;
