/** The verdict, and what it rests on, in sentences; the same ones as `hermit-verify` prints. */
import { blank, type Check } from "./check.ts";
import type { PublicKey } from "./keys.ts";
import { PROV } from "./layout.ts";
import { isWhole, keyids, type Predicate } from "./manifest.ts";
import type { Report, Verdict } from "./report.ts";
import type { Trust } from "./trust.ts";

/** What holds together: is it vouched for, and by whom? */
export function conclude(check: Check, trust: readonly Trust[]): Report {
  const purposes = ["log", "receipt", "manifest", "approval"] as const;
  const trusted = purposes.filter((purpose) => {
    const key = check.keys[purpose];
    return key && trust.some((one) => one.names(key));
  });
  // The approval key vouches for decisions alone, not for the log they stand in; the log key for the others only
  // through a receipt; the receipt key for the others only through a statement.
  const vouched = trusted.some((purpose) => {
    if (purpose === "log") return check.signedReceipts > 0;
    return purpose === "receipt" ? !check.single : purpose !== "approval";
  });
  const report = blank(verdictOf(check, vouched, trusted, trust));
  factsKnown(check, report);
  report.counts = check.counts;
  report.trusted = trusted;
  report.proven = proven(check);
  report.asserted = asserted(check, vouched, trusted.includes("approval"));
  report.not_shown = withheld(check);
  return report;
}

function verdictOf(check: Check, vouched: boolean, trusted: readonly string[], trust: readonly Trust[]): Verdict {
  const key = check.keys.manifest;
  if (check.missing.length > 0) return { verdict: "incomplete", missing: check.missing };
  if (!key) return { verdict: "unverifiable", why: "consistent, and signed by nobody: the store has no keys (hash_chained)" };
  return vouched ? { verdict: "valid" } : { verdict: "unverifiable", why: unvouched(check, key, trusted, trust) };
}

/** Why a bundle of one piece is not valid: nobody the reader trusts stands behind all of it. */
function unvouched(check: Check, key: PublicKey, trusted: readonly string[], trust: readonly Trust[]): string {
  const signer = `consistent, signed by ${key.keyid} (${key.fingerprint})`;
  if (trusted.includes("log")) {
    return `consistent, the events are signed by the log key you named; but no receipt ties the manifest key ${key.keyid} to it, so name that one too`;
  }
  if (trusted.includes("receipt") && check.keys.log) {
    return `consistent, and the receipt itself is signed by the key you named; but that it stands in a log is signed by the log key ${check.keys.log.keyid}, so name that one too`;
  }
  if (trust.length === 0) return `${signer}; name a key you trust to have more`;
  return `${signer}, and the key you named (${trust.map(({ shown }) => shown).join(", ")}) does not vouch for it`;
}

/** What is known of the bundle, as far as the check came. */
export function factsKnown(check: Check, report: Report): void {
  report.keys = keyids(check);
  const about = check.predicate;
  if (!about) return;
  report.task_id = about.task_id;
  report.log_id = about.log_id;
  report.task_size = about.task_size;
  report.task_root = about.task_root;
  report.exported_at_ms = about.exported_at_ms === 0 ? null : about.exported_at_ms;
}

function proven(check: Check): string[] {
  const { counts, heads, predicate: about } = check;
  if (!about) return [];
  const said = [scope(check, about), ...provenByLog(check)];
  if (heads && check.single && counts.gate_entries > 0) {
    said.push("the gate's entry is the one that the receipt names: it let this pass");
  } else if (heads && counts.gate_entries > 0) {
    said.push(`${counts.gate_entries} ${counts.gate_entries === 1 ? "entry of the gate stands" : "entries of the gate stand"} in the gate's signed tree`);
  }
  if (counts.decisions > 0) {
    const made = counts.decisions === 1 ? "1 decision of a person is" : `${counts.decisions} decisions of a person are`;
    said.push(`${made} signed by the approval key, for exactly the packet, scope and nonce that were asked`);
  }
  if (counts.disclosed + counts.artifacts > 0) {
    said.push(`what can be read of ${count(counts.disclosed, "sensitive value")} and ${count(counts.artifacts, "artifact")} is what was hashed when it came to be`);
  }
  return said;
}

