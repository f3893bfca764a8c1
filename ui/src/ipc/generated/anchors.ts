// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { AnchorClock, AnchorState } from "./words";

export type { Submitted } from "./task";

/** All of them, the newest first. */
export interface List {
  cursor?: string | null;
  limit?: number | null;
}

/** One of them. */
export interface Show {
  number: number;
}

/** The newest head of the log, or a link of the identity, is to be stamped. */
export interface Stamp {
  /** Which clocks; all that are set when it is empty. */
  clocks: AnchorClock[];
  /** The number of a link of the identity; the newest head when it is not said. */
  link?: number | null;
  /** The surface: `cli` (the standard) or `app`. */
  channel?: string | null;
}

/** What is pending is to be asked about again. */
export interface Complete {
  /** The anchor; all that are pending when it is not said. */
  number?: number | null;
  /** The surface: `cli` (the standard) or `app`. */
  channel?: string | null;
}

/** Which clocks there are. */
export type Clocks = Record<string, never>;

/** Which clocks are asked. What is not said stays as it is. */
export interface SetClocks {
  /** Addresses of time-stamp authorities. */
  authorities?: string[] | null;
  /** Addresses of calendars. */
  calendars?: string[] | null;
  /** The address of a Bitcoin node of one's own; an empty one for none. */
  bitcoin_node?: string | null;
  /** Its cookie file on this machine; an empty one for none. */
  bitcoin_cookie?: string | null;
  /** The handle of the secret with its `name:password`; an empty one for none. */
  bitcoin_secret?: string | null;
  /** A file of Bitcoin's headers on this machine, where there is no node; an empty one for none. */
  headers_file?: string | null;
  /** Blocks, the first among them, that must stand before a head counts as anchored. */
  depth?: number | null;
  /** Hours between anchors that are made by themselves; 0 for none. */
  every_hours?: number | null;
}

/** What an anchor of one's own would cost. */
export type Wallet = Record<string, never>;

/** Anchors. */
export interface Anchors {
  anchors: Anchor[];
  next: string | null;
}

/** One anchor. */
export interface Anchor {
  number: number;
  digest: string;
  /** `head` or `link`. */
  of: string;
  /** Notes in the head, or the number of the link. */
  size: number;
  requested_at: number;
  clocks: AtClock[];
  /** The latest time at which it is proven that it was there; none yet. */
  not_after: number | null;
}

/** An anchor at one clock. */
export interface AtClock {
  clock: AnchorClock;
  state: AnchorState;
  /** Who was asked. */
  at: string[];
  /** Why it failed, or what it waits for. */
  says: string | null;
  not_after: number | null;
  block_height: number | null;
  block_hash: string | null;
  depth: number | null;
  /** The act that asked the clock. */
  task_id: string | null;
  proof_sha256: string | null;
}

/** Which clocks are asked. */
export interface ClockSettings {
  authorities: string[];
  calendars: string[];
  bitcoin_node: string | null;
  depth: number;
  every_hours: number;
}

/** What one's own wallet holds and an anchor would cost, in satoshi. */
export interface WalletState {
  address: string | null;
  /** Spendable. */
  balance: number | null;
  /** What the next anchor would cost. */
  fee: number | null;
  /** Why it cannot be told. */
  says: string | null;
}
