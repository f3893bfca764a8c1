//! How turns, attempts, steps and tasks end, and how they pause.

use super::asked::close_questions;
use super::children::LEFT;
use super::sampled::close_sampled;
use super::stopped::stopped;
use super::{Then, leave_children};
use crate::Error;
use crate::command::bounded_runs::OVERTAKEN;
use crate::decide::{Ending, ending};
use crate::kernel::Kernel;
use crate::state::{AttemptState, PAUSED_BY_A_PERSON, Stage, TaskState};
use crate::tx::{After, Tx};
use crate::writeup::NewArtifact;
use model::artifact::{ArtifactKind, ArtifactRef};
use model::attempt::{AttemptStatus, TerminationReason};
use model::body::{ApprovalCancelled, ApprovalExpired, ClarificationExpired, LeaseReleased, RunTerminated};
use model::fault::Point;
use model::receipt::ResultCode;
use model::task::{StepStatus, TaskStatus};
use model::{ApprovalId, ClarificationId, Sensitive, StepId};

impl Kernel {
    /// The outcome is on record and receipted: the turn is closed.
    pub(super) fn close_turn(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        let act = self.act(tx)?.clone();
        tx.unblock("settled")?;
        if status_of(tx)? == AttemptStatus::Observing && act.leaves_receipt() {
            tx.set_attempt(AttemptStatus::ReceiptPending, "settled")?;
        }
        let (result, error) = match (tx.hand.came.take(), act.stage) {
            (Some(came), _) => (came.result, came.outcome.error),
            (None, Stage::Observed { result, result_code, .. }) => {
                (result, (result_code != ResultCode::Succeeded).then(|| result_code.to_string()))
            }
            (None, Stage::Resolved(code)) => {
                let failed = code != ResultCode::Succeeded;
                (self.told_settled(tx, code)?, failed.then(|| format!("settled by a person: {code}")))
            }
            (None, _) => return Err(Error::Broken("a turn without an outcome was closed".to_owned())),
        };
        self.end_turn(tx, &result, error)?;
        Ok(Then::Commit)
    }

    /// What the model is told of an outcome that nobody knew and a person settled.
    fn told_settled(&self, tx: &mut Tx<'_>, code: ResultCode) -> Result<ArtifactRef, Error> {
        let told = serde_json::json!({
            "result_code": code.as_str(),
            "summary": "the outcome was not known; a person looked and settled it",
        });
        tx.object(&told, NewArtifact::audit(ArtifactKind::ActionResult))
    }

    /// The loop must end here.
    pub(super) fn terminate(&self, tx: &mut Tx<'_>, reason: TerminationReason) -> Result<Then, Error> {
        leave_children(tx);
        let said = stopped(tx, reason, &self.contract(tx)?.model);
        self.push_end(tx, reason, &said)?;
        Ok(Then::Commit)
    }

    /// Adds the reason why the loop ended (RX-5-6).
    pub(crate) fn push_end(
        &self,
        tx: &mut Tx<'_>,
        reason: TerminationReason,
        said: &str,
    ) -> Result<(), Error> {
        let attempt = tx.attempt().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        let (about_attempt_id, iterations) = (attempt.attempt.attempt_id, attempt.loop_state.iteration);
        let summary = Sensitive::from(said.to_owned());
        let (helped, contradicted) = self.memories_judged(tx, None)?;
        tx.push(RunTerminated {
            about_attempt_id,
            reason,
            iterations,
            summary,
            answer: None,
            helped,
            contradicted,
        });
        Ok(())
    }

    /// The loop has ended: attempt, step and task follow (reconciliation T2), then the task is checkpointed.
    pub(super) fn finish(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        tx.at(Point::TaskEnd);
        let reason = tx.attempt().and_then(AttemptState::ended).unwrap_or(TerminationReason::Cancelled);
        let done = reason == TerminationReason::Done;
        let step_id = tx.step().map(|s| s.step_id);
        let goes_on = done && tx.step_after(step_id).is_some();
        if done && (tx.has_unknown_outcome() || tx.pending_approvals().next().is_some()) {
            return Err(Error::Conflict(
                "the task cannot end: an approval is open or an outcome unknown".to_owned(),
            ));
        }
        if !self.remote_receipt(tx)? {
            return Ok(Then::KeyLocked);
        }
        close_open(tx);
        let word = reason.as_str();
        tx.unblock(word)?;
        let Ending { attempt, step, task } = ending(reason);
        release_lease(tx);
        if let Some(attempt) = tx.current {
            tx.then(After::Unstage(attempt));
            tx.then(After::EndServers(attempt));
        }
        if !status_of(tx)?.is_ended() {
            if done && status_of(tx)? == AttemptStatus::CompilingContext {
                tx.set_attempt(AttemptStatus::Reasoning, word)?;
            }
            tx.set_attempt(attempt, word)?;
        }
        tx.set_step(step, word)?;
        if goes_on {
            // The next step is due; the task ends with its last one.
            return Ok(Then::Commit);
        }
        drop_steps(tx, step_id, word)?;
        tx.set_task(task, word, None)?;
        tx.then(After::Checkpoint);
        if done {
            tx.hand.undone = self.rolled_back_tasks(tx)?;
        }
        Ok(Then::Commit)
    }

