/** The signed heads: of the global log, of the task, of the gate, each in its place. */
import { hex, hexExact, same, utf8 } from "./read/bytes.ts";
import type { Check } from "./check.ts";
import * as l from "./layout.ts";
import { CANON } from "./read/canon.ts";
import { readWhole } from "./container.ts";
import { Policy } from "./cosignature.ts";
import { keyids, type Predicate } from "./manifest.ts";
import { consistencyFault, inclusionFault, leafHash, PROOF_LEN_MAX } from "./merkle.ts";
import { openCheckpoint, parseNote, noteBytes, parseProof, proofHead, VerifierKey, type Checkpoint, type Note, type TlogProof } from "./note.ts";
import { at, Stop } from "./read/stop.ts";

/** A signed head and the exact bytes of its note. */
export interface Head {
  head: Checkpoint;
  note: Uint8Array;
}

/** What the log key signed. */
export interface Heads {
  global: Head;
  task: Head;
  /** Where the task's note stands in the global log. */
  taskIndex: bigint;
  gate?: Head;
  /** The global head with all its signatures. */
  signedNote: Note;
  /** What the bundle's policy asks for, and what was found of it. */
  witnessed?: Witnessed;
  /** The log key under the log's own name. */
  logKey: VerifierKey;
}

/** What became of a policy. */
interface Witnessed {
  /** Witnesses it names, and those of them who cosigned. */
  all: number;
  signed: number;
  /** Whether they are as many as it asks for. */
  isMet: boolean;
}

/** What is known of the log's history before the bundle's checkpoint. */
export interface Past {
  /** Notes of the older checkpoint. */
  size: bigint;
  /** Whether it is the one that the reader holds. */
  held: boolean;
}

/** The heads of a task or a span, which have files of their own. */
export function checkHeads(check: Check, about: Predicate): Heads {
  const [logKey, taskKey, gateKey] = vkeys(check, about.log_id, about.task_id);
  const global = signedHead(check, l.LOG_CHECKPOINT, logKey);
  const task = signedHead(check, l.TASK_CHECKPOINT, taskKey);
  if (task.head.size !== BigInt(about.task_size) || hex(task.head.root) !== about.task_root) {
    throw new Stop(l.TASK_CHECKPOINT, "its size or root is not the statement's");
  }
  const taskIndex = inLog(check, l.TASK_CHECKPOINT_PROOF, task.note, global);
  let gate: Head | undefined;
  if (check.has(l.GATE_CHECKPOINT)) {
    gate = signedHead(check, l.GATE_CHECKPOINT, gateKey);
    inLog(check, l.GATE_CHECKPOINT_PROOF, gate.note, global);
  }
  const signedNote = at(l.LOG_CHECKPOINT, () => parseNote(global.note));
  return { global, task, taskIndex, signedNote, logKey, ...(gate && { gate }), ...cosigners(check, signedNote) };
}

/** Who of the policy's witnesses has cosigned. A line of theirs that does not hold is refused. */
function cosigners(check: Check, note: Note): { witnessed?: Witnessed } {
  if (!check.has(l.LOG_POLICY)) return {};
  const text = check.text(l.LOG_POLICY);
  const policy = at(l.LOG_POLICY, () => Policy.parse(text));
  const signed = at(l.LOG_CHECKPOINT, () => policy.cosigned(note));
  return { witnessed: { all: policy.witnesses.length, signed: signed.length, isMet: policy.isMet(signed) } };
}

