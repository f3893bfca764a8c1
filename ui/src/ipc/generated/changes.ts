// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";

/** Of an approval or a receipt, by identifier. */
export interface Show {
  of: string;
}

/** What is deleted comes first, then what is replaced or moved, then what is new. */
export interface Changes {
  of: string;
  /** `ahead` of an approval, `done` for a receipt. */
  tense: string;
  /** The folder, unless it was erased. */
  workspace: Text | null;
  files: FileChange[];
}

/** One file. */
export interface FileChange {
  /** `delete`, `write`, `move`, `folder`. */
  op: string;
  /** From the folder, in the written form: percent-encoded where it is no plain text. */
  path: string;
  /** Where a move goes to. */
  to: string | null;
  /** Absent where there was nothing. */
  before: Side | null;
  /** Absent where nothing will be. */
  after: Side | null;
  /** Of a receipt: `done`, `not_done`, `unknown`. */
  outcome: string | null;
}

/** A file's bytes. */
export interface Side {
  sha256: string;
  byte_size: number | null;
  /** The text, where it is one and is at hand. */
  text: string | null;
  /** Why there is no text: `binary`, `large`, `gone`; or `drifted`, when the folder holds other bytes now. */
  missing: string | null;
}
