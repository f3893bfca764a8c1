//! How schedules fire (schedule.md 1).
//!
//! One look settles each slot of a schedule that came due: one event in the schedule's stream says of each whether it fires. That
//! event is committed before any task is made, and the task of a slot is keyed by schedule and slot. So a host that dies in
//! between has lost none and made none twice: the next look finds the slot without its task and makes it.

use super::background::{BackgroundWork, Initiator};
use super::bounded_runs::queued_one;
use super::enclose::Encloses;
use super::schedules::{all_for, in_stream, push_not_begun, push_settled, reasoning};
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::query::view;
use crate::schedule_registry::ScheduleRecord;
use crate::sender::Sender;
use crate::writeup::Writeup;
use model::body::{ScheduleFired, SchedulePaused};
use model::fault::Point;
use model::ingress::Channel;
use model::schedule::{
    CatchUp, Overlap, PassedOver, Schedule, ScheduledBy, SeenChange, Settled, Trigger, When,
};
use model::task::TaskStatus;
use model::{Sensitive, TaskId, UnixMs};

/// Runs of one schedule that wait for a person at the same time; slots that come due meanwhile are passed over.
const WAITING_MAX: usize = 5;
/// Runs in a row that fail before a schedule pauses itself.
const FAILURES_MAX: usize = 3;
/// How long a schedule that could not be looked after is left alone, in milliseconds.
const RETRY_MS: i64 = 60_000;
/// How its keys begin that are no client's.
pub(super) const OWN_KEYS: &str = "hermit:";

/// How a run of a schedule stands, as far as the next one must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    AtWork,
    Waits,
    Failed,
    Ended,
}

/// What becomes of what came due of one schedule, by the clock of this machine.
pub(super) struct Reckoned {
    pub(super) settled: Vec<Settled>,
    /// Until when it is settled then.
    pub(super) until: UnixMs,
    /// Whether older runs are ended for what fires.
    pub(super) ends_older: bool,
}

impl Kernel {
    /// When a slot of any schedule is to be looked after first.
    pub fn next_slot(&self) -> Option<UnixMs> {
        let now = self.ports.clock.now();
        self.schedule_registry().0.values().filter_map(|record| self.due_at(record, now)).min()
    }

    /// When a schedule is to be looked after: a slot of it is due, fires and has no task yet, or cannot be told on this machine. What
    /// is due of one that the mesh holds is told to the mesh instead.
    fn due_at(&self, record: &ScheduleRecord, now: UnixMs) -> Option<UnixMs> {
        if !record.may_begin() {
            return None;
        }
        let at = match record.slots.unmade.is_empty() {
            true if self.is_held_by_mesh(&record.name) => return None,
            true => record.next().map_or(Some(now), |at| at.map(|at| at.plus_ms(record.delay_ms())))?,
            // It begins when the run before it rests, which whoever drives that one tells.
            false if self.is_at_work(record) => return None,
            false => now,
        };
        // A hold that lies further ahead is of a clock that was set back since, and holds nothing.
        let until = now.plus_ms(RETRY_MS);
        let held = lock(&self.slots_held).get(&record.name).copied().filter(|held| *held <= until);
        Some(held.map_or(at, |until| at.max(until)))
    }

