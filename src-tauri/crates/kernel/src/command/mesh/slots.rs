//! Schedules that the mesh holds (HV-3.5-3): a time of one begins where the mesh says so, and nowhere by that machine's clock alone.
//!
//! This machine reckons what is due as it does for every schedule. Where it holds the schedule it says so, and the node tells all
//! machines that the slot begins here, in the commit that also brings the start back as a delivery; that settles the slot and makes
//! its task. What began elsewhere is settled here as passed over, and all before it with it: who held the schedule settled that. So a
//! host that dies anywhere has lost no slot, and none has two tasks on one machine.

use super::{MeshDone, not_joined};
use crate::Error;
use crate::command::schedules::{all_for, push_settled};
use crate::kernel::{Kernel, lock};
use crate::mesh_registry::MeshRegistry;
use crate::mesh_schedules::{SlotsSeen, compared, newest_begun, slot_key, slot_of};
use crate::schedule_registry::ScheduleRecord;
use crate::sender::Sender;
use mesh::state::{Began, State};
use mesh::{Command, Delivered, NodeId, RANKS_MAX, Schedule};
use model::body::SchedulePaused;
use model::fault::Point;
use model::ingress::Channel;
use model::schedule::{CatchUp, DueSlot, Overlap, PassedOver, Settled, When};
use model::{Sensitive, TaskId, UnixMs, WorkspaceId};
use std::collections::BTreeSet;
use std::path::Path;

/// For how long a holder may be silent at least, and at most, in milliseconds.
const TERM_MS: std::ops::RangeInclusive<i64> = 120_000..=7 * 86_400_000;
/// For how long it counts what was seen of a folder, in milliseconds.
const FOLDER_SEEN_MS: i64 = 60_000;

impl Kernel {
    /// Has the mesh hold a schedule of this machine: these may run it, the first one first, and the next takes it over when its holder
    /// was silent for the term. Without machines it is taken out, and runs here alone. What the node is to be told is answered.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the schedule; [`Error::Input`] for machines that are not paired, and for a schedule that waits for
    /// something other than a time; [`Error::Conflict`] where this machine is no node, or the mesh does not hold what is taken out.
    pub fn hold_schedule(&self, name: &str, nodes: &[NodeId], term_ms: i64) -> Result<Vec<Command>, Error> {
        let registry = self.mesh_registry();
        let (Some(me), Some(state)) = (registry.node(), registry.state()) else { return Err(not_joined()) };
        let schedules = self.schedule_registry();
        let record = schedules.standing(name);
        let record = record.ok_or_else(|| Error::NotFound { kind: "schedule", id: name.to_owned() })?;
        let known = state.schedule(name);
        let ranks = if nodes.is_empty() { vec![me] } else { nodes.to_vec() };
        if nodes.is_empty() && !known.is_some_and(|known| known.ranks.contains(&me)) {
            return Err(Error::Conflict(format!("the mesh does not hold the schedule `{name}`")));
        }
        if record.waits_for_event() {
            return Err(Error::Input(format!(
                "`{name}` waits for files, a hook or the end of something on this machine, which no other sees; the mesh holds \
                 schedules of a time"
            )));
        }
        if !ranks.contains(&me) {
            return Err(Error::Input("this machine has to be among those that hold it".to_owned()));
        }
        if ranks.len() > RANKS_MAX || ranks.iter().collect::<BTreeSet<_>>().len() != ranks.len() {
            return Err(Error::Input(format!(
                "at most {RANKS_MAX} machines hold a schedule, each named once"
            )));
        }
        if let Some(stranger) = ranks.iter().find(|node| **node != me && !state.is_peer(**node)) {
            return Err(Error::Input(format!("the machine {stranger} is not paired with this one")));
        }
        if !TERM_MS.contains(&term_ms) {
            return Err(Error::Input("a holder may be silent for 2 minutes to 7 days".to_owned()));
        }
        let sha256 = compared(&self.schedule_of(record)?)?;
        let version = known.map_or(1, |known| known.version.saturating_add(1));
        let schedule = Schedule { schedule: name.to_owned(), version, sha256, ranks, term_ms };
        self.look_at_folders_again();
        let is_ready = self.can_run(record, &schedule)?;
        let ready = Command::Ready { schedule: name.to_owned(), sha256, is_ready };
        Ok(vec![Command::Schedule(schedule), ready])
    }

