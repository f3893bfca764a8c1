//! Schedules: kept by a person's yes, paused, resumed, removed (schedule.md 1). How their slots fire stands in [`super::firing`].

use super::firing::deadline;
use super::person::{Matter, Signed};
use super::submit::{Reasoning, Submission, Submitted};
use super::triggers::slot_at;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::schedule_registry::{ScheduleRecord, ScheduleRegistry, Slots};
use crate::sender::Sender;
use crate::writeup::{NewArtifact, Scope, Writeup};
use acts::{Action, Register};
use model::artifact::ArtifactKind;
use model::body::{
    ScheduleKept, ScheduleNotBegun, SchedulePaused, ScheduleRemoved, ScheduleResumed, ScheduleSettled,
};
use model::fault::Point;
use model::ingress::Channel;
use model::schedule::{
    KeepSchedule, PER_HOUR_USUAL, PassedOver, Schedule, ScheduleProposer, ScheduleState, Seen, Settled,
};
use model::{ActionRequestId, Sensitive, TaskId, UnixMs};
use std::sync::Arc;

/// Times that a card shows.
const NEXT_SHOWN: usize = 5;
/// Schedules that stand at the same time.
const SCHEDULES_MAX: usize = 10_000;
/// How far ahead of the clock slots may be settled, in milliseconds, and a new span still begins behind them: further ahead, the
/// clock was wrong then.
const AHEAD_MS_MAX: i64 = 86_400_000;

