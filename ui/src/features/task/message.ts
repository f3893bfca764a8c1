// What is said and done in a task, as a line of its conversation.
import type { Tone } from "~/primitives/Tag";
import { number, record, word } from "./events";

/** What came with a message: a quotation or a file, an artifact of the task. */
export interface Given { id: string; name: string; size: number; isQuote: boolean }

export interface Message {
  key: string;
  seq: number;
  at: number;
  /** `agent`: words of the model or playbook, which nobody has checked. `hermit`: what Hermit itself says. `did`: what was carried out or refused, from the log. */
  who: "you" | "agent" | "hermit" | "did" | "asks" | "other";
  /** Who sent it, of `other`: words that are not the person's own. */
  from: string;
  text: string;
  /** Receipts of what was done; of the last words, of everything done in the attempt. They prove the acts, not the words. */
  receipts: string[];
  /** The answer that ends an attempt. */
  final: boolean;
  approval: string | null;
  /** The request of what was done. */
  action: string | null;
  /** How it came out, of what was done. */
  tone: Tone;
  /** So many looks are told in this one line. */
  many: number;
  /** What came with it. */
  given: readonly Given[];
  /** Of a goal: whether the task has it still. */
  goal: "now" | "before" | null;
}

/** What an artifact is that came with a message; nothing for all others. */
export function givenBy(body: Record<string, unknown>): Given[] {
  const artifact = record(body["artifact"]);
  const kind = word(artifact["kind"]);
  if (word(artifact["class"]) !== "source" || (kind !== "quote" && kind !== "binary.attachment")) return [];
  return [{ id: word(artifact["artifact_id"]), name: word(artifact["task_local_alias"], "(erased)"), size: number(artifact["byte_size"]), isQuote: kind === "quote" }];
}
