/** Anchors: what a clock elsewhere stamped is a head that leads to this log's, or a link of the instance (HV-3.6-3). */
import { hex, hexExact, same, utf8 } from "./read/bytes.ts";
import { parseCanonical, type JsonObject } from "./read/canon.ts";
import type { Check } from "./check.ts";
import { checkClock, CLOCKS, ENDINGS, type Clock } from "./clocks/clock.ts";
import { atTime, beforeTime, type Stamp } from "./clocks/stamp.ts";
import { anyProof, checkGrowth, keyOf, open, standsIn } from "./heads.ts";
import * as l from "./layout.ts";
import { leafHash } from "./merkle.ts";
import { parseNote, proofHead } from "./note.ts";
import { digestOf } from "./read/digest.ts";
import type { AnchorFound } from "./report.ts";
import { digest, integer, object, string, tagged, u64, type Of } from "./read/shape.ts";
import { at, Stop } from "./read/stop.ts";

const head = object({ origin: string, size: u64, root: digest, note_sha256: digest }, "closed");
const link = object({ number: u64 }, "closed");
const requested = object({ digest, number: u64, requested_at: integer, subject: tagged("of", { head, link }) }, "closed");
type Requested = Of<typeof requested>;

/** What only an anchored head has. */
const OF_A_HEAD: readonly l.AnchorPart[] = ["checkpoint", "consistency", "tlog-proof"];

/** What one clock says of one anchor. */
export interface Anchored {
  number: number;
  /** The link that was stamped, where it was one. */
  link?: number;
  clock: Clock;
  coversTask: boolean;
  stamp: Stamp;
}

/** Checks all anchors, in the order of their numbers. */
export function checkAnchors(check: Check): void {
  const anchors = new Map<bigint, Set<l.AnchorPart>>();
  for (const name of check.sums.keys()) {
    const named = l.parseName(name);
    if (named?.kind !== "anchor") continue;
    const parts = anchors.get(named.number) ?? new Set();
    anchors.set(named.number, parts.add(named.part));
  }
  if (anchors.size > l.ANCHORS_MAX) throw new Stop("anchors", `no bundle has more than ${l.ANCHORS_MAX} anchors`);
  for (const [number, parts] of [...anchors].sort(([left], [right]) => (left < right ? -1 : 1))) checkAnchor(check, number, parts);
}

function checkAnchor(check: Check, number: bigint, parts: ReadonlySet<l.AnchorPart>): void {
  const name = l.anchorPath(number, "json");
  if (!parts.has("json")) throw new Stop(name, "it is missing");
  const bytes = check.whole(name, l.SMALL_BYTES_MAX);
  const asked = at(name, () => requested(parseCanonical(bytes)));
  if (BigInt(asked.number) !== number) throw new Stop(name, `it is anchor ${asked.number}`);
  const isHead = asked.subject["of"] === "head";
  const found: { coversTask: boolean; link?: number } = isHead ? { coversTask: checkHead(check, number, asked, parts) } : checkLink(check, number, asked, parts);
  let given = 0;
  for (const clock of CLOCKS) {
    const part = `${clock}.${ENDINGS[clock]}` as l.AnchorPart;
    if (!parts.has(part)) continue;
    const place = l.anchorPath(number, part);
    const proof = check.whole(place, l.SMALL_BYTES_MAX);
    const stamp = at(place, () => checkClock(clock, proof, hexExact("digest", asked.digest, 32), check.clocks));
    check.anchored.push({ number: asked.number, clock, stamp, ...found });
    given += 1;
  }
  if (given === 0) throw new Stop(name, "no clock has given anything for it");
}

/** A head that was stamped: signed by a log key that is known here, the beginning of this log. Whether the task's head stands under it. */
function checkHead(check: Check, number: bigint, asked: Requested, parts: ReadonlySet<l.AnchorPart>): boolean {
  for (const part of ["checkpoint", "consistency"] as const) {
    if (!parts.has(part)) throw new Stop(l.anchorPath(number, part), "it is missing");
  }
  const { heads } = check;
  if (!heads) throw new Stop(l.LOG_CHECKPOINT, "it is missing");
  const noted = l.anchorPath(number, "checkpoint");
  const bytes = check.whole(noted, l.SMALL_BYTES_MAX);
  const note = at(noted, () => parseNote(bytes));
  const stamped = open(noted, note, keyOf(check, note, heads.logKey));
  if (!isNamed(asked.subject, { origin: stamped.origin, size: Number(stamped.size), root: hex(stamped.root), note_sha256: digestOf(bytes) })) {
    throw new Stop(noted, "it is another head than the one that was to be stamped");
  }
  if (asked.digest !== digestOf(utf8(note.text))) throw new Stop(l.anchorPath(number, "json"), "its digest is not that of the head's text");
  checkGrowth(check, l.anchorPath(number, "consistency"), stamped, heads.global.head);
  if (!parts.has("tlog-proof")) return false;
  const place = l.anchorPath(number, "tlog-proof");
  const proof = anyProof(check, place);
  if (!same(proofHead(proof), bytes)) throw new Stop(place, "it leads to another checkpoint than the one that was stamped");
  const task = at(l.TASK_CHECKPOINT, () => parseNote(heads.task.note));
  standsIn(place, proof, leafHash(utf8(task.text)), stamped);
  return true;
}

