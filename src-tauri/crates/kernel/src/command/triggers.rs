//! What schedules wait for that is no time: files that change, a ref that moves, a run that ends (schedule.md 1, HV-3.5-1).
//!
//! Whoever watches only wakes a look. A look compares what there is with what the last one recorded, and commits what it saw with
//! the slot that came of it, in one event: so a host that was off finds what changed, a notice that was lost loses nothing, and
//! each change is a slot once. How that slot fires stands in [`super::firing`].

use super::firing::{Run, fails, passes};
use super::schedules::push_settled;
use super::seeing::{Now, Unsettled};
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::schedule_registry::ScheduleRecord;
use crate::sender::Sender;
use crate::writeup::{NewArtifact, Scope, Writeup};
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef, TrustTier};
use model::fault::Point;
use model::ingress::Channel;
use model::schedule::{
    CatchUp, DueSlot, Overlap, PassedOver, Schedule, Seen, SeenChange, SeenState, Settled, Trigger, Unseen,
};
use model::{TaskId, UnixMs};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// When one looks again although nothing was noticed, in milliseconds: a notice may be lost.
pub(super) const LOOK_MS: i64 = 3_600_000;
/// When one looks again at what cannot be seen, or waits for its task, in milliseconds.
pub(super) const RETRY_MS: i64 = 60_000;
/// When one looks again although nobody said that the run at work rests, in milliseconds.
const TURN_MS: i64 = 300_000;

/// When one looks again at what changed while a run of a schedule that ends its older runs is in the middle of an act, in
/// milliseconds: what that left is on no receipt yet.
const ACTING_MS: i64 = 10_000;
/// When one looks again at the earliest where no run may begin now, in milliseconds.
const HELD_MS_MIN: i64 = 1_000;

/// Milliseconds from a notice of git's files until one looks where its refs are.
const REF_QUIET_MS: u64 = 1_000;

/// What is to be looked at, and what was seen that has not settled yet; of this process alone.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// When each is looked at next; one that is not here is looked at now.
    pub(super) due: BTreeMap<String, Option<UnixMs>>,
    /// Nothing is looked at any more: the process ends.
    pub(super) is_ending: bool,
    /// Those that were compared since this process began.
    pub(super) compared: BTreeSet<String>,
    /// What each waits for, by name and version.
    on: BTreeMap<String, (u32, Trigger)>,
    /// Files that may still be written.
    pub(super) unsettled: BTreeMap<String, Unsettled>,
    /// What was seen since what is on record, where files were written again and that was nothing to the schedule.
    pub(super) passing: BTreeMap<String, (ArtifactRef, SeenState)>,
}

/// What a host watches for a schedule, so that a change is noticed when it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// The schedule's name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// The folder.
    pub folder: PathBuf,
    /// Milliseconds from a notice until one looks.
    pub quiet_ms: u64,
    /// Whether it waits for a ref of the folder's repository, and not for files.
    pub is_of_refs: bool,
}

/// When it is looked at again where nothing happens before, and what is to be driven to its end.
pub(super) type Looked = (UnixMs, Vec<TaskId>);

impl Kernel {
    /// What a host watches: the folder of each schedule that waits for files or for a ref of its repository.
    pub fn watches(&self) -> Vec<Watch> {
        let registry = self.schedule_registry();
        let waits = registry.0.values().filter(|one| one.is_looked_at());
        let watch = |record: &ScheduleRecord| {
            let (quiet_ms, is_of_refs) = match self.trigger_of(record) {
                Ok(Some(Trigger::Files { quiet_ms, .. })) => (quiet_ms, false),
                // A rebase moves refs more than once within moments.
                Ok(Some(Trigger::Ref { .. })) => (REF_QUIET_MS, true),
                // The end of a run is told by whoever drives it, a call by whoever takes it, the others are looked at now and then,
                // and what cannot be read says so when it is looked at.
                Ok(
                    Some(
                        Trigger::After { .. }
                        | Trigger::Hook { .. }
                        | Trigger::Resource { .. }
                        | Trigger::Events { .. }
                        | Trigger::Machine { .. },
                    )
                    | None,
                )
                | Err(_) => return None,
            };
            let schedule = self.schedule_of(record).ok()?;
            let folder = self.root_of(schedule.workspace_id).ok()?;
            Some(Watch { name: record.name.clone(), version: record.version, folder, quiet_ms, is_of_refs })
        };
        waits.filter_map(watch).collect()
    }

