// The wire's words as a person reads them, in one place.
import type { Grant } from "~/ipc/generated/grants";
import type { PartOf, Text } from "~/ipc/generated/shared";
import type { TaskRow } from "~/ipc/generated/task";
import { type ActionClass, type ApprovalStatus, type Channel, type Origin, type PolicyVerdict, type Profile, type ResultCode, type RunStatus, SANDBOX_LEVEL, type SandboxLevel, type Surface, type TrustTier } from "~/ipc/generated/words";
import { lookUp, oneOf } from "~/ipc/words";
import type { MarkName } from "~/primitives/Icon";
import type { Tone } from "~/primitives/Tag";
import { many } from "~/primitives/number";

/** Words, or that they are erased. */
export function said(text: Text | null | undefined, absent = ""): string {
  if (text === null || text === undefined) return absent;
  return typeof text === "string" ? text : `(erased, ${text.erased.slice(0, 8)}…)`;
}

/** Who asks, and of which whole, a line each: the words of a card, a question and a receipt. They are others' words, and shown as such. */
export function whoAsks(of: { part_of?: PartOf | null; agent?: string | null }): { words: string; task: string | null }[] {
  const whole = of.part_of == null ? [] : [{ words: `Part of: ${said(of.part_of.goal)}`, task: of.part_of.task_id }];
  return of.agent == null ? whole : [...whole, { words: `Asked by: ${of.agent}`, task: null }];
}

/** One line for lists: identifiers in backticks short and bare. What is decided on is always shown whole instead. */
export function brief(text: string): string {
  return text.replace(/`?\b([a-z]{3,5}_)[0-9a-f]{26}([0-9a-f]{6})\b`?/g, "$1…$2");
}

/** Where a single grant stands. One that was taken back may have been used as well. */
export function grantStands(grant: Pick<Grant, "state" | "consumed_at">): string {
  return grant.state === "revoked" && grant.consumed_at !== null ? "revoked while in use" : plain(grant.state);
}

/** `awaiting_approval` as `awaiting approval`, `read_local` as `read local`. */
export function plain(word: string): string {
  return word.replaceAll("_", " ").replaceAll(".", " ");
}

const KIND: Readonly<Record<string, string>> = {
  "task contract": "goal of a task", "action result": "result of an act", "tool execution": "act carried out", "hermit change": "change of files",
};

/** What kind of thing stands in a lineage. */
export function kindWords(word: string): string {
  return lookUp(KIND, plain(word), plain(word));
}

const PROFILE: Readonly<Record<Profile, string>> = {
  readonly_analysis: "Read only", local_edit_allowed: "Ask before edits", network_read_allowed: "May read from the network",
  repo_mutation_gated: "Ask before Git changes", external_publish_gated: "Ask before publishing", destructive_denied: "Never delete", service: "Read and propose, in the background",
};

/** A profile as a person chooses it. */
export function profileName(profile: Profile): string {
  return lookUp(PROFILE, profile, capital(plain(profile)));
}

const CLASS: Readonly<Record<ActionClass, string>> = {
  read_local: "read files", write_local: "write files", delete_local: "move or delete files", execute_command: "run a command", network_read: "read from the network",
  network_write: "send to the network", credentialed_api_call: "use a secret", vcs_mutation: "change Git", publication: "publish", payment: "spend money",
  durable_memory_write: "remember", external_effect: "use a tool that nobody has classified", capability_change: "change what Hermit may do", policy_override: "override policy", rollback: "undo", approval_resolution: "answer an approval",
};

/** What kind of act it is, as rules tell kinds apart. */
export function className(kind: ActionClass): string {
  return lookUp(CLASS, kind, plain(kind));
}

const SURFACE: Readonly<Record<Surface, string>> = {
  terminal: "at the terminal", approval_window: "in the approval window", browser: "in the browser", test: "in a test", run_api: "through the API",
  mcp: "through MCP", script: "by a script", main_window: "in the app", notification: "in a notification", chat: "in a chat", mesh: "at another machine",
};

const CHANNEL: Readonly<Record<Channel, string>> = {
  cli: "at a terminal", app: "in the app", run_api: "through the API", mcp: "through MCP", webhook: "through a webhook", scheduler: "by a schedule",
  system: "by Hermit", acp: "in an editor", chat: "in a chat", mesh: "at another machine",
};

