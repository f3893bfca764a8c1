// One small world for tests of screens: a task that waits, one that is done, and everything behind them.
import { FakeHost } from "~/host/fake";
import { Refused } from "~/host/host";
import type { Approval, ApprovalRow } from "~/ipc/generated/approvals";
import type { Changes, FileChange, Group } from "~/ipc/generated/changes";
import type { Conversation } from "~/ipc/generated/conversations";
import type { Explanation, Link, Receipt, ReceiptRow } from "~/ipc/generated/receipts";
import type { Gateway, Message, PairedSender } from "~/ipc/generated/gateways";
import type { Limits, Schedule } from "~/ipc/generated/schedules";
import type { Task, TaskRow } from "~/ipc/generated/task";
import type { Judged } from "~/ipc/generated/policy";
import type { Event } from "~/ipc/generated/task_events";
import { ENTITY_TYPE, type NodeKind, type PolicyVerdict } from "~/ipc/generated/words";
import { oneOf } from "~/ipc/words";
import { NO_RUN, TRAININGS } from "./training";
import { NO_CLOCKS, PROVEN, identityThen } from "./identity";
import { MESH, NOT_HEARD, meshMessage, meshReceipt, node as machine } from "./mesh";
import { SERVICES } from "./services";
import { trial, trialRow } from "./successor";

export const AT = Date.UTC(2026, 10, 22, 2, 0);
export const WAITS = "task_01a2000000007000800000000000000a";
export const DONE = "task_01a2000000007000800000000000000b";
export const APPROVAL = "apr_01a2000000007000800000000000000c";
export const RECEIPT = "rcp_01a2000000007000800000000000000d";
export const ACTION = "act_01a2000000007000800000000000000e";
const ART = "art_01a2000000007000800000000000000f";
const HASH = "c0ffee00".repeat(8);

export function taskRow(more: Partial<TaskRow> = {}): TaskRow {
  return {
    task_id: WAITS, title: "Move tax rates into a typed table", status: "blocked", run_status: "awaiting_approval", reason: "waiting for an approval",
    priority: "normal", profile: "local_edit_allowed", origin: "person", proposer: "openai", created_at: AT - 900_000, updated_at: AT - 180_000, ended_at: null,
    open_approvals: 1, open_questions: 0, unknown_effects: 0, receipts: 0, iterations: 4, tokens_used: 18_204, cost_micros: 840_000, parent_task_id: null, refused_by: null, undone: null, interrupted: false, workspace: null, because: null, from_chat: null, ...more,
  };
}

export const doneRow = taskRow({
  task_id: DONE, title: "Tidy the downloads", status: "completed", run_status: "completed", reason: "done", ended_at: AT - 60_000, open_approvals: 0, receipts: 1,
});

export const approvalRow: ApprovalRow = {
  approval_id: APPROVAL, task_id: WAITS, action_class: "delete_local", risk: "high", summary: "delete 1 file, overwrite 1 file", status: "pending",
  requested_at: AT - 180_000, expires_at: AT + 600_000_000, resolved_at: null, surface: null, feedback: null, reason: "", origin: "person",
};

/** The same, asked by the agent of a part of another task. */
export const ofPart = { part_of: { task_id: DONE, goal: "Tidy \u202eall of it" }, agent: "qwen2.5-1.5b" } as const;

const packet = {
  action_request: { action: { tool: "change", items: [] } }, goal: "Move the rates", rationale: "propose 2 changes", risk_summary: "deletes files, whose bytes are kept; it is based on files or names that may contain instructions",
  rollback_availability: "can be undone: what was there before is kept", policy_result: { policy_profile: "local_edit_allowed", determining_rules: ["base.untrusted_context"] },
  state_witness: { witness_id: "wit_01a20000000070008000000000000010", observed_at: AT, fingerprints: [{}, {}] }, impacted_resources: ["a", "b"], step_id: "step_1", attempt_id: "att_1",
};

export const approval: Approval = {
  row: approvalRow, title: "delete 1 file, overwrite 1 file",
  lines: [
    { kind: "risk", text: "high risk" },
    { kind: "destructive", text: "DELETE \"data/tax-rates.csv\"" },
    { kind: "effect", text: "create \"src/tax/table.ts\"" },
    { kind: "fact", text: "touches two files" },
  ],
  act_lines: 3, lines_left: 0, asked_each_time: null, outline: packet, resources: 2, hosts: [], checked: 2, packet_sha256: HASH, packet_bytes: 900, packet: null, nonce: "00", person_id: "prn_1", approval_keyid: HASH, receipt_id: null,
};

