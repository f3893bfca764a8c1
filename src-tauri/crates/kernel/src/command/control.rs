//! Pause, resume, cancel, retry. Requests are recorded at once and taken at the next durable boundary.

use super::submit::{Attachment, Submission, Submitted};
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::state::TaskState;
use crate::track::Track;
use crate::writeup::Writeup;
use model::artifact::{ArtifactClass, ArtifactKind};
use model::attempt::AttemptStatus;
use model::body::{LeaseReleased, TaskCancelRequested, TaskPauseRequested};
use model::fault::Point;
use model::ingress::{Channel, ContinuationAnchor};
use model::principal::PrincipalType;
use model::task::{StepStatus, TaskStatus};
use model::{Sensitive, TaskId};
use std::sync::atomic::Ordering;

impl Kernel {
    /// Asks a task to pause.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it has ended or is paused already.
    pub fn pause(&self, task_id: TaskId) -> Result<(), Error> {
        let cell = self.cell(task_id)?;
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        match state.task.status {
            TaskStatus::Running | TaskStatus::Blocked => {}
            other => {
                return Err(Error::Conflict(format!(
                    "the task is {other}; only a task at work can be paused"
                )));
            }
        }
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.writeup(Point::TaskPause, state, actor);
        w.push(TaskPauseRequested { about_task_id: task_id });
        self.commit(w, Some(state))?;
        cell.stop.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Lets a paused task go on, with the same attempt.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it is not paused.
    pub fn resume(&self, task_id: TaskId) -> Result<(), Error> {
        let cell = self.cell(task_id)?;
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        if state.task.status != TaskStatus::Paused {
            return Err(Error::Conflict(format!("the task is {}, not paused", state.task.status)));
        }
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.writeup(Point::TaskResume, state, actor);
        let mut track = Track::of(state);
        track.task(&mut w, TaskStatus::Ready, "resumed by a person", None)?;
        self.commit(w, Some(state))?;
        Ok(())
    }

    /// Asks a task to end. An effect under way is established first.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it has ended.
    pub fn cancel(&self, task_id: TaskId, reason: &str) -> Result<(), Error> {
        let cell = self.cell(task_id)?;
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        if state.task.status.is_terminal() {
            return Err(Error::Conflict(format!("the task is {} already", state.task.status)));
        }
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.writeup(Point::TaskCancel, state, actor);
        w.push(TaskCancelRequested { about_task_id: task_id, reason: Sensitive::from(reason.to_owned()) });
        self.commit(w, Some(state))?;
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
        let mut guard = lock(&cell.state);
        settled(&guard)?;
        if guard.task.status.is_terminal() {
            let submission = self.follow_up(&guard, idempotency_key)?;
            drop(guard);
            return self.submit(&submission);
        }
        let state = &mut *guard;
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.writeup(Point::AttemptSupersede, state, actor);
        let mut track = Track::of(state);
        self.supersede(state, &mut w, &mut track, "retried by a person")?;
        self.commit(w, Some(state))?;
        cell.stop.store(true, Ordering::SeqCst);
        let ingress_id = model::IngressId::fresh(&*self.ports.clock, &*self.ports.entropy);
        Ok(Submitted { task_id, ingress_id, duplicate: false })
    }

    /// The attempt at work ends without a result, what it asked is withdrawn, and its step may be attempted anew.
    pub(crate) fn supersede(
        &self,
        state: &TaskState,
        w: &mut Writeup<'_>,
        track: &mut Track,
        why: &str,
    ) -> Result<(), Error> {
        settled(state)?;
        if state.attempt().is_some_and(|a| !a.attempt.status.is_ended()) {
            if let Some(lease) = state.attempt().filter(|a| !a.lease_gone).and_then(|a| a.lease.as_ref()) {
                w.push(LeaseReleased { lease_id: lease.lease_id });
            }
            for record in state.pending_approvals() {
                let approval_id = record.approval.approval_id;
                w.push(model::body::ApprovalInvalidated {
                    approval_id,
                    reason: format!("superseded: {why}"),
                });
            }
            track.attempt(w, AttemptStatus::Superseded, why)?;
        }
        if state.task.status == TaskStatus::Paused {
            track.task(w, TaskStatus::Ready, why, None)?;
        } else if state.task.status != TaskStatus::Ready {
            track.unblock(w, why)?;
            track.step(w, StepStatus::Ready, why)?;
        }
        Ok(())
    }

    /// A new task with the same contract, anchored to how the old one ended.
    pub(crate) fn follow_up(&self, state: &TaskState, idempotency_key: String) -> Result<Submission, Error> {
        let contract = self.contract(state)?;
        let reasoning = self.reasoning_of(state, contract.model.clone())?;
        let reason = state.attempt().and_then(|a| a.terminated.as_ref().map(|t| t.0));
        let outcome = reason.map_or("ended", crate::drive::in_words);
        let left = state.artifacts.values().filter(|a| a.kind == ArtifactKind::Answer).map(|a| a.artifact_id);
        let attachments = state
            .artifacts
            .values()
            .filter(|a| a.class == ArtifactClass::Source && a.kind == ArtifactKind::BinaryAttachment)
            .map(|a| Attachment {
                name: a.task_local_alias.as_ref().and_then(|n| n.shown().cloned()).unwrap_or_default(),
                sha256: a.content_hash,
                byte_size: a.byte_size,
                trust_tier: a.trust_tier,
            })
            .collect();
        Ok(Submission {
            goal: state.goal_text(),
            title: state.task.title.shown().cloned().unwrap_or_default(),
            workspace_id: state
                .task
                .workspace_hint
                .ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?,
            profile: state.task.policy_profile_ref,
            reasoning,
            budget: contract.budget,
            priority: state.task.priority,
            constraints: contract.constraints,
            deadline_at: None,
            channel: Channel::Cli,
            by_program: false,
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
            attachments,
            steps: self.parts_of(state)?,
            idempotency_key,
        })
    }
}

/// What may have begun is settled before anything else begins.
fn settled(state: &TaskState) -> Result<(), Error> {
    if state.attempts.values().any(crate::state::AttemptState::unsettled) {
        return Err(Error::Conflict("an effect of this task is not settled; settle it first".to_owned()));
    }
    Ok(())
}