    /// Settles every slot that has come due, and makes the tasks of those that fire. Answers with the tasks that are to be driven:
    /// those, and the older ones that are ended in their favour.
    ///
    /// One schedule that fails stands in no other's way: what was wrong is told in the log of the process, and it is tried again
    /// after a minute; where it cannot pass by itself the schedule is paused with the reason.
    ///
    /// # Errors
    /// [`Error::Halted`] while nothing may begin.
    pub fn fire_due(&self) -> Result<Vec<TaskId>, Error> {
        if self.halted().is_some() {
            return Err(Error::Halted);
        }
        let now = self.ports.clock.now();
        let waits = |one: &&ScheduleRecord| self.due_at(one, now).is_some_and(|at| at <= now);
        let names: Vec<String> =
            self.schedule_registry().0.values().filter(waits).map(|one| one.name.clone()).collect();
        let mut to_drive = Vec::new();
        for name in names {
            match self.fire(&name, now) {
                Ok(tasks) => {
                    // Where nothing began and it is due all the same, it waits for what must be so for its run to begin.
                    let waits = |one: ScheduleRecord| match one.slots.unmade.is_empty() {
                        true => one.is_due(now),
                        false => one.may_begin() && !self.is_at_work(&one),
                    };
                    let waits = tasks.is_empty() && self.known_schedule(&name).is_ok_and(waits);
                    to_drive.extend(tasks);
                    let mut held = lock(&self.slots_held);
                    match waits {
                        true => drop(held.insert(name, now.plus_ms(RETRY_MS))),
                        false => drop(held.remove(&name)),
                    }
                }
                Err(error) => {
                    tracing::warn!(schedule = name, %error, "what came due of a schedule is not begun yet");
                    lock(&self.slots_held).insert(name, now.plus_ms(RETRY_MS));
                }
            }
        }
        Ok(to_drive)
    }

    /// Settles what came due of one schedule, and makes the task of its oldest slot that fires; the tasks to be driven then.
    pub(super) fn fire(&self, name: &str, now: UnixMs) -> Result<Vec<TaskId>, Error> {
        let record = self.known_schedule(name)?;
        let mut to_drive = Vec::new();
        // What fires is begun, or passed over, before anything newer is settled.
        let settles = record.slots.unmade.is_empty() && record.is_due(now);
        if settles && !self.is_held_by_mesh(name) && !self.mesh_pauses(&record)? {
            to_drive = self.settle_due(&record)?;
        }
        loop {
            let record = self.known_schedule(name)?;
            let Some(at) = record.slots.unmade.front().copied().filter(|_| record.may_begin()) else {
                return Ok(to_drive);
            };
            let runs = self.runs(&record)?;
            if runs.contains(&Run::AtWork) {
                return Ok(to_drive);
            }
            let looked = self
                .schedule_of(&record)
                .and_then(|schedule| Ok((self.why_not_begun(&record, &schedule, (&runs, at))?, schedule)));
            // What fires and is not too late yet waits for a condition as what came due does.
            if let Ok((Some(why), _)) = &looked
                && record.when.grace_ms.is_some()
                && why.is_of_a_condition()
            {
                return Ok(to_drive);
            }
            let made = looked.and_then(|(why, schedule)| match why {
                Some(why) => self.not_begun(&record, at, why).map(|()| None),
                None => self.make_run(&record, schedule, at).map(Some),
            });
            match made {
                Ok(None) => {}
                Ok(Some(made)) => {
                    to_drive.push(made);
                    return Ok(to_drive);
                }
                Err(error) if passes(&error) => return Err(error),
                Err(error) => return self.cannot_run(&record, &error).map(|()| to_drive),
            }
        }
    }

    /// Settles what came due of one schedule; or pauses it, when its last runs failed or its rule cannot be read. The older runs
    /// that are ended for what fires are to be driven.
    fn settle_due(&self, record: &ScheduleRecord) -> Result<Vec<TaskId>, Error> {
        let runs = self.runs(record)?;
        let by = Sender::from(Channel::Scheduler);
        let mut w = self.schedule_writeup(Point::ScheduleSettle, by, &record.name)?;
        let Some(reckoned) = self.reckon(record, (&self.when_settled(record), w.now), &runs)? else {
            return Ok(Vec::new());
        };
        let ended = if reckoned.ends_older { self.end_older(record, &runs)? } else { Vec::new() };
        let so_far = (reckoned.until, record.slots.passed_over);
        push_settled(&mut w, record, reckoned.settled, so_far, None);
        self.commit_once(w).map(|()| ended)
    }

