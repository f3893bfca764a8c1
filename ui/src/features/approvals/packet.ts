// What stands in the packet that is approved. Read from the exact bytes that are signed, and from nothing else.
import { decode64 } from "~/features/words";

export interface Packet {
  action: Record<string, unknown> & { tool: string };
  reasons: string[];
  rules: string[];
  goal: string;
  rationale: string;
  rollback: string;
  witness: { id: string; observedAt: number; found: number } | null;
  sandbox: string | null;
  profile: string;
  stepId: string;
  attemptId: string;
  resources: number;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
const word = (value: unknown) => (typeof value === "string" ? value : "");
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export function readPacket(base64: string): Packet | null {
  try {
    const packet = record(JSON.parse(new TextDecoder().decode(decode64(base64))));
    const policy = record(packet["policy_result"]);
    const request = record(packet["action_request"]);
    const action = record(request["action"]);
    const witness = packet["state_witness"] === null ? null : record(packet["state_witness"]);
    return {
      action: { ...action, tool: word(action["tool"]) },
      reasons: word(packet["risk_summary"]).split("; ").filter(Boolean),
      rules: list(policy["determining_rules"]).map(word),
      goal: word(packet["goal"]),
      rationale: word(packet["rationale"]),
      rollback: word(packet["rollback_availability"]),
      witness: witness === null ? null : {
        id: word(witness["witness_id"]),
        observedAt: typeof witness["observed_at"] === "number" ? witness["observed_at"] : 0,
        found: list(witness["fingerprints"]).length,
      },
      sandbox: word(policy["sandbox_level"]) || null,
      profile: word(policy["policy_profile"]),
      stepId: word(packet["step_id"]),
      attemptId: word(packet["attempt_id"]),
      resources: list(packet["impacted_resources"]).length,
    };
  } catch {
    return null;
  }
}

/** The command of an action that is one; every word of it. */
export function commandOf(packet: Packet): { argv: string[]; cwd: string; network: boolean } | null {
  if (packet.action.tool !== "command") return null;
  return { argv: list(packet.action["argv"]).map(word), cwd: word(packet.action["cwd"]), network: packet.action["network"] === true };
}

/** A word as a shell would need it, so that where one ends is seen. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