    /// Which schedules wait for something that is no time, each in its version: what a host watches changes with these alone.
    pub fn waiting_for_events(&self) -> Vec<(String, u32)> {
        let registry = self.schedule_registry();
        let waits = registry.0.values().filter(|one| one.is_looked_at());
        waits.map(|one| (one.name.clone(), one.version)).collect()
    }

    /// Something may have changed that a schedule waits for: it is looked at then, or earlier where that was said before. Whether
    /// this is earlier than what was said before.
    pub fn want_look(&self, name: &str, at: UnixMs) -> bool {
        let mut looks = lock(&self.looks);
        // One that was never looked at is looked at in any case.
        let Some(due) = looks.due.get_mut(name) else { return false };
        let is_earlier = due.is_none_or(|before| at < before);
        if is_earlier {
            *due = Some(at);
        }
        is_earlier
    }

    /// A task has come to rest: whoever waits for its end is looked at, and so is the schedule that began it, which may have held
    /// its look until now.
    pub(super) fn wake_looks(&self, task_id: TaskId, scheduled_by: Option<&str>) {
        let registry = self.schedule_registry();
        let now = self.ports.clock.now();
        for record in registry.0.values().filter(|one| one.is_looked_at()) {
            let of_task = task_id.to_string();
            let is_awaited = || match self.trigger_of(record) {
                Ok(Some(Trigger::After { of, .. })) => Some(of.as_str()) == scheduled_by || of == of_task,
                _ => false,
            };
            if Some(record.name.as_str()) == scheduled_by || is_awaited() {
                self.want_look(&record.name, now);
            }
        }
    }

    /// What a schedule waits for that is no time.
    pub(super) fn trigger_of(&self, record: &ScheduleRecord) -> Result<Option<Trigger>, Error> {
        if let Some((version, on)) = lock(&self.looks).on.get(&record.name)
            && *version == record.version
        {
            return Ok(Some(on.clone()));
        }
        let Some(on) = self.schedule_of(record)?.on else { return Ok(None) };
        lock(&self.looks).on.insert(record.name.clone(), (record.version, on.clone()));
        Ok(Some(on))
    }

    pub(super) fn look_at(&self, name: &str, now: UnixMs) -> Result<Looked, Error> {
        let record = self.known_schedule(name)?;
        let looked = self.schedule_of(&record).and_then(|schedule| match &schedule.on {
            Some(on) if record.may_begin() => self.look(&record, (&schedule, on), now),
            _ => Ok((now.plus_ms(LOOK_MS), Vec::new())),
        });
        match looked {
            Err(error) if !passes(&error) => {
                self.cannot_run(&record, &error).map(|()| (now.plus_ms(LOOK_MS), Vec::new()))
            }
            looked => looked,
        }
    }

