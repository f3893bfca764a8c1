//! The driver: asks what comes next, does it, commits it, and asks again, until the task waits or has ended.
//!
//! Nothing is held in memory that the log does not hold: a host that dies anywhere leaves the same question to the
//! next one, and [`crate::next::next`] gives it the same answer.

mod act;
mod answer;
mod denied;
mod edit;
mod end;
mod judge;
mod lease;
mod lessen;
mod normalise;
mod observe;
mod receipt;
mod recover;
mod rules;
mod seen;
mod stage;
mod stopped;
mod think;
mod vcs;
mod web;

pub(crate) use act::Yes;

pub(crate) use judge::Judged;
pub(crate) use lessen::{StandsIn, keep_draft};
pub(crate) use observe::summary_of;
pub use rules::{PROJECT_RULES, USER_RULES};
pub(crate) use stage::Tried;
pub(crate) use stopped::in_words;

use crate::Error;
use crate::kernel::{Cell, Kernel, lock};
use crate::next::{Next, Waiting, next};
use crate::state::TaskState;
use model::TaskId;
use model::attempt::{AttemptStatus, TerminationReason};
use model::task::TaskStatus;
use std::sync::atomic::Ordering;

/// Where driving a task has led.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It has ended.
    Ended {
        /// How.
        status: TaskStatus,
        /// Why its loop ended, when it had one.
        reason: Option<TerminationReason>,
    },
    /// It waits.
    Waiting(Waiting),
    /// A key is locked; receipts wait for it.
    KeyLocked,
    /// The gate is halted.
    Halted,
    /// The host ends; the next one goes on from here.
    LeftOff,
}

/// Gives the driver's seat back however driving ends.
struct Seat<'c>(&'c Cell);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.driving.store(false, Ordering::SeqCst);
    }
}

impl Kernel {
    /// Drives a task on this thread until it waits or has ended.
    ///
    /// # Errors
    /// [`Error::Conflict`] when somebody drives it already; any failure that stops it where it is, durably.
    pub fn drive(&self, task_id: TaskId) -> Result<Standing, Error> {
        let cell = self.cell(task_id)?;
        if cell.driving.swap(true, Ordering::SeqCst) {
            return Err(Error::Conflict(format!("task `{task_id}` is being worked on already")));
        }
        let _seat = Seat(&cell);
        cell.stop.store(false, Ordering::SeqCst);
        let mut signed = lock(&cell.state).seq;
        loop {
            if lock(&self.gate).is_none() || lock(&self.halted_unrecorded).is_some() {
                return Ok(Standing::Halted);
            }
            if self.is_blind() {
                // A value that nobody here knows could not be taken out of what comes in.
                return Ok(Standing::KeyLocked);
            }
            if self.winding.load(Ordering::SeqCst) {
                self.checkpoint_after(task_id);
                return Ok(Standing::LeftOff);
            }
            let step = {
                let state = lock(&cell.state);
                next(&state, self.now_of(&state))
            };
            tracing::debug!(task = %task_id, next = ?step, "drive");
            if let Some(standing) = self.take(&cell, step)? {
                return Ok(standing);
            }
            let seq = lock(&cell.state).seq;
            if seq.saturating_sub(signed) >= model::limits::CHECKPOINT_EVENTS {
                self.checkpoint_after(task_id);
                signed = seq;
            }
        }
    }

    /// Takes one step; `Some` when driving ends here.
    fn take(&self, cell: &Cell, step: Next) -> Result<Option<Standing>, Error> {
        match step {
            Next::Begin => self.begin(cell)?,
            Next::Lease => self.lease(cell)?,
            Next::Compile => self.compile(cell)?,
            Next::Ask => return self.ask(cell),
            Next::Handle => self.handle(cell)?,
            Next::Rejudge => self.rejudge(cell)?,
            Next::Withdraw(id) => self.withdraw(cell, id)?,
            Next::Dispatch => self.dispatch(cell)?,
            Next::Refused => self.refused(cell)?,
            Next::Settle => self.settle(cell)?,
            Next::Receipt => return self.late_receipt(cell),
            Next::Close => self.close_turn(cell)?,
            Next::ExpireApproval(id) => self.expire_approval(cell, id)?,
            Next::ExpireQuestion(id) => self.expire_question(cell, id)?,
            Next::Terminate(reason) => self.terminate(cell, reason)?,
            Next::Finish => return self.finish(cell),
            Next::Pause => self.take_pause(cell)?,
            Next::Cancel => self.take_cancel(cell)?,
            Next::Wait(waiting) => return Ok(Some(Standing::Waiting(waiting))),
            Next::Ended(status) => {
                let reason = lock(&cell.state).attempt().and_then(|a| a.terminated.as_ref().map(|t| t.0));
                return Ok(Some(Standing::Ended { status, reason }));
            }
        }
        Ok(None)
    }

    /// Tasks that a host should take up after it started: everything that has not ended and does not wait for
    /// a person to resume it. Found through projections, judged from events (HK-20.1-3).
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn resumable(&self) -> Result<Vec<TaskId>, Error> {
        let mut found = Vec::new();
        for task_id in self.open_tasks()? {
            let cell = self.cell(task_id)?;
            let state = lock(&cell.state);
            let idle = matches!(next(&state, self.now_of(&state)), Next::Wait(_) | Next::Ended(_));
            if !idle {
                found.push(task_id);
            }
        }
        Ok(found)
    }
}

/// The attempt's status, for a status change away from it.
pub(crate) fn status_of(state: &TaskState) -> Result<AttemptStatus, Error> {
    state.attempt().map(|a| a.attempt.status).ok_or_else(|| Error::Broken("no attempt is at work".to_owned()))
}
