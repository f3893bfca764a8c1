// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";
import type { ChangeKind, ItemOutcome, NoText, Tense } from "./words";

/** Of an approval or a receipt, by identifier. */
export interface Show {
  of: string;
  /** From this row on. */
  from?: number | null;
  /** So many rows at most. */
  limit?: number | null;
  /** Only rows whose path holds these words, whatever the case. */
  find?: string | null;
  /** Without texts; each is `later`. */
  brief?: boolean;
}

/** The bytes of one side of a file that an approval or a receipt shows. */
export interface Export {
  /** The approval or receipt, by identifier. */
  of: string;
  /** Digest of the side. */
  sha256: string;
  /** Absolute; nothing may be there yet. */
  path: string;
}

/** What is deleted comes first, then what is replaced or moved, then what is new. */
export interface Changes {
  of: string;
  tense: Tense;
  /** The folder, unless it was erased. */
  workspace: Text | null;
  /** Rows there are; with `find`, that were found. */
  total: number;
  /** What is done to all of them. */
  sum: Sum;
  /** Rows that a person reads as one, such as moves into one folder; none with `find`. */
  groups: Group[];
  /** Where the files below stand among the rows. */
  from: number;
  files: FileChange[];
  /** With the first rows of an approval, where it makes folders on its way. A receipt has a row for each that was made. */
  makes?: Makes | null;
}

/** Folders that are made on the way to what the rows bring, each unless it is there by then. They are no rows. */
export interface Makes {
  folders: number;
  /** The paths of the first of them, outermost first. */
  first: string[];
  /** Whether it may make more than are counted. */
  more: boolean;
}

/** What was written. */
export interface Exported {
  path: string;
  sha256: string;
  byte_size: number;
}

/** Counts of rows. */
export interface Sum {
  /** Files and links; no folder, which goes only if it is empty by then. */
  deleted: number;
  replaced: number;
  created: number;
  moved: number;
  folders: number;
  /** Folders that go, each if it is empty by then. */
  removed?: number;
}

/** Rows that stand together. */
export interface Group {
  /** `move` or `folder`. */
  op: ChangeKind;
  /** The folder that moves go to; empty for the workspace itself. */
  to: string | null;
  /** Its first row. */
  from: number;
  rows: number;
  /** Rows of it that were done, of a receipt. */
  done: number;
}

/** One file. */
export interface FileChange {
  op: ChangeKind;
  /** From the folder, in the written form: percent-encoded where it is no plain text. */
  path: string;
  /** Where a move goes to. */
  to: string | null;
  /** A file with the same bytes that stays where it is. */
  same_as: string | null;
  /** Absent where there was nothing. */
  before: Side | null;
  /** Absent where nothing will be. */
  after: Side | null;
  /** Of a receipt: `done`, `not_done`, `unknown`. */
  outcome: ItemOutcome | null;
  /** Of a folder that is to go: on what that depends, such as `if it is empty by then`; of a receipt that it went, `it was empty by then`, or why it is there still, such as `stays: it holds files that came later`. */
  note?: string | null;
  /** Of a text that is to replace another, both at hand: what changes, in order. A person can take its hunks one by one. None where it is too long for that. */
  edits?: Edit[];
}

/** Lines from a place on, counted from 0, and the lines that come instead. Lines end with a line feed. */
export interface Edit {
  /** The number of its hunk, from 1. */
  hunk: number;
  before: number;
  before_lines: number;
  after: number;
  after_lines: number;
}

/** A file's bytes. */
export interface Side {
  sha256: string;
  byte_size: number | null;
  /** The text, where it is one and is at hand. */
  text: string | null;
  /** Why there is no text. */
  missing: NoText | null;
}
