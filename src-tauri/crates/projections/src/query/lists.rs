//! The lists, one function for each.

use super::{Ask, Cursor, Is, Order, Page, Query, TaskFilter};
use crate::rows::*;
use crate::{ActionState, Error, GrantState};
use lineage::Graph;
use model::approval::ApprovalStatus;
use model::artifact::ArtifactKind;
use model::ingress::{ClarificationStatus, IngressStatus};
use model::knowledge::{BeliefStatus, MemoryStatus, MemoryType};
use model::task::StepStatus;
use model::{
    ActionRequestId, ApprovalId, ArtifactId, AttemptId, BeliefId, ClarificationId, ConversationId, Digest,
    GrantId, IngressId, MemoryId, ReceiptId, Sensitive, TaskId, UnixMs,
};
use rusqlite::types::Value;

/// Of lines: they are of no task that is reported only where there is something to say, and has nothing to say yet.
const REPORTED: &str =
    "NOT EXISTS (SELECT 1 FROM view_tasks WHERE view_tasks.task_id = view_messages.task_id AND quiet)";

/// Which artifacts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArtifactFilter {
    /// Of this task.
    pub task: Option<TaskId>,
    /// Of this kind.
    pub kind: Option<ArtifactKind>,
    /// Made by this attempt.
    pub produced_by: Option<AttemptId>,
    /// With exactly these bytes.
    pub content_hash: Option<Digest>,
}

/// Which memory records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryFilter {
    /// Of this status.
    pub status: Option<MemoryStatus>,
    /// Of this kind.
    pub memory_type: Option<MemoryType>,
    /// That hold in this project, those that hold everywhere among them.
    pub project: Option<Digest>,
}

impl From<Option<MemoryStatus>> for MemoryFilter {
    fn from(status: Option<MemoryStatus>) -> Self {
        Self { status, ..Self::default() }
    }
}

/// How much waits for a person, for the tray.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Waiting {
    /// Approvals that wait and have not run out.
    pub approvals: u64,
    /// Questions that wait and have not run out.
    pub questions: u64,
    /// Effects whose outcome is not known.
    pub unknown_effects: u64,
    /// Messages nobody can tell the task of.
    pub undecided_messages: u64,
    /// Tasks at work.
    pub running: u64,
    /// Of the approvals and questions those of work that Hermit began by itself: they interrupt nobody.
    pub quiet: u64,
}

/// Whether the gate was halted, and why.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct GateState {
    /// Whether nothing executes until a person boots it.
    pub halted: bool,
    /// The gate's session.
    pub session: String,
    /// Why, when it was halted.
    pub reason: Option<Sensitive<String>>,
    /// Since when.
    pub at: UnixMs,
}

impl Query {
    /// Task summaries (HK-13.6-2).
    ///
    /// # Errors
    /// As every list: [`Error::Ledger`], [`Error::Database`], [`Error::Row`].
    pub fn tasks(&self, filter: &TaskFilter, ask: Ask) -> Result<Page<TaskRow>, Error> {
        self.list(filter.conditions(), ask)
    }

    /// One task.
    ///
    /// # Errors
    /// As every list.
    pub fn task(&self, task: TaskId) -> Result<Option<TaskRow>, Error> {
        self.one("task_id", task)
    }

    /// The step queue (HK-13.6-3), of one task or all, of one status or all.
    ///
    /// # Errors
    /// As every list.
    pub fn steps(
        &self,
        task: Option<TaskId>,
        status: Option<StepStatus>,
        ask: Ask,
    ) -> Result<Page<StepRow>, Error> {
        self.list([Is::some("task_id", task), Is::some("status", status)], ask)
    }

    /// Attempts of a task.
    ///
    /// # Errors
    /// As every list.
    pub fn attempts(&self, task: TaskId, ask: Ask) -> Result<Page<AttemptRow>, Error> {
        self.list([Is::some("task_id", Some(task))], ask)
    }

    /// One attempt.
    ///
    /// # Errors
    /// As every list.
    pub fn attempt(&self, attempt: AttemptId) -> Result<Option<AttemptRow>, Error> {
        self.one("attempt_id", attempt)
    }

