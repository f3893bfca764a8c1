// Many rows of one height, of which only those in sight exist.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import styles from "./VirtualRows.module.css";

/** Below this many rows all of them exist, so that a page can be searched and read aloud whole. */
const ALL_MAX = 120;

/** So many rows before the end, what follows is asked for. */
const NEAR = 100;

export function VirtualRows<T>({
  rows,
  height,
  rowKey,
  children,
  role,
  onEnd,
}: {
  rows: readonly T[];
  height: number;
  rowKey: (row: T) => string;
  children: (row: T, at: number) => ReactNode;
  role?: string;
  /** The last rows there are have come near: more may be wanted. */
  onEnd?: (() => void) | undefined;
}) {
  const scroll = useRef<HTMLDivElement>(null);
  const few = rows.length <= ALL_MAX;
  const virtual = useVirtualizer({
    count: few ? 0 : rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => height,
    overscan: 12,
  });
  const last = virtual.getVirtualItems().at(-1)?.index ?? -1;
  const isNear = !few && last >= rows.length - NEAR;
  useEffect(() => {
    if (isNear) onEnd?.();
  }, [isNear, rows.length, onEnd]);
  return (
    <div ref={scroll} className={styles.scroll} role={role}>
      {few ? (
        rows.map((row, at) => <Row key={rowKey(row)}>{children(row, at)}</Row>)
      ) : (
        <div className={styles.all} role="presentation" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return row === undefined ? null : (
              <div key={rowKey(row)} className={styles.at} role="presentation" style={{ transform: `translateY(${item.start}px)` }}>
                {children(row, item.index)}
              </div>
            );
          })}
        </div>
      )}
    </div>
  );
}

function Row({ children }: { children: ReactNode }) {
  return <>{children}</>;
}
