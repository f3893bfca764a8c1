// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.

export type Code =
  | "usage"
  | "unknown_command"
  | "unknown_field"
  | "ambiguous"
  | "too_large"
  | "not_found"
  | "conflict"
  | "refused"
  | "halted"
  | "forbidden"
  | "key_locked"
  | "unauthorised"
  | "no_host"
  | "held"
  | "no_store"
  | "newer_version"
  | "damaged"
  | "disk_full"
  | "unavailable"
  | "cancelled"
  | "failed";

/** What every surface gets when something did not work. */
export interface Error {
  /** What went wrong, for programs. */
  code: Code;
  /** What went wrong, for people: lower case, the user's words in backticks. */
  message: string;
  /** What to do about it; empty when the message says it. */
  hint?: string;
  /** More, by code; `null` when there is no more. Boxed, so that a result stays small. */
  details?: unknown;
}

/** Something happened. */
export type Notice =
  /** An event was committed. */
  | { kind: "event"; task_id: string; task_seq: number; event_type: string; topics: Topic[] }
  /** A reasoner wrote a piece of text. */
  | { kind: "delta"; task_id: string; asking: number; from: number; text: string }
  /** A reasoner wrote a piece of its reasoning, which is no part of its answer. */
  | { kind: "reasoning"; task_id: string; asking: number; from: number; text: string }
  /** Long work went on. */
  | { kind: "progress"; task_id?: string | null; what: string; done: number; total: number }
  /** An act printed something, or the tool of a server said how far it is. */
  | { kind: "output"; task_id: string; act: string; stream: string; text: string }
  /** The keys of the host were opened or locked. */
  | { kind: "keys"; open: boolean };

export type Topic =
  | "tasks"
  | "approvals"
  | "grants"
  | "receipts"
  | "artifacts"
  | "knowledge"
  | "gate"
  | "keys"
  | "store";

/** One part of a list. Hand `next` back as `after` for the following part. */
export interface Page<T> {
  /** The rows, the newest first unless the command says otherwise. */
  rows: T[];
  /** Where to go on; absent at the end. */
  next?: string | null;
}

/** Words that may have been erased: a plain string, or `{"erased": "<digest>"}`. */
export type Text =
  /** Readable. */
  | string
  /** Gone; the digest of what stood here is left. */
  | { erased: string };

/** The whole that a task is a part of: the task whose agent gave it away. */
export interface PartOf {
  /** That task. */
  task_id: string;
  /** The first line of its goal, cut where it is long. */
  goal: Text;
}

/** What a person signed with the approval key, for a command that only a person gives. */
export interface PersonSigned {
  /** The decision, as canonical JSON. */
  text: string;
  /** The signature over exactly that text, hexadecimal. */
  signature: string;
}

/** What a check came to (proof.md 2). */
export type Verdict =
  /** Whole, consistent, and signed by a trusted key. */
  | "valid"
  /** Changed or contradictory. */
  | "invalid"
  /** It holds together, but nobody trusted vouches for it. */
  | "unverifiable"
  /** What is there holds, but something is missing. */
  | "incomplete";
