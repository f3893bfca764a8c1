/** The nouns that a bundle holds: events, receipts, and the objects of authority (the room `model`). */
import { isObject, type Json } from "./canon.ts";
import { relPath, resource } from "./resource.ts";
import { array, boolean, digest, i32, id, integer, json, list, names, nullable, object, sensitive, slot, string, tagged, u16, u32, u64, type Of } from "./shape.ts";
import { Malformed } from "./stop.ts";

export const ACTION_CLASSES = ["read_local", "write_local", "delete_local", "execute_command", "network_read", "network_write", "credentialed_api_call", "vcs_mutation", "publication", "payment", "durable_memory_write", "policy_override", "rollback", "approval_resolution"] as const;
const ENTITY_TYPES = ["store", "key", "host", "gate", "checkpoint", "principal", "workspace", "conversation", "ingress", "task", "step", "attempt", "artifact", "working_state", "belief", "memory", "decision", "approval", "clarification", "witness", "policy_result", "action_request", "grant", "receipt", "secret"] as const;
const KINDS = ["context.pack", "action.request", "policy.result", "approval.packet", "approval.decision", "state.witness", "environment.snapshot", "workspace.snapshot", "search.bundle", "web.snapshot", "file.snapshot", "patch", "diff", "command.transcript", "test.report", "image", "binary.attachment", "belief.extract", "memory.promotion", "receipt.bundle", "task.contract", "step.contract", "capability.grant", "working.state", "model.request", "model.response", "model.answer", "playbook", "transcript", "action.result", "answer", "message"] as const;

export const actionClass = names(...ACTION_CLASSES);
export const artifactKind = names(...KINDS);
export const principalType = names("user", "supervisor", "agent", "service", "scheduler", "webhook", "policy_engine", "executor", "system");
export const riskBand = names("low", "moderate", "high", "critical");
export const verdict = names("allow", "require_approval", "deny", "downgrade");
export const surface = names("terminal", "approval_window", "browser", "test", "run_api", "mcp", "script", "main_window", "notification");
export const receiptClass = names("tool_execution", "command_execution", "publish", "memory_promotion", "approval_resolution", "rollback", "observation_resolution");
export const resultCode = names("succeeded", "failed", "partial", "unknown_outcome", "granted", "denied");
export const verifiability = names("hash_only", "hash_chained", "signed", "signed_with_inclusion_proof");
export const sandboxLevel = names("beneath", "namespaces_landlock", "namespaces", "landlock", "unconfined", "not_applicable");
export const reversibility = names("no_effect", "reversible", "partial", "irreversible");
const trustTier = names("untrusted", "observed", "verified", "user_asserted", "policy_asserted");
const profile = names("readonly_analysis", "local_edit_allowed", "network_read_allowed", "repo_mutation_gated", "external_publish_gated", "destructive_denied");

const task = id("task");
const step = id("step");
const attempt = id("att");
const artifactId = id("art");
const approvalId = id("apr");
const principalId = id("prn");
const grantId = id("grt");
const decisionId = id("dec");
const requestId = id("act");
export const receiptId = id("rcp");

/** Surfaces on which a person is provably there, so that a yes may come from it. */
export const GRANTING_SURFACES: readonly string[] = ["terminal", "approval_window", "browser", "test"];

export const event = object(
  {
    canon: string,
    event_id: id("evt"),
    schema_version: u32,
    event_type: string,
    entity_type: names(...ENTITY_TYPES),
    entity_id: string,
    task_id: task,
    step_id: nullable(step),
    attempt_id: nullable(attempt),
    task_seq: u64,
    occurred_at: integer,
    actor_type: principalType,
    actor_id: principalId,
    payload: json,
    causation_id: nullable(id("evt")),
    correlation_id: string,
    idempotency_key: nullable(string),
    workspace_id: nullable(id("wsp")),
    prev_event_hash: digest,
  },
  "closed",
);
export type Event = Of<typeof event>;

export const artifactRef = object({ artifact_id: artifactId, sha256: digest });

const artifact = object({
  artifact_id: artifactId,
  class: names("source", "working", "derived", "evidence", "deliverable", "audit"),
  kind: artifactKind,
  uri: sensitive(string),
  content_hash: digest,
  media_type: string,
  byte_size: u64,
  created_at: integer,
  producer: principalId,
  retention_class: names("permanent", "task", "ephemeral"),
  trust_tier: trustTier,
  sensitivity_class: names("public", "private", "secret"),
  produced_by: nullable(attempt),
  inputs: list(artifactId),
  task_local_alias: nullable(sensitive(string)),
});

