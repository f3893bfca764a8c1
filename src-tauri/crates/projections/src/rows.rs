//! The rows of the views, as a screen or command gets them.
#![allow(
    missing_docs,
    reason = "columns are typed by nouns that carry the documentation; each row has its own line"
)]

use crate::cell::Cell;
use crate::fold::Held;
use crate::{ActionState, ArtifactState, Error, GrantState, MessageKind, Role, RunStatus};
use model::action::{ActionClass, Reversibility};
use model::approval::{ApprovalScope, ApprovalStatus, Surface};
use model::artifact::{ArtifactClass, ArtifactKind, EvidenceRef, RetentionClass, Sensitivity, TrustTier};
use model::attempt::{AttemptPhase, AttemptStatus, LeaseMode, TerminationReason};
use model::body::Boundary;
use model::decision::DecisionClass;
use model::ingress::{Channel, ClarificationStatus, IngressResolution, IngressStatus};
use model::knowledge::{BeliefStatus, InvalidationPolicy, MemoryRetention, MemoryStatus, MemoryType};
use model::policy::{Profile, RiskBand, Verdict};
use model::principal::PrincipalType;
use model::receipt::{ReceiptClass, ResultCode, SandboxLevel, Verifiability};
use model::state_root::{Frontier, StateSubject};
use model::task::{Origin, Priority, Proposer, StepKind, StepStatus, TaskStatus};
use model::{
    ActionRequestId, ApprovalId, ArtifactId, AttemptId, BeliefId, ClarificationId, ConversationId,
    DecisionId, Digest, GrantId, IngressId, LeaseId, MemoryId, PolicyResultId, PrincipalId, ReceiptId,
    Sensitive, StepId, TaskId, UnixMs, WitnessId, WorkspaceId,
};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Statement};
use std::cell::RefCell;
use std::hash::Hash;

type Text = Sensitive<String>;

/// A row of a view. What it is called in the tables, how it is read and how it is written all come from the one list of
/// its columns below.
pub(crate) trait ViewRow: Clone {
    /// What it is found by.
    type Key: Clone + Eq + Hash + Ord;
    const TABLE: &'static str;
    const COLUMNS: &'static str;
    /// The statement that reads the row of a key, and the one that writes a new one.
    const SELECT: &'static str;
    const INSERT: &'static str;
    /// The condition that finds a row by its key, which is bound first.
    const BY_KEY: &'static str;
    fn seq(&self) -> u64;
    fn key(&self) -> Self::Key;
    fn bound(key: &Self::Key) -> Vec<ToSqlOutput<'_>>;
    /// Reads it; `shown` looks up the text of leaves, without it they stay concealed.
    fn read(row: &rusqlite::Row<'_>, shown: Option<&Connection>) -> Result<Self, Error>;
    /// Binds every column, in their order.
    fn bind(&self, to: &mut Statement<'_>) -> rusqlite::Result<()>;
    /// The columns that are not what they were.
    fn changed<'a>(&'a self, before: &Self) -> Vec<(&'static str, ToSqlOutput<'a>)>;
    fn among(rows: &Rows) -> &RefCell<Held<Self>>;
}

/// What an event says of the row that it makes; the other columns are empty.
pub(crate) trait New {
    type Row: ViewRow;
    fn row(self, seq: u64) -> Self::Row;
}

/// Turns of one attempt that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Turns {
    pub attempt_id: AttemptId,
    pub first: u32,
    pub last: u32,
}

fn cell<T: Cell>(
    row: &rusqlite::Row<'_>,
    shown: Option<&Connection>,
    at: &mut usize,
    table: &'static str,
    column: &'static str,
) -> Result<T, Error> {
    let value = row.get_ref(*at)?;
    *at += 1;
    T::read(value, shown).map_err(|why| Error::Row { table, why: format!("`{column}` holds {why}") })
}

macro_rules! mark {
    ($column:ident) => {
        ", ?"
    };
}

