//! After a crash: what became of it? By looking, never by running (HK-19.3).
//!
//! Items run strictly in order and stop at the first failure, so what a crash leaves is the state after some number
//! of items. Every place says after how many items it would be as it is; what all of them have in common is how far
//! the executors came. A place where somebody else has been says nothing, and what stays open is `unknown`. Only where the
//! machine itself was started since may items be missing in the middle: their folders were not synced yet
//! ([`super::unsynced`]), and an item whose own places are as before it was not done.

use super::place::{self, keep_beside, look};
use super::{Job, temp_name};
use crate::system::machine_start::started_at;
use crate::workspace::folder::Folder;
use crate::{Executors, Kept, Outcome, Transcript, TranscriptState};
use acts::{ActionRequest, changed_paths};
use model::action::{ChangeItem, Prior};
use model::receipt::{Change, ItemOutcome};
use model::witness::{Fingerprint, Found, StateWitness};
use model::{Digest, RelPath, ResourceId};
use std::collections::{BTreeMap, BTreeSet};

/// What was found after a crash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// Item by item, in the request's order; empty for a request without items.
    pub items: Vec<(ChangeItem, ItemOutcome)>,
    /// For a command: how far it came.
    pub transcript: Option<Transcript>,
    /// For a command that was started: what differs from before it, whoever did it. For items: folders that were not
    /// there before them.
    pub changes: Vec<Change>,
    /// Earlier bytes of those, durably in [`crate::Contents`] by now.
    pub kept: Vec<Kept>,
    /// What a person should know: files swept, bytes kept aside.
    pub notes: Vec<String>,
    /// What the witness saw before dispatch.
    pub before: Vec<Fingerprint>,
    /// What is there now, at every place the request touches.
    pub now: Vec<Fingerprint>,
    /// For a request to a server: what it came to, whole, as far as that was written down.
    pub outcome: Option<Outcome>,
    /// For a call of a tool: a person said that it may be made again when nobody saw how it ended.
    pub repeats: bool,
    /// For a call of a tool: a person said that it only looks, so that nothing is left open where nobody saw how it ended.
    pub only_looks: bool,
}

impl Settled {
    /// Nothing found yet; `before` is the witness observed before dispatch.
    pub(crate) fn new(before: &StateWitness) -> Self {
        Self { before: before.fingerprints.clone(), ..Self::default() }
    }

    /// Whether nothing is left open.
    pub fn is_certain(&self) -> bool {
        let items = self.items.iter().all(|(_, outcome)| *outcome != ItemOutcome::Unknown);
        items && self.transcript.as_ref().is_none_or(|t| t.state.is_certain())
    }

    /// What the witness saw at a path.
    pub(crate) fn before(&self, executors: &Executors, path: &RelPath) -> Option<Found> {
        let resource = ResourceId::File(executors.workspace.id(), path.clone());
        // A witness is sorted.
        let at = self.before.binary_search_by(|seen| seen.resource.cmp(&resource)).ok();
        at.and_then(|at| self.before.get(at)).map(|seen| seen.state.clone())
    }
}

/// After a crash in a change set: which of its items are done.
pub(crate) fn items(
    executors: &Executors,
    request: &ActionRequest,
    items: &[ChangeItem],
    before: &StateWitness,
    settled: &mut Settled,
) {
    for (at, item) in items.iter().enumerate() {
        sweep(executors, request, at, item, &mut settled.notes);
    }
    match executors.spool.absent(request.action_request_id) {
        Ok(absent) => settled.changes = super::made_since(executors, &absent),
        Err(error) => settled.notes.push(format!("which folders were made cannot be told: {error}")),
    }
    let open = sync(executors, items, &mut settled.notes);
    let known: Vec<(RelPath, Found)> = known_before(executors, settled);
    let touched: Vec<RelPath> = items.iter().flat_map(changed_paths).cloned().collect();
    let resources: Vec<_> =
        touched.iter().map(|p| ResourceId::File(executors.workspace.id(), p.clone())).collect();
    settled.now = executors.observe(&resources);
    let now = touched.into_iter().zip(settled.now.iter().map(|f| State::of(&f.state))).collect();
    let restarted = before.observed_at.0 < started_at();
    let mut outcomes = judge(items, &known, &now, restarted);
    for (item, outcome) in items.iter().zip(&mut outcomes) {
        bits_decide(executors, item, outcome);
        if *outcome == ItemOutcome::Done && changed_paths(item).any(|path| open.contains(&path.parent())) {
            *outcome = ItemOutcome::Unknown;
        }
    }
    settled.items = items.iter().cloned().zip(outcomes).collect();
    settled.now.sort_by(|a, b| a.resource.cmp(&b.resource));
    settled.now.dedup();
}

