// What the page says of anchors and of the clocks that they are made at.
import type { Anchor, AtClock, ClockSettings } from "~/ipc/generated/anchors";
import type { AnchorClock, AnchorState } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { type Look, capital, count, plain } from "~/screen/words";

/** Clocks in the order of the page: what is free first. */
export const CLOCKS: readonly AnchorClock[] = ["rfc3161", "opentimestamps", "op_return"];

const CLOCK: Readonly<Record<AnchorClock, string>> = { rfc3161: "Time-stamp authority", opentimestamps: "OpenTimestamps", op_return: "Your own Bitcoin transaction" };

export function clockName(clock: AnchorClock): string {
  return lookUp(CLOCK, clock, capital(plain(clock)));
}

const ABOUT: Readonly<Record<AnchorClock, string>> = {
  rfc3161: "answers at once with a signed time; you trust whoever runs it",
  opentimestamps: "calendars put it into Bitcoin within hours, free of charge",
  op_return: "costs a fee, which its card names",
};

export function clockAbout(clock: AnchorClock): string {
  return lookUp(ABOUT, clock, "");
}

/** Whether anything is set by which a clock can be asked. */
export function isSet(clock: AnchorClock, by: ClockSettings): boolean {
  if (clock === "rfc3161") return by.authorities.length > 0;
  if (clock === "opentimestamps") return by.calendars.length > 0;
  return by.bitcoin_node !== null;
}

const STATE: Readonly<Record<AnchorState, Look>> = {
  pending: { tone: "mute", mark: "idle", word: "Pending" },
  anchored: { tone: "done", mark: "done", word: "Anchored" },
  withdrawn: { tone: "unknown", mark: "unknown", word: "Withdrawn" },
  failed: { tone: "failed", mark: "failed", word: "Failed" },
};

export function stateLook(state: AnchorState): Look {
  return lookUp(STATE, state, { tone: "mute", mark: "idle", word: capital(plain(state)) });
}

/** Whether a clock can be asked how it stands. */
export function isOpen(one: AtClock): boolean {
  return one.state === "pending" || one.state === "withdrawn";
}

/** What an anchor is of. */
export function ofWhat(one: Anchor): string {
  return one.of === "link" ? `Link ${one.size} of the identity` : `The head of the log with ${count(one.size, "note")}`;
}

/** Addresses, one a line or with blanks between. */
export function addresses(text: string): string[] {
  return text.split(/\s+/).filter((one) => one !== "");
}

/** A whole number from `min` to `max`, or null. */
export function wholeFrom(text: string, min: number, max: number): number | null {
  const number = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : null;
}
