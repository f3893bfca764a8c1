/**
 * What a bundle holds: events, receipts, and the objects of authority.
 *
 * Made from the rooms `model` and `acts` by `src-tauri/crates/proof/tests/nouns/mod.rs`, which says how; never edited.
 */
import { relPath, resource, webUrl } from "../read/resource.ts";
import { array, boolean, defaulted, digest, i32, id, integer, json, names, nullable, object, record, sensitive, slot, string, tagged, u16, u32, u64, variant, type Of } from "../read/shape.ts";

export const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
export const RECEIPT_TYPE = "https://hermit.local/receipt/v1";
export const DECISION_TYPE = "application/vnd.hermit.approval-decision+json";
export const STANDING_TYPE = "application/vnd.hermit.standing-grant+json";
export const STANDING_FORMAT = "hermit-standing/1";
export const PASSKEY_TYPE = "application/vnd.hermit.passkey+json";
export const PASSKEY_FORMAT = "hermit-passkey/1";
export const GRANTING_SURFACES: readonly string[] = ["terminal", "approval_window", "browser", "test", "mesh"];

export const entityType = names("store", "key", "host", "gate", "checkpoint", "principal", "workspace", "conversation", "ingress", "task", "step", "attempt", "artifact", "working_state", "belief", "memory", "decision", "approval", "clarification", "witness", "policy_result", "action_request", "grant", "receipt", "secret", "tool_server", "skill", "schedule", "skin", "gateway", "identity", "anchor", "mesh", "successor", "training");
export const principalType = names("user", "supervisor", "agent", "service", "scheduler", "webhook", "policy_engine", "executor", "system");
export const event = object({ canon: string, event_id: id("evt"), schema_version: u32, event_type: string, entity_type: entityType, entity_id: string, task_id: id("task"), step_id: nullable(id("step")), attempt_id: nullable(id("att")), task_seq: u64, occurred_at: integer, actor_type: principalType, actor_id: id("prn"), payload: json, causation_id: nullable(id("evt")), correlation_id: string, idempotency_key: nullable(string), workspace_id: nullable(id("wsp")), prev_event_hash: digest }, "closed");
export const subject = object({ name: nullable(sensitive(string)), digest: record(string) });
export const receiptClass = names("tool_execution", "command_execution", "publish", "memory_promotion", "approval_resolution", "rollback", "observation_resolution");
export const actionClass = names("read_local", "write_local", "delete_local", "execute_command", "network_read", "network_write", "credentialed_api_call", "vcs_mutation", "publication", "payment", "durable_memory_write", "external_effect", "capability_change", "policy_override", "rollback", "approval_resolution");
export const artifactRef = object({ artifact_id: id("art"), sha256: digest });
export const standingRef = object({ grant_id: id("grt"), envelope_sha256: digest }, "closed");
export const authorized = object({ policy_result_sha256: slot(digest), approval_packet_sha256: slot(digest), approval_decision_sha256: slot(digest), capability_grant_sha256: slot(digest), witness_sha256: slot(digest), audit_entry_sha256: slot(digest), standing: nullable(standingRef), first_decision_sha256: nullable(digest) });
export const ran = object({ executor: string, request_sha256: digest, argv: nullable(sensitive(array(string))), executable_sha256: nullable(digest), exit_code: nullable(i32), started_at: integer, finished_at: integer });
export const found = tagged("found", {
  absent: object({}),
  file: object({ sha256: digest, byte_size: u64, mode: nullable(u32) }),
  folder: object({ mode: nullable(u32) }),
  symlink: object({ target_sha256: digest }),
  special: object({}),
  version: object({ value: string }),
  unreadable: object({ reason: string }),
});
export const itemOutcome = names("done", "not_done", "unknown");
export const change = object({ resource: sensitive(string), before: found, after: found, before_image: nullable(artifactRef), outcome: itemOutcome });
export const reversibility = names("no_effect", "reversible", "partial", "irreversible");
export const rollbackInfo = object({ reversibility: reversibility, method: string, prerequisites: array(string), artifact_refs: array(artifactRef), rolls_back: nullable(id("rcp")) });
export const resultCode = names("succeeded", "failed", "partial", "unknown_outcome", "granted", "denied");
export const replayClass = names("deterministic_replay", "idempotent_replay", "observe_only", "explain_only");
export const verifiability = names("hash_only", "hash_chained", "signed", "signed_with_inclusion_proof");
export const sandboxLevel = names("beneath", "namespaces_landlock", "namespaces", "landlock", "seatbelt", "seatbelt_open", "app_container", "restricted_token", "unconfined", "not_applicable");
export const receipt = object({ receipt_id: id("rcp"), task_id: id("task"), step_id: id("step"), attempt_id: id("att"), receipt_class: receiptClass, action_class: actionClass, action_request_ref: slot(artifactRef), input_refs: array(artifactRef), environment_ref: slot(artifactRef), policy_result_ref: slot(artifactRef), approval_ref: slot(id("apr")), capability_grant_ref: slot(id("grt")), decision_ref: slot(id("dec")), authorized: authorized, ran: slot(ran), changes: array(change), output_refs: array(artifactRef), observed: array(sensitive(string)), rollback: rollbackInfo, result_code: resultCode, result_summary: sensitive(string), created_at: integer, replay_class: replayClass, verifiability: verifiability, sandbox_level: sandboxLevel, signer_ref: slot(digest), manifest_ref: nullable(digest), idempotency_key: string });
export const statement = object({ _type: string, subject: array(subject), predicateType: string, predicate: receipt });
export const gateDecision = names("ALLOW", "DENY", "HALT");
export const kernelState = names("BOOTING", "IDLE", "VALIDATING", "ARBITRATING", "EXECUTING", "AUDITING", "HALTED");
export const auditEntry = object({ prev_hash: digest, entry_hash: digest, ts_ms: integer, request_id: string, actor: string, intent: string, decision: gateDecision, state_from: kernelState, state_to: kernelState, tool_name: nullable(string), params_hash: nullable(digest), evidence_hash: nullable(digest), error: nullable(string) }, "closed");
export const verdict = names("allow", "require_approval", "deny", "downgrade");
export const riskBand = names("low", "moderate", "high", "critical");
export const profile = names("readonly_analysis", "local_edit_allowed", "network_read_allowed", "repo_mutation_gated", "external_publish_gated", "destructive_denied", "service");
export const policyResult = object({ policy_result_id: id("pol"), action_request_id: id("act"), action_request_sha256: digest, verdict: verdict, risk_band: riskBand, action_classes: array(actionClass), policy_profile: profile, policy_set_sha256: digest, schema_sha256: digest, determining_rules: array(string), affected_resources: array(string), action_summary: string, risk_summary: string, reasoning_summary: string, witness_required: boolean, decision_required: boolean, downgrade: nullable(string), evaluated_at: integer, standing: nullable(standingRef), need: nullable(u32) });
export const readItem = tagged("op", {
  list: object({ path: relPath, recursive: boolean }),
  read: object({ path: relPath }),
  lines: object({ path: relPath, from: u64, to: u64 }),
  search: object({ path: relPath, pattern: string, glob: nullable(string) }),
  hash: object({ path: relPath }),
  hash_folder: object({ path: relPath }),
});
export const prior = variant(names("absent", "empty_folder"), { sha256: digest, link: digest });
export const changeItem = tagged("op", {
  write: object({ path: relPath, content_sha256: digest, byte_size: u64, prior: prior, mode: nullable(u32) }),
  delete: object({ path: relPath, prior: prior }),
  move: object({ from: relPath, to: relPath, prior: prior }),
  folder: object({ path: relPath, mode: nullable(u32), was: nullable(u32) }),
  link: object({ path: relPath, target: string, prior: prior }),
});
export const method = names("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE");
export const header = object({ name: string, value: defaulted(string), secret: nullable(string) }, "closed");
export const fetch = object({ method: method, url: webUrl, headers: defaulted(array(header)), body: nullable(string), timeout_ms: defaulted(u64), if_match: nullable(string) }, "closed");
export const tracked = object({ path: relPath, sha256: nullable(digest), executable: boolean }, "closed");
export const vcsChange = tagged("op", {
  commit: object({ branch: string, prior: nullable(string), files: array(tracked), message: string }, "closed"),
  name: object({ name: string, at: string }, "closed"),
  move: object({ name: string, from: string, to: string, forward: boolean }, "closed"),
  delete: object({ name: string, at: string }, "closed"),
});
export const selector = tagged("by", {
  whole: object({}),
  bytes: object({ start: u64, end: u64 }),
  lines: object({ start: u64, end: u64, of: nullable(string) }),
  json_path: object({ pointer: string }),
  dom: object({ selector: string }),
  time_span: object({ start_ms: u64, end_ms: u64 }),
  record: object({ id: string }),
});
export const trustTier = names("untrusted", "observed", "verified", "user_asserted", "policy_asserted");
export const evidenceRef = object({ artifact_id: id("art"), selector: selector, excerpt_hash: digest, capture_method: string, confidence: u16, trust_tier: trustTier });
export const project = object({ hash: digest, name: string });
export const memoryType = names("decision", "pattern", "correction", "architecture", "preference");
export const memoryRetention = names("pinned", "kept", "dated");
export const replaced = object({ memory_id: id("mem"), claim: string });
export const alsoRemembered = object({ claim: string, scope: string, promotion_reason: string, evidence_refs: array(evidenceRef), sources: defaulted(array(string)), project: nullable(project), memory_type: nullable(memoryType) });
export const leftAsIs = object({ receipt_id: id("rcp"), resource: resource, why: string, beside: nullable(relPath) });
export const serverPart = names("resource", "prompt");
export const program = object({ name: string, path: string, sha256: digest }, "closed");
export const packageSource = names("npm", "pypi", "image");
export const launchPackage = object({ source: packageSource, name: string, version: nullable(string), told: defaulted(boolean) }, "closed");
export const serverLaunch = object({ argv: array(string), url: nullable(string), secrets: defaulted(record(string)), variables: defaulted(record(string)), hosts: defaulted(array(string)), reads: defaulted(array(string)), pins: array(program), package: nullable(launchPackage) }, "closed");
export const termsExample = object({ arguments: string, matches: boolean }, "closed");
export const toolTerms = object({ class: actionClass, paths: defaulted(array(string)), hosts: defaulted(array(string)), amounts: defaulted(array(string)), only_in: nullable(id("wsp")), examples: defaulted(array(termsExample)), repeatable: defaulted(boolean), trusted: defaulted(boolean), time_limit_ms: nullable(u64) }, "closed");
export const samplingTerms = object({ calls: u32, tokens: u64, task_tokens: u64 }, "closed");
export const toolHints = object({ read_only: nullable(boolean), destructive: nullable(boolean), idempotent: nullable(boolean), open_world: nullable(boolean) }, "closed");
export const serverTool = object({ name: string, title: nullable(string), description: nullable(string), input_schema: string, output_schema: nullable(string), hints: defaulted(toolHints) }, "closed");
export const serverResource = object({ uri: string, name: string, title: nullable(string), description: nullable(string), media_type: nullable(string) }, "closed");
export const promptArgument = object({ name: string, description: nullable(string), required: defaulted(boolean) }, "closed");
export const serverPrompt = object({ name: string, title: nullable(string), description: nullable(string), arguments: defaulted(array(promptArgument)) }, "closed");
export const toolManifest = object({ tools: array(serverTool), resources: defaulted(array(serverResource)), templates: defaulted(array(serverResource)), prompts: defaulted(array(serverPrompt)), left_out: defaulted(array(string)) }, "closed");
export const serverRegistration = object({ server: string, launch: serverLaunch, manifest: toolManifest }, "closed");
export const loginTerms = object({ url: webUrl, resource: string, issuer: string, authorization: webUrl, token: webUrl, registration: nullable(webUrl), revocation: nullable(webUrl), scopes: defaulted(array(string)), client_id: nullable(string), client_secret: nullable(string), secret_in_body: defaulted(boolean), names_issuer: defaulted(boolean) }, "closed");
export const skillFile = object({ path: string, byte_size: u64, sha256: digest }, "closed");
export const skill = object({ name: string, description: string, license: nullable(string), compatibility: nullable(string), allowed_tools: nullable(string), files: array(skillFile) }, "closed");
export const skillPlace = names("project_hermit", "project_agents", "project_claude", "own_hermit", "own_agents", "own_claude");
export const wasTrusted = object({ skill: skill, text: string, stands: defaulted(boolean) }, "closed");
export const trustSkill = object({ skill: skill, sha256: digest, place: skillPlace, project: nullable(string), text: string, invisible: defaulted(record(u64)), was: nullable(wasTrusted) }, "closed");
export const playbookTrialOutcome = names("same", "differs", "not_tried");
export const playbookTrial = object({ task_id: id("task"), receipts: array(id("rcp")), parameters: record(string), outcome: playbookTrialOutcome, why: nullable(string) }, "closed");
export const playbookDraft = object({ name: string, text: string, sha256: digest, shape_sha256: digest, project: project, trust_tier: trustTier, trials: array(playbookTrial), narrowest: string }, "closed");
export const adoptPlaybook = object({ draft: playbookDraft, at: artifactRef, version: u32, was: nullable(string) }, "closed");
export const rule = tagged("kind", {
  cron: object({ expression: string, zone: string }, "closed"),
  every: object({ period_ms: u64, from: integer }, "closed"),
  once: object({ at: integer, zone: string }, "closed"),
  event: object({}),
});
export const catchUp = variant(names("skip", "newest"), { newer: u32 });
export const when = object({ rule: rule, catch_up: catchUp, grace_ms: nullable(u64), jitter_ms: nullable(u64) }, "closed");
export const modelApi = names("openai", "responses", "anthropic", "gemini", "ollama");
export const scheduleProposer = tagged("kind", {
  playbook: object({ name: string, text: string, parameters: record(string) }, "closed"),
  model: object({ api: modelApi, base_url: string, model: string, secret: nullable(string) }, "closed"),
});
export const budget = object({ iterations_max: u32, tokens_max: u64, wall_ms_max: integer, cost_micros_max: u64 });
export const overlap = names("skip", "queue", "end_older");
export const dayBudget = object({ runs_max: nullable(u32), iterations_max: nullable(u32), tokens_max: nullable(u64), cost_micros_max: nullable(u64), wall_ms_max: nullable(integer) }, "closed");
export const hours = object({ from: u16, until: u16, zone: string }, "closed");
export const condition = names("mains", "network", "idle", "unmetered");
export const bounds = object({ overlap: nullable(overlap), per_hour_max: nullable(u32), ends_after_ms: nullable(u64), day: nullable(dayBudget), hours: nullable(hours), only: defaulted(array(condition)), battery_above: nullable(u32) }, "closed");
export const fileChanges = names("landed", "changed", "any");
export const runEnd = names("done", "failed", "either");
export const eventTag = object({ name: string, value: string }, "closed");
export const eventFilter = object({ relays: array(string), authors: defaulted(array(digest)), kinds: defaulted(array(u16)), tag: nullable(eventTag) }, "closed");
export const machineEvent = names("silent", "message", "receipt");
export const trigger = tagged("kind", {
  files: object({ globs: defaulted(array(string)), changes: fileChanges, quiet_ms: u64 }, "closed"),
  ref: object({ name: string }, "closed"),
  after: object({ of: string, end: runEnd }, "closed"),
  hook: object({ name: string }, "closed"),
  resource: object({ server: string, uri: string, every_ms: u64 }, "closed"),
  events: object({ filter: eventFilter, every_ms: u64 }, "closed"),
  machine: object({ name: string, event: machineEvent, minutes: nullable(u32) }, "closed"),
});
export const schedule = object({ name: string, said: string, when: when, goal: string, workspace_id: id("wsp"), folder: string, proposer: scheduleProposer, profile: profile, budget: budget, conversation_id: nullable(id("cnv")), bounds: defaulted(bounds), on: nullable(trigger), quiet: defaulted(boolean) }, "closed");
export const keepSchedule = object({ schedule: schedule, version: u32, next: array(string), was: nullable(schedule) }, "closed");
export const skinColours = object({ light: string, dark: string }, "closed");
export const skin = object({ format: string, name: string, version: u32, about: string, voice: string, form: string, mark: nullable(string), colours: nullable(skinColours), tools: nullable(array(string)) }, "closed");
export const skinSignature = object({ key: string, signature: string }, "closed");
export const skinFile = object({ skin: skin, signed: nullable(skinSignature) }, "closed");
export const trustSkin = object({ file: skinFile, sha256: digest, own_key: defaulted(boolean), known_key: defaulted(boolean), was: nullable(skin) }, "closed");
export const service = names("telegram", "matrix", "mail", "slack", "discord", "nostr", "webhook");
export const gateway = object({ name: string, service: service, address: defaulted(string), user: defaulted(string), settings: defaulted(record(string)), secret: string, hosts: array(string), workspace_id: id("wsp"), folder: string, proposer: scheduleProposer, profile: profile, budget: budget }, "closed");
export const keepGateway = object({ gateway: gateway, version: u32, was: nullable(gateway) }, "closed");
export const senderProfile = names("goals", "ask");
export const pairSender = object({ gateway: string, version: u32, service: service, profile: senderProfile, tasks_profile: profile, folder: string, code_sha256: digest }, "closed");
export const patchKind = names("policy", "words", "model", "code");
export const verdictOutcome = names("better", "same", "worse", "unsafe", "inconclusive");
export const adoptedPiece = object({ what: string, name: string, text: nullable(string), was: nullable(string) }, "closed");
export const adoptedProgram = object({ sha256: digest, bytes: u64, store_format: u32, source: digest }, "closed");
export const adoptedReview = object({ by: string, remarks: u64, review: artifactRef }, "closed");
export const editedTest = object({ file: string, sha256: digest, difference: string }, "closed");
export const adoptChange = object({ trial_id: string, kind: patchKind, says: string, sources: array(string), patch: artifactRef, verdict: artifactRef, outcome: verdictOutcome, reasons: defaulted(array(string)), tests: nullable(string), constitutional: defaulted(array(string)), pieces: array(adoptedPiece), diff: nullable(string), program: nullable(adoptedProgram), reviews: defaulted(array(adoptedReview)), edited_tests: defaulted(array(editedTest)) }, "closed");
export const returnChange = object({ trial_id: string, kind: patchKind, why: string, pieces: array(adoptedPiece), adopted_by: id("act") }, "closed");
export const register = tagged("op", {
  server: object({ registration: serverRegistration, was: nullable(serverRegistration), terms: defaulted(record(toolTerms)) }, "closed"),
  tool: object({ server: string, words: serverTool, terms: toolTerms, was: nullable(toolTerms) }, "closed"),
  sampling: object({ server: string, terms: nullable(samplingTerms), was: nullable(samplingTerms) }, "closed"),
  pass_on: object({ server: string, tools: record(actionClass) }, "closed"),
  login: object({ server: string, terms: loginTerms, was: nullable(loginTerms) }, "closed"),
  rules: object({ rules: string, was: string }, "closed"),
  soul: object({ version: u32, text: string, was: string }, "closed"),
  skill: object({ trust: trustSkill }, "closed"),
  playbook: object({ adopt: adoptPlaybook }, "closed"),
  schedule: object({ keep: keepSchedule }, "closed"),
  skin: object({ trust: trustSkin }, "closed"),
  gateway: object({ keep: keepGateway }, "closed"),
  pairing: object({ pair: pairSender }, "closed"),
  adopt: object({ change: adoptChange }, "closed"),
  return: object({ change: returnChange }, "closed"),
});
export const guestTells = names("codex_json", "claude_json", "aider_text", "acp");
export const guestLaunch = object({ guest: string, program: program, words: array(string), goes_on: defaulted(array(string)), tells_version: defaulted(array(string)), hosts: defaulted(array(string)), secrets: defaulted(record(string)), environment: defaulted(record(string)), home: defaulted(record(string)), reads: defaulted(array(string)), tells: nullable(guestTells) }, "closed");
export const messageButton = object({ label: string, data: string }, "closed");
export const anchorClock = names("rfc3161", "opentimestamps", "op_return");
export const anchorSubject = tagged("of", {
  head: object({ origin: string, size: u64, root: digest, note_sha256: digest }, "closed"),
  link: object({ number: u64 }, "closed"),
});
export const blockTime = object({ height: u64, hash: string, time: u64, depth: u64 }, "closed");
export const action = tagged("tool", {
  observe: object({ items: array(readItem) }),
  change: object({ items: array(changeItem) }),
  command: object({ argv: array(string), cwd: relPath, network: boolean, timeout_ms: u64, hosts: defaulted(array(string)), secrets: defaulted(array(string)) }),
  fetch: fetch,
  vcs: object({ change: vcsChange }),
  remember: object({ claim: string, scope: string, promotion_reason: string, evidence_refs: array(evidenceRef), sources: defaulted(array(string)), belief_id: nullable(id("blf")), project: nullable(project), memory_type: nullable(memoryType), retention: nullable(memoryRetention), days: nullable(u32), replaces: nullable(replaced), also: defaulted(array(alsoRemembered)) }),
  rollback: object({ receipt_id: id("rcp"), also: defaulted(array(id("rcp"))), partly: defaulted(array(id("rcp"))), left: defaulted(array(leftAsIs)), items: array(changeItem) }),
  call: object({ server: string, part: nullable(serverPart), name: string, arguments: string, launch: serverLaunch, registration_sha256: digest, manifest_sha256: digest, tool_sha256: digest, terms: nullable(toolTerms), sampling: nullable(samplingTerms), paths: defaulted(array(relPath)), hosts: defaulted(array(string)), amounts: defaulted(array(string)) }),
  register: register,
  guest: object({ launch: guestLaunch, prompt: string, goes_on: boolean, heard: u32, timeout_ms: u64 }),
  message: object({ gateway: string, version: u32, service: service, hosts: array(string), chat: string, to: string, text: string, buttons: defaulted(array(messageButton)), reply_to: nullable(string), edits: nullable(string), file: nullable(artifactRef), repeat_key: string }, "closed"),
  anchor: object({ number: u64, clock: anchorClock, digest: digest, subject: anchorSubject, completes: boolean, at: defaulted(array(string)), node: nullable(string), nonce: string, depth: u32, prior: nullable(artifactRef), was: nullable(blockTime), fee_max: nullable(u64) }, "closed"),
  publish: object({ instance_id: string, instance_pubkey: string, links: u64, link_sha256: digest, events: array(string), relays: array(string) }, "closed"),
  try_change: object({ patch: string, about: string, draw: nullable(u32), wall_seconds: nullable(u64) }, "closed"),
});
export const expectedEffect = object({ resource: resource, effect: string, before_sha256: nullable(digest), after_sha256: nullable(digest), byte_size: nullable(u64) });
export const stageMethod = names("overlay", "reflink", "copy");
export const leftOut = object({ path: relPath, entries: u64 });
export const staged = object({ method: stageMethod, sandbox_level: sandboxLevel, items: array(changeItem), transcript_sha256: digest, diff_sha256: digest, exit_code: nullable(i32), error: nullable(string), executable_sha256: nullable(digest), started_at: integer, finished_at: integer, notes: array(string), look_first: nullable(string), left_out: defaulted(array(leftOut)) });
export const reach = object({ files: defaulted(array(relPath)), programs: defaulted(array(program)), hidden: defaulted(array(relPath)), secrets: defaulted(array(relPath)), in_sight: defaulted(array(relPath)), unsure: nullable(string) });
export const insteadOf = object({ action_request_id: id("act"), request_sha256: digest, asked: string, mode: string, rules: array(string), policy_result_sha256: digest, draft_sha256: digest });
export const guestDiffers = object({ path: relPath, told: u64, shown: u64 });
export const guestWork = object({ guest: string, report: id("art"), error: nullable(string), told: nullable(array(relPath)), untold: defaulted(array(relPath)), differs: defaulted(array(guestDiffers)), helpers: defaulted(array(string)) });
export const actionRequest = object({ action_request_id: id("act"), task_id: id("task"), step_id: id("step"), attempt_id: id("att"), action_class: actionClass, target_resources: array(resource), action: action, expected_effects: array(expectedEffect), reversibility_hint: reversibility, reason: string, proposed_by: id("prn"), proposed_at: integer, evidence_refs: array(id("art")), staged: nullable(staged), not_staged: nullable(string), reach: nullable(reach), instead_of: nullable(insteadOf), guest: nullable(guestWork) });
export const fingerprint = object({ resource: resource, state: found });
export const stateWitness = object({ witness_id: id("wit"), action_request_id: id("act"), attempt_id: id("att"), fingerprints: array(fingerprint), preconditions: array(string), observed_at: integer, expires_at: integer, observed_by: id("prn") });
export const stagedChange = object({ path: relPath, from: nullable(relPath), effect: string, before_sha256: nullable(digest), before_bytes: nullable(u64), before_mode: nullable(u32), after_sha256: nullable(digest), after_bytes: nullable(u64), after_mode: nullable(u32), text: nullable(string), no_text: nullable(string) });
export const stagedView = object({ diff: artifactRef, transcript: artifactRef, changes: array(stagedChange), printed: string, printed_bytes: u64 });
export const approvalPacket = object({ approval_id: id("apr"), task_id: id("task"), step_id: id("step"), attempt_id: id("att"), goal: string, action_request: actionRequest, policy_result: policyResult, action_summary: string, risk_summary: string, risk_band: riskBand, rationale: string, evidence_refs: array(id("art")), impacted_resources: array(string), rollback_availability: string, state_witness: nullable(stateWitness), requested_at: integer, expires_at: integer, nonce: string, staged: nullable(stagedView) });
export const choice = names("once", "standing", "deny");
export const shape = names("exact", "argv_prefix", "path_glob", "host");
export const approvalScope = object({ shape: shape, pattern: array(string), expires_at: integer, max_uses: u32 });
export const surface = names("terminal", "approval_window", "browser", "test", "run_api", "mcp", "script", "main_window", "notification", "chat", "mesh");
export const approvalDecision = object({ approval_id: id("apr"), packet_sha256: digest, choice: choice, scope: approvalScope, nonce: string, surface: surface, decided_by: id("prn"), decided_at: integer, feedback: nullable(string) });
export const pathAct = names("create", "overwrite", "delete");
export const cover = tagged("kind", {
  command: object({ words: array(string), whole: boolean, cwd: relPath, network: boolean, changes: array(string), programs: defaulted(array(program)) }, "closed"),
  paths: object({ glob: string, acts: array(pathAct) }, "closed"),
  host: object({ name: string, port: u16, write: boolean }, "closed"),
  act: object({ action_sha256: digest, summary: string }, "closed"),
  chat: object({ gateway: string, version: u32, chat: string }, "closed"),
  anchor: object({ clock: anchorClock, hosts: array(string) }, "closed"),
});
export const standingScope = tagged("kind", {
  user: object({}),
  project: object({ workspace_id: id("wsp") }, "closed"),
  task: object({ task_id: id("task") }, "closed"),
  schedule: object({ name: string, version: u32 }, "closed"),
});
export const givenAt = object({ approval_id: id("apr"), packet_sha256: digest }, "closed");
export const standingGrant = object({ format: string, log_id: string, grant_id: id("grt"), cover: cover, scope: standingScope, after_untrusted: boolean, issued_at: integer, expires_at: integer, max_uses: u32, given_at: nullable(givenAt), override_reason: nullable(string), surface: surface, decided_by: id("prn") }, "closed");
export const passkeyEnrolment = object({ format: string, log_id: string, credential_id: string, public_key: string, rp_id: string, origin: string, authenticator_data: string, surface: surface, enrolled_by: id("prn"), enrolled_at: integer }, "closed");
export const filesystemScope = names("nothing", "read_lease", "named", "lease");
export const capabilityGrant = object({ grant_id: id("grt"), task_id: id("task"), step_id: id("step"), attempt_id: id("att"), issued_to_principal_id: id("prn"), issued_by_principal_id: id("prn"), action_class: actionClass, resource_scope: array(string), issued_at: integer, not_before: integer, expires_at: integer, max_uses: u32, action_request_sha256: digest, policy_result_sha256: digest, approval_packet_sha256: slot(digest), witness_sha256: slot(digest), approval_ref: slot(id("apr")), decision_ref: slot(id("dec")), filesystem_scope: filesystemScope, network_scope: array(string), secret_scope: array(string), standing: nullable(standingRef) });
export const artifactClass = names("source", "working", "derived", "evidence", "deliverable", "audit");
export const artifactKind = names("context.pack", "context.summary", "answer.check", "action.request", "policy.result", "approval.packet", "approval.decision", "state.witness", "environment.snapshot", "workspace.snapshot", "search.bundle", "web.snapshot", "file.snapshot", "patch", "diff", "command.transcript", "test.report", "image", "binary.attachment", "belief.extract", "memory.promotion", "receipt.bundle", "task.contract", "step.contract", "capability.grant", "working.state", "model.request", "model.response", "model.answer", "playbook", "tool.manifest", "guest.launch", "guest.report", "guest.sent", "policy.rules", "skill", "skill.text", "transcript", "action.result", "answer", "message", "quote", "playbook.draft", "schedule", "skin", "gateway", "chat.message", "soul", "identity.link", "successor.patch", "successor.evidence", "successor.verdict", "training.dataset", "training.sources", "training.adapter", "training.measures", "model.card");
export const retentionClass = names("permanent", "task", "ephemeral");
export const sensitivity = names("public", "private", "secret");
export const artifact = object({ artifact_id: id("art"), class: artifactClass, kind: artifactKind, uri: sensitive(string), content_hash: digest, media_type: string, byte_size: u64, created_at: integer, producer: id("prn"), retention_class: retentionClass, trust_tier: trustTier, sensitivity_class: sensitivity, produced_by: nullable(id("att")), inputs: defaulted(array(id("art"))), task_local_alias: nullable(sensitive(string)) });
export const approvalStatus = names("pending", "granted", "denied", "expired", "cancelled", "invalidated");
export const approval = object({ approval_id: id("apr"), task_id: id("task"), step_id: id("step"), attempt_id: id("att"), status: approvalStatus, approval_type: actionClass, requested_action_ref: id("art"), approval_packet_ref: id("art"), approval_packet_sha256: digest, requested_at: integer, resolved_at: nullable(integer), resolved_by: nullable(id("prn")), expires_at: integer, state_witness_ref: nullable(id("wit")), policy_result_ref: id("art") });

