//! The driver: asks what comes next, does it, commits it, and asks again, until the task waits or has ended.
//!
//! Nothing is held in memory that the log does not hold: a host that dies anywhere leaves the same question to the
//! next one, and [`crate::next::next`] gives it the same answer. Three stages reach outside and hold no lock meanwhile: a
//! model is asked, a command is tried in a staged view, an act is performed. Every other stage adds events to a
//! transaction, and stages that follow each other without leaving it are one commit.

mod act;
mod answer;
mod answer_check;
mod ask;
pub(crate) mod asked;
pub(crate) mod awaited;
mod beliefs;
mod beside;
mod call;
mod calls;
mod came;
mod changes;
mod children;
mod criteria;
mod day;
mod downgrade;
mod end;
mod evidence;
mod guest;
mod judge;
mod lease;
mod limit;
pub(crate) mod normalise;
mod observe;
mod offered;
mod offered_parts;
mod pictures;
mod pinned;
mod predecessor;
mod progress;
mod receipt;
mod recover;
mod refuse;
mod rules;
mod sampled;
mod saying;
mod seen;
mod several;
mod skills;
mod skins;
mod stopped;
mod swept;
mod think;
mod trial;

mod edit;
mod fallback;
mod fetch;
mod followed;
mod vcs;
mod working;

pub(crate) use act::Yes;
pub(crate) use call::try_examples;
pub(crate) use calls::Calls;
pub use calls::{CallStanding, Proposed, Taken};
pub use came::CallResult;
pub(crate) use came::words;
pub(crate) use children::leave_children;
pub(crate) use downgrade::{StandsIn, keep_draft};
pub(crate) use end::release_lease;
pub(crate) use evidence::{evidence_refs, sources_of};
pub(crate) use judge::{InHand, Judged};
pub(crate) use normalise::Unfit;
pub(crate) use offered_parts::GET_PROMPT;
pub(crate) use predecessor::Told;
pub(crate) use refuse::void;
pub use rules::{PROJECT_RULES, USER_RULES, project_rules};
pub(crate) use seen::weakest_seen;
pub(crate) use stopped::in_words;
pub(crate) use trial::{Known, Trial, Tried};

use crate::Error;
use crate::folders::FolderTurn;
use crate::kernel::{Cell, Kernel, lock};
use crate::next::{Next, Waiting, is_overdue, next, next_instant};
use crate::ports::Executors;
use crate::tx::{After, Committed, Tx};
use acts::ActionRequest;
use governance::Authorization;
use model::attempt::TerminationReason;
use model::fault::Point;
use model::principal::PrincipalType;
use model::task::TaskStatus;
use model::{TaskId, UnixMs};
use progress::Lasting;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Where driving a task has led.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriveOutcome {
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

/// An act that its commit has handed out: who performs it, what it is, by which authority, and its turn in the folder.
type Perform = (Arc<dyn Executors>, Box<ActionRequest>, Authorization, Option<FolderTurn>);

/// What follows a stage.
pub(crate) enum Then {
    /// The next stage is of the same transaction.
    GoOn,
    /// It is committed.
    Commit,
    /// It is committed, and whoever drives is told why the task stands still.
    Stop(Error),
    /// Nothing of it is committed; the driver asks again what comes next.
    Drop,
    /// It is committed, and goes on once no other task changes this folder; what it rests on is looked at again then.
    Busy(PathBuf),
    /// Nothing of it is committed: a key is locked.
    KeyLocked,
}

/// Lets the next driver in however driving ends.
struct Driving<'c>(&'c Cell);

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        self.0.driving.store(false, Ordering::SeqCst);
    }
}

impl Kernel {
    /// Drives a task on this thread until it waits or has ended.
    ///
    /// # Errors
    /// [`Error::Conflict`] when somebody drives it already; any failure that stops it where it is, durably.
    pub fn drive(&self, task_id: TaskId) -> Result<DriveOutcome, Error> {
        let cell = self.cell(task_id)?;
        if cell.driving.swap(true, Ordering::SeqCst) {
            return Err(Error::Conflict(format!("task `{task_id}` is being worked on already")));
        }
        let _driving = Driving(&cell);
        cell.stop.store(false, Ordering::SeqCst);
        self.expire_memories()?;
        let mut signed = self.lock_task(&cell)?.seq;
        loop {
            if lock(&self.gate).is_none() || lock(&self.halted_unrecorded).is_some() {
                return Ok(DriveOutcome::Halted);
            }
            if self.is_blind() {
                // A value that nobody here knows could not be taken out of what comes in.
                return Ok(DriveOutcome::KeyLocked);
            }
            if self.winding.load(Ordering::SeqCst) {
                self.checkpoint_after(task_id);
                return Ok(DriveOutcome::LeftOff);
            }
            let step = {
                let state = self.lock_task(&cell)?;
                next(&state, self.now_of(&state))
            };
            tracing::debug!(task = %task_id, next = ?step, "drive");
            if let Some(standing) = self.take(&cell, step)? {
                return Ok(standing);
            }
            let seq = self.lock_task(&cell)?.seq;
            if seq.saturating_sub(signed) >= model::limits::CHECKPOINT_EVENTS {
                self.checkpoint_after(task_id);
                signed = seq;
            }
        }
    }