/// Makes durable what is about to be seen: the crash may have come before the executors did. Folders that a file was to
/// leave come last. Returns the folders of which it is open whether what is seen there will last.
fn sync(executors: &Executors, items: &[ChangeItem], notes: &mut Vec<String>) -> BTreeSet<RelPath> {
    let left = |item: &ChangeItem| match item {
        ChangeItem::Move { from, .. } => Some(from.clone()),
        _ => None,
    };
    let reached = items.iter().filter_map(|item| changed_paths(item).last().cloned());
    let mut synced = BTreeSet::new();
    let mut open = BTreeSet::new();
    for path in reached.chain(items.iter().filter_map(left)) {
        if !synced.insert(path.parent()) {
            continue;
        }
        // No folder, no names in it.
        let result = executors.workspace.parent(&path).and_then(|folder| folder.sync(&path));
        if let Err(error @ crate::Error::Io { .. }) = result {
            notes.push(format!("what is seen in the folder of `{path}` may not last: {error}"));
            open.insert(path.parent());
        }
    }
    open
}

/// A folder that only gets other permission bits is the same place before and after: the bits tell.
fn bits_decide(executors: &Executors, item: &ChangeItem, outcome: &mut ItemOutcome) {
    let ChangeItem::Folder { path, mode: Some(mode), was: Some(was) } = item else { return };
    match executors.workspace.look(path) {
        Found::Folder { mode: Some(now) } if now == *mode => *outcome = ItemOutcome::Done,
        Found::Folder { mode: Some(now) } if now == *was => *outcome = ItemOutcome::NotDone,
        _ => {}
    }
}

/// After a crash of a command: how far it came, and what differs since.
pub(crate) fn command(executors: &Executors, request: &ActionRequest, settled: &mut Settled) {
    let transcript = crate::command::spool::settle(executors, request);
    if matches!(transcript.state, TranscriptState::Exited | TranscriptState::Unknown) {
        match crate::command::difference_since(executors, request.action_request_id) {
            Ok(mut difference) => {
                settled.changes = difference.changes;
                settled.kept = difference.kept;
                settled.notes.append(&mut difference.notes);
            }
            Err(error) => settled.notes.push(format!("what the command changed cannot be told: {error}")),
        }
    }
    settled.transcript = Some(transcript);
}

fn known_before(executors: &Executors, settled: &Settled) -> Vec<(RelPath, Found)> {
    let of_here = |f: &Fingerprint| match &f.resource {
        ResourceId::File(workspace, path) if *workspace == executors.workspace.id() => {
            Some((path.clone(), f.state.clone()))
        }
        _ => None,
    };
    settled.before.iter().filter_map(of_here).collect()
}

/// What matters of a place when items are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing.
    Absent,
    /// These bytes.
    Bytes(Digest),
    /// A folder.
    Folder,
    /// A link with a target of this digest.
    Link(Digest),
    /// Something no item makes.
    Other,
}

impl State {
    pub(crate) fn of(found: &Found) -> Self {
        match found {
            Found::Absent => Self::Absent,
            Found::File { sha256, .. } => Self::Bytes(*sha256),
            Found::Folder { .. } => Self::Folder,
            Found::Symlink { target_sha256 } => Self::Link(*target_sha256),
            _ => Self::Other,
        }
    }