const scope = object({ shape: names("exact", "argv_prefix", "path_glob", "host"), pattern: array(string), expires_at: integer, max_uses: u32 });

const approval = object({
  approval_id: approvalId,
  task_id: task,
  step_id: step,
  attempt_id: attempt,
  status: names("pending", "granted", "denied", "expired", "cancelled", "invalidated"),
  approval_type: actionClass,
  requested_action_ref: artifactId,
  approval_packet_ref: artifactId,
  approval_packet_sha256: digest,
  requested_at: integer,
  resolved_at: nullable(integer),
  resolved_by: nullable(principalId),
  expires_at: integer,
  state_witness_ref: nullable(id("wit")),
  policy_result_ref: artifactId,
});

const text = sensitive(string);

/** A standing grant by name and by bytes. */
const standingRef = nullable(object({ grant_id: grantId, envelope_sha256: digest }, "closed"));

/** Bodies that other files of a bundle must agree with, by type; all of them are version 1. */
export const BODIES = {
  "artifact.created": object({ artifact }, "closed"),
  "receipt.issued": object({ receipt_id: receiptId, receipt_class: receiptClass, action_class: actionClass, result_code: resultCode, action_request_id: nullable(requestId), envelope: artifactRef, statement_sha256: digest, reversibility, rolls_back: nullable(receiptId), verifiability, summary: text }, "closed"),
  "approval.requested": object({ approval, action_request_id: requestId, risk_band: riskBand, nonce: string, summary: text }, "closed"),
  "approval.granted": object({ approval_id: approvalId, decided_by: principalId, surface, scope, envelope: artifactRef, keyid: digest, receipt_id: nullable(receiptId) }, "closed"),
  "approval.denied": object({ approval_id: approvalId, decided_by: principalId, surface, envelope: nullable(artifactRef), feedback: nullable(text) }, "closed"),
  "policy.evaluated": object({ policy_result_id: id("pol"), action_request_id: requestId, result: artifactRef, verdict, risk_band: riskBand, policy_set_sha256: digest }, "closed"),
  "action.requested": object({ action_request_id: requestId, request: artifactRef, action_class: actionClass, tool: string, summary: text }, "closed"),
  "grant.issued": object({ grant_id: grantId, action_request_id: requestId, grant: artifactRef, action_class: actionClass, issued_to: principalId, expires_at: integer, max_uses: u32, approval_ref: slot(approvalId), decision_ref: slot(decisionId) }, "closed"),
  "grant.standing_used": object({ grant_id: grantId, action_request_id: requestId, envelope: artifactRef, use_no: u32, max_uses: u32 }, "closed"),
  "witness.captured": object({ witness_id: id("wit"), action_request_id: requestId, witness: artifactRef, expires_at: integer }, "closed"),
  "witness.validated": object({ witness_id: id("wit"), action_request_id: requestId, observed: artifactRef }, "closed"),
  "effect.dispatched": object({ action_request_id: requestId, grant_id: grantId, executor: string, audit_entry_sha256: digest }, "closed"),
  "effect.resolved": object({ action_request_id: requestId, result_code: resultCode, note: text, receipt_id: receiptId }, "closed"),
};

export const found = tagged("found", {
  absent: {},
  file: { sha256: digest, byte_size: u64, mode: nullable(u32) },
  folder: {},
  symlink: { target_sha256: digest },
  special: {},
  version: { value: string },
  unreadable: { reason: string },
});

const receipt = object({
  receipt_id: receiptId,
  task_id: task,
  step_id: step,
  attempt_id: attempt,
  receipt_class: receiptClass,
  action_class: actionClass,
  action_request_ref: slot(artifactRef),
  input_refs: array(artifactRef),
  environment_ref: slot(artifactRef),
  policy_result_ref: slot(artifactRef),
  approval_ref: slot(approvalId),
  capability_grant_ref: slot(grantId),
  decision_ref: slot(decisionId),
  authorized: object({
    policy_result_sha256: slot(digest),
    approval_packet_sha256: slot(digest),
    approval_decision_sha256: slot(digest),
    capability_grant_sha256: slot(digest),
    witness_sha256: slot(digest),
    audit_entry_sha256: slot(digest),
    standing: standingRef,
  }),
  ran: slot(object({ executor: string, request_sha256: digest, argv: nullable(sensitive(array(string))), executable_sha256: nullable(digest), exit_code: nullable(i32), started_at: integer, finished_at: integer })),
  changes: array(object({ resource: text, before: found, after: found, before_image: nullable(artifactRef), outcome: names("done", "not_done", "unknown") })),
  output_refs: array(artifactRef),
  observed: array(text),
  rollback: object({ reversibility, method: string, prerequisites: array(string), artifact_refs: array(artifactRef), rolls_back: nullable(receiptId) }),
  result_code: resultCode,
  result_summary: text,
  created_at: integer,
  replay_class: names("deterministic_replay", "idempotent_replay", "observe_only", "explain_only"),
  verifiability,
  sandbox_level: sandboxLevel,
  signer_ref: slot(digest),
  idempotency_key: string,
});
export type Receipt = Of<typeof receipt>;

