//! A task as its events say: the fold that every decision rests on (HK-20.1-3).

mod attempt;
mod queries;
mod records;
mod sampled;
mod turn;

pub use attempt::{AttemptState, Compacted, LoadedSkill, ObservedRef, RefusedBy};
pub(crate) use records::EventAt;
pub use records::{ApprovalRecord, FirstYes, GrantRecord, Input, ReceiptRecord};
pub use sampled::{SampledBy, Unended};
pub use turn::{Act, Authority, CheckpointAt, Delegated, PolicyAt, Stage, Trial, Turn, WitnessAt};

use crate::Error;
use model::approval::ApprovalStatus;
use model::artifact::{Artifact, ArtifactRef};
use model::attempt::AttemptStatus;
use model::body::{Body, TaskGoalChanged};
use model::decision::Decision;
use model::ingress::{Clarification, ClarificationStatus};
use model::knowledge::Belief;
use model::receipt::ResultCode;
use model::task::{CheckedCriterion, Limit, Proposer, Step, StepStatus, Task, TaskStatus};
use model::{
    ActionRequestId, ApprovalId, ArtifactId, AttemptId, BeliefId, ClarificationId, Event, EventId, GrantId,
    IngressId, StepId, TaskId, UnixMs, transition,
};
use std::collections::{BTreeMap, BTreeSet};

/// Why a task pauses whose model does not answer.
pub(crate) const MODEL_UNAVAILABLE: &str = "model_unavailable";
/// Why a task is paused that only a person lets go on.
pub(crate) const PAUSED_BY_A_PERSON: &str = "asked by a person";
/// Why a task is paused that waits for a day in which models may cost something again.
pub(crate) const DAY_CEILING: &str = "day_ceiling";

/// Everything the kernel needs to know of one task, and nothing that events do not say.
#[derive(Debug, Clone)]
pub struct TaskState {
    /// The task.
    pub task: Task,
    /// Its last sequence number.
    pub seq: u64,
    /// Its last event.
    pub last_event: Option<EventId>,
    /// The latest time that any of its events has: the clock may have been set back since.
    pub latest: UnixMs,
    /// Its steps.
    pub steps: BTreeMap<StepId, Step>,
    /// Its steps in the order they were planned.
    pub step_order: Vec<StepId>,
    /// Its attempts.
    pub attempts: BTreeMap<AttemptId, AttemptState>,
    /// The latest attempt.
    pub current: Option<AttemptId>,
    /// Input not absorbed yet.
    pub inputs: Vec<Input>,
    /// Input that waits until the run would else be done, in order.
    pub queued: Vec<Input>,
    /// Input absorbed, in order.
    pub absorbed: Vec<Input>,
    /// How often the goal was edited.
    pub goal_edits: u32,
    /// The goal was edited, and no context pack holds it yet.
    pub goal_is_news: bool,
    /// A person asked for a pause.
    pub pause_requested: bool,
    /// A person asked for the end, with this reason.
    pub cancel_requested: Option<String>,
    /// Since when the ceiling of a day holds it, where it is paused for that.
    pub(crate) held_by_day: Option<UnixMs>,
    /// Tokens used.
    pub tokens_spent: u64,
    /// Cost used, micro-units.
    pub cost_spent: u64,
    /// Milliseconds worked.
    pub wall_ms: i64,
    /// Tokens set aside for a call whose outcome is not settled.
    pub tokens_reserved: u64,
    /// What was set aside last, micro-units.
    pub(crate) cost_reserved: u64,
    /// What servers of tools asked of models, by the act during which they did.
    pub sampled: BTreeMap<ActionRequestId, SampledBy>,
    /// The question that a limit was met with, and which limit.
    pub(crate) limit_asked: Option<(ClarificationId, Limit)>,
    /// What a person let it use since, the latest last.
    pub(crate) raised: BTreeMap<Limit, u64>,
    /// How many models of its chain did not answer: the next one is asked.
    pub(crate) fallen: usize,
    /// Child tasks that its agents began, in order.
    pub children: Vec<TaskId>,
    /// Approvals.
    pub approvals: BTreeMap<ApprovalId, ApprovalRecord>,
    /// Questions.
    pub clarifications: BTreeMap<ClarificationId, Clarification>,
    /// Grants.
    pub grants: BTreeMap<GrantId, GrantRecord>,
    /// Receipts, in order.
    pub receipts: Vec<ReceiptRecord>,
    /// Decisions, in order.
    pub decisions: Vec<Decision>,
    /// Beliefs, latest revision.
    pub beliefs: BTreeMap<BeliefId, Belief>,
    /// Latest working state and its revision.
    pub working_state: Option<(ArtifactRef, u32)>,
    /// What a person said must hold at the end, as it was checked last.
    pub criteria: Vec<CheckedCriterion>,
    /// Artifacts of this task.
    pub artifacts: BTreeMap<ArtifactId, Artifact>,
    /// Those of them that stand behind a receipt.
    pub sealed: BTreeSet<ArtifactId>,
}

