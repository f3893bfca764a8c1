// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { EntityType, PrincipalType } from "./words";

/** Events behind a place; ask again with the last place to follow. */
export interface List {
  task: string;
  /** The place behind which to begin; 0 for the beginning. */
  after_seq?: number;
  limit?: number | null;
}

/** Events in order, and whether there are more. */
export interface Events {
  task_id: string;
  events: Event[];
  /** The last place there is. */
  last_seq: number;
  /** The task has ended: nothing more will come but what undoes or settles it. */
  ended: boolean;
}

/** One event. */
export interface Event {
  event_id: string;
  seq: number;
  event_type: string;
  entity_type: EntityType;
  entity_id: string;
  step_id: string | null;
  attempt_id: string | null;
  at: number;
  actor_type: PrincipalType;
  actor_id: string;
  /** The body; sensitive leaves are plain, or `{"erased": digest}`. */
  body: unknown;
  causation_id: string | null;
  /** SHA-256 of the stored bytes. */
  hash: string;
  prev_hash: string;
}
