// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Page, Text } from "./shared";

export type { Submitted } from "./task";

/** Which receipts. */
export interface List {
  task?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** One receipt by identifier, or by its beginning or end. */
export interface Show {
  receipt: string;
}

/** See the table. */
export interface Explain {
  receipt: string;
}

/** See the table. */
export interface Rollback {
  receipt: string;
  idempotency_key?: string | null;
  channel?: string | null;
}

/** One line of the list. */
export interface ReceiptRow {
  receipt_id: string;
  task_id: string;
  class: string;
  action_class: string;
  result: string;
  /** What a person settled it as, when it was not known. */
  resolved: string | null;
  reversibility: string;
  rolls_back: string | null;
  undone_by: string | null;
  summary: Text;
  issued_at: number;
}

/** One receipt. */
export interface Receipt {
  row: ReceiptRow;
  /** The receipt as the statement holds it; sensitive leaves plain or `{"erased": digest}`. */
  receipt: unknown;
  /** SHA-256 of the statement's bytes. */
  statement_sha256: string;
  /** The artifact with the signed envelope. */
  envelope_ref: string;
  /** Key ids that signed it; empty in a store without keys. */
  signed_by: string[];
  /** Whether the receipt key in force verifies it. */
  signature: Signature;
}

/** What a receipt's chain is made of. Every list is ordered. */
export interface Explanation {
  receipt_id: string;
  /** Messages, tasks, steps and attempts it served, the outermost first. */
  goal: Link[];
  /** Context packs that were in the proposer's sight. */
  context: Link[];
  /** What those came from. */
  evidence: Link[];
  action: Link | null;
  policy: Link[];
  decisions: Link[];
  approvals: Link[];
  witnesses: Link[];
  grants: Link[];
  effect: Link | null;
  changes: Link[];
  undone_by: Link[];
  /** The weakest trust tier behind it. */
  trust: string | null;
  /** Untrusted artifacts behind it. */
  untrusted: Link[];
}

/** One thing in a chain. */
export interface Link {
  /** `task`, `artifact`, `approval`, ... */
  kind: string;
  id: string;
  task_id: string | null;
  label: Text | null;
  /** An artifact's kind, an action's class. */
  detail: string;
  at: number | null;
}

/** Whether a signature holds. */
export type Signature =
  /** The key in force verifies it. */
  | "holds"
  /** It is signed, and not by that key, or not over these bytes. */
  | "fails"
  /** It is not signed. */
  | "none"
  /** It is signed, and the store knows no receipt key. */
  | "unknown_key";

/** A part of the list. */
export type Receipts = Page<ReceiptRow>;
