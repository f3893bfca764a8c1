// Who proposes in a task, and whether words reach it.
import type { Proposer } from "~/ipc/generated/words";

/** Who proposes, as it is called on the screen. */
export function agentOf({ reasoner, row }: { reasoner: string; row: { proposer: Proposer | null } }): "Model" | "Playbook" | "Hermit" | "Agent" {
  // Before it begins, its contract's own line says who it will be.
  if (row.proposer === "playbook" || reasoner.startsWith("playbook:")) return "Playbook";
  if (row.proposer === "guest" || reasoner.startsWith("guest:")) return "Agent";
  return hearsWords(row) ? "Model" : "Hermit";
}

/** Whether words reach a task: one that does what was asked for, in one plan, is answered by its card alone. */
export const hearsWords = ({ proposer }: { proposer: Proposer | null }): boolean => proposer !== "rollback" && proposer !== "tools";
