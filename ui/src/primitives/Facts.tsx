import type { ReactNode } from "react";
import styles from "./Facts.module.css";

/** Names and values in two columns; rows without a value are left out. */
export function Facts({ rows, ruled = false, wide = false }: { rows: readonly (readonly [string, ReactNode] | null)[]; ruled?: boolean; wide?: boolean }) {
  return (
    <dl className={styles.facts} data-ruled={ruled || undefined} data-wide={wide || undefined}>
      {rows.map((row) =>
        row === null ? null : (
          <div key={row[0]}>
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** How much of a limit is used. */
export function Meter({ used, held = 0, of, label }: { used: number; held?: number; of: number; label: string }) {
  const part = (n: number) => `${of === 0 ? 0 : Math.min(100, (n / of) * 100)}%`;
  return (
    <div className={styles.meter} role="meter" aria-label={label} aria-valuenow={used} aria-valuemin={0} aria-valuemax={of}>
      <i style={{ width: part(used) }} />
      {held > 0 && <i data-held style={{ width: part(held) }} />}
    </div>
  );
}
