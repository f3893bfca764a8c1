// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Page } from "./shared";

/** Which grants; without a task those that can still be used. */
export interface List {
  task?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** One grant by identifier, or by its beginning or end. */
export interface Revoke {
  grant: string;
  reason?: string | null;
}

/** One grant. */
export interface Grant {
  grant_id: string;
  task_id: string;
  action_request_id: string;
  action_class: string;
  /** `active`, `consumed`, `revoked`, `expired`. */
  state: string;
  issued_at: number;
  expires_at: number;
  max_uses: number;
  uses: number;
  approval_id: string | null;
  reason: string;
}

/** It is taken back. */
export interface Revoked {
  grant_id: string;
  task_id: string;
}

/** A part of the list. */
export type Grants = Page<Grant>;
