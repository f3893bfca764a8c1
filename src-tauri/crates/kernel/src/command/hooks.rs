//! Calls of hooks that schedules wait for (schedule.md 1).
//!
//! Whoever may call is found out before: what comes here has the signature of the hook's secret. A call is on record before
//! anything comes of it, under a key of its own, so that it is taken once however often it comes. A look makes one slot of those
//! that wait, and commits that slot with the number of the newest: a host that dies in between neither loses a call nor makes two
//! tasks of it.

use super::firing::Run;
use super::gateways::{heard_as, push_principal};
use super::schedules::push_settled;
use super::triggers::{LOOK_MS, Looked, keep_change, slot_at};
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::schedule_registry::ScheduleRecord;
use crate::sender::Sender;
use crate::writeup::{NewArtifact, Scope, Writeup};
use model::artifact::{ArtifactClass, ArtifactKind, TrustTier};
use model::body::{ScheduleCalled, ScheduleCallsRefused};
use model::fault::Point;
use model::ingress::Channel;
use model::principal::PrincipalType;
use model::schedule::{
    CallRefused, DueSlot, HookCall, Overlap, PassedOver, Schedule, Seen, SeenChange, Settled, Trigger,
};
use model::{ArtifactId, Digest, PrincipalId, UnixMs};
use std::collections::{BTreeMap, VecDeque};

/// Calls of one hook that wait for a run.
const WAITING_MAX: usize = 50;
/// Calls of one hook that are taken within a minute.
const PER_MINUTE_MAX: usize = 60;
/// A minute.
const MINUTE_MS: u64 = 60_000;
/// How long refusals are counted before they are on record again, in milliseconds.
const REFUSALS_MS: i64 = 3_600_000;
/// Calls whose bodies a task is given, the newest.
const TOLD_MAX: usize = 8;

/// What this process knows of calls.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    /// When those of the last minute came, by schedule.
    came: BTreeMap<String, VecDeque<UnixMs>>,
    /// How many refusals of each are not on record, and when some were put there last.
    refused: BTreeMap<String, (u64, Option<UnixMs>)>,
}

/// A call that is signed with the secret of its hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The hook's name.
    pub hook: String,
    /// What its sender calls it.
    pub id: String,
    /// What its sender says happened, where that stands beside the body.
    pub event: Option<String>,
    /// SHA-256 of what makes it this call and no other, of what is signed.
    pub delivery: Digest,
    /// Its body.
    pub content: Vec<u8>,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called {
    /// It is on record, and something comes of it.
    Taken,
    /// It came before, and nothing comes of it again.
    Before,
    /// Too many came within a minute, or wait.
    TooMany,
}

impl Kernel {
    /// The schedule that waits for a hook, unless it is removed.
    pub fn waits_for_hook(&self, hook: &str) -> Option<ScheduleRecord> {
        let registry = self.schedule_registry();
        let mut waiting = registry.all_standing().filter(|one| one.waits_for_event());
        let is_it = |record: &&ScheduleRecord| match self.trigger_of(record) {
            Ok(Some(Trigger::Hook { name })) => name == hook,
            _ => false,
        };
        waiting.find(is_it).cloned()
    }

    /// Takes a call of a hook, once.
    ///
    /// # Errors
    /// [`Error::NotFound`] where nobody waits for it, [`Error::Halted`] while nothing may begin.
    pub fn call_hook(&self, call: &Call) -> Result<Called, Error> {
        if self.halted().is_some() {
            return Err(Error::Halted);
        }
        let mut hooks = lock(&self.hooks);
        let none = || Error::NotFound { kind: "hook", id: call.hook.clone() };
        let record = self.waits_for_hook(&call.hook).ok_or_else(none)?;
        let key = format!("hook:{}:{}", call.hook, call.delivery);
        if self.reader.by_idempotency_key(&key)?.is_some() {
            return Ok(Called::Before);
        }
        let now = self.ports.clock.now();
        let came = hooks.came.entry(record.name.clone()).or_default();
        came.retain(|at| at.0.abs_diff(now.0) < MINUTE_MS);
        if came.len() >= PER_MINUTE_MAX || record.slots.calls.len() >= WAITING_MAX {
            return Ok(Called::TooMany);
        }
        let by = Sender::from(Channel::Webhook);
        let mut w = self.schedule_writeup(Point::IngressReceive, by, &record.name)?;
        self.act_as_hook(&mut w, &call.hook);
        let calls = record.slots.called.saturating_add(1);
        w.scope =
            Scope { task_id: record.slots_task_id, step_id: None, attempt_id: None, workspace_id: None };
        let content = w.artifact(&call.content, received(call, calls))?;
        let called = ScheduleCalled {
            name: record.name.clone(),
            version: record.version,
            hook: call.hook.clone(),
            delivery: call.delivery,
            content,
            calls,
            called_at: now,
        };
        w.push_keyed(Some(key), called);
        match self.commit(w) {
            Ok(_) => {}
            Err(Error::Ledger(ledger::Error::Duplicate { .. })) => return Ok(Called::Before),
            Err(error) => return Err(error),
        }
        came.push_back(now);
        drop(hooks);
        self.want_look(&record.name, now);
        Ok(Called::Taken)
    }

    /// Goes on in a writeup of the store's own stream as whoever calls a hook: the signature shows that they have its secret, and
    /// nothing else. They are registered with the first call.
    fn act_as_hook(&self, w: &mut Writeup<'_>, hook: &str) {
        let label = format!("hook:{hook}");
        let known = lock(&self.store).labelled(PrincipalType::Webhook, Some(&label));
        let actor_id = known.unwrap_or_else(|| {
            let fresh = PrincipalId::fresh(&*self.ports.clock, &*self.ports.entropy);
            push_principal(w, fresh, format!("hook {hook}"), label);
            fresh
        });
        w.actor = heard_as(actor_id);
    }