    /// What becomes of what came due of one schedule until an instant; none where that is still open, or it was paused instead.
    pub(super) fn reckon(
        &self,
        record: &ScheduleRecord,
        (when, now): (&When, UnixMs),
        runs: &[Run],
    ) -> Result<Option<Reckoned>, Error> {
        if fails(record, runs) {
            return self.pauses_after_failures(record).map(|()| None);
        }
        let due_until = now.plus_ms(-record.delay_ms());
        let (settled, until) = match schedule::settle(when, record.settled(), due_until) {
            Ok(settled) => settled,
            Err(why) => return self.cannot_be_read(record, why.to_string()).map(|()| None),
        };
        let fires = settled.iter().any(|one| matches!(one, Settled::Fires(_)));
        let is_at_work = runs.contains(&Run::AtWork);
        let schedule = if fires || is_at_work { Some(self.schedule_of(record)?) } else { None };
        let overlap = schedule.as_ref().and_then(|one| one.bounds.overlap).unwrap_or(Overlap::Skip);
        let mut held = None;
        if is_at_work && overlap == Overlap::Skip {
            held = Some(PassedOver::StillRunning);
        } else if let Some(schedule) = schedule.as_ref().filter(|_| fires) {
            let beside: &[Run] = if overlap == Overlap::EndOlder { &[] } else { runs };
            held = match self.why_held(record, schedule, beside) {
                Ok(held) => held,
                Err(Error::Input(why)) => return self.cannot_be_read(record, why).map(|()| None),
                Err(error) => return Err(error),
            };
        }
        if held.is_some_and(|why| may_still_begin(record, &settled, due_until, why)) {
            return Ok(None);
        }
        let settled = match held {
            Some(why) => all_for(settled, why),
            None if is_at_work && overlap == Overlap::Queue => queued_one(settled),
            None => settled,
        };
        let ends_older = fires && held.is_none() && overlap == Overlap::EndOlder;
        Ok(Some(Reckoned { settled, until, ends_older }))
    }

    /// By what its slots are settled: one that was seen in time, and waits as long as it may be late for what must be so, is not
    /// missed.
    fn when_settled(&self, record: &ScheduleRecord) -> When {
        let waits = record.when.grace_ms.is_some() && lock(&self.slots_held).contains_key(&record.name);
        match record.when.catch_up {
            CatchUp::Skip if waits => When { catch_up: CatchUp::Newest, ..record.when.clone() },
            _ => record.when.clone(),
        }
    }

    /// Why no run begins now, if none does. `beside`: how the runs stand that it would begin beside.
    pub(super) fn why_held(
        &self,
        record: &ScheduleRecord,
        schedule: &Schedule,
        beside: &[Run],
    ) -> Result<Option<PassedOver>, Error> {
        if beside.iter().filter(|run| **run == Run::Waits).count() >= WAITING_MAX {
            return Ok(Some(PassedOver::TooManyWait));
        }
        let root = self.root_of(schedule.workspace_id)?;
        if self.executors_at(&root, schedule.workspace_id).is_err() {
            return Ok(Some(PassedOver::FolderMissing));
        }
        self.why_out_of_bounds(record, &schedule.bounds)
    }

    /// Why the task of a slot that fires is not made after all, if it is not.
    fn why_not_begun(
        &self,
        record: &ScheduleRecord,
        schedule: &Schedule,
        (runs, at): (&[Run], UnixMs),
    ) -> Result<Option<PassedOver>, Error> {
        if self.reader.by_idempotency_key(&fired_key(&record.name, at))?.is_some() {
            return Ok(Some(PassedOver::FiredBefore));
        }
        let late = self.ports.clock.now().0.saturating_sub(at.plus_ms(record.delay_ms()).0);
        let grace = record.when.grace_ms.and_then(|ms| i64::try_from(ms).ok());
        if grace.is_some_and(|grace| late > grace) {
            return Ok(Some(PassedOver::TooLate));
        }
        self.why_held(record, schedule, runs)
    }

    fn not_begun(&self, record: &ScheduleRecord, slot_at: UnixMs, why: PassedOver) -> Result<(), Error> {
        let by = Sender::from(Channel::Scheduler);
        let mut w = self.schedule_writeup(Point::ScheduleFire, by, &record.name)?;
        push_not_begun(&mut w, record, (slot_at, why), record.slots.passed_over.saturating_add(1));
        self.commit(w).map(drop)
    }

