//! Schedules as events tell them: which there are and how each stands, from the store's own stream; until when its slots are
//! settled and which runs they began, from the end of its own stream (schedule.md 1).

use crate::Error;
use crate::command::person::resume_subject;
use ledger::Reader;
use model::artifact::ArtifactRef;
use model::body::{Body, ScheduleKept};
use model::schedule::{CallRefused, HookCall, PassedOver, Rule, ScheduleState, Settled, Unseen, When};
use model::{Digest, TaskId, UnixMs};
use std::collections::{BTreeMap, VecDeque};
use std::sync::OnceLock;

/// Runs of a schedule that are remembered here; the log has them all.
const RUNS_MAX: usize = 20;
/// How many events at the end of a schedule's stream are read first. A span that fires begins none before its slots are runs
/// or are passed over, so slots that wait for their task are among the last [`model::schedule::AFTERWARDS_MAX`]; and each run
/// comes with two events.
const TAIL: u64 = 100;
/// And at most: runs that wait for a person lie behind each time that was passed over since.
const TAIL_MAX: u64 = 3_200;

/// A run that a schedule began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduleRun {
    /// Between which words of a person: failures before the newest of them do not count.
    pub span: u32,
    /// The slot.
    pub slot_at: UnixMs,
    /// Its task.
    pub task_id: TaskId,
}

/// What became of the slots of a schedule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slots {
    /// In which span they were settled last, and until when.
    settled: Option<(u32, UnixMs)>,
    /// Slots that fire, and whose task is not on record yet, the oldest first.
    pub unmade: VecDeque<UnixMs>,
    /// The newest runs, the newest last.
    pub runs: VecDeque<ScheduleRun>,
    /// Runs there were.
    pub fired: u64,
    /// Slots that were passed over, at least.
    pub passed_over: u64,
    /// The newest of those: until when, and why.
    pub last_passed_over: Option<(UnixMs, PassedOver)>,
    /// What the newest look saw that saw anything, and of which version that was.
    seen: Option<(u32, ArtifactRef)>,
    /// Why the newest look saw nothing, if it did not.
    pub unseen: Option<Unseen>,
    /// In which version nothing can come any more.
    over_in: Option<u32>,
    /// Of slots that fire and have no task yet, what changed.
    changes: BTreeMap<UnixMs, ArtifactRef>,
    /// Calls of its hook for which no slot stands yet, the oldest first.
    pub calls: VecDeque<HookCall>,
    /// Calls that were taken.
    pub called: u64,
    /// The number of the newest for which a slot stands.
    settled_calls: u64,
    /// Calls that were refused, as far as that is on record.
    pub refused: u64,
    /// Why the newest of those was.
    pub last_refused: Option<CallRefused>,
}

impl Slots {
    /// What the newest look saw, where a look of this version of the schedule saw anything.
    pub(crate) fn seen_in(&self, version: u32) -> Option<&ArtifactRef> {
        self.seen.as_ref().filter(|(of, _)| *of == version).map(|(_, at)| at)
    }

    /// What changed, of a slot that fires and has no task yet.
    pub(crate) fn change_at(&self, slot_at: UnixMs) -> Option<&ArtifactRef> {
        self.changes.get(&slot_at)
    }

    /// Of a schedule that begins anew, with so many slots that were passed over before.
    pub(crate) fn with_passed_over(passed_over: u64) -> Self {
        Self { passed_over, ..Self::default() }
    }

    fn made(&mut self, slot_at: UnixMs) {
        self.unmade.retain(|at| *at != slot_at);
        self.changes.remove(&slot_at);
    }

    /// Folds one event of a schedule's stream.
    fn apply(&mut self, body: &Body) {
        match body {
            Body::ScheduleSettled(b) => {
                self.settled = Some((b.span, b.until));
                self.passed_over = b.passed_over;
                if let Some(seen) = &b.seen {
                    self.seen = seen.state.clone().map(|at| (b.version, at));
                    self.unseen = seen.unseen;
                    if seen.is_over {
                        self.over_in = Some(b.version);
                    }
                    if let Some(newest) = seen.calls {
                        self.settled_calls = newest;
                        self.called = self.called.max(newest);
                        self.calls.retain(|call| call.number > newest);
                    }
                }
                for one in &b.settled {
                    match one {
                        Settled::Fires(slot) => {
                            self.unmade.push_back(slot.at);
                            let change = b.seen.as_ref().and_then(|seen| seen.change.clone());
                            self.changes.extend(change.map(|change| (slot.at, change)));
                        }
                        Settled::PassedOver { until, why, .. } => {
                            self.last_passed_over = Some((*until, *why))
                        }
                    }
                }
            }
            Body::ScheduleFired(b) => {
                self.made(b.slot_at);
                self.fired = b.runs;
                self.runs.push_back(ScheduleRun {
                    span: b.span,
                    slot_at: b.slot_at,
                    task_id: b.about_task_id,
                });
                let more = self.runs.len().saturating_sub(RUNS_MAX);
                self.runs.drain(..more);
            }
            Body::ScheduleNotBegun(b) => {
                self.made(b.slot_at);
                self.passed_over = b.passed_over;
                self.last_passed_over = Some((b.slot_at, b.why));
            }
            Body::ScheduleCalled(b) => {
                self.called = b.calls;
                self.calls.push_back(HookCall {
                    number: b.calls,
                    called_at: b.called_at,
                    content: b.content.clone(),
                });
            }
            Body::ScheduleCallsRefused(b) => {
                (self.refused, self.last_refused) = (b.refused, Some(b.why));
            }
            _ => {}
        }
    }

