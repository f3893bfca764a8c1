// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";

/** Of a task; of one attempt and turn when they are named, else the list of all turns. */
export interface Show {
  task: string;
  /** Attempt number, from 1; the latest when absent. */
  attempt?: number | null;
  /** Turn of the loop, from 1; without it no bytes are given. */
  iteration?: number | null;
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
