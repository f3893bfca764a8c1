//! What there is of what a schedule waits for, whether files have settled, and what changed since the look before.

use super::afar_looks::ToldAfar;
use super::firing::passes;
use super::resource_looks::Told;
use super::triggers::LOOK_MS;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::query::view;
use crate::schedule_registry::ScheduleRecord;
use model::receipt::ItemOutcome;
use model::schedule::{ChangedFile, EndedRun, Schedule, SeenChange, SeenState, Trigger, Unseen};
use model::witness::Found;
use model::{RelPath, ResourceId, TaskId, UnixMs, WorkspaceId};
use schedule::Files;
use std::collections::{BTreeMap, BTreeSet};

/// How many quiet times files are waited for that still change, before what has settled beside them counts.
const PATIENCE: i64 = 10;
/// And at least so long, in milliseconds.
const PATIENCE_MS_MIN: i64 = 60_000;

/// Files as a look saw them that may still be written.
#[derive(Debug, Clone)]
pub(crate) struct Unsettled {
    version: u32,
    /// When something was seen to change first.
    since: UnixMs,
    /// When these were seen first.
    at: UnixMs,
    files: Files,
}

/// What a look sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Now {
    pub(super) state: SeenState,
    /// Runs that ended since the look before.
    pub(super) ended: Vec<EndedRun>,
    /// Whether all of it has settled.
    pub(super) is_whole: bool,
    /// Of a resource: what it reads.
    pub(super) told: Option<Told>,
    /// Of relays and machines: what is new.
    pub(super) afar: Option<ToldAfar>,
}

impl Now {
    /// All of it, where nothing more is told of it.
    pub(super) const fn whole(state: SeenState) -> Self {
        Self { state, ended: Vec::new(), is_whole: true, told: None, afar: None }
    }
}

impl Kernel {
    /// What the last look saw; none where there was none of this version that saw anything, or what it saw is erased.
    pub(super) fn seen_before(&self, record: &ScheduleRecord) -> Result<Option<SeenState>, Error> {
        let Some(at) = record.slots.seen_in(record.version) else { return Ok(None) };
        if let Some((_, since)) = lock(&self.looks).passing.get(&record.name).filter(|(of, _)| of == at) {
            return Ok(Some(since.clone()));
        }
        match self.object_at(at) {
            Ok(state) => Ok(Some(state)),
            Err(error) if passes(&error) => Err(error),
            Err(error) => {
                tracing::warn!(schedule = record.name, %error, "what a schedule saw is gone; changes count from now on");
                Ok(None)
            }
        }
    }

    /// The same files, written again, are on record once an hour where that is nothing to a schedule: a file that is always
    /// written would fill the store.
    pub(super) fn passes_by(
        &self,
        record: &ScheduleRecord,
        of: (&SeenState, &SeenState),
        now: UnixMs,
    ) -> bool {
        let (SeenState::Files { files: before, .. }, SeenState::Files { files, .. }) = of else {
            return false;
        };
        let is_late = now.0.saturating_sub(record.settled().0) >= LOOK_MS;
        let Some(at) = record.slots.seen_in(record.version).filter(|_| !is_late) else { return false };
        let is_same = before.keys().eq(files.keys()) && record.slots.unseen.is_none();
        if is_same {
            let mut looks = lock(&self.looks);
            looks.compared.insert(record.name.clone());
            looks.passing.insert(record.name.clone(), (at.clone(), of.1.clone()));
        }
        is_same
    }