    fn of_prior(prior: &Prior) -> Self {
        match prior {
            Prior::Absent => Self::Absent,
            Prior::Sha256(digest) => Self::Bytes(*digest),
            Prior::EmptyFolder => Self::Folder,
            Prior::Link(digest) => Self::Link(*digest),
        }
    }
}

type World = BTreeMap<RelPath, State>;

fn apply(world: &mut World, item: &ChangeItem) {
    match item {
        ChangeItem::Write { path, content_sha256, .. } => {
            world.insert(path.clone(), State::Bytes(*content_sha256));
        }
        ChangeItem::Delete { path, .. } => {
            world.insert(path.clone(), State::Absent);
        }
        ChangeItem::Folder { path, .. } => {
            world.insert(path.clone(), State::Folder);
        }
        ChangeItem::Link { path, target, .. } => {
            world.insert(path.clone(), State::Link(Digest::of(target.as_bytes())));
        }
        ChangeItem::Move { from, to, prior } => {
            let moved = world.get(from).copied().unwrap_or_else(|| State::of_prior(prior));
            world.insert(from.clone(), State::Absent);
            world.insert(to.clone(), moved);
        }
    }
}

/// The world before any item: as witnessed, and where nobody looked, as the items expect it.
fn start(items: &[ChangeItem], known: &[(RelPath, Found)]) -> World {
    let mut world: World = known.iter().map(|(path, found)| (path.clone(), State::of(found))).collect();
    for item in items {
        match item {
            ChangeItem::Folder { path, was, .. } => {
                let before = if was.is_some() { State::Folder } else { State::Absent };
                world.entry(path.clone()).or_insert(before);
            }
            ChangeItem::Write { path, prior, .. }
            | ChangeItem::Link { path, prior, .. }
            | ChangeItem::Delete { path, prior } => {
                world.entry(path.clone()).or_insert(State::of_prior(prior));
            }
            ChangeItem::Move { from, to, prior } => {
                world.entry(from.clone()).or_insert(State::of_prior(prior));
                world.entry(to.clone()).or_insert(State::Absent);
            }
        }
    }
    world
}

/// For one path: after how many items it is as it is now. Ranges of counts, ends included; empty when somebody
/// else has been there.
fn counts_of(history: &[(usize, State)], now: State, items: usize) -> Vec<(usize, usize)> {
    let ends = history.iter().skip(1).map(|(from, _)| from.saturating_sub(1)).chain([items]);
    history
        .iter()
        .zip(ends)
        .filter(|((_, state), _)| *state == now)
        .map(|((from, _), to)| (*from, to))
        .collect()
}

/// Every state a path goes through, with the count of items from which on it has it.
fn histories(items: &[ChangeItem], mut world: World) -> BTreeMap<RelPath, Vec<(usize, State)>> {
    let mut found: BTreeMap<_, _> =
        world.iter().map(|(path, state)| (path.clone(), vec![(0, *state)])).collect();
    for (at, item) in items.iter().enumerate() {
        apply(&mut world, item);
        for path in changed_paths(item) {
            if let (Some(history), Some(state)) = (found.get_mut(path), world.get(path)) {
                history.push((at + 1, *state));
            }
        }
    }
    found
}

/// The outcome of every item, from what was there before and what is there now. Where the machine itself stopped
/// meanwhile, of the items whose folders were not synced yet any may be there and any may not.
fn judge(items: &[ChangeItem], known: &[(RelPath, Found)], now: &World, restarted: bool) -> Vec<ItemOutcome> {
    let histories = histories(items, start(items, known));
    let counts: BTreeMap<&RelPath, Vec<(usize, usize)>> = now
        .iter()
        .filter_map(|(path, state)| Some((path, counts_of(histories.get(path)?, *state, items.len()))))
        .collect();
    let untouched: Vec<_> = counts.values().filter(|ranges| !ranges.is_empty()).collect();
    let possible = common(&untouched, items.len());
    let undisturbed = untouched.len() == counts.len();
    match (possible.first(), possible.last()) {
        // Nobody else was at work: where several counts fit, the world is the same after each of them.
        (Some(_), Some(most)) if undisturbed => {
            (0..items.len()).map(|at| by_count(at, *most, *most)).collect()
        }
        (Some(least), Some(most)) => (0..items.len()).map(|at| by_count(at, *least, *most)).collect(),
        // What is seen cannot be from these executors alone: only what an item's own places say beyond doubt is taken.
        _ => {
            let own = |(at, item)| by_itself(at, item, &counts, items.len(), restarted);
            items.iter().enumerate().map(own).collect()
        }
    }
}

