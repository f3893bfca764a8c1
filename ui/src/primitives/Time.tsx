import { useSyncExternalStore } from "react";

// One clock for every relative time, so that a screen of them ticks once.
const TICK_MS = 15_000;
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The same until a tick has passed: two looks in a row must agree, also when a millisecond ends between them. */
function current(): number {
  if (listeners.size === 0 && Date.now() - now >= TICK_MS) now = Date.now();
  return now;
}

export function useNow(): number {
  return useSyncExternalStore(listen, current);
}

const STEPS = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"]] as const;

/** `3 min`, `2 h`, `4 d`; `now` below a minute. */
export function span(ms: number): string {
  for (const [size, unit] of STEPS) if (ms >= size) return `${Math.floor(ms / size)} ${unit}`;
  return "now";
}

/** What is ahead is rounded: seven days less a moment are seven days. */
function ahead(ms: number): string {
  for (const [size, unit] of STEPS) if (ms >= size - 30_000) return `${Math.round(ms / size)} ${unit}`;
  return "now";
}

/** Length of something that took a while. */
export function took(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return span(ms);
}

// Made once: making one takes a hundred times as long as using it, and a list has many times.
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** A sentence in which times are this machine's: the wire tells them in UTC, such as `2026-11-24 16:54:05Z`. */
export function localTimes(text: string): string {
  return text.replace(/\b(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)Z/g, (whole, day: string, clock: string) => {
    const at = Date.parse(`${day}T${clock}Z`);
    return Number.isNaN(at) ? whole : `${DAY.format(at)} ${CLOCK.format(at)}`;
  });
}

/** A line of a card, its time by this machine's clock. Other lines hold the words of whoever asks, in which nothing is changed. */
export function cardLine(line: string): string {
  return line.startsWith("asked at ") ? localTimes(line) : line;
}

export function exact(ms: number): string {
  return EXACT.format(ms);
}

/** A time: how long ago (or until), exact on hover; `clock` shows it by the clock. */
export function Time({ at, clock = false, ago = false }: { at: number; clock?: boolean; ago?: boolean }) {
  const current = useNow();
  const gone = current - at;
  const clocked = () => {
    const text = CLOCK.format(at);
    return Math.abs(gone) > 20 * 3_600_000 ? `${DAY.format(at)} ${text}` : text;
  };
  // The clock of this page ticks now and then: what happened since its last tick has happened.
  const relative = ago || gone > -TICK_MS ? span(Math.max(0, gone)) + (ago && gone >= 60_000 ? " ago" : "") : `in ${ahead(-gone)}`;
  return (
    <time dateTime={new Date(at).toISOString()} title={exact(at)}>
      {clock ? clocked() : relative === "in now" ? "in a moment" : relative}
    </time>
  );
}
