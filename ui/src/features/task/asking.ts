// Who is asked in a turn, in words.
import type { Proposer } from "~/ipc/generated/words";

/** What is waited for once a turn has begun: only a model is asked over a wire, and has a context that counts. */
export const WAITS: Readonly<Record<Proposer, string>> = {
  openai: "Waiting for the model", recorded: "Reading the recorded answer", scripted: "Reading the answer", playbook: "Choosing the next step of the playbook",
  rollback: "Planning the undo", session: "Waiting for the other agent", tools: "Preparing the question",
  guest: "Preparing the agent's turn",
};
export function asked(proposer: Proposer | null, size: string): string {
  switch (proposer) {
    case "playbook": return "Next step of the playbook";
    case "session": return "Next call of the other agent";
    case "guest": return "Next turn of the agent";
    case "rollback": return "Planned the undo";
    case "tools": return "Prepared the question";
    default: return `Asked the model (${size})`;
  }
}
