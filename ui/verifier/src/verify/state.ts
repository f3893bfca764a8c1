/** Roots of state: the event that states them stands in the log, each follows from its leaves and stands under the root over
 * all; which of its leaves are events of this bundle. */
import { hex, hexExact, utf8 } from "./read/bytes.ts";
import { canonical, isObject, parseCanonical, type Json } from "./read/canon.ts";
import type { Check } from "./check.ts";
import { linesOf } from "./container.ts";
import { digestOf } from "./read/digest.ts";
import { anyProof, inLog, open, standsIn, type Heads } from "./heads.ts";
import * as l from "./layout.ts";
import { event as eventShape, type Event } from "./generated/nouns.ts";
import { Frontier, inclusionFault, leafHash } from "./merkle.ts";
import { noteBytes, VerifierKey } from "./note.ts";
import { array, digest, id, object, sensitive, string, u64, type Of } from "./read/shape.ts";
import { at, Malformed, Stop } from "./read/stop.ts";

/** The files of it, which come together. */
const FILES = [l.STATE_CHECKPOINT_PROOF, l.STATE_ROOTED, l.STATE_ROOTED_PROOF, l.STATE_SUBJECTS];

/** Messages of a conversation, and beginnings of memory records. */
const LEAVES: ReadonlySet<string> = new Set([
  "ingress.received", "clarification.requested", "approval.requested", "receipt.issued", "attempt.terminated", "task.status_changed", "memory.promoted",
]);

/** Of these, those of which every one is a message of its task's conversation. */
const MESSAGES: ReadonlySet<string> = new Set(["clarification.requested", "approval.requested", "receipt.issued", "attempt.terminated"]);

const CONVERSATION = id("cnv");
const MEMORY = /^memory:(everywhere|[0-9a-f]{64})$/;

/** `conversation:<id>`, `memory:<project hash>` or `memory:everywhere`. */
function subject(value: Json): string {
  const text = string(value);
  if (text.startsWith("conversation:")) CONVERSATION(text.slice("conversation:".length));
  else if (!MEMORY.test(text)) throw new Malformed("document", `\`${text}\` is nothing that a root of state is about`);
  return text;
}

const root = object({ subject, size: u64, root: digest }, "closed");
const rooted = object({ store_id: string, number: u64, through: u64, state_root: digest, subjects: u64, roots: sensitive(array(root)) });
type Rooted = Of<typeof rooted>;
const subjectProof = object({ index: u64, leaves: array(digest), path: array(digest), root: digest, size: u64, subject }, "closed");
type SubjectProof = Of<typeof subjectProof>;

/** A root that was checked. */
export interface RootOf {
  subject: string;
  /** Messages, or records in force. */
  size: number;
  /** Of these, events of this bundle. */
  here: number;
}

export function checkState(check: Check): void {
  if (!FILES.some((name) => check.has(name))) return;
  const missing = FILES.find((name) => !check.has(name));
  if (missing !== undefined) throw new Stop(missing, "it is missing");
  if (!check.heads) throw new Stop(l.LOG_CHECKPOINT, "it is missing");
  const stated = rootedEvent(check, check.heads);
  let last = "";
  for (const [number, line] of linesOf(check.container, l.STATE_SUBJECTS)) {
    const place = `${l.STATE_SUBJECTS} line ${number}`;
    const one = at(place, () => subjectProof(parseCanonical(line)));
    if (last >= one.subject) throw new Stop(place, "the lines are not in the order of their subjects, or one comes twice");
    last = one.subject;
    checkSubject(check, place, one, stated);
  }
  check.summed(l.STATE_SUBJECTS, digestOf(check.container.open(l.STATE_SUBJECTS).bytes));
}

