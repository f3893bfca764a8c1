/** What a check has shown, in words a person can use; the same document as `hermit-verify --json`. */

import type { Clock } from "./clocks/clock.ts";
import type { Finding } from "./identity.ts";

/** The four answers (proof.md 2). */
export type Verdict =
  | { verdict: "valid" }
  /** Changed or contradictory; the first offending place. */
  | { verdict: "invalid"; place: string; why: string }
  /** What is there holds, but something that belongs to it is not there. */
  | { verdict: "incomplete"; missing: string[] }
  /** It holds together, but no key the reader trusts vouches for it. */
  | { verdict: "unverifiable"; why: string };

/** How much was checked. */
export interface Counts {
  files: number;
  bytes: number;
  events: number;
  receipts: number;
  decisions: number;
  /** Of these, those that a passkey signed. */
  by_passkey: number;
  /** Standing grants of a person whose signature was checked. */
  standing: number;
  gate_entries: number;
  /** Sensitive values that can be read, and those of which only the digest is there. */
  disclosed: number;
  redacted: number;
  /** Artifacts whose content is there, and those of which only the digest is there. */
  artifacts: number;
  artifacts_left_out: number;
}

/** Who the instance is, as far as its chain was followed. */
export interface IdentityFound {
  instance_id: string | null;
  /** Whether its links lead back to genesis, and nothing is wrong with them. */
  unbroken: boolean;
  key_in_force: string | null;
  /** How many links there are. */
  links: number;
  findings: Finding[];
}

/** What one clock says of one anchor. */
export interface AnchorFound {
  number: number;
  of: "head" | "link";
  /** The link that was stamped. */
  link: number | null;
  clock: Clock;
  /** Its time is proven; the clock has still to complete it; nothing is proven with what the reader gave. */
  state: "anchored" | "pending" | "unproven";
  /** It existed by then, in milliseconds since 1970. */
  not_after: number | null;
  block_height: number | null;
  /** Whether the task's checkpoint stands under what was stamped. */
  covers_task: boolean;
  says: string[];
  /** What has to be taken on trust. */
  on_trust: string[];
}

export type Report = Verdict & {
  task_id: string | null;
  log_id: string | null;
  task_size: number | null;
  task_root: string | null;
  /** When the last checkpoint was made, by the store's own clock. */
  exported_at_ms: number | null;
  /** Key ids by purpose. */
  keys: Record<string, string>;
  /** Purposes whose key the reader trusts, itself or one that it followed. */
  trusted: string[];
  /** The keys of the bundle, earlier ones too, that the reader named: 32 bytes in hexadecimal digits. */
  vouching: string[];
  counts: Counts;
  /** Who the instance is, where the bundle says so. */
  identity: IdentityFound | null;
  /** What clocks say, in the order of anchors. */
  anchors: AnchorFound[];
  /** All that the task's checkpoint covers existed by then, as the earliest of the clocks proves, in milliseconds since 1970. */
  proven_not_after: number | null;
  proven: string[];
  asserted: string[];
  not_shown: string[];
  /** Files that are not signed by a key the reader trusts, of a bundle that is valid otherwise. */
  unvouched: string[];
};

export function noCounts(): Counts {
  return { files: 0, bytes: 0, events: 0, receipts: 0, decisions: 0, by_passkey: 0, standing: 0, gate_entries: 0, disclosed: 0, redacted: 0, artifacts: 0, artifacts_left_out: 0 };
}

/** Exit code of the command: 0 valid, 5 invalid, 6 unverifiable, 7 incomplete. */
export function exitCode(report: Report): number {
  return { valid: 0, invalid: 5, unverifiable: 6, incomplete: 7 }[report.verdict];
}

/** The report as text, as `hermit-verify` prints it. */
export function reportText(report: Report): string {
  const lists = [
    ["not signed by a key you trust", report.unvouched],
    ["proven", report.proven],
    ["only asserted", report.asserted],
    ["not shown", report.not_shown],
  ] as const;
  const said = lists.filter(([, sentences]) => sentences.length > 0);
  return `${verdictLine(report)}\n${said.map(([title, list]) => `\n${title}:\n${list.map((line) => `- ${line}\n`).join("")}`).join("")}`;
}

function verdictLine(report: Report): string {
  switch (report.verdict) {
    case "valid":
      return validLine(report);
    case "invalid":
      return `invalid at ${report.place}: ${report.why}`;
    case "incomplete":
      return `incomplete: ${report.missing.join("; ")} is missing`;
    case "unverifiable":
      return `unverifiable: ${report.why}`;
  }
}

function validLine({ trusted, unvouched }: Report): string {
  if (trusted.length === 0) return "valid";
  const names = trusted.join(", ");
  if (unvouched.length === 0) return `valid: whole and consistent, on the word of the key you trust (${names})`;
  return `valid, but not whole: the receipt and what the log says of it hold, on the word of the key you trust (${names}); the other files are not signed by a key you trust`;
}
