// What a person has begun to write, and what of it was sent and is not known to be taken: kept by this browser, whatever
// happens to the page, and read by every part of it that shows it. No passphrase and no secret is ever one of these.
import { useCallback, useMemo, useSyncExternalStore } from "react";

/** What is quoted: a message, question, receipt, or an attempt for its last words; all of it, or a passage. */
export interface Quoted { id: string; text: string; isPart?: boolean }
/** A file that was taken in and comes with words. */
export interface FileWith { id: string; name: string; size: number; media: string }
/** What comes with a draft. */
export interface With { quoted: Quoted | null; files: readonly FileWith[]; isSpoken?: boolean }

/** Words as they were sent. The same words to the same target are the same message, however often they are sent. */
export interface Sent {
  text: string;
  /** To what: the key of a target. */
  to: string;
  /** When they are heard. */
  mode: string;
  quoted: Quoted | null;
  files: readonly FileWith[];
  /** Whether some of it was spoken. */
  isSpoken?: boolean;
}
/** The same with the key by which the host knows the message again. */
export interface Sending extends Sent { key: string }

const DRAFT = "hermit.draft.";
const SENDING = "hermit.sending.";
const WITH = "hermit.with.";
const TAB = "hermit.tab.";
/** A message takes no more; a longer draft is kept by the page alone. */
const KEPT_MAX = 65_536;

/** What the browser does not keep lives as long as the page. */
const unkept = new Map<string, string>();
const listeners = new Set<() => void>();

/** What is written at one place only is kept by its tab: it outlives a reload, and no other tab shows it. */
const storeOf = (name: string): Storage => (name.startsWith(TAB) ? sessionStorage : localStorage);

function read(name: string): string {
  const here = unkept.get(name);
  if (here !== undefined) return here;
  try {
    return storeOf(name).getItem(name) ?? "";
  } catch {
    return "";
  }
}

/** Nothing is kept of nothing. */
function keep(name: string, value: string): void {
  unkept.delete(name);
  try {
    if (value === "" || value.length > KEPT_MAX) storeOf(name).removeItem(name);
    else storeOf(name).setItem(name, value);
  } catch {
    // It is full, or keeps nothing.
  }
  if (read(name) !== value) unkept.set(name, value);
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  // Another page of this browser.
  addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", listener);
  };
}

function isQuoted(found: Partial<Quoted> | null | undefined): found is Quoted {
  return found != null && typeof found.id === "string" && typeof found.text === "string";
}

function isFile(found: Partial<FileWith> | null): found is FileWith {
  return found !== null && [found.id, found.name, found.media].every((one) => typeof one === "string") && typeof found.size === "number";
}

/** What comes with words, as far as it is that. */
function withOf(found: { quoted?: unknown; files?: unknown; isSpoken?: unknown }): With {
  const quoted = found.quoted as Partial<Quoted> | null | undefined;
  const files = Array.isArray(found.files) ? (found.files as (Partial<FileWith> | null)[]) : [];
  return { quoted: isQuoted(quoted) ? quoted : null, files: files.filter(isFile), ...(found.isSpoken === true ? { isSpoken: true } : {}) };
}

const NOTHING: With = { quoted: null, files: [] };

function parsedWith(raw: string): With {
  if (raw === "") return NOTHING;
  try {
    return withOf((JSON.parse(raw) as Parameters<typeof withOf>[0] | null) ?? {});
  } catch {
    return NOTHING;
  }
}

const isSameWith = (one: With, other: With) =>
  (one.isSpoken === true) === (other.isSpoken === true) && one.quoted?.id === other.quoted?.id && one.quoted?.text === other.quoted?.text && one.files.length === other.files.length && one.files.every((file, at) => file.id === other.files[at]?.id);

function keepWith(of: string, now: With): void {
  keep(WITH + of, now.quoted === null && now.files.length === 0 && now.isSpoken !== true ? "" : JSON.stringify(now));
}

/** What comes with the draft of a conversation or task, and what changes it: it is kept as the draft is, and goes with it. */
export function useWithOf(of: string): [With, (change: (now: With) => With) => void] {
  const raw = useSyncExternalStore(listen, () => read(WITH + of));
  const found = useMemo(() => parsedWith(raw), [raw]);
  const change = useCallback((next: (now: With) => With) => {
    keepWith(of, next(parsedWith(read(WITH + of))));
  }, [of]);
  return [found, change];
}

function parsed(raw: string): Sending | null {
  try {
    const found = raw === "" ? null : (JSON.parse(raw) as Partial<Sending> | null);
    const isWhole = found != null && [found.text, found.to, found.mode, found.key].every((one) => typeof one === "string");
    if (!isWhole) return null;
    return { ...(found as Sending), ...withOf(found) };
  } catch {
    return null;
  }
}

/** The draft of a conversation or task, and what sets it. An emptied one was given up, and what was sent of it is no more meant. */
export function useDraftOf(of: string): [string, (text: string) => void] {
  const text = useSyncExternalStore(listen, () => read(DRAFT + of));
  const set = useCallback((next: string) => {
    if (next.trim() === "") {
      keep(SENDING + of, "");
      const { quoted, files } = parsedWith(read(WITH + of));
      keepWith(of, { quoted, files });
    }
    keep(DRAFT + of, next);
  }, [of]);
  return [text, set];
}

/** What was begun in a form or a field of this tab, and what sets it, or makes the next of what it is. Nothing is left of an emptied one. */
export function useTabDraftOf(of: string): [string, (next: string | ((now: string) => string)) => void] {
  const text = useSyncExternalStore(listen, () => read(TAB + of));
  const set = useCallback((next: string | ((now: string) => string)) => keep(TAB + of, typeof next === "string" ? next : next(read(TAB + of))), [of]);
  return [text, set];
}

/** What was sent and is not known to be taken, as long as the draft has the same words. */
export function useUnanswered(of: string): Sending | null {
  const raw = useSyncExternalStore(listen, () => read(SENDING + of));
  const text = useSyncExternalStore(listen, () => read(DRAFT + of)).trim();
  return useMemo(() => {
    const found = parsed(raw);
    return found?.text === text ? found : null;
  }, [raw, text]);
}

/** Writes down what is about to be sent; its key is the one that it had before, if it is the same message. */
export function sends(of: string, sent: Sent): string {
  const before = parsed(read(SENDING + of));
  const isSame = before !== null && before.text === sent.text && before.to === sent.to && before.mode === sent.mode && isSameWith(before, sent);
  const key = isSame ? before.key : crypto.randomUUID();
  keep(SENDING + of, JSON.stringify({ ...sent, key }));
  return key;
}

/** It was taken: nothing is left of it. What was written meanwhile stays. */
export function isTaken(of: string, key: string | null | undefined): void {
  const sent = parsed(read(SENDING + of));
  if (sent === null || sent.key !== key) return;
  keep(SENDING + of, "");
  if (read(DRAFT + of).trim() === sent.text) keep(DRAFT + of, "");
  if (isSameWith(parsedWith(read(WITH + of)), sent)) keep(WITH + of, "");
}
