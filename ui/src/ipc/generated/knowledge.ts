// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Page, Text } from "./shared";
import type { BeliefStatus, DecisionClass, EntityType, MemoryStatus, RiskBand, TrustTier } from "./words";

/** Which decisions. */
export interface Decisions {
  task?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** Which beliefs. */
export interface Beliefs {
  task?: string | null;
  status?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** Which memory records; without a status those that are held. */
export interface Memories {
  /** `active`, `invalidated`, `revoked`, `expired`, or `any`. */
  status?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** One record by identifier, or by its beginning or end. */
export interface Invalidate {
  memory: string;
  reason: string;
}

/** One belief by identifier, or by its beginning or end. */
export interface Revoke {
  belief: string;
  reason: string;
}

/** One belief by identifier, or by its beginning or end. */
export interface History {
  belief: string;
  after?: string | null;
  limit?: number | null;
}

/** Words that must all be there; each also finds longer ones that begin with it. */
export interface Search {
  text: string;
  after?: string | null;
  limit?: number | null;
}

/** One decision. */
export interface Decision {
  decision_id: string;
  task_id: string;
  class: DecisionClass;
  summary: Text;
  rationale: Text;
  risk: RiskBand;
  decided_by: string;
  reversible: boolean;
  evidence: Evidence[];
  alternatives: Text[];
  created_at: number;
}

/** One belief, its latest revision. */
export interface Belief {
  belief_id: string;
  task_id: string;
  claim: Text;
  scope: Text;
  /** From 0 to 1000. */
  confidence: number;
  trust: TrustTier;
  status: BeliefStatus;
  revision: number;
  evidence: Evidence[];
  created_at: number;
  updated_at: number;
  superseded_by: string | null;
  contradicts: string[];
  reason: Text | null;
}

/** It is taken back. */
export interface Revoked {
  belief_id: string;
  task_id: string;
}

/** One change of a belief. */
export interface Revision {
  revision: number;
  /** From 0 to 1000. */
  confidence: number;
  trust: TrustTier;
  /** Why, where anybody said so. */
  reason: Text | null;
  at: number;
}

/** One memory record. */
export interface Memory {
  memory_id: string;
  task_id: string;
  claim: Text;
  scope: Text;
  reason: Text;
  trust: TrustTier;
  status: MemoryStatus;
  evidence: Evidence[];
  promoted_by: string;
  created_at: number;
  ended_at: number | null;
  end_reason: Text | null;
  superseded_by: string | null;
}

/** What a claim rests on. */
export interface Evidence {
  artifact_id: string;
  /** Which part, in words. */
  part: string;
  excerpt_sha256: string;
  trust: TrustTier;
  confidence: number;
}

/** It is marked as wrong. */
export interface Invalidated {
  memory_id: string;
  task_id: string;
}

/** One place where the words were found. */
export interface Hit {
  /** What it is about. */
  kind: EntityType;
  id: string;
  task_id: string;
  /** The task's title; none of what belongs to no task, such as a message. */
  title: Text | null;
  /** What it is, in words a person knows: of content its kind, with its name where it has one. */
  what: string;
  /** A JSON pointer into the event, or `/content` of an artifact. */
  part: string;
  at: number;
  excerpt: Text;
}

/** A part of the list. */
export type DecisionList = Page<Decision>;

/** A part of the list. */
export type BeliefList = Page<Belief>;

/** See the table. */
export type RevisionList = Page<Revision>;

/** A part of the list. */
export type MemoryList = Page<Memory>;

/** A part of the list. */
export type Hits = Page<Hit>;