    /// What there is now of what a schedule waits for, or why that cannot be seen.
    pub(super) fn seen_now(
        &self,
        on: &Trigger,
        schedule: &Schedule,
        before: Option<&SeenState>,
    ) -> Result<Result<Now, Unseen>, Error> {
        match on {
            Trigger::After { of, .. } => return self.runs_seen(of, before),
            Trigger::Events { filter, .. } => return self.events_seen(filter, before),
            Trigger::Machine { name, event, minutes } => {
                return Ok(self.machine_seen(name, (*event, *minutes), before));
            }
            Trigger::Files { .. } | Trigger::Ref { .. } | Trigger::Hook { .. } | Trigger::Resource { .. } => {
            }
        }
        let root = self.root_of(schedule.workspace_id);
        let executors = root.and_then(|root| self.executors_at(&root, schedule.workspace_id));
        let Ok(executors) = executors else { return Ok(Err(Unseen::FolderMissing)) };
        let state = match on {
            Trigger::Ref { name } => executors.ref_seen(name).map(|at| SeenState::Ref { at }),
            Trigger::Files { globs, .. } => {
                let device = executors.device_seen();
                executors.files_seen(globs).and_then(|files| {
                    match is_away(before, &files, device.as_deref()) {
                        true => Err(Unseen::FolderMissing),
                        false => Ok(SeenState::Files { files, device }),
                    }
                })
            }
            Trigger::Resource { server, uri, .. } => return self.resource_seen(&*executors, (server, uri)),
            Trigger::After { .. }
            | Trigger::Hook { .. }
            | Trigger::Events { .. }
            | Trigger::Machine { .. } => {
                return Ok(Err(Unseen::Unreadable));
            }
        };
        let redactor = self.ports.redactor.now();
        Ok(match state {
            Err(unseen) => Err(unseen),
            // Kept without the value of a secret it would be another than what is there, at each look.
            Ok(state) if redactor.is_empty() => Ok(Now::whole(state)),
            Ok(state) => {
                let bytes = seal::canon::to_canonical(&state)?;
                match redactor.bytes(&bytes).found.is_empty() {
                    true => Ok(Now::whole(state)),
                    false => {
                        tracing::warn!(
                            "a file that a schedule waits for has the value of a secret in its name"
                        );
                        Err(Unseen::Unreadable)
                    }
                }
            }
        })
    }

    /// The runs of another schedule, or a task: which have ended since. One that was open is waited for however many came behind
    /// it.
    fn runs_seen(&self, of: &str, before: Option<&SeenState>) -> Result<Result<Now, Unseen>, Error> {
        let runs: Vec<TaskId> = match of.parse::<TaskId>() {
            Ok(task) => vec![task],
            Err(_) => match self.schedule_registry().standing(of) {
                Some(other) => other.slots.runs.iter().map(|run| run.task_id).collect(),
                None => return Ok(Err(Unseen::ScheduleMissing)),
            },
        };
        let (was_open, was_ended): (&[TaskId], &[TaskId]) = match before {
            Some(SeenState::Runs { open, ended }) => (open.as_slice(), ended.as_slice()),
            _ => Default::default(),
        };
        let all: BTreeSet<TaskId> = was_open.iter().chain(&runs).copied().collect();
        let query = self.query()?;
        let (mut open, mut ended, mut new) = (Vec::new(), Vec::new(), Vec::new());
        for task_id in all {
            let Some(row) = query.task(task_id).map_err(view)? else { continue };
            if !row.status.is_terminal() {
                open.push(task_id);
                continue;
            }
            if !was_ended.contains(&task_id) {
                new.push(EndedRun { task_id, status: row.status });
            }
            if runs.contains(&task_id) {
                ended.push(task_id);
            }
        }
        Ok(Ok(Now { ended: new, ..Now::whole(SeenState::Runs { open, ended }) }))
    }

