// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";

/** Nothing to say. */
export type Status = Record<string, never>;

/** Nothing to say. */
export type Doctor = Record<string, never>;

/** Nothing to say. */
export type Resume = Record<string, never>;

/** Who, and how it stands. */
export interface HostStatus {
  /** This process: `owner` holds the store, `reader` only reads. */
  role: string;
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
  running: number;
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

/** How much a fact matters. */
export type Level =
  /** As it should be. */
  | "fine"
  /** Worth knowing. */
  | "note"
  /** Something does not work. */
  | "trouble";
