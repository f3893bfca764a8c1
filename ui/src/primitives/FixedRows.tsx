// Very many rows of one height: those in sight exist, and nothing is worked out for the others. The list is one stop of
// Tab, which arrows, page keys, Home and End scroll; what is in a row is reached from there.
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import styles from "./VirtualRows.module.css";

/** Rows that exist above and below those in sight. */
const OVER = 12;
/** Pixels in sight before anybody has looked. */
const SEEN = 600;

export function FixedRows({ count, height, label, children }: { count: number; height: number; label: string; children: (at: number) => ReactNode }) {
  const scroll = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [seen, setSeen] = useState(SEEN);
  useLayoutEffect(() => {
    const pane = scroll.current;
    if (pane === null || typeof ResizeObserver === "undefined") return;
    const watch = new ResizeObserver(() => setSeen(pane.clientHeight || SEEN));
    watch.observe(pane);
    return () => watch.disconnect();
  }, []);
  const first = Math.max(0, Math.min(count, Math.floor(top / height)) - OVER);
  const last = Math.min(count, Math.ceil((top + seen) / height) + OVER);
  return (
    <div ref={scroll} className={styles.scroll} role="list" aria-label={label} tabIndex={0} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <div className={styles.all} role="presentation" style={{ height: count * height }}>
        {Array.from({ length: Math.max(0, last - first) }, (_, by) => first + by).map((at) => (
          <div key={at} role="listitem" aria-posinset={at + 1} aria-setsize={count} className={styles.at} style={{ height, transform: `translateY(${at * height}px)` }}>{children(at)}</div>
        ))}
      </div>
    </div>
  );
}
