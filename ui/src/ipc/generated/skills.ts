// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { SkillPlace, SkillState, TrustTier } from "./words";

export type { Submitted } from "./task";

/** Where to look. */
export interface List {
  /** The folder of a project; without one, the person's own skills alone. */
  folder?: string | null;
}

/** One skill, with every word of it. */
export interface Show {
  name: string;
  /** The one with these bytes; the first of its name when absent. */
  sha256?: string | null;
  /** A file of it, whose text is told. */
  file?: string | null;
  folder?: string | null;
}

/** The skill that a person is asked about. */
export interface Trust {
  name: string;
  /** As it was looked at; the first of its name that is not trusted when absent. */
  sha256?: string | null;
  folder?: string | null;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** Skills that what recurs in a project would make. */
export interface Drafts {
  /** The folder of the project. */
  folder: string;
}

/** A drafted skill that a person wants in the folder of its project. */
export interface Adopt {
  name: string;
  /** The folder of the project. */
  folder: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** The skill that is not trusted any more. */
export interface Untrust {
  name: string;
  /** The one with these bytes; all of its name when absent. */
  sha256?: string | null;
  reason?: string | null;
}

/** What there is. */
export interface SkillList {
  skills: SkillRow[];
  /** Playbooks, which stand beside them. */
  playbooks: PlaybookLine[];
  /** What was not looked at and why, in words. */
  left_out: string[];
}

/** One skill. */
export interface SkillRow {
  /** Its name, which is its folder's. */
  name: string;
  /** What it says it is for; none where it cannot be used. */
  description: string | null;
  place: SkillPlace;
  /** Its folder. */
  path: string;
  state: SkillState;
  /** Why, in words. */
  why: string | null;
  /** What else a person should know of it. */
  notes: string[];
  /** All of its bytes; none where it cannot be used. */
  sha256: string | null;
  files: number;
  byte_size: number;
  /** Since when it is trusted. */
  since: number | null;
}

/** A playbook in a line. */
export interface PlaybookLine {
  name: string;
  about: string;
}

/** One skill with every word of it. */
export interface SkillShown {
  skill: SkillRow;
  /** All of its `SKILL.md`. */
  text: string;
  license: string | null;
  compatibility: string | null;
  /** Tools that it asks to be allowed; that allows nothing. */
  allowed_tools: string | null;
  files: SkillFile[];
  /** The text of the file that was named, where it is a text. */
  file_text: string | null;
  /** Which bytes of this name were trusted, in order. */
  versions: SkillVersion[];
}

/** One of its files. */
export interface SkillFile {
  path: string;
  byte_size: number;
  sha256: string;
}

/** Bytes that a person trusted. */
export interface SkillVersion {
  sha256: string;
  since: number;
  /** Why they are not trusted any more. */
  untrusted: string | null;
  /** What it said and which files it had: `hermit recall` takes it. */
  artifact_id: string;
}

/** What recurs, as skills that nobody has written yet. */
export interface SkillDrafts {
  rows: SkillDraft[];
}

/** A skill that would be made of what recurs. */
export interface SkillDraft {
  name: string;
  /** What it would say it is for. */
  description: string;
  /** All of its `SKILL.md`. */
  text: string;
  /** The lowest trust of all that it was made of. */
  trust: TrustTier;
  /** The record that it rests on. */
  memory_id: string;
  /** The tasks that showed it. */
  tasks: string[];
}

/** What is not trusted any more. */
export interface Untrusted {
  name: string;
  sha256: string[];
}