    /// Turns of the loop of a task, or of one attempt.
    ///
    /// # Errors
    /// As every list.
    pub fn iterations(
        &self,
        task: TaskId,
        attempt: Option<AttemptId>,
        ask: Ask,
    ) -> Result<Page<IterationRow>, Error> {
        self.list([Is::some("task_id", Some(task)), Is::some("attempt_id", attempt)], ask)
    }

    /// Leases, of one task or all.
    ///
    /// # Errors
    /// As every list.
    pub fn leases(&self, task: Option<TaskId>, ask: Ask) -> Result<Page<LeaseRow>, Error> {
        self.list([Is::some("task_id", task)], ask)
    }

    /// Proposed actions and what became of them.
    ///
    /// # Errors
    /// As every list.
    pub fn actions(
        &self,
        task: Option<TaskId>,
        state: Option<ActionState>,
        ask: Ask,
    ) -> Result<Page<ActionRow>, Error> {
        self.list([Is::some("task_id", task), Is::some("state", state)], ask)
    }

    /// One action.
    ///
    /// # Errors
    /// As every list.
    pub fn action(&self, action: ActionRequestId) -> Result<Option<ActionRow>, Error> {
        self.one("action_request_id", action)
    }

    /// The approval inbox (HK-13.6-4): what waits at `now`.
    ///
    /// # Errors
    /// As every list.
    pub fn inbox(&self, now: UnixMs, ask: Ask) -> Result<Page<ApprovalRow>, Error> {
        let pending = Is::some("status", Some(ApprovalStatus::Pending));
        self.list([pending, Some(Is::Over("expires_at", now.0))], ask)
    }

    /// Approvals of a task or all, of one status or all.
    ///
    /// # Errors
    /// As every list.
    pub fn approvals(
        &self,
        task: Option<TaskId>,
        status: Option<ApprovalStatus>,
        ask: Ask,
    ) -> Result<Page<ApprovalRow>, Error> {
        self.list([Is::some("task_id", task), Is::some("status", status)], ask)
    }

    /// One approval.
    ///
    /// # Errors
    /// As every list.
    pub fn approval(&self, approval: ApprovalId) -> Result<Option<ApprovalRow>, Error> {
        self.one("approval_id", approval)
    }

    /// Grants that may be used at `now` (HK-13.6-5). For people: authority itself is asked of the ledger.
    ///
    /// # Errors
    /// As every list.
    pub fn active_grants(&self, now: UnixMs, ask: Ask) -> Result<Page<GrantRow>, Error> {
        let active = Is::some("state", Some(GrantState::Active));
        self.list([active, Some(Is::Over("expires_at", now.0))], ask)
    }

    /// Every grant of a task.
    ///
    /// # Errors
    /// As every list.
    pub fn grants(&self, task: TaskId, ask: Ask) -> Result<Page<GrantRow>, Error> {
        self.list([Is::some("task_id", Some(task))], ask)
    }

    /// One grant.
    ///
    /// # Errors
    /// As every list.
    pub fn grant(&self, grant: GrantId) -> Result<Option<GrantRow>, Error> {
        self.one("grant_id", grant)
    }

    /// The artifact catalog (HK-13.6-6).
    ///
    /// # Errors
    /// As every list.
    pub fn artifacts(&self, filter: &ArtifactFilter, ask: Ask) -> Result<Page<ArtifactRow>, Error> {
        let conditions = [
            Is::some("task_id", filter.task),
            Is::some("kind", filter.kind),
            Is::some("produced_by", filter.produced_by),
            Is::some("content_hash", filter.content_hash),
        ];
        self.list(conditions, ask)
    }

    /// One artifact.
    ///
    /// # Errors
    /// As every list.
    pub fn artifact(&self, artifact: ArtifactId) -> Result<Option<ArtifactRow>, Error> {
        self.one("artifact_id", artifact)
    }

    /// The working states of a task (HK-13.6-7), one for each attempt.
    ///
    /// # Errors
    /// As every list.
    pub fn working_states(&self, task: TaskId, ask: Ask) -> Result<Page<WorkingStateRow>, Error> {
        self.list([Is::some("task_id", Some(task))], ask)
    }