impl TaskState {
    /// A task from the first event of its stream.
    ///
    /// # Errors
    /// [`Error::Broken`] when the stream does not begin with `task.created`.
    pub fn begin(event: &Event, body: &Body) -> Result<Self, Error> {
        let Body::TaskCreated(created) = body else {
            return Err(Error::Broken(format!("task `{}` does not begin with its creation", event.task_id)));
        };
        Ok(Self {
            task: created.task.clone(),
            seq: event.task_seq,
            last_event: Some(event.event_id),
            latest: event.occurred_at,
            steps: BTreeMap::new(),
            step_order: Vec::new(),
            attempts: BTreeMap::new(),
            current: None,
            inputs: Vec::new(),
            queued: Vec::new(),
            absorbed: Vec::new(),
            goal_edits: 0,
            goal_is_news: false,
            pause_requested: false,
            cancel_requested: None,
            held_by_day: None,
            tokens_spent: 0,
            cost_spent: 0,
            wall_ms: 0,
            tokens_reserved: 0,
            cost_reserved: 0,
            sampled: BTreeMap::new(),
            limit_asked: None,
            raised: BTreeMap::new(),
            fallen: 0,
            children: Vec::new(),
            approvals: BTreeMap::new(),
            clarifications: BTreeMap::new(),
            grants: BTreeMap::new(),
            receipts: Vec::new(),
            decisions: Vec::new(),
            beliefs: BTreeMap::new(),
            working_state: None,
            criteria: Vec::new(),
            artifacts: BTreeMap::new(),
            sealed: BTreeSet::new(),
        })
    }

    /// Whether words reach the task: one whose only turn is its plan hears none.
    pub fn hears_words(&self) -> bool {
        !self.attempt().and_then(|at| at.attempt.proposer).is_some_and(Proposer::plans_once)
    }

    /// The latest attempt.
    pub fn attempt(&self) -> Option<&AttemptState> {
        self.attempts.get(&self.current?)
    }

    /// The step of the latest attempt, else the first that may be attempted.
    pub fn step(&self) -> Option<&Step> {
        match self.attempt() {
            Some(attempt) => self.steps.get(&attempt.attempt.step_id),
            None => self.due_step(),
        }
    }

    /// The step to attempt: the one at work while it has not ended, else the first in order whose dependencies have
    /// succeeded (HK-10.2-2, -3).
    pub fn due_step(&self) -> Option<&Step> {
        let at_work = self.attempt().and_then(|a| self.steps.get(&a.attempt.step_id));
        at_work.filter(|step| !step.status.is_terminal()).or_else(|| self.step_after(None))
    }