function isNamed(subject: JsonObject, found: Of<typeof head>): boolean {
  return (["origin", "size", "root", "note_sha256"] as const).every((name) => subject[name] === found[name]);
}

function checkLink(check: Check, number: bigint, asked: Requested, parts: ReadonlySet<l.AnchorPart>): { coversTask: boolean; link: number } {
  const stray = OF_A_HEAD.find((part) => parts.has(part));
  if (stray) throw new Stop(l.anchorPath(number, stray), "only an anchored head has it");
  const wanted = Number(asked.subject["number"]);
  const found = check.graph?.links.find((one) => one.number === wanted);
  const name = l.anchorPath(number, "json");
  if (!found) throw new Stop(name, `there is no link ${wanted} in ${l.IDENTITY_LINKS}`);
  if (found.sha256 !== asked.digest) throw new Stop(name, `its digest is not that of link ${wanted}`);
  return { coversTask: false, link: wanted };
}

/** What is known of the anchors, for the report. */
export function anchorsFound(anchored: readonly Anchored[]): AnchorFound[] {
  return anchored.map(({ number, link: stamped, clock, coversTask, stamp }) => ({
    number,
    of: stamped === undefined ? "head" : "link",
    link: stamped ?? null,
    clock,
    state: stamp.proven ? "anchored" : stamp.isPending ? "pending" : "unproven",
    not_after: stamp.proven?.notAfter ?? null,
    block_height: stamp.proven?.height ?? null,
    covers_task: coversTask,
    says: stamp.says,
    on_trust: stamp.onTrust,
  }));
}

/** The earliest time by which the task's head existed, as far as a clock proves it. */
export function provenNotAfter(anchored: readonly Anchored[]): number | null {
  const times = anchored.flatMap(({ coversTask, stamp }) => (coversTask && stamp.proven ? [stamp.proven.notAfter] : []));
  return times.length === 0 ? null : Math.min(...times);
}

const nameOf = ({ number, clock }: Anchored): string => `anchor ${number} (${clock})`;

/** Who says by when; nothing where it is not proven. */
function by(one: Anchored): string[] {
  const { proven } = one.stamp;
  if (!proven) return [];
  return [`before ${beforeTime(proven.notAfter)} by ${nameOf(one)}${proven.height === undefined ? "" : `, block ${proven.height} of Bitcoin`}`];
}

/** What clocks prove of the task, of links, and of the log. */
export function clocksInWords({ anchored, counts }: Check): string[] {
  const said: string[] = [];
  const notAfter = provenNotAfter(anchored);
  if (notAfter !== null) {
    const receipts = counts.receipts === 0 ? "" : counts.receipts === 1 ? ", the receipt here too" : `, each of the ${counts.receipts} receipts here too`;
    const all = anchored.filter(({ coversTask }) => coversTask).flatMap(by);
    const agree = all.length === 1 ? `one clock says so: ${all[0] ?? ""}` : `${all.length} clocks agree: ${all.join(", ")}`;
    said.push(`all that the task's checkpoint covers existed before ${beforeTime(notAfter)}${receipts}; ${agree}`);
  }
  for (const one of anchored.filter(({ coversTask }) => !coversTask)) {
    const what = one.link === undefined ? "a head from which this log goes on, and which does not cover the task, existed then" : `link ${one.link} of the instance existed then`;
    said.push(...by(one).map((when) => `${what}: ${when}`));
  }
  return said;
}

/** What stays open about when: no clock here proves that something is younger than a time. */
export function intervalInWords({ anchored, facts }: Check): string {
  const notAfter = provenNotAfter(anchored);
  if (notAfter === null || facts.newest === undefined) return "when things happened: the times are those of the machine's own clock";
  const [own, before] = [atTime(facts.newest), beforeTime(notAfter)];
  return facts.newest > notAfter
    ? `when things happened: the machine's own clock was ahead, since it says ${own} for an event that existed before ${before}`
    : `how long before ${before} things happened: nothing here proves that they are younger than any time; by the machine's own clock the newest event here is of ${own}`;
}

/** What one has to take on trust where a clock proves something. */
export function clocksOnTrust(anchored: readonly Anchored[]): string[] {
  return anchored.filter(({ stamp }) => stamp.proven).flatMap((one) => one.stamp.onTrust.map((what) => `${nameOf(one)}: ${what}`));
}

/** What clocks do not prove. */
export function silentClocks(anchored: readonly Anchored[]): string[] {
  return anchored.filter(({ stamp }) => !stamp.proven).map((one) => {
    const stands = one.stamp.isPending ? "is pending, and proves nothing yet" : "is not proven with what you gave";
    const why = one.stamp.says.join("; ");
    return `a time by ${nameOf(one)}: it ${stands}${why === "" ? "" : `: ${why}`}`;
  });
}