    /// Whether no call that waits for a slot lies before what was read.
    fn has_each_call(&self) -> bool {
        match self.calls.front() {
            Some(oldest) => oldest.number == self.settled_calls.saturating_add(1),
            None => self.settled.is_some(),
        }
    }

    /// Reads the end of a schedule's stream: as much of it as has the newest runs, and the calls that wait.
    fn read(reader: &Reader, stream: TaskId) -> Result<Self, Error> {
        let end = reader.task_head(stream)?.map_or(0, |(seq, _)| seq);
        let mut tail = TAIL;
        loop {
            let slots = Self::read_from(reader, stream, (end.saturating_sub(tail), tail))?;
            let has_all = (slots.runs.len() == RUNS_MAX || slots.fired == slots.runs.len() as u64)
                && slots.has_each_call();
            // Nothing of a run may have been seen yet, so only the beginning tells that there was none.
            if tail >= end || tail >= TAIL_MAX || (has_all && slots.fired > 0) {
                return Ok(slots);
            }
            tail = tail.saturating_mul(2);
        }
    }

    /// Folds the events behind a place in a schedule's stream, at most so many.
    fn read_from(reader: &Reader, stream: TaskId, (after, most): (u64, u64)) -> Result<Self, Error> {
        let mut slots = Self::default();
        for stored in reader.events(stream, after, usize::try_from(most).unwrap_or(usize::MAX))? {
            let event = stored.event()?;
            slots.apply(&reader.revealing(|shown| event.body(shown))??);
        }
        Ok(slots)
    }
}

/// A schedule that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleRecord {
    /// Its name.
    pub name: String,
    /// From 1; it goes on counting when a name is used again.
    pub version: u32,
    /// When it is due.
    pub when: When,
    /// All of it.
    pub schedule: ArtifactRef,
    /// Since when it stands in this version.
    pub since: UnixMs,
    /// What a person or it itself said last: active, paused or removed.
    said: ScheduleState,
    /// Why, where it is paused or removed.
    pub why: Option<String>,
    /// Whether it paused itself, where it is paused: a person is asked what is to become of it.
    by_itself: bool,
    /// The stream of its slots.
    pub slots_task_id: TaskId,
    /// How often a person kept or resumed it.
    pub span: u32,
    /// From when slots count in this span.
    begins: UnixMs,
    /// What became of its slots.
    pub slots: Slots,
    next: Next,
}

/// The first slot that is not settled, searched for when somebody asks.
#[derive(Debug, Clone, Default)]
struct Next(OnceLock<Result<Option<UnixMs>, String>>);

impl PartialEq for Next {
    /// It follows from the rest.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Next {}

impl ScheduleRecord {
    pub(crate) fn of(b: &ScheduleKept, slots: Slots) -> Self {
        Self {
            name: b.name.clone(),
            version: b.version,
            when: b.when.clone(),
            schedule: b.schedule.clone(),
            since: b.kept_at,
            said: ScheduleState::Active,
            why: None,
            by_itself: false,
            slots_task_id: b.slots_task_id,
            span: b.span,
            begins: b.settled,
            slots,
            next: Next::default(),
        }
    }

    /// The same with what became of its slots, read from its own stream.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn with_slots(&self, reader: &Reader) -> Result<Self, Error> {
        let slots = Slots::read(reader, self.slots_task_id)?;
        Ok(Self { slots, next: Next::default(), ..self.clone() })
    }

    /// Each slot up to here is settled.
    pub fn settled(&self) -> UnixMs {
        match self.slots.settled {
            Some((span, until)) if span == self.span => until,
            _ => self.begins,
        }
    }

    /// The first slot behind that; none where there is none.
    ///
    /// # Errors
    /// In words, where this machine cannot read the rule: it does not know its time zone.
    pub fn next(&self) -> Result<Option<UnixMs>, &str> {
        let search = || {
            let next = schedule::next(&self.when.rule, self.settled());
            next.map(|slot| slot.map(|slot| slot.at)).map_err(|why| why.to_string())
        };
        self.next.0.get_or_init(search).as_ref().map(|next| *next).map_err(String::as_str)
    }