/** Any map of texts. */
const texts = (value: Json): Record<string, string> => {
  if (!isObject(value)) throw new Malformed("document", "an object is expected");
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, string(text)]));
};

export const receiptStatement = object({
  _type: string,
  subject: array(object({ name: text, digest: texts })),
  predicateType: string,
  predicate: receipt,
});
export type ReceiptStatement = Of<typeof receiptStatement>;

export const auditEntry = object(
  {
    prev_hash: digest,
    entry_hash: digest,
    ts_ms: integer,
    request_id: string,
    actor: string,
    intent: string,
    decision: names("ALLOW", "DENY", "HALT"),
    state_from: names("BOOTING", "IDLE", "VALIDATING", "ARBITRATING", "EXECUTING", "AUDITING", "HALTED"),
    state_to: names("BOOTING", "IDLE", "VALIDATING", "ARBITRATING", "EXECUTING", "AUDITING", "HALTED"),
    tool_name: nullable(string),
    params_hash: nullable(digest),
    evidence_hash: nullable(digest),
    error: nullable(string),
  },
  "closed",
);
export type AuditEntry = Of<typeof auditEntry>;

export const policyResult = object({
  policy_result_id: id("pol"),
  action_request_id: requestId,
  action_request_sha256: digest,
  verdict,
  risk_band: riskBand,
  action_classes: array(actionClass),
  policy_profile: profile,
  policy_set_sha256: digest,
  schema_sha256: digest,
  determining_rules: array(string),
  affected_resources: array(string),
  action_summary: string,
  risk_summary: string,
  reasoning_summary: string,
  witness_required: boolean,
  decision_required: boolean,
  downgrade: nullable(string),
  evaluated_at: integer,
  standing: standingRef,
});
export type PolicyResult = Of<typeof policyResult>;

/** What must be there before an item of a change set may touch it. */
const prior = (value: Json): Json => {
  if (typeof value === "string") return names("absent", "empty_folder")(value);
  object({ sha256: digest }, "closed")(value);
  return value;
};

const changeItem = tagged("op", {
  write: { path: relPath, content_sha256: digest, byte_size: u64, prior, mode: nullable(u32) },
  delete: { path: relPath, prior },
  move: { from: relPath, to: relPath, prior },
  folder: { path: relPath },
  link: { path: relPath, target: string, prior },
});

const readItem = tagged("op", {
  list: { path: relPath, recursive: boolean },
  read: { path: relPath },
  search: { path: relPath, pattern: string, glob: nullable(string) },
  hash: { path: relPath },
});

const selector = tagged("by", {
  whole: {},
  bytes: { start: u64, end: u64 },
  lines: { start: u64, end: u64 },
  json_path: { pointer: string },
  dom: { selector: string },
  time_span: { start_ms: u64, end_ms: u64 },
  record: { id: string },
});

const evidenceRef = object({ artifact_id: artifactId, selector, excerpt_hash: digest, capture_method: string, confidence: u16, trust_tier: trustTier });

const leftAsIs = object({ receipt_id: receiptId, resource: string, why: string, beside: nullable(relPath) });

const action = tagged("tool", {
  observe: { items: array(readItem) },
  change: { items: array(changeItem) },
  command: { argv: array(string), cwd: relPath, network: boolean, timeout_ms: u64 },
  remember: { claim: string, scope: string, promotion_reason: string, evidence_refs: array(evidenceRef), belief_id: nullable(id("blf")) },
  rollback: { receipt_id: receiptId, also: list(receiptId), partly: list(receiptId), left: list(leftAsIs), items: array(changeItem) },
});

/** What a command did in a staged view of the folder. */
const staged = object({
  method: names("overlay", "reflink", "copy"),
  sandbox_level: sandboxLevel,
  items: array(changeItem),
  transcript_sha256: digest,
  diff_sha256: digest,
  exit_code: nullable(i32),
  error: nullable(string),
  executable_sha256: nullable(digest),
  started_at: integer,
  finished_at: integer,
  notes: array(string),
});

