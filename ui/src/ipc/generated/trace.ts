// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Explanation, Link } from "./receipts";
import type { EdgeKind, ExplainedKind, TraceScope } from "./words";

/** A receipt, an artifact, or a file on disk; with a line, who wrote that line. */
export interface Explain {
  /** An identifier, or its beginning or end; or an absolute path. */
  subject: string;
  /** From 1; for a path only. */
  line?: number | null;
}

/** A source: an artifact, belief or memory record by identifier, or the absolute path of a file that was taken in or read. */
export interface Recall {
  source: string;
}

/** The chain behind something. */
export interface Explained {
  kind: ExplainedKind;
  subject: string;
  /** How the answer was found, in sentences. */
  told: string[];
  /** The line that was asked for, as it stands on disk. */
  line: Line | null;
  /** What every change of it rests on, the newest first. */
  chains: Explanation[];
  /** The same as a drawing. */
  graph: Graph;
}

/** One line of a file. */
export interface Line {
  number: number;
  text: string;
  /** The receipt whose change wrote it; absent when no change of Hermit's did. */
  written_by: string | null;
  /** The line's number in the file that the change left. */
  number_then: number | null;
}

/** A part of the lineage, with a place for each node: layers run from cause to effect. */
export interface Graph {
  nodes: Node[];
  edges: Edge[];
  layers: number;
  rows: number;
}

/** One node. */
export interface Node {
  link: Link;
  layer: number;
  row: number;
}

/** One edge, from what was there to what came of it. */
export interface Edge {
  from: string;
  to: string;
  kind: EdgeKind;
}

/** Everything that derives from a source, and the plan to take it back. Nothing of the plan runs by itself. */
export interface Recalled {
  sources: Link[];
  /** How far was looked. */
  scope: TraceScope;
  artifacts: Link[];
  beliefs: Link[];
  memories: Link[];
  decisions: Link[];
  effects: Link[];
  receipts: Link[];
  /** Leaf first. */
  plan: Step[];
}

/** One step of the plan. */
export interface Step {
  /** What it takes back. */
  subject: Link;
  /** The words to run; absent where there is nothing to run. */
  command: string | null;
  /** Why, or why not. */
  why: string;
}