/** One receipt alone: its heads stand inside its proofs, and what a statement would say follows from them. */
export function oneReceipt(check: Check): { about: Predicate; heads: Heads } {
  const names = [...check.sums.keys()];
  const [name, ...others] = names.filter((one) => one.startsWith("receipts/"));
  if (name === undefined || others.length > 0) throw new Stop("receipts", "a bundle without a statement is about one receipt");
  const named = l.parseName(name);
  if (named?.kind !== "receipt") throw new Stop(name, "it is a receipt that nobody signed, in a store with keys");
  const first = names.find((one) => one.startsWith("task/proofs.tlog-proof/"));
  if (first === undefined) throw new Stop("task/proofs.tlog-proof", "the receipt's event has no place");
  const taskNote = anyProof(check, first).checkpoint;
  const origin = logAndTask(taskNote);
  if (!origin) throw new Stop(first, "its checkpoint is not the one of a task");
  const [logKey, taskKey] = vkeys(check, origin.log, origin.task);
  const way = anyProof(check, l.TASK_CHECKPOINT_PROOF);
  const global = { head: open(l.TASK_CHECKPOINT_PROOF, way.checkpoint, logKey), note: noteBytes(way.checkpoint) };
  const task = { head: open(first, taskNote, taskKey), note: noteBytes(taskNote) };
  standsIn(l.TASK_CHECKPOINT_PROOF, way, leafHash(utf8(taskNote.text)), global.head);
  const about: Predicate = {
    bundle: l.FORMAT,
    canon: CANON,
    log_id: origin.log,
    task_id: origin.task,
    receipt_id: named.id,
    span: undefined,
    task_size: Number(task.head.size),
    task_root: hex(task.head.root),
    exported_at_ms: 0,
    keys: keyids(check),
    disclosures: true,
    redacted: undefined,
    artifacts: "",
  };
  const signedNote = way.checkpoint;
  return { about, heads: { global, task, taskIndex: way.index, signedNote, logKey, ...cosigners(check, signedNote) } };
}

/** Log and task by the first line of a task's checkpoint. */
function logAndTask({ text }: Note): { log: string; task: string } | undefined {
  const [line = ""] = text.split("\n", 1);
  const cut = line.indexOf("/task/");
  const [log, task] = [line.slice("hermit.local/".length, cut), line.slice(cut + "/task/".length)];
  const ours = line.startsWith("hermit.local/") && cut >= "hermit.local/".length && /^task_[0-9a-f]{32}$/.test(task);
  return ours ? { log, task } : undefined;
}

/** The log key under the three names it signs with, as `keys/log.vkey` must say. */
function vkeys(check: Check, logId: string, task: string): [VerifierKey, VerifierKey, VerifierKey] {
  const key = check.keys.log;
  if (!key) throw new Stop(l.KEY_LOG, "it is missing");
  const log = `hermit.local/${logId}`;
  const all = at(l.KEY_VKEYS, (): [VerifierKey, VerifierKey, VerifierKey] => {
    return [new VerifierKey(log, key), new VerifierKey(`${log}/task/${task}`, key), new VerifierKey(`${log}/gate`, key)];
  });
  const written = all.slice(0, check.single ? 1 : 3).map((one) => `${one}\n`).join("");
  if (check.text(l.KEY_VKEYS) !== written) throw new Stop(l.KEY_VKEYS, "it names another key, log or task than this bundle");
  return all;
}

/** A checkpoint that the key signed, of a tree that has something in it. */
export function open(name: string, note: Note, key: VerifierKey): Checkpoint {
  const head = at(name, () => openCheckpoint(noteBytes(note), key));
  if (head.size === 0n) throw new Stop(name, "it signs an empty tree, which proves nothing");
  return head;
}

/** The older checkpoint in the bundle, and the one that the reader holds, must be the beginning of this one. */
export function checkHistory(check: Check, held: Uint8Array | undefined): void {
  const { heads } = check;
  if (!heads) {
    if (held) check.lacks("any checkpoint: the store has no keys, so the one you hold is not of it");
    return;
  }
  const [before, way] = [check.has(l.LOG_PREVIOUS), check.has(l.LOG_CONSISTENCY)];
  if (before !== way) throw new Stop(before ? l.LOG_CONSISTENCY : l.LOG_PREVIOUS, "it is missing");
  const previous = before ? readPrevious(check, heads) : undefined;
  if (previous) check.past = { size: previous.size, held: false };
  if (!held) return;
  const place = "the checkpoint you hold";
  const note = at(place, () => parseNote(held));
  const own = open(place, note, keyOf(check, note, heads.logKey));
  const global = heads.global.head;
  const known = [previous, global].find((one) => one?.size === own.size);
  if (known && !same(known.root, own.root)) {
    throw new Stop(place, `at ${own.size} notes it has another root than this log: one of them was rewritten`);
  }
  if (known) check.past = { size: own.size, held: true };
  else if (own.size > global.size) check.lacks(`what came after: you hold ${own.size} notes of the log, and this ends at ${global.size}`);
  else check.lacks(`the way from the checkpoint you hold (${own.size} notes) to this one (${global.size}); ask for an export with \`--since\``);
}