    /// One look: what changed since the last one, and what becomes of that.
    fn look(
        &self,
        record: &ScheduleRecord,
        (schedule, on): (&Schedule, &Trigger),
        now: UnixMs,
    ) -> Result<Looked, Error> {
        let then = |ms: i64| Ok((now.plus_ms(ms), Vec::new()));
        let runs = self.runs(record)?;
        if fails(record, &runs) {
            self.pauses_after_failures(record)?;
            return then(LOOK_MS);
        }
        let overlap = schedule.bounds.overlap;
        let at_work = runs.contains(&Run::AtWork);
        if let Some(ms) = self.put_off(record, schedule, &runs)? {
            return then(ms);
        }
        if let Trigger::Hook { name } = on {
            if self.lacks_its_folder(record, schedule) {
                self.cannot_be_seen(record, Unseen::FolderMissing)?;
                return then(RETRY_MS);
            }
            return self.look_at_calls(record, name, (&runs, overlap), now);
        }
        let before = self.seen_before(record)?;
        let every = on.every_ms().and_then(|ms| i64::try_from(ms).ok());
        let again = every.unwrap_or(LOOK_MS);
        let seen = match self.seen_now(on, schedule, before.as_ref())? {
            Ok(seen) => seen,
            Err(unseen) => {
                self.cannot_be_seen(record, unseen)?;
                return then(every.unwrap_or(RETRY_MS));
            }
        };
        let is_over = ends(on, &seen.state);
        let Some(before) = before else {
            self.push_found(record, (&seen.state, None, is_over), Vec::new())?;
            return then(again);
        };
        if before == seen.state {
            self.is_as_before(record, is_over)?;
            return then(again);
        }
        let seen = match (on, &before) {
            (Trigger::Files { quiet_ms, .. }, SeenState::Files { files, .. }) => {
                match self.settled_files(record, *quiet_ms, files, seen) {
                    Ok(seen) => seen,
                    Err(again) => return Ok((again, Vec::new())),
                }
            }
            _ => seen,
        };
        let change = self.change_of(on, (record, schedule), &before, &seen)?;
        if change.is_none() && self.passes_by(record, (&before, &seen.state), now) {
            return then(if seen.is_whole { LOOK_MS } else { RETRY_MS });
        }
        if change.is_some() && overlap == Some(Overlap::EndOlder) && self.is_acting(record, &runs) {
            return then(ACTING_MS);
        }
        let still_running = at_work && overlap == Some(Overlap::Skip);
        let settled: Vec<Settled> =
            change.iter().map(|_| self.becomes(record, slot_at(record, now), still_running)).collect();
        let mut ended = Vec::new();
        if overlap == Some(Overlap::EndOlder) && matches!(settled.first(), Some(Settled::Fires(_))) {
            ended = self.end_older(record, &runs)?;
        }
        self.push_found(record, (&seen.state, change.as_ref(), is_over), settled)?;
        Ok((now.plus_ms(if seen.is_whole { again } else { RETRY_MS }), ended))
    }

    /// How long a look is put off, if it is, in milliseconds: until the run at work rests, or one may begin. Nothing is lost by that:
    /// what changed until then is one slot.
    fn put_off(
        &self,
        record: &ScheduleRecord,
        schedule: &Schedule,
        runs: &[Run],
    ) -> Result<Option<i64>, Error> {
        let overlap = schedule.bounds.overlap;
        // What changes while a run is at work is seen when that one rests, with what else there is then.
        if runs.contains(&Run::AtWork) && matches!(overlap, None | Some(Overlap::Queue)) {
            return Ok(Some(TURN_MS));
        }
        if !record.slots.unmade.is_empty() {
            return Ok(Some(RETRY_MS));
        }
        let beside: &[Run] = if overlap == Some(Overlap::EndOlder) { &[] } else { runs };
        match self.why_held(record, schedule, beside)? {
            None | Some(PassedOver::FolderMissing) => Ok(None),
            Some(why) => {
                let ms = self.held_ms(record, &schedule.bounds, why)?;
                Ok(Some(ms.unwrap_or(LOOK_MS).clamp(HELD_MS_MIN, LOOK_MS)))
            }
        }
    }

    /// What becomes of a change that was seen.
    fn becomes(&self, record: &ScheduleRecord, at: UnixMs, still_running: bool) -> Settled {
        // It changed while no host was there to see it.
        let is_missed = !lock(&self.looks).compared.contains(&record.name);
        let why = match still_running {
            true => Some(PassedOver::StillRunning),
            false => (is_missed && record.when.catch_up == CatchUp::Skip).then_some(PassedOver::Missed),
        };
        match why {
            Some(why) => Settled::PassedOver { first: at, until: at, slots: Some(1), why },
            None => Settled::Fires(DueSlot { at, shift: None }),
        }
    }