const side = (text: string, sha256 = HASH) => ({ sha256, byte_size: text.length, text, missing: null });
type Shown = Omit<Changes, "total" | "sum" | "groups" | "from">;
/** Nothing is bounded. */
const NO_LIMITS: Limits = {
  overlap: null, jitter_minutes: null, per_hour_max: null, ends_after_minutes: null, hours: null,
  day_runs_max: null, day_iterations_max: null, day_tokens_max: null, day_cost_micros_max: null, day_minutes_max: null,
};

/** A schedule that stands. */
export const SCHEDULE: Schedule = {
  name: "morning", version: 1, state: "active", why: null, by_itself: false, said: "every weekday at 8:30", rule: "30 8 * * 1-5", zone: "Europe/Berlin", waits_for: null, unseen: null, hook: null, goal: "Tell me what changed",
  folder: "/home/you/atlas-billing", worker: "playbook:changes", profile: "local_edit_allowed", next: [{ at: AT + 86_400_000, text: "Monday, 23 November 2026, 08:30" }, { at: AT + 2 * 86_400_000, text: "Tuesday, 24 November 2026, 08:30" }],
  catch_up: "newest", catch_up_most: null, grace_minutes: null, limits: NO_LIMITS, quiet: false, since: AT, fired: 3, passed_over: 1, runs: [{ slot_at: AT, task_id: DONE, status: "completed", run_status: "completed" }],
  last_passed_over: { until: AT, why: "still_running" }, artifact_id: ART,
};

/** A gateway that is connected, the sender who is paired with it, and what came in and went out. */
const TOKEN = "gateway-family";
export const GATEWAY: Gateway = {
  name: "family", version: 1, service: "telegram", address: null, user: null, settings: {}, secret: TOKEN, hosts: ["api.telegram.org:443"], state: "active", why: null, by_itself: false, away: null,
  folder: "/home/you/notes", worker: "playbook:inventory", profile: "local_edit_allowed", senders: 1, queued: 0, since: AT, artifact_id: ART,
};
export const SENDER: PairedSender = { sender: "1001", sender_name: "Ana \u202eB", chat: "1001", profile: "goals", conversation_id: "cnv_01a20000000070008000000000000013", since: AT, unpaired: null };
export function chatMessage(more: Partial<Message> = {}): Message {
  return {
    place: 1, at: AT, is_outgoing: false, chat: "1001", sender: "1001", text: "What is new?", used_as: "words", refused: null, times: null, about: null, state: null, why: null, task_id: DONE, task_status: "completed", sent_by: null, ...more,
  };
}

/** Answers with the part that is asked for, as a host does; `groups` are those it would tell of. */
export const changesOf = (all: Shown, groups: Group[] = []) => ({ from, limit, find, brief }: { from?: number | null; limit?: number | null; find?: string | null; brief?: boolean }): Changes => {
  const found = find == null ? all.files : all.files.filter((file) => file.path.includes(find));
  const later = (side: FileChange["before"]) => (side === null || brief !== true ? side : { ...side, text: null, missing: "later" as const });
  const files = found.slice(from ?? 0, (from ?? 0) + (limit ?? 500)).map((file) => ({ ...file, before: later(file.before), after: later(file.after) }));
  const of = (test: (file: FileChange) => boolean) => all.files.filter(test).length;
  return {
    ...all, total: found.length, from: from ?? 0, files, groups: find == null ? groups : [],
    sum: { deleted: of((file) => file.op === "delete"), replaced: of((file) => file.op === "write" && file.before !== null), created: of((file) => file.op === "write" && file.before === null), moved: of((file) => file.op === "move"), folders: of((file) => file.op === "folder") },
  };
};
export const changes: Shown = {
  of: APPROVAL, tense: "ahead", workspace: "/home/you/atlas-billing",
  files: [
    { op: "delete", path: "data/tax-rates.csv", to: null, same_as: null, before: side("country,standard\nAT,20\n"), after: null, outcome: null },
    { op: "write", path: "src/tax/reverse.ts", to: null, same_as: null, before: side("if (kind !== \"reverse\") {\n", "b".repeat(64)), after: side("if (kind !== \"reverse\u202e\u2066// EU only\u2069\u2066\") {\n"), outcome: null },
  ],
};