/** Where a message was said. */
export function channelName(channel: Channel): string {
  return lookUp(CHANNEL, channel, `through ${plain(channel)}`);
}

/** Where an answer was given. */
export function surfaceName(surface: Surface): string {
  return lookUp(SURFACE, surface, `on ${plain(surface)}`);
}

// The same words as the doctor and the receipts have.
const SANDBOX: Readonly<Record<SandboxLevel, string>> = {
  beneath: "Hermit's own access to files, beneath the folder",
  namespaces_landlock: "namespaces, Landlock and seccomp",
  namespaces: "namespaces, without Landlock",
  landlock: "in part, without namespaces: Landlock and seccomp",
  seatbelt: "Seatbelt",
  seatbelt_open: "not confined: Seatbelt did not refuse everything that was tried",
  app_container: "an AppContainer and a job object",
  restricted_token: "in part, with an open network: a restricted token and a job object",
  unconfined: "none",
  not_applicable: "nothing ran",
};

/** The sandbox that a command gets or had, by the name that the host sends. */
export function sandboxName(level: string): string {
  const known = oneOf(SANDBOX_LEVEL, level);
  return known === null ? plain(level) : SANDBOX[known];
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function count(n: number, one: string, more = `${one}s`): string {
  return `${many(n)} ${n === 1 ? one : more}`;
}

/** How something stands: what it looks like, and the word for it. */
export interface Look { tone: Tone; mark: MarkName; word: string }
const other = (word: string): Look => ({ tone: "mute", mark: "idle", word: capital(plain(word)) });

/** The reason of what ended because a person said no. */
export const BY_A_NO = "approval_denied";

/** How a task stands, told by the names of the run API. */
const RUN: Readonly<Record<RunStatus, Look>> = {
  queued: { tone: "mute", mark: "idle", word: "Queued" },
  running: { tone: "running", mark: "running", word: "Working" },
  awaiting_approval: { tone: "waiting", mark: "waiting", word: "Waiting for you" },
  awaiting_clarify: { tone: "waiting", mark: "question", word: "Asks you" },
  paused: { tone: "mute", mark: "paused", word: "Paused" },
  cancelling: { tone: "running", mark: "running", word: "Cancelling" },
  cancelled: { tone: "mute", mark: "deny", word: "Cancelled" },
  failed: { tone: "failed", mark: "failed", word: "Failed" },
  completed: { tone: "done", mark: "done", word: "Done" },
  expired: { tone: "mute", mark: "deny", word: "Expired" },
};

/** How a task stands that ended by a person's no: it is their decision, and no fault. */
const DENIED_BY_YOU: Look = { tone: "mute", mark: "deny", word: "Denied by you" };

export function run(row: Pick<TaskRow, "run_status" | "unknown_effects" | "refused_by" | "undone" | "interrupted"> & { reason?: string }): Look {
  const status = row.run_status;
  if (row.unknown_effects > 0) return { tone: "unknown", mark: "unknown", word: "Unknown outcome" };
  if (row.interrupted === true) return { tone: "unknown", mark: "unknown", word: "Interrupted" };
  if (row.undone === "all") return { tone: "mute", mark: "deny", word: "Undone" };
  if (row.undone !== null) return { tone: "mute", mark: "deny", word: "Partly undone" };
  // Nothing of what it proposed was carried out: it has ended, and nothing is done.
  if (row.refused_by === "policy") return { tone: "failed", mark: "deny", word: "Denied by policy" };
  if (row.refused_by === "person") return DENIED_BY_YOU;
  // Something of it was carried out before a person said no.
  if (status === "failed" && row.reason === BY_A_NO) return DENIED_BY_YOU;
  return lookUp(RUN, status, other(status));
}

/** The same of one that is only named. */
export function runLook(status: RunStatus): Look {
  return lookUp(RUN, status, other(status));
}

const RESULT: Readonly<Record<ResultCode, Look>> = {
  succeeded: { tone: "done", mark: "done", word: "Done" },
  granted: { tone: "done", mark: "done", word: "Approved" },
  denied: { tone: "failed", mark: "deny", word: "Denied" },
  failed: { tone: "failed", mark: "failed", word: "Failed" },
  partial: { tone: "failed", mark: "failed", word: "In part" },
  unknown_outcome: { tone: "unknown", mark: "unknown", word: "Unknown outcome" },
};

/** `asChosen`: of a result in part, that a person chose the part and all of it was done. */
export function result(code: ResultCode, resolved?: ResultCode | null, asChosen = false): Look {
  if (asChosen && code === "partial" && (resolved === null || resolved === undefined)) return { tone: "done", mark: "done", word: "In part, as you chose" };
  const known = lookUp(RESULT, resolved ?? code, other(code));
  return resolved === null || resolved === undefined ? known : { ...known, word: `${known.word}, settled by you` };
}

const APPROVAL: Readonly<Record<ApprovalStatus, Look>> = {
  pending: { tone: "waiting", mark: "waiting", word: "Waiting for you" },
  granted: { tone: "done", mark: "done", word: "Approved" },
  denied: { tone: "failed", mark: "deny", word: "Denied" },
  expired: { tone: "mute", mark: "deny", word: "Expired" },
  cancelled: { tone: "mute", mark: "deny", word: "Cancelled" },
  invalidated: { tone: "mute", mark: "deny", word: "No longer valid" },
};

/** How a question to a person stands. */
export function approvalLook(status: ApprovalStatus): Look {
  return lookUp(APPROVAL, status, other(status));
}

const ORIGIN: Readonly<Record<Origin, string>> = {
  person: "You", program: "Another program", service: "Hermit, in the background", scheduler: "Hermit, on schedule", agent: "The agent of another task",
};
/** Whether a task that stands so has ended. */
export function isOver(status: RunStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled" || status === "expired";
}

/** How it is told that something asks: the words of an act begin with what it does, those of a part with whose choice it is. */
export function asksFor(act: string): string {
  const part = /^a part that you chose: (.*)$/s.exec(act)?.[1];
  return part === undefined ? `Asks to ${act}` : `Asks for the part that you chose: ${part}`;
}

/** Who began a task. */
export function originName(origin: Origin): string {
  return lookUp(ORIGIN, origin, capital(plain(origin)));
}

const TRUST: Readonly<Record<TrustTier, string>> = {
  untrusted: "untrusted", observed: "observed", verified: "verified", user_asserted: "said by you", policy_asserted: "set by policy",
};
export function trust(tier: TrustTier): string {
  return lookUp(TRUST, tier, plain(tier));
}

const VERDICT: Readonly<Record<PolicyVerdict, Look>> = {
  allow: { tone: "done", mark: "done", word: "Allow" },
  require_approval: { tone: "waiting", mark: "waiting", word: "Ask" },
  deny: { tone: "failed", mark: "deny", word: "Deny" },
  downgrade: { tone: "running", mark: "idle", word: "Reduced form only" },
};
export function verdict(word: PolicyVerdict): Look {
  return lookUp(VERDICT, word, other(word));
}

/** Millionths of a US dollar as money. */
export function cost(micros: number): string {
  if (micros === 0) return "$0";
  return `$${(micros / 1e6).toFixed(micros < 10_000 ? 4 : 2)}`;
}

export function tokens(n: number): string {
  return n < 10_000 ? many(n) : `${(n / 1000).toFixed(1).replace(/\.0$/, "")}k`;
}

/** What a server calls a model; where that is a file of its machine, the file's name. */
export function modelCalled(id: string): string {
  return /^(?:\/|[A-Za-z]:[\\/])/.test(id) ? folderName(id) : id;
}

/** A model or playbook by its name, without where it is asked. */
export function modelName(address: string): string {
  const [, id] = address.split("#");
  return id === undefined ? address.replace(/^playbook:/, "playbook ").replace(/^guest:/, "agent ").replace(/\brcp_[0-9a-f]+/, (receipt) => `receipt ${receipt.slice(-8)}`) : modelCalled(id);
}

/** The last part of a path. */
export function folderName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}

function decode64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (letter) => letter.codePointAt(0) ?? 0);
}

/** Bytes as text, or null where they are none. */
export function asText(base64: string): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(decode64(base64));
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}