/// Each view once: its row and what makes one, its table, where its rows wait while events are folded, its key, and its
/// columns: those that the first event fills, and behind `later` those that are empty until another fills them.
macro_rules! views {
    ($($(#[$meta:meta])* $name:ident from $new:ident in $table:literal as $held:ident by ($($key:ident: $of:ty),+) {
        $($column:ident: $ty:ty),* $(,)?
    } later { $($late:ident: $kind:ty),* $(,)? })+) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
            pub struct $name {
                /// Place in the log of the event that made the row.
                pub seq: u64,
                $(pub $column: $ty,)*
                $(pub $late: $kind,)*
            }

            pub(crate) struct $new { $(pub $column: $ty),* }

            impl New for $new {
                type Row = $name;
                fn row(self, seq: u64) -> $name {
                    $name { seq, $($column: self.$column,)* $($late: <$kind>::default(),)* }
                }
            }

            impl ViewRow for $name {
                type Key = ($($of,)+);
                const TABLE: &'static str = $table;
                const COLUMNS: &'static str =
                    concat!("seq" $(, ", ", stringify!($column))* $(, ", ", stringify!($late))*);
                const SELECT: &'static str = concat!(
                    "SELECT seq" $(, ", ", stringify!($column))* $(, ", ", stringify!($late))*,
                    " FROM ", $table, " WHERE 1" $(, " AND ", stringify!($key), " = ?")+
                );
                const INSERT: &'static str = concat!(
                    "INSERT INTO ", $table, " (seq" $(, ", ", stringify!($column))* $(, ", ", stringify!($late))*,
                    ") VALUES (?" $(, mark!($column))* $(, mark!($late))*, ")"
                );
                const BY_KEY: &'static str = concat!("1" $(, " AND ", stringify!($key), " = ?")+);

                fn seq(&self) -> u64 {
                    self.seq
                }

                fn key(&self) -> Self::Key {
                    ($(self.$key.clone(),)+)
                }

                fn bound(($($key,)+): &Self::Key) -> Vec<ToSqlOutput<'_>> {
                    vec![$($key.write()),+]
                }

                fn read(row: &rusqlite::Row<'_>, shown: Option<&Connection>) -> Result<Self, Error> {
                    let at = &mut 0;
                    Ok(Self {
                        seq: cell(row, shown, at, $table, "seq")?,
                        $($column: cell(row, shown, at, $table, stringify!($column))?,)*
                        $($late: cell(row, shown, at, $table, stringify!($late))?,)*
                    })
                }

                fn bind(&self, to: &mut Statement<'_>) -> rusqlite::Result<()> {
                    let mut places = 1..;
                    let mut put = |value| to.raw_bind_parameter(places.next().unwrap_or(usize::MAX), value);
                    put(self.seq.write())?;
                    $(put(self.$column.write())?;)*
                    $(put(self.$late.write())?;)*
                    Ok(())
                }

                fn changed<'a>(&'a self, before: &Self) -> Vec<(&'static str, ToSqlOutput<'a>)> {
                    let mut changed = Vec::new();
                    if self.seq != before.seq {
                        changed.push(("seq", self.seq.write()));
                    }
                    $(if self.$column != before.$column {
                        changed.push((stringify!($column), self.$column.write()));
                    })*
                    $(if self.$late != before.$late {
                        changed.push((stringify!($late), self.$late.write()));
                    })*
                    changed
                }

                fn among(rows: &Rows) -> &RefCell<Held<Self>> {
                    &rows.$held
                }
            }
        )+

        /// The rows of a batch.
        pub(crate) struct Rows { $($held: RefCell<Held<$name>>),+ }

        impl Rows {
            /// None yet; `all` says that the tables are empty.
            pub fn new(all: bool) -> Self {
                Self { $($held: RefCell::new(Held::new(all))),+ }
            }

            /// Writes what is new or was changed.
            pub fn write(&self, conn: &Connection) -> Result<(), Error> {
                $(self.$held.borrow_mut().write(conn)?;)+
                Ok(())
            }
        }
    };
}