    /// When a slot comes due first of a schedule that this machine holds for the mesh. One that is due and did not begin yet lies in
    /// the past: what is due is said each minute.
    pub fn next_mesh_slot(&self) -> Option<UnixMs> {
        let registry = self.mesh_registry();
        let (me, state) = (registry.node()?, registry.state()?);
        let schedules = self.schedule_registry();
        let is_here = |name: &str| state.lease(name).is_some_and(|lease| lease.holder == me);
        let held = state.schedules().filter(|one| state.is_held(&one.schedule) && is_here(&one.schedule));
        let records = held.filter_map(|one| schedules.standing(&one.schedule));
        let next = records.filter(|one| one.may_begin() && one.slots.unmade.is_empty()).filter_map(|one| {
            let at = one.next().ok().flatten()?;
            Some(at.plus_ms(one.delay_ms()))
        });
        next.min()
    }

    /// Whether the slots of a schedule begin on the mesh's word alone.
    pub(in crate::command) fn is_held_by_mesh(&self, name: &str) -> bool {
        self.mesh_registry().holds(name)
    }

    /// Pauses a schedule that the mesh held here and that others may run by now, before it begins by this machine's clock alone; once
    /// for each time that this happened, so that whoever resumes it has it here. Whether it did.
    pub(in crate::command) fn mesh_pauses(&self, record: &ScheduleRecord) -> Result<bool, Error> {
        let Some((which, reason)) = self.mesh_registry().why_paused(&record.name) else { return Ok(false) };
        let key = format!("meshed:{}:{which}", record.name);
        if self.reader.by_idempotency_key(&key)?.is_some() {
            return Ok(false);
        }
        let by = Sender::from(Channel::Scheduler);
        let mut w = self.schedule_writeup(Point::ScheduleSettle, by, &record.name)?;
        self.push_passed_over(&mut w, record, PassedOver::Elsewhere);
        self.act_as_supervisor(&mut w);
        let (name, reason) = (record.name.clone(), Sensitive::from(reason));
        w.push_keyed(Some(key), SchedulePaused { name, by_itself: true, reason });
        self.commit_once(w).map(|()| true)
    }

    /// A slot begins here. That this machine holds a schedule from now on, and that a run of it is not counted, needs nothing done: the
    /// registry shows both, and what is due is news as soon as this is settled.
    pub(super) fn deliver_slot(&self, delivered: &Delivered) -> Result<MeshDone, Error> {
        match delivered {
            Delivered::Start { schedule, slot, .. } => self.begin_slot(schedule, slot),
            _ => Ok(MeshDone::default()),
        }
    }

    /// What the mesh is to know of schedules that name this machine: whether it can run them, and what is due where it holds them.
    pub(super) fn news_of_slots(&self, registry: &MeshRegistry) -> Result<Vec<Command>, Error> {
        let (Some(me), Some(state)) = (registry.node(), registry.state()) else { return Ok(Vec::new()) };
        // What began here and is not done yet is neither due nor over.
        let is_idle = !registry.has_unsettled_start();
        let mut say = Vec::new();
        for held in state.schedules().filter(|held| held.ranks.contains(&me)) {
            match self.news_of_schedule((state, me), held, is_idle) {
                Ok(more) => say.extend(more),
                Err(error) => {
                    let schedule = &held.schedule;
                    tracing::warn!(schedule, %error, "what came due of a schedule of the mesh waits");
                }
            }
        }
        Ok(say)
    }

    fn news_of_schedule(
        &self,
        (state, me): (&State, NodeId),
        held: &Schedule,
        is_idle: bool,
    ) -> Result<Vec<Command>, Error> {
        let name = held.schedule.as_str();
        let record = self.schedule_registry().standing(name).cloned();
        let is_ready = record.as_ref().map_or(Ok(false), |record| self.can_run(record, held))?;
        let mut say = Vec::new();
        if state.readiness(name, me) != Some(is_ready) {
            say.push(Command::Ready { schedule: name.to_owned(), sha256: held.sha256, is_ready });
        }
        // A slot that fires and has no task yet comes before anything newer.
        let is_free = |one: &ScheduleRecord| one.may_begin() && one.slots.unmade.is_empty();
        let Some(record) = record.filter(|one| is_idle && state.is_held(name) && is_free(one)) else {
            return Ok(say);
        };
        let now = self.ports.clock.now();
        let span = (record.settled(), now.plus_ms(-record.delay_ms()));
        if let Some(begun) = newest_begun(state, (name, &record.when.rule), span) {
            self.settle_begun(&record, begun, me)?;
        }
        let record = self.known_schedule(name)?;
        if record.is_due(now) {
            let is_here = is_ready && state.lease(name).is_some_and(|lease| lease.holder == me);
            say.extend(self.due_in_mesh(&record, now, is_here)?);
        }
        Ok(say)
    }