export const TALK: Conversation = {
  conversation_id: "cnv_01a20000000070008000000000000012", title: "Billing", opened_at: AT - 9_000_000, updated_at: AT, focus_task_id: null, focus_reason: "", last_focus: null, open_tasks: 1, waiting: 1,
  workspace_id: "wsp_1", folder: "/home/you/atlas-billing", last_said: "Tidy the downloads",
};

export const task: Task = {
  row: taskRow(), conversation_id: TALK.conversation_id, goal: "Move the rates into a typed table", channel: "app", workspace: "/home/you/atlas-billing", reasoner: "playbook:inline-rates", constraints: [], criteria: [],
  tokens_max: 120_000, cost_micros_max: 3_000_000, wall_ms: 1000, wall_ms_max: 60_000, deadline_at: null, termination: null, summary: null, summary_by: null, verified_by: [], answer_ref: null,
  waits_for: { kind: "approval", id: APPROVAL }, interrupted: false, writing: null, last_seq: 8,
  attempts: [{ attempt_id: "att_1", number: 1, status: "awaiting_approval", reason: "waiting", started_at: AT, finished_at: null, iterations: 4, termination: null }],
  actions: [{
    action_request_id: ACTION, class: "delete_local", tool: "change", summary: "delete 1 file, overwrite 1 file", state: "awaiting_approval", verdict: "require_approval", risk: "high",
    approval_id: APPROVAL, grant_id: null, receipt_id: null, result: null, sandbox: null, requested_at: AT, observed_at: null, trouble: null,
    instead_of: null, instead_rules: null,
  }],
  children: [], follows: null,
};

export const doneTask: Task = {
  ...task, row: doneRow, goal: "Tidy the downloads", waits_for: null, summary: "7 files were moved.",
  actions: [{ ...(task.actions[0] as Task["actions"][number]), state: "observed", verdict: "require_approval", receipt_id: RECEIPT, grant_id: "grt_1", result: "succeeded", summary: "move 7 files" }],
};

export function event(seq: number, event_type: string, body: unknown): Event {
  return {
    event_id: `evt_${seq}`, seq, event_type, entity_type: oneOf(ENTITY_TYPE, event_type.split(".")[0]) ?? "task", entity_id: "x", step_id: null, attempt_id: null, at: AT + seq * 1000,
    actor_type: "system", actor_id: "prn_1", body, causation_id: null, hash: HASH, prev_hash: HASH,
  };
}

export const events: Event[] = [
  event(1, "task.created", { task: { goal: "Move the rates into a typed table" } }),
  event(2, "step.created", { step: { step_id: "step_1", title: "Move the rates" } }),
  event(3, "attempt.created", { attempt: { attempt_no: 1 } }),
  event(4, "attempt.context_compiled", { iteration: 1, items: 5, tokens: 1200, omissions: 0 }),
  event(5, "action.requested", { action_request_id: ACTION, action_class: "delete_local", summary: "delete 1 file, overwrite 1 file" }),
  event(6, "policy.evaluated", { action_request_id: ACTION, verdict: "require_approval", risk_band: "high" }),
  event(7, "approval.requested", { action_request_id: ACTION, approval: { approval_id: APPROVAL } }),
  event(8, "task.status_changed", { to: "blocked", reason: "waiting" }),
];

export const doneEvents: Event[] = [
  ...events,
  event(9, "approval.granted", { approval_id: APPROVAL }),
  event(10, "effect.observed", { action_request_id: ACTION, result_code: "succeeded" }),
  event(11, "receipt.issued", { receipt_id: RECEIPT, receipt_class: "tool_execution", result_code: "succeeded" }),
  event(12, "attempt.terminated", { reason: "done", iterations: 5, summary: "7 files were moved." }),
];

export const receiptRow: ReceiptRow = {
  receipt_id: RECEIPT, task_id: DONE, class: "tool_execution", action_class: "delete_local", result: "succeeded", resolved: null, reversibility: "reversible",
  rolls_back: null, undone_by: null, summary: "7 of 7 changes done", issued_at: AT,
};
export const receipt: Receipt = { row: receiptRow, receipt: { verifiability: "signed", changes: [] }, statement_sha256: HASH, envelope_ref: ART, signed_by: [HASH], signature: "holds" };