    /// It cannot be seen: that is said once, and nothing is made of it when it is there again as it was.
    fn cannot_be_seen(&self, record: &ScheduleRecord, unseen: Unseen) -> Result<(), Error> {
        if record.slots.unseen == Some(unseen) {
            return Ok(());
        }
        let state = record.slots.seen_in(record.version).cloned();
        self.push_seen(record, Seen { state, unseen: Some(unseen), ..Seen::default() })
    }

    /// Nothing changed. `is_over`: nor can anything any more.
    fn is_as_before(&self, record: &ScheduleRecord, is_over: bool) -> Result<(), Error> {
        let mut looks = lock(&self.looks);
        looks.unsettled.remove(&record.name);
        looks.compared.insert(record.name.clone());
        drop(looks);
        if record.slots.unseen.is_none() && !is_over {
            return Ok(());
        }
        let state = record.slots.seen_in(record.version).cloned();
        self.push_seen(record, Seen { state, is_over, ..Seen::default() })
    }

    /// Whether a schedule is as it was when a look began: a look takes its time, and a person may have said otherwise meanwhile.
    pub(super) fn stands_as(&self, record: &ScheduleRecord) -> Result<bool, Error> {
        let now = self.known_schedule(&record.name)?;
        Ok(now.may_begin() && (now.version, now.span) == (record.version, record.span))
    }

    fn push_seen(&self, record: &ScheduleRecord, seen: Seen) -> Result<(), Error> {
        if !self.stands_as(record)? {
            return Ok(());
        }
        let by = Sender::from(Channel::Scheduler);
        let mut w = self.schedule_writeup(Point::ScheduleSettle, by, &record.name)?;
        let until = slot_at(record, w.now);
        push_settled(&mut w, record, Vec::new(), (until, record.slots.passed_over), Some(seen));
        self.commit_once(w)
    }

    /// Commits what a look saw with what becomes of it.
    fn push_found(
        &self,
        record: &ScheduleRecord,
        (state, change, is_over): (&SeenState, Option<&SeenChange>, bool),
        settled: Vec<Settled>,
    ) -> Result<(), Error> {
        if !self.stands_as(record)? {
            return Ok(());
        }
        let by = Sender::from(Channel::Scheduler);
        let mut w = self.schedule_writeup(Point::ScheduleSettle, by, &record.name)?;
        let slot = settled.first().map(|one| match one {
            Settled::Fires(slot) => slot.at,
            Settled::PassedOver { until, .. } => *until,
        });
        let until = slot.unwrap_or_else(|| slot_at(record, w.now));
        let seen = Seen { is_over, ..keep_seen(&mut w, record, state, change)? };
        push_settled(&mut w, record, settled, (until, record.slots.passed_over), Some(seen));
        self.commit_once(w)?;
        let mut looks = lock(&self.looks);
        looks.passing.remove(&record.name);
        looks.compared.insert(record.name.clone());
        Ok(())
    }

    /// What a schedule that is kept now finds, from which on changes count. One that cannot see it finds it later.
    pub(super) fn push_beginning(
        &self,
        w: &mut Writeup<'_>,
        record: &ScheduleRecord,
        schedule: &Schedule,
    ) -> Result<(), Error> {
        let Some(on) = &schedule.on else { return Ok(()) };
        // Calls are on record when they come, and a server is started, and a relay asked, by a look alone, and in no commit.
        if matches!(on, Trigger::Hook { .. }) || finds_anew(on) {
            return Ok(());
        }
        let seen = match self.seen_now(on, schedule, None)? {
            Ok(Now { state, .. }) => keep_seen(w, record, &state, None)?,
            Err(unseen) => Seen { unseen: Some(unseen), ..Seen::default() },
        };
        let until = slot_at(record, record.settled());
        push_settled(w, record, Vec::new(), (until, record.slots.passed_over), Some(seen));
        Ok(())
    }

