// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { CallStatus } from "./words";

/** A program that wants to work in a folder, by its own word. */
export interface Open {
  /** Its name. */
  client: string;
  version?: string;
  /** The folder to work in, absolute. */
  workspace: string;
  /** Policy profile; the careful standard when absent. */
  profile?: string | null;
  /** The same key twice is the same task. */
  idempotency_key?: string | null;
}

/** Which tools there are. */
export interface Tools {
  /** The folder to work in, absolute: what is said of a tool may hold in one folder alone. */
  workspace?: string | null;
}

/** One call of a tool. */
export interface Call {
  task: string;
  /** The caller's own key for it: the same key is the same call. Without one a call is known by what it says. */
  key?: string | null;
  tool: string;
  arguments: unknown;
  /** Keys of earlier calls whose results the caller has received. */
  seen?: string[];
  /** How long to wait for its end, at most 2000. */
  wait_ms?: number | null;
}

/** A call that nobody waits for any more. */
export interface Stop {
  task: string;
  /** The key of the call. */
  key: string;
}

/** The task that the calls belong to. */
export interface Opened {
  task_id: string;
  /** The folder, for people. */
  workspace: string;
  profile: string;
  /** Whether it was open before. */
  again: boolean;
}

/** What can be called: the tools that a model is told of. */
export interface ToolList {
  tools: ToolSpec[];
}

/** One tool. */
export interface ToolSpec {
  name: string;
  description: string;
  /** A JSON Schema of its arguments. */
  parameters: unknown;
}

/** How a call stands. */
export interface Called {
  status: CallStatus;
  /** Under which the call is known. */
  key: string;
  /** What came of it, or what its caller can do, in plain lines. */
  text: string[];
  /** What a person has said to the task since the call before. */
  said: string[];
  is_error: boolean;
  /** The act in one line. */
  summary: string;
  receipt_id: string | null;
  /** The card that a person is shown. */
  approval_id: string | null;
  /** The question that a person is asked. */
  clarification_id: string | null;
}