    /// How it stands.
    pub fn state(&self) -> ScheduleState {
        match self.said {
            ScheduleState::Active if self.is_over() => ScheduleState::Over,
            said => said,
        }
    }

    /// Whether no slot can come any more.
    fn is_over(&self) -> bool {
        match self.waits_for_event() {
            true => self.slots.over_in == Some(self.version),
            false => self.next() == Ok(None),
        }
    }

    /// Whether one looks at what it waits for, and that is no time.
    pub fn is_looked_at(&self) -> bool {
        self.waits_for_event() && self.may_begin() && !self.is_over()
    }

    /// Whether it waits for something that is no time.
    pub fn waits_for_event(&self) -> bool {
        self.when.rule == Rule::Event
    }

    /// Whether slots that fire begin: neither paused nor removed.
    pub fn may_begin(&self) -> bool {
        self.said == ScheduleState::Active
    }

    /// What a person signs to resume it as it is paused now.
    pub fn resume_subject(&self) -> Digest {
        resume_subject("schedule", &self.name, (self.version, self.span))
    }

    /// Whether it paused itself, and waits for a person to resume or remove it.
    pub fn asks(&self) -> bool {
        self.said == ScheduleState::Paused && self.by_itself
    }

    /// By how many milliseconds its slots begin later than its rule says.
    pub fn delay_ms(&self) -> i64 {
        schedule::delay_ms(&self.when, &self.name, self.version)
    }

    /// Whether something of it is to be done at an instant: a slot is due, or this machine cannot say when one is.
    pub fn is_due(&self, now: UnixMs) -> bool {
        let is_due = |at: UnixMs| at.plus_ms(self.delay_ms()) <= now;
        self.may_begin() && self.next().map_or(true, |at| at.is_some_and(is_due))
    }
}

/// Every schedule that was ever kept, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScheduleRegistry(pub BTreeMap<String, ScheduleRecord>);

impl ScheduleRegistry {
    /// The schedule of a name, unless it is removed.
    pub fn standing(&self, name: &str) -> Option<&ScheduleRecord> {
        self.0.get(name).filter(|one| one.said != ScheduleState::Removed)
    }

    /// All that are not removed.
    pub fn all_standing(&self) -> impl Iterator<Item = &ScheduleRecord> {
        self.0.values().filter(|one| one.said != ScheduleState::Removed)
    }

    /// How many paused themselves and wait for a person.
    pub fn asking(&self) -> usize {
        self.0.values().filter(|one| one.asks()).count()
    }

    /// Reads what became of the slots of each, beside what the store's own stream says.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn read_slots(&mut self, reader: &Reader) -> Result<(), Error> {
        for record in self.0.values_mut() {
            *record = record.with_slots(reader)?;
        }
        Ok(())
    }

    /// Folds one event of the store's own stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::ScheduleKept(b) => {
                let slots = self.0.remove(&b.name).map(|before| before.slots).unwrap_or_default();
                self.0.insert(b.name.clone(), ScheduleRecord::of(b, slots));
            }
            Body::SchedulePaused(b) => {
                self.stands(&b.name, ScheduleState::Paused, b.reason.shown());
                if let Some(record) = self.0.get_mut(&b.name) {
                    record.by_itself = b.by_itself;
                }
            }
            Body::ScheduleRemoved(b) => self.stands(&b.name, ScheduleState::Removed, b.reason.shown()),
            Body::ScheduleResumed(b) => {
                if let Some(record) = self.0.get_mut(&b.name) {
                    (record.said, record.why) = (ScheduleState::Active, None);
                    record.by_itself = false;
                    (record.span, record.begins) = (b.span, b.settled);
                    record.next = Next::default();
                }
            }
            _ => {}
        }
    }

    /// Whether an event stands in a schedule's own stream.
    pub(crate) const fn is_of_slots(body: &Body) -> bool {
        matches!(
            body,
            Body::ScheduleSettled(_)
                | Body::ScheduleFired(_)
                | Body::ScheduleNotBegun(_)
                | Body::ScheduleCalled(_)
                | Body::ScheduleCallsRefused(_)
        )
    }

    /// Folds one event of a schedule's own stream.
    pub(crate) fn apply_slots(&mut self, body: &Body) {
        let name = match body {
            Body::ScheduleSettled(b) => &b.name,
            Body::ScheduleFired(b) => &b.name,
            Body::ScheduleNotBegun(b) => &b.name,
            Body::ScheduleCalled(b) => &b.name,
            Body::ScheduleCallsRefused(b) => &b.name,
            _ => return,
        };
        if let Some(record) = self.0.get_mut(name) {
            record.slots.apply(body);
            record.next = Next::default();
        }
    }

    fn stands(&mut self, name: &str, state: ScheduleState, why: Option<&String>) {
        if let Some(record) = self.0.get_mut(name) {
            record.said = state;
            record.why = Some(why.cloned().unwrap_or_else(|| "(erased)".to_owned()));
        }
    }
}
