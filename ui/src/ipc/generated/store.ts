// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Verdict } from "./shared";

/** The folder to make, absolute; must not exist or be empty. */
export interface Backup {
  to: string;
}

/** A copy, and the empty folder to put it into; both absolute. */
export interface Restore {
  from: string;
  to: string;
}

/** What was copied. */
export interface BackedUp {
  to: string;
  /** SHA-256 of the copy's manifest: names the whole content. */
  manifest_sha256: string;
  files: number;
  byte_size: number;
  /** The last place of the log it holds. */
  log_seq: number;
  /** Content that the log names and that is not there. */
  missing: string[];
  /** Content that is there and damaged, so that it could not be copied. */
  damaged: string[];
  /** Files with keys that the copy does not hold and a restored store needs. */
  keys_left_out: string[];
  /** Why the store's log does not tell of this copy, when it does not. */
  not_recorded: string | null;
}

/** What was put back, and what the ledger's verification says of it. */
export interface Restored {
  to: string;
  files: number;
  byte_size: number;
  log_seq: number;
  verdict: Verdict;
  reason: string;
  /** How it stands to the head kept outside the store, when it is not consistent with it; a sentence. */
  behind_pin: string | null;
  /** Files with keys to put into the folder, from where they are kept: a copy holds none. */
  keys_to_put_back: string[];
}
