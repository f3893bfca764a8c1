// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Page, PartOf, Text } from "./shared";
import type { ActionClass, NodeKind, ReceiptClass, ResultCode, Reversibility, TrustTier, UndoKind } from "./words";

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
  /** Without the list of changes, which `changes.show` gives in parts. */
  brief?: boolean;
}

/** What to undo: a receipt, a task, or everything since a time (milliseconds since 1970). With `since` in more than one folder, `workspace` names one by its identifier; `receipts.plan` lists them. */
export interface Rollback {
  receipt?: string | null;
  task?: string | null;
  since?: number | null;
  workspace?: string | null;
  idempotency_key?: string | null;
  channel?: string | null;
}

/** What an undo would do as things are now; as [`Rollback`], which does it. */
export interface Plan {
  receipt?: string | null;
  task?: string | null;
  since?: number | null;
}

/** One line of the list. */
export interface ReceiptRow {
  receipt_id: string;
  task_id: string;
  class: ReceiptClass;
  action_class: ActionClass;
  result: ResultCode;
  /** What a person settled it as, when it was not known. */
  resolved: ResultCode | null;
  reversibility: Reversibility;
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
  /** Of a result in part: whether a person chose the part, and all of it was done. */
  as_chosen?: boolean;
  /** The task whose agent gave its task away, where one did. */
  part_of?: PartOf | null;
  /** The model or the agent of another program that asked for the act; absent where it is none, such as a playbook. */
  agent?: string | null;
}

/** One undo for each folder. */
export interface UndoPlans {
  plans: UndoPlan[];
}

/** What an undo would do in one folder. Nothing has been done. */
export interface UndoPlan {
  workspace_id: string;
  workspace: Text | null;
  /** The newest first, which is the order in which they are undone. */
  receipts: Undone[];
  items: UndoItem[];
  left: Left[];
  /** Where it goes around somebody's edit. */
  notes: string[];
}

/** A receipt in a plan. */
export interface Undone {
  receipt_id: string;
  task_id: string;
  summary: Text;
  issued_at: number;
  /** Whether nothing of it would be left. */
  whole: boolean;
}

/** One change. */
export interface UndoItem {
  what: UndoKind;
  path: string;
  /** Where a move goes. */
  to: string | null;
  bytes: number | null;
}

/** One place that would be left as it is. */
export interface Left {
  receipt_id: string;
  place: string;
  why: string;
  /** Where the earlier version would come instead. */
  beside: string | null;
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
  trust: TrustTier | null;
  /** Untrusted artifacts behind it. */
  untrusted: Link[];
}

/** One thing in a chain. */
export interface Link {
  kind: NodeKind;
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
