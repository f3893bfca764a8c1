//! The world as it will be when the receipts walked so far are undone.

use super::inverse::{beside, is_move, merged, mode, name, path, prior, restored, same};
use super::{ConflictItem, Plan, collapse, digest};
use model::action::{ChangeItem, Prior};
use model::receipt::{Change, ItemOutcome, Receipt};
use model::witness::Found;
use model::{Digest, RelPath};
use std::collections::{BTreeMap, BTreeSet};

/// Permission bits by which its owner works in a folder.
const OWNER: u32 = 0o700;
/// Names tried for a version that comes beside.
const NAMES: u32 = 100;

type Read<'a> = &'a dyn Fn(&Digest) -> Option<Vec<u8>>;

/// Steps back, taken in thought.
pub(super) struct Past<'a> {
    look: &'a dyn Fn(&RelPath) -> Found,
    read: Read<'a>,
    /// What was found at each place that was looked at.
    start: BTreeMap<RelPath, Found>,
    /// What is there by now.
    now: BTreeMap<RelPath, Found>,
    /// Places that are left as they are from here on.
    stuck: BTreeSet<RelPath>,
    /// Places whose earlier versions come beside instead.
    aside: BTreeMap<RelPath, RelPath>,
    /// Every version of a place that a receipt names.
    versions: BTreeMap<RelPath, BTreeSet<Digest>>,
    made: BTreeMap<Digest, Vec<u8>>,
    items: Vec<ChangeItem>,
    /// What comes when everything is in its place, the first last.
    last: Vec<ChangeItem>,
    notes: Vec<String>,
    left: Vec<ConflictItem>,
}

/// Why one change is not taken back.
enum Stop {
    /// For this reason.
    Left(String),
    /// For this reason, at the place where a move began.
    Source(String),
    /// The place was left already.
    Before,
}

impl<'a> Past<'a> {
    pub(super) fn new(receipts: &[&Receipt], look: &'a dyn Fn(&RelPath) -> Found, read: Read<'a>) -> Self {
        let mut versions: BTreeMap<RelPath, BTreeSet<Digest>> = BTreeMap::new();
        for change in receipts.iter().flat_map(|receipt| &receipt.changes) {
            if let (Ok(path), Some(sha256)) = (path(change), digest(&change.before)) {
                versions.entry(path).or_default().insert(sha256);
            }
        }
        Self {
            look,
            read,
            start: BTreeMap::new(),
            now: BTreeMap::new(),
            stuck: BTreeSet::new(),
            aside: BTreeMap::new(),
            versions,
            made: BTreeMap::new(),
            items: Vec::new(),
            last: Vec::new(),
            notes: Vec::new(),
            left: Vec::new(),
        }
    }

    /// Takes back what a receipt did, last thing first; whether nothing of it is left.
    pub(super) fn undo(&mut self, receipt: &Receipt) -> bool {
        let mut whole = true;
        let done: Vec<&Change> = receipt
            .changes
            .iter()
            .filter(|c| c.outcome == ItemOutcome::Done && c.before != c.after)
            .collect();
        let mut at = done.len();
        while at > 0 {
            at -= 1;
            let Some(change) = done.get(at).copied() else { break };
            let earlier = at.checked_sub(1).and_then(|at| done.get(at)).copied();
            let source = earlier.filter(|source| is_move(source, change));
            let came = match source {
                Some(source) => {
                    at -= 1;
                    self.move_back(source, change)
                }
                None => self.take_back(receipt, change),
            };
            let Err(stop) = came else { continue };
            whole = false;
            for change in source.into_iter().chain([change]) {
                self.stuck.extend(path(change).ok().filter(|path| !self.aside.contains_key(path)));
            }
            match stop {
                Stop::Left(why) => self.leave(receipt, change, why, None),
                Stop::Source(why) => self.leave(receipt, source.unwrap_or(change), why, None),
                Stop::Before => {}
            }
        }
        for change in receipt.changes.iter().filter(|c| c.outcome == ItemOutcome::Unknown) {
            whole = false;
            self.stuck.extend(path(change));
            self.leave(receipt, change, "what happened here is not known; settle it first".to_owned(), None);
        }
        whole
    }

    /// Hands the plan over: the shortest set of items that leads there.
    pub(super) fn finish(self, plan: &mut Plan) {
        plan.items = collapse::collapse(self.items, &self.start);
        plan.items.extend(self.last.into_iter().rev());
        let needed: BTreeSet<Digest> = plan
            .items
            .iter()
            .filter_map(|item| match item {
                ChangeItem::Write { content_sha256, .. } => Some(*content_sha256),
                _ => None,
            })
            .collect();
        plan.merged =
            self.made.into_iter().filter(|(sha256, _)| needed.contains(sha256)).map(|(_, b)| b).collect();
        plan.notes = self.notes;
        plan.left = self.left;
    }

    fn at(&mut self, path: &RelPath) -> Found {
        if let Some(found) = self.now.get(path) {
            return found.clone();
        }
        let found = (self.look)(path);
        self.start.insert(path.clone(), found.clone());
        self.now.insert(path.clone(), found.clone());
        found
    }

