// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { BudgetPart, MeasuredBy, PatchKind, TrialStage, TrialState, VerdictOutcome } from "./words";

/** Changes that are tried on the person's own past work; several of them race over the same tasks. */
export interface Try {
  /** Each as JSON. */
  patches: string[];
  /** What they are to do, in one line. */
  about: string;
  /** Tasks that are played, whatever is drawn beside them. */
  tasks: string[];
  /** How many tasks there are together, the others drawn; 10 when absent. */
  draw?: number | null;
  /** What the draw begins with; one that nobody chose when absent. */
  seed?: number | null;
  /** What each clone may use up; what is not said is the standard. */
  wall_seconds?: number | null;
  cpu_seconds?: number | null;
  memory_mb?: number | null;
  disk_mb?: number | null;
  processes?: number | null;
  tokens?: number | null;
  /** The model on this machine that is asked again, in both arms, about words that a model reads; the one that did the tasks when absent. */
  ask?: string | null;
}

/** What changes are, and what each clone of a trial of them might use up: nothing is begun. */
export interface Preview {
  /** Each as JSON. */
  patches: string[];
  /** What each clone may use up; what is not said is the standard. */
  wall_seconds?: number | null;
  cpu_seconds?: number | null;
  memory_mb?: number | null;
  disk_mb?: number | null;
  processes?: number | null;
  tokens?: number | null;
}

/** The newest first. */
export interface List {
  cursor?: string | null;
  limit?: number | null;
}

/** One of them. */
export interface Show {
  trial: string;
}

/** A trial that is to end without a verdict. */
export interface Stop {
  trial: string;
  reason?: string | null;
}

/** Changes that could be tried. */
export interface Previewed {
  /** In the order in which they were named. */
  changes: PreviewedChange[];
  /** What each clone might use up. */
  budget: TrialBudget;
}

/** A change that could be tried. */
export interface PreviewedChange {
  kind: PatchKind;
  /** What it is for. */
  says: string;
  /** Rooms of gate, policy, approval, successor or proof that it touches. */
  constitutional: string[];
  /** Files with tests that it edits, moves or removes. */
  edited_tests: string[];
}

/** Trials. */
export interface TrialList {
  trials: TrialRow[];
  next: string | null;
}

/** A trial, in a list. */
export interface TrialRow {
  trial_id: string;
  /** The first trial of the tournament that it is part of. */
  group: string | null;
  /** The task that proposed it; none where a person began it. */
  proposed_by: string | null;
  kind: PatchKind;
  /** What the change is for, in the words of whoever made it; none once it was erased. */
  says: string | null;
  /** What it was to do, in the words of whoever asked. */
  about: string | null;
  state: TrialState;
  /** What it is at, while it runs; none where only the process that runs it knows. */
  stage: TrialStage | null;
  outcome: VerdictOutcome | null;
  /** Why there is no verdict, or the change went again. */
  why: string | null;
  tasks: number;
  seed: number;
  began_at: number;
  ended_at: number | null;
  /** What was counted in both arms; nothing yet. */
  measures: TrialMeasure[];
  /** The model that was asked again in both arms, or is while it runs; none where answers were played again. */
  asked: TrialAsked | null;
}

/** A model on this machine that is asked again in both arms of a trial of words. */
export interface TrialAsked {
  model: string;
  /** How often it answered without the change. */
  parent: number;
  /** How often it answered with it. */
  successor: number;
}

/** Something that was counted in both arms. */
export interface TrialMeasure {
  name: string;
  parent: number;
  successor: number;
  /** Who counted it with the change; none where nobody says. */
  measured_by: MeasuredBy | null;
}

/** One trial. */
export interface Trial {
  trial: TrialRow;
  patch_sha256: string;
  /** Where what is new in the change comes from. */
  sources: string[];
  /** What it changes, piece by piece. */
  changes: TrialChange[];
  /** Tasks that both arms play. */
  tasks: string[];
  /** Tasks that were drawn and are not played, as they are too large. */
  left_out: string[];
  budget: TrialBudget;
  verdict: TrialVerdict | null;
  /** Tests that it edits, moves or removes: a person looks at each before the change is adopted. */
  edited_tests: TrialEdit[];
  /** Whether nothing but these keeps it from being the same: who has looked at them may adopt it. */
  waits_for_look: boolean;
  /** The others of its tournament. */
  rivals: TrialRow[];
}

/** A file with tests that a change edits, moves or removes. */
export interface TrialEdit {
  file: string;
  /** What a person has looked at is named by it. */
  sha256: string;
  /** All that the change says of the file, as a unified diff. */
  difference: string;
}

/** A piece of a change. */
export interface TrialChange {
  /** What it is of, such as the name of a piece of words. */
  what: string;
  /** As it would be; of source, the difference. */
  text: string;
}

/** What a clone may use up, or what clones used. */
export interface TrialBudget {
  wall_ms: number;
  cpu_ms: number;
  memory_bytes: number;
  disk_bytes: number;
  /** None where it was not counted. */
  processes: number | null;
  tokens: number;
}

/** What a trial came to. */
export interface TrialVerdict {
  /** The rules that led there, the gravest first. */
  reasons: TrialReason[];
  tests: TrialTests | null;
  /** Bad changes that were tried in the same run. */
  planted: TrialPlanted[];
  used: TrialBudget;
  /** What a clone was ended for. */
  ended_for: BudgetPart | null;
  /** Rooms of gate, policy, approval, successor or proof that the change touches. */
  constitutional: string[];
  /** What a model thought of it, which turns nothing. */
  opinion: string | null;
  /** Acts that differ. */
  differences: TrialDifference[];
  /** Differences beyond those. */
  more_differences: number;
  /** Whether the evidence is there to be compared. */
  has_evidence: boolean;
  verdict_sha256: string;
  evidence_sha256: string[];
  evaluator_sha256: string;
  /** Whether the signature of this store's log holds; none where the key is not known here. */
  is_signed: boolean | null;
}

/** A rule that led to a verdict. */
export interface TrialReason {
  rule: string;
  says: string;
}

/** A suite that ran. */
export interface TrialTests {
  suite: string;
  passed: number;
  failed: string[];
  /** Files of tests that the change edits or removes. */
  edited: string[];
  /** The same suite with these as they were before; none where it edits none, or they did not run. */
  parent: TrialParentTests | null;
}

/** A suite that ran over the change with tests as they were before. */
export interface TrialParentTests {
  passed: number;
  failed: string[];
  /** Files whose tests could not be put back. */
  not_run: string[];
}

/** A bad change that was tried. */
export interface TrialPlanted {
  name: string;
  refused: boolean;
}

/** An act that the arms did not do alike. */
export interface TrialDifference {
  task_id: string;
  summary: string;
  class: string;
  /** What policy said in the parent's arm; none where it was not done there. */
  before: string | null;
  /** What it said with the change. */
  after: string | null;
  /** Whether it changed something else. */
  effect_differs: boolean;
}