/// Counts of items that all the ranges have in common.
fn common(ranges: &[&Vec<(usize, usize)>], items: usize) -> Vec<usize> {
    let mut steps = vec![0i64; items + 2];
    for (from, to) in ranges.iter().flat_map(|ranges| ranges.iter()) {
        if let Some(step) = steps.get_mut(*from) {
            *step += 1;
        }
        if let Some(step) = steps.get_mut(to + 1) {
            *step -= 1;
        }
    }
    let mut sum = 0;
    let all = ranges.len() as i64;
    let fits = |(count, step): (usize, i64)| {
        sum += step;
        (sum == all).then_some(count)
    };
    steps.into_iter().take(items + 1).enumerate().filter_map(fits).collect()
}

fn by_count(at: usize, least: usize, most: usize) -> ItemOutcome {
    match (at < least, at < most) {
        (true, _) => ItemOutcome::Done,
        (_, false) => ItemOutcome::NotDone,
        _ => ItemOutcome::Unknown,
    }
}

fn by_itself(
    at: usize,
    item: &ChangeItem,
    counts: &BTreeMap<&RelPath, Vec<(usize, usize)>>,
    items: usize,
    restarted: bool,
) -> ItemOutcome {
    let own: Vec<_> = changed_paths(item).filter_map(|path| counts.get(path)).collect();
    let possible = common(&own, items);
    match (possible.first(), possible.last()) {
        (Some(least), _) if at < *least => ItemOutcome::Done,
        (_, Some(most)) if restarted && at >= *most => ItemOutcome::NotDone,
        _ => ItemOutcome::Unknown,
    }
}

/// Whether what is seen at an item's places is what it should leave.
pub(crate) fn is_done(item: &ChangeItem, now: &[Found]) -> bool {
    match (item, now) {
        (ChangeItem::Write { content_sha256, .. }, [Found::File { sha256, .. }]) => sha256 == content_sha256,
        (ChangeItem::Delete { .. }, [Found::Absent]) => true,
        (ChangeItem::Folder { mode, .. }, [Found::Folder { mode: now }]) => {
            mode.is_none() || now.is_none() || mode == now
        }
        (ChangeItem::Link { target, .. }, [Found::Symlink { target_sha256 }]) => {
            Digest::of(target.as_bytes()) == *target_sha256
        }
        (
            ChangeItem::Move { prior: Prior::Sha256(moved), .. },
            [Found::Absent, Found::File { sha256, .. }],
        ) => sha256 == moved,
        _ => false,
    }
}

/// Removes what is left of this item's temporary files, unless they hold somebody's bytes.
fn sweep(
    executors: &Executors,
    request: &ActionRequest,
    at: usize,
    item: &ChangeItem,
    notes: &mut Vec<String>,
) {
    let mut job = Job::of(executors, request.action_request_id, at);
    let temp = temp_name(request.action_request_id, at);
    let mut swept: Vec<RelPath> = Vec::new();
    for path in changed_paths(item) {
        if swept.contains(&path.parent()) {
            continue;
        }
        swept.push(path.parent());
        if let Err(error) = sweep_beside(&mut job, item, path, &temp) {
            job.notes.push(format!("a temporary file beside `{path}` could not be swept: {error}"));
        }
    }
    notes.append(&mut job.notes);
}