/** The log key that signed an older head: the one in force, or one that it followed. */
export function keyOf(check: Check, note: Note, key: VerifierKey): VerifierKey {
  const ever = check.rotations.ever("log").map((one) => new VerifierKey(key.name, one));
  return ever.find(({ keyId }) => note.signatures.some((made) => made.keyId === keyId)) ?? key;
}

function readPrevious(check: Check, heads: Heads): Checkpoint {
  const bytes = readWhole(check.container, l.LOG_PREVIOUS, l.SMALL_BYTES_MAX);
  const older = at(l.LOG_PREVIOUS, () => parseNote(bytes));
  const previous = signedHead(check, l.LOG_PREVIOUS, keyOf(check, older, heads.logKey)).head;
  const { head } = heads.global;
  checkGrowth(check, l.LOG_CONSISTENCY, previous, head);
  return previous;
}

/** Checks the hashes of a file that lead from an older head to a newer one. */
export function checkGrowth(check: Check, name: string, older: Checkpoint, newer: Checkpoint): void {
  const text = check.text(name);
  const intro = `hermit-consistency/1\nold ${older.size}\nnew ${newer.size}\n`;
  const hashes = text.startsWith(intro) ? text.slice(intro.length).split("\n") : [];
  if (hashes.pop() !== "" || hashes.length > PROOF_LEN_MAX) {
    throw new Stop(name, `it is not the way from ${older.size} notes to ${newer.size}, spelled as it should be`);
  }
  const path = at(name, () => hashes.map((hash) => hexExact("digest", hash, 32)));
  const fault = consistencyFault(older.size, newer.size, older.root, newer.root, path);
  if (fault !== undefined) throw new Stop(name, `this consistency proof does not hold: ${fault}`);
}

function signedHead(check: Check, name: string, key: VerifierKey): Head {
  const note = check.whole(name, l.SMALL_BYTES_MAX);
  const head = at(name, () => openCheckpoint(note, key));
  if (head.size === 0n) throw new Stop(name, "it signs an empty tree, which proves nothing");
  return { head, note };
}

/** Checks that a note stands in the global log, under the very checkpoint that is in the bundle. */
export function inLog(check: Check, name: string, note: Uint8Array, global: Head): bigint {
  const text = at(name, () => parseNote(note).text);
  const proof = readProof(check, name, global);
  standsIn(name, proof, leafHash(utf8(text)), global.head);
  return proof.index;
}

/** Reads a proof that must be spelled our way and end in the checkpoint `head`. */
export function readProof(check: Check, name: string, head: Head): TlogProof {
  const proof = anyProof(check, name);
  if (!same(proofHead(proof), head.note)) throw new Stop(name, "it leads to another checkpoint than the one in the bundle");
  return proof;
}

export function anyProof(check: Check, name: string): TlogProof {
  const bytes = check.whole(name, l.SMALL_BYTES_MAX);
  return at(name, () => parseProof(bytes));
}

/** Checks a proof against a head whose signature was checked already. */
export function standsIn(name: string, proof: TlogProof, leaf: Uint8Array, head: Checkpoint): void {
  const fault = inclusionFault(leaf, proof.index, head.size, proof.hashes, head.root);
  if (fault !== undefined) throw new Stop(name, `this inclusion proof does not hold: ${fault}`);
}
