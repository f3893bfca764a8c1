// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Page, Text } from "./shared";
import type { BeliefStatus, DecisionClass, EntityType, InvalidationPolicy, MemoryRetention, MemoryStatus, MemoryType, RiskBand, RootStanding, TrustTier } from "./words";

export type { Submitted } from "./task";

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
  /** Only this one, whatever its status: by identifier, or by its beginning or end. */
  memory?: string | null;
  /** Only of this kind: `decision`, `pattern`, `correction`, `architecture`, `preference`. */
  memory_type?: string | null;
  /** Only what holds in the project of this folder; what holds everywhere is among it. */
  folder?: string | null;
  /** Only what is held there and says something of this, the most relevant first; a folder has to be named with it. */
  about?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** What was remembered at a point of the past: one of checkpoint, number and time, else the newest point. */
export interface MemoryThen {
  /** A checkpoint of the log: the number of its notes, or the signed note itself as text. */
  checkpoint?: string | null;
  /** The number of a point of the list. */
  number?: number | null;
  /** The newest point until this instant. */
  at?: number | null;
  memory_type?: string | null;
  folder?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** Points of the past at which a root of memory was stated, the newest first. */
export interface MemoryPoints {
  after?: string | null;
  limit?: number | null;
}

/** The contexts that one record was sent in: by identifier, or by its beginning or end. */
export interface MemoryContexts {
  memory: string;
}

/** What a person wants remembered. */
export interface Remember {
  /** The claim. */
  claim: string;
  /** The part of the project it is about, such as `src/api`; all of it when left out. */
  scope?: string | null;
  /** Whether it holds in every project. */
  everywhere?: boolean;
  /** Why it deserves to last. */
  reason?: string | null;
  memory_type?: MemoryType | null;
  /** Whether every task of the project is told of it. */
  pinned?: boolean;
  /** For how many days it holds; for good when left out. */
  days?: number | null;
  /** The record whose place it takes, by identifier, or by its beginning or end. */
  replaces?: string | null;
  /** A folder of the project. */
  workspace: string;
  channel?: string | null;
  idempotency_key?: string | null;
}

/** Which proposals of the historian; all that wait for a person. */
export type Suggestions = Record<string, never>;

/** The historian looks now at what ended, in projects where nothing is at work. */
export type Review = Record<string, never>;

/** One record by identifier, or by its beginning or end, that should never have been kept. */
export interface Forget {
  memory: string;
  reason: string;
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

/** What a person says of a belief: one of confidence, instead, against and over. */
export interface Correct {
  /** By identifier, or by its beginning or end. */
  belief: string;
  /** How sure one may be of it, from 0 to 1000; never more than its evidence carries. */
  confidence?: number | null;
  /** What holds in its place. */
  instead?: string | null;
  /** What holds against it; neither is dropped. */
  against?: string | null;
  /** Whether its time is over. */
  over?: boolean;
  reason: string;
  channel?: string | null;
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

/** It is corrected. */
export interface Corrected {
  belief_id: string;
  task_id: string;
  /** The belief that holds what the person said. */
  by: string | null;
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
  /** The conversation it comes from, in lists of what is remembered now. */
  conversation_id: string | null;
  claim: Text;
  scope: Text;
  reason: Text;
  trust: TrustTier;
  status: MemoryStatus;
  evidence: Evidence[];
  promoted_by: string;
  /** What kind of knowledge it is, where anybody said so. */
  memory_type: MemoryType | null;
  /** The project it holds in; everywhere when absent. */
  project: Project | null;
  retention: MemoryRetention | null;
  invalidation: InvalidationPolicy | null;
  from_belief: string | null;
  supersedes: string | null;
  /** How many context packs held it. */
  uses: number;
  last_used_at: number | null;
  /** In how many tasks an act or the closing answer followed it. */
  helped: number;
  /** The last of them. */
  helped_in: string | null;
  /** How often a person, or what was seen, said otherwise. */
  contradicted: number;
  /** The last task in which that was. */
  contradicted_in: string | null;
  /** Whether no task is told of it although it is in force: it holds, or may hold, a value of a secret that a task looked into. */
  withheld: boolean;
  expires_at: number | null;
  created_at: number;
  ended_at: number | null;
  end_reason: Text | null;
  superseded_by: string | null;
  /** How much it holds of what was asked `about`, in thousandths: made for each question and kept nowhere. */
  relevance: number | null;
}

/** Where models were told of a memory record. */
export interface MemoryContextList {
  memory_id: string;
  /** The task that was told of it last first; at most 50. */
  tasks: TaskContexts[];
  /** How many tasks were told of it before these. */
  more: number;
}

/** The contexts of one task that held a memory record. */
export interface TaskContexts {
  task_id: string;
  /** The task's title; none of a task that this store does not list. */
  title: Text | null;
  /** How many context packs of it held the record. */
  contexts: number;
  /** The turns whose context did, in their order; of very many stretches the last 50. */
  turns: TurnRange[];
  first_at: number;
  last_at: number;
  /** Whether an act or the closing answer of the task followed it. */
  helped: boolean;
  /** Whether a person, or what was seen in the task, said otherwise. */
  contradicted: boolean;
}

/** Turns of one attempt that follow each other. */
export interface TurnRange {
  /** Attempt number, from 1. */
  attempt: number;
  first: number;
  last: number;
}

/** One line of a card on which the historian asks what to remember. */
export interface Suggestion {
  approval_id: string;
  task_id: string;
  /** Its number on the card, from 1. */
  number: number;
  /** How many lines the card has. */
  of: number;
  claim: Text;
  /** Why it is proposed, and the rule that found it. */
  reason: Text;
  memory_type: MemoryType | null;
  /** The lowest trust of all that it rests on. */
  trust: TrustTier;
  project: Project | null;
  grounds: Ground[];
  requested_at: number;
}

/** What shows a suggestion. */
export interface Ground {
  task_id: string;
  event_id: string;
  receipt_id: string | null;
  /** What happened, such as `a person answered`. */
  what: string;
  quote: Text;
}

/** Every line that waits. */
export interface SuggestionList {
  rows: Suggestion[];
}

/** What a review came to. */
export interface Reviewed {
  /** The task that asks, where something is proposed. */
  task_id: string | null;
  /** Lines that are proposed. */
  lines: number;
  /** Ended tasks that were read. */
  tasks: number;
  /** Ended tasks that wait, for their project to come to rest or for the answer to what is proposed there. */
  waiting: number;
  /** Whether more is left that ended and was not read: another look goes on with it. */
  more: boolean;
  /** Playbooks that were drafted from what recurs. */
  drafts: number;
}

/** A point of the past at which a root of memory was stated. */
export interface MemoryPoint {
  /** Its number, from 0. */
  number: number;
  /** When it was stated. */
  at: number;
  /** The root over all conversations and all memory. */
  state_root: string;
  /** The oldest checkpoint of the log that covers it: the number of its notes. */
  checkpoint: number | null;
}

/** A part of the list. */
export interface MemoryPointList {
  rows: MemoryPoint[];
  next: string | null;
}

/** The root of a project's memory. */
export interface MemoryRoot {
  /** The project; none for the memory that holds in every one. */
  project: Project | null;
  /** Records in force. */
  size: number;
  root: string;
  /** Whether it follows from the records as they stand here. */
  matches: boolean;
}

/** Memory as it was. The rows say of themselves what became of them since. */
export interface MemoryThenList {
  point: MemoryPoint;
  standing: RootStanding;
  roots: MemoryRoot[];
  rows: Memory[];
  next: string | null;
  /** What was added since, the newest first. */
  added: Memory[];
  /** Whether more than these were. */
  added_more: boolean;
}

/** A project. */
export interface Project {
  hash: string;
  /** The name of its folder, where this store knows one. */
  name: Text | null;
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

/** It is taken back. */
export interface Forgotten {
  memory_id: string;
  task_id: string;
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
