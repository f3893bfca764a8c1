// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Verdict } from "./shared";
import type { CheckpointKind, HeadStanding } from "./words";

/** Keys trusted beside the host's own: PEM blocks, or verifier keys. */
export interface Verify {
  keys?: string[];
  /** Read all content, too, and compare it with its digests. */
  content?: boolean;
}

/** Nothing to say. */
export type Rebuild = Record<string, never>;

/** Of these tasks; of all that have ended or moved when empty, and always of gate and log. */
export interface Checkpoint {
  tasks?: string[];
}

/** Nothing to say. */
export type Stats = Record<string, never>;

/** Nothing to say. */
export type Head = Record<string, never>;

/** Which of what was severed, and from where on. */
export interface Severed {
  /** A task: its rows come along. */
  task?: string | null;
  /** Rows behind this number of the task. */
  after_seq?: number;
}

/** A signed head of this store, as somebody kept it. */
export interface Compare {
  /** The note, as text. */
  note: string;
  /** Keys trusted beside the host's own: PEM blocks, or verifier keys. */
  keys?: string[];
}

/** What verification found. */
export interface Report {
  verdict: Verdict;
  /** Why it is not valid, or what it rests on, in a sentence. */
  reason: string;
  /** The first place that does not fit. */
  place: string | null;
  events: number;
  tasks: number;
  entries: number;
  checkpoints: number;
  trusted_checkpoints: number;
  disclosures: number;
  artifacts: number;
  /** Chained, and under no trusted checkpoint yet. */
  unsigned_events: number;
  /** Whether the checkpoint kept outside the store was compared. */
  pinned: boolean;
  /** What a person severed, because it did not fit: it is read and not vouched for. */
  severed: Cut[];
  /** What reading all content has shown, where that was asked for. */
  content: Contents | null;
}

/** Content as it was read. */
export interface Contents {
  checked: number;
  byte_size: number;
  /** Digests of content that is not there. */
  missing: string[];
  damaged: Damaged[];
}

/** Content that is not what its name says. */
export interface Damaged {
  sha256: string;
  why: string;
}

/** The end of a task's chain that was severed. */
export interface Cut {
  task_id: string;
  /** The first event that did not fit. */
  from_seq: number;
  /** The last there was; below `from_seq` when all were gone. */
  to_seq: number;
  /** Rows of these that are there. */
  rows: number;
  /** Rows that are gone. */
  lost: number;
  /** Checkpoints that had signed for something else. */
  checkpoints: number;
  /** SHA-256 of all of it, as the log names it. */
  severed_sha256: string;
  /** In the words of the person; none when they were erased. */
  reason: string | null;
  at: number;
  /** Where the log says so: the number of the event in the whole log. */
  log_seq: number;
}

/** A severed row, as it stands. */
export interface CutRow {
  task_seq: number;
  log_seq: number;
  /** What the log said of it. */
  hash: string;
  /** What its bytes hash to. */
  sha256: string;
  /** Its bytes, as far as they are text. */
  text: string;
}

/** Everything that was ever severed, and the rows of one task. */
export interface Cuts {
  severed: Cut[];
  rows: CutRow[];
}

/** Events folded. */
export interface Rebuilt {
  events: number;
}

/** Checkpoints made or still good. */
export interface Checkpoints {
  checkpoints: Signed[];
  /** What could not be stated before they were signed, in words. */
  troubles?: string[];
}

/** One signed tree head. */
export interface Signed {
  kind: CheckpointKind;
  task_id: string | null;
  origin: string;
  size: number;
  root: string;
  made_at: number;
  /** The signed note (C2SP checkpoint), as text. */
  note: string;
}

/** How the store stands to a head that somebody kept. */
export interface Compared {
  standing: HeadStanding;
  /** In a sentence. */
  reason: string;
  /** The log that the head belongs to. */
  origin: string | null;
  /** Notes that the head signs for. */
  theirs: number | null;
  /** Notes that are here. */
  ours: number;
  /** For `consistent`: the path (RFC 9162) from the head's tree to the newest signed one here, base64. */
  proof: string[];
  /** The newest signed head here, as text. */
  head: string | null;
}

/** How much there is. */
export interface Counts {
  log_id: string;
  events: number;
  tasks: number;
  entries: number;
  blobs: number;
  disclosures: number;
  checkpoints: number;
  /** Hosts so far. */
  epoch: number;
  file_bytes: number;
  wal_bytes: number;
  schema: number;
}
