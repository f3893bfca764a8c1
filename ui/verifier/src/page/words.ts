/** How things are said and shown: sizes, times, names of closed lists, and characters that would not show. */
import { HIDDEN } from "../../../src/primitives/hidden.ts";
import { h, hash } from "./dom.ts";

/** What cannot be seen, but for line breaks and tabs: texts have lines. */
const HIDDEN_IN_TEXT = new RegExp(`(?![\\n\\t])[${HIDDEN}]`, "gu");

/** Text with what would not show as `U+202E` chips, in its order. */
export function shown(text: string): Node[] {
  const parts: Node[] = [];
  let read = 0;
  for (const found of text.matchAll(HIDDEN_IN_TEXT)) {
    if (found.index > read) parts.push(document.createTextNode(text.slice(read, found.index)));
    const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    parts.push(h("span", { class: "hidden-char", title: "a character that would not show" }, `U+${code}`));
    read = found.index + found[0].length;
  }
  if (read < text.length) parts.push(document.createTextNode(text.slice(read)));
  return parts;
}

/** A sentence with its ids cut short; whole to a pointer and to a reader of the screen. */
export function ids(line: string): Node[] {
  const parts = line.split(/((?:task|rcp|apr|art)_[0-9a-f]{32}|\b[0-9a-f]{64}\b)/);
  return parts.flatMap((part, index) => (index % 2 === 1 ? [hash(part)] : shown(part)));
}

/** `1 file`, `2 files`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export function bytes(size: number): string {
  if (size < 1000) return count(size, "byte");
  const unit = size < 1_000_000 ? ["kB", 1000] as const : ["MB", 1_000_000] as const;
  return `${(size / unit[1]).toFixed(size / unit[1] < 10 ? 1 : 0)} ${unit[0]}`;
}

/** A time of the store's own clock, exact, in this reader's zone. */
export function moment(ms: number): HTMLElement {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return h("span", {}, String(ms));
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return h("time", { datetime: date.toISOString(), title: `${date.toISOString()}, by the clock of the machine that wrote it` }, `${day} ${clock}`);
}

/** The clock time alone, for a list of one day. */
export function clock(ms: number): HTMLElement {
  const time = moment(ms);
  time.textContent = (time.textContent ?? "").slice(-8);
  return time;
}

/** A code such as `write_local` as words. */
export function spoken(code: string): string {
  return code.replaceAll(/[_.]/g, " ");
}

/** A resource as a person knows it: the path of a file, decoded; anything else as it is. */
export function resourceName(resource: string): string {
  const file = /^file:wsp_[0-9a-f]{32}\/(.*)$/s.exec(resource)?.[1];
  if (file === undefined) return resource;
  try {
    return file === "" ? "the folder itself" : decodeURIComponent(file);
  } catch {
    return file;
  }
}

export const SURFACES: Record<string, string> = {
  terminal: "at a terminal",
  approval_window: "in the approval window",
  browser: "in a browser",
  test: "through the test kit",
  run_api: "through the run API",
  mcp: "through MCP",
  script: "from a script",
  main_window: "in the app's main window",
  notification: "from a notification",
  chat: "in a chat",
  mesh: "at another machine",
};

export const WALLS: Record<string, string> = {
  beneath: "Hermit's own access to files, beneath the folder",
  namespaces_landlock: "namespaces, Landlock and seccomp",
  namespaces: "namespaces, without Landlock",
  landlock: "in part, without namespaces: Landlock and seccomp",
  seatbelt: "Seatbelt",
  seatbelt_open: "not confined: Seatbelt did not refuse everything that was tried",
  app_container: "an AppContainer and a job object",
  restricted_token: "in part, with an open network: a restricted token and a job object",
  unconfined: "none",
  not_applicable: "nothing ran",
};

export const UNDO: Record<string, string> = {
  no_effect: "There is nothing to take back.",
  reversible: "Yes, completely, from what Hermit keeps.",
  partial: "In part.",
  irreversible: "No.",
};

export const POLICY: Record<string, string> = {
  allow: "Allowed without asking",
  require_approval: "A person must allow it first",
  deny: "Denied",
  downgrade: "Allowed only in a lesser form",
};

export const RESULT: Record<string, { word: string; tone: string; sign: string }> = {
  succeeded: { word: "Done", tone: "done", sign: "tick" },
  granted: { word: "Allowed by a person", tone: "wait", sign: "tick" },
  denied: { word: "Denied by a person", tone: "fail", sign: "cross" },
  failed: { word: "Not done", tone: "fail", sign: "cross" },
  partial: { word: "Done in part", tone: "moderate", sign: "half" },
  unknown_outcome: { word: "Outcome unknown", tone: "unknown", sign: "ask" },
};
