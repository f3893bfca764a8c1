// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Page, Text } from "./shared";
import type { Channel, IngressResolution, RunStatus, TrustTier } from "./words";

/** All of them, the newest first. */
export interface List {
  after?: string | null;
  limit?: number | null;
}

/** A new one. */
export interface Open {
  title: string;
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
  /** Which task; needed unless it is `talk`. */
  task?: string | null;
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
export type Messages = Page<Message>;
