// Many rows, of which only those in sight exist. The rows are one stop of Tab; arrows, Home, End and the page keys move
// within, whether or not the row to go to exists yet.
import { type Range, defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type FocusEvent, type KeyboardEvent, type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import styles from "./VirtualRows.module.css";

/** Up to so many rows all of them exist, so that a page can be searched and read aloud whole. */
const ALL_MAX = 80;

/** So many rows before the end, what follows is asked for. */
const NEAR = 100;

const FOCUSABLE = "a[href], button, [tabindex]";

interface Props<T> {
  rows: readonly T[];
  /** Pixels of a row; of one that is `measured`, what it is likely to have. */
  height: number;
  /** Rows are as high as what is in them. */
  measured?: boolean;
  /** The same function each time, or every place is worked out anew. */
  rowKey: (row: T) => string;
  /** `stop` is the tabindex of what has the focus in a row: nought for one row, -1 for the others. */
  children: (row: T, at: number, stop: 0 | -1) => ReactNode;
  /** `list` names its rows to readers of screens; in a `rowgroup` the rows do that themselves. */
  role: "list" | "rowgroup";
  label?: string;
  /** Pixels above the first row and below the last. */
  pad?: readonly [number, number];
  /** Up to so many rows all of them exist. */
  whole?: number;
  /** The row to be in sight, whenever it becomes another one. */
  show?: number;
  /** The last rows there are have come near: more may be wanted. */
  onEnd?: (() => void) | undefined;
}

export function VirtualRows<T>({ rows, height, measured = false, rowKey, children, role, label, pad = [0, 0], whole = ALL_MAX, show = -1, onEnd }: Props<T>) {
  const scroll = useRef<HTMLDivElement>(null);
  const few = rows.length <= whole;
  const [held, setHeld] = useState<string | null>(null);
  const heldAt = useMemo(() => (held === null ? -1 : rows.findIndex((row) => rowKey(row) === held)), [rows, rowKey, held]);
  const stop = heldAt >= 0 ? heldAt : show >= 0 && show < rows.length ? show : 0;
  const virtual = useVirtualizer({
    count: few ? 0 : rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => height,
    getItemKey: useCallback((at: number) => keyAt(rows, rowKey, at), [rows, rowKey]),
    paddingStart: pad[0],
    paddingEnd: pad[1],
    overscan: 12,
    // The row that Tab leads to exists wherever the scroll stands: whoever is in it stays in it.
    rangeExtractor: useCallback((range: Range) => withStop(defaultRangeExtractor(range), stop, range.count), [stop]),
  });
  const bring = useCallback((at: number) => {
    if (few) void scroll.current?.querySelector(`[data-at="${at}"]`)?.scrollIntoView({ block: "nearest" });
    else virtual.scrollToIndex(at, { align: "auto" });
  }, [few, virtual]);

  const showKey = keyAt(rows, rowKey, show);
  useEffect(() => {
    if (show >= 0) bring(show);
    // Whenever it becomes another row, and not whenever it has another number.
  }, [showKey]);

  const toFocus = useRef(false);
  useLayoutEffect(() => {
    if (!toFocus.current || heldAt < 0) return;
    toFocus.current = false;
    bring(heldAt);
    const row = scroll.current?.querySelector(`[data-at="${heldAt}"]`);
    row?.querySelector<HTMLElement>(FOCUSABLE)?.focus({ preventScroll: true });
  }, [heldAt, bring]);

  const end = virtual.range?.endIndex ?? -1;
  const isNear = !few && end >= rows.length - NEAR;
  useEffect(() => {
    if (isNear) onEnd?.();
  }, [isNear, rows.length, onEnd]);

  const pressed = (event: KeyboardEvent<HTMLDivElement>) => {
    const from = placeOf(event.target);
    if (from === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor((scroll.current?.clientHeight ?? 0) / height) - 1);
    const by: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
    const step = by[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const to = Math.min(rows.length - 1, Math.max(0, from + step));
    toFocus.current = to !== from;
    setHeld(keyAt(rows, rowKey, to));
  };
  const focused = (event: FocusEvent<HTMLDivElement>) => {
    const at = placeOf(event.target);
    if (at !== null) setHeld(keyAt(rows, rowKey, at));
  };
  const around = (row: T, at: number) => ({
    "data-at": at,
    "data-first": at === 0 || undefined,
    "data-last": at === rows.length - 1 || undefined,
    ...(role === "list" ? { role: "listitem", "aria-posinset": at + 1, "aria-setsize": rows.length } : { role: "presentation" }),
    children: children(row, at, at === stop ? 0 : -1),
  });
  return (
    <div ref={scroll} className={styles.scroll} role={role} aria-label={label} onKeyDown={pressed} onFocus={focused}>
      {few ? (
        <div role="presentation" style={{ paddingBlock: `${pad[0]}px ${pad[1]}px` }}>
          {rows.map((row, at) => <div key={rowKey(row)} {...around(row, at)} />)}
        </div>
      ) : (
        <div className={styles.all} role="presentation" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return row === undefined ? null : (
              <div
                key={item.key} ref={measured ? virtual.measureElement : undefined} data-index={item.index}
                className={styles.at} style={{ transform: `translateY(${item.start}px)` }} {...around(row, item.index)}
              />
            );
          })}
        </div>
      )}
    </div>
  );
}

function keyAt<T>(rows: readonly T[], rowKey: (row: T) => string, at: number): string {
  const row = rows[at];
  return row === undefined ? "" : rowKey(row);
}

function withStop(range: number[], stop: number, many: number): number[] {
  if (stop >= many || range.includes(stop)) return range;
  return [...range, stop].sort((a, b) => a - b);
}

/** The number of the row that something is in; fields keep their keys for themselves. */
function placeOf(target: EventTarget): number | null {
  if (!(target instanceof Element) || target.matches("input, textarea, select")) return null;
  const at = target.closest("[data-at]")?.getAttribute("data-at");
  return at === null || at === undefined ? null : Number(at);
}