/** The event that states the roots, once its place in the log is proven. */
function rootedEvent(check: Check, heads: Heads): Rooted {
  const bytes = check.whole(l.STATE_ROOTED, l.LINE_BYTES_MAX);
  const read = at(l.STATE_ROOTED, () => eventShape(parseCanonical(bytes)));
  const stated = bodyOf(read);
  const key = at(l.STATE_ROOTED_PROOF, () => new VerifierKey(`${heads.logKey.name}/task/${read.task_id}`, heads.logKey.key));
  const proof = anyProof(check, l.STATE_ROOTED_PROOF);
  const head = open(l.STATE_ROOTED_PROOF, proof.checkpoint, key);
  if (proof.index + 1n !== BigInt(read.task_seq)) throw new Stop(l.STATE_ROOTED_PROOF, `it proves the place of leaf ${proof.index}, counted from 0`);
  standsIn(l.STATE_ROOTED_PROOF, proof, leafHash(bytes), head);
  inLog(check, l.STATE_CHECKPOINT_PROOF, noteBytes(proof.checkpoint), heads.global);
  return stated;
}

function bodyOf(read: Event): Rooted {
  const none = () => new Stop(l.STATE_ROOTED, "it is no event that states roots");
  if (read.event_type !== "store.state_rooted" || read.schema_version !== 1 || !isObject(read.payload)) throw none();
  try {
    return rooted(read.payload);
  } catch (error) {
    if (error instanceof Malformed) throw none();
    throw error;
  }
}

function checkSubject(check: Check, place: string, one: SubjectProof, stated: Rooted): void {
  const tree = new Frontier();
  for (const leaf of one.leaves) tree.push(hexExact("digest", leaf, 32));
  if (one.size !== one.leaves.length || hex(tree.root()) !== one.root) throw new Stop(place, "its leaves do not give the root that was stated");
  const leaf = leafHash(utf8(canonical({ root: one.root, size: one.size, subject: one.subject })));
  const path = one.path.map((hash) => hexExact("digest", hash, 32));
  const fault = inclusionFault(leaf, BigInt(one.index), BigInt(stated.subjects), path, hexExact("digest", stated.state_root, 32));
  if (fault !== undefined) throw new Stop(place, `this inclusion proof does not hold: ${fault}`);
  const why = orderFault(check, one);
  if (why !== undefined) throw new Stop(place, why);
  check.roots.push({ subject: one.subject, size: one.size, here: one.leaves.filter((hash) => check.leaves.has(hash)).length });
}

/** Each leaf stands once; the task's messages in its conversation's tree in their order, none left out before another. */
function orderFault(check: Check, one: SubjectProof): string | undefined {
  const places = new Map(one.leaves.map((leaf, place) => [leaf, place]));
  if (places.size !== one.leaves.length) return "one of its leaves stands twice";
  if (!one.subject.startsWith("conversation:")) return undefined;
  let last = -1;
  let missing = false;
  for (const message of check.messages) {
    const place = places.get(message);
    if (place === undefined) missing = true;
    else if (missing) return "a message of the task is missing before one that is a leaf";
    else if (place <= last) return "its leaves are not in the order of the task's messages";
    else last = place;
  }
  return undefined;
}

/** An event of this bundle that may be a leaf of a root. */
export function mayBeLeaf(check: Check, eventType: string, leaf: Uint8Array): void {
  if (LEAVES.has(eventType)) check.leaves.add(hex(leaf));
  if (MESSAGES.has(eventType)) check.messages.push(hex(leaf));
}

/** What is proven by a root. */
export function rootInWords({ subject: of, size, here }: RootOf): string {
  const many = (what: string) => `${size} ${what}${size === 1 ? "" : "s"}`;
  const told = here === 1 ? "1 of them is an event of this bundle" : `${here} of them are events of this bundle`;
  const [kind, name] = [of.slice(0, of.indexOf(":")), of.slice(of.indexOf(":") + 1)];
  const what = kind === "conversation" ? `the ${many("message")} of ${name}` : `the ${many("record")} of memory in force in ${name === "everywhere" ? "every project" : `project ${name}`}`;
  return `the log key signed a root over ${what}, whose hashes are here: ${told}`;
}