    /// What changed while a schedule was paused is one slot, which is passed over.
    pub(super) fn push_changed_meanwhile(
        &self,
        w: &mut Writeup<'_>,
        record: &ScheduleRecord,
    ) -> Result<(), Error> {
        if !record.waits_for_event() {
            return Ok(());
        }
        let schedule = self.schedule_of(record)?;
        let so_far = record.slots.passed_over.saturating_add(record.slots.unmade.len() as u64);
        // The next look finds what counts from then on.
        if schedule.on.as_ref().is_some_and(finds_anew) {
            let at = slot_at(record, w.now);
            push_settled(w, record, Vec::new(), (at, so_far), Some(Seen::default()));
            return Ok(());
        }
        let (Some(on), Some(before)) = (&schedule.on, self.seen_before(record)?) else { return Ok(()) };
        let Ok(seen) = self.seen_now(on, &schedule, Some(&before))? else { return Ok(()) };
        if seen.state == before {
            return Ok(());
        }
        let change = self.change_of(on, (record, &schedule), &before, &seen)?;
        let at = slot_at(record, w.now);
        let passed = Settled::PassedOver { first: at, until: at, slots: Some(1), why: PassedOver::Paused };
        let settled = change.iter().map(|_| passed.clone()).collect();
        let kept = keep_seen(w, record, &seen.state, change.as_ref())?;
        push_settled(w, record, settled, (at, so_far), Some(kept));
        Ok(())
    }
}

/// Whether what counts is what a look finds first, and not what there was when a person said so.
const fn finds_anew(on: &Trigger) -> bool {
    matches!(on, Trigger::Resource { .. } | Trigger::Events { .. } | Trigger::Machine { .. })
}

/// Whether a look lies further ahead than one is put: its clock was set back since.
pub(super) fn is_ahead(at: UnixMs, now: UnixMs) -> bool {
    at > now.plus_ms(LOOK_MS).plus_ms(RETRY_MS)
}

/// Whether what is seen is all that can come: the task that was waited for has ended.
fn ends(on: &Trigger, state: &SeenState) -> bool {
    match (on, state) {
        (Trigger::After { of, .. }, SeenState::Runs { open, ended }) => {
            of.parse::<TaskId>().is_ok() && open.is_empty() && !ended.is_empty()
        }
        _ => false,
    }
}

/// The instant of a look as a slot: behind all that is settled.
pub(super) fn slot_at(record: &ScheduleRecord, now: UnixMs) -> UnixMs {
    now.max(record.settled().plus_ms(1))
}

/// Keeps what a look saw, and what changed, in the stream of the schedule's slots.
fn keep_seen(
    w: &mut Writeup<'_>,
    record: &ScheduleRecord,
    state: &SeenState,
    change: Option<&SeenChange>,
) -> Result<Seen, Error> {
    let scope = Scope { task_id: record.slots_task_id, step_id: None, attempt_id: None, workspace_id: None };
    let before = std::mem::replace(&mut w.scope, scope);
    let kept = w.object(state, NewArtifact::audit(ArtifactKind::WorkspaceSnapshot));
    w.scope = before;
    let change = change.map(|change| keep_change(w, record, change)).transpose()?;
    Ok(Seen { state: Some(kept?), change, ..Seen::default() })
}

/// Keeps what changed, likewise. A task gets it as a file that comes with its goal: what somebody else named, or said in a call, is
/// no word of the person, and is not trusted.
pub(super) fn keep_change(
    w: &mut Writeup<'_>,
    record: &ScheduleRecord,
    change: &SeenChange,
) -> Result<ArtifactRef, Error> {
    let trust = match change {
        SeenChange::Files { .. }
        | SeenChange::Called { .. }
        | SeenChange::Resource { .. }
        | SeenChange::Events { .. } => TrustTier::Untrusted,
        SeenChange::Ref { .. } | SeenChange::Ended { .. } | SeenChange::Machine { .. } => TrustTier::Observed,
    };
    let new = NewArtifact {
        uri: Some(format!("schedule:{}", record.name)),
        alias: Some("what-changed.json".to_owned()),
        ..NewArtifact::audit(ArtifactKind::BinaryAttachment).class(ArtifactClass::Source).trust(trust)
    };
    let scope = Scope { task_id: record.slots_task_id, step_id: None, attempt_id: None, workspace_id: None };
    let before = std::mem::replace(&mut w.scope, scope);
    let kept = w.object(change, new);
    w.scope = before;
    kept
}
