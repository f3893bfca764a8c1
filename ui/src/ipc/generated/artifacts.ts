// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Link } from "./receipts";
import type { Page, Text } from "./shared";
import type { ArtifactClass, ArtifactKind, ArtifactState, RetentionClass, Sensitivity, TraceScope, TrustTier } from "./words";

/** A file: by a path that the host can read, or by its bytes. */
export interface Ingest {
  /** Absolute. */
  path?: string | null;
  /** Base64, for what has no path, such as standard input. */
  bytes?: string | null;
  /** The name shown; the path's last part when absent. */
  name?: string | null;
  /** `untrusted` (the standard), `observed`, `verified`, `user_asserted`. */
  trust?: string | null;
  channel?: string | null;
}

/** Which artifacts. */
export interface List {
  task?: string | null;
  kind?: string | null;
  /** Exactly these bytes. */
  sha256?: string | null;
  after?: string | null;
  limit?: number | null;
}

/** One artifact by identifier, or by its beginning or end. */
export interface Show {
  artifact: string;
}

/** A part of the bytes; the whole, as far as one answer carries it, when absent. */
export interface Content {
  artifact: string;
  offset?: number;
  limit?: number | null;
}

/** See the table. */
export interface Lineage {
  artifact: string;
}

/** See the table. */
export type Weigh = Record<string, never>;

/** What would go. */
export interface Garbage {
  /** Of tasks that ended at least so many milliseconds ago: 30 days when absent, one day at least. */
  older_than_ms?: number | null;
}

/** What was shown goes. */
export interface Collect {
  /** `plan` of what was shown. When something else would go by now, nothing goes. */
  plan: string;
  /** As it was when it was shown. */
  older_than_ms?: number | null;
}

/** Which. */
export interface Keep {
  artifact: string;
}

/** What was taken in. */
export interface Ingested {
  artifact_id: string;
  sha256: string;
  byte_size: number;
}

/** One line of the list, and all there is to say. */
export interface Artifact {
  artifact_id: string;
  task_id: string;
  class: ArtifactClass;
  kind: ArtifactKind;
  uri: Text;
  name: Text | null;
  sha256: string;
  media_type: string;
  byte_size: number;
  created_at: number;
  trust: TrustTier;
  sensitivity: Sensitivity;
  retention: RetentionClass;
  state: ArtifactState;
  produced_by: string | null;
  inputs: string[];
  sealed_by: string | null;
  /** Whether the bytes are here. */
  present: boolean | null;
}

/** Bytes. */
export interface Bytes {
  artifact_id: string;
  sha256: string;
  media_type: string;
  byte_size: number;
  offset: number;
  /** Base64 of this part. */
  bytes: string;
  /** Where to go on; absent at the end. */
  next_offset: number | null;
}

/** How much room content takes that is not in the ledger itself, and how many small contents are. */
export interface Weighed {
  /** Different contents in files. */
  contents: number;
  /** Bytes of them. */
  content_bytes: number;
  files: number;
  /** Bytes on disk. */
  disk_bytes: number;
  /** Bytes that are not kept twice. */
  saved_bytes: number;
  /** Bytes on disk from which on a person is told to make room. */
  quota_bytes: number;
  /** Small contents, which are in the ledger itself and in none of the numbers above. */
  in_ledger?: number;
}

/** What a collection took, or would take. */
export interface Collected {
  /** Whether it was only looked. */
  dry_run: boolean;
  /** Names exactly what goes; to be handed in with the yes. */
  plan: string;
  /** Bytes that go from the disk. Less than `bytes` where content is in the ledger, or shared with what stays. */
  disk_bytes: number;
  /** Contents and parts of them that nothing names and that stay for now: an act at work may be about to. */
  spared: number;
  /** Contents whose parts cannot be told apart from garbage, because their list is damaged: no part of any goes. */
  unreadable: number;
  /** Artifacts whose content goes: no receipt leads to them. */
  artifacts: number;
  /** Bytes of that. */
  bytes: number;
  by_kind: Collectible[];
  /** Files that nothing names at all, left by acts that were broken off. */
  orphans: number;
  /** Artifacts that stay because their task is still at work or ended a short time ago. */
  young: number;
  /** Different contents that stay. */
  kept: number;
  /** Artifacts with the signed lists of what went. */
  lists: string[];
}

/** A kind of artifact of which some goes. */
export interface Collectible {
  kind: ArtifactKind;
  artifacts: number;
  bytes: number;
}

/** The six questions of HK-14.4, and the ancestry. */
export interface Lineages {
  artifact_id: string;
  /** How far was looked. */
  scope: TraceScope;
  /** Which attempt made it. */
  produced_by: Link | null;
  /** Which artifacts went into it. */
  inputs: Link[];
  /** Which decisions cite it. */
  cited_by: Link[];
  /** Which beliefs refer to it. */
  beliefs: Link[];
  /** Which memory came of it. */
  memories: Link[];
  /** Which receipts include it. */
  receipts: Link[];
  /** Everything it came from, the nearest kinds mixed. */
  ancestors: Link[];
  /** Everything that came of it. */
  descendants: Link[];
  /** The weakest trust tier behind it. */
  trust: TrustTier | null;
  /** Untrusted artifacts behind it. */
  untrusted: Link[];
  /** Sources that have been replaced by other content since. */
  stale: Link[];
}

/** A part of the list. */
export type Artifacts = Page<Artifact>;
