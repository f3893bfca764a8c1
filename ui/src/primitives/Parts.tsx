// The first rows of many, and the way to more of them: what nobody asked to see is not drawn.
import { type ReactNode, useState } from "react";
import { Button } from "./Button";
import { many } from "./number";
import styles from "./Parts.module.css";

/** Rows that are drawn in one go within a few milliseconds, tables included. */
const STEP = 50;

/**
 * The rows to draw, and what leads to the rest. `reach` is a row that must be among them; `pages` are asked where the rows
 * that are here come to an end.
 */
export function useParts<T>(rows: readonly T[], { reach = -1, pages }: { reach?: number; pages?: { more: boolean; further: () => void } | undefined } = {}): { shown: readonly T[]; rest: ReactNode } {
  const [wanted, setWanted] = useState(STEP);
  const to = Math.max(wanted, Math.ceil((reach + 1) / STEP) * STEP);
  const left = rows.length - to;
  const more = pages?.more === true;
  const go = () => {
    if (left < STEP && more) pages?.further();
    setWanted(to + STEP);
  };
  const rest = left <= 0 && !more ? null : (
    <p className={styles.rest}><Button look="link" onClick={go}>Show more</Button><span>{left > 0 ? `${many(left)}${more ? "+" : ""} not shown` : "There are more"}</span></p>
  );
  return { shown: rows.slice(0, to), rest };
}
