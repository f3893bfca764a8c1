//! The rows of the views, as a screen or command gets them.
#![allow(
    missing_docs,
    reason = "columns are typed by nouns that carry the documentation; each row has its own line"
)]

use crate::cell::Cell;
use crate::{ActionState, ArtifactState, Error, GrantState, MessageKind, Role, RunStatus};
use model::action::{ActionClass, Reversibility};
use model::approval::{ApprovalScope, ApprovalStatus, Surface};
use model::artifact::{ArtifactClass, ArtifactKind, EvidenceRef, RetentionClass, Sensitivity, TrustTier};
use model::attempt::{AttemptPhase, AttemptStatus, LeaseMode, TerminationReason};
use model::body::Boundary;
use model::decision::DecisionClass;
use model::ingress::{Channel, ClarificationStatus, IngressResolution, IngressStatus};
use model::knowledge::{BeliefStatus, MemoryStatus};
use model::policy::{Profile, RiskBand, Verdict};
use model::principal::PrincipalType;
use model::receipt::{ReceiptClass, ResultCode, SandboxLevel, Verifiability};
use model::task::{Priority, StepKind, StepStatus, TaskStatus};
use model::{
    ActionRequestId, ApprovalId, ArtifactId, AttemptId, BeliefId, ClarificationId, ConversationId,
    DecisionId, Digest, GrantId, IngressId, LeaseId, MemoryId, PolicyResultId, PrincipalId, ReceiptId,
    Sensitive, StepId, TaskId, UnixMs, WitnessId, WorkspaceId,
};
use rusqlite::Connection;

type Text = Sensitive<String>;

