/** The verdict, and what it rests on, in sentences; the same ones as `hermit-verify` prints. */
import { anchorsFound, clocksInWords, clocksOnTrust, intervalInWords, provenNotAfter, silentClocks } from "./anchors.ts";
import { blank, type Check } from "./check.ts";
import type { WitnessKey } from "./cosignature.ts";
import { instanceFound, instanceInWords } from "./instance.ts";
import type { PublicKey } from "./keys.ts";
import * as l from "./layout.ts";
import { isWhole, keyids, type Predicate } from "./manifest.ts";
import type { Note } from "./note.ts";
import type { Report, Verdict } from "./report.ts";
import { PURPOSES, type Leads } from "./rotations.ts";
import { rootInWords } from "./state.ts";
import { Malformed } from "./read/stop.ts";
import type { Trust } from "./trust.ts";

/** What holds together: is it vouched for, and by whom? */
export function conclude(check: Check, trust: readonly Trust[]): Report {
  const led = leading(check, trust);
  const { trusted } = led;
  // The approval key vouches for decisions alone, not for the log they stand in; the log key for the others only
  // through a receipt; the receipt key for the others only through a statement.
  const vouched = trusted.some((purpose) => {
    if (purpose === "log") return check.signedReceipts > 0;
    return purpose === "receipt" ? !check.single : purpose !== "approval";
  });
  const report = blank(verdictOf(check, vouched, led, trust));
  factsKnown(check, report);
  report.counts = check.counts;
  report.trusted = trusted;
  report.vouching = led.vouching;
  if (report.verdict === "valid") report.unvouched = unbound(check, trusted);
  const seen = witnesses(check, report, trust);
  report.proven.push(...proven(check), ...led.through);
  report.asserted = asserted(check, vouched, trusted.includes("approval"), seen);
  report.not_shown.push(...withheld(check, report.unvouched.length > 0));
  return report;
}

/**
 * Files of one receipt alone that nothing binds to the log: where the receipt does not name the manifest key, anybody
 * could have signed the list of files anew.
 */
function unbound(check: Check, trusted: readonly string[]): string[] {
  if (!check.single || check.hasNamedManifest || trusted.includes("manifest")) return [];
  const person = check.counts.decisions + check.counts.standing === 0 ? [l.KEY_APPROVAL] : [];
  const all = [l.README, l.SUMS, l.SUMS_ED25519, l.SUMS_SSHSIG, l.KEY_ALLOWED, l.KEY_MANIFEST, ...person, l.LOG_POLICY];
  return all.filter((name) => check.has(name));
}

/** Where the reader's keys lead. */
interface Led {
  /** Purposes whose key is trusted, and the keys that were named for it. */
  trusted: string[];
  vouching: string[];
  /** How keys that were named lead to the ones in force. */
  through: string[];
  /** A key that was revoked, which stands between a named key and the one in force. */
  revoked?: PublicKey;
}

function leading(check: Check, trust: readonly Trust[]): Led {
  const led: Led = { trusted: [], vouching: [], through: [] };
  for (const purpose of PURPOSES) {
    const [key, leads] = [check.keys[purpose], check.rotations.leads(purpose, trust)];
    if (!key || !leads) continue;
    if (leads.revoked) {
      led.revoked = leads.revoked;
      continue;
    }
    led.trusted.push(purpose);
    led.vouching.push(leads.named.hex);
    if (leads.steps > 0) led.through.push(followed(purpose, key, leads));
  }
  return led;
}

/** How a key that the reader named leads to the one in force. */
function followed(purpose: string, key: PublicKey, { named, steps }: Leads): string {
  const how = steps === 1 ? "once: one succession, signed by the old key and by the new one" : `in several steps: ${steps} successions, each signed by the old key and by the new one`;
  return `the ${purpose} key ${key.keyid} followed the one you named (${named.keyid}), ${how}`;
}

function verdictOf(check: Check, vouched: boolean, { trusted, revoked }: Led, trust: readonly Trust[]): Verdict {
  const key = check.keys.manifest;
  if (check.missing.length > 0) return { verdict: "incomplete", missing: check.missing };
  if (!key) return { verdict: "unverifiable", why: "consistent, and signed by nobody: the store has no keys (hash_chained)" };
  if (vouched) return { verdict: "valid" };
  if (!revoked) return { verdict: "unverifiable", why: unvouched(check, key, trusted, trust) };
  const why = `consistent, but the key you named leads here only through ${revoked.keyid}, which its owner has revoked; ask the owner for the key in force, by another way`;
  return { verdict: "unverifiable", why };
}

/** What witnesses have said, by the bundle's policy and by the reader's keys. Whether one the reader trusts cosigned. */
function witnesses({ heads }: Check, report: Report, trust: readonly Trust[]): boolean {
  if (!heads) return false;
  const found = heads.witnessed;
  if (found) {
    const met = found.isMet ? "that is what it asks for" : "it asks for more";
    report.proven.push(`${found.signed} of the ${found.all} witnesses that the bundle's policy names have cosigned the log's head: ${met}`);
  }
  let seen = false;
  for (const { witness } of trust) {
    if (!witness) continue;
    const time = seenAt(witness, heads.signedNote);
    seen ||= time !== undefined;
    if (time === undefined) report.not_shown.push(`a cosignature by the witness ${witness.name}, whose key you named`);
    else report.proven.push(`the witness ${witness.name}, whose key you named, has seen this log only grow, up to this very head, at ${time} (seconds since 1970, by its clock)`);
  }
  return seen;
}