    /// Makes the task of a slot that fires, and says which it is.
    fn make_run(&self, record: &ScheduleRecord, schedule: Schedule, at: UnixMs) -> Result<TaskId, Error> {
        let ScheduleRecord { name, version, span, .. } = record;
        let deadline_at = deadline(&schedule, self.ports.clock.now());
        let budget = self.budget_of_run(record, &schedule)?;
        // What changed came from somebody else, and is no word of the goal.
        let encloses = Encloses { files: self.told_of(record, at)?, ..Encloses::default() };
        let submitted = self.submit_background(
            Initiator::Scheduler,
            BackgroundWork {
                goal: schedule.goal,
                title: name.clone(),
                workspace_id: schedule.workspace_id,
                reasoning: reasoning(schedule.proposer),
                profile: schedule.profile,
                conversation_id: schedule.conversation_id,
                budget: Some(budget),
                deadline_at,
                encloses,
                scheduled_by: Some(ScheduledBy {
                    name: name.clone(),
                    version: *version,
                    slot_at: at,
                    quiet: schedule.quiet,
                }),
                depends_on: self.waited_for(record, at)?,
                idempotency_key: format!("{OWN_KEYS}schedule:{name}:{}", at.0),
            },
        )?;
        let by = Sender::from(Channel::Scheduler);
        let mut w = self.schedule_writeup(Point::ScheduleFire, by, name)?;
        in_stream(&mut w, record, |w| {
            let fired = ScheduleFired {
                name: name.clone(),
                version: *version,
                span: *span,
                slot_at: at,
                about_task_id: submitted.task_id,
                runs: record.slots.fired.saturating_add(1),
            };
            w.push_keyed(Some(fired_key(name, at)), fired);
        });
        self.commit_once(w).map(|()| submitted.task_id)
    }

    /// The runs whose end a slot waited for.
    fn waited_for(&self, record: &ScheduleRecord, at: UnixMs) -> Result<Vec<TaskId>, Error> {
        if let Some(change) = record.slots.change_at(at)
            && matches!(self.trigger_of(record)?, Some(Trigger::After { .. }))
            && let SeenChange::Ended { runs, .. } = self.object_at(change)?
        {
            return Ok(runs.into_iter().map(|run| run.task_id).collect());
        }
        Ok(Vec::new())
    }

    /// Pauses a schedule whose task cannot be made as it is.
    pub(super) fn cannot_run(&self, record: &ScheduleRecord, error: &Error) -> Result<(), Error> {
        tracing::warn!(schedule = record.name, %error, "the task of a schedule cannot begin");
        self.pauses_itself(record, PassedOver::NotBegun, format!("its task cannot begin: {error}"))
    }

    fn pauses_itself(&self, record: &ScheduleRecord, why: PassedOver, reason: String) -> Result<(), Error> {
        let by = Sender::from(Channel::Scheduler);
        let mut w = self.schedule_writeup(Point::ScheduleSettle, by, &record.name)?;
        self.push_passed_over(&mut w, record, why);
        self.act_as_supervisor(&mut w);
        let (name, reason) = (record.name.clone(), Sensitive::from(reason));
        // Whoever looks at the same time says it once: a person's word begins another span.
        let key = format!("paused:{name}:{}", record.span);
        w.push_keyed(Some(key), SchedulePaused { name, by_itself: true, reason });
        self.commit_once(w)
    }

    pub(super) fn pauses_after_failures(&self, record: &ScheduleRecord) -> Result<(), Error> {
        let why = format!("the last {FAILURES_MAX} runs failed; look at them, then resume it or remove it");
        self.pauses_itself(record, PassedOver::Paused, why)
    }

    fn cannot_be_read(&self, record: &ScheduleRecord, why: String) -> Result<(), Error> {
        self.pauses_itself(record, PassedOver::NotBegun, why)
    }

