/**
 * Checks a bundle with nothing but itself and the keys the reader trusts.
 *
 * Order: what files there are, what `SHA256SUMS` says of them and who signed it; the statement; the signed heads; the
 * events; then everything that must follow from them. The first thing that does not fit ends it. This is a second
 * implementation of the room `proof`; tests hold the two to the same verdicts and places.
 */
import { checkAnchors, type Anchored } from "./anchors.ts";
import { Authority } from "./authority.ts";
import { textOf } from "./read/bytes.ts";
import type { Json } from "./read/canon.ts";
import { NO_CLOCKS, type Clocks } from "./clocks/stamp.ts";
import { readWhole, type Container } from "./container.ts";
import { digestOf } from "./read/digest.ts";
import { eachConcealed, parseDisclosure } from "./disclose.ts";
import { checkEvents } from "./events.ts";
import { Facts } from "./facts.ts";
import { checkGate } from "./gate.ts";
import { checkHeads, checkHistory, oneReceipt, type Heads, type Past } from "./heads.ts";
import type { Graph } from "./identity.ts";
import { checkInstance } from "./instance.ts";
import type { PublicKey } from "./keys.ts";
import * as l from "./layout.ts";
import { checkManifest, checkStatement, type Predicate } from "./manifest.ts";
import { checkReceipts } from "./receipts.ts";
import { Rotations } from "./rotations.ts";
import { noCounts, type Report, type Verdict } from "./report.ts";
import { checkState, type RootOf } from "./state.ts";
import { at, Stop } from "./read/stop.ts";
import type { Trust } from "./trust.ts";
import { conclude, factsKnown } from "./words.ts";

/** The steps of a check, in order; the page shows which one caught a change. */
export const STEPS = ["container", "manifest", "statement", "heads", "events", "gate", "identity", "anchors", "receipts", "decisions", "leftovers"] as const;
export type Step = (typeof STEPS)[number];

export interface Keys {
  log?: PublicKey;
  receipt?: PublicKey;
  manifest?: PublicKey;
  approval?: PublicKey;
}

/** A verdict, how far the check came, and what it knew by then. */
export interface Checked {
  report: Report;
  /** The step that refused, or nothing when all of them passed. */
  refusedBy?: Step;
  check?: Check;
}

/**
 * Checks a bundle that `open` lists; what is wrong with it is a verdict, never an exception. With `held`, a checkpoint
 * of the log that the reader has from before, also whether the log has only grown since; with `clocks`, what the clocks
 * prove that stamped its heads.
 */
export function verify(open: () => Container, trust: readonly Trust[], held?: Uint8Array, clocks: Clocks = NO_CLOCKS): Checked {
  let check: Check | undefined;
  let step: Step = "container";
  try {
    check = new Check(open(), held, clocks);
    for (step of STEPS.slice(1)) check.run(step);
    return { report: conclude(check, trust), check };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    const report = blank({ verdict: "invalid", place: error.place, why: error.why });
    if (!check) return { report, refusedBy: step };
    report.counts = check.counts;
    factsKnown(check, report);
    return { report, refusedBy: step, check };
  }
}

/** A check under way. */
export class Check {
  /** What `SHA256SUMS` says, sorted by name. */
  sums: ReadonlyMap<string, string> = new Map();
  /** Files whose bytes were compared with it. */
  private readonly checked = new Set<string>();
  keys: Keys = {};
  signed = false;
  /** Whether it is one receipt of a store with keys: its heads stand inside its proofs. */
  single = false;
  /** An older checkpoint that leads here. */
  past?: Past;
  private stated?: Predicate;
  predicate?: Predicate;
  heads?: Heads;
  readonly facts = new Facts();
  /** Disclosures of one receipt alone, and whether they opened something. */
  private readonly disclosed = new Map<string, { bytes: Uint8Array; opened: boolean }>();
  /** Hashes of the gate's entries that are here, with whether the entry lets something pass. */
  readonly entries = new Map<string, boolean>();
  /** Receipts whose signature holds: they bind the receipt key to the log. */
  signedReceipts = 0;
  /** Whether a receipt names the manifest key, or one that it followed: that binds the manifest key to the log. */
  hasNamedManifest = false;
  /** Artifacts that receipts name. */
  readonly named = new Set<string>();
  /** Events of this bundle that may be leaves of a root of state, and the roots that were checked. */
  readonly leaves = new Set<string>();
  /** Of these, those that are messages of the task whatever they say, in order. */
  readonly messages: string[] = [];
  readonly roots: RootOf[] = [];
  /** The chain of the instance, once it was followed, and what clocks say. */
  graph?: Graph;
  readonly anchored: Anchored[] = [];
  readonly counts = noCounts();
  readonly missing: string[] = [];
  readonly notShown: string[] = [];
  readonly authority = new Authority(this);
  readonly rotations = new Rotations(this);

