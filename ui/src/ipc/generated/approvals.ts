// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Page, Text } from "./shared";

/** Which approvals; without a status those that wait. */
export interface List {
  task?: string | null;
  /** `pending`, `granted`, `denied`, `expired`, `cancelled`, `invalidated`, or `any`. */
  status?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** One approval by identifier, or by its beginning or end. */
export interface Show {
  approval: string;
}

/** A decision as signed. */
export interface Decide {
  approval: string;
  /** Base64 of the DSSE envelope, exact bytes. */
  envelope: string;
  /** With a yes: base64 of the envelope of a standing grant for the like of it, signed at the same question. */
  standing?: string | null;
}

/** A no. */
export interface Deny {
  approval: string;
  /** Words for the model. */
  feedback?: string | null;
  /** Where it was given: `terminal`, `approval_window`, `browser`, `run_api`, `mcp`, `script`, `main_window`, `notification`. */
  surface?: string | null;
}

/** One line of the list. */
export interface ApprovalRow {
  approval_id: string;
  task_id: string;
  action_class: string;
  risk: string;
  summary: Text;
  status: string;
  requested_at: number;
  expires_at: number;
  resolved_at: number | null;
  surface: string | null;
  feedback: Text | null;
  reason: string;
}

/** Everything a person reads, and everything a signer needs. */
export interface Approval {
  row: ApprovalRow;
  /** What is asked, in a line. */
  title: string;
  /** The card, the gravest first; never cut. */
  lines: Line[];
  /** Every leaf of the packet as `pointer = value`. */
  whole: string[];
  /** SHA-256 of the packet: what is approved. */
  packet_sha256: string;
  /** Base64 of the packet's canonical bytes. */
  packet: string;
  nonce: string;
  /** The person who would answer. */
  person_id: string;
  /** Key id of the approval key in force; absent when none is registered. */
  approval_keyid: string | null;
  receipt_id: string | null;
}

/** One line of the card. */
export interface Line {
  /** `risk`, `destructive`, `unrecoverable`, `effect`, `fact`, `quoted`. */
  kind: string;
  text: string;
}

/** What became of an answer. */
export interface Decided {
  approval_id: string;
  task_id: string;
  /** Whether it counts; not when it was answered before, expired or withdrawn. */
  accepted: boolean;
  /** The approval's status now. */
  status: string;
}

/** A part of the list. */
export type Approvals = Page<ApprovalRow>;