    /// What of the files that a look sees has settled: two looks saw them so, and the quiet time lies between. Where some of them
    /// never come to rest, the others count by and by, and these stay as they were.
    ///
    /// `Err`: when to look again.
    pub(super) fn settled_files(
        &self,
        record: &ScheduleRecord,
        quiet_ms: u64,
        before: &Files,
        seen: Now,
    ) -> Result<Now, UnixMs> {
        let SeenState::Files { files, device } = &seen.state else { return Ok(seen) };
        let quiet = i64::try_from(quiet_ms).unwrap_or(i64::MAX);
        let now = self.ports.clock.now();
        let version = record.version;
        let mut looks = lock(&self.looks);
        let first = looks.unsettled.remove(&record.name);
        // One of a clock that was set back since, or of another version, is none.
        let first = first.filter(|first| first.version == version && first.at <= now);
        let since = first.as_ref().map_or(now, |first| first.since);
        let again = |at| Unsettled { version, since, at, files: files.clone() };
        let Some(first) = first else {
            looks.unsettled.insert(record.name.clone(), again(now));
            return Err(now.plus_ms(quiet));
        };
        let is_over = now.0.saturating_sub(first.at.0) >= quiet;
        if first.files == *files {
            if is_over {
                return Ok(seen);
            }
            let at = first.at;
            looks.unsettled.insert(record.name.clone(), first);
            return Err(at.plus_ms(quiet));
        }
        let patience = quiet.saturating_mul(PATIENCE).max(PATIENCE_MS_MIN);
        let steady = schedule::steady(before, &first.files, files);
        looks.unsettled.insert(record.name.clone(), again(now));
        if is_over && now.0.saturating_sub(since.0) >= patience && steady != *before {
            let state = SeenState::Files { files: steady, device: device.clone() };
            return Ok(Now { state, is_whole: false, ..seen });
        }
        Err(now.plus_ms(quiet))
    }

    /// What changed of what a schedule waits for; none where that is nothing to it.
    pub(super) fn change_of(
        &self,
        on: &Trigger,
        (record, schedule): (&ScheduleRecord, &Schedule),
        before: &SeenState,
        seen: &Now,
    ) -> Result<Option<SeenChange>, Error> {
        Ok(match (on, before, &seen.state) {
            (Trigger::Ref { name }, SeenState::Ref { at: from }, SeenState::Ref { at: to }) if from != to => {
                let place = ResourceId::Ref(schedule.workspace_id, name.clone());
                let own = self.left_by_its_runs(record, |of| *of == place).remove(&place);
                let is_own = match (own, to) {
                    (Some(Found::Version { value }), Some(to)) => value == *to,
                    (Some(Found::Absent), None) => true,
                    _ => false,
                };
                let change = || SeenChange::Ref { name: name.clone(), from: from.clone(), to: to.clone() };
                (!is_own).then(change)
            }
            (Trigger::Resource { server, uri, .. }, _, SeenState::Resource { sha256 })
                if *before != seen.state =>
            {
                Some(seen.told.clone().unwrap_or_default().change(server, uri, *sha256))
            }
            (Trigger::Events { .. } | Trigger::Machine { .. }, ..) => {
                seen.afar.clone().map(|told| told.change(on))
            }
            (Trigger::After { of, end }, ..) => {
                let runs = seen.ended.iter().filter(|run| schedule::ended_so(*end, run.status));
                let runs: Vec<EndedRun> = runs.cloned().collect();
                (!runs.is_empty()).then(|| SeenChange::Ended { of: of.clone(), runs })
            }
            (
                Trigger::Files { changes, .. },
                SeenState::Files { files: before, .. },
                SeenState::Files { files: now, .. },
            ) => {
                let all = schedule::files_changed(before, now, *changes, |_| false);
                let own = self.own_files(record, schedule.workspace_id, &all)?;
                schedule::told(all.into_iter().filter(|one| !own.contains(&one.path)).collect())
            }
            _ => None,
        })
    }