    /// Whether this machine can run a schedule as the mesh knows it: its person approved the same one, it is not paused, Hermit is not
    /// halted, and its folder is there.
    fn can_run(&self, record: &ScheduleRecord, held: &Schedule) -> Result<bool, Error> {
        if self.halted().is_some() || !record.may_begin() || record.waits_for_event() {
            return Ok(false);
        }
        // What was erased is the same as nothing.
        let Ok(kept) = self.schedule_of(record) else { return Ok(false) };
        if compared(&kept)? != held.sha256 {
            return Ok(false);
        }
        let root = self.root_of(kept.workspace_id);
        Ok(root.is_ok_and(|root| self.can_work_in(&root, kept.workspace_id)))
    }

    /// Whether a folder can be worked in, as it was seen within the last minute: what there is to say is asked for after each
    /// commit.
    fn can_work_in(&self, root: &Path, workspace: WorkspaceId) -> bool {
        let now = self.ports.clock.now();
        // A clock that was set back makes nothing last.
        let is_fresh = |at: UnixMs| at <= now && now.0.saturating_sub(at.0) < FOLDER_SEEN_MS;
        let seen = lock(&self.folders_seen).get(root).copied();
        if let Some((_, can)) = seen.filter(|(at, _)| is_fresh(*at)) {
            return can;
        }
        let can = self.executors_at(root, workspace).is_ok();
        let mut folders = lock(&self.folders_seen);
        folders.retain(|_, (at, _)| is_fresh(*at));
        folders.insert(root.to_owned(), (now, can));
        can
    }

    /// Folders of schedules that the mesh holds are looked at again, however short ago that was: whoever asks for this each
    /// minute tells of a folder that went within one.
    pub fn look_at_folders_again(&self) {
        lock(&self.folders_seen).clear();
    }

    /// A slot began, and is settled here with all before it. One of this machine that it did not begin by its own record began before
    /// its store was put back to an earlier state.
    fn settle_begun(
        &self,
        record: &ScheduleRecord,
        (slot, began): (DueSlot, Began),
        me: NodeId,
    ) -> Result<(), Error> {
        let why = if began.by == me { PassedOver::FiredBefore } else { PassedOver::Elsewhere };
        let when = When { catch_up: CatchUp::Skip, ..record.when.clone() };
        let settled = schedule::settle(&when, record.settled(), slot.at);
        let (settled, until) = settled.map_err(|why| Error::Input(why.to_string()))?;
        self.settle_in_mesh(record, all_for(settled, why), until)
    }

    fn settle_in_mesh(
        &self,
        record: &ScheduleRecord,
        settled: Vec<Settled>,
        until: UnixMs,
    ) -> Result<(), Error> {
        let by = Sender::from(Channel::Scheduler);
        let mut w = self.schedule_writeup(Point::ScheduleSettle, by, &record.name)?;
        push_settled(&mut w, record, settled, (until, record.slots.passed_over), None);
        self.commit_once(w)
    }

    /// What is due by this machine's reckoning, where it holds the schedule; what does not fire is settled then. Where another holds
    /// it, one only remembers that it was seen in time: it is not missed if this machine takes the schedule over.
    fn due_in_mesh(
        &self,
        record: &ScheduleRecord,
        now: UnixMs,
        is_here: bool,
    ) -> Result<Vec<Command>, Error> {
        let due_until = now.plus_ms(-record.delay_ms());
        let when = self.when_in_mesh(record, due_until);
        if !is_here {
            let settled = schedule::settle(&when, record.settled(), due_until);
            if let Some(newest) = settled.ok().and_then(|(settled, _)| firing(&settled).pop()) {
                self.saw(record, SlotsSeen { newest, first: newest });
            }
            return Ok(Vec::new());
        }
        let runs = self.runs(record)?;
        let Some(reckoned) = self.reckon(record, (&when, now), &runs)? else { return Ok(Vec::new()) };
        let due = firing(&reckoned.settled);
        let (Some(first), Some(newest)) = (due.first().copied(), due.last().copied()) else {
            return self.settle_in_mesh(record, reckoned.settled, reckoned.until).map(|()| Vec::new());
        };
        self.saw(record, SlotsSeen { newest, first });
        let due = due
            .into_iter()
            .map(|at| Command::Due { schedule: record.name.clone(), slot: slot_key(&record.when.rule, at) });
        Ok(due.collect())
    }

