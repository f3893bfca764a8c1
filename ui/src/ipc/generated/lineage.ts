// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";
import type { EdgeKind, NodeKind, TraceScope, TrustTier } from "./words";

/** Around anything that has an identifier; around all that a task made, when it is a task's. */
export interface Draw {
  of: string;
  /** Nodes at most, the nearest first; 1,000 when absent. */
  limit?: number | null;
}

/** Nodes with their places, causes before what came of them, and what joins them. */
export interface Drawing {
  /** What was asked about. */
  focus: string;
  /** How far was looked. */
  scope: TraceScope;
  nodes: Node[];
  edges: Edge[];
  layers: number;
  rows: number;
  /** Nodes that did not fit. */
  left_out: number;
}

/** Something that came from something. */
export interface Node {
  id: string;
  kind: NodeKind;
  /** An artifact's kind, an action's class. */
  detail: string;
  label: Text | null;
  task_id: string;
  at: number;
  trust: TrustTier | null;
  sha256: string | null;
  /** Its place: the layer, and the row in it. */
  layer: number;
  row: number;
  /** Its content went into the focus. */
  feeds: boolean;
  /** Content of the focus went into it. */
  tainted: boolean;
}

/** How one thing came of another. */
export interface Edge {
  from: string;
  to: string;
  kind: EdgeKind;
  /** Content goes along it, and taint with it. */
  carries: boolean;
}