    /// The first step in order that could be attempted if `succeeded` had succeeded.
    pub fn step_after(&self, succeeded: Option<StepId>) -> Option<&Step> {
        let met = |id: &StepId| {
            succeeded == Some(*id) || self.steps.get(id).is_some_and(|s| s.status == StepStatus::Succeeded)
        };
        let open = |step: &&Step| match step.status {
            StepStatus::Ready => true,
            StepStatus::Planned => step.depends_on.iter().all(met),
            _ => false,
        };
        self.in_order().filter(|step| Some(step.step_id) != succeeded).find(open)
    }

    /// The steps in the order in which they were planned.
    pub fn in_order(&self) -> impl Iterator<Item = &Step> {
        self.step_order.iter().filter_map(|id| self.steps.get(id))
    }

    /// Answers of attempts that succeeded in other steps than this attempt's, in the order of the steps.
    pub fn earlier_answers<'s>(
        &'s self,
        attempt: &AttemptState,
    ) -> impl Iterator<Item = (&'s AttemptState, &'s ArtifactRef)> {
        let own = attempt.attempt.step_id;
        let others = self.step_order.iter().filter(move |id| **id != own);
        others.flat_map(|id| {
            let of_step = self.attempts.values().filter(move |a| a.attempt.step_id == *id);
            let ended = of_step.filter(|a| a.attempt.status == AttemptStatus::Succeeded);
            ended.filter_map(|a| Some((a, a.final_answer()?)))
        })
    }

    /// Steps that have not ended, but for this one.
    pub fn open_steps(&self, but: Option<StepId>) -> impl Iterator<Item = &Step> {
        self.in_order().filter(move |step| Some(step.step_id) != but && !step.status.is_terminal())
    }

    /// Folds one event. Pure; the same events always give the same state (RX-10-3).
    ///
    /// # Errors
    /// [`Error::Broken`] or [`Error::Model`] when an event does not fit the state.
    pub fn apply(&mut self, event: &Event, body: &Body) -> Result<(), Error> {
        self.fold(&EventAt::from(event), body)
    }

    /// As [`TaskState::apply`], for an event that is not placed yet.
    pub(crate) fn fold(&mut self, at: &EventAt, body: &Body) -> Result<(), Error> {
        if at.task_seq != self.seq.saturating_add(1) {
            return Err(Error::Broken(format!("event {} of `{}` is out of order", at.task_seq, at.task_id)));
        }
        self.seq = at.task_seq;
        self.last_event = Some(at.event_id);
        self.latest = self.latest.max(at.occurred_at);
        self.apply_task(at, body)?;
        self.apply_governed(at, body)?;
        self.apply_sampled(body);
        self.apply_grants(body);
        self.apply_questions(body);
        self.apply_children(body);
        self.apply_knowledge(body);
        if let Some(attempt) = at.attempt_id.and_then(|id| self.attempts.get_mut(&id)) {
            attempt.apply(at, body)?;
        }
        Ok(())
    }

    fn apply_task(&mut self, at: &EventAt, body: &Body) -> Result<(), Error> {
        match body {
            Body::TaskStatusChanged(b) => {
                transition::task(b.from, b.to)?;
                if self.task.status != b.from {
                    return Err(Error::Broken(format!(
                        "task `{}` was {}, not {}",
                        at.task_id, self.task.status, b.from
                    )));
                }
                self.task.status = b.to;
                self.task.updated_at = at.occurred_at;
                if b.to != TaskStatus::Running {
                    self.pause_requested = false;
                }
                let is_paused = b.to == TaskStatus::Paused;
                self.held_by_day = (is_paused && b.reason == DAY_CEILING).then_some(at.occurred_at);
                // Nobody of the chain has answered: it begins with its first again.
                if is_paused && b.reason == MODEL_UNAVAILABLE {
                    self.fallen = 0;
                }
            }
            Body::TaskPauseRequested(_) => self.pause_requested = true,
            Body::TaskCancelRequested(b) => {
                self.cancel_requested = Some(b.reason.shown().cloned().unwrap_or_default());
            }
            Body::TaskInputAdded(b) => self.inputs.push(Input::from(b)),
            Body::TaskInputQueued(b) => self.queued.push(Input::from(b)),
            Body::TaskInputAbsorbed(b) => {
                let at = |of: &[Input]| of.iter().position(|input| input.ingress_id == b.ingress_id);
                if let Some(at) = at(&self.inputs) {
                    let input = self.inputs.remove(at);
                    self.absorbed.push(input);
                } else if let Some(at) = at(&self.queued) {
                    let input = self.queued.remove(at);
                    self.absorbed.push(input);
                }
            }
            Body::TaskGoalChanged(b) => self.take_goal(b),
            Body::ContextCompiled(_) => self.goal_is_news = false,
            Body::TaskPriorityChanged(b) => self.task.priority = b.priority,
            Body::BudgetSettled(b) => {
                self.tokens_spent = self.tokens_spent.saturating_add(b.tokens);
                self.cost_spent = self.cost_spent.saturating_add(b.cost_micros);
                self.wall_ms = self.wall_ms.saturating_add(b.wall_ms);
            }
            Body::StepCreated(b) => {
                self.steps.insert(b.step.step_id, b.step.clone());
                self.step_order.push(b.step.step_id);
            }
            Body::StepStatusChanged(b) => {
                transition::step(b.from, b.to)?;
                if let Some(step) = self.steps.get_mut(&b.about_step_id) {
                    step.status = b.to;
                    step.updated_at = at.occurred_at;
                }
            }
            Body::AttemptCreated(b) => {
                let id = b.attempt.attempt_id;
                self.attempts.insert(id, AttemptState::new(b.attempt.clone(), self.goal_text()));
                self.current = Some(id);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_goal(&mut self, changed: &TaskGoalChanged) {
        self.task.goal = changed.goal.clone();
        if let Some(title) = &changed.title {
            self.task.title = title.clone();
        }
        self.goal_edits = self.goal_edits.saturating_add(1);
        self.goal_is_news = true;
    }

    fn apply_governed(&mut self, at: &EventAt, body: &Body) -> Result<(), Error> {
        match body {
            Body::ApprovalRequested(b) => {
                self.approvals.insert(b.approval.approval_id, ApprovalRecord::asked(b));
            }
            Body::ApprovalSigned(b) => {
                let of = format!("approval `{}` was answered before it was requested", b.approval_id);
                let record = self.approvals.get_mut(&b.approval_id).ok_or(Error::Broken(of))?;
                record.sign(b, at.occurred_at)?;
            }
            Body::ApprovalGranted(b) => {
                self.resolve(b.approval_id, ApprovalStatus::Granted, at)?.grant(b)?;
            }
            Body::ApprovalDenied(b) => {
                let record = self.resolve(b.approval_id, ApprovalStatus::Denied, at)?;
                record.approval.resolved_by = Some(b.decided_by);
                record.envelope = b.envelope.clone();
                record.feedback = b.feedback.as_ref().and_then(|f| f.shown().cloned());
            }
            Body::ApprovalExpired(b) => {
                self.resolve(b.approval_id, ApprovalStatus::Expired, at)?;
            }
            Body::ApprovalCancelled(b) => {
                self.resolve(b.approval_id, ApprovalStatus::Cancelled, at)?;
            }
            Body::ApprovalInvalidated(b) => {
                // A granted approval can be invalidated too, as long as nothing was dispatched on it.
                if let Some(record) = self.approvals.get_mut(&b.approval_id) {
                    record.approval.status = ApprovalStatus::Invalidated;
                }
            }
            Body::ReceiptIssued(b) => self.receipts.push(ReceiptRecord {
                receipt_id: b.receipt_id,
                receipt_class: b.receipt_class,
                action_class: b.action_class,
                result_code: b.result_code,
                envelope: b.envelope.clone(),
                reversibility: b.reversibility,
                rolls_back: b.rolls_back,
                undoes: b.rolls_back.filter(|_| b.result_code == ResultCode::Succeeded).into_iter().collect(),
            }),
            Body::ReceiptsUndone(b) => {
                if let Some(record) = self.receipts.iter_mut().find(|r| r.receipt_id == b.by) {
                    record.undoes.clone_from(&b.undone);
                }
            }
            Body::CriteriaChecked(b) => self.criteria.clone_from(&b.checked),
            Body::DecisionRecorded(b) => self.decisions.push(b.decision.clone()),
            _ => {}
        }
        Ok(())
    }

    fn apply_grants(&mut self, body: &Body) {
        match body {
            Body::GrantIssued(b) => {
                let record = GrantRecord {
                    artifact: b.grant.clone(),
                    action_request_id: b.action_request_id,
                    expires_at: b.expires_at,
                    revoked: false,
                    consumed: false,
                };
                self.grants.insert(b.grant_id, record);
            }
            Body::GrantRevoked(b) => {
                if let Some(grant) = self.grants.get_mut(&b.grant_id) {
                    grant.revoked = true;
                }
            }
            Body::EffectDispatched(b) => {
                if let Some(grant) = self.grants.get_mut(&b.grant_id) {
                    grant.consumed = true;
                }
            }
            _ => {}
        }
    }

    fn apply_questions(&mut self, body: &Body) {
        match body {
            Body::ClarificationRequested(b) => {
                self.clarifications.insert(b.clarification.clarification_id, b.clarification.clone());
            }
            Body::LimitReached(b) => self.limit_asked = Some((b.clarification_id, b.limit)),
            Body::LimitRaised(b) => drop(self.raised.insert(b.limit, b.allowed)),
            Body::ModelFellBack(b) => self.fallen = usize::try_from(b.place).unwrap_or(usize::MAX),
            Body::ClarificationAnswered(b) => {
                self.close(b.clarification_id, ClarificationStatus::Answered, Some(b.ingress_id));
            }
            Body::ClarificationExpired(b) => {
                self.close(b.clarification_id, ClarificationStatus::Expired, None)
            }
            Body::ClarificationCancelled(b) => {
                self.close(b.clarification_id, ClarificationStatus::Cancelled, None)
            }
            _ => {}
        }
    }

    fn apply_children(&mut self, body: &Body) {
        match body {
            Body::ChildrenStarted(b) => self.children.extend(&b.children),
            Body::ChildEnded(b) => {
                self.tokens_spent = self.tokens_spent.saturating_add(b.tokens);
                self.cost_spent = self.cost_spent.saturating_add(b.cost_micros);
            }
            _ => {}
        }
    }

    fn apply_knowledge(&mut self, body: &Body) {
        knowledge::belief::fold(&mut self.beliefs, body);
        match body {
            Body::WorkingStateUpdated(b) => self.working_state = Some((b.state.clone(), b.revision)),
            Body::ArtifactSealed(b) => drop(self.sealed.insert(b.artifact_id)),
            Body::ArtifactCreated(b) => {
                self.artifacts.insert(b.artifact.artifact_id, b.artifact.clone());
            }
            _ => {}
        }
    }

    fn resolve(
        &mut self,
        id: ApprovalId,
        to: ApprovalStatus,
        at: &EventAt,
    ) -> Result<&mut ApprovalRecord, Error> {
        let record = self
            .approvals
            .get_mut(&id)
            .ok_or_else(|| Error::Broken(format!("approval `{id}` was resolved before it was requested")))?;
        if record.approval.status != ApprovalStatus::Pending {
            return Err(Error::Broken(format!("approval `{id}` was resolved twice")));
        }
        record.approval.status = to;
        record.approval.resolved_at = Some(at.occurred_at);
        Ok(record)
    }

    fn close(&mut self, id: ClarificationId, status: ClarificationStatus, answer: Option<IngressId>) {
        if let Some(question) = self.clarifications.get_mut(&id) {
            question.status = status;
            question.answered_by = answer;
        }
    }
}