    /// A pause is taken at a durable boundary; the attempt keeps its checkpoint.
    pub(super) fn take_pause(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        tx.at(Point::TaskPause);
        tx.set_task(TaskStatus::Running, "pauses", None)?;
        tx.set_task(TaskStatus::Paused, PAUSED_BY_A_PERSON, None)?;
        Ok(Then::Commit)
    }

    /// What must be said does not fit what the model takes: the task pauses and says so. An edited goal mends it, or a
    /// server with more context.
    pub(super) fn too_long(
        &self,
        tx: &mut Tx<'_>,
        pack: &model::context::ContextPack,
    ) -> Result<Then, Error> {
        tx.at(Point::ContextCompile);
        let said = format!(
            "goal and rules alone need {} tokens and the model takes {}",
            pack.tokens, pack.tokens_max
        );
        tx.unblock("goal_too_long")?;
        tx.set_task(TaskStatus::Paused, "goal_too_long", Some(said.clone()))?;
        let id = tx.task.task_id;
        Ok(Then::Stop(Error::Input(format!(
            "{said}; the task is paused: shorten it with `hermit task goal {id} GOAL`, then `hermit task resume {id}`"
        ))))
    }

    /// The end a person asked for. Nothing is under way here: [`crate::next`] settles effects first.
    pub(super) fn take_cancel(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        tx.at(Point::TaskCancel);
        close_open(tx);
        leave_children(tx);
        // A task that was never ready goes the table's way (reconciliation C38).
        if tx.task.status == TaskStatus::Created {
            tx.set_task(TaskStatus::Ready, "cancelled", None)?;
        }
        if tx.attempt().is_some_and(|a| !a.attempt.status.is_ended()) {
            // What Hermit itself ends says why.
            let own = [LEFT, OVERTAKEN].into_iter().find(|why| tx.cancel_requested.as_deref() == Some(*why));
            let said = format!("Stopped: {}.", own.unwrap_or("a person cancelled it"));
            self.push_end(tx, TerminationReason::Cancelled, &said)?;
            release_lease(tx);
            tx.set_attempt(AttemptStatus::Cancelled, "cancelled")?;
        }
        drop_steps(tx, None, "cancelled")?;
        let why = tx.cancel_requested.clone();
        tx.set_task(TaskStatus::Cancelled, "cancelled", why)?;
        if let Some(attempt) = tx.current {
            tx.then(After::Unstage(attempt));
            tx.then(After::EndServers(attempt));
        }
        tx.then(After::Checkpoint);
        Ok(Then::Commit)
    }

    /// Nobody answered in time. That decides nothing in favour (governance.md 2).
    pub(super) fn expire_approval(&self, tx: &mut Tx<'_>, approval_id: ApprovalId) -> Then {
        tx.at(Point::ApprovalLapse);
        tx.push_keyed(Some(format!("approval.resolve:{approval_id}")), ApprovalExpired { approval_id });
        Then::Commit
    }

    /// Nobody answered the question in time.
    pub(super) fn expire_question(&self, tx: &mut Tx<'_>, clarification_id: ClarificationId) -> Then {
        tx.at(Point::ApprovalLapse);
        tx.push(ClarificationExpired { clarification_id });
        Then::Commit
    }
}

/// Questions of a task that ends are closed with it.
fn close_open(tx: &mut Tx<'_>) {
    let asked: Vec<ApprovalId> = tx.pending_approvals().map(|r| r.approval.approval_id).collect();
    for approval_id in asked {
        tx.push_keyed(Some(format!("approval.resolve:{approval_id}")), ApprovalCancelled { approval_id });
    }
    close_questions(tx);
    close_sampled(tx);
}

/// Steps that will not be attempted any more, because the task ends.
fn drop_steps(tx: &mut Tx<'_>, but: Option<StepId>, reason: &str) -> Result<(), Error> {
    let open: Vec<StepId> = tx.open_steps(but).map(|step| step.step_id).collect();
    open.into_iter().try_for_each(|step| tx.set_step_of(step, StepStatus::Cancelled, reason))
}

pub(crate) fn release_lease(tx: &mut Tx<'_>) {
    let held = tx.attempt().filter(|a| !a.lease_gone).and_then(|a| a.lease.as_ref());
    if let Some(lease_id) = held.map(|lease| lease.lease_id) {
        tx.push(LeaseReleased { lease_id });
    }
}

/// The attempt's status, for a status change away from it.
fn status_of(state: &TaskState) -> Result<AttemptStatus, Error> {
    state.attempt().map(|a| a.attempt.status).ok_or_else(|| Error::Broken("no attempt is at work".to_owned()))
}