/** When the witness cosigned; a line of it that does not hold says nothing. */
function seenAt(witness: WitnessKey, note: Note): bigint | undefined {
  try {
    return witness.cosigned(note);
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
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
  return `${signer}, and the key you named (${trust.map(({ shown }) => shown).join(", ")}) did not sign it`;
}

/** What is known of the bundle, as far as the check came. */
export function factsKnown(check: Check, report: Report): void {
  report.keys = keyids(check);
  report.identity = instanceFound(check.graph);
  report.anchors = anchorsFound(check.anchored);
  report.proven_not_after = provenNotAfter(check.anchored);
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
  said.push(...check.roots.map(rootInWords));
  if (check.graph) said.push(instanceInWords(check.graph));
  said.push(...clocksInWords(check));
  const byKey = counts.decisions - counts.by_passkey;
  if (byKey > 0) {
    const made = byKey === 1 ? "1 decision of a person is" : `${byKey} decisions of a person are`;
    said.push(`${made} signed by the approval key, for exactly the packet, scope and nonce that were asked`);
  }
  said.push(...check.authority.passkeys.inWords());
  if (counts.standing > 0) {
    const given = counts.standing === 1 ? "1 standing grant of a person is" : `${counts.standing} standing grants of a person are`;
    said.push(`${given} signed by the approval key, and in force at every use of it that is here`);
  }
  if (counts.disclosed + counts.artifacts > 0) {
    said.push(`what can be read of ${count(counts.disclosed, "sensitive value")} and ${count(counts.artifacts, "artifact")} is what was hashed when it was recorded`);
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

function asserted(check: Check, vouched: boolean, approvalTrusted: boolean, seen: boolean): string[] {
  const said = [
    "that what it says is true: a proof shows integrity, order and authority, not truth",
    intervalInWords(check),
    rewritten(check, seen),
  ];
  if (check.graph) said.push("whose the keys of the instance are: its links show only how they followed each other");
  said.push(...clocksOnTrust(check.anchored));
  if (check.counts.decisions + check.counts.standing > 0 && !approvalTrusted) said.push("whose the approval key is: it is the one that the log names");
  if (check.counts.by_passkey > 0) said.push("what kind of authenticator holds a passkey: no statement of its maker was asked for");
  if (check.signed && !vouched) said.push("whose the keys are: they came with the bundle");
  said.push(check.has(l.PROV) ? "README.txt and prov.json: they are made from the rest and bind nobody" : "README.txt: it is made from the rest and binds nobody");
  if (check.facts.claims > 0) {
    const acts = check.counts.receipts === 0 ? "no receipt here says that anything was done" : "what was done is what the receipts say";
    const [byReceipt = 0, byEvidence = 0, byAbsence = 0, none = 0] = check.facts.answers;
    const all = byReceipt + byEvidence + byAbsence + none;
    const cited = check.facts.cited === 0 ? "" : `; ${check.facts.cited} of the bound by what the model cited`;
    const toCompare = Math.min(check.facts.near, none);
    const near = toCompare === 0 ? "" : `${toCompare} to compare, `;
    const bound = all === 0 ? "" : `; Hermit compared ${count(all, "claim")} of it with its log: ${byReceipt} bound to receipts, ${byEvidence} to what was seen, ${byAbsence} to no receipt that says otherwise, ${near}${none - toCompare} UNVERIFIED${cited}`;
    said.push(`what was said at ${count(check.facts.claims, "end")} of a run: a model's own words, unverified; ${acts}${bound}`);
  }
  return said;
}

/** What nobody but a witness could say of the log's past. */
function rewritten({ heads, anchored }: Check, seen: boolean): string {
  if (seen) return "that nothing was rewritten before that witness first saw the log: it was not there to see";
  if (provenNotAfter(anchored) !== null) return "that nothing was rewritten before the time that is proven: a clock shows only what existed then";
  return (heads?.signedNote.signatures.length ?? 0) > 1
    ? "that nothing was rewritten before the export: witnesses have cosigned, but you named none of their keys; name one with --trust"
    : "that nothing was rewritten before the export: no witness has signed, so the machine's owner could have rebuilt all of it";
}

function withheld(check: Check, isUnvouched: boolean): string[] {
  const { counts, predicate: about } = check;
  const said: string[] = [];
  const others = Math.max(0, (about?.task_size ?? 0) - counts.events);
  if (about && !isWhole(about) && check.signed && others > 0) said.push(`what the task's other ${count(others, "event")} say; that they exist is signed`);
  if (counts.by_passkey > 0) said.push("whether a passkey was revoked before it signed: the store's own stream says so, and Hermit records no yes of one that was");
  if (counts.redacted > 0) {
    const why = about?.redacted === undefined ? "withheld from this bundle, or erased from the store before" : `withheld (\`--redact ${about.redacted}\`), or erased from the store before`;
    said.push(`${count(counts.redacted, "sensitive value")}: ${why}; each still has its digest in what was signed, so none can be put back changed`);
  }
  if (counts.artifacts_left_out > 0) said.push(`the content of ${count(counts.artifacts_left_out, "artifact")}; the digests are here`);
  if (check.facts.unknown > 0) said.push(`what ${count(check.facts.unknown, "event")} of types unknown to this program mean`);
  if (isUnvouched) said.push("what the sender may have left out: the list of files is not signed by a key you trust");
  return [...said, ...silentClocks(check.anchored), ...check.notShown];
}

/** `1 event`, `2 events`. */
function count(number: number | bigint, what: string): string {
  return `${number} ${what}${BigInt(number) === 1n ? "" : "s"}`;
}