impl Kernel {
    /// Makes the task that asks a person whether a schedule is kept. Nothing begins by itself because of this.
    ///
    /// `zone`: the one whose clock the card shows the next times by.
    ///
    /// # Errors
    /// [`Error::Input`] when it can never be due, says nothing to do, or stands so already.
    pub fn propose_schedule(
        &self,
        schedule: Schedule,
        zone: &str,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        let input = |why: schedule::NotARule| Error::Input(why.to_string());
        schedule::check(&schedule.when.rule).map_err(input)?;
        if let Some(hours) = &schedule.bounds.hours {
            schedule::within(hours, self.ports.clock.now()).map_err(input)?;
        }
        let schedule = bounded(schedule);
        self.check_trigger(&schedule)?;
        let registry = self.schedule_registry();
        let standing = registry.standing(&schedule.name);
        if standing.is_none() && registry.all_standing().count() >= SCHEDULES_MAX {
            return Err(Error::Input(format!("{SCHEDULES_MAX} schedules stand; remove one first")));
        }
        let known = registry.0.get(&schedule.name);
        let after = begins(known, self.ports.clock.now());
        let mut next = Vec::new();
        for slot in schedule::slots(&schedule.when.rule, after).map_err(input)?.take(NEXT_SHOWN) {
            next.push(schedule::in_words(&slot, zone).map_err(input)?);
        }
        if next.is_empty() && schedule.on.is_none() {
            return Err(Error::Input("that time has gone by: write one that is still to come".to_owned()));
        }
        let was = standing.map(|record| self.schedule_of(record)).transpose()?.map(Box::new);
        let version = known.map_or(1, |record| record.version.saturating_add(1));
        let keep = KeepSchedule { schedule, version, next, was };
        let change = Register::Schedule { keep: Box::new(keep) };
        if let Some(asked) = self.asked_already(&change, &idempotency_key)? {
            return Ok(asked);
        }
        let workspace_id = self.workspace(&self.made_rules_folder()?)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// The question that was asked with this key: the next times, and the beginning of a period, move with the clock, so whoever
    /// asks again asks in other bytes.
    fn asked_already(&self, change: &Register, key: &str) -> Result<Option<Submitted>, Error> {
        let Some(first) = self.reader.by_idempotency_key(&format!("ingress:{key}"))? else { return Ok(None) };
        let record = self.received_at(first.event_id, key)?;
        let title = Action::Register(change.clone()).as_tool().title();
        let same = record.raw_text.shown().is_some_and(|text| text.eq_ignore_ascii_case(&title));
        let task = if same { self.bound_task(record.ingress_id)? } else { None };
        let ingress_id = record.ingress_id;
        Ok(task.map(|task_id| Submitted { task_id, ingress_id, duplicate: true }))
    }

    /// Schedules as they stand.
    pub fn schedule_registry(&self) -> Arc<ScheduleRegistry> {
        Arc::clone(&lock(&self.store).schedules)
    }

    /// A schedule with all that a person approved.
    ///
    /// # Errors
    /// When it was erased.
    pub fn schedule_of(&self, record: &ScheduleRecord) -> Result<Schedule, Error> {
        self.object_at(&record.schedule)
    }

    /// Pauses a schedule: its slots are passed over until a person resumes it. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] without it, [`Error::Conflict`] when it does not fire as it is.
    pub fn pause_schedule(&self, name: &str, reason: &str, by: impl Into<Sender>) -> Result<(), Error> {
        let record = self.standing(name)?;
        if record.state() != ScheduleState::Active {
            return Err(Error::Conflict(format!("the schedule `{name}` is {} already", record.state())));
        }
        let mut w = self.schedule_writeup(Point::DecisionRecord, by.into(), name)?;
        self.push_passed_over(&mut w, &record, PassedOver::Paused);
        let reason = Sensitive::from(reason.to_owned());
        w.push(SchedulePaused { name: name.to_owned(), by_itself: false, reason });
        self.commit_change(w, name)
    }

    /// Resumes a schedule that is paused; the slots of the pause are on record as passed over.
    ///
    /// # Errors
    /// [`Error::NotFound`] without it, [`Error::Conflict`] when it is not paused, [`Error::Refused`] when no person says it.
    pub fn resume_schedule(&self, name: &str, by: impl Into<Sender>) -> Result<(), Error> {
        self.resume_schedule_signed(name, by, None)
    }

    /// As [`Kernel::resume_schedule`], by what a person signed about [`ScheduleRecord::resume_subject`]; it stands beside it.
    ///
    /// # Errors
    /// As [`Kernel::resume_schedule`].
    pub fn resume_schedule_signed(
        &self,
        name: &str,
        by: impl Into<Sender>,
        signed: Option<&Signed>,
    ) -> Result<(), Error> {
        let record = self.standing(name)?;
        let about = (Matter::Resume, record.resume_subject());
        let (sender, decided) = self.said_by_person((by.into(), "resume a schedule"), about, signed)?;
        if record.state() != ScheduleState::Paused {
            return Err(Error::Conflict(format!("the schedule `{name}` is not paused")));
        }
        let mut w = self.schedule_writeup(Point::DecisionRecord, sender, name)?;
        self.push_passed_over(&mut w, &record, PassedOver::Paused);
        self.push_changed_meanwhile(&mut w, &record)?;
        let (resumed_at, settled) = (w.now, begins(Some(&record), w.now));
        w.push(ScheduleResumed {
            name: name.to_owned(),
            resumed_at,
            span: record.span.saturating_add(1),
            settled,
        });
        if let Some(decided) = decided {
            w.push(decided);
        }
        self.commit_change(w, name)?;
        // What waited before the pause was passed over.
        lock(&self.slots_held).remove(name);
        self.want_look(name, self.ports.clock.now());
        Ok(())
    }

    /// Removes a schedule. Any surface may: it only narrows. Its history stays.
    ///
    /// # Errors
    /// [`Error::NotFound`] without it.
    pub fn remove_schedule(&self, name: &str, reason: &str, by: impl Into<Sender>) -> Result<(), Error> {
        let record = self.standing(name)?;
        let mut w = self.schedule_writeup(Point::DecisionRecord, by.into(), name)?;
        let why = if record.may_begin() { PassedOver::Changed } else { PassedOver::Paused };
        self.push_passed_over(&mut w, &record, why);
        w.push(ScheduleRemoved { name: name.to_owned(), reason: Sensitive::from(reason.to_owned()) });
        self.commit_change(w, name)
    }

    /// Begins a task as a schedule would, now, for whoever asks: it is no slot, and their own task.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the schedule, and as [`Kernel::submit`].
    pub fn run_schedule(&self, name: &str, by: impl Into<Sender>, key: String) -> Result<Submitted, Error> {
        let schedule = self.schedule_of(&self.standing(name)?)?;
        let deadline_at = deadline(&schedule, self.ports.clock.now());
        let (by, reasoning) = (by.into(), reasoning(schedule.proposer));
        self.submit(&Submission {
            deadline_at,
            title: format!("{name}, begun by hand"),
            profile: schedule.profile,
            budget: schedule.budget,
            conversation_id: schedule.conversation_id,
            by: Some(by.by),
            ..Submission::of(schedule.goal, schedule.workspace_id, reasoning, by.channel, key)
        })
    }

    /// None of the slots that came due until now, or wait for their task, fires, for this reason. A rule that this machine cannot
    /// read keeps nobody from saying so.
    ///
    /// Answers how many were passed over, with these.
    pub(super) fn push_passed_over(
        &self,
        w: &mut Writeup<'_>,
        record: &ScheduleRecord,
        why: PassedOver,
    ) -> u64 {
        let mut passed_over = record.slots.passed_over;
        for slot_at in record.slots.unmade.iter().copied() {
            passed_over = passed_over.saturating_add(1);
            push_not_begun(w, record, (slot_at, why), passed_over);
        }
        if let Some(newest) = record.slots.calls.back() {
            let at = slot_at(record, w.now);
            let passed = Settled::PassedOver { first: at, until: at, slots: Some(1), why };
            let seen = Seen { calls: Some(newest.number), ..Seen::default() };
            return push_settled(w, record, vec![passed], (at, passed_over), Some(seen));
        }
        let (settled, until) = schedule::settle(&record.when, record.settled(), w.now).unwrap_or_else(|_| {
            let (first, until) = (record.settled(), w.now.max(record.settled()));
            (vec![Settled::PassedOver { first, until, slots: None, why }], until)
        });
        push_settled(w, record, all_for(settled, why), (until, passed_over), None)
    }

    /// A schedule of this name, also one that is removed.
    pub(super) fn known_schedule(&self, name: &str) -> Result<ScheduleRecord, Error> {
        let record = lock(&self.store).schedules.0.get(name).cloned();
        record.ok_or_else(|| Error::NotFound { kind: "schedule", id: name.to_owned() })
    }

    fn standing(&self, name: &str) -> Result<ScheduleRecord, Error> {
        let record = lock(&self.store).schedules.standing(name).cloned();
        record.ok_or_else(|| Error::NotFound { kind: "schedule", id: name.to_owned() })
    }

    fn commit_change(&self, w: Writeup<'_>, name: &str) -> Result<(), Error> {
        match self.commit(w) {
            Ok(_) => Ok(()),
            Err(Error::Ledger(ledger::Error::Duplicate { .. })) => {
                Err(Error::Conflict(format!("a time of the schedule `{name}` came just now; say it again")))
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn schedule_writeup(
        &self,
        point: Point,
        by: Sender,
        name: &str,
    ) -> Result<Writeup<'_>, Error> {
        let actor = self.principal_of(by)?;
        self.store_writeup(point, actor, format!("schedule:{name}"), None)
    }

    /// Why a schedule cannot be kept as its card says, if it cannot.
    pub(super) fn schedule_outdated(&self, keep: &KeepSchedule) -> Result<Option<String>, Error> {
        let name = &keep.schedule.name;
        let registry = self.schedule_registry();
        let known = registry.0.get(name);
        let was = registry.standing(name).map(|record| self.schedule_of(record)).transpose()?;
        let version = known.map_or(1, |record| record.version.saturating_add(1));
        if version != keep.version || was.as_ref() != keep.was.as_deref() {
            return Ok(Some(format!("the schedule `{name}` is another by now; look at it and ask again")));
        }
        let after = begins(known, self.ports.clock.now());
        if keep.schedule.on.is_some() {
            return match self.check_trigger(&keep.schedule) {
                Ok(()) => Ok(None),
                Err(Error::Input(why)) => Ok(Some(why)),
                Err(error) => Err(error),
            };
        }
        Ok(match schedule::next(&keep.schedule.when.rule, after) {
            Ok(Some(_)) => None,
            Ok(None) => Some(format!("the time of the schedule `{name}` has gone by")),
            Err(why) => Some(why.to_string()),
        })
    }

    /// Keeps a schedule in place of the one before; of that, what came due and was not seen is passed over.
    pub(super) fn push_kept(
        &self,
        w: &mut Writeup<'_>,
        keep: &KeepSchedule,
        action_request_id: ActionRequestId,
    ) -> Result<(), Error> {
        let registry = self.schedule_registry();
        let known = registry.0.get(&keep.schedule.name);
        let mut passed_over = known.map_or(0, |record| record.slots.passed_over);
        if let Some(before) = registry.standing(&keep.schedule.name) {
            let why = if before.may_begin() { PassedOver::Changed } else { PassedOver::Paused };
            passed_over = self.push_passed_over(w, before, why);
        }
        let fresh = || TaskId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let at = w.object(&keep.schedule, NewArtifact::audit(ArtifactKind::Schedule))?;
        let kept = ScheduleKept {
            name: keep.schedule.name.clone(),
            version: keep.version,
            when: keep.schedule.when.clone(),
            schedule: at,
            action_request_id,
            kept_at: w.now,
            slots_task_id: known.map_or_else(fresh, |record| record.slots_task_id),
            span: known.map_or(1, |record| record.span.saturating_add(1)),
            settled: begins(known, w.now),
        };
        let record = ScheduleRecord::of(&kept, Slots::with_passed_over(passed_over));
        w.push(kept);
        self.push_beginning(w, &record, &keep.schedule)
    }
}

/// From when the slots of a new span count: from now, or from where those before are settled, where a clock was set back a little.
fn begins(known: Option<&ScheduleRecord>, now: UnixMs) -> UnixMs {
    let settled = known.map_or(now, ScheduleRecord::settled);
    if settled.0.saturating_sub(now.0) > AHEAD_MS_MAX { now } else { settled.max(now) }
}

/// Writes into the stream of a schedule's slots.
pub(super) fn in_stream(w: &mut Writeup<'_>, of: &ScheduleRecord, write: impl FnOnce(&mut Writeup<'_>)) {
    let scope = Scope { task_id: of.slots_task_id, step_id: None, attempt_id: None, workspace_id: None };
    let before = std::mem::replace(&mut w.scope, scope);
    write(w);
    w.scope = before;
}

/// A slot that was to fire does not after all. `passed_over`: slots that were, with this one.
pub(super) fn push_not_begun(
    w: &mut Writeup<'_>,
    record: &ScheduleRecord,
    (slot_at, why): (UnixMs, PassedOver),
    passed_over: u64,
) {
    let (name, version) = (record.name.clone(), record.version);
    in_stream(w, record, |w| {
        w.push(ScheduleNotBegun { name, version, slot_at, why, passed_over });
    });
}

/// What became of each slot until an instant, and what a look saw, where there is something to say. `so_far`: slots that were
/// passed over before. Answers how many were, with these.
pub(super) fn push_settled(
    w: &mut Writeup<'_>,
    record: &ScheduleRecord,
    settled: Vec<Settled>,
    (until, so_far): (UnixMs, u64),
    seen: Option<Seen>,
) -> u64 {
    if settled.is_empty() && seen.is_none() {
        return so_far;
    }
    let passed = settled.iter().map(|one| match one {
        Settled::Fires(_) => 0,
        Settled::PassedOver { slots, .. } => slots.unwrap_or(1),
    });
    let passed_over = passed.fold(so_far, u64::saturating_add);
    let (name, version, span, since) = (record.name.clone(), record.version, record.span, record.settled());
    let key = format!("settled:{name}:{span}:{}", since.0);
    in_stream(w, record, |w| {
        let body = ScheduleSettled { name, version, span, since, until, settled, passed_over, seen };
        w.push_keyed(Some(key), body);
    });
    passed_over
}

/// One that waits for no time begins no more runs within an hour than is usual, where nothing is said of that: what it does might
/// bring about what it waits for.
fn bounded(mut schedule: Schedule) -> Schedule {
    if schedule.on.is_some() {
        schedule.bounds.per_hour_max.get_or_insert(PER_HOUR_USUAL);
    }
    schedule
}

/// None of these fires, for this reason; what lies together is told together.
pub(super) fn all_for(settled: Vec<Settled>, reason: PassedOver) -> Vec<Settled> {
    let mut all: Vec<Settled> = Vec::new();
    for one in settled {
        let (first, until, slots) = match one {
            Settled::Fires(slot) => (slot.at, slot.at, Some(1)),
            Settled::PassedOver { first, until, slots, .. } => (first, until, slots),
        };
        match all.last_mut() {
            Some(Settled::PassedOver { until: last, slots: many, .. }) => {
                *last = until;
                *many = many.zip(slots).map(|(a, b): (u64, u64)| a.saturating_add(b));
            }
            _ => all.push(Settled::PassedOver { first, until, slots, why: reason }),
        }
    }
    all
}

pub(super) fn reasoning(proposer: ScheduleProposer) -> Reasoning {
    match proposer {
        ScheduleProposer::Playbook { name, text, parameters } => {
            Reasoning::Playbook { name, text, parameters }
        }
        ScheduleProposer::Model { api, base_url, model, secret } => {
            Reasoning::Openai { api, base_url, model, secret }
        }
    }
}
