//! The registry of events: every type, its version, its body. Append-only; a change is a new version.
#![allow(
    missing_docs,
    reason = "fields are typed by nouns that carry the documentation; each event has its own line"
)]

use crate::Error;
use crate::event::EntityType;
pub use crate::task::Boundary;
use seal::{Digest, disclose::Sensitive};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
pub use words::{act::TrialOutcome, store::KeyPurpose, store::ProjectSource};

mod nouns;
#[macro_use]
mod registry;
#[macro_use]
mod passkeys;
#[macro_use]
mod hooks;
#[macro_use]
mod schedules;
#[macro_use]
mod skins;
#[macro_use]
mod gateways;
#[macro_use]
mod elsewhere;
#[macro_use]
mod identity;
#[macro_use]
mod anchors;
#[macro_use]
mod mesh;
#[macro_use]
mod dual;
#[macro_use]
mod successor;
#[macro_use]
mod training;
use nouns::*;
type Text = Sensitive<String>;

with_schedules! { with_skins with_passkeys with_hooks with_gateways with_elsewhere with_identity with_anchors with_mesh with_dual with_successor with_training bodies
    /// A store was made.
    StoreInitialised ("store.initialised", 1, Store, |b| b.store_id) { store_id: String, system_task_id: TaskId, hermit_version: String }
    /// A key was made known.
    KeyRegistered ("key.registered", 1, Key, |b| b.keyid) { keyid: Digest, purpose: KeyPurpose, public_key: seal::keys::PublicKey, kept_in: String }
    /// A key took the place of another; both sign the same text.
    KeyRotated ("key.rotated", 1, Key, |b| b.new_keyid) {
        purpose: KeyPurpose, old_keyid: Digest, new_keyid: Digest, public_key: seal::keys::PublicKey,
        signature_by_old: String, signature_by_new: String,
    }
    /// A host took the store.
    HostStarted ("host.started", 1, Host, |b| b.session) { session: String, epoch: u64, hermit_version: String, recovered: u32 }
    /// A host let go of the store.
    HostStopped ("host.stopped", 1, Host, |b| b.session) { session: String, epoch: u64 }
    /// The gate was halted by a person or by a failure; nothing executes until a person boots it.
    GateHalted ("gate.halted", 1, Gate, |b| b.session) { session: String, reason: Text, by_person: bool }
    /// A person booted the gate again.
    GateBooted ("gate.booted", 1, Gate, |b| b.session) { session: String }
    /// A checkpoint was signed.
    CheckpointSigned ("checkpoint.signed", 1, Checkpoint, |b| b.root) { origin: String, size: u64, root: Digest, note_sha256: Digest, about_task_id: Option<TaskId> }
    /// A copy of the store was made.
    BackupMade ("backup.made", 1, Store, |b| b.manifest_sha256) { manifest_sha256: Digest, files: u64, bytes: u64 }
    /// The store was restored from a copy.
    StoreRestored ("store.restored", 1, Store, |b| b.manifest_sha256) { manifest_sha256: Digest, behind_pin: bool }
    /// A broken chain was anchored anew; the severed rows stay readable (proof.md 2).
    ChainReanchored ("chain.reanchored", 1, Store, |b| b.severed_sha256) {
        about_task_id: TaskId, from_seq: u64, severed_sha256: Digest, reason: Text,
    }
    /// Disclosures were erased; every hash stays valid.
    DisclosuresErased ("disclosure.erased", 1, Store, |b| b.reason) { digests: Vec<Digest>, reason: String }
    /// A duplicate was answered with the first result.
    DuplicateRefused ("dedupe.recorded", 1, Store, |b| b.original_event_id) {
        idempotency_key: String, original_event_id: EventId, what: String,
    }
    /// A principal is known.
    PrincipalRegistered ("principal.registered", 1, Principal, |b| b.principal.principal_id) { principal: Principal }
    /// A folder is known as a workspace.
    WorkspaceRegistered ("workspace.registered", 1, Workspace, |b| b.workspace_id) { workspace_id: WorkspaceId, root_path: Text }
    /// A conversation was opened.
    ConversationOpened ("conversation.opened", 1, Conversation, |b| b.conversation_id) {
        conversation_id: ConversationId, inbox_task_id: TaskId, title: Text; since workspace_id: WorkspaceId
    }
    /// A conversation's implicit focus moved.
    FocusChanged ("conversation.focus_changed", 1, Conversation, |b| b.conversation_id) {
        conversation_id: ConversationId, focus_task_id: Option<TaskId>, reason: String,
    }
    /// A message came in.
    IngressReceived ("ingress.received", 1, Ingress, |b| b.record.ingress_id) { record: IngressRecord }
    /// A message was bound to what it is about.
    IngressBound ("ingress.bound", 1, Ingress, |b| b.ingress_id) {
        ingress_id: IngressId, resolution: IngressResolution, chosen_task_id: Option<TaskId>, candidates: Vec<TaskId>,
        rationale: Text; since confidence: u16, margin: u16, anchor: ContinuationAnchor
    }
    // Tasks and steps.
    /// A task exists.
    TaskCreated ("task.created", 1, Task, |b| b.task.task_id) { task: Task, ingress_id: IngressId }
    /// A task changed its status.
    TaskStatusChanged ("task.status_changed", 1, Task, |b| b.about_task_id) {
        about_task_id: TaskId, from: TaskStatus, to: TaskStatus, reason: String, note: Option<Text>,
    }
    /// A person asked for a pause, taken at the next boundary.
    TaskPauseRequested ("task.pause_requested", 1, Task, |b| b.about_task_id) { about_task_id: TaskId }
    /// A person asked for the end, taken at the next boundary.
    TaskCancelRequested ("task.cancel_requested", 1, Task, |b| b.about_task_id) { about_task_id: TaskId, reason: Text }
    /// New input waits to be absorbed (HK-8.3-10).
    TaskInputAdded ("task.input_added", 1, Task, |b| b.about_task_id) {
        about_task_id: TaskId, ingress_id: IngressId, text: Text; since trust_tier: TrustTier, encloses: Vec<ArtifactId>
    }
    /// New input was absorbed at a boundary (HK-11.5-5).
    TaskInputAbsorbed ("task.input_absorbed", 1, Task, |b| b.about_task_id) {
        about_task_id: TaskId, ingress_id: IngressId, boundary: Boundary,
    }
    /// The goal was edited. `title`: what the task is called since, where its title was how its goal began.
    TaskGoalChanged ("task.goal_changed", 1, Task, |b| b.about_task_id) { about_task_id: TaskId, goal: Text; since title: Text }
    /// The priority was changed.
    TaskPriorityChanged ("task.priority_changed", 1, Task, |b| b.about_task_id) { about_task_id: TaskId, priority: Priority }
    /// Part of the budget was set aside before a call.
    BudgetReserved ("budget.reserved", 1, Task, |b| b.about_task_id) { about_task_id: TaskId, tokens: u64, cost_micros: u64 }
    /// What a call really used; the rest of its reservation is free again.
    BudgetSettled ("budget.settled", 1, Task, |b| b.about_task_id) {
        about_task_id: TaskId, tokens: u64, cost_micros: u64, wall_ms: i64,
    }
    /// A step is planned.
    StepCreated ("step.created", 1, Step, |b| b.step.step_id) { step: Step }
    /// A step changed its status.
    StepStatusChanged ("step.status_changed", 1, Step, |b| b.about_step_id) {
        about_step_id: StepId, from: StepStatus, to: StepStatus, reason: String,
    }
    // Attempts, leases, the loop.
    /// An attempt is numbered.
    AttemptCreated ("attempt.created", 1, Attempt, |b| b.attempt.attempt_id) { attempt: StepAttempt }
    /// An attempt changed its status (HK-12.3-3).
    AttemptStatusChanged ("attempt.status_changed", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, from: AttemptStatus, to: AttemptStatus, phase: AttemptPhase, reason: String,
    }
    /// An attempt's inputs are pinned; it resumes from here.
    AttemptCheckpointed ("attempt.checkpointed", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, iteration: u32, context_pack_ref: Slot<ArtifactId>, working_state_ref: Slot<ArtifactId>,
    }
    /// The environment was captured (HK-17.2).
    EnvironmentCaptured ("attempt.environment_captured", 1, Attempt, |b| b.about_attempt_id) { about_attempt_id: AttemptId, environment: ArtifactRef }
    /// A lease was taken.
    LeaseAcquired ("workspace.lease_acquired", 1, Workspace, |b| b.lease.lease_id) { lease: WorkspaceLease }
    /// A lease was prolonged.
    LeaseRenewed ("workspace.lease_renewed", 1, Workspace, |b| b.lease_id) { lease_id: LeaseId, expires_at: UnixMs }
    /// A lease was given back.
    LeaseReleased ("workspace.lease_released", 1, Workspace, |b| b.lease_id) { lease_id: LeaseId }
    /// A lease ran out or was taken away; its holder must not go on silently (HK-20.3-2).
    LeaseLost ("workspace.lease_lost", 1, Workspace, |b| b.lease_id) { lease_id: LeaseId, reason: String }
    /// A context pack was compiled.
    ContextCompiled ("attempt.context_compiled", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, iteration: u32, pack: ArtifactRef, tokens: u32, items: u32, omissions: u32;
        since memories: Vec<MemoryId>, pinned: Vec<Digest>
    }
    /// A model is about to be asked; the exact bytes are the artifact.
    ModelRequested ("attempt.model_requested", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, iteration: u32, request: ArtifactRef, provider: String, model: String, remote: bool,
    }
    /// A model has answered: the exact bytes, and the answer as read from them.
    ModelResponded ("attempt.model_responded", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, iteration: u32, response: ArtifactRef, answer: ArtifactRef, tokens_in: u64,
        tokens_out: u64, cost_micros: u64, finish_reason: String,
    }
    /// A model could not answer.
    ModelFailed ("attempt.model_failed", 1, Attempt, |b| b.about_attempt_id) { about_attempt_id: AttemptId, iteration: u32, error: Text, retryable: bool }
    /// A model's answer was malformed and is asked for again (RX-8-2).
    ModelOutputRejected ("attempt.output_rejected", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, iteration: u32, in_a_row: u32, reason: Text,
    }
    /// One turn of the loop is complete (RX-4).
    IterationCompleted ("attempt.iteration_completed", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, record: IterationRecord,
    }
    /// The loop ended, and why (RX-5-6).
    RunTerminated ("attempt.terminated", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, reason: TerminationReason, iterations: u32, summary: Text,
        answer: Option<ArtifactRef>; since helped: Vec<MemoryId>, contradicted: Vec<MemoryId>
    }

    // The governed path.
    /// An action was proposed and normalised.
    ActionRequested ("action.requested", 1, ActionRequest, |b| b.action_request_id) {
        action_request_id: ActionRequestId, request: ArtifactRef, action_class: ActionClass, tool: String, summary: Text,
    }
    /// Policy answered.
    PolicyEvaluated ("policy.evaluated", 1, PolicyResult, |b| b.policy_result_id) {
        policy_result_id: PolicyResultId, action_request_id: ActionRequestId, result: ArtifactRef, verdict: Verdict,
        risk_band: RiskBand, policy_set_sha256: Digest,
    }
    /// A judgment was recorded (HK-8.8).
    DecisionRecorded ("decision.recorded", 1, Decision, |b| b.decision.decision_id) { decision: Decision }
    /// Preconditions were captured.
    WitnessCaptured ("witness.captured", 1, Witness, |b| b.witness_id) {
        witness_id: WitnessId, action_request_id: ActionRequestId, witness: ArtifactRef, expires_at: UnixMs,
    }
    /// Preconditions were observed again and hold.
    WitnessValidated ("witness.validated", 1, Witness, |b| b.witness_id) {
        witness_id: WitnessId, action_request_id: ActionRequestId, observed: ArtifactRef,
    }
    /// Preconditions were observed again and do not hold.
    WitnessDrifted ("witness.drifted", 1, Witness, |b| b.witness_id) {
        witness_id: WitnessId, action_request_id: ActionRequestId, differences: Vec<Text>,
    }
    /// A person is asked.
    ApprovalRequested ("approval.requested", 1, Approval, |b| b.approval.approval_id) {
        approval: Approval, action_request_id: ActionRequestId, risk_band: RiskBand, nonce: String, summary: Text; since need: u32
    }
    /// A person said yes; the signed envelope is the artifact. `first`: the yes of another key before it, where two have to be.
    ApprovalGranted ("approval.granted", 1, Approval, |b| b.approval_id) {
        approval_id: ApprovalId, decided_by: PrincipalId, surface: Surface, scope: ApprovalScope,
        envelope: ArtifactRef, keyid: Digest, receipt_id: Option<ReceiptId>; since passkey: ArtifactRef, first: ArtifactRef
    }
    /// A person said no.
    ApprovalDenied ("approval.denied", 1, Approval, |b| b.approval_id) {
        approval_id: ApprovalId, decided_by: PrincipalId, surface: Surface, envelope: Option<ArtifactRef>,
        feedback: Option<Text>,
    }
    /// Nobody answered in time; nothing was decided.
    ApprovalExpired ("approval.expired", 1, Approval, |b| b.approval_id) { approval_id: ApprovalId }
    /// Its task ended first.
    ApprovalCancelled ("approval.cancelled", 1, Approval, |b| b.approval_id) { approval_id: ApprovalId }
    /// What it was about has changed (HK-16.7-2).
    ApprovalInvalidated ("approval.invalidated", 1, Approval, |b| b.approval_id) { approval_id: ApprovalId, reason: String }
    /// Authority was minted; the record is the artifact.
    GrantIssued ("grant.issued", 1, Grant, |b| b.grant_id) {
        grant_id: GrantId, action_request_id: ActionRequestId, grant: ArtifactRef, action_class: ActionClass,
        issued_to: PrincipalId, expires_at: UnixMs, max_uses: u32, approval_ref: Slot<ApprovalId>, decision_ref: Slot<DecisionId>,
    }
    /// Authority was taken back while unused.
    GrantRevoked ("grant.revoked", 1, Grant, |b| b.grant_id) { grant_id: GrantId, reason: String }
    /// The grant is consumed and the executor is about to start: committed before it does.
    EffectDispatched ("effect.dispatched", 1, ActionRequest, |b| b.action_request_id) {
        action_request_id: ActionRequestId, grant_id: GrantId, executor: String, audit_entry_sha256: Digest,
    }
    /// The outcome is known; the details are the artifact.
    EffectObserved ("effect.observed", 1, ActionRequest, |b| b.action_request_id) {
        action_request_id: ActionRequestId, result: ArtifactRef, result_code: ResultCode, sandbox_level: SandboxLevel, recovered: bool,
    }
    /// The outcome is not known and must be settled (HK-19.4).
    EffectUncertain ("effect.uncertain", 1, ActionRequest, |b| b.action_request_id) {
        action_request_id: ActionRequestId, reason: Text,
    }
    /// A person settled an unknown outcome.
    OutcomeResolved ("effect.resolved", 1, ActionRequest, |b| b.action_request_id) {
        action_request_id: ActionRequestId, result_code: ResultCode, note: Text, receipt_id: ReceiptId,
    }
    /// A receipt was issued; the signed envelope is the artifact.
    ReceiptIssued ("receipt.issued", 1, Receipt, |b| b.receipt_id) {
        receipt_id: ReceiptId, receipt_class: ReceiptClass, action_class: ActionClass, result_code: ResultCode,
        action_request_id: Option<ActionRequestId>, envelope: ArtifactRef, statement_sha256: Digest,
        reversibility: Reversibility, rolls_back: Option<ReceiptId>, verifiability: Verifiability, summary: Text,
    }

    // Artifacts and knowledge.
    /// An artifact exists.
    ArtifactCreated ("artifact.created", 1, Artifact, |b| b.artifact.artifact_id) { artifact: Artifact }
    /// An artifact was used.
    ArtifactReferenced ("artifact.referenced", 1, Artifact, |b| b.artifact_id) { artifact_id: ArtifactId, by: String }
    /// An artifact was sealed: cited by a decision, approval or receipt (HK-14.3-3).
    ArtifactSealed ("artifact.sealed", 1, Artifact, |b| b.artifact_id) { artifact_id: ArtifactId, by: String }
    /// An artifact's content became durable memory.
    ArtifactPromoted ("artifact.promoted", 1, Artifact, |b| b.artifact_id) { artifact_id: ArtifactId, memory_id: MemoryId }
    /// An artifact's content was folded into another.
    ArtifactCompacted ("artifact.compacted", 1, Artifact, |b| b.artifact_id) { artifact_id: ArtifactId, into: ArtifactId }
    /// An artifact's content is no longer kept; its digest is.
    ArtifactExpired ("artifact.expired", 1, Artifact, |b| b.artifact_id) { artifact_id: ArtifactId, reason: String }
    /// An attempt's working state changed; the whole of it is the artifact.
    WorkingStateUpdated ("working_state.updated", 1, WorkingState, |b| b.state.artifact_id) {
        state: ArtifactRef, byte_size: u64, revision: u32,
    }
    /// A belief is held.
    BeliefAsserted ("belief.asserted", 1, Belief, |b| b.belief.belief_id) { belief: Belief }
    /// A belief's next revision: confidence or evidence changed.
    BeliefRevised ("belief.revised", 1, Belief, |b| b.belief.belief_id) { belief: Belief, reason: Text }
    /// A belief gave way to another.
    BeliefSuperseded ("belief.superseded", 1, Belief, |b| b.belief_id) { belief_id: BeliefId, by: BeliefId }
    /// Two beliefs contradict each other; neither is deleted.
    BeliefContradicted ("belief.contradicted", 1, Belief, |b| b.belief_id) { belief_id: BeliefId, by: BeliefId, note: Text }
    /// A belief was taken back.
    BeliefRevoked ("belief.revoked", 1, Belief, |b| b.belief_id) { belief_id: BeliefId, reason: Text }
    /// A belief went stale.
    BeliefExpired ("belief.expired", 1, Belief, |b| b.belief_id) { belief_id: BeliefId }
    /// A claim became durable memory.
    MemoryPromoted ("memory.promoted", 1, Memory, |b| b.record.memory_id) { record: MemoryRecord }
    /// A memory record was found wrong, or superseded.
    MemoryInvalidated ("memory.invalidated", 1, Memory, |b| b.memory_id) {
        memory_id: MemoryId, reason: Text, superseded_by: Option<MemoryId>,
    }
    /// A memory record was taken back.
    MemoryRevoked ("memory.revoked", 1, Memory, |b| b.memory_id) { memory_id: MemoryId, reason: Text }
    /// A memory record went stale.
    MemoryExpired ("memory.expired", 1, Memory, |b| b.memory_id) { memory_id: MemoryId }

    // Questions.
    /// A person is asked a question.
    ClarificationRequested ("clarification.requested", 1, Clarification, |b| b.clarification.clarification_id) {
        clarification: Clarification,
    }
    /// A question was answered.
    ClarificationAnswered ("clarification.answered", 1, Clarification, |b| b.clarification_id) {
        clarification_id: ClarificationId, ingress_id: IngressId,
    }
    /// A question lapsed.
    ClarificationExpired ("clarification.expired", 1, Clarification, |b| b.clarification_id) { clarification_id: ClarificationId }
    /// A question's task ended.
    ClarificationCancelled ("clarification.cancelled", 1, Clarification, |b| b.clarification_id) { clarification_id: ClarificationId }

    // Keys that are not believed any more, heads that others have signed, and what only a person may decide.
    /// A key must not be believed any more; the key that followed it says so.
    KeyRevoked ("key.revoked", 1, Key, |b| b.keyid) {
        purpose: KeyPurpose, keyid: Digest, public_key: seal::keys::PublicKey, revoked_by: Digest, signature: String, reason: Text,
    }
    /// A witness signed a head of the log; the line is its cosignature as it stands in the note.
    CheckpointCosigned ("checkpoint.cosigned", 1, Checkpoint, |b| b.root) {
        origin: String, size: u64, root: Digest, witness: String, line: String,
    }
    /// A person signed what nobody else may decide; the text holds codes and digests alone.
    PersonDecided ("person.decided", 1, Store, |b| b.decision_sha256) {
        decision: String, decision_sha256: Digest, keyid: Digest, signature: String,
    }
    /// The store goes on although it is not consistent with the head that was kept outside it.
    PinAccepted ("pin.accepted", 1, Store, |b| b.pin_sha256) { standing: String, pinned: u64, found: u64, pin_sha256: Digest }
    // A person's lasting yes. What it covers is in the signed envelope; the words are for people.
    /// A person allowed the like of an act from now on; the signed envelope is the artifact.
    StandingAllowed ("grant.standing_allowed", 1, Grant, |b| b.grant_id) {
        grant_id: GrantId, envelope: ArtifactRef, keyid: Digest, surface: Surface, decided_by: PrincipalId,
        scope: StandingScope, expires_at: UnixMs, max_uses: u32, words: Text,
    }
    /// A standing grant was taken back.
    StandingRevoked ("grant.standing_revoked", 1, Grant, |b| b.grant_id) { grant_id: GrantId, reason: Text }
    /// A standing grant stood in for a person's yes, once; committed with the grant it made possible.
    StandingUsed ("grant.standing_used", 1, Grant, |b| b.grant_id) {
        grant_id: GrantId, action_request_id: ActionRequestId, envelope: ArtifactRef, use_no: u32, max_uses: u32,
    }
    // Secrets, by handle; values never come here (governance.md 5).
    /// A secret is known by a handle, with the hosts it may go to.
    SecretRegistered ("secret.registered", 1, Secret, |b| b.handle) { handle: String, hosts: Vec<String>, kept_in: String }
    /// A secret was forgotten.
    SecretRemoved ("secret.removed", 1, Secret, |b| b.handle) { handle: String }
    /// Secrets were taken out of content before it was kept: how often each, by handle or shape.
    ContentRedacted ("content.redacted", 1, Artifact, |b| b.artifact_id) { artifact_id: ArtifactId, found: BTreeMap<String, u32> }
    /// One undo took back what several receipts did, or a part of it; what is left stands in its own receipt.
    ReceiptsUndone ("receipts.undone", 1, Receipt, |b| b.by) { by: ReceiptId, undone: Vec<ReceiptId>, partly: Vec<ReceiptId> }
    // Words that wait their turn.
    /// New input waits for the end of what the run is at: it is taken up when the run would else be done (RA 1.4).
    TaskInputQueued ("task.input_queued", 1, Task, |b| b.about_task_id) {
        about_task_id: TaskId, ingress_id: IngressId, text: Text; since trust_tier: TrustTier, encloses: Vec<ArtifactId>
    }
    /// What was asked is not done, and a lesser form of it was asked instead, as a request of its own (HK-11.4).
    ActionDowngraded ("action.downgraded", 1, ActionRequest, |b| b.action_request_id) {
        action_request_id: ActionRequestId, policy_result_id: PolicyResultId, instead: ActionRequestId, mode: String, rules: Vec<String>,
    }
    /// Where in a request to its hosts the value of a secret may stand beside the headers; until it is registered again.
    SecretPlaced ("secret.placed", 1, Secret, |b| b.handle) { handle: String, also_in: Vec<SecretPlace> }
    /// A command is tried in a staged view, because policy does not deny it in its words: committed before it starts.
    TrialStarted ("trial.started", 1, ActionRequest, |b| b.action_request_id) {
        action_request_id: ActionRequestId, about_attempt_id: AttemptId, request: ArtifactRef,
        policy_result: ArtifactRef, verdict: Verdict, summary: Text,
    }
    /// A trial came to its end; what it did is in the request that is made of it.
    TrialEnded ("trial.ended", 1, ActionRequest, |b| b.action_request_id) {
        action_request_id: ActionRequestId, outcome: TrialOutcome, reason: Option<Text>,
    }
    /// The project of a folder is known, or is another one now; what the folder says of itself is a claim.
    ProjectKnown ("project.known", 1, Workspace, |b| b.workspace_id) {
        project_hash: Digest, workspace_id: WorkspaceId, source: ProjectSource,
    }
    /// An act, or its trial, is under way still: how far it says it has come. It settles nothing.
    EffectProgressed ("effect.progressed", 1, ActionRequest, |b| b.action_request_id) {
        action_request_id: ActionRequestId, sequence: u32, elapsed_ms: i64, done: Option<u64>, total: Option<u64>,
        note: Text, checkpoint: Option<ArtifactRef>,
    }
    /// Who sent what came in, and how far it may be relied on for that; committed with `ingress.received`.
    IngressAttributed ("ingress.attributed", 1, Ingress, |b| b.ingress_id) {
        ingress_id: IngressId, principal_id: PrincipalId, trust_tier: TrustTier,
    }

    // Servers of tools (tools.md 2). What a person may do with them is said by a card; what only narrows is not.
    /// A person registered a server of tools, or its new version; launch and manifest are the artifact.
    ToolServerRegistered ("tools.registered", 1, ToolServer, |b| b.server) {
        server: String, registration: ArtifactRef, action_request_id: ActionRequestId, registered_at: UnixMs,
    }
    /// A person said what a tool may do. It holds for the tool with exactly these words and schemas.
    ToolClassified ("tools.classified", 1, ToolServer, |b| b.server) {
        server: String, tool: String, tool_sha256: Digest, terms: ToolTerms, action_request_id: ActionRequestId, classified_at: UnixMs,
    }
    /// A server says something else of its tools than when it was registered: those that differ are not called any more.
    ToolServerChanged ("tools.changed", 1, ToolServer, |b| b.server) { server: String, manifest: ArtifactRef, tools: Vec<String> }
    /// A server's tools are not called until it is registered again; or what was said of one does not hold until said again.
    ToolServerDisabled ("tools.disabled", 1, ToolServer, |b| b.server) { server: String, reason: Text; since tool: String }
    /// A server was forgotten.
    ToolServerRemoved ("tools.removed", 1, ToolServer, |b| b.server) { server: String }
    /// A person's own rules of policy are these from now on, all of them; their text is the artifact.
    PolicyRulesChanged ("policy.rules_changed", 1, ActionRequest, |b| b.action_request_id) {
        rules: ArtifactRef, action_request_id: ActionRequestId, changed_at: UnixMs,
    }

    /// The agent gave parts of the task away (tools.md 6).
    TaskDelegated ("task.delegated", 1, Task, |b| b.about_task_id) {
        about_task_id: TaskId, about_attempt_id: AttemptId, parts: Vec<ChildTask>,
    }
    /// The child tasks are there, in the order of the parts.
    ChildrenStarted ("task.children_started", 1, Task, |b| b.about_task_id) {
        about_task_id: TaskId, about_attempt_id: AttemptId, children: Vec<TaskId>,
    }
    /// A child task ended; the agent that gave it away is told what it came to.
    ChildEnded ("task.child_ended", 1, Task, |b| b.about_task_id) {
        about_task_id: TaskId, about_attempt_id: AttemptId, child_task_id: TaskId, status: TaskStatus,
        result: ArtifactRef, tokens: u64, cost_micros: u64,
    }
    /// A model asked for more tools of servers; those that were found are offered to it in this attempt (tools.md 7).
    ToolsFound ("attempt.tools_found", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, query: Text, tools: Vec<String>,
    }
    /// A person said how much a server may ask of a model; nothing is nothing at all.
    ToolSamplingSet ("tools.sampling_set", 1, ToolServer, |b| b.server) {
        server: String, terms: Option<SamplingTerms>, action_request_id: ActionRequestId, set_at: UnixMs,
    }
    /// A model is asked what a server wants to know; the exact bytes are the artifact, and so many tokens are set aside.
    SamplingRequested ("sampling.requested", 1, ActionRequest, |b| b.action_request_id) {
        action_request_id: ActionRequestId, server: String, number: u32, request: ArtifactRef, provider: String,
        model: String, remote: bool, tokens: u64,
    }
    /// A question of a server to a model is over: what it was given, or why it got nothing.
    SamplingEnded ("sampling.ended", 1, ActionRequest, |b| b.action_request_id) {
        action_request_id: ActionRequestId, server: String, number: u32, answer: Option<ArtifactRef>, error: Option<Text>,
        tokens_in: u64, tokens_out: u64, cost_micros: u64,
    }
    /// The oldest turns of an attempt stand in a summary from now on (HV-3.2-4, memory.md 3).
    ContextCompacted ("attempt.context_compacted", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, summary: ArtifactRef, through: u32, results: u32, lines: u32,
    }
    /// A person allowed to log in at a server of tools with these terms (tools.md 2). The log-in is theirs to make.
    ToolLoginAllowed ("tools.login_allowed", 1, ToolServer, |b| b.server) {
        server: String, terms: LoginTerms, action_request_id: ActionRequestId, allowed_at: UnixMs,
    }
    /// A person logged in at a server of tools; the tokens are in the keychain and nowhere else.
    ToolLoggedIn ("tools.logged_in", 1, ToolServer, |b| b.server) {
        server: String, issuer: String, scopes: Vec<String>, expires_at: Option<UnixMs>, logged_in_at: UnixMs,
    }
    /// The tokens of a server of tools are forgotten.
    ToolLoggedOut ("tools.logged_out", 1, ToolServer, |b| b.server) { server: String, logged_out_at: UnixMs }
    /// The closing answer was compared with the record: so many sentences are borne by what, and `near` unverified ones are like it.
    AnswerChecked ("attempt.answer_checked", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, answer: ArtifactRef, check: ArtifactRef, method: String, by_receipt: u32,
        by_evidence: u32, by_absence: u32, claimless: u32, unverified: u32; since by_citation: u32, near: u32
    }
    /// A person trusted a skill: exactly these bytes. What it says and its files are the artifact.
    SkillTrusted ("skill.trusted", 1, Skill, |b| b.skill_sha256) {
        name: String, skill_sha256: Digest, skill: ArtifactRef, action_request_id: ActionRequestId, trusted_at: UnixMs,
    }
    /// A skill is not trusted any more.
    SkillUntrusted ("skill.untrusted", 1, Skill, |b| b.skill_sha256) { name: String, skill_sha256: Digest, reason: Text }
    /// A model chose a skill: what it read of it, and of which bytes; it stands in this attempt's context.
    SkillLoaded ("attempt.skill_loaded", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, name: String, skill_sha256: Digest, file: Option<String>, text: ArtifactRef, iteration: u32,
    }
    /// The historian has read what ended (memory.md 4): how far the log is read, which ended tasks wait until their project
    /// is at rest, and what it marked, so that no claim is proposed twice on the same evidence.
    HistoryRead ("store.history_read", 1, Store, |b| b.store_id) {
        store_id: String, look: u64, through: u64, waiting: Vec<TaskId>, marks: Vec<HistoryMark>,
        proposed_in: Option<TaskId>; since shapes: Vec<ShapeMark>, drafts: Vec<DraftMark>
    }
    /// An act of an answer went well, and its next request is in hand: how many are behind it, and how many are not (HV-3.2-2, -3).
    AnswerContinued ("attempt.answer_continued", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, answer: ArtifactRef, taken: u32, left: u32,
    }
    /// Roots of state after the place `through` (HV-3.6-1): those that changed, in a list no proof discloses, and that over all.
    StateRooted ("store.state_rooted", 1, Store, |b| b.store_id) {
        store_id: String, number: u64, through: u64, state_root: Digest, subjects: u64, roots: Sensitive<Vec<StateRoot>>,
    }
    /// What a person said must hold at the end was checked when a task would have ended (HK-8.2-5).
    CriteriaChecked ("task.criteria_checked", 1, Task, |b| b.about_task_id) { about_task_id: TaskId, checked: Vec<CheckedCriterion> }
    /// A task has used what it may of something and asks a person: so much is allowed, is used, and the next turn may need.
    LimitReached ("task.limit_reached", 1, Task, |b| b.about_task_id) {
        about_task_id: TaskId, clarification_id: ClarificationId, limit: Limit, allowed: u64, used: u64, needs: u64,
    }
    /// A person let a task use more of something: so much is allowed from now on.
    LimitRaised ("task.limit_raised", 1, Task, |b| b.about_task_id) {
        about_task_id: TaskId, clarification_id: ClarificationId, limit: Limit, was: u64, allowed: u64,
        decided_by: PrincipalId,
    }
    /// A model did not answer, and the next one that a person named for this case is asked from now on.
    ModelFellBack ("attempt.model_fell_back", 1, Attempt, |b| b.about_attempt_id) {
        about_attempt_id: AttemptId, iteration: u32, place: u32, from_model: String, to_model: String, remote: bool, why: Text,
    }
    /// A person adopted a playbook that was drafted from what recurs: exactly this text (memory.md 5).
    PlaybookAdopted ("playbook.adopted", 1, Skill, |b| b.playbook_sha256) {
        name: String, version: u32, playbook_sha256: Digest, playbook: ArtifactRef, action_request_id: ActionRequestId, adopted_at: UnixMs,
    }
    /// A playbook that was adopted is not used any more.
    PlaybookTurnedOff ("playbook.turned_off", 1, Skill, |b| b.playbook_sha256) { name: String, playbook_sha256: Digest, reason: Text }
    /// A person passes the classified tools of a server on to agents that are clients of Hermit (tools.md 3), or does not any more.
    ToolServerPassedOn ("tools.passed_on", 1, ToolServer, |b| b.server) { server: String, on: bool, action_request_id: Option<ActionRequestId>, set_at: UnixMs }
}
