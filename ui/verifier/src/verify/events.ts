/** The task's events: all of them in one chain and one tree, or a few with their places in it. */
import { hex } from "./read/bytes.ts";
import { CANON, isObject, parseCanonical } from "./read/canon.ts";
import type { Check } from "./check.ts";
import { linesOf } from "./container.ts";
import { digestOf, ZERO } from "./read/digest.ts";
import { readProof, standsIn } from "./heads.ts";
import * as l from "./layout.ts";
import { isWhole, type Predicate } from "./manifest.ts";
import { Frontier, leafHash } from "./merkle.ts";
import { event as eventShape, type Event } from "./generated/nouns.ts";
import { mayBeLeaf } from "./state.ts";
import { at, Malformed, Stop } from "./read/stop.ts";

export function checkEvents(check: Check, about: Predicate): void {
  const names = [...check.sums.keys()];
  const single = names.find((name) => name.startsWith("task/events/")) ?? names.find((name) => name.startsWith("task/proofs.tlog-proof/"));
  const all = check.has(l.TASK_EVENTS);
  if (isWhole(about)) {
    if (!all) throw new Stop(l.TASK_EVENTS, "it is missing");
    if (single === undefined) return allEvents(check, about);
  } else if (!all) {
    if (single === undefined) throw new Stop("task/events", "the events it is about are missing");
    return someEvents(check, about);
  }
  throw new Stop(single ?? l.TASK_EVENTS, "it does not belong into a bundle of this scope");
}

/** Chain, number and root of all events, in one pass. */
function allEvents(check: Check, about: Predicate): void {
  const frontier = new Frontier();
  let [count, head] = [0, ZERO];
  for (const [number, line] of linesOf(check.container, l.TASK_EVENTS)) {
    const place = `${l.TASK_EVENTS} line ${number}`;
    const read = at(place, () => {
      const value = parseCanonical(line);
      if (!isObject(value)) throw new Malformed("event", "it is not an object");
      if (value["task_seq"] !== count + 1) throw new Malformed("event", `its sequence number is not ${count + 1}`);
      if (value["prev_event_hash"] !== head) throw new Malformed("event", "it does not point back to the event before it");
      return eventShape(value);
    });
    [count, head] = [count + 1, digestOf(line)];
    const leaf = leafHash(line);
    frontier.push(leaf);
    mayBeLeaf(check, read.event_type, leaf);
    takeEvent(check, read, about, place);
  }
  if (count !== about.task_size) {
    throw new Stop(`${l.TASK_EVENTS} line ${count + 1}`, `it has ${count} events where ${about.task_size} were signed`);
  }
  if (hex(frontier.root()) !== about.task_root) throw new Stop(l.TASK_EVENTS, "its events do not give the root that was signed");
  check.summed(l.TASK_EVENTS, digestOf(check.container.open(l.TASK_EVENTS).bytes));
}

/** Events shown alone, each with its place in the task's tree; of a span all, in one chain. */
function someEvents(check: Check, about: Predicate): void {
  const shown = new Map<bigint, string>();
  const proofs: [bigint, string][] = [];
  for (const name of check.sums.keys()) {
    const named = l.parseName(name);
    if (named?.kind === "event") shown.set(named.number, name);
    if (named?.kind === "event proof") proofs.push([named.number, name]);
  }
  for (const [seq, name] of proofs) {
    if (!shown.has(seq)) throw new Stop(name, "it proves the place of an event that is not here");
  }
  const order = [...shown.keys()].sort((left, right) => (left < right ? -1 : 1));
  checkSpan(about, shown, order);
  let before: Placed | undefined;
  for (const seq of order) {
    const name = shown.get(seq) ?? "";
    const placed = placedEvent(check, name, seq, about);
    if (before && before.seq + 1n === seq && before.hash !== placed.pointsTo) throw new Stop(name, "it does not point back to the event before it");
    before = placed;
  }
}

function checkSpan(about: Predicate, shown: ReadonlyMap<bigint, string>, order: readonly bigint[]): void {
  if (!about.span) return;
  const [first, last] = [BigInt(about.span[0]), BigInt(about.span[1])];
  let wanted = first;
  while (wanted <= last && shown.has(wanted)) wanted += 1n;
  const odd = wanted <= last ? wanted : order.find((seq) => seq < first || seq > last);
  if (odd !== undefined) throw new Stop(l.eventPath(odd), `events ${first} to ${last} are what it is about, no fewer and no others`);
}

interface Placed {
  seq: bigint;
  hash: string;
  pointsTo: string;
}

function placedEvent(check: Check, name: string, seq: bigint, about: Predicate): Placed {
  const bytes = check.whole(name, l.LINE_BYTES_MAX);
  const read = at(name, () => eventShape(parseCanonical(bytes)));
  if (BigInt(read.task_seq) !== seq || read.task_seq > about.task_size) {
    throw new Stop(name, `it is event ${read.task_seq} of its task, not ${seq}`);
  }
  const proofName = l.eventProofPath(seq);
  if (check.heads) {
    const proof = readProof(check, proofName, check.heads.task);
    if (proof.index !== seq - 1n) throw new Stop(proofName, `it proves the place of leaf ${proof.index}, counted from 0`);
    standsIn(proofName, proof, leafHash(bytes), check.heads.task.head);
  } else if (check.has(proofName)) {
    throw new Stop(proofName, "a store without keys proves no places");
  }
  mayBeLeaf(check, read.event_type, leafHash(bytes));
  takeEvent(check, read, about, name);
  return { seq, hash: digestOf(bytes), pointsTo: read.prev_event_hash };
}

function takeEvent(check: Check, event: Event, about: Predicate, place: string): void {
  if (event.task_id !== about.task_id) throw new Stop(place, `it belongs to task ${event.task_id}`);
  if (event.canon !== CANON) throw new Stop(place, `its canonical form \`${event.canon}\` is not ours`);
  at(place, () => check.facts.take(event));
  check.counts.events += 1;
  // One receipt alone shows what it says itself; of its event only what the log says.
  if (!check.single) check.openLeaves(event.payload, "/payload");
}