    /// Beliefs (HK-13.6-8), of one task or all, of one status or all.
    ///
    /// # Errors
    /// As every list.
    pub fn beliefs(
        &self,
        task: Option<TaskId>,
        status: Option<BeliefStatus>,
        ask: Ask,
    ) -> Result<Page<BeliefRow>, Error> {
        self.list([Is::some("task_id", task), Is::some("status", status)], ask)
    }

    /// One belief.
    ///
    /// # Errors
    /// As every list.
    pub fn belief(&self, belief: BeliefId) -> Result<Option<BeliefRow>, Error> {
        self.one("belief_id", belief)
    }

    /// Every revision of a belief.
    ///
    /// # Errors
    /// As every list.
    pub fn belief_revisions(&self, belief: BeliefId, ask: Ask) -> Result<Page<BeliefRevisionRow>, Error> {
        self.list([Is::some("belief_id", Some(belief))], ask)
    }

    /// Memory (HK-13.6-9), of one status or all, of one kind or all, of one project or all.
    ///
    /// # Errors
    /// As every list.
    pub fn memories(&self, filter: impl Into<MemoryFilter>, ask: Ask) -> Result<Page<MemoryRow>, Error> {
        let filter = filter.into();
        let project = filter.project.map(|hash| Is::TextOrEmpty("project_hash", hash.to_string()));
        let (status, kind) = (Is::some("status", filter.status), Is::some("memory_type", filter.memory_type));
        self.list([status, kind, project], ask)
    }

    /// One memory record.
    ///
    /// # Errors
    /// As every list.
    pub fn memory(&self, memory: MemoryId) -> Result<Option<MemoryRow>, Error> {
        self.one("memory_id", memory)
    }

    /// The decision timeline (HK-13.6-10), of one task or all.
    ///
    /// # Errors
    /// As every list.
    pub fn decisions(&self, task: Option<TaskId>, ask: Ask) -> Result<Page<DecisionRow>, Error> {
        self.list([Is::some("task_id", task)], ask)
    }

    /// The receipt ledger (HK-13.6-11), of one task or all, of one action or all.
    ///
    /// # Errors
    /// As every list.
    pub fn receipts(
        &self,
        task: Option<TaskId>,
        action: Option<ActionRequestId>,
        ask: Ask,
    ) -> Result<Page<ReceiptRow>, Error> {
        self.list([Is::some("task_id", task), Is::some("action_request_id", action)], ask)
    }

    /// Receipts behind a place in the log, the oldest first.
    ///
    /// # Errors
    /// As every list.
    pub fn receipts_after(&self, seq: u64, limit: u32) -> Result<Vec<ReceiptRow>, Error> {
        let ask = Ask { after: Some(Cursor(seq)), limit, order: Order::Oldest };
        Ok(self.list([None], ask)?.rows)
    }

    /// One receipt.
    ///
    /// # Errors
    /// As every list.
    pub fn receipt(&self, receipt: ReceiptId) -> Result<Option<ReceiptRow>, Error> {
        self.one("receipt_id", receipt)
    }

    /// The lines of a conversation (HK-13.6-12), or of one of its tasks. In a conversation those are left out that are of a run
    /// without anything to say, where only such is reported; of the task they are all there.
    ///
    /// # Errors
    /// As every list.
    pub fn messages(
        &self,
        conversation: ConversationId,
        task: Option<TaskId>,
        ask: Ask,
    ) -> Result<Page<MessageRow>, Error> {
        let conditions = [
            Is::some("conversation_id", Some(conversation)),
            Is::some("task_id", task),
            task.is_none().then_some(Is::Holds(REPORTED)),
        ];
        self.list(conditions, ask)
    }

    /// Inbound messages of a conversation.
    ///
    /// # Errors
    /// As every list.
    pub fn ingress(&self, conversation: ConversationId, ask: Ask) -> Result<Page<IngressRow>, Error> {
        self.list([Is::some("conversation_id", Some(conversation))], ask)
    }

    /// One inbound message.
    ///
    /// # Errors
    /// As every list.
    pub fn message(&self, ingress: IngressId) -> Result<Option<IngressRow>, Error> {
        self.one("ingress_id", ingress)
    }

    /// Inbound messages of all conversations that stand so.
    ///
    /// # Errors
    /// As every list.
    pub fn ingress_by_status(&self, status: IngressStatus, ask: Ask) -> Result<Page<IngressRow>, Error> {
        self.list([Is::some("status", Some(status))], ask)
    }

