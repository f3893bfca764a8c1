// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Page, Text } from "./shared";
import type { ActionClass, ApprovalStatus, GrantStatus, RuleScope, StandingState, Surface } from "./words";

/** Which grants; without a task those that can still be used. */
export interface List {
  task?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** One grant or standing grant by identifier, or by its beginning or end. */
export interface Revoke {
  grant: string;
  reason?: string | null;
}

/** Every standing grant; without those that hold no more unless asked for. */
export interface Standing {
  all?: boolean;
}

/** The narrowest standing grants that would have answered a question. */
export interface Propose {
  approval: string;
  /** Where they are to hold: `task`, `project`, `user`; the project of the act when absent, else its task. In a run of a schedule: its runs, `schedule`. */
  scope?: string | null;
}

/** A standing grant in the making: a command, a place or a host, and where it is to hold. */
export interface Draft {
  /** Program and arguments. */
  command?: string[] | null;
  /** Whether these are all the words. */
  whole?: boolean;
  /** The folder it runs in, below the project; the project itself when absent. */
  cwd?: string | null;
  /** Whether it may ask for the network. */
  network?: boolean;
  /** Globs of the places it may change; none is no place. */
  changes?: string[];
  /** A glob of places below the project. */
  paths?: string | null;
  /** `create`, `overwrite`, `delete`. */
  acts?: string[];
  /** A host, or `*.` and its ending. */
  host?: string | null;
  port?: number | null;
  /** Whether something may be sent there. */
  write?: boolean;
  /** The project's folder; with neither task nor schedule, everywhere. */
  workspace?: string | null;
  task?: string | null;
  /** The schedule in whose runs it holds, as it is. */
  schedule?: string | null;
  days?: number | null;
  uses?: number | null;
  /** Whether it holds also for a proposer that has read what nobody vouches for. */
  after_untrusted?: boolean;
}

/** A standing grant that a person signed by itself. */
export interface Allow {
  /** The DSSE envelope, base64. */
  envelope: string;
}

/** One grant. */
export interface Grant {
  grant_id: string;
  task_id: string;
  action_request_id: string;
  action_class: ActionClass;
  state: GrantStatus;
  issued_at: number;
  expires_at: number;
  max_uses: number;
  uses: number;
  approval_id: string | null;
  reason: string;
  /** When it was used as often as it may be. */
  consumed_at: number | null;
  /** When it was taken back. One that was used too was taken back while its act was under way. */
  revoked_at: number | null;
}

/** It is taken back. */
export interface Revoked {
  grant_id: string;
  /** None for a standing grant, which belongs to no task. */
  task_id: string | null;
}

/** Standing grants. */
export interface StandingList {
  rows: StandingGrant[];
}

/** One standing grant. */
export interface StandingGrant {
  grant_id: string;
  /** What it allows, in a sentence. */
  words: string | null;
  scope: RuleScope;
  /** The project, the task or the schedule. */
  place: string | null;
  state: StandingState;
  expires_at: number;
  max_uses: number;
  uses: number;
  /** Where it was given: `approval_window`, `terminal`, `browser`, ... */
  surface: Surface;
  /** The person who gave it. */
  decided_by: string;
  /** Why it was taken back. */
  reason: string | null;
}

/** Standing grants that could be given, the narrowest first. */
export interface Proposals {
  rows: Proposal[];
}

/** One of them, with what it would have meant. */
export interface Proposal {
  /** What it would allow, in a sentence. */
  words: string;
  /** What a person would sign, but for its identifier, its time, the surface and who signs. */
  draft: unknown;
  /** What it would have meant so far. */
  rehearsed: Rehearsed;
}

/** What a standing grant would have meant. */
export interface Rehearsed {
  /** Questions of the past that it would have answered. */
  answered: number;
  /** Of these, those that a person had refused. It should be none. */
  refused: number;
  /** Questions that were put in all. */
  questions: number;
  /** The newest of those it would have answered. */
  rows: Past[];
}

/** A question of the past. */
export interface Past {
  action_request_id: string;
  task_id: string;
  at: number;
  summary: Text;
  /** `granted` or `denied`, when a person answered. */
  answered: ApprovalStatus | null;
}

/** It holds from now on. */
export interface Allowed {
  grant_id: string;
}

/** A part of the list. */
export type Grants = Page<Grant>;