    /// A call of a hook was refused: that is on record where a schedule waits for the hook, once an hour at most, with how many there
    /// were.
    ///
    /// # Errors
    /// When the disk takes nothing.
    pub fn refused_call(&self, hook: &str, why: CallRefused) -> Result<(), Error> {
        let mut hooks = lock(&self.hooks);
        let Some(record) = self.waits_for_hook(hook) else { return Ok(()) };
        let now = self.ports.clock.now();
        let (calls, last) = hooks.refused.entry(record.name.clone()).or_default();
        *calls = calls.saturating_add(1);
        // A clock that was set back since holds nothing.
        if last.is_some_and(|at| (0..REFUSALS_MS).contains(&now.0.saturating_sub(at.0))) {
            return Ok(());
        }
        let by = Sender::from(Channel::Webhook);
        let mut w = self.schedule_writeup(Point::IngressReceive, by, &record.name)?;
        w.scope =
            Scope { task_id: record.slots_task_id, step_id: None, attempt_id: None, workspace_id: None };
        let refused = record.slots.refused.saturating_add(*calls);
        w.push(ScheduleCallsRefused {
            name: record.name.clone(),
            version: record.version,
            hook: hook.to_owned(),
            why,
            calls: *calls,
            refused,
        });
        self.commit(w)?;
        (*calls, *last) = (0, Some(now));
        Ok(())
    }

    /// Whether calls wait for a folder that is away: they are on record, and none is lost by that.
    pub(super) fn lacks_its_folder(&self, record: &ScheduleRecord, schedule: &Schedule) -> bool {
        let root = self.root_of(schedule.workspace_id);
        let is_there = root.and_then(|root| self.executors_at(&root, schedule.workspace_id)).is_ok();
        !is_there && !record.slots.calls.is_empty()
    }

    /// One look at the calls of a hook: those that wait are one slot.
    pub(super) fn look_at_calls(
        &self,
        record: &ScheduleRecord,
        hook: &str,
        (runs, overlap): (&[Run], Option<Overlap>),
        now: UnixMs,
    ) -> Result<Looked, Error> {
        let Some(newest) = record.slots.calls.back().map(|call| call.number) else {
            return Ok((now.plus_ms(LOOK_MS), Vec::new()));
        };
        let at = slot_at(record, now);
        let is_skipped = overlap == Some(Overlap::Skip) && runs.contains(&Run::AtWork);
        let settled = match is_skipped {
            true => {
                Settled::PassedOver { first: at, until: at, slots: Some(1), why: PassedOver::StillRunning }
            }
            false => Settled::Fires(DueSlot { at, shift: None }),
        };
        let mut ended = Vec::new();
        if !is_skipped && overlap == Some(Overlap::EndOlder) {
            ended = self.end_older(record, runs)?;
        }
        if self.stands_as(record)? {
            let by = Sender::from(Channel::Scheduler);
            let mut w = self.schedule_writeup(Point::ScheduleSettle, by, &record.name)?;
            let more = record.slots.calls.len().saturating_sub(TOLD_MAX);
            let calls: Vec<HookCall> = record.slots.calls.iter().skip(more).cloned().collect();
            let change = SeenChange::Called { hook: hook.to_owned(), calls, more: more as u64 };
            let change = Some(keep_change(&mut w, record, &change)?);
            let seen = Seen { change, calls: Some(newest), ..Seen::default() };
            push_settled(&mut w, record, vec![settled], (at, record.slots.passed_over), Some(seen));
            self.commit_once(w)?;
        }
        Ok((now.plus_ms(LOOK_MS), ended))
    }

    /// What the task of a slot is told of what brought it about: a file that says it, and the bodies of calls.
    pub(super) fn told_of(&self, record: &ScheduleRecord, at: UnixMs) -> Result<Vec<ArtifactId>, Error> {
        let Some(change) = record.slots.change_at(at) else { return Ok(Vec::new()) };
        let mut files = vec![change.artifact_id];
        if matches!(self.trigger_of(record)?, Some(Trigger::Hook { .. }))
            && let SeenChange::Called { calls, .. } = self.object_at(change)?
        {
            let empty = Digest::of(b"");
            let bodies = calls.iter().filter(|call| call.content.sha256 != empty);
            files.extend(bodies.map(|call| call.content.artifact_id));
        }
        Ok(files)
    }
}

/// The body of a call as content: whoever wrote it, nobody here confirms it. What it is shows in the bytes, and not in what came
/// with them.
fn received(call: &Call, number: u64) -> NewArtifact {
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&call.content).is_ok();
    let (ending, media) = match std::str::from_utf8(&call.content) {
        Ok(_) if is_json => ("json", "application/json"),
        Ok(text) if !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) => {
            ("txt", "text/plain; charset=utf-8")
        }
        _ => ("bin", "application/octet-stream"),
    };
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    let event = call.event.as_deref().filter(|event| event.len() <= 40 && event.chars().all(letter));
    let event = event.filter(|event| !event.is_empty()).map_or(String::new(), |event| format!("-{event}"));
    NewArtifact {
        uri: Some(format!("hook:{}:{}", call.hook, call.id)),
        alias: Some(format!("call-{number}{event}.{ending}")),
        ..NewArtifact::audit(ArtifactKind::BinaryAttachment)
            .class(ArtifactClass::Source)
            .media(media)
            .trust(TrustTier::Untrusted)
    }
}
