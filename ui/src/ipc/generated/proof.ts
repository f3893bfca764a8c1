// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Verdict } from "./shared";
import type { AnchorClock, ArtifactKind, TrustFinding } from "./words";

/** A task's proof, or one receipt's when it is named. */
export interface Export {
  task?: string | null;
  receipt?: string | null;
  /** The first event, for a part of the task: with `last`, or up to the end. */
  first?: number | null;
  /** The last event, for a part of the task: with `first`, or from the beginning. */
  last?: number | null;
  /** Where to, absolute; must not exist. A name that ends in `.zip` makes a zip, any other a folder. */
  path: string;
  /** `records` (the standard where nothing is redacted), `all`, `none`, or kinds of artifacts. */
  artifacts?: string[];
  /** Leave only digests of these sensitive values: `none`, `paths`, `content`, `all`, or JSON pointers. */
  redact?: string[];
  /** The checkpoint of the global log that the receiver holds: the text of the signed note. */
  since?: string | null;
}

/** What an export with the same words would hand out. */
export interface Preview {
  task?: string | null;
  receipt?: string | null;
  first?: number | null;
  last?: number | null;
  artifacts?: string[];
  redact?: string[];
}

/** A file or folder, and the keys that are trusted: PEM blocks, verifier keys, key ids, SSH fingerprints. */
export interface Verify {
  path: string;
  trust?: string[];
  /** The checkpoint of the global log that the caller holds from before: the text of the signed note. */
  since?: string | null;
  /** Files of certificates of time-stamp authorities that are believed, absolute: PEM or DER. */
  authorities?: string[];
  /** A file of headers of Bitcoin's blocks, absolute: 80 bytes each, or a line of hexadecimal each. */
  bitcoin_headers?: string | null;
}

/** What was made. */
export interface Exported {
  path: string;
  files: number;
  byte_size: number;
  /** SHA-256 of `SHA256SUMS`: names the whole content. */
  sums_sha256: string;
  exported_at: number;
  /** What could not go along. */
  left_out: string[];
}

/** What would leave this machine. */
export interface Previewed {
  /** Events, without their sensitive values. */
  events: number;
  receipts: number;
  /** Sensitive values that could be read. */
  values: Value[];
  /** Sensitive values of which only the digest would leave. */
  withheld: number;
  /** Content that could be read. */
  artifacts: Kind[];
  /** Artifacts of which only the digest would leave. */
  artifacts_withheld: number;
  left_out: string[];
  /** Links that say who this instance is: they name its keys, and go along with every proof. */
  links?: number;
  /** Anchors: what clocks outside have stamped. */
  anchors?: number;
}

/** Sensitive values at one place. */
export interface Value {
  /** JSON pointer in its event or receipt; `*` is any number of a list. */
  pointer: string;
  count: number;
  /** The first of them, as JSON. */
  example: string;
}

/** Artifacts of one kind; without one where Hermit does not know it. */
export interface Kind {
  kind: ArtifactKind | null;
  count: number;
  byte_size: number;
}

/** What a check has shown. */
export interface Report {
  verdict: Verdict;
  /** Where and why, or by whom; a sentence. */
  reason: string;
  task_id: string | null;
  log_id: string | null;
  task_size: number | null;
  task_root: string | null;
  exported_at: number | null;
  /** Key ids by purpose. */
  keys: Record<string, string>;
  /** Purposes whose key is trusted. */
  trusted: string[];
  /** Names under which this store's owner trusts one of its keys. */
  trusted_as?: string[];
  counts: Record<string, number>;
  proven: string[];
  asserted: string[];
  not_shown: string[];
  /** Files for which no trusted key vouches, of a proof that is valid otherwise. */
  unvouched: string[];
  /** Who the instance is, where the proof says so. */
  identity?: Followed | null;
  /** What clocks say, in the order of anchors. */
  anchors?: AnchorSaid[];
  /** All that the task's checkpoint covers existed by then, as the earliest of the clocks proves. */
  proven_not_after?: number | null;
}

/** The chain of an instance as it was followed. */
export interface Followed {
  instance_id: string | null;
  /** Whether its links lead back to genesis, and nothing is wrong with them. */
  unbroken: boolean;
  key_in_force: string | null;
  links: number;
  findings: FoundInChain[];
}

/** Something that is wrong with a chain. */
export interface FoundInChain {
  what: TrustFinding;
  number: number | null;
  says: string;
}

/** What one clock says of one anchor. */
export interface AnchorSaid {
  number: number;
  /** `head` or `link`. */
  of: string;
  /** The link that was stamped, of a link. */
  link: number | null;
  clock: AnchorClock;
  /** `anchored`, `pending`, or `unproven` with what was given. */
  state: string;
  not_after: number | null;
  block_height: number | null;
  /** Whether the task's checkpoint stands under what was stamped. */
  covers_task: boolean;
  says: string[];
  /** What has to be taken on trust. */
  on_trust: string[];
}
