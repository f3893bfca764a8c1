//! Status changes inside one writeup: each follows from the last, whatever the state in memory still says.

use crate::Error;
use crate::state::TaskState;
use crate::writeup::Writeup;
use model::attempt::{AttemptPhase, AttemptStatus};
use model::body::{AttemptStatusChanged, StepStatusChanged, TaskStatusChanged};
use model::task::{StepStatus, TaskStatus};
use model::{AttemptId, Sensitive, StepId, TaskId};

/// Where task, step and attempt stand at this point of a writeup.
pub(crate) struct Track {
    task: (TaskId, TaskStatus),
    step: Option<(StepId, StepStatus)>,
    attempt: Option<(AttemptId, AttemptStatus)>,
}

impl Track {
    pub(crate) fn of(state: &TaskState) -> Self {
        Self {
            task: (state.task.task_id, state.task.status),
            step: state.step().map(|s| (s.step_id, s.status)),
            attempt: state.attempt().map(|a| (a.attempt.attempt_id, a.attempt.status)),
        }
    }

    /// The same, with another step in hand.
    pub(crate) fn at_step(state: &TaskState, step: &model::task::Step) -> Self {
        Self { step: Some((step.step_id, step.status)), ..Self::of(state) }
    }

    /// An attempt that this writeup has just created.
    pub(crate) const fn adopt(&mut self, attempt_id: AttemptId) {
        self.attempt = Some((attempt_id, AttemptStatus::Created));
    }

    pub(crate) fn task(
        &mut self,
        w: &mut Writeup<'_>,
        to: TaskStatus,
        reason: &str,
        note: Option<String>,
    ) -> Result<(), Error> {
        let (about_task_id, from) = self.task;
        if from == to {
            return Ok(());
        }
        model::transition::task(from, to)?;
        let note = note.map(Sensitive::from);
        w.push(TaskStatusChanged { about_task_id, from, to, reason: reason.to_owned(), note });
        self.task.1 = to;
        Ok(())
    }

    pub(crate) fn step(&mut self, w: &mut Writeup<'_>, to: StepStatus, reason: &str) -> Result<(), Error> {
        let Some((about_step_id, from)) = self.step else { return Ok(()) };
        if from == to {
            return Ok(());
        }
        model::transition::step(from, to)?;
        w.push(StepStatusChanged { about_step_id, from, to, reason: reason.to_owned() });
        self.step = Some((about_step_id, to));
        Ok(())
    }

    pub(crate) fn attempt(
        &mut self,
        w: &mut Writeup<'_>,
        to: AttemptStatus,
        reason: &str,
    ) -> Result<(), Error> {
        let Some((about_attempt_id, from)) = self.attempt else {
            return Err(Error::Broken("no attempt is at work".to_owned()));
        };
        if from == to {
            return Ok(());
        }
        model::transition::attempt(from, to)?;
        let phase = phase(to);
        w.push(AttemptStatusChanged { about_attempt_id, from, to, phase, reason: reason.to_owned() });
        self.attempt = Some((about_attempt_id, to));
        Ok(())
    }

    /// Task and step wait (HK-12.4).
    pub(crate) fn block(&mut self, w: &mut Writeup<'_>, reason: &str) -> Result<(), Error> {
        self.task(w, TaskStatus::Blocked, reason, None)?;
        self.step(w, StepStatus::Blocked, reason)
    }

    /// Task and step go on.
    pub(crate) fn unblock(&mut self, w: &mut Writeup<'_>, reason: &str) -> Result<(), Error> {
        self.task(w, TaskStatus::Running, reason, None)?;
        self.step(w, StepStatus::Running, reason)
    }
}

/// The phase metadata that belongs to a status (HK-8.3-9).
const fn phase(status: AttemptStatus) -> AttemptPhase {
    match status {
        AttemptStatus::Created
        | AttemptStatus::Leased
        | AttemptStatus::CompilingContext
        | AttemptStatus::Reasoning
        | AttemptStatus::AwaitingInput => AttemptPhase::Planning,
        AttemptStatus::AwaitingPolicy => AttemptPhase::PolicyPending,
        AttemptStatus::AwaitingApproval => AttemptPhase::AwaitingApproval,
        AttemptStatus::Authorized => AttemptPhase::AuthorizedPreExec,
        AttemptStatus::Executing => AttemptPhase::Executing,
        AttemptStatus::Observing => AttemptPhase::Observing,
        AttemptStatus::ReceiptPending
        | AttemptStatus::Succeeded
        | AttemptStatus::Failed
        | AttemptStatus::Cancelled
        | AttemptStatus::Superseded => AttemptPhase::Settling,
    }
}
