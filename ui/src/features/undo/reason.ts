// Why no undo takes back what a receipt tells of.
import type { Receipt } from "~/ipc/generated/receipts";

/** The method by which the statement of a receipt says that it is taken back; null where it says none. */
function methodOf({ receipt }: Receipt): unknown {
  const rollback: unknown = typeof receipt === "object" && receipt !== null && "rollback" in receipt ? receipt.rollback : null;
  return typeof rollback === "object" && rollback !== null && "method" in rollback ? rollback.method : null;
}

/** Why the act cannot be undone; null where it can. What Hermit may do and what it remembers are taken back by a change of their own. */
export function noUndo(of: Receipt): string | null {
  const { row } = of;
  if (row.undone_by !== null) return "It was undone already";
  if (row.reversibility === "no_effect") return "It changed nothing";
  if (row.reversibility === "irreversible") return "It cannot be undone";
  if (row.action_class === "durable_memory_write") return "No undo: take the record back on the page Knowledge";
  const method = methodOf(of);
  if (row.action_class === "capability_change" && (method === "none" || (method === null && row.reversibility === "partial"))) return "No undo: change this setting of Hermit again";
  return method === "none" ? "No undo: nothing is kept of what was there before" : null;
}