/** Which events are here, and what holds them. */
function scope({ counts, heads }: Check, about: Predicate): string {
  const { task_id: task, receipt_id: receipt, span } = about;
  if (!heads) {
    return receipt === undefined ? `${count(counts.events, "event")} of ${task} form one unbroken chain` : `the event shown records exactly the bytes of ${receipt}`;
  }
  const { size } = heads.task.head;
  if (receipt !== undefined) {
    return `${receipt} was recorded in ${task}: ${counts.events} of its ${count(size, "event")} shown, with its place under the root that the log key signed`;
  }
  if (span) {
    return `events ${span[0]} to ${span[1]} of the ${size} of ${task} are here, unchanged and in order, each with its place under the root that the log key signed`;
  }
  const all = size === 1n ? "the one event" : `every one of the ${size} events`;
  return `${all} of ${task} is here, unchanged and in order: chain, number and root are those that the log key signed, so nothing was left out`;
}

function provenByLog({ heads, past, counts }: Check): string[] {
  if (!heads) return [];
  const { size } = heads.global.head;
  const said = [`the task's checkpoint is note ${heads.taskIndex + 1n} of ${size} in the store's one log`];
  if (past?.held && past.size === size) said.push("that log is where the checkpoint you hold says it is");
  else if (past) {
    const whose = past.held ? "the checkpoint you hold" : "log/checkpoint.prev";
    said.push(`since ${whose} the log was only appended to: its first ${count(past.size, "note")} are still the first of these ${size}`);
  }
  if (counts.receipts > 0) {
    said.push(`${counts.receipts === 1 ? "1 receipt is" : `${counts.receipts} receipts are`} signed by the receipt key, and the log recorded those very bytes`);
  }
  return said;
}

function asserted(check: Check, vouched: boolean, approvalTrusted: boolean): string[] {
  const said = [
    "that what it says is true: a proof shows integrity, order and authority, not truth",
    "when things happened: the times are those of the machine's own clock",
    check.heads?.cosigned
      ? "that nothing was rewritten before the export: others have signed the log's head, but their keys were not given"
      : "that nothing was rewritten before the export: no witness has signed, so the machine's owner could have made all of it anew",
  ];
  if (check.counts.decisions > 0 && !approvalTrusted) said.push("whose the approval key is: it is the one that the log names");
  if (check.signed && !vouched) said.push("whose the keys are: they came with the bundle");
  if (check.has(PROV)) said.push("README.txt and prov.json: they are made from the rest and bind nobody");
  return said;
}

function withheld(check: Check): string[] {
  const { counts, predicate: about } = check;
  const said: string[] = [];
  const others = Math.max(0, (about?.task_size ?? 0) - counts.events);
  if (about && !isWhole(about) && check.signed && others > 0) said.push(`what the task's other ${count(others, "event")} say; that they exist is signed`);
  if (counts.redacted > 0) {
    const why = about?.redacted === undefined ? "withheld from this bundle, or erased from the store before" : `withheld (\`--redact ${about.redacted}\`), or erased from the store before`;
    said.push(`${count(counts.redacted, "sensitive value")}: ${why}; each still has its digest in what was signed, so none can be put back changed`);
  }
  if (counts.artifacts_left_out > 0) said.push(`the content of ${count(counts.artifacts_left_out, "artifact")}; the digests are here`);
  if (check.facts.unknown > 0) said.push(`what ${count(check.facts.unknown, "event")} of types unknown to this program mean`);
  return [...said, ...check.notShown];
}

/** `1 event`, `2 events`. */
function count(number: number | bigint, what: string): string {
  return `${number} ${what}${BigInt(number) === 1n ? "" : "s"}`;
}
