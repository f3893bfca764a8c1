// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Verdict } from "./shared";

/** A task's proof, or one receipt's when it is named. */
export interface Export {
  task?: string | null;
  receipt?: string | null;
  /** Where to, absolute; must not exist. A name that ends in `.zip` makes a zip, any other a folder. */
  path: string;
  /** `records` (the standard), `all`, `none`, or kinds of artifacts. */
  artifacts?: string[];
  /** Leave only digests of sensitive values. */
  redact?: boolean;
}

/** A file or folder, and the keys that are trusted: PEM blocks, verifier keys, key ids, SSH fingerprints. */
export interface Verify {
  path: string;
  trust?: string[];
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
  counts: Record<string, number>;
  proven: string[];
  asserted: string[];
  not_shown: string[];
}