const thing = (kind: NodeKind, id: string, label: string): Link => ({ kind, id, task_id: DONE, label, detail: "", at: AT });
export const explanation: Explanation = {
  receipt_id: RECEIPT, goal: [thing("task", DONE, "Tidy the downloads")], context: [thing("artifact", ART, "pack")], evidence: [thing("artifact", ART, "a listing")],
  action: thing("action", ACTION, "move 7 files"), policy: [], decisions: [thing("decision", "dec_1", "allowed")], approvals: [thing("approval", APPROVAL, "you")], witnesses: [],
  grants: [thing("grant", "grt_1", "")], effect: null, changes: [], undone_by: [], trust: "observed", untrusted: [],
};

const page = <T,>(rows: T[]) => ({ rows });
const node = (id: string, kind: NodeKind, layer: number, more: object = {}) => ({
  id, kind, detail: "", label: `${kind} here`, task_id: DONE, at: AT, trust: null, sha256: null, layer, row: 0, feeds: false, tainted: false, ...more,
});

type Answers = ConstructorParameters<typeof FakeHost>[0];

const judgedOf = (verdict: PolicyVerdict): Judged => ({
  profile: "local_edit_allowed", verdict, risk: "high", classes: ["delete_local"], summary: "delete notes.txt", downgrade: null, instead_of: null, risk_summary: "deletes a file", reasons: "the profile asks before files are deleted",
  rules: [{ name: "base.delete_local", effect: "ask", reason: "a deletion is asked about", text: "permit (principal, action, resource);" }],
});