    /// Of these files those that are as a run of the schedule itself left them: they are no reason for another one.
    fn own_files(
        &self,
        record: &ScheduleRecord,
        workspace: WorkspaceId,
        changed: &[ChangedFile],
    ) -> Result<BTreeSet<RelPath>, Error> {
        let paths: BTreeSet<&RelPath> = changed.iter().map(|one| &one.path).collect();
        let is_one = |of: &ResourceId| match of {
            ResourceId::File(known, path) => *known == workspace && paths.contains(path),
            _ => false,
        };
        let left = self.left_by_its_runs(record, is_one);
        if left.is_empty() {
            return Ok(BTreeSet::new());
        }
        let executors = self.executors_at(&self.root_of(workspace)?, workspace)?;
        let places: Vec<ResourceId> = left.keys().cloned().collect();
        let mut own = BTreeSet::new();
        for now in executors.observe(&places) {
            let is_so = match (left.get(&now.resource), &now.state) {
                (Some(Found::File { sha256, .. }), Found::File { sha256: found, .. }) => sha256 == found,
                (Some(Found::Absent), Found::Absent) => true,
                _ => false,
            };
            if let (true, ResourceId::File(_, path)) = (is_so, now.resource) {
                own.insert(path);
            }
        }
        Ok(own)
    }

    /// What the runs of a schedule, and the parts that they gave away, left at these places, by their receipts; the later of two
    /// counts.
    fn left_by_its_runs(
        &self,
        record: &ScheduleRecord,
        is_one: impl Fn(&ResourceId) -> bool,
    ) -> BTreeMap<ResourceId, Found> {
        let mut left: BTreeMap<ResourceId, ((usize, UnixMs), Found)> = BTreeMap::new();
        let runs = record.slots.runs.iter().enumerate();
        let mut waiting: Vec<(usize, TaskId)> = runs.map(|(nth, run)| (nth, run.task_id)).collect();
        while let Some((nth, task)) = waiting.pop() {
            // What cannot be read any more, or was erased, says nothing.
            let Ok(state) = self.load(task) else { continue };
            waiting.extend(state.children.iter().map(|part| (nth, *part)));
            for receipt in &state.receipts {
                let Ok((_, receipt)) = self.receipt(receipt.receipt_id) else { continue };
                let at = (nth, receipt.created_at);
                for change in receipt.changes.iter().filter(|one| one.outcome == ItemOutcome::Done) {
                    let place = change.resource.shown().and_then(|text| text.parse::<ResourceId>().ok());
                    let Some(place) = place.filter(|place| is_one(place)) else { continue };
                    if left.get(&place).is_none_or(|(before, _)| *before <= at) {
                        left.insert(place, (at, change.after.clone()));
                    }
                }
            }
        }
        left.into_iter().map(|(place, (_, found))| (place, found)).collect()
    }
}

/// Whether a folder is away and not empty: nothing is left of what was there, and it is on another file system. That is what the
/// place looks like where a disk was.
fn is_away(before: Option<&SeenState>, files: &Files, device: Option<&str>) -> bool {
    match before {
        Some(SeenState::Files { files: before, device: Some(was) }) => {
            files.is_empty() && !before.is_empty() && device.is_some_and(|now| now != was)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn where_a_disk_was_nothing_is_gone_and_in_a_folder_that_somebody_emptied_it_is() {
        let files = |names: &[&str]| -> Files {
            names.iter().map(|name| (name.parse().unwrap(), "1.1.1".to_owned())).collect()
        };
        let before = |names: &[&str], device: Option<&str>| SeenState::Files {
            files: files(names),
            device: device.map(str::to_owned),
        };
        let (scans, none) = (before(&["a.pdf"], Some("7")), files(&[]));
        assert!(is_away(Some(&scans), &none, Some("1")));
        assert!(!is_away(Some(&scans), &none, Some("7")), "emptied");
        assert!(!is_away(Some(&scans), &none, None), "nobody can tell");
        assert!(!is_away(Some(&scans), &files(&["b.pdf"]), Some("1")), "another disk, with files");
        assert!(!is_away(Some(&before(&[], Some("7"))), &none, Some("1")), "nothing was there");
        assert!(!is_away(Some(&before(&["a.pdf"], None)), &none, Some("1")), "seen by an older version");
        assert!(!is_away(None, &none, Some("1")));
    }
}
