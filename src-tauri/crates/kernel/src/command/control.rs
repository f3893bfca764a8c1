//! Pause, resume, cancel, retry. Requests are recorded at once and taken at the next durable boundary.

use super::enclose::{Encloses, is_given};
use super::submit::{Attachment, Submission, Submitted};
use crate::Error;
use crate::drive::asked::close_questions;
use crate::drive::{leave_children, release_lease, void};
use crate::kernel::Kernel;
use crate::state::{AttemptState, PAUSED_BY_A_PERSON, TaskState, Turn};
use crate::tx::{After, Tx};
use model::artifact::ArtifactKind;
use model::attempt::AttemptStatus;
use model::body::{TaskCancelRequested, TaskPauseRequested, TaskPriorityChanged};
use model::fault::Point;
use model::ingress::{Channel, ContinuationAnchor};
use model::principal::PrincipalType;
use model::schedule::ScheduledBy;
use model::task::{Origin, Priority, StepStatus, TaskStatus};
use model::{Sensitive, TaskId, limits};
use std::sync::atomic::Ordering;

impl Kernel {
    /// Asks a task to pause. One that the ceiling of a day paused stays paused from then on, whatever day begins.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it has ended or is paused already.
    pub fn pause(&self, task_id: TaskId) -> Result<(), Error> {
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::TaskPause, PrincipalType::User)?;
        let status = tx.task.status;
        match status {
            TaskStatus::Running | TaskStatus::Blocked => {}
            TaskStatus::Paused if tx.held_by_day.is_some() => {
                tx.set_task(TaskStatus::Ready, "pauses", None)?;
                tx.set_task(TaskStatus::Running, "pauses", None)?;
                tx.set_task(TaskStatus::Paused, PAUSED_BY_A_PERSON, None)?;
                tx.commit()?;
                return Ok(());
            }
            other => {
                return Err(Error::Conflict(format!(
                    "the task is {other}; only a task at work can be paused"
                )));
            }
        }
        tx.push(TaskPauseRequested { about_task_id: task_id });
        tx.commit()?;
        cell.stop.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Lets a paused task go on, with the same attempt.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it is not paused.
    pub fn resume(&self, task_id: TaskId) -> Result<(), Error> {
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::TaskResume, PrincipalType::User)?;
        if tx.task.status != TaskStatus::Paused {
            return Err(Error::Conflict(format!("the task is {}, not paused", tx.task.status)));
        }
        tx.set_task(TaskStatus::Ready, "resumed by a person", None)?;
        tx.commit()?;
        Ok(())
    }

    /// Says how urgent a task is; whoever hands out places reads it. The same again changes nothing.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it has ended.
    pub fn set_priority(&self, task_id: TaskId, priority: Priority) -> Result<bool, Error> {
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::TaskPause, PrincipalType::User)?;
        if tx.task.status.is_terminal() {
            return Err(Error::Conflict(format!("the task is {} already", tx.task.status)));
        }
        if tx.task.priority == priority {
            return Ok(false);
        }
        tx.push(TaskPriorityChanged { about_task_id: task_id, priority });
        tx.commit()?;
        Ok(true)
    }

    /// How urgent a task is.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn priority(&self, task_id: TaskId) -> Result<Priority, Error> {
        let row = self.query()?.task(task_id).map_err(|e| Error::Broken(e.to_string()))?;
        row.map(|row| row.priority).ok_or_else(|| Error::NotFound { kind: "task", id: task_id.to_string() })
    }

    /// Asks a task to end. An effect under way is established first.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it has ended.
    pub fn cancel(&self, task_id: TaskId, reason: &str) -> Result<(), Error> {
        self.cancel_as(PrincipalType::User, task_id, reason)
    }

    /// As [`Self::cancel`], asked by this principal.
    pub(crate) fn cancel_as(&self, by: PrincipalType, task_id: TaskId, reason: &str) -> Result<(), Error> {
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::TaskCancel, by)?;
        if tx.task.status.is_terminal() {
            return Err(Error::Conflict(format!("the task is {} already", tx.task.status)));
        }
        tx.push(TaskCancelRequested { about_task_id: task_id, reason: Sensitive::from(reason.to_owned()) });
        tx.commit()?;
        cell.stop.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Tries again. A task at work gets a new attempt number; an ended one is never reopened: a new task follows it,
    /// anchored to its outcome (HK-8.1.1-3, HK-8.3-7).
    ///
    /// # Errors
    /// When an effect of it is not settled, or it cannot be read.
    pub fn retry(&self, task_id: TaskId, idempotency_key: String) -> Result<Submitted, Error> {
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::AttemptSupersede, PrincipalType::User)?;
        settled(&tx)?;
        if tx.task.status.is_terminal() {
            let mut submission = self.follow_up(&tx, idempotency_key)?;
            // The same goal quotes the same.
            submission.attachments.extend(taken_over(&tx, ArtifactKind::Quote));
            drop(tx);
            return self.submit(&submission);
        }
        self.supersede(&mut tx, "retried by a person")?;
        self.clear_away(tx.commit()?);
        cell.stop.store(true, Ordering::SeqCst);
        let ingress_id = model::IngressId::fresh(&*self.ports.clock, &*self.ports.entropy);
        Ok(Submitted { task_id, ingress_id, duplicate: false })
    }

    /// The attempt at work ends without a result, what it asked is withdrawn, and its step may be attempted anew.
    pub(crate) fn supersede(&self, tx: &mut Tx<'_>, why: &str) -> Result<(), Error> {
        settled(tx)?;
        let at_work = tx.attempt().filter(|attempt| !attempt.attempt.status.is_ended());
        if let Some((attempt, turn)) = at_work.map(|at_work| (at_work.attempt.attempt_id, &at_work.turn)) {
            // A command that is being tried has its folder still: whoever runs it drops what it left.
            if !matches!(turn, Turn::Trying { .. }) {
                tx.then(After::Unstage(attempt));
            }
            tx.then(After::EndServers(attempt));
            leave_children(tx);
            release_lease(tx);
            close_questions(tx);
            let asked: Vec<_> = tx.pending_approvals().map(|r| r.approval.approval_id).collect();
            for approval_id in asked {
                void(tx, approval_id, format!("superseded: {why}"));
            }
            tx.set_attempt(AttemptStatus::Superseded, why)?;
        }
        if tx.task.status == TaskStatus::Paused {
            tx.set_task(TaskStatus::Ready, why, None)?;
        } else if tx.task.status != TaskStatus::Ready {
            tx.unblock(why)?;
            tx.set_step(StepStatus::Ready, why)?;
        }
        Ok(())
    }

    /// A new task with the same contract, anchored to how the old one ended.
    pub(crate) fn follow_up(&self, state: &TaskState, idempotency_key: String) -> Result<Submission, Error> {
        let contract = self.contract(state)?;
        let reasoning = self.reasoning_of(state, contract.model.clone())?;
        let fallbacks = contract.fallbacks.iter().map(|next| self.reasoning_of(state, next.clone()));
        let fallbacks = fallbacks.collect::<Result<Vec<_>, _>>()?;
        let reason = state.attempt().and_then(AttemptState::ended);
        let outcome = reason.map_or("ended", crate::drive::in_words);
        let is_left = |a: &&model::artifact::Artifact| {
            a.kind == ArtifactKind::Answer || is_given(a) && a.kind != ArtifactKind::Quote
        };
        let left = state
            .artifacts
            .values()
            .filter(is_left)
            .map(|a| a.artifact_id)
            .take(limits::ANCHOR_ARTIFACTS_MAX);
        Ok(Submission {
            goal: state.goal_text(),
            // A goal that was edited is another one than the task was named after: what follows is named after its own.
            title: match state.goal_edits {
                0 => state.task.title.shown().cloned().unwrap_or_default(),
                _ => String::new(),
            },
            workspace_id: state
                .task
                .workspace_hint
                .ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?,
            profile: state.task.policy_profile_ref,
            reasoning,
            budget: contract.budget,
            priority: state.task.priority,
            constraints: contract.constraints,
            done_when: contract.success_criteria,
            asks_at_limit: contract.asks_at_limit,
            fallbacks,
            fallback_remote: true,
            deadline_at: None,
            // What another program or Hermit itself began stays theirs when a person runs it again.
            channel: match state.task.origin() {
                Origin::Person => Channel::Cli,
                Origin::Program | Origin::Service | Origin::Scheduler | Origin::Agent => {
                    state.task.source_channel
                }
            },
            by: None,
            conversation_id: Some(state.task.conversation_id),
            parent_task_id: None,
            continuation_anchor: Some(ContinuationAnchor {
                anchor_task_id: state.task.task_id,
                anchor_kind: "completed_outcome".to_owned(),
                selection_reason: Sensitive::from("a person asked to try again".to_owned()),
                outcome_status: state.task.status,
                outcome_summary: Sensitive::from(outcome.to_owned()),
                source_artifact_refs: left.collect(),
            }),
            attachments: taken_over(state, ArtifactKind::BinaryAttachment),
            encloses: Encloses::default(),
            steps: self.parts_of(state)?,
            depends_on: Vec::new(),
            // A person who asked for it hears of it.
            scheduled_by: state.task.scheduled_by.clone().map(|by| ScheduledBy { quiet: false, ..by }),
            idempotency_key,
        })
    }
}

/// What a task was given with words, for one that is given the same.
pub(super) fn taken_over(state: &TaskState, kind: ArtifactKind) -> Vec<Attachment> {
    let given = state.artifacts.values().filter(|a| is_given(a) && a.kind == kind);
    let given = given.map(|a| Attachment {
        name: a.task_local_alias.as_ref().and_then(|n| n.shown().cloned()).unwrap_or_default(),
        sha256: a.content_hash,
        byte_size: a.byte_size,
        trust_tier: a.trust_tier,
        of: Some(a.artifact_id),
    });
    given.collect()
}

/// What may have begun is settled before anything else begins.
fn settled(state: &TaskState) -> Result<(), Error> {
    if state.attempts.values().any(AttemptState::unsettled) {
        return Err(Error::Conflict("an effect of this task is not settled; settle it first".to_owned()));
    }
    Ok(())
}