  constructor(
    readonly container: Container,
    private readonly held?: Uint8Array,
    /** What the reader has to check clocks with. */
    readonly clocks: Clocks = NO_CLOCKS,
  ) {
    this.counts.files = container.sizes.size;
    for (const size of container.sizes.values()) this.counts.bytes += size;
  }

  run(step: Step): void {
    switch (step) {
      case "container":
        return;
      case "manifest":
        return checkManifest(this);
      case "statement":
        // One receipt alone is its own statement; what another would say follows from its heads.
        if (!this.single) this.stated = checkStatement(this);
        return;
      case "heads":
        return this.checkHeads();
      case "events":
        return checkEvents(this, this.about());
      case "gate":
        checkGate(this, this.about());
        return checkState(this);
      case "identity":
        return checkInstance(this, this.about());
      case "anchors":
        return checkAnchors(this);
      case "receipts":
        this.disclosedLines();
        return checkReceipts(this, this.about());
      case "decisions":
        return this.authority.decisions();
      case "leftovers":
        return this.leftovers();
    }
  }

  private checkHeads(): void {
    if (this.single) {
      const { about, heads } = oneReceipt(this);
      [this.stated, this.heads] = [about, heads];
    } else if (this.signed) this.heads = checkHeads(this, this.about());
    // Known only now: the heads bear it out.
    this.predicate = this.about();
    this.rotations.read(this.predicate);
    checkHistory(this, this.held);
  }

  /** Adds to what is missing; a hostile bundle cannot make the list long. */
  lacks(what: string): void {
    add(this.missing, what);
  }

  withholds(what: string): void {
    add(this.notShown, what);
  }

  /** What the statement says; it is there once the statement was checked. */
  private about(): Predicate {
    if (!this.stated) throw new Stop(l.STATEMENT, "it is missing");
    return this.stated;
  }

  has(name: string): boolean {
    return this.container.sizes.has(name);
  }

  /** A file's whole bytes, once they are what `SHA256SUMS` says. */
  whole(name: string, max: number): Uint8Array {
    const bytes = readWhole(this.container, name, max);
    this.summed(name, digestOf(bytes));
    return bytes;
  }

  /** {@link whole} for text. */
  text(name: string): string {
    const bytes = this.whole(name, l.SMALL_BYTES_MAX);
    return at(name, () => textOf(bytes, "text"));
  }

  /** Compares a digest with what `SHA256SUMS` says of the file. */
  summed(name: string, found: string): void {
    const expected = this.sums.get(name);
    if (expected === undefined) throw new Stop(name, "SHA256SUMS does not list it");
    if (expected !== found) throw new Stop(name, CHANGED);
    this.checked.add(name);
  }

  /** The content of an artifact, when it goes along. */
  artifact(digest: string): Uint8Array | undefined {
    const name = l.artifactPath(digest);
    if (!this.has(name)) return undefined;
    const bytes = this.whole(name, l.RECORD_BYTES_MAX);
    if (digestOf(bytes) !== digest) throw new Stop(name, "its bytes do not give the digest that is its name");
    return bytes;
  }