    fn bytes(&self, sha256: &Digest) -> Option<Vec<u8>> {
        self.made.get(sha256).cloned().or_else(|| (self.read)(sha256))
    }

    fn add(&mut self, item: ChangeItem, at: &RelPath, then: Found) {
        if !matches!(then, Found::Absent) {
            let mut above = at.parent();
            while !above.is_root() {
                if self.at(&above) == Found::Absent {
                    self.now.insert(above.clone(), Found::Folder { mode: None });
                }
                above = above.parent();
            }
        }
        self.items.push(item);
        self.now.insert(at.clone(), then);
    }

    fn leave(&mut self, receipt: &Receipt, change: &Change, why: String, beside: Option<RelPath>) {
        let found = path(change).map_or(Found::Absent, |path| self.at(&path));
        self.left.push(ConflictItem {
            receipt_id: receipt.receipt_id,
            resource: name(change).unwrap_or_default(),
            left: change.after.clone(),
            found,
            why,
            beside,
        });
    }

    fn take_back(&mut self, receipt: &Receipt, change: &Change) -> Result<(), Stop> {
        let path = path(change).map_err(Stop::Left)?;
        if self.stuck.contains(&path) {
            return Err(Stop::Before);
        }
        if let Some(beside) = self.aside.get(&path).cloned() {
            // What is beside follows the file back; the file itself was named as left already.
            let here = self.at(&beside);
            let _ = self.step_back(change, &beside, &here);
            return Err(Stop::Before);
        }
        let here = self.at(&path);
        if same(&change.after, &here) {
            return self.step_back(change, &path, &here).map_err(Stop::Left);
        }
        let gone_anyway = matches!((&change.before, &here), (Found::Folder { .. }, Found::Absent));
        if same(&change.before, &here) || gone_anyway {
            return Ok(());
        }
        self.around(receipt, change, &path, &here)
    }

    /// The change backwards, where what it left is still there.
    fn step_back(&mut self, change: &Change, at: &RelPath, here: &Found) -> Result<(), String> {
        let left = prior(here)?;
        let delete = |prior| ChangeItem::Delete { path: at.clone(), prior };
        match &change.before {
            Found::Absent if *here == Found::Absent => {}
            Found::Absent => self.add(delete(left), at, Found::Absent),
            Found::Folder { mode } => match here {
                Found::Folder { mode: now } => self.folder_mode(at, *mode, &change.after, *now),
                _ => {
                    if *here != Found::Absent {
                        self.add(delete(left), at, Found::Absent);
                    }
                    self.folder_again(at, *mode);
                }
            },
            Found::Symlink { target_sha256 } => {
                let target = self.bytes(target_sha256).and_then(|bytes| String::from_utf8(bytes).ok());
                let target = target.ok_or("what the link said was not kept")?;
                let free = if matches!(here, Found::Folder { .. }) { Prior::Absent } else { left };
                if matches!(here, Found::Folder { .. }) {
                    self.add(delete(left), at, Found::Absent);
                }
                let item = ChangeItem::Link { path: at.clone(), target, prior: free };
                self.add(item, at, change.before.clone());
            }
            Found::File { sha256, .. } => {
                let mode = mode(change, here);
                if matches!(here, Found::File { sha256: now, mode: m, .. } if now == sha256 && *m == mode) {
                    return Ok(());
                }
                let free = if matches!(here, Found::Folder { .. }) { Prior::Absent } else { left };
                let (item, then) = restored(change, at, free, mode)?;
                if matches!(here, Found::Folder { .. }) {
                    self.add(delete(left), at, Found::Absent);
                }
                self.add(item, at, then);
            }
            _ => return Err("what was here before is not a file and was not kept".to_owned()),
        }
        Ok(())
    }

    /// The permission bits of a folder as they were, unless somebody has set others since.
    fn folder_mode(&mut self, at: &RelPath, before: Option<u32>, after: &Found, now: Option<u32>) {
        let Found::Folder { mode: left } = after else { return };
        if let (Some(before), Some(left), true) = (before, *left, *left == now)
            && before != left
        {
            let item = ChangeItem::Folder { path: at.clone(), mode: Some(before), was: Some(left) };
            self.add(item, at, Found::Folder { mode: Some(before) });
        }
    }

    /// A folder that was there before; one that its owner may not write to gets its bits when all is in it.
    fn folder_again(&mut self, at: &RelPath, mode: Option<u32>) {
        let open = mode.map(|mode| mode | OWNER);
        let item = ChangeItem::Folder { path: at.clone(), mode: open, was: None };
        self.add(item, at, Found::Folder { mode: open });
        if mode != open {
            self.last.push(ChangeItem::Folder { path: at.clone(), mode, was: open });
        }
    }