fn sweep_beside(
    job: &mut Job<'_>,
    item: &ChangeItem,
    path: &RelPath,
    temp: &[u8],
) -> Result<(), crate::Error> {
    let folder = match job.executors.workspace.parent(path) {
        Ok(folder) => folder,
        // No folder, no leftovers in it.
        Err(error) if error.is_absent() => return Ok(()),
        Err(error) => return Err(error),
    };
    let left = look(&folder, temp, path);
    if left == Found::Absent {
        return Ok(());
    }
    if is_ours(job, item, &left) || is_torn(item, &folder, path, temp) {
        if let Err(error) = folder.remove_file(temp, path) {
            put_back(&folder, item, path, temp);
            return Err(error);
        }
        job.notes.push(format!("swept a temporary file beside `{path}`"));
    } else if matches!(item, ChangeItem::Delete { .. })
        && place::look(&folder, path.file_name(), path) == Found::Absent
    {
        folder
            .rename_new(temp, &folder, path.file_name())
            .map_err(|e| crate::Error::io("putting back", path, e))?;
        job.notes.push(format!("`{path}` held other bytes than expected and was put back"));
    } else {
        keep_beside(job, &folder, temp, path)?;
    }
    folder.sync(path)
}

/// A file that cannot be deleted stands under its own name and under no other; it is then found not done.
fn put_back(folder: &Folder, item: &ChangeItem, path: &RelPath, temp: &[u8]) {
    if matches!(item, ChangeItem::Delete { .. }) && look(folder, path.file_name(), path) == Found::Absent {
        // What cannot be put back either is told with the error that brought us here.
        let _ = folder.rename_new(temp, folder, path.file_name());
    }
}

/// Whether a temporary file was being written when the machine itself stopped: it may hold anything then. What it was to
/// replace is still in its place, so nothing of anybody's was ever exchanged for it.
fn is_torn(item: &ChangeItem, folder: &Folder, path: &RelPath, temp: &[u8]) -> bool {
    let (ChangeItem::Write { prior, .. } | ChangeItem::Link { prior, .. }) = item else { return false };
    super::precondition::holds(prior, &look(folder, path.file_name(), path))
        && folder.stat(temp, path).is_ok_and(|stat| stat.modified_ms() < started_at())
}

/// Whether a temporary file holds nothing but what this item wrote there or was allowed to take away.
fn is_ours(job: &Job<'_>, item: &ChangeItem, left: &Found) -> bool {
    if let Found::Symlink { target_sha256 } = left {
        return match item {
            ChangeItem::Link { target, prior, .. } => {
                Digest::of(target.as_bytes()) == *target_sha256 || super::precondition::holds(prior, left)
            }
            ChangeItem::Write { prior, .. } | ChangeItem::Delete { prior, .. } => {
                super::precondition::holds(prior, left)
            }
            ChangeItem::Move { .. } | ChangeItem::Folder { .. } => false,
        };
    }
    let Found::File { sha256, byte_size, .. } = left else {
        return false;
    };
    match item {
        ChangeItem::Write { content_sha256, prior, .. } => {
            *prior == Prior::Sha256(*sha256) || begins(job, content_sha256, *byte_size, sha256)
        }
        ChangeItem::Delete { prior, .. } | ChangeItem::Link { prior, .. } => *prior == Prior::Sha256(*sha256),
        ChangeItem::Folder { .. } => false,
        // Moving within a file system leaves no temporary file; across, it is a copy of what is still at `from`.
        ChangeItem::Move { from, to, prior } => {
            let at_source = super::precondition::holds(prior, &job.executors.workspace.look(from));
            at_source || super::precondition::holds(prior, &job.executors.workspace.look(to))
        }
    }
}

/// Whether the first `byte_size` bytes of a content have this digest: a write that was cut short.
fn begins(job: &Job<'_>, content: &Digest, byte_size: u64, sha256: &Digest) -> bool {
    if byte_size == 0 || content == sha256 {
        return true;
    }
    let Ok(bytes) = job.executors.contents.read(content) else {
        return false;
    };
    let part = usize::try_from(byte_size).ok().and_then(|n| bytes.get(..n));
    part.is_some_and(|part| Digest::of(part) == *sha256)
}
