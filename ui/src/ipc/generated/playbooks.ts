// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { PlaybookState, PlaybookTrialOutcome, TrustTier } from "./words";

export type { Submitted } from "./task";

/** Nothing to say. */
export type List = Record<string, never>;

/** A playbook of one's own. */
export interface Read {
  /** The text of its file. */
  text: string;
}

/** Playbooks that were drafted from what recurs. */
export interface Drafts {
  /** One of them. */
  name?: string | null;
}

/** A draft that is tried anew. */
export interface Try {
  name: string;
}

/** A draft, or a playbook that was turned off, which a person is asked to adopt. */
export interface Adopt {
  name: string;
  channel?: string | null;
}

/** A playbook that is not used any more. */
export interface TurnOff {
  name: string;
  reason?: string | null;
}

/** All at hand. */
export interface Playbooks {
  playbooks: Playbook[];
}

/** One playbook. */
export interface Playbook {
  name: string;
  about: string;
  /** What it does, for somebody about to run it. */
  description: string;
  parameters: Parameter[];
  /** The version that a person adopted; none of one that comes with Hermit. */
  version: number | null;
}

/** One of its parameters. */
export interface Parameter {
  name: string;
  about: string;
  /** Used when none is given; absent when one must be. */
  standard: string | null;
}

/** Every draft, the newest first. */
export interface DraftList {
  rows: Draft[];
}

/** A playbook that was drafted from what recurs, and what came of it. */
export interface Draft {
  name: string;
  playbook_sha256: string;
  state: PlaybookState;
  /** Why, in words. */
  why: string | null;
  /** The task that asks a person, where one waits. */
  task_id: string | null;
  /** Its text; none where it was erased. */
  text: string | null;
  /** The project whose tasks it was drafted from. */
  project: string | null;
  /** The lowest trust of all that it was made of. */
  trust: TrustTier | null;
  /** On how many of the recorded tasks it gives the same result, and of how many. */
  same: number;
  of: number;
  trials: Trial[];
  /** The narrowest standing grant under which it would run unasked, in words. */
  narrowest: string | null;
  /** What was adopted under its name, in order. */
  versions: Version[];
  /** What it is kept as: `hermit recall` takes it. */
  artifact_id: string;
}

/** A recorded task on which a draft was tried. */
export interface Trial {
  task_id: string;
  receipts: string[];
  parameters: Record<string, string>;
  outcome: PlaybookTrialOutcome;
  /** What differs, or why it cannot be tried. */
  why: string | null;
}

/** A text that a person adopted. */
export interface Version {
  version: number;
  sha256: string;
  since: number;
  /** Why it is not used any more. */
  off: string | null;
  artifact_id: string;
}

/** What is not used any more. */
export interface TurnedOff {
  name: string;
  sha256: string;
}