    /// Somebody has been here since: theirs stays.
    fn around(
        &mut self,
        receipt: &Receipt,
        change: &Change,
        path: &RelPath,
        here: &Found,
    ) -> Result<(), Stop> {
        let left = |why: &str| Err(Stop::Left(why.to_owned()));
        match (&change.before, &change.after, here) {
            (_, _, Found::Unreadable { reason }) => left(reason),
            (Found::File { .. }, Found::File { .. }, Found::Absent) => {
                left("it was removed after the act; it stays removed")
            }
            (Found::File { sha256: old, .. }, Found::File { sha256: new, .. }, Found::File { .. })
                if old == new =>
            {
                self.only_mode(change, path, here)
            }
            (Found::File { .. }, Found::File { .. }, Found::File { sha256: theirs, .. }) => {
                match merged(change, theirs, &|sha256| self.bytes(sha256)) {
                    Some(Ok(bytes)) => self.write_merged(change, path, here, bytes).map_err(Stop::Left),
                    Some(Err(())) => {
                        left("the same lines were changed after the act; undoing would lose that")
                    }
                    None => self.come_beside(receipt, change, path),
                }
            }
            (Found::File { .. }, _, _) => self.come_beside(receipt, change, path),
            _ => left("it was changed after the act; undoing would lose that"),
        }
    }

    /// The act changed permission bits alone, and somebody has changed the bytes since.
    fn only_mode(&mut self, change: &Change, path: &RelPath, here: &Found) -> Result<(), Stop> {
        let Found::File { sha256, mode: now, .. } = here else { return Ok(()) };
        if mode(change, here) == *now {
            return Ok(());
        }
        match self.bytes(sha256) {
            Some(bytes) => self.write_merged(change, path, here, bytes).map_err(Stop::Left),
            None => Err(Stop::Left("it was changed after the act, which had only set its mode".to_owned())),
        }
    }

    fn write_merged(
        &mut self,
        change: &Change,
        path: &RelPath,
        here: &Found,
        bytes: Vec<u8>,
    ) -> Result<(), String> {
        let (content_sha256, byte_size) = (Digest::of(&bytes), bytes.len() as u64);
        let (prior, mode) = (prior(here)?, mode(change, here));
        let named = acts::visible_lossy(path);
        self.notes.push(format!("`{named}` was edited since; the undo goes around that edit"));
        self.made.insert(content_sha256, bytes);
        let item = ChangeItem::Write { path: path.clone(), content_sha256, byte_size, prior, mode };
        self.add(item, path, Found::File { sha256: content_sha256, byte_size, mode });
        Ok(())
    }

    /// Theirs stays where it is, and the earlier version comes beside it under a name of its own.
    fn come_beside(&mut self, receipt: &Receipt, change: &Change, path: &RelPath) -> Result<(), Stop> {
        let id = receipt.receipt_id.to_string();
        let versions = self.versions.get(path).cloned().unwrap_or_default();
        for at in (0..NAMES).filter_map(|number| beside(path, &id, number)) {
            let there = self.at(&at);
            if digest(&there).is_some_and(|sha256| versions.contains(&sha256)) {
                // An earlier undo has put it there.
                self.stuck.insert(path.clone());
                let why = format!("it was changed after the act and stays; the earlier version is `{at}`");
                self.leave(receipt, change, why, Some(at));
                return Err(Stop::Before);
            }
            if there != Found::Absent {
                continue;
            }
            let (item, then) =
                restored(change, &at, Prior::Absent, mode(change, &Found::Absent)).map_err(Stop::Left)?;
            self.add(item, &at, then);
            self.aside.insert(path.clone(), at.clone());
            let why = format!(
                "it was changed after the act and stays; the earlier version comes beside it as `{at}`"
            );
            self.leave(receipt, change, why, Some(at));
            return Err(Stop::Before);
        }
        Err(Stop::Left("it was changed after the act; undoing would lose that".to_owned()))
    }

    /// A move backwards; what was edited since goes back with its edits.
    fn move_back(&mut self, source: &Change, target: &Change) -> Result<(), Stop> {
        let (from, to) = (path(target).map_err(Stop::Left)?, path(source).map_err(Stop::Left)?);
        let left_already = |path| self.stuck.contains(path) || self.aside.contains_key(path);
        if left_already(&from) || left_already(&to) {
            return Err(Stop::Before);
        }
        let (here, there) = (self.at(&from), self.at(&to));
        if here == Found::Absent && same(&source.before, &there) {
            return Ok(());
        }
        let Found::File { sha256, byte_size, mode: bits } = here.clone() else {
            return Err(Stop::Left("what was moved is not there any more".to_owned()));
        };
        if there != Found::Absent {
            return Err(Stop::Source(format!("something is here now, where `{from}` would go back to")));
        }
        if !same(&target.after, &here) {
            let (from, to) = (acts::visible_lossy(&from), acts::visible_lossy(&to));
            self.notes.push(format!("`{from}` was edited since; it goes back to `{to}` with that edit"));
        }
        let item = ChangeItem::Move { from: from.clone(), to: to.clone(), prior: Prior::Sha256(sha256) };
        self.add(item, &to, Found::File { sha256, byte_size, mode: bits });
        self.now.insert(from, Found::Absent);
        Ok(())
    }
}