  /** Opens what can be opened below `value`: each disclosure must fit its digest and its place. */
  openLeaves(value: Json, base: string): void {
    eachConcealed(value, base, (digest, pointer) => {
      const read = this.disclosure(digest);
      if (!read) {
        this.counts.redacted += 1;
        return;
      }
      const found = at(read.place, () => parseDisclosure(read.bytes));
      if (found.digest !== digest || found.pointer !== pointer) throw new Stop(read.place, `it does not open \`${pointer}\``);
      this.counts.disclosed += 1;
    });
  }

  /** Where a disclosure stands, and its bytes. */
  private disclosure(digest: string): { place: string; bytes: Uint8Array } | undefined {
    const line = this.disclosed.get(digest);
    if (this.single) {
      if (line) line.opened = true;
      return line && { place: l.DISCLOSED, bytes: line.bytes };
    }
    const place = l.disclosurePath(digest);
    return this.has(place) ? { place, bytes: this.whole(place, l.LINE_BYTES_MAX) } : undefined;
  }

  /** The disclosures of one receipt alone: lines in the order of their digests. */
  private disclosedLines(): void {
    if (!this.has(l.DISCLOSED)) return;
    const bytes = this.whole(l.DISCLOSED, l.WHOLE_BYTES_MAX);
    if (bytes.at(-1) !== 0x0a) throw new Stop(l.DISCLOSED, "its final newline is missing");
    let last = "";
    for (let [start, number] = [0, 1]; start < bytes.length; number += 1) {
      const end = bytes.indexOf(0x0a, start);
      const line = bytes.subarray(start, end);
      const digest = digestOf(line);
      if (last >= digest) throw new Stop(`${l.DISCLOSED} line ${number}`, "the lines are not in the order of their digests, or one comes twice");
      this.disclosed.set(digest, { bytes: line, opened: false });
      [last, start] = [digest, end + 1];
    }
  }

  /** What no event asked for must still be known, and have the bytes it should. */
  private leftovers(): void {
    for (const [digest, { opened }] of this.disclosed) {
      if (!opened) throw new Stop(l.DISCLOSED, `the line with digest ${digest} opens nothing`);
    }
    let artifacts = 0;
    for (const [name, sum] of this.sums) {
      const named = l.parseName(name);
      if (named?.kind === "disclosure" && !this.checked.has(name)) throw new Stop(name, "it opens nothing in this bundle");
      if (named?.kind === "artifact") {
        if (!this.facts.artifacts.has(named.digest) && !this.named.has(named.digest)) {
          throw new Stop(name, "no event and no receipt of this bundle names it");
        }
        artifacts += 1;
      }
      // What nobody reads by program is short; only artifacts and the lineage of a long task are not.
      if (name === l.README && (this.container.sizes.get(name) ?? 0) > l.SMALL_BYTES_MAX) throw new Stop(name, CHANGED);
      if (this.checked.has(name)) continue;
      if (digestOf(readWhole(this.container, name, Number.MAX_SAFE_INTEGER)) !== sum) throw new Stop(name, CHANGED);
    }
    this.counts.artifacts = artifacts;
    const known = new Set([...this.facts.artifacts.keys(), ...this.named]);
    this.counts.artifacts_left_out = Math.max(0, known.size - this.counts.artifacts);
  }
}

const CHANGED = "its bytes do not give the digest in SHA256SUMS: it was changed";

/** Most sentences of one kind in a report. */
const SENTENCES_MAX = 50;

function add(sentences: string[], what: string): void {
  if (sentences.length < SENTENCES_MAX) sentences.push(what);
  else if (sentences.length === SENTENCES_MAX) sentences.push("and more");
}

export function blank(verdict: Verdict): Report {
  const none = { task_id: null, log_id: null, task_size: null, task_root: null, exported_at_ms: null };
  return { ...verdict, ...none, keys: {}, trusted: [], vouching: [], counts: noCounts(), identity: null, anchors: [], proven_not_after: null, proven: [], asserted: [], not_shown: [], unvouched: [] };
}
