//! Change sets: item by item, in order, to the first failure.

pub(crate) mod images;
mod link;
pub(crate) mod place;
pub(crate) mod precondition;
mod relocate;
mod remove;
pub(crate) mod scope;
pub(crate) mod settle;
mod unsynced;
mod write;

use crate::tools::Execution;
use crate::workspace::folder::Folder;
use crate::workspace::{names, windows_names};
use crate::{Error, Executors, Progress};
use acts::{ActionRequest, changed_paths};
use model::action::{ChangeItem, LeftAsIs, Prior};
use model::receipt::{Change, ItemOutcome, ResultCode};
use model::witness::Found;
use model::{ActionRequestId, RelPath, ResourceId, Sensitive};
use scope::Scope;
use std::collections::BTreeSet;
use unsynced::Unsynced;

/// What became of a change set.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) changes: Vec<Change>,
    pub(crate) observed: Vec<String>,
    pub(crate) error: Option<String>,
    done: usize,
    unknown: usize,
    not_done: usize,
}

impl Done {
    pub(crate) fn result_code(&self) -> ResultCode {
        match (self.done, self.unknown, self.not_done) {
            (_, 1.., _) => ResultCode::UnknownOutcome,
            (_, 0, 0) => ResultCode::Succeeded,
            (0, 0, _) => ResultCode::Failed,
            _ => ResultCode::Partial,
        }
    }

    /// Names what an undo has left as it is.
    pub(crate) fn leave(&mut self, executors: &Executors, left: &[LeftAsIs]) {
        for stays in left {
            self.observed.push(format!("{}`{}`: {}", acts::items::LEFT_AS_IT_IS, stays.resource, stays.why));
            let ResourceId::File(_, path) = &stays.resource else { continue };
            let found = executors.workspace.look(path);
            self.changes.push(Change {
                resource: Sensitive::from(stays.resource.to_string()),
                before: found.clone(),
                after: found,
                before_image: None,
                outcome: ItemOutcome::NotDone,
            });
        }
    }

    fn count(&mut self, outcome: ItemOutcome) {
        match outcome {
            ItemOutcome::Done => self.done += 1,
            ItemOutcome::NotDone => self.not_done += 1,
            ItemOutcome::Unknown => self.unknown += 1,
        }
    }
}

/// One item at work.
pub(crate) struct Job<'a> {
    pub(crate) executors: &'a Executors,
    pub(crate) request: ActionRequestId,
    pub(crate) at: usize,
    /// Folders made for it.
    pub(crate) made: Vec<RelPath>,
    /// Folders in which names change, to be synced before anything is told.
    pub(crate) unsynced: Vec<(Folder, RelPath)>,
    /// What a person has to know.
    pub(crate) notes: Vec<String>,
}

impl<'a> Job<'a> {
    pub(crate) fn of(executors: &'a Executors, request: ActionRequestId, at: usize) -> Self {
        Self { executors, request, at, made: Vec::new(), unsynced: Vec::new(), notes: Vec::new() }
    }

    /// Says that the name `path` is about to change in `folder`.
    pub(crate) fn changed(&mut self, folder: &Folder, path: &RelPath) -> Result<(), Error> {
        let folder = folder.again().map_err(|e| Error::io("opening the folder of", path, e))?;
        self.unsynced.push((folder, path.clone()));
        Ok(())
    }

    /// The name of this item's temporary file.
    pub(crate) fn temp(&self) -> Vec<u8> {
        temp_name(self.request, self.at)
    }
}

/// `.hermit-<request>-<n>.tmp`: says whose it is, so that [`settle`] can sweep it.
pub(crate) fn temp_name(request: ActionRequestId, at: usize) -> Vec<u8> {
    format!(".hermit-{request}-{at}.tmp").into_bytes()
}

