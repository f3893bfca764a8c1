// What stands in the packet that is approved, without the lists that are read part by part.
import type { Approval } from "~/ipc/generated/approvals";
import { PROFILE, type Profile, TOOL, type Tool } from "~/ipc/generated/words";
import { oneOf } from "~/ipc/words";

export interface Packet {
  action: Record<string, unknown> & { tool: Tool | null };
  reasons: string[];
  rules: string[];
  goal: string;
  rationale: string;
  rollback: string;
  witness: { id: string; observedAt: number; found: number } | null;
  sandbox: string | null;
  profile: Profile | null;
  stepId: string;
  attemptId: string;
  ran: Ran | null;
  guest: Guest | null;
}

/** Whose work a change set is, where the agent of another program made it on its copy. */
export interface Guest {
  name: string;
  /** Why its turn was no success; empty where it was one. */
  error: string;
  /** Whether it tells what it changes at all. */
  tells: boolean;
  /** Places that its copy shows as changed and that it did not tell of. */
  untold: string[];
  /** Places that hold other bytes than it told. */
  differs: string[];
}

/** What a command did in a copy of the folder, before anybody was asked. */
export interface Ran {
  exitCode: number | null;
  error: string;
  tookMs: number;
  /** Why a person is asked to look at what it printed. */
  lookFirst: string;
  leftOut: { path: string; entries: number }[];
  notes: string[];
  printed: string;
  printedBytes: number;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
const word = (value: unknown) => (typeof value === "string" ? value : "");
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export function readPacket(approval: Approval): Packet | null {
  try {
    const packet = record(approval.outline);
    const policy = record(packet["policy_result"]);
    const request = record(packet["action_request"]);
    const action = record(request["action"]);
    const witness = packet["state_witness"] === null ? null : record(packet["state_witness"]);
    return {
      action: { ...action, tool: oneOf(TOOL, action["tool"]) },
      reasons: word(packet["risk_summary"]).split("; ").filter(Boolean),
      rules: list(policy["determining_rules"]).map(word),
      goal: word(packet["goal"]),
      rationale: word(packet["rationale"]),
      rollback: word(packet["rollback_availability"]),
      witness: witness === null ? null : {
        id: word(witness["witness_id"]),
        observedAt: typeof witness["observed_at"] === "number" ? witness["observed_at"] : 0,
        found: approval.checked,
      },
      sandbox: word(policy["sandbox_level"]) || null,
      profile: oneOf(PROFILE, policy["policy_profile"]),
      stepId: word(packet["step_id"]),
      attemptId: word(packet["attempt_id"]),
      ran: ranOf(request["staged"], packet["staged"]),
      guest: guestOf(request["guest"]),
    };
  } catch {
    return null;
  }
}

function guestOf(work: unknown): Guest | null {
  if (typeof work !== "object" || work === null) return null;
  const of = record(work);
  return { name: word(of["guest"]), error: word(of["error"]), tells: Array.isArray(of["told"]), untold: list(of["untold"]).map(word), differs: list(of["differs"]).map((one) => word(record(one)["path"])) };
}

function ranOf(staged: unknown, view: unknown): Ran | null {
  if (typeof staged !== "object" || staged === null) return null;
  const [run, seen] = [record(staged), record(view)];
  const number = (value: unknown) => (typeof value === "number" ? value : 0);
  return {
    exitCode: typeof run["exit_code"] === "number" ? run["exit_code"] : null,
    error: word(run["error"]),
    tookMs: Math.max(0, number(run["finished_at"]) - number(run["started_at"])),
    lookFirst: word(run["look_first"]),
    leftOut: list(run["left_out"]).map(record).map((one) => ({ path: word(one["path"]), entries: number(one["entries"]) })),
    notes: list(run["notes"]).map(word),
    printed: word(seen["printed"]),
    printedBytes: number(seen["printed_bytes"]),
  };
}

/** The command of an action that is one; every word of it. */
export function commandOf(packet: Packet): { argv: string[]; cwd: string; network: boolean } | null {
  if (packet.action.tool !== "command") return null;
  return { argv: list(packet.action["argv"]).map(word), cwd: word(packet.action["cwd"]), network: packet.action["network"] === true };
}

/** The call of a tool of a server that is one: which tool, with which arguments, and how its server is started. */
export function callOf(packet: Packet | null): { server: string; tool: string; argv: string[]; given: string } | null {
  if (packet?.action.tool !== "call") return null;
  const given = word(packet.action["arguments"]);
  return { server: word(packet.action["server"]), tool: word(packet.action["name"]), argv: list(record(packet.action["launch"])["argv"]).map(word), given: laidOut(given) };
}

function laidOut(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** A word as a shell would need it, so that where one ends is seen. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
