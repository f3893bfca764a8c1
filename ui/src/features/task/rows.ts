// Which row of the timeline is meant.
import { type See, seeKey } from "~/screen/see";
import type { Row } from "./story";

/** The row that stands for what is chosen: the one that leads to it, and for an event that has none of its own, the row
 * it happened behind. Nowhere is -1. */
export function rowOf(rows: readonly Row[], see: See | null): number {
  if (see === null) return -1;
  const key = seeKey(see);
  const own = rows.findIndex((row) => seeKey(row.see) === key);
  return own >= 0 || see.kind !== "event" ? own : rows.findLastIndex((row) => row.seq <= see.seq);
}
