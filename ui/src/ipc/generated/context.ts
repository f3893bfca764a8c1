// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";
import type { SummaryLineKind, TrustTier } from "./words";

/** Of a task; of one attempt and turn when they are named, else the list of all turns. */
export interface Show {
  task: string;
  /** Attempt number, from 1; the latest when absent. */
  attempt?: number | null;
  /** Turn of the loop, from 1; without it no bytes are given. */
  iteration?: number | null;
}

/** The summary that stands in the context of a task; with an artifact, an earlier one. */
export interface Summary {
  task: string;
  artifact?: string | null;
}

/** Of which task. */
export interface Compact {
  task: string;
}

/** What stands in a context in the place of the oldest turns. */
export interface ContextSummary {
  task_id: string;
  artifact_id: string;
  sha256: string;
  made_at: number;
  /** The last turn that it stands for. */
  through: number;
  /** Results of acts that it stands for. */
  results: number;
  trust: TrustTier;
  lines: SummaryLine[];
  /** Lines that found no room; they stand in the summaries before. */
  left_out: number;
  /** The summary that it took the place of. */
  before: string | null;
  /** The model that put lines of it in fewer words, where one did. */
  retold_by: string | null;
}

/** One line, with what it stands for. */
export interface SummaryLine {
  kind: SummaryLineKind;
  iteration: number;
  text: string;
  events: StoodFor[];
  artifact_id: string | null;
}

/** An event that a line stands for. */
export interface StoodFor {
  event_id: string;
  seq: number;
  event_type: string;
}

/** What summing up came to; nothing but the task when there was nothing to sum up. */
export interface Compacted {
  task_id: string;
  artifact_id: string | null;
  through: number;
  results: number;
  lines: number;
}

/** The turns, and the bytes of one when it was named. */
export interface Context {
  task_id: string;
  turns: Turn[];
  shown: Shown | null;
}

/** One turn of the loop. */
export interface Turn {
  attempt_id: string;
  attempt: number;
  iteration: number;
  provider: string | null;
  model: string | null;
  remote: boolean | null;
  pack_tokens: number | null;
  pack_items: number | null;
  pack_omissions: number | null;
  tokens_in: number | null;
  tokens_out: number | null;
  cost_micros: number | null;
  finish_reason: string | null;
  /** Answers that were asked for again. */
  rejections: number;
  tool: string | null;
  summary: Text | null;
  error: Text | null;
  completed_at: number | null;
}

/** The bytes of one turn. */
export interface Shown {
  attempt: number;
  iteration: number;
  pack: Sent | null;
  request: Sent | null;
  response: Sent | null;
}

/** Bytes as stored. */
export interface Sent {
  artifact_id: string;
  sha256: string;
  byte_size: number;
  /** Base64; absent when they are no longer kept. */
  bytes: string | null;
}