/** The same as a packet shows it. */
const stagedView = object({
  diff: artifactRef,
  transcript: artifactRef,
  changes: array(object({ path: relPath, from: nullable(relPath), effect: string, before_sha256: nullable(digest), before_bytes: nullable(u64), before_mode: nullable(u32), after_sha256: nullable(digest), after_bytes: nullable(u64), after_mode: nullable(u32), text: nullable(string), no_text: nullable(string) })),
  printed: string,
  printed_bytes: u64,
});

export const actionRequest = object({
  action_request_id: requestId,
  task_id: task,
  step_id: step,
  attempt_id: attempt,
  action_class: actionClass,
  target_resources: array(resource),
  action,
  expected_effects: array(object({ resource, effect: string, before_sha256: nullable(digest), after_sha256: nullable(digest), byte_size: nullable(u64) })),
  reversibility_hint: reversibility,
  reason: string,
  proposed_by: principalId,
  proposed_at: integer,
  evidence_refs: array(artifactId),
  staged: nullable(staged),
  not_staged: nullable(string),
  instead_of: nullable(
    object({ action_request_id: requestId, request_sha256: digest, asked: string, mode: string, rules: array(string), policy_result_sha256: digest, draft_sha256: digest }),
  ),
});
export type ActionRequest = Of<typeof actionRequest>;

const stateWitness = object({
  witness_id: id("wit"),
  action_request_id: requestId,
  attempt_id: attempt,
  fingerprints: array(object({ resource, state: found })),
  preconditions: array(string),
  observed_at: integer,
  expires_at: integer,
  observed_by: principalId,
});

export const approvalPacket = object({
  approval_id: approvalId,
  task_id: task,
  step_id: step,
  attempt_id: attempt,
  goal: string,
  action_request: actionRequest,
  policy_result: policyResult,
  action_summary: string,
  risk_summary: string,
  risk_band: riskBand,
  rationale: string,
  evidence_refs: array(artifactId),
  impacted_resources: array(string),
  rollback_availability: string,
  state_witness: nullable(stateWitness),
  requested_at: integer,
  expires_at: integer,
  nonce: string,
  staged: nullable(stagedView),
});
export type ApprovalPacket = Of<typeof approvalPacket>;

/** DSSE payload type of a person's decision. */
export const DECISION_TYPE = "application/vnd.hermit.approval-decision+json";

export const approvalDecision = object({
  approval_id: approvalId,
  packet_sha256: digest,
  choice: names("once", "standing", "deny"),
  scope,
  nonce: string,
  surface,
  decided_by: principalId,
  decided_at: integer,
  feedback: nullable(string),
});
export type ApprovalDecision = Of<typeof approvalDecision>;

/** DSSE payload type of a person's standing grant, and its version. */
export const STANDING_TYPE = "application/vnd.hermit.standing-grant+json";
export const STANDING_FORMAT = "hermit-standing/1";

const cover = tagged(
  "kind",
  {
    command: { words: array(string), whole: boolean, cwd: relPath, network: boolean, changes: array(string) },
    paths: { glob: string, acts: array(names("create", "overwrite", "delete")) },
    host: { name: string, port: u16, write: boolean },
    act: { action_sha256: digest, summary: string },
  },
  "closed",
);

export const standingGrant = object(
  {
    format: string,
    log_id: string,
    grant_id: grantId,
    cover,
    scope: tagged("kind", { user: {}, project: { workspace_id: id("wsp") }, task: { task_id: task } }, "closed"),
    after_untrusted: boolean,
    issued_at: integer,
    expires_at: integer,
    max_uses: u32,
    given_at: nullable(object({ approval_id: approvalId, packet_sha256: digest }, "closed")),
    override_reason: nullable(string),
    surface,
    decided_by: principalId,
  },
  "closed",
);
export type StandingGrant = Of<typeof standingGrant>;

export const capabilityGrant = object({
  grant_id: grantId,
  task_id: task,
  step_id: step,
  attempt_id: attempt,
  issued_to_principal_id: principalId,
  issued_by_principal_id: principalId,
  action_class: actionClass,
  resource_scope: array(string),
  issued_at: integer,
  not_before: integer,
  expires_at: integer,
  max_uses: u32,
  action_request_sha256: digest,
  policy_result_sha256: digest,
  approval_packet_sha256: slot(digest),
  witness_sha256: slot(digest),
  approval_ref: slot(approvalId),
  decision_ref: slot(decisionId),
  filesystem_scope: names("nothing", "read_lease", "named", "lease"),
  network_scope: array(string),
  secret_scope: array(string),
  standing: standingRef,
});
export type CapabilityGrant = Of<typeof capabilityGrant>;
