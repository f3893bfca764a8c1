/** What the reader has opened, trusted and changed, and the verdict on it. */
import { utf8 } from "../verify/read/bytes.ts";
import { verify, type Checked } from "../verify/check.ts";
import { parseCheckpoint, parseNote } from "../verify/note.ts";
import { Stop } from "../verify/read/stop.ts";
import type { Headers } from "../verify/clocks/bitcoin.ts";
import type { Certificate } from "../verify/clocks/x509.ts";
import { parseTrust, type Trust } from "../verify/trust.ts";
import { openZip, type Zip } from "../verify/zip.ts";
import { tell, type Story } from "./story.ts";

export const VIEWS = ["verdict", "answers", "receipts", "timeline", "artifacts", "bytes"] as const;
export type View = (typeof VIEWS)[number];

/** A bundle that is open. */
export interface Opened {
  name: string;
  /** The bytes as they were dropped. */
  original: Uint8Array;
  /** The bytes as the reader has changed them; what is checked. */
  bytes: Uint8Array;
  /** Where they differ, with what was there. */
  flips: Map<number, number>;
  /** The untouched files, if it could be opened at all. */
  zip?: Zip;
  story: Story;
  checked: Checked;
  /** How long the last check took, in milliseconds. */
  took: number;
}

export interface State {
  opened?: Opened;
  view: View;
  trustText: string;
  trust: Trust[];
  trustFault?: string;
  /** A checkpoint of the log that the reader has from before. */
  since?: Uint8Array;
  sinceFault?: string;
  /** What the reader gave to check clocks with. */
  clocks: { authorities: Certificate[]; headers?: Headers };
  receipt?: string;
  event?: number;
  artifact?: string;
  /** File shown as bytes; empty for the whole zip. */
  file: string;
  /** Byte chosen in it. */
  offset: number;
}

export function fresh(): State {
  return { view: "verdict", trustText: "", trust: [], clocks: { authorities: [] }, file: "", offset: 0 };
}

const NOTHING: Story = { events: [], artifacts: [], receipts: [], answers: [], statement: null };

function list(bytes: Uint8Array): Zip | undefined {
  try {
    return openZip(bytes);
  } catch (error) {
    if (error instanceof Stop) return undefined;
    throw error;
  }
}

/** Opens a file that was dropped or chosen. */
export function open(state: State, name: string, original: Uint8Array): void {
  const zip = list(original);
  const story = zip ? tell(zip) : NOTHING;
  const opened: Opened = { name, original, bytes: original, flips: new Map(), story, checked: judge(original, state), took: 0 };
  if (zip) opened.zip = zip;
  state.opened = opened;
  state.view = "verdict";
  // Acts come before the approvals of acts: what was done is what a reader asks for first.
  const acts = story.receipts.filter(({ statement }) => !JSON.stringify(statement).includes('"receipt_class":"approval_resolution"'));
  const first = acts[0] ?? story.receipts[0];
  delete state.receipt;
  delete state.event;
  delete state.artifact;
  if (first) state.receipt = first.id;
  state.file = zip?.sizes.has("task/events.jsonl") ? "task/events.jsonl" : "";
  state.offset = 0;
  recheck(state);
}

export function judge(bytes: Uint8Array, { trust, since, clocks }: Pick<State, "trust" | "since" | "clocks">): Checked {
  return verify(() => openZip(bytes), trust, since, clocks);
}

/** Checks the bytes as they are now. */
export function recheck(state: State): void {
  const { opened } = state;
  if (!opened) return;
  const began = performance.now();
  opened.checked = judge(opened.bytes, state);
  opened.took = performance.now() - began;
}

/** Takes the keys the reader names, one or several, separated by blank lines or commas. */
export function nameKeys(state: State, text: string): void {
  state.trustText = text;
  state.trust = [];
  delete state.trustFault;
  const blocks = text.split(/\n\s*\n|,/).map((block) => block.trim()).filter((block) => block !== "");
  try {
    state.trust = blocks.map(parseTrust);
  } catch (error) {
    state.trustFault = error instanceof Error ? error.message : String(error);
  }
  recheck(state);
}

/** Takes a checkpoint of the log that the reader has from before, as its text; nothing when the field is empty. */
export function nameSince(state: State, text: string): void {
  delete state.since;
  delete state.sinceFault;
  // A note ends in one newline, which is easily lost on the way through a clipboard.
  const note = utf8(`${text.trim()}\n`);
  if (text.trim() !== "") {
    try {
      parseCheckpoint(parseNote(note).text);
      state.since = note;
    } catch (error) {
      state.sinceFault = error instanceof Error ? error.message : String(error);
    }
  }
  recheck(state);
}

/** Changes one byte of the zip; a byte that is as it was is no change. */
export function setByte(opened: Opened, at: number, value: number): void {
  if (opened.bytes === opened.original) opened.bytes = opened.original.slice();
  opened.bytes[at] = value;
  const was = opened.original[at] ?? 0;
  if (was === value) opened.flips.delete(at);
  else opened.flips.set(at, was);
}

/** Puts every byte back. */
export function restore(opened: Opened): void {
  opened.bytes = opened.original;
  opened.flips.clear();
}

/** Where the bytes of a file stand in the zip; the whole zip for no name. */
export function spanOf(opened: Opened, file: string): { start: number; end: number } {
  return (file === "" ? undefined : opened.zip?.span(file)) ?? { start: 0, end: opened.bytes.length };
}

/** Which file a byte of the zip belongs to, and where in it. */
export function placeOf(opened: Opened, at: number): { file: string; offset: number } | undefined {
  for (const file of opened.zip?.sizes.keys() ?? []) {
    const span = opened.zip?.span(file);
    if (span && at >= span.start && at < span.end) return { file, offset: at - span.start };
  }
  return undefined;
}
