// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { PersonSigned, Text, Verdict } from "./shared";

/** Nothing to say. */
export type State = Record<string, never>;

/** Why. */
export interface Halt {
  reason?: string | null;
}

/** What a person signed; not needed in the process that holds the store. */
export interface Boot {
  signed?: PersonSigned | null;
}

/** Where to, absolute; must not exist. */
export interface Export {
  path: string;
}

/** Which file, absolute; and the hash of the last entry, when it is known from elsewhere. */
export interface Verify {
  path: string;
  root?: string | null;
}

/** How the gate stands. */
export interface GateState {
  /** The state that the gate is in, by its name in the document: `IDLE` or `HALTED`. */
  state: string;
  /** Nothing executes until a person boots. */
  halted: boolean;
  reason: Text | null;
  session: string;
  since: number | null;
  /** Entries of the chain. */
  entries: number;
  /** Hash of the last entry. */
  head: string;
}

/** What was written. */
export interface Exported {
  path: string;
  entries: number;
  root: string;
  byte_size: number;
}

/** What a check found. */
export interface Verified {
  verdict: Verdict;
  reason: string;
  entries: number;
  root: string | null;
}