/// Does the items whose outcome in `known` is not `done`; an unknown one stops it, as a failure does.
pub(crate) fn perform(
    act: &Execution<'_>,
    items: &[ChangeItem],
    settled: Option<&settle::Settled>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Done {
    let Execution { executors, scope, request, cancelled, .. } = act;
    let mut done = Done::default();
    done.error = unheld(items);
    match settled {
        Some(settled) => done.changes.extend(settled.changes.iter().cloned()),
        None if done.error.is_none() => note_absent(executors, request, items, &mut done),
        None => {}
    }
    let known: Vec<ItemOutcome> =
        settled.map_or_else(Vec::new, |s| s.items.iter().map(|(_, o)| *o).collect());
    let mut unsynced = Unsynced::default();
    for (at, item) in items.iter().enumerate() {
        let before = || settled.map_or_else(Vec::new, |s| witnessed(executors, s, item));
        if known.get(at) == Some(&ItemOutcome::Done) {
            done.observed.push(format!("item {at} was found done"));
            record(executors, &mut done, item, &before(), ItemOutcome::Done);
            continue;
        }
        if done.error.is_none() && unsynced.precedes(item) {
            sync(executors, &mut unsynced, &mut done);
        }
        if done.error.is_none() {
            done.error = stop_reason(at, &known, cancelled);
        }
        if done.error.is_some() {
            let outcome = known.get(at).copied().unwrap_or(ItemOutcome::NotDone);
            record(executors, &mut done, item, &before(), outcome);
            continue;
        }
        let job = Job::of(executors, request.action_request_id, at);
        item_done(job, scope, item, &mut unsynced, &mut done);
        progress(Progress::Items { done: done.done, of: items.len() });
    }
    sync(executors, &mut unsynced, &mut done);
    done
}

/// Makes durable what the items did. Where that fails nobody knows which of it lasts.
fn sync(executors: &Executors, unsynced: &mut Unsynced, done: &mut Done) {
    let Err((error, items)) = unsynced.sync(executors) else { return };
    if unsynced::leaves_open(&error) {
        for places in items {
            let changes = done.changes.get_mut(places).unwrap_or_default();
            if changes.iter().all(|change| change.outcome != ItemOutcome::Done) {
                continue;
            }
            changes.iter_mut().for_each(|change| change.outcome = ItemOutcome::Unknown);
            done.done = done.done.saturating_sub(1);
            done.unknown += 1;
        }
    }
    let word = if unsynced::leaves_open(&error) { "not known to last:" } else { "done, but" };
    let words = format!("what was done last is {word} {error}");
    match &done.error {
        None => done.error = Some(words),
        Some(_) => done.observed.push(words),
    }
}

/// Why this system cannot hold the names of all that the items make, in words; none where it can.
pub(crate) fn unheld(items: &[ChangeItem]) -> Option<String> {
    if names::AS_WINDOWS { windows_names::refusal(items.iter().filter_map(made_by)) } else { None }
}

/// The place where an item makes something.
fn made_by(item: &ChangeItem) -> Option<&RelPath> {
    match item {
        ChangeItem::Write { path, .. }
        | ChangeItem::Move { to: path, .. }
        | ChangeItem::Folder { path, .. }
        | ChangeItem::Link { path, .. } => Some(path),
        ChangeItem::Delete { .. } => None,
    }
}

/// Writes down which folders are missing before the first item: after a crash nothing else tells that they were made.
fn note_absent(executors: &Executors, request: &ActionRequest, items: &[ChangeItem], done: &mut Done) {
    let mut absent: BTreeSet<RelPath> = BTreeSet::new();
    for item in items {
        let Some(path) = made_by(item) else { continue };
        let mut at = path.parent();
        while !at.is_root() && !absent.contains(&at) && executors.workspace.look(&at) == Found::Absent {
            let above = at.parent();
            absent.insert(at);
            at = above;
        }
    }
    if absent.is_empty() {
        return;
    }
    let absent: Vec<RelPath> = absent.into_iter().collect();
    if let Err(error) = executors.spool.note_absent(request.action_request_id, &absent) {
        done.observed.push(format!("folders that are made cannot be told apart after a crash: {error}"));
    }
}

/// Those of the folders missing before the first item that are there now.
pub(crate) fn made_since(executors: &Executors, absent: &[RelPath]) -> Vec<Change> {
    let there =
        absent.iter().filter(|folder| matches!(executors.workspace.look(folder), Found::Folder { .. }));
    there.map(|folder| made(executors, folder)).collect()
}

fn made(executors: &Executors, folder: &RelPath) -> Change {
    Change {
        resource: named(executors, folder),
        before: Found::Absent,
        after: executors.workspace.look(folder),
        before_image: None,
        outcome: ItemOutcome::Done,
    }
}

fn stop_reason(at: usize, known: &[ItemOutcome], cancelled: &dyn Fn() -> bool) -> Option<String> {
    if known.get(at) == Some(&ItemOutcome::Unknown) {
        return Some(format!("what became of item {at} is not known; a person has to settle it first"));
    }
    cancelled().then(|| format!("cancelled before item {at}"))
}

fn item_done(
    mut job: Job<'_>,
    scope: &Scope<'_>,
    item: &ChangeItem,
    unsynced: &mut Unsynced,
    done: &mut Done,
) {
    let before: Vec<Found> = changed_paths(item).map(|path| job.executors.workspace.look(path)).collect();
    let result = in_scope(scope, item).and_then(|()| match item {
        ChangeItem::Write { path, content_sha256, byte_size, prior, mode } => {
            let content = write::Content { sha256: content_sha256, byte_size: *byte_size, mode: *mode };
            write::write(&mut job, path, &content, prior)
        }
        ChangeItem::Delete { path, prior } => remove::remove(&mut job, path, prior),
        ChangeItem::Move { from, to, prior } => relocate::relocate(&mut job, from, to, prior),
        ChangeItem::Folder { path, mode, was } => match was {
            Some(was) => link::folder_mode(&job, path, *was, *mode),
            None => link::folder(&mut job, path, *mode),
        },
        ChangeItem::Link { path, target, prior } => link::link(&mut job, path, target, prior),
    });
    let result = result.and_then(|()| still_there(&mut job, item));
    // A folder that holds something stays. Nothing failed, and it is told as there.
    let stays = result.is_ok() && is_folder_left(&job, item);
    let outcome = match &result {
        Ok(()) if stays => ItemOutcome::NotDone,
        Ok(()) => ItemOutcome::Done,
        Err(error) => after_failure(&job, item, &before, error),
    };
    for folder in std::mem::take(&mut job.made) {
        done.changes.push(made(job.executors, &folder));
    }
    let places = done.changes.len();
    if stays {
        tell(job.executors, done, item, &before, outcome);
    } else {
        record(job.executors, done, item, &before, outcome);
    }
    unsynced.add(item, std::mem::take(&mut job.unsynced), places..done.changes.len());
    done.observed.append(&mut job.notes);
    if let Err(error) = result {
        let word = match outcome {
            ItemOutcome::Done => "done, but",
            ItemOutcome::NotDone => "not done:",
            ItemOutcome::Unknown => "not known:",
        };
        done.error = Some(format!("item {} {word} {error}", job.at));
    }
}

fn in_scope(scope: &Scope<'_>, item: &ChangeItem) -> Result<(), Error> {
    changed_paths(item).try_for_each(|path| scope.covers_path(path))
}

/// What was done must be seen at the path it was done for: a folder that was moved away meanwhile took it along.
fn still_there(job: &mut Job<'_>, item: &ChangeItem) -> Result<(), Error> {
    let now: Vec<Found> = changed_paths(item).map(|path| job.executors.workspace.look(path)).collect();
    if settle::is_done(item, &now) {
        return Ok(());
    }
    let elsewhere = |found: &Found| matches!(found, Found::Unreadable { .. });
    let vanished = !matches!(item, ChangeItem::Delete { .. }) && now.last() == Some(&Found::Absent);
    let Some(path) = changed_paths(item).last() else { return Ok(()) };
    if now.iter().any(elsewhere) || vanished {
        return Err(Error::Request(format!(
            "`{path}` was done and is not there; its folder was moved meanwhile"
        )));
    }
    if !matches!(item, ChangeItem::Delete { prior: Prior::EmptyFolder, .. }) {
        job.notes.push(format!("`{path}` was changed by somebody right after"));
    }
    Ok(())
}

/// After an error, the look decides. A failed sync leaves open whether what is seen will last.
fn after_failure(job: &Job<'_>, item: &ChangeItem, before: &[Found], error: &Error) -> ItemOutcome {
    let now: Vec<Found> = changed_paths(item).map(|path| job.executors.workspace.look(path)).collect();
    if now == *before {
        return ItemOutcome::NotDone;
    }
    // A conflict was found and everything put back: what differs is somebody else's.
    if matches!(error, Error::Prior { .. }) {
        return ItemOutcome::NotDone;
    }
    let open = matches!(error, Error::Io { doing: "syncing the folder of" | "putting back", .. });
    if !open && settle::is_done(item, &now) { ItemOutcome::Done } else { ItemOutcome::Unknown }
}

/// What the witness saw at an item's places; empty when it did not look at all of them.
fn witnessed(executors: &Executors, settled: &settle::Settled, item: &ChangeItem) -> Vec<Found> {
    let seen: Option<Vec<Found>> = changed_paths(item).map(|path| settled.before(executors, path)).collect();
    seen.unwrap_or_default()
}

/// Whether the item was to take away a folder that is there.
fn is_folder_left(job: &Job<'_>, item: &ChangeItem) -> bool {
    matches!(item, ChangeItem::Delete { path, prior: Prior::EmptyFolder }
        if matches!(job.executors.workspace.look(path), Found::Folder { .. }))
}

fn record(executors: &Executors, done: &mut Done, item: &ChangeItem, before: &[Found], outcome: ItemOutcome) {
    done.count(outcome);
    tell(executors, done, item, before, outcome);
}

/// Names what became of an item's places.
fn tell(executors: &Executors, done: &mut Done, item: &ChangeItem, before: &[Found], outcome: ItemOutcome) {
    for (at, path) in changed_paths(item).enumerate() {
        let after = executors.workspace.look(path);
        let before = before.get(at).cloned().unwrap_or_else(|| match outcome {
            ItemOutcome::NotDone => after.clone(),
            _ => Found::Unreadable { reason: "nobody looked before it was done".to_owned() },
        });
        done.changes.push(Change {
            resource: named(executors, path),
            before,
            after,
            before_image: None,
            outcome,
        });
    }
}

/// Every item, not done: for a request that was refused as a whole.
pub(crate) fn none_done(executors: &Executors, request: &ActionRequest) -> Vec<Change> {
    let mut done = Done::default();
    for item in request.items() {
        record(executors, &mut done, item, &[], ItemOutcome::NotDone);
    }
    done.changes
}

fn named(executors: &Executors, path: &RelPath) -> Sensitive<String> {
    Sensitive::from(ResourceId::File(executors.workspace.id(), path.clone()).to_string())
}

/// Runs one step between its two crash points.
pub(crate) fn step<T>(
    executors: &Executors,
    point: model::fault::Point,
    path: &RelPath,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    executors.faults.before(point).map_err(|e| Error::io("preparing", path, e))?;
    let value = work()?;
    executors.faults.after(point).map_err(|e| Error::io("completing", path, e))?;
    Ok(value)
}
