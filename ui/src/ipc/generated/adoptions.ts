// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { PersonSigned } from "./shared";
import type { PatchKind } from "./words";

export type { Submitted } from "./task";

/** A change that was tried, which a person is asked to adopt. */
export interface Propose {
  /** The trial that it was judged in. */
  trial: string;
  /** Reviews of a change of the source, each by one: JSON lines of `{file, line, says, by}`. */
  reviews?: string[];
  /** It is wanted although nothing was found to be better. */
  although_same?: boolean;
  /** What a person signed for each part that keeps Hermit in check and that it changes. */
  signed?: PersonSigned[];
  /** Edits of tests at which the person has looked: the `sha256` of each, as `successor.show` tells them. */
  looked?: string[];
  channel?: string | null;
}

/** What was before the change that was adopted last is to be at work again. */
export interface Back {
  /** Of this kind: `policy`, `words`, `model` or `code`; of any when absent. */
  kind?: string | null;
  reason?: string | null;
  channel?: string | null;
}

/** Nothing to say. */
export type List = Record<string, never>;

/** Changes that were adopted, the newest first. */
export interface AdoptionList {
  adoptions: Adoption[];
}

/** One of them. */
export interface Adoption {
  trial_id: string;
  kind: PatchKind;
  /** What it is for; none where its record is gone. */
  says: string | null;
  patch_sha256: string;
  /** The task in which a person said yes. */
  task_id: string | null;
  adopted_at: number;
  /** Whether going back returns from this one. */
  at_work: boolean;
  returned_at: number | null;
  /** Why it was returned from. */
  why: string | null;
  /** Who reviewed it. */
  reviewers: string[];
  /** Parts that keep Hermit in check and that it changes. */
  constitutional: string[];
}