    fn saw(&self, record: &ScheduleRecord, seen: SlotsSeen) {
        lock(&self.slots_seen).insert(record.name.clone(), seen);
    }

    /// By what slots are reckoned: one that was seen in time is not missed while it waits for its holder, unless a newer one came.
    fn when_in_mesh(&self, record: &ScheduleRecord, due_until: UnixMs) -> When {
        let seen = lock(&self.slots_seen).get(&record.name).map(|seen| seen.newest);
        let is_newest = |at: UnixMs| {
            let next = schedule::next(&record.when.rule, at);
            next.is_ok_and(|next| next.is_none_or(|next| next.at > due_until))
        };
        match record.when.catch_up {
            CatchUp::Skip if seen.is_some_and(|at| at > record.settled() && is_newest(at)) => {
                When { catch_up: CatchUp::Newest, ..record.when.clone() }
            }
            _ => record.when.clone(),
        }
    }

    /// Settles a slot that the mesh began here, unless that was done before, and makes its task as soon as one may begin.
    fn begin_slot(&self, name: &str, key: &str) -> Result<MeshDone, Error> {
        let record = self.schedule_registry().standing(name).cloned();
        // Paused or removed since, it was passed over with that reason.
        let Some(record) = record.filter(ScheduleRecord::may_begin) else { return Ok(MeshDone::default()) };
        let Some(slot) = slot_of(&record.when.rule, key) else { return Ok(MeshDone::default()) };
        let mut done = MeshDone::default();
        if slot.at > record.settled() {
            match self.settle_start(&record, slot) {
                Ok(ended) => done.drive = ended,
                // Its rule cannot be reckoned here, however often this is tried: whoever looks after schedules says so.
                Err(error @ Error::Input(_)) => {
                    tracing::warn!(schedule = name, %error, "a slot of the mesh cannot be settled");
                    return Ok(done);
                }
                Err(error) => return Err(error),
            }
        }
        if self.halted().is_none() {
            match self.fire(name, self.ports.clock.now()) {
                Ok(tasks) => done.drive.extend(tasks),
                // The slot is settled: whoever looks after schedules tries it again.
                Err(error) => tracing::warn!(schedule = name, %error, "the task of a slot is not made yet"),
            }
        }
        Ok(done)
    }

    /// The slot fires, and those before it do not. The older runs that are ended in its favour are answered.
    fn settle_start(&self, record: &ScheduleRecord, slot: DueSlot) -> Result<Vec<TaskId>, Error> {
        let why = match record.when.catch_up {
            CatchUp::Skip => PassedOver::Missed,
            CatchUp::Newest | CatchUp::Newer(_) => PassedOver::Newer,
        };
        let before = UnixMs(slot.at.0.saturating_sub(1));
        let passed = schedule::settle(&record.when, record.settled(), before);
        let (passed, _) = passed.map_err(|why| Error::Input(why.to_string()))?;
        let overlap = self.schedule_of(record).ok().and_then(|schedule| schedule.bounds.overlap);
        // Of several that are made up for, only the first ends what was at work before.
        let is_first = lock(&self.slots_seen).get(&record.name).is_none_or(|seen| seen.first == slot.at);
        let ended = match overlap {
            Some(Overlap::EndOlder) if is_first => self.end_older(record, &self.runs(record)?)?,
            _ => Vec::new(),
        };
        let (mut settled, until) = (all_for(passed, why), slot.at);
        settled.push(Settled::Fires(slot));
        self.settle_in_mesh(record, settled, until).map(|()| ended)
    }
}

/// The slots that fire, the oldest first.
fn firing(settled: &[Settled]) -> Vec<UnixMs> {
    let fires = settled.iter().filter_map(|one| match one {
        Settled::Fires(slot) => Some(slot.at),
        Settled::PassedOver { .. } => None,
    });
    fires.collect()
}