/// A row of a view: its table, its columns, and how it is read.
pub(crate) trait ViewRow: Sized {
    const TABLE: &'static str;
    const COLUMNS: &'static str;
    fn seq(&self) -> u64;
    fn read(row: &rusqlite::Row<'_>, conn: &Connection) -> Result<Self, Error>;
}

fn cell<T: Cell>(
    row: &rusqlite::Row<'_>,
    conn: &Connection,
    at: &mut usize,
    table: &'static str,
    column: &'static str,
) -> Result<T, Error> {
    let value = row.get_ref(*at)?;
    *at += 1;
    T::read(value, conn).map_err(|why| Error::Row { table, why: format!("`{column}` holds {why}") })
}

macro_rules! rows {
    ($($(#[$meta:meta])* $name:ident of $table:literal { $($field:ident : $ty:ty),* $(,)? })+) => { $(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
        pub struct $name {
            /// Place in the log of the event that made the row.
            pub seq: u64,
            $(pub $field: $ty,)*
        }

        impl ViewRow for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static str = concat!("seq", $(", ", stringify!($field)),*);
            fn seq(&self) -> u64 { self.seq }
            fn read(row: &rusqlite::Row<'_>, conn: &Connection) -> Result<Self, Error> {
                let mut at = 0;
                Ok(Self {
                    seq: cell(row, conn, &mut at, $table, "seq")?,
                    $($field: cell(row, conn, &mut at, $table, stringify!($field))?,)*
                })
            }
        }
    )+ };
}

rows! {
    /// Task summary (HK-13.6-2).
    TaskRow of "view_tasks" {
        task_id: TaskId, conversation_id: ConversationId, title: Text, goal: Text, status: TaskStatus,
        run_status: RunStatus, reason: String, priority: Priority, owner: PrincipalId, profile: Profile,
        channel: Channel, contract_ref: ArtifactId, ingress_id: IngressId, parent_task_id: Option<TaskId>,
        anchor_task_id: Option<TaskId>, workspace_id: Option<WorkspaceId>, labels: Vec<String>,
        depends_on: Vec<TaskId>, created_at: UnixMs, updated_at: UnixMs, deadline_at: Option<UnixMs>,
        ended_at: Option<UnixMs>, rolled_back: bool, cancel_requested: bool, pause_requested: bool,
        attempt_id: Option<AttemptId>, attempt_status: Option<AttemptStatus>, termination: Option<TerminationReason>,
        attempts: u32, iterations: u32, open_approvals: u32, open_questions: u32, unread_inputs: u32,
        unknown_effects: u32, receipts: u32, tokens_reserved: u64, tokens_used: u64, cost_reserved: u64,
        cost_used: u64, wall_ms: i64,
    }

    /// Step queue (HK-13.6-3).
    StepRow of "view_steps" {
        step_id: StepId, task_id: TaskId, kind: StepKind, title: Text, contract_ref: ArtifactId, status: StepStatus,
        reason: String, depends_on: Vec<StepId>, max_attempts: u32, attempts: u32, created_at: UnixMs,
        updated_at: UnixMs,
    }

    /// One attempt.
    AttemptRow of "view_attempts" {
        attempt_id: AttemptId, task_id: TaskId, step_id: StepId, attempt_no: u32, status: AttemptStatus,
        phase: AttemptPhase, reason: String, started_at: UnixMs, finished_at: Option<UnixMs>,
        lease_id: Option<LeaseId>, lease_expires_at: Option<UnixMs>, context_pack_ref: Option<ArtifactId>,
        working_state_ref: Option<ArtifactId>, environment_ref: Option<ArtifactId>, resume_from: Option<AttemptId>,
        policy_version: Option<Digest>, checkpoint: u32, iterations: u32, termination: Option<TerminationReason>,
        summary: Option<Text>, answer_ref: Option<ArtifactId>,
    }

    /// One turn of the loop: what went to the model, what came back, what came of it.
    IterationRow of "view_iterations" {
        attempt_id: AttemptId, iteration: u32, task_id: TaskId, pack_ref: Option<ArtifactId>,
        pack_tokens: Option<u32>, pack_items: Option<u32>, pack_omissions: Option<u32>,
        request_ref: Option<ArtifactId>, provider: Option<String>, model: Option<String>, remote: Option<bool>,
        response_ref: Option<ArtifactId>, answer_ref: Option<ArtifactId>, tokens_in: Option<u64>,
        tokens_out: Option<u64>, cost_micros: Option<u64>, finish_reason: Option<String>, failures: u32,
        rejections: u32, trouble: Option<Text>, decision: Option<Text>, tool: Option<String>,
        tool_input: Option<ArtifactId>, tool_output: Option<ArtifactId>, error: Option<Text>, summary: Option<Text>,
        completed_at: Option<UnixMs>,
    }

    /// One lease.
    LeaseRow of "view_leases" {
        lease_id: LeaseId, task_id: TaskId, attempt_id: AttemptId, workspace_id: WorkspaceId, root_path: Text,
        mode: LeaseMode, holder: PrincipalId, acquired_at: UnixMs, expires_at: UnixMs, ended_at: Option<UnixMs>,
        ended_by: Option<String>,
    }

    /// One proposed action, and what became of it.
    ActionRow of "view_actions" {
        action_request_id: ActionRequestId, task_id: TaskId, step_id: Option<StepId>, attempt_id: Option<AttemptId>,
        action_class: ActionClass, tool: String, summary: Text, request_ref: ArtifactId, state: ActionState,
        verdict: Option<Verdict>, risk_band: Option<RiskBand>, policy_result_id: Option<PolicyResultId>,
        policy_ref: Option<ArtifactId>, witness_id: Option<WitnessId>, witness_state: Option<String>,
        approval_id: Option<ApprovalId>, grant_id: Option<GrantId>, executor: Option<String>, requested_at: UnixMs,
        dispatched_at: Option<UnixMs>, observed_at: Option<UnixMs>, result_ref: Option<ArtifactId>,
        result_code: Option<ResultCode>, sandbox_level: Option<SandboxLevel>, recovered: bool,
        trouble: Option<Text>, receipt_id: Option<ReceiptId>, instead_of: Option<ActionRequestId>,
        instead_rules: Option<String>,
    }

    /// Approval inbox (HK-13.6-4).
    ApprovalRow of "view_approvals" {
        approval_id: ApprovalId, task_id: TaskId, step_id: StepId, attempt_id: AttemptId,
        action_request_id: ActionRequestId, action_class: ActionClass, risk_band: RiskBand, summary: Text,
        status: ApprovalStatus, packet_ref: ArtifactId, packet_sha256: Digest, nonce: String, requested_at: UnixMs,
        expires_at: UnixMs, resolved_at: Option<UnixMs>, resolved_by: Option<PrincipalId>, surface: Option<Surface>,
        scope: Option<ApprovalScope>, envelope_ref: Option<ArtifactId>, feedback: Option<Text>, reason: String,
        receipt_id: Option<ReceiptId>,
    }

    /// Grants (HK-13.6-5).
    GrantRow of "view_grants" {
        grant_id: GrantId, task_id: TaskId, attempt_id: Option<AttemptId>, action_request_id: ActionRequestId,
        action_class: ActionClass, issued_to: PrincipalId, issued_at: UnixMs, expires_at: UnixMs, max_uses: u32,
        uses: u32, state: GrantState, approval_id: Option<ApprovalId>, decision_id: Option<DecisionId>,
        grant_ref: ArtifactId, reason: String,
    }

    /// Artifact catalog (HK-13.6-6).
    ArtifactRow of "view_artifacts" {
        artifact_id: ArtifactId, task_id: TaskId, class: ArtifactClass, kind: ArtifactKind, uri: Text,
        alias: Option<Text>, content_hash: Digest, media_type: String, byte_size: u64, created_at: UnixMs,
        producer: PrincipalId, retention: RetentionClass, trust_tier: TrustTier, sensitivity: Sensitivity,
        produced_by: Option<AttemptId>, inputs: Vec<ArtifactId>, state: ArtifactState, uses: u32,
        sealed_at: Option<UnixMs>, sealed_by: Option<String>, memory_id: Option<MemoryId>,
        compacted_into: Option<ArtifactId>,
    }

    /// Working state (HK-13.6-7): the latest of each attempt.
    WorkingStateRow of "view_working_states" {
        holder: String, task_id: TaskId, attempt_id: Option<AttemptId>, artifact_id: ArtifactId, sha256: Digest,
        byte_size: u64, revision: u32, updated_at: UnixMs,
    }

    /// Beliefs (HK-13.6-8): the latest revision of each.
    BeliefRow of "view_beliefs" {
        belief_id: BeliefId, task_id: TaskId, step_id: Option<StepId>, attempt_id: Option<AttemptId>, claim: Text,
        scope: Text, confidence: u16, trust_tier: TrustTier, status: BeliefStatus, revision: u32,
        evidence: Vec<EvidenceRef>, asserted_by: PrincipalId, created_at: UnixMs, updated_at: UnixMs,
        expires_at: Option<UnixMs>, supersedes: Option<BeliefId>, superseded_by: Option<BeliefId>,
        contradicts: Vec<BeliefId>, reason: Option<Text>,
    }

    /// One revision of a belief.
    BeliefRevisionRow of "view_belief_revisions" {
        belief_id: BeliefId, revision: u32, confidence: u16, trust_tier: TrustTier, evidence: Vec<EvidenceRef>,
        reason: Option<Text>, at: UnixMs,
    }

    /// Memory (HK-13.6-9).
    MemoryRow of "view_memories" {
        memory_id: MemoryId, task_id: TaskId, claim: Text, scope: Text, reason: Text, trust_tier: TrustTier,
        status: MemoryStatus, evidence: Vec<EvidenceRef>, promoted_by: PrincipalId, from_belief: Option<BeliefId>,
        supersedes: Option<MemoryId>, superseded_by: Option<MemoryId>, created_at: UnixMs, ended_at: Option<UnixMs>,
        end_reason: Option<Text>,
    }

    /// Decision timeline (HK-13.6-10).
    DecisionRow of "view_decisions" {
        decision_id: DecisionId, task_id: TaskId, step_id: Option<StepId>, attempt_id: Option<AttemptId>,
        class: DecisionClass, summary: Text, rationale: Text, risk: RiskBand, decided_by: PrincipalId,
        reversible: bool, evidence: Vec<EvidenceRef>, alternatives: Vec<Text>, override_ref: Option<DecisionId>,
        effective_until: Option<UnixMs>, created_at: UnixMs,
    }

    /// Receipt ledger (HK-13.6-11).
    ReceiptRow of "view_receipts" {
        receipt_id: ReceiptId, task_id: TaskId, class: ReceiptClass, action_class: ActionClass,
        result_code: ResultCode, resolved_code: Option<ResultCode>, action_request_id: Option<ActionRequestId>,
        envelope_ref: ArtifactId, statement_sha256: Digest, reversibility: Reversibility,
        rolls_back: Option<ReceiptId>, undone_by: Option<ReceiptId>, verifiability: Verifiability, summary: Text,
        issued_at: UnixMs,
    }

    /// Conversations with their focus (HK-13.6-13).
    ConversationRow of "view_conversations" {
        conversation_id: ConversationId, inbox_task_id: TaskId, title: Text, opened_at: UnixMs, updated_at: UnixMs,
        focus_task_id: Option<TaskId>, focus_reason: String, focus_at: Option<UnixMs>, last_focus: Option<TaskId>,
        open_tasks: u32,
    }

    /// Session and chat (HK-13.6-12): one line.
    MessageRow of "view_messages" {
        conversation_id: ConversationId, task_id: Option<TaskId>, role: Role, kind: MessageKind, ref_id: String,
        text: Option<Text>, artifact_ref: Option<ArtifactId>, note: String, at: UnixMs,
    }

    /// One inbound message and what it was bound to.
    IngressRow of "view_ingress" {
        ingress_id: IngressId, conversation_id: ConversationId, channel: Channel, text: Text, status: IngressStatus,
        resolution: IngressResolution, actor: Option<PrincipalId>, chosen_task_id: Option<TaskId>,
        candidates: Vec<TaskId>, rationale: Option<Text>, waits_for: Option<TaskId>, absorbed_at: Option<UnixMs>,
        boundary: Option<Boundary>, created_at: UnixMs, updated_at: UnixMs,
    }

    /// One question put to a person.
    QuestionRow of "view_questions" {
        clarification_id: ClarificationId, task_id: TaskId, attempt_id: AttemptId, question: Text, choices: Vec<Text>,
        status: ClarificationStatus, requested_at: UnixMs, expires_at: UnixMs, resolved_at: Option<UnixMs>,
        answered_by: Option<IngressId>,
    }

    /// One principal.
    PrincipalRow of "view_principals" {
        principal_id: PrincipalId, kind: PrincipalType, name: Text, labels: Vec<String>, created_at: UnixMs,
    }

    /// One workspace.
    WorkspaceRow of "view_workspaces" { workspace_id: WorkspaceId, root_path: Text, created_at: UnixMs }
}