    /// Takes one step; `Some` when driving ends here.
    fn take(&self, cell: &Cell, step: Next) -> Result<Option<DriveOutcome>, Error> {
        match step {
            Next::AskModel => self.ask_model(cell),
            Next::Try => self.try_command(cell),
            Next::Settle => self.settle(cell),
            Next::Wait(Waiting::Proposer) => self.take_call_up(cell),
            Next::StartChildren => self.start_children(cell),
            Next::Wait(Waiting::Dependency) => self.hear_children(cell),
            Next::Wait(waiting) => Ok(Some(DriveOutcome::Waiting(waiting))),
            Next::Ended(status) => {
                let reason = self.lock_task(cell)?.attempt().and_then(crate::state::AttemptState::ended);
                Ok(Some(DriveOutcome::Ended { status, reason }))
            }
            _ => {
                let tx = self.begin_tx(cell, Point::IterationComplete, PrincipalType::System)?;
                let task_id = tx.task.task_id;
                let came = self.go_through(cell, tx, Then::GoOn);
                // What is set aside is on record by now, or it is not set aside.
                self.promise_kept(task_id);
                came
            }
        }
    }

    /// Goes through the stages of one transaction, commits it, and does what follows from it.
    fn go_through(&self, cell: &Cell, mut tx: Tx<'_>, mut then: Then) -> Result<Option<DriveOutcome>, Error> {
        loop {
            match then {
                Then::GoOn => {
                    let step = next(&tx, tx.now());
                    then = self.stage(&mut tx, step)?;
                }
                Then::Commit => {
                    let by_standing = tx.hand.by_standing;
                    return match self.commit_with_undone(tx) {
                        Err(error) if by_standing && self.is_overtaken(&error) => Ok(None),
                        // Somebody was faster in the store's own stream: nothing is written, and it is gone through anew.
                        Err(error) if self.store_moved(&error) => Ok(None),
                        committed => self.carry_out(cell, committed?),
                    };
                }
                Then::Stop(why) => {
                    tx.commit()?;
                    return Err(why);
                }
                Then::Drop => return Ok(None),
                Then::Busy(root) => {
                    let task_id = tx.task.task_id;
                    self.clear_away(self.commit_with_undone(tx)?);
                    self.wait_for_folder(cell, task_id, &root)?;
                    return Ok(None);
                }
                Then::KeyLocked => return Ok(Some(DriveOutcome::KeyLocked)),
            }
        }
    }

    /// Commits, and marks the tasks that this one has undone with it: no crash can come between.
    fn commit_with_undone<'k>(&'k self, mut tx: Tx<'k>) -> Result<Committed<'k>, Error> {
        let undone = std::mem::take(&mut tx.hand.undone);
        let undone: Vec<_> = undone.into_iter().map(|id| self.cell(id)).collect::<Result<_, _>>()?;
        // In the order of their identifiers, so that two undos never wait for each other.
        let mut undone: Vec<_> = undone.iter().map(|cell| self.lock_task(cell)).collect::<Result<_, _>>()?;
        for task in &undone {
            self.mark_rolled_back(tx.writeup(), task);
        }
        let committed = tx.commit()?;
        for task in &mut undone {
            let id = task.task.task_id;
            for placed in committed.placed.iter().filter(|p| p.event.task_id == id) {
                task.apply(&placed.event, &self.body_of(&placed.event)?)?;
            }
        }
        Ok(committed)
    }

    /// One stage: its events join the transaction.
    fn stage(&self, tx: &mut Tx<'_>, step: Next) -> Result<Then, Error> {
        match step {
            Next::Begin => self.begin(tx),
            Next::Lease => self.lease(tx),
            Next::Compile => self.compile(tx),
            Next::ReadAnswer => self.read_answer(tx),
            Next::Judge => self.judge(tx),
            Next::AskPerson => self.ask_person(tx),
            Next::Downgrade => self.downgrade(tx),
            Next::Forbid => self.forbid(tx),
            Next::Withdraw(id) => self.withdraw(tx, id),
            Next::Dispatch => self.dispatch(tx),
            Next::Refuse => self.refuse(tx),
            Next::Receipt => self.receipt_in_hand(tx),
            Next::Close => self.close_turn(tx),
            Next::ExpireApproval(id) => Ok(self.expire_approval(tx, id)),
            Next::ExpireQuestion(id) => Ok(self.expire_question(tx, id)),
            Next::Terminate(reason) => self.terminate(tx, reason),
            Next::Finish => self.finish(tx),
            Next::Pause => self.take_pause(tx),
            Next::Cancel => self.take_cancel(tx),
            // Who waits, or reaches outside, does so after what came before is on disk.
            Next::AskModel
            | Next::Try
            | Next::Settle
            | Next::StartChildren
            | Next::Wait(_)
            | Next::Ended(_) => Ok(Then::Commit),
        }
    }

