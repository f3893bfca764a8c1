/** The gate's entries: each hashes to what it says and stands in the gate's tree, without the others being shown. */
import { utf8 } from "./read/bytes.ts";
import { canonical, isObject, parseCanonical, type JsonObject } from "./read/canon.ts";
import type { Check } from "./check.ts";
import { linesOf } from "./container.ts";
import { digestOf } from "./read/digest.ts";
import { sorted } from "./facts.ts";
import { readProof, standsIn } from "./heads.ts";
import * as l from "./layout.ts";
import { isWhole, type Predicate } from "./manifest.ts";
import { leafHash } from "./merkle.ts";
import { auditEntry, type AuditEntry } from "./generated/nouns.ts";
import { at, Malformed, Stop } from "./read/stop.ts";

export function checkGate(check: Check, about: Predicate): void {
  const numbers: bigint[] = [];
  for (const name of check.sums.keys()) {
    const named = l.parseName(name);
    if (named?.kind === "gate proof") numbers.push(named.number);
  }
  numbers.sort((left, right) => (left < right ? -1 : 1));
  const [first] = numbers;
  if (check.has(l.GATE_ENTRIES)) entries(check, numbers);
  else if (first !== undefined) throw new Stop(l.gateProofPath(first), "it proves the place of an entry that is not here");
  else if (check.has(l.GATE_CHECKPOINT)) throw new Stop(l.GATE_CHECKPOINT, "there are no entries it could be the head of");
  if (isWhole(about)) dispatches(check);
}

function entries(check: Check, numbers: readonly bigint[]): void {
  let last: { number: bigint; entry: AuditEntry } | undefined;
  let taken = 0;
  const placed = check.signed && !check.single;
  for (const [lineNumber, line] of linesOf(check.container, l.GATE_ENTRIES)) {
    const place = `${l.GATE_ENTRIES} line ${lineNumber}`;
    const entry = at(place, () => readEntry(line));
    const expected = numbers[taken];
    if (placed && expected === undefined) throw new Stop(place, "no proof of its place is here");
    if (!placed && expected !== undefined) throw new Stop(place, "this bundle proves no places of entries");
    const number = expected ?? BigInt(lineNumber);
    if (expected !== undefined) placedEntry(check, expected, line);
    taken += 1;
    if (last && placed && last.number + 1n === number && entry.prev_hash !== last.entry.entry_hash) {
      throw new Stop(place, "it does not point back to the entry before it");
    }
    const passes = entry.state_to === "EXECUTING" || entry.state_from === "EXECUTING";
    // Where no place of it is proven, nothing else would notice.
    if (check.entries.has(entry.entry_hash)) throw new Stop(place, "the same entry stands before it");
    check.entries.set(entry.entry_hash, passes && entry.decision === "ALLOW");
    check.counts.gate_entries += 1;
    last = { number, entry };
  }
  if (taken < numbers.length) throw new Stop(l.GATE_ENTRIES, "it has fewer entries than there are proofs");
  if (!last) throw new Stop(l.GATE_ENTRIES, "it is empty");
  check.summed(l.GATE_ENTRIES, digestOf(check.container.open(l.GATE_ENTRIES).bytes));
}

/** An entry whose hash covers all its other fields. */
function readEntry(line: Uint8Array): AuditEntry {
  const value = parseCanonical(line);
  const entry = auditEntry(value);
  const rest = Object.create(null) as JsonObject;
  // A field that is null is written by nobody, and the first implementation hashes it as absent.
  for (const [name, member] of Object.entries(isObject(value) ? value : {})) {
    if (name !== "entry_hash" && member !== null) rest[name] = member;
  }
  if (digestOf(utf8(canonical(rest))) !== entry.entry_hash) {
    throw new Malformed("audit entry", "its fields do not give the hash it says");
  }
  return entry;
}

function placedEntry(check: Check, number: bigint, line: Uint8Array): void {
  const name = l.gateProofPath(number);
  const gate = check.heads?.gate;
  if (!gate) throw new Stop(l.GATE_CHECKPOINT, "it is missing");
  const proof = readProof(check, name, gate);
  if (proof.index + 1n !== number) throw new Stop(name, `it proves the place of leaf ${proof.index}, counted from 0`);
  standsIn(name, proof, leafHash(line), gate.head);
}

/** Everything that was dispatched was let pass by an entry that is here. */
function dispatches(check: Check): void {
  const dispatched = sorted(check.facts.dispatched);
  for (const [hash, seq] of dispatched) {
    if (!check.entries.has(hash)) check.lacks(`the gate entry under which event ${seq} dispatched an effect`);
  }
  const refused = dispatched.find(([hash]) => check.entries.get(hash) === false);
  if (refused) {
    const [hash, seq] = refused;
    throw new Stop(`${l.TASK_EVENTS} line ${seq}`, `it names the gate entry \`${hash}\`, which lets nothing pass`);
  }
}
