// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Error, Text } from "./shared";
import type { DriveState, HostRole } from "./words";

/** Nothing to say. */
export type Status = Record<string, never>;

/** Nothing to say. */
export type Doctor = Record<string, never>;

/** Nothing to say. */
export type Resume = Record<string, never>;

/** A task, and how long to wait at most. */
export interface Wait {
  task: string;
  /** Milliseconds; a host waits for a second at most. */
  patience_ms?: number;
}

/** Who, and how it stands. */
export interface HostStatus {
  /** What this process is to the store. */
  role: HostRole;
  /** The process that holds it, when one does. */
  held_by: Holder | null;
  store_id: string;
  dir: string;
  version: string;
  epoch: number;
  halted: boolean;
  halt_reason: Text | null;
  waiting: Waiting;
}

/** A process that holds the store. */
export interface Holder {
  pid: number;
  since: number;
  address: string | null;
}

/** How much waits. */
export interface Waiting {
  approvals: number;
  questions: number;
  unknown_effects: number;
  undecided_messages: number;
  /** Schedules that paused themselves. */
  paused_schedules: number;
  /** Gateways that paused themselves. */
  paused_gateways: number;
  running: number;
  /** Of the approvals and questions those of work that Hermit began by itself: they interrupt nobody. */
  quiet: number;
}

/** What was found. */
export interface Facts {
  facts: Fact[];
}

/** One fact. */
export interface Fact {
  name: string;
  /** `fine`, `note`, `trouble`. */
  level: Level;
  value: string;
  /** What to do about it; empty when nothing is to be done. */
  advice: string;
}

/** Tasks that go on. */
export interface Resumed {
  tasks: string[];
}

/** A host that others attach to, as `hermit serve` tells it. */
export interface Serving {
  pid: number;
  /** `127.0.0.1:PORT`. */
  address: string;
  /** A link for a browser, which works once and for ten minutes. */
  url: string;
  /** Whether it is the process that says so. */
  here: boolean;
  /** Interrupted tasks that go on. */
  tasks: string[];
}

/** How a task stands with the process that drives it. */
export interface Stood {
  task_id: string;
  stands: DriveState;
  /** Why it broke off. */
  error: Error | null;
}

/** How much a fact matters. */
export type Level =
  /** As it should be. */
  | "fine"
  /** Worth knowing. */
  | "note"
  /** Something does not work. */
  | "trouble";