    /// Does what follows from a commit.
    fn carry_out(&self, cell: &Cell, committed: Committed<'_>) -> Result<Option<DriveOutcome>, Error> {
        let task_id = committed.state.task.task_id;
        let mut acts = self.clear_away(committed);
        if acts.len() > 1 {
            return self.perform_together(cell, task_id, acts);
        }
        let Some((executors, request, authorization, turn)) = acts.pop() else { return Ok(None) };
        let turn = turn.map(FolderTurn::begin);
        let outcome = self.perform(cell, task_id, &*executors, &request, authorization);
        let standing = self.observed(cell, *request, outcome, false);
        // What came of it is on record: whoever comes next finds it there.
        drop(turn);
        standing
    }

    /// The executor does it, and what it tells meanwhile is heard.
    fn perform(
        &self,
        cell: &Cell,
        task_id: TaskId,
        executors: &dyn Executors,
        request: &ActionRequest,
        authorization: Authorization,
    ) -> effects::Outcome {
        let mut lasting = Lasting::new(self, cell, task_id, request.action_request_id).of(&request.action);
        let stop = || cell.stop.load(Ordering::SeqCst);
        executors.perform(authorization, request, &stop, &mut |told| lasting.hear(told))
    }

    /// Waits until no other task changes the folder, or there is something else to do than what waits for it.
    pub(crate) fn wait_for_folder(&self, cell: &Cell, task_id: TaskId, root: &Path) -> Result<(), Error> {
        let seq = self.lock_task(cell)?.seq;
        self.folders.wait(task_id, root, || {
            self.winding.load(Ordering::SeqCst)
                || lock(&self.gate).is_none()
                || lock(&self.halted_unrecorded).is_some()
                || self.lock_task(cell).map_or(true, |state| state.seq != seq)
        });
        Ok(())
    }

    /// Does what follows from a commit, but for the acts that are to be performed: answers with those.
    pub(crate) fn clear_away(&self, committed: Committed<'_>) -> Vec<Perform> {
        let Committed { state, after, .. } = committed;
        let task_id = state.task.task_id;
        let (mut perform, mut sign, mut orphans) = (Vec::new(), false, Vec::new());
        for after in after {
            match after {
                After::Perform(executors, request, authorization, turn) => {
                    perform.push((executors, request, authorization, turn));
                }
                After::Unstage(attempt) => self.unstage(&state, attempt),
                After::EndServers(attempt) => self.end_servers(&state, attempt),
                After::Forget(request) => self.forget_act(&state, request),
                After::CancelChildren(children) => orphans = children,
                After::Checkpoint => sign = true,
            }
        }
        drop(state);
        self.cancel_children(&orphans);
        if sign {
            self.checkpoint_after(task_id);
        }
        perform
    }

    /// Tasks that a host should take up after it started: everything that has not ended and does not wait for
    /// a person to resume it. Found through projections, judged from events (HK-20.1-3). What the ceiling of a day paused that
    /// is over goes on, and what is at work past its deadline is told to leave off.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn resumable(&self) -> Result<Vec<TaskId>, Error> {
        let mut found = Vec::new();
        for task_id in self.open_tasks()? {
            let cell = self.cell(task_id)?;
            let mut state = self.lock_task(&cell)?;
            if self.is_held_by_an_old_day(&state) {
                drop(state);
                // It stays paused where the log does not take it; the others go on.
                if let Err(error) = self.resume_for_a_new_day(&cell) {
                    tracing::warn!(task = %task_id, %error, "what the ceiling of a day paused does not go on yet");
                }
                state = self.lock_task(&cell)?;
            }
            let now = self.now_of(&state);
            let (step, children) = (next(&state, now), state.children_waited_for());
            if is_overdue(&state, now) {
                cell.stop.store(true, Ordering::SeqCst);
            }
            drop(state);
            let goes_on = match step {
                Next::Wait(Waiting::Dependency) => self.any_ended(&children)?,
                Next::Wait(_) | Next::Ended(_) => false,
                _ => true,
            };
            if goes_on {
                found.push(task_id);
            }
        }
        Ok(found)
    }

    /// The first instant after `after` at which a task goes on by time alone: its deadline passes, what it asked a
    /// person lapses, or the day is over whose ceiling paused it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn next_instant(&self, after: UnixMs) -> Result<Option<UnixMs>, Error> {
        let mut first: Option<UnixMs> = None;
        for task_id in self.open_tasks()? {
            let cell = self.cell(task_id)?;
            let state = self.lock_task(&cell)?;
            let instant = next_instant(&state, after.max(state.latest));
            let day = self.day_of_hold_ends(&state).filter(|ends| *ends > after);
            first = first.into_iter().chain(instant).chain(day).min();
        }
        Ok(first)
    }
}
