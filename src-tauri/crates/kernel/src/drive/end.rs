//! How turns, attempts, steps and tasks end, and how they pause.

use super::stopped::stopped;
use super::{Standing, status_of};
use crate::Error;
use crate::kernel::{Cell, Kernel, lock};
use crate::state::TaskState;
use crate::track::Track;
use crate::writeup::Writeup;
use model::attempt::{AttemptStatus, TerminationReason};
use model::body::{
    ApprovalCancelled, ApprovalExpired, ClarificationCancelled, ClarificationExpired, LeaseReleased,
    RunTerminated,
};
use model::fault::Point;
use model::ingress::ClarificationStatus;
use model::principal::PrincipalType;
use model::task::{StepStatus, TaskStatus};
use model::{ApprovalId, ClarificationId, Sensitive};

impl Kernel {
    /// The outcome is settled and receipted, and the turn was not closed: a crash, or a person settled it.
    pub(super) fn close_turn(&self, cell: &Cell) -> Result<(), Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::IterationComplete, state, actor);
        let mut track = Track::of(state);
        let act = self.act(state)?.clone();
        track.unblock(&mut w, "settled")?;
        if status_of(state)? == AttemptStatus::Observing && act.leaves_receipt() {
            track.attempt(&mut w, AttemptStatus::ReceiptPending, "settled")?;
        }
        match (&act.outcome, act.resolved) {
            (Some((result, code, _)), _) => {
                let failed = *code != model::receipt::ResultCode::Succeeded;
                let result = result.clone();
                self.end_turn(state, &mut w, &mut track, &result, failed.then(|| code.to_string()))?;
            }
            (None, Some(code)) => self.end_resolved(state, &mut w, &mut track, code)?,
            (None, None) => return Err(Error::Broken("a turn without an outcome was closed".to_owned())),
        }
        self.commit(w, Some(state))?;
        Ok(())
    }

    /// A person settled what nobody knew; the model is told what they said.
    fn end_resolved(
        &self,
        state: &TaskState,
        w: &mut Writeup<'_>,
        track: &mut Track,
        code: model::receipt::ResultCode,
    ) -> Result<(), Error> {
        let told = serde_json::json!({
            "result_code": code.as_str(),
            "summary": "the outcome was not known; a person looked and settled it",
        });
        let new = crate::writeup::NewArtifact::audit(model::artifact::ArtifactKind::ActionResult);
        let result = w.object(&told, new)?;
        let failed = code != model::receipt::ResultCode::Succeeded;
        self.end_turn(state, w, track, &result, failed.then(|| format!("settled by a person: {code}")))
    }

    /// The loop must end here.
    pub(super) fn terminate(&self, cell: &Cell, reason: TerminationReason) -> Result<(), Error> {
        self.terminate_locked(&mut lock(&cell.state), reason)
    }

    pub(super) fn terminate_locked(
        &self,
        state: &mut TaskState,
        reason: TerminationReason,
    ) -> Result<(), Error> {
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::IterationComplete, state, actor);
        let said = stopped(state, reason, &self.contract(state)?.model);
        self.push_end(state, &mut w, reason, &said)?;
        self.commit(w, Some(state))?;
        Ok(())
    }

    /// Adds the reason why the loop ended (RX-5-6).
    pub(crate) fn push_end(
        &self,
        state: &TaskState,
        w: &mut Writeup<'_>,
        reason: TerminationReason,
        said: &str,
    ) -> Result<(), Error> {
        let attempt = state.attempt().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        w.push(RunTerminated {
            about_attempt_id: attempt.attempt.attempt_id,
            reason,
            iterations: attempt.loop_state.iteration,
            summary: Sensitive::from(said.to_owned()),
            answer: None,
        });
        Ok(())
    }

    /// The loop has ended: attempt, step and task follow (reconciliation T2), then the task is checkpointed.
    pub(super) fn finish(&self, cell: &Cell) -> Result<Option<Standing>, Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let reason = state
            .attempt()
            .and_then(|a| a.terminated.as_ref().map(|t| t.0))
            .unwrap_or(TerminationReason::Cancelled);
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::TaskEnd, state, actor);
        let mut track = Track::of(state);
        let done = reason == TerminationReason::Done;
        let step_id = state.step().map(|s| s.step_id);
        let goes_on = done && state.step_after(step_id).is_some();
        if done && (state.has_unknown_outcome() || state.pending_approvals().next().is_some()) {
            return Err(Error::Conflict(
                "the task cannot end: an approval is open or an outcome unknown".to_owned(),
            ));
        }
        if !self.remote_receipt(state, &mut w)? {
            return Ok(Some(Standing::KeyLocked));
        }
        self.close_open(state, &mut w);
        let word = reason.as_str();
        track.unblock(&mut w, word)?;
        let (attempt, step, task) = if done {
            (AttemptStatus::Succeeded, StepStatus::Succeeded, TaskStatus::Completed)
        } else if reason == TerminationReason::Cancelled {
            (AttemptStatus::Cancelled, StepStatus::Cancelled, TaskStatus::Cancelled)
        } else {
            (AttemptStatus::Failed, StepStatus::Failed, TaskStatus::Failed)
        };
        self.release_lease(state, &mut w);
        if let Some(attempt) = state.current {
            self.unstage(state, attempt);
        }
        if !status_of(state)?.is_ended() {
            if done && status_of(state)? == AttemptStatus::CompilingContext {
                track.attempt(&mut w, AttemptStatus::Reasoning, word)?;
            }
            track.attempt(&mut w, attempt, word)?;
        }
        track.step(&mut w, step, word)?;
        if goes_on {
            // The next step is due; the task ends with its last one.
            self.commit(w, Some(state))?;
            return Ok(None);
        }
        self.drop_steps(state, &mut w, step_id, word)?;
        track.task(&mut w, task, word, None)?;
        // The tasks this one has undone are marked by the same commit: no crash can come between.
        let undone = if done { self.rolled_back_tasks(state)? } else { Vec::new() };
        let undone: Vec<_> = undone.into_iter().map(|id| self.cell(id)).collect::<Result<_, _>>()?;
        // In the order of their identifiers, so that two undos never wait for each other.
        let mut undone: Vec<_> = undone.iter().map(|cell| lock(&cell.state)).collect();
        for task in &undone {
            self.mark_rolled_back(&mut w, task);
        }
        let placed = self.commit(w, Some(state))?;
        for task in &mut undone {
            let id = task.task.task_id;
            for placed in placed.iter().filter(|p| p.event.task_id == id) {
                task.apply(&placed.event, &self.body_of(&placed.event)?)?;
            }
        }
        drop(undone);
        let task_id = state.task.task_id;
        drop(guard);
        self.checkpoint_after(task_id);
        Ok(None)
    }

    /// Questions of a task that ends are closed with it.
    fn close_open(&self, state: &TaskState, w: &mut Writeup<'_>) {
        for record in state.pending_approvals() {
            w.push(ApprovalCancelled { approval_id: record.approval.approval_id });
        }
        let open = state.clarifications.values().filter(|c| c.status == ClarificationStatus::Pending);
        for question in open {
            w.push(ClarificationCancelled { clarification_id: question.clarification_id });
        }
    }

    /// Steps that will not be attempted any more, because the task ends.
    fn drop_steps(
        &self,
        state: &TaskState,
        w: &mut Writeup<'_>,
        but: Option<model::StepId>,
        reason: &str,
    ) -> Result<(), Error> {
        for step in state.open_steps(but) {
            Track::at_step(state, step).step(w, StepStatus::Cancelled, reason)?;
        }
        Ok(())
    }

    fn release_lease(&self, state: &TaskState, w: &mut Writeup<'_>) {
        if let Some(attempt) = state.attempt().filter(|a| !a.lease_gone)
            && let Some(lease) = &attempt.lease
        {
            w.push(LeaseReleased { lease_id: lease.lease_id });
        }
    }

    /// A pause is taken at a durable boundary; the attempt keeps its checkpoint.
    pub(super) fn take_pause(&self, cell: &Cell) -> Result<(), Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::TaskPause, state, actor);
        let mut track = Track::of(state);
        track.task(&mut w, TaskStatus::Running, "pauses", None)?;
        track.task(&mut w, TaskStatus::Paused, "asked by a person", None)?;
        self.commit(w, Some(state))?;
        Ok(())
    }

    /// What must be said does not fit what the model takes: the task pauses and says so. An edited goal mends it, or a
    /// server with more context.
    pub(super) fn too_long(
        &self,
        state: &mut TaskState,
        pack: &model::context::ContextPack,
    ) -> Result<(), Error> {
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::ContextCompile, state, actor);
        let said = format!(
            "goal and rules alone need {} tokens and the model takes {}",
            pack.tokens, pack.tokens_max
        );
        let mut track = Track::of(state);
        track.unblock(&mut w, "goal_too_long")?;
        track.task(&mut w, TaskStatus::Paused, "goal_too_long", Some(said.clone()))?;
        self.commit(w, Some(state))?;
        let id = state.task.task_id;
        Err(Error::Input(format!(
            "{said}; the task is paused: shorten it with `hermit task goal {id} GOAL`, then `hermit task resume {id}`"
        )))
    }

    /// The end a person asked for. Nothing is under way here: [`crate::next`] settles effects first.
    pub(super) fn take_cancel(&self, cell: &Cell) -> Result<(), Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::TaskCancel, state, actor);
        let mut track = Track::of(state);
        self.close_open(state, &mut w);
        // A task that was never ready goes the table's way (reconciliation C38).
        if state.task.status == TaskStatus::Created {
            track.task(&mut w, TaskStatus::Ready, "cancelled", None)?;
        }
        if let Some(attempt) = state.attempt().filter(|a| !a.attempt.status.is_ended()) {
            w.push(RunTerminated {
                about_attempt_id: attempt.attempt.attempt_id,
                reason: TerminationReason::Cancelled,
                iterations: attempt.loop_state.iteration,
                summary: Sensitive::from("Stopped: a person cancelled it.".to_owned()),
                answer: None,
            });
            self.release_lease(state, &mut w);
            track.attempt(&mut w, AttemptStatus::Cancelled, "cancelled")?;
        }
        self.drop_steps(state, &mut w, None, "cancelled")?;
        track.task(&mut w, TaskStatus::Cancelled, "cancelled", state.cancel_requested.clone())?;
        self.commit(w, Some(state))?;
        if let Some(attempt) = state.current {
            self.unstage(state, attempt);
        }
        let task_id = state.task.task_id;
        drop(guard);
        self.checkpoint_after(task_id);
        Ok(())
    }

    /// Nobody answered in time. That decides nothing in favour (governance.md 2).
    pub(super) fn expire_approval(&self, cell: &Cell, approval_id: ApprovalId) -> Result<(), Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::ApprovalLapse, state, actor);
        w.push_keyed(Some(format!("approval.resolve:{approval_id}")), ApprovalExpired { approval_id });
        self.commit(w, Some(state))?;
        Ok(())
    }

    /// Nobody answered the question in time.
    pub(super) fn expire_question(
        &self,
        cell: &Cell,
        clarification_id: ClarificationId,
    ) -> Result<(), Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::ApprovalLapse, state, actor);
        w.push(ClarificationExpired { clarification_id });
        self.commit(w, Some(state))?;
        Ok(())
    }
}
