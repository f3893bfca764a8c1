/** The signed heads: of the global log, of the task, of the gate, each in its place. */
import { same, utf8 } from "./bytes.ts";
import type { Check } from "./check.ts";
import * as l from "./layout.ts";
import type { Predicate } from "./manifest.ts";
import { hex } from "./bytes.ts";
import { inclusionFault, leafHash } from "./merkle.ts";
import { openCheckpoint, parseNote, parseProof, proofHead, VerifierKey, type Checkpoint, type TlogProof } from "./note.ts";
import { at, Stop } from "./stop.ts";

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
  /** Whether anybody but the log key signed the global head. */
  cosigned: boolean;
}

export function checkHeads(check: Check, about: Predicate): Heads {
  const key = check.keys.log;
  if (!key) throw new Stop(l.KEY_LOG, "it is missing");
  const log = `hermit.local/${about.log_id}`;
  const [logKey, taskKey, gateKey] = at("the statement", () => {
    return [new VerifierKey(log, key), new VerifierKey(`${log}/task/${about.task_id}`, key), new VerifierKey(`${log}/gate`, key)] as const;
  });
  if (check.text(l.KEY_VKEYS) !== `${logKey}\n${taskKey}\n${gateKey}\n`) {
    throw new Stop(l.KEY_VKEYS, "it names another key, log or task than this bundle");
  }
  const global = signedHead(check, l.LOG_CHECKPOINT, logKey);
  const task = signedHead(check, l.TASK_CHECKPOINT, taskKey);
  if (task.head.size !== BigInt(about.task_size) || hex(task.head.root) !== about.task_root) {
    throw new Stop(l.TASK_CHECKPOINT, "its size or root is not the statement's");
  }
  const taskIndex = inLog(check, l.TASK_CHECKPOINT_PROOF, task.note, global);
  const heads = { global, task, taskIndex, cosigned: parseNote(global.note).signatures.length > 1 };
  if (!check.has(l.GATE_CHECKPOINT)) return heads;
  const gate = signedHead(check, l.GATE_CHECKPOINT, gateKey);
  inLog(check, l.GATE_CHECKPOINT_PROOF, gate.note, global);
  return { ...heads, gate };
}

function signedHead(check: Check, name: string, key: VerifierKey): Head {
  const note = check.whole(name, l.SMALL_BYTES_MAX);
  const head = at(name, () => openCheckpoint(note, key));
  if (head.size === 0n) throw new Stop(name, "it signs an empty tree, which proves nothing");
  return { head, note };
}

/** Checks that a note stands in the global log, under the very checkpoint that is in the bundle. */
function inLog(check: Check, name: string, note: Uint8Array, global: Head): bigint {
  const text = at(name, () => parseNote(note).text);
  const proof = readProof(check, name, global);
  standsIn(name, proof, leafHash(utf8(text)), global.head);
  return proof.index;
}

/** Reads a proof that must be spelled our way and end in the checkpoint `head`. */
export function readProof(check: Check, name: string, head: Head): TlogProof {
  const bytes = check.whole(name, l.SMALL_BYTES_MAX);
  const proof = at(name, () => parseProof(bytes));
  if (!same(proofHead(proof), head.note)) throw new Stop(name, "it leads to another checkpoint than the one in the bundle");
  return proof;
}

/** Checks a proof against a head whose signature was checked already. */
export function standsIn(name: string, proof: TlogProof, leaf: Uint8Array, head: Checkpoint): void {
  const fault = inclusionFault(leaf, proof.index, head.size, proof.hashes, head.root);
  if (fault !== undefined) throw new Stop(name, `this inclusion proof does not hold: ${fault}`);
}
