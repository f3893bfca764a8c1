// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Page, PartOf, Text } from "./shared";
import type { ActionClass, ApprovalStatus, CardLine, Origin, RiskBand, Surface } from "./words";

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

/** The exact bytes to sign, from the given one on. */
export interface Packet {
  approval: string;
  from?: number | null;
}

/** Lines of the card, or of what is signed, that hold `find`, from the given one on. */
export interface Lines {
  approval: string;
  /** `card`, every line of the card; `signed`, every value of the packet as `pointer = value`. */
  of: string;
  /** Only those that hold these words, whatever the case. */
  find?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** A decision as signed. */
export interface Decide {
  approval: string;
  /** Base64 of the DSSE envelope, or of what a security key signed; exact bytes. */
  envelope: string;
  /** With a yes: base64 of the envelope of a standing grant for the like of it, signed at the same question. */
  standing?: string | null;
}

/** A part of what was asked: the rest is denied, and the part is asked about by itself. It allows nothing. */
export interface Part {
  approval: string;
  /** Files and folders, as paths below the workspace; `path#1,3-5` is these hunks of a file. */
  only?: string[];
  /** Rows as `changes.show` counts them. */
  rows?: Rows[];
  /** Files of which some hunks alone are taken, also where they are among the rows or in a folder above. */
  hunks?: Hunks[];
  /** Words for the model, about the rest. */
  feedback?: string | null;
  /** Where it was chosen, as with a no. */
  surface?: string | null;
}

/** Rows that follow each other. */
export interface Rows {
  from: number;
  rows: number;
}

/** Hunks of one file, by their numbers in `changes.show`; with none the file is left out. */
export interface Hunks {
  path: string;
  hunks: number[];
}

/** A no. */
export interface Deny {
  approval: string;
  /** Words for the model. */
  feedback?: string | null;
  /** Whether the task is to end with it. */
  stop?: boolean;
  /** Where it was given: `terminal`, `approval_window`, `browser`, `run_api`, `mcp`, `script`, `main_window`, `notification`. */
  surface?: string | null;
}

/** One line of the list. */
export interface ApprovalRow {
  approval_id: string;
  task_id: string;
  action_class: ActionClass;
  risk: RiskBand;
  summary: Text;
  status: ApprovalStatus;
  requested_at: number;
  expires_at: number;
  resolved_at: number | null;
  surface: Surface | null;
  feedback: Text | null;
  reason: string;
  /** Who began the task that asks; what Hermit itself began interrupts nobody. */
  origin: Origin;
  /** The task whose agent gave this one away, where one did. */
  part_of?: PartOf | null;
  /** The model or the agent of another program that asks; absent where it is none, such as a playbook. */
  agent?: string | null;
  /** The path of the folder that its task works in; absent where it works in none. */
  workspace?: Text | null;
}

/** Everything a person reads, and everything a signer needs. */
export interface Approval {
  row: ApprovalRow;
  /** What is asked, in a line. */
  title: string;
  /** The card, the gravest first. Of a large one the beginning of each part; `approvals.lines` has every line. */
  lines: Line[];
  /** How many of `lines`, from the second on, tell of the act itself. */
  act_lines: number;
  /** Lines that are not here. */
  lines_left: number;
  /** Why the like of it is asked about each time, where no standing approval can cover it. */
  asked_each_time: string | null;
  /** The packet without its long lists, which `changes.show` and `approvals.lines` give in parts. */
  outline: unknown;
  /** Places of the folder that it touches. */
  resources: number;
  /** Hosts that it may reach, or lets tasks reach from now on, as `name:port`; `*:0` is any public one. */
  hosts: string[];
  /** Places that were looked at, and are looked at again before anything runs. */
  checked: number;
  /** SHA-256 of the packet: what is approved. */
  packet_sha256: string;
  /** Bytes of the packet. */
  packet_bytes: number;
  /** Base64 of the packet's canonical bytes; of a large one `approvals.packet` gives them in pieces. */
  packet: string | null;
  nonce: string;
  /** The person who would answer. */
  person_id: string;
  /** Key id of the approval key in force; absent when none is registered. */
  approval_keyid: string | null;
  receipt_id: string | null;
  /** Where two different keys have to say yes: what is known of them while it waits. */
  two_keys?: TwoKeys | null;
}

/** Two different keys have to say yes. */
export interface TwoKeys {
  /** How many have. */
  given: number;
  /** Keys that may say yes here. */
  able: number;
  /** All of it in a sentence. */
  says: string;
}

/** A piece of the bytes to sign. */
export interface Piece {
  /** Base64. */
  bytes: string;
  /** Where the next piece begins; absent at the end. */
  next: number | null;
}

/** One line of the card. */
export interface Line {
  kind: CardLine;
  text: string;
}

/** What became of an answer. */
export interface Decided {
  approval_id: string;
  task_id: string;
  /** Whether it counts; not when it was answered before, expired or withdrawn. */
  accepted: boolean;
  /** The approval's status now. */
  status: ApprovalStatus;
}

/** A part of the list. */
export type Approvals = Page<ApprovalRow>;

/** A part of the lines. */
export type LinePage = Page<Line>;