    /// Messages that wait to be absorbed by a task (HK-8.3-10).
    ///
    /// # Errors
    /// As every list.
    pub fn pending_inputs(&self, task: TaskId, ask: Ask) -> Result<Page<IngressRow>, Error> {
        self.list([Is::some("waits_for", Some(task)), Some(Is::Empty("absorbed_at"))], ask)
    }

    /// Questions, of one task or all, of one status or all.
    ///
    /// # Errors
    /// As every list.
    pub fn questions(
        &self,
        task: Option<TaskId>,
        status: Option<ClarificationStatus>,
        ask: Ask,
    ) -> Result<Page<QuestionRow>, Error> {
        self.list([Is::some("task_id", task), Is::some("status", status)], ask)
    }

    /// One question.
    ///
    /// # Errors
    /// As every list.
    pub fn question(&self, question: ClarificationId) -> Result<Option<QuestionRow>, Error> {
        self.one("clarification_id", question)
    }

    /// Principals.
    ///
    /// # Errors
    /// As every list.
    pub fn principals(&self, ask: Ask) -> Result<Page<PrincipalRow>, Error> {
        self.list([], ask)
    }

    /// Workspaces.
    ///
    /// # Errors
    /// As every list.
    pub fn workspaces(&self, ask: Ask) -> Result<Page<WorkspaceRow>, Error> {
        self.list([], ask)
    }

    /// Whether the gate was halted; none before anyone halted or booted it.
    ///
    /// # Errors
    /// As every list.
    pub fn gate(&self) -> Result<Option<GateState>, Error> {
        self.read(|conn| {
            let mut found = conn.prepare_cached("SELECT halted, session, reason, at FROM view_gate")?;
            let mut rows = found.query([])?;
            let Some(row) = rows.next()? else {
                return Ok(None);
            };
            let wrong = |why| Error::Row { table: "view_gate", why };
            let reason = crate::cell::Cell::read(row.get_ref(2)?, Some(conn)).map_err(wrong)?;
            Ok(Some(GateState { halted: row.get(0)?, session: row.get(1)?, reason, at: UnixMs(row.get(3)?) }))
        })
    }

    /// How much waits for a person at `now`.
    ///
    /// # Errors
    /// As every list.
    pub fn waiting(&self, now: UnixMs) -> Result<Waiting, Error> {
        let now = [Value::Integer(now.0)];
        let live = |table: &str| {
            format!("SELECT count(*) FROM {table} WHERE status = 'pending' AND expires_at > ?1")
        };
        let of_background =
            "task_id IN (SELECT task_id FROM view_tasks WHERE origin IN ('service', 'scheduler'))";
        let quiet = |table: &str| format!("{} AND {of_background}", live(table));
        let undecided = "SELECT count(*) FROM view_ingress WHERE status = 'pending_disambiguation'";
        Ok(Waiting {
            approvals: self.number(&live("view_approvals"), &now)?,
            questions: self.number(&live("view_questions"), &now)?,
            unknown_effects: self
                .number("SELECT count(*) FROM view_actions WHERE state = 'uncertain'", &[])?,
            undecided_messages: self.number(undecided, &[])?,
            running: self.number("SELECT count(*) FROM view_tasks WHERE status = 'running'", &[])?,
            quiet: self.number(&quiet("view_approvals"), &now)?
                + self.number(&quiet("view_questions"), &now)?,
        })
    }

    /// The lineage of a task, folded from its events as far as their text survives.
    ///
    /// # Errors
    /// [`Error::Ledger`], [`Error::Event`].
    pub fn lineage(&self, task: TaskId) -> Result<Graph, Error> {
        let mut graph = Graph::new();
        let mut after = 0;
        loop {
            let events = self.reader.events(task, after, 1_000)?;
            let Some(last) = events.last() else {
                return Ok(graph);
            };
            after = last.task_seq;
            for stored in &events {
                let event = stored.event()?;
                let unreadable =
                    |e: model::Error| Error::Event { log_seq: stored.log_seq, why: e.to_string() };
                let body = self.reader.revealing(|shown| event.body(shown))?;
                graph.apply(&event, &body.map_err(unreadable)?);
            }
        }
    }
}