export function sceneAnswers(): Answers {
  return {
    "host.status": {
      role: "owner", held_by: { pid: 7, since: AT, address: null }, store_id: "str_1", dir: "/home/you/.local/share/hermit", version: "0.1.0", epoch: 1, halted: false, halt_reason: null,
      waiting: { approvals: 1, questions: 0, unknown_effects: 0, undecided_messages: 0, paused_schedules: 0, paused_gateways: 0, running: 1, quiet: 0 },
    },
    "host.doctor": { facts: [{ name: "sandbox", level: "fine", value: "namespaces and landlock", advice: "" }, { name: "model", level: "note", value: "none", advice: "name one" }], service: { state: "absent", says: "none", command: "hermit service install" }, telemetry: null, update: { at_work: "0.1.0", since: null, left: null, app: null, at_hand: null, command: "hermit update show" } },
    "version.show": { version: "0.1.0", source_sha256: "5".repeat(64), source_files: 2800, source_bytes: 22_000_000 },
    "approvals.list": ({ status }) => page(status === "any" ? [approvalRow, { ...approvalRow, approval_id: "apr_old", status: "denied", resolved_at: AT, surface: "terminal" }] : [approvalRow]),
    "approvals.show": ({ approval: id }) => (id === APPROVAL ? approval : { ...approval, row: { ...approvalRow, approval_id: id, status: "denied", resolved_at: AT } }),
    "approvals.deny": { approval_id: APPROVAL, task_id: WAITS, accepted: true, status: "denied" },
    "changes.show": changesOf(changes),
    "approvals.lines": ({ of }) => ({ rows: of === "card" ? approval.lines : [{ kind: "fact", text: "/goal = \"Move the rates\"" }] }),
    "task.list": ({ group }) => page([taskRow(), doneRow].filter((row) => group == null || (row === doneRow ? group === "done" || group === "ended" : group === "waiting"))),
    "task.steps": ({ status }) => page(status === "blocked" ? [{
      step_id: "step_1", kind: "pursue", title: "Move the rates", status: "blocked", reason: "waiting for an approval", depends_on: [], attempts: 1, max_attempts: 3, created_at: AT, updated_at: AT,
      task_id: WAITS, task_title: "Move tax rates into a typed table", run_status: "awaiting_approval", priority: "normal", workspace: "/home/you/atlas-billing",
    }] : []),
    "conversations.commands": { commands: [{ name: "help", takes: "", about: "tells which commands there are" }, { name: "goal", takes: "the new goal", about: "edits the goal of a task at work" }, { name: "stop", takes: "", about: "ends the task at work" }] },
    "task.count": { all: 2, waiting: 1, going: 0, ended: 1 },
    "task.questions": page([]),
    "conversations.undecided": page([]),
    "conversations.list": page([TALK]),
    "conversations.show": TALK,
    "conversations.lines": page([{
      seq: 3, kind: "message", role: "user", at: AT, text: "Tidy the downloads", ref_id: "ing_1", task: { task_id: DONE, title: "Tidy the downloads", status: "completed", follows: null, parent_task_id: null },
      heard: { channel: "app", trust: "user_asserted", resolution: "start_new_root", is_open: false, is_waiting: false, candidates: [], confidence: null, margin: null, rationale: null, answers: null, reply_to: null, quotes: null },
      question: null, choices: [], approval: null, result: null, said_by: null, termination: null, ended: null,
    }]),
    "task.show": ({ task: id }) => (id === DONE ? doneTask : task),
    "task_events.list": ({ task: id, after_seq }) => {
      const all = id === DONE ? doneEvents : events;
      return { task_id: id, events: all.filter((one) => one.seq > (after_seq ?? 0)), last_seq: all.length, ended: id === DONE };
    },
    "task.working_state": page([]),
    "context.show": { task_id: DONE, turns: [{ attempt_id: "att_1", attempt: 1, iteration: 1, provider: "playbook", model: "tidy", remote: false, pack_tokens: 74, pack_items: 3, pack_omissions: 0, tokens_in: 0, tokens_out: 0, cost_micros: 0, finish_reason: "tool_calls", rejections: 0, tool: "observe", summary: null, error: null, completed_at: AT }],
      shown: { attempt: 1, iteration: 1, pack: { artifact_id: ART, sha256: HASH, byte_size: 60, bytes: btoa(JSON.stringify({ items: [{ title: "Goal", section: "task_contract", trust_tier: "user_asserted", text: "Tidy", tokens: 3 }] })) }, request: null, response: null } },
    "artifacts.list": page([]),
    "artifacts.weigh": { contents: 4, content_bytes: 90_000_000, files: 130, disk_bytes: 60_000_000, saved_bytes: 30_000_000, quota_bytes: 10_737_418_240, in_ledger: 36 },
    "receipts.list": page([receiptRow]),
    "receipts.show": receipt,
    "trace.explain": ({ subject }) => ({ kind: "receipt", subject, told: [], line: null, chains: [explanation], graph: { nodes: [], edges: [], layers: 0, rows: 0 } }),
    "identity.show": ({ version }) => identityThen(version),
    "successor.list": { trials: [trialRow()], next: null },
    "successor.show": trial(),
    "adoptions.list": { adoptions: [] },
    "anchors.list": { anchors: [PROVEN], next: null },
    "anchors.clocks": NO_CLOCKS,
    "training.list": TRAININGS,
    "training.stands": NO_RUN,
    "mesh.show": MESH,
    "mesh.nodes": { nodes: [machine(), NOT_HEARD] },
    "mesh.pairing": { state: "none", code: null, until: null, node: null, name: null, tries_left: null, says: null },
    "mesh.questions": { questions: [] },
    "mesh.messages": { messages: [meshMessage(1)], before: null },
    "mesh.receipts": { receipts: [meshReceipt(1)], before: null },
    "gateways.list": { gateways: [GATEWAY] },
    "gateways.services": SERVICES,
    "gateways.senders": { name: "family", senders: [SENDER] },
    "gateways.messages": { name: "family", before: null, messages: [chatMessage()] },
    "schedules.list": { schedules: [SCHEDULE] },
    "schedules.preview": ({ said }) => {
      if (said === "whenever") throw new Refused({ code: "usage", message: "`whenever` is not understood as a time" });
      return { rule: "30 8 * * 1-5", zone: "Europe/Berlin", waits_for: null, next: [{ at: AT, text: "Monday, 23 November 2026, 08:30" }], only: said.endsWith("only on mains power") ? ["mains"] : [] };
    },
    "grants.list": page([]),
    "grants.standing": { rows: [] },
    "knowledge.beliefs": page([{ belief_id: "blf_1", task_id: DONE, claim: "The notice period is 90 days", scope: "vendor", confidence: 870, trust: "observed", status: "active", revision: 1, evidence: [{ artifact_id: ART, part: "whole", excerpt_sha256: HASH, trust: "untrusted", confidence: 500 }], created_at: AT, updated_at: AT, superseded_by: null, contradicts: [], reason: null }]),
    "knowledge.memories": page([]),
    "knowledge.memory_contexts": { memory_id: "mem_1", tasks: [], more: 0 },
    "knowledge.memory_points": { rows: [], next: null },
    "knowledge.decisions": page([]),
    "knowledge.search": page([]),
    "workspaces.list": { workspaces: [{ workspace_id: "wsp_1", folder: "/home/you/atlas-billing", project_hash: null, project_source: null, tasks: 2, waiting: 1, last_task_id: DONE, last_at: AT }] },
    "workspaces.files": ({ folder, find, folders }) => ({ paths: folders ? [`${folder}-deep`] : ["notes/meeting 1.md", "meeting.md"].filter((path) => path.includes(find ?? "")), more: false }),
    "secrets.list": { secrets: [] },
    "models.in_box": { models: [], trouble: null },
    "models.reads": { at_once: 10, is_set: false, standard: 10, most: 64 },
    "models.costs": { today: "2026-11-22", ends_at: AT, ceiling_micros: null, spent_micros: 0, aside_micros: 0, days: [], models: [] },
    "models.embedded": { model: null, memories: 0, with_vectors: 0, trouble: null },
    "models.find": { servers: [], looked: [8080], standard: null, providers: [], set: [] },
    "playbooks.list": { playbooks: [{ name: "tidy", about: "Sorts a folder", description: "Sorts a folder.", parameters: [{ name: "folder", about: "Which", standard: "" }], version: null }] },
    "playbooks.drafts": { rows: [] },
    "tools.list": { servers: [] },
    "skills.list": { skills: [], playbooks: [], left_out: [] },
    "skins.list": { skins: [], chosen: null },
    "policy.profiles": { rows: [{ profile: "local_edit_allowed", about: "edits below the workspace, each asked for", rules: 1, policy_set_sha256: HASH }] },
    "policy.rules": { profile: "local_edit_allowed", rows: [{ name: "base.read_local", effect: "permit", reason: "looking is allowed", text: "permit (principal, action, resource);" }] },
    "policy.test": ({ act }) => judgedOf(act.kind === "delete" ? "require_approval" : "allow"),
    "policy.explain": judgedOf("require_approval"),
    "policy.backtest": { judged: 40, changed: 3, unreadable: 0, counts: [{ was: "require_approval", would: "allow", acts: 3, allowed: 2, refused: 1 }], rows: [] },
    "lineage.draw": {
      focus: RECEIPT, scope: "store", layers: 2, rows: 1, left_out: 0,
      nodes: [node(DONE, "task", 0, { feeds: true }), node(RECEIPT, "receipt", 1)], edges: [{ from: DONE, to: RECEIPT, kind: "owns", carries: true }],
    },
    "proof.preview": { events: 12, receipts: 1, values: [{ pointer: "/task/goal", count: 1, example: "\"Tidy the downloads\"" }], withheld: 0, artifacts: [{ kind: "context.pack", count: 3, byte_size: 900 }], artifacts_withheld: 2, left_out: [] },
    "ledger.stats": { log_id: HASH, events: 127, tasks: 2, entries: 30, blobs: 60, disclosures: 9, checkpoints: 3, epoch: 1, file_bytes: 1_000_000, wal_bytes: 0, schema: 1 },
    "ledger.verify": { verdict: "valid", reason: "every link holds", place: null, events: 127, tasks: 2, entries: 30, checkpoints: 3, trusted_checkpoints: 3, disclosures: 9, artifacts: 60, unsigned_events: 0, pinned: true, severed: [], content: null },
    "gate.state": { state: "IDLE", halted: false, reason: null, session: "s", since: AT, entries: 30, head: HASH },
    "keys.list": { keys: [{ purpose: "approval", keyid: HASH, pem: "-----BEGIN PUBLIC KEY-----", ssh_fingerprint: "SHA256:abc", open: false, status: "in_force", since: AT, until: null, revoked_at: null, revoked_because: null, vkey: null }] },
  };
}

export function scene(more: Answers = {}, deciding?: "terminal" | "window" | "passphrase"): FakeHost {
  return new FakeHost({ ...sceneAnswers(), ...more }, deciding);
}