export type Event = Of<typeof event>;
export type Statement = Of<typeof statement>;
export type AuditEntry = Of<typeof auditEntry>;
export type PolicyResult = Of<typeof policyResult>;
export type ApprovalPacket = Of<typeof approvalPacket>;
export type ApprovalDecision = Of<typeof approvalDecision>;
export type StandingGrant = Of<typeof standingGrant>;
export type PasskeyEnrolment = Of<typeof passkeyEnrolment>;
export type CapabilityGrant = Of<typeof capabilityGrant>;

/** Bodies that other files of a bundle must agree with, by type; all of them are version 1. */
export const BODIES = {
  "attempt.answer_checked": object({ about_attempt_id: id("att"), answer: artifactRef, check: artifactRef, method: string, by_receipt: u32, by_evidence: u32, by_absence: u32, claimless: u32, unverified: u32, by_citation: nullable(u32), near: nullable(u32) }, "closed"),
  "artifact.created": object({ artifact: artifact }, "closed"),
  "receipt.issued": object({ receipt_id: id("rcp"), receipt_class: receiptClass, action_class: actionClass, result_code: resultCode, action_request_id: nullable(id("act")), envelope: artifactRef, statement_sha256: digest, reversibility: reversibility, rolls_back: nullable(id("rcp")), verifiability: verifiability, summary: sensitive(string) }, "closed"),
  "approval.requested": object({ approval: approval, action_request_id: id("act"), risk_band: riskBand, nonce: string, summary: sensitive(string), need: nullable(u32) }, "closed"),
  "approval.signed": object({ approval_id: id("apr"), decided_by: id("prn"), surface: surface, scope: approvalScope, envelope: artifactRef, keyid: digest, passkey: nullable(artifactRef) }, "closed"),
  "approval.granted": object({ approval_id: id("apr"), decided_by: id("prn"), surface: surface, scope: approvalScope, envelope: artifactRef, keyid: digest, receipt_id: nullable(id("rcp")), passkey: nullable(artifactRef), first: nullable(artifactRef) }, "closed"),
  "approval.denied": object({ approval_id: id("apr"), decided_by: id("prn"), surface: surface, envelope: nullable(artifactRef), feedback: nullable(sensitive(string)) }, "closed"),
  "policy.evaluated": object({ policy_result_id: id("pol"), action_request_id: id("act"), result: artifactRef, verdict: verdict, risk_band: riskBand, policy_set_sha256: digest }, "closed"),
  "action.requested": object({ action_request_id: id("act"), request: artifactRef, action_class: actionClass, tool: string, summary: sensitive(string) }, "closed"),
  "grant.issued": object({ grant_id: id("grt"), action_request_id: id("act"), grant: artifactRef, action_class: actionClass, issued_to: id("prn"), expires_at: integer, max_uses: u32, approval_ref: slot(id("apr")), decision_ref: slot(id("dec")) }, "closed"),
  "grant.standing_used": object({ grant_id: id("grt"), action_request_id: id("act"), envelope: artifactRef, use_no: u32, max_uses: u32 }, "closed"),
  "witness.captured": object({ witness_id: id("wit"), action_request_id: id("act"), witness: artifactRef, expires_at: integer }, "closed"),
  "witness.validated": object({ witness_id: id("wit"), action_request_id: id("act"), observed: artifactRef }, "closed"),
  "effect.dispatched": object({ action_request_id: id("act"), grant_id: id("grt"), executor: string, audit_entry_sha256: digest }, "closed"),
  "effect.resolved": object({ action_request_id: id("act"), result_code: resultCode, note: sensitive(string), receipt_id: id("rcp") }, "closed"),
};

