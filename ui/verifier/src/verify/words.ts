/** The verdict, and what it rests on, in sentences; the same ones as `hermit-verify` prints. */
import { blank, type Check } from "./check.ts";
import type { PublicKey } from "./keys.ts";
import { PROV } from "./layout.ts";
import { keyids } from "./manifest.ts";
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
  // through a receipt.
  const vouched = trusted.some((purpose) => (purpose === "log" ? check.signedReceipts > 0 : purpose !== "approval"));
  const report = blank(verdictOf(check, vouched, trusted.includes("log"), trust));
  factsKnown(check, report);
  report.counts = check.counts;
  report.trusted = trusted;
  report.proven = proven(check);
  report.asserted = asserted(check, vouched, trusted.includes("approval"));
  report.not_shown = withheld(check);
  return report;
}

function verdictOf(check: Check, vouched: boolean, logTrusted: boolean, trust: readonly Trust[]): Verdict {
  const key = check.keys.manifest;
  if (check.missing.length > 0) return { verdict: "incomplete", missing: check.missing };
  if (!key) return { verdict: "unverifiable", why: "consistent, and signed by nobody: the store has no keys (hash_chained)" };
  if (vouched) return { verdict: "valid" };
  if (logTrusted) {
    const why = `consistent, the events are signed by the log key you named; but no receipt ties the manifest key ${key.keyid} to it, so name that one too`;
    return { verdict: "unverifiable", why };
  }
  return { verdict: "unverifiable", why: unvouched(key, trust) };
}

function unvouched(key: PublicKey, trust: readonly Trust[]): string {
  const signer = `consistent, signed by ${key.keyid} (${key.fingerprint})`;
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
  report.exported_at_ms = about.exported_at_ms;
}

function proven(check: Check): string[] {
  const { counts, heads, predicate: about } = check;
  if (!about) return [];
  const said: string[] = [];
  const [task, receipt] = [about.task_id, about.receipt_id];
  if (heads && receipt === undefined) {
    said.push(`all ${heads.task.head.size} events of ${task} are here, unchanged and in order: chain, number and root are those that the log key signed`);
  } else if (heads) {
    said.push(`${receipt} was recorded in ${task}: ${counts.events} of its ${heads.task.head.size} events are shown, each with its place under the root that the log key signed`);
  } else if (receipt === undefined) {
    said.push(`the ${counts.events} events of ${task} form one unbroken chain`);
  } else {
    said.push(`the event shown records exactly the bytes of ${receipt}`);
  }
  if (heads) {
    said.push(`the task's checkpoint is note ${heads.taskIndex + 1n} of ${heads.global.head.size} in the store's one log`);
    if (counts.receipts > 0) said.push(`${counts.receipts} receipts are signed by the receipt key, and the log recorded those very bytes`);
    if (counts.gate_entries > 0) said.push(`${counts.gate_entries} entries of the gate stand in its signed tree`);
  }
  if (counts.decisions > 0) {
    said.push(`${counts.decisions} decisions are signed by the approval key, each for exactly the packet, scope and nonce that were asked`);
  }
  if (counts.disclosed + counts.artifacts > 0) {
    said.push(`${counts.disclosed} disclosed values and ${counts.artifacts} artifacts have the bytes that were hashed when they came to be`);
  }
  return said;
}

function asserted(check: Check, vouched: boolean, approvalTrusted: boolean): string[] {
  const said = [
    "when things happened: the times are those of the machine's own clock",
    "that what it says is true: it shows integrity, order and authority",
    check.heads?.cosigned
      ? "that nothing was rewritten before the export: others have signed the log's head, but their keys were not given"
      : "that nothing was rewritten before the export: no witness has signed, so the machine's owner could have done it",
  ];
  if (check.counts.decisions > 0 && !approvalTrusted) said.push("whose the approval key is: it is the one that the log names");
  if (check.signed && !vouched) said.push("whose the keys are: they came with the bundle");
  if (check.has(PROV)) said.push("prov.json: it is derived from the events and binds nobody");
  return said;
}

function withheld(check: Check): string[] {
  const { counts, predicate: about } = check;
  const said: string[] = [];
  if (about?.receipt_id !== undefined) {
    const others = Math.max(0, about.task_size - counts.events);
    said.push(`the task's other ${others} events; that they exist is signed, what they say is not shown`);
  }
  if (counts.redacted > 0) said.push(`${counts.redacted} sensitive values, withheld or erased; their digests are here`);
  if (counts.artifacts_left_out > 0) said.push(`the content of ${counts.artifacts_left_out} artifacts; their digests are here`);
  if (check.facts.unknown > 0) said.push(`what ${check.facts.unknown} events of types unknown to this program mean`);
  return [...said, ...check.notShown];
}