views! {
    /// Task summary (HK-13.6-2).
    TaskRow from NewTask in "view_tasks" as tasks by (task_id: TaskId) {
        task_id: TaskId, conversation_id: ConversationId, title: Text, goal: Text, status: TaskStatus,
        run_status: RunStatus, priority: Priority, owner: PrincipalId, profile: Profile, channel: Channel,
        origin: Origin, contract_ref: ArtifactId, ingress_id: IngressId, parent_task_id: Option<TaskId>,
        anchor_task_id: Option<TaskId>, workspace_id: Option<WorkspaceId>, labels: Vec<String>,
        depends_on: Vec<TaskId>, created_at: UnixMs, updated_at: UnixMs, deadline_at: Option<UnixMs>,
    } later {
        reason: String, ended_at: Option<UnixMs>, rolled_back: bool, cancel_requested: bool,
        pause_requested: bool, quiet: bool, attempt_id: Option<AttemptId>,
        attempt_status: Option<AttemptStatus>,
        proposer: Option<Proposer>,
        termination: Option<TerminationReason>, attempts: u32, iterations: u32, open_approvals: u32,
        open_questions: u32, unread_inputs: u32, unknown_effects: u32, receipts: u32, tokens_reserved: u64,
        tokens_used: u64, cost_reserved: u64, cost_used: u64, wall_ms: i64,
    }

    /// Step queue (HK-13.6-3).
    StepRow from NewStep in "view_steps" as steps by (step_id: StepId) {
        step_id: StepId, task_id: TaskId, kind: StepKind, title: Text, contract_ref: ArtifactId,
        status: StepStatus, depends_on: Vec<StepId>, max_attempts: u32, created_at: UnixMs,
        updated_at: UnixMs,
    } later {
        reason: String, attempts: u32,
    }

    /// One attempt.
    AttemptRow from NewAttempt in "view_attempts" as attempts by (attempt_id: AttemptId) {
        attempt_id: AttemptId, task_id: TaskId, step_id: StepId, attempt_no: u32, status: AttemptStatus,
        phase: AttemptPhase, started_at: UnixMs, lease_id: Option<LeaseId>,
        context_pack_ref: Option<ArtifactId>, working_state_ref: Option<ArtifactId>,
        environment_ref: Option<ArtifactId>, resume_from: Option<AttemptId>, policy_version: Option<Digest>,
    } later {
        reason: String, finished_at: Option<UnixMs>, lease_expires_at: Option<UnixMs>, checkpoint: u32,
        iterations: u32, termination: Option<TerminationReason>, summary: Option<Text>,
        answer_ref: Option<ArtifactId>,
    }

    /// One turn of the loop: what went to the model, what came back, what came of it.
    IterationRow from NewIteration in "view_iterations" as turns by (attempt_id: AttemptId, iteration: u32) {
        attempt_id: AttemptId, iteration: u32, task_id: TaskId,
    } later {
        pack_ref: Option<ArtifactId>, pack_tokens: Option<u32>, pack_items: Option<u32>,
        pack_omissions: Option<u32>, request_ref: Option<ArtifactId>, provider: Option<String>,
        model: Option<String>, remote: Option<bool>, response_ref: Option<ArtifactId>,
        answer_ref: Option<ArtifactId>, tokens_in: Option<u64>, tokens_out: Option<u64>,
        cost_micros: Option<u64>, finish_reason: Option<String>, failures: u32, rejections: u32,
        trouble: Option<Text>, decision: Option<Text>, tool: Option<String>, tool_input: Option<ArtifactId>,
        tool_output: Option<ArtifactId>, error: Option<Text>, summary: Option<Text>,
        completed_at: Option<UnixMs>,
    }

    /// One lease.
    LeaseRow from NewLease in "view_leases" as leases by (lease_id: LeaseId) {
        lease_id: LeaseId, task_id: TaskId, attempt_id: AttemptId, workspace_id: WorkspaceId, root_path: Text,
        mode: LeaseMode, holder: PrincipalId, acquired_at: UnixMs, expires_at: UnixMs,
    } later {
        ended_at: Option<UnixMs>, ended_by: Option<String>,
    }

    /// One proposed action, and what became of it.
    ActionRow from NewAction in "view_actions" as actions by (action_request_id: ActionRequestId) {
        action_request_id: ActionRequestId, task_id: TaskId, step_id: Option<StepId>,
        attempt_id: Option<AttemptId>, action_class: ActionClass, tool: String, summary: Text,
        request_ref: ArtifactId, state: ActionState, requested_at: UnixMs,
    } later {
        verdict: Option<Verdict>, risk_band: Option<RiskBand>, policy_result_id: Option<PolicyResultId>,
        policy_ref: Option<ArtifactId>, witness_id: Option<WitnessId>, witness_state: Option<String>,
        approval_id: Option<ApprovalId>, grant_id: Option<GrantId>, executor: Option<String>,
        dispatched_at: Option<UnixMs>, observed_at: Option<UnixMs>, result_ref: Option<ArtifactId>,
        result_code: Option<ResultCode>, sandbox_level: Option<SandboxLevel>, recovered: bool,
        trouble: Option<Text>, receipt_id: Option<ReceiptId>, instead_of: Option<ActionRequestId>,
        instead_rules: Option<String>,
    }

    /// Approval inbox (HK-13.6-4).
    ApprovalRow from NewApproval in "view_approvals" as approvals by (approval_id: ApprovalId) {
        approval_id: ApprovalId, task_id: TaskId, step_id: StepId, attempt_id: AttemptId,
        action_request_id: ActionRequestId, action_class: ActionClass, risk_band: RiskBand, summary: Text,
        status: ApprovalStatus, packet_ref: ArtifactId, packet_sha256: Digest, nonce: String,
        requested_at: UnixMs, expires_at: UnixMs,
    } later {
        resolved_at: Option<UnixMs>, resolved_by: Option<PrincipalId>, surface: Option<Surface>,
        scope: Option<ApprovalScope>, envelope_ref: Option<ArtifactId>, feedback: Option<Text>,
        reason: String, receipt_id: Option<ReceiptId>,
    }

    /// Grants (HK-13.6-5).
    GrantRow from NewGrant in "view_grants" as grants by (grant_id: GrantId) {
        grant_id: GrantId, task_id: TaskId, attempt_id: Option<AttemptId>, action_request_id: ActionRequestId,
        action_class: ActionClass, issued_to: PrincipalId, issued_at: UnixMs, expires_at: UnixMs,
        max_uses: u32, state: GrantState, approval_id: Option<ApprovalId>, decision_id: Option<DecisionId>,
        grant_ref: ArtifactId,
    } later {
        uses: u32, reason: String, consumed_at: Option<UnixMs>, revoked_at: Option<UnixMs>,
    }

    /// Artifact catalog (HK-13.6-6).
    ArtifactRow from NewArtifact in "view_artifacts" as artifacts by (artifact_id: ArtifactId) {
        artifact_id: ArtifactId, task_id: TaskId, class: ArtifactClass, kind: ArtifactKind, uri: Text,
        alias: Option<Text>, content_hash: Digest, media_type: String, byte_size: u64, created_at: UnixMs,
        producer: PrincipalId, retention: RetentionClass, trust_tier: TrustTier, sensitivity: Sensitivity,
        produced_by: Option<AttemptId>, inputs: Vec<ArtifactId>, state: ArtifactState,
    } later {
        uses: u32, sealed_at: Option<UnixMs>, sealed_by: Option<String>, memory_id: Option<MemoryId>,
        compacted_into: Option<ArtifactId>,
    }

    /// Working state (HK-13.6-7): the latest of each attempt.
    WorkingStateRow from NewWorkingState in "view_working_states" as working_states by (holder: String) {
        holder: String, task_id: TaskId, attempt_id: Option<AttemptId>, artifact_id: ArtifactId,
        sha256: Digest, byte_size: u64, revision: u32, updated_at: UnixMs,
    } later {}

    /// Beliefs (HK-13.6-8): the latest revision of each.
    BeliefRow from NewBelief in "view_beliefs" as beliefs by (belief_id: BeliefId) {
        belief_id: BeliefId, task_id: TaskId, step_id: Option<StepId>, attempt_id: Option<AttemptId>,
        claim: Text, scope: Text, confidence: u16, trust_tier: TrustTier, status: BeliefStatus, revision: u32,
        evidence: Vec<EvidenceRef>, asserted_by: PrincipalId, created_at: UnixMs, updated_at: UnixMs,
        expires_at: Option<UnixMs>, supersedes: Option<BeliefId>, contradicts: Vec<BeliefId>,
        reason: Option<Text>,
    } later {
        superseded_by: Option<BeliefId>,
    }

    /// One revision of a belief.
    BeliefRevisionRow from NewRevision in "view_belief_revisions" as revisions by (belief_id: BeliefId, revision: u32) {
        belief_id: BeliefId, revision: u32, confidence: u16, trust_tier: TrustTier,
        evidence: Vec<EvidenceRef>, reason: Option<Text>, at: UnixMs,
    } later {}

    /// Memory (HK-13.6-9).
    MemoryRow from NewMemory in "view_memories" as memories by (memory_id: MemoryId) {
        memory_id: MemoryId, task_id: TaskId, claim: Text, scope: Text, reason: Text, trust_tier: TrustTier,
        status: MemoryStatus, evidence: Vec<EvidenceRef>, promoted_by: PrincipalId,
        from_belief: Option<BeliefId>, supersedes: Option<MemoryId>, created_at: UnixMs,
        project_hash: Option<Digest>, memory_type: Option<MemoryType>, retention: Option<MemoryRetention>,
        invalidation: Option<InvalidationPolicy>, expires_at: Option<UnixMs>, state_leaf: Digest,
    } later {
        ended_seq: Option<u64>, superseded_by: Option<MemoryId>, ended_at: Option<UnixMs>, end_reason: Option<Text>, uses: u32,
        last_used_at: Option<UnixMs>, helped: u32, helped_in: Option<TaskId>, contradicted: u32,
        contradicted_in: Option<TaskId>,
    }

    /// A task whose contexts held a record of memory, with the turns that they were of.
    MemoryUseRow from NewMemoryUse in "view_memory_uses" as memory_uses by (memory_id: MemoryId, task_id: TaskId) {
        memory_id: MemoryId, task_id: TaskId, first_at: UnixMs, last_at: UnixMs, last_seq: u64,
    } later {
        contexts: u32, turns: Vec<Turns>, helped: bool, contradicted: bool,
    }

    /// Decision timeline (HK-13.6-10).
    DecisionRow from NewDecision in "view_decisions" as decisions by (decision_id: DecisionId) {
        decision_id: DecisionId, task_id: TaskId, step_id: Option<StepId>, attempt_id: Option<AttemptId>,
        class: DecisionClass, summary: Text, rationale: Text, risk: RiskBand, decided_by: PrincipalId,
        reversible: bool, evidence: Vec<EvidenceRef>, alternatives: Vec<Text>,
        override_ref: Option<DecisionId>, effective_until: Option<UnixMs>, created_at: UnixMs,
    } later {}

    /// Receipt ledger (HK-13.6-11).
    ReceiptRow from NewReceipt in "view_receipts" as receipts by (receipt_id: ReceiptId) {
        receipt_id: ReceiptId, task_id: TaskId, class: ReceiptClass, action_class: ActionClass,
        result_code: ResultCode, action_request_id: Option<ActionRequestId>, envelope_ref: ArtifactId,
        statement_sha256: Digest, reversibility: Reversibility, rolls_back: Option<ReceiptId>,
        verifiability: Verifiability, summary: Text, issued_at: UnixMs,
    } later {
        resolved_code: Option<ResultCode>, undone_by: Option<ReceiptId>,
    }

    /// Conversations with their focus (HK-13.6-13).
    ConversationRow from NewConversation in "view_conversations" as conversations by (conversation_id: ConversationId) {
        conversation_id: ConversationId, inbox_task_id: TaskId, title: Text, opened_at: UnixMs,
        updated_at: UnixMs, workspace_id: Option<WorkspaceId>,
    } later {
        focus_task_id: Option<TaskId>, focus_reason: String, focus_at: Option<UnixMs>,
        last_focus: Option<TaskId>, open_tasks: u32, last_message: u64, edge: Option<Frontier>,
    }

    /// Session and chat (HK-13.6-12): one line.
    MessageRow from NewMessage in "view_messages" as messages by (seq: u64) {
        conversation_id: ConversationId, task_id: Option<TaskId>, role: Role, kind: MessageKind,
        ref_id: String, text: Option<Text>, artifact_ref: Option<ArtifactId>, note: String, at: UnixMs,
    } later {}

    /// One inbound message and what it was bound to.
    IngressRow from NewIngress in "view_ingress" as ingress by (ingress_id: IngressId) {
        ingress_id: IngressId, conversation_id: ConversationId, channel: Channel, text: Text,
        status: IngressStatus, resolution: IngressResolution, actor: Option<PrincipalId>,
        chosen_task_id: Option<TaskId>, candidates: Vec<TaskId>, rationale: Option<Text>, created_at: UnixMs,
        updated_at: UnixMs, prompt_ref: Option<ClarificationId>, reply_to_ref: Option<String>,
        quoted_message_ref: Option<IngressId>, parent_task_id: Option<TaskId>, enclosed: Vec<ArtifactId>,
        spoken: bool,
    } later {
        waits_for: Option<TaskId>, absorbed_at: Option<UnixMs>, boundary: Option<Boundary>,
        trust_tier: Option<TrustTier>, confidence: Option<u16>, margin: Option<u16>,
        anchor_task_id: Option<TaskId>,
    }

    /// One question put to a person.
    QuestionRow from NewQuestion in "view_questions" as questions by (clarification_id: ClarificationId) {
        clarification_id: ClarificationId, task_id: TaskId, attempt_id: AttemptId, question: Text,
        choices: Vec<Text>, status: ClarificationStatus, requested_at: UnixMs, expires_at: UnixMs,
    } later {
        resolved_at: Option<UnixMs>, answered_by: Option<IngressId>,
    }

    /// A root of state, as an event of the log says it (HV-3.6-1).
    StateRootRow from NewStateRoot in "view_state_roots" as state_roots by (number: u64, subject: StateSubject) {
        number: u64, subject: StateSubject, size: u64, root: Digest, through: u64, state_root: Digest,
        task_seq: u64, at: UnixMs, list: Digest,
    } later {}

    /// What one call of a model has used.
    SpentRow from NewSpent in "view_spent" as spent by (task_id: TaskId, task_seq: u64) {
        task_id: TaskId, task_seq: u64, at: UnixMs, provider: String, model: String, tokens: u64, cost_micros: u64,
    } later {}

    /// The model that a task asked last, and what is set aside for an answer that is not settled.
    AskingRow from NewAsking in "view_asking" as asking by (task_id: TaskId) {
        task_id: TaskId, provider: String, model: String, cost_micros: u64,
    } later {}

    /// One principal.
    PrincipalRow from NewPrincipal in "view_principals" as principals by (principal_id: PrincipalId) {
        principal_id: PrincipalId, kind: PrincipalType, name: Text, labels: Vec<String>, created_at: UnixMs,
    } later {}

    /// One workspace.
    WorkspaceRow from NewWorkspace in "view_workspaces" as workspaces by (workspace_id: WorkspaceId) {
        workspace_id: WorkspaceId, root_path: Text, created_at: UnixMs,
    } later {}
}

impl TaskRow {
    /// Whether words reach it: a task whose only turn is its plan hears none.
    pub fn hears_words(&self) -> bool {
        !self.proposer.is_some_and(Proposer::plans_once)
    }
}