/** Every event type this program knows, in the order of the registry. */
export const REGISTRY = [
  "store.initialised",
  "key.registered",
  "key.rotated",
  "host.started",
  "host.stopped",
  "gate.halted",
  "gate.booted",
  "checkpoint.signed",
  "backup.made",
  "store.restored",
  "chain.reanchored",
  "disclosure.erased",
  "dedupe.recorded",
  "principal.registered",
  "workspace.registered",
  "conversation.opened",
  "conversation.focus_changed",
  "ingress.received",
  "ingress.bound",
  "task.created",
  "task.status_changed",
  "task.pause_requested",
  "task.cancel_requested",
  "task.input_added",
  "task.input_absorbed",
  "task.goal_changed",
  "task.priority_changed",
  "budget.reserved",
  "budget.settled",
  "step.created",
  "step.status_changed",
  "attempt.created",
  "attempt.status_changed",
  "attempt.checkpointed",
  "attempt.environment_captured",
  "workspace.lease_acquired",
  "workspace.lease_renewed",
  "workspace.lease_released",
  "workspace.lease_lost",
  "attempt.context_compiled",
  "attempt.model_requested",
  "attempt.model_responded",
  "attempt.model_failed",
  "attempt.output_rejected",
  "attempt.iteration_completed",
  "attempt.terminated",
  "action.requested",
  "policy.evaluated",
  "decision.recorded",
  "witness.captured",
  "witness.validated",
  "witness.drifted",
  "approval.requested",
  "approval.granted",
  "approval.denied",
  "approval.expired",
  "approval.cancelled",
  "approval.invalidated",
  "grant.issued",
  "grant.revoked",
  "effect.dispatched",
  "effect.observed",
  "effect.uncertain",
  "effect.resolved",
  "receipt.issued",
  "artifact.created",
  "artifact.referenced",
  "artifact.sealed",
  "artifact.promoted",
  "artifact.compacted",
  "artifact.expired",
  "working_state.updated",
  "belief.asserted",
  "belief.revised",
  "belief.superseded",
  "belief.contradicted",
  "belief.revoked",
  "belief.expired",
  "memory.promoted",
  "memory.invalidated",
  "memory.revoked",
  "memory.expired",
  "clarification.requested",
  "clarification.answered",
  "clarification.expired",
  "clarification.cancelled",
  "key.revoked",
  "checkpoint.cosigned",
  "person.decided",
  "pin.accepted",
  "grant.standing_allowed",
  "grant.standing_revoked",
  "grant.standing_used",
  "secret.registered",
  "secret.removed",
  "content.redacted",
  "receipts.undone",
  "task.input_queued",
  "action.downgraded",
  "secret.placed",
  "trial.started",
  "trial.ended",
  "project.known",
  "effect.progressed",
  "ingress.attributed",
  "tools.registered",
  "tools.classified",
  "tools.changed",
  "tools.disabled",
  "tools.removed",
  "policy.rules_changed",
  "task.delegated",
  "task.children_started",
  "task.child_ended",
  "attempt.tools_found",
  "tools.sampling_set",
  "sampling.requested",
  "sampling.ended",
  "attempt.context_compacted",
  "tools.login_allowed",
  "tools.logged_in",
  "tools.logged_out",
  "attempt.answer_checked",
  "skill.trusted",
  "skill.untrusted",
  "attempt.skill_loaded",
  "store.history_read",
  "attempt.answer_continued",
  "store.state_rooted",
  "task.criteria_checked",
  "task.limit_reached",
  "task.limit_raised",
  "attempt.model_fell_back",
  "playbook.adopted",
  "playbook.turned_off",
  "tools.passed_on",
  "schedule.kept",
  "schedule.paused",
  "schedule.resumed",
  "schedule.removed",
  "schedule.settled",
  "schedule.fired",
  "schedule.not_begun",
  "skin.trusted",
  "skin.untrusted",
  "conversation.skin_chosen",
  "passkey.enrolled",
  "passkey.used",
  "passkey.refused",
  "passkey.revoked",
  "schedule.called",
  "schedule.calls_refused",
  "gateway.kept",
  "gateway.paused",
  "gateway.resumed",
  "gateway.removed",
  "gateway.pairing_allowed",
  "sender.paired",
  "sender.unpaired",
  "message.received",
  "message.refused",
  "sender.silenced",
  "gateway.read",
  "message.queued",
  "message.sending",
  "message.settled",
  "passkey.signed_in",
  "passkey.sign_in_refused",
  "push.subscribed",
  "push.ended",
  "identity.soul_written",
  "identity.key_registered",
  "identity.linked",
  "identity.published",
  "anchor.requested",
  "anchor.asked",
  "anchor.stamped",
  "anchor.completed",
  "anchor.withdrawn",
  "anchor.failed",
  "mesh.joined",
  "mesh.left",
  "mesh.stepped",
  "mesh.settled",
  "mesh.taken",
  "approval.signed",
  "successor.began",
  "successor.judged",
  "successor.stopped",
  "successor.adopted",
  "successor.returned",
  "training.curated",
  "training.finished",
  "training.exported",
  "training.recalled",
] as const;
export type EventType = (typeof REGISTRY)[number];
