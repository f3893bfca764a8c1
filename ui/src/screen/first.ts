// What a list shows beside itself while nobody has chosen: the first of it, which stays while it is there, whatever comes before it
// meanwhile. A form in it is not taken from whoever fills it in.
import { useState } from "react";

/** What was chosen; else what was shown last, or the first. `order`: by which a person has the list; another one begins anew. */
export function useFirst<T>(rows: readonly T[], keyOf: (row: T) => string, chosen: string | null | undefined, order = ""): T | undefined {
  const [kept, keep] = useState<{ key: string; order: string }>();
  const last = kept?.order === order ? kept.key : undefined;
  const found = rows.find((row) => keyOf(row) === chosen) ?? rows.find((row) => keyOf(row) === last) ?? rows[0];
  const key = found === undefined ? undefined : keyOf(found);
  if (key !== undefined && key !== last) keep({ key, order });
  return found;
}