    /// A task has come to rest: whatever waits for that is looked at; and where it is the run of a schedule that fails again and
    /// again, that is paused now, and a person is asked, instead of when its next time comes.
    ///
    /// # Errors
    /// When the store cannot be read, or the disk takes nothing.
    pub fn run_rested(&self, task_id: TaskId) -> Result<(), Error> {
        let cell = self.cell(task_id)?;
        let (of, status) = {
            let state = self.lock_task(&cell)?;
            (state.task.scheduled_by.clone(), state.task.status)
        };
        self.wake_looks(task_id, of.as_ref().map(|of| of.name.as_str()));
        let Some(of) = of.filter(|_| status == TaskStatus::Failed) else { return Ok(()) };
        let record = self.known_schedule(&of.name)?;
        if record.may_begin() && record.version == of.version && fails(&record, &self.runs(&record)?) {
            self.pauses_after_failures(&record)?;
        }
        Ok(())
    }

    /// Commits what another thread may have said already.
    pub(super) fn commit_once(&self, w: Writeup<'_>) -> Result<(), Error> {
        match self.commit(w) {
            Ok(_) | Err(Error::Ledger(ledger::Error::Duplicate { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// How the newest runs stand, the newest last.
    pub(super) fn runs(&self, record: &ScheduleRecord) -> Result<Vec<Run>, Error> {
        let (query, severed) = (self.query()?, self.reader.severed()?);
        let stands = |task: TaskId| -> Result<Run, Error> {
            if severed.iter().any(|one| one.task == task) {
                return Ok(Run::Failed);
            }
            let Some(row) = query.task(task).map_err(view)? else { return Ok(Run::Ended) };
            let asks = row.open_approvals + row.open_questions + row.unknown_effects > 0;
            Ok(match row.status {
                TaskStatus::Failed => Run::Failed,
                status if status.is_terminal() => Run::Ended,
                status if status == TaskStatus::Paused || (status == TaskStatus::Blocked && asks) => {
                    // One that is to end waits for nobody.
                    if row.cancel_requested { Run::Ended } else { Run::Waits }
                }
                _ => Run::AtWork,
            })
        };
        record.slots.runs.iter().map(|run| stands(run.task_id)).collect()
    }

    fn is_at_work(&self, record: &ScheduleRecord) -> bool {
        self.runs(record).is_ok_and(|runs| runs.contains(&Run::AtWork))
    }
}

/// Whether what holds a run back may pass while the newest of these slots is not too late yet: a condition, where a grace is said.
fn may_still_begin(record: &ScheduleRecord, settled: &[Settled], now: UnixMs, why: PassedOver) -> bool {
    let grace = record.when.grace_ms.and_then(|ms| i64::try_from(ms).ok());
    let fires = settled.iter().filter_map(|one| match one {
        Settled::Fires(slot) => Some(slot.at.0),
        Settled::PassedOver { .. } => None,
    });
    let newest = fires.max();
    why.is_of_a_condition() && newest.zip(grace).is_some_and(|(at, grace)| now.0.saturating_sub(at) < grace)
}

/// Whether as many runs of this span have failed in a row, the newest last, as a schedule may before it pauses itself.
pub(super) fn fails(record: &ScheduleRecord, runs: &[Run]) -> bool {
    let of_span = record.slots.runs.iter().zip(runs).rev().take_while(|(run, _)| run.span == record.span);
    of_span.take_while(|(_, how)| **how == Run::Failed).count() >= FAILURES_MAX
}

/// When a run that begins now has expired, where it may last only so long.
pub(super) fn deadline(schedule: &Schedule, now: UnixMs) -> Option<UnixMs> {
    let after = schedule.bounds.ends_after_ms.and_then(|ms| i64::try_from(ms).ok())?;
    Some(now.plus_ms(after))
}

fn fired_key(name: &str, at: UnixMs) -> String {
    format!("fired:{name}:{}", at.0)
}

/// Whether an error passes by itself: the disk, a key that is locked, a halt. Anything else is the schedule's own.
pub(super) const fn passes(error: &Error) -> bool {
    match error {
        Error::Ledger(_)
        | Error::Halted
        | Error::HaltUnrecorded(_)
        | Error::KeyLocked(_)
        | Error::Gate(_) => true,
        Error::Artifacts(error) => matches!(error, artifacts::Error::Io { .. } | artifacts::Error::Full),
        _ => false,
    }
}
