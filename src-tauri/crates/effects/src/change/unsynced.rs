//! Names that changed and are not on the disk yet: folders are synced once for many items.
//!
//! A set is durable as a whole, before anything is told of it; what a power cut leaves in between is looked at item by
//! item. What one item of a set leaves to another is durable before the other begins, and where a file went from one
//! folder to another, the one that got it is synced first.

use super::step;
use crate::workspace::folder::Folder;
use crate::{Error, Executors};
use acts::changed_paths;
use model::RelPath;
use model::action::ChangeItem;
use model::fault::Point;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Items after which the folders are synced: as many as a power cut may undo.
pub(crate) const ITEMS_MAX: usize = 1_000;
/// Folders that are kept open to be synced.
const FOLDERS_MAX: usize = 64;

/// A folder to sync.
struct Waiting {
    folder: Folder,
    /// The path that it holds, for messages.
    path: RelPath,
    /// Whether it gave a file to another folder, which is to have it first.
    gave: bool,
}

/// Folders to sync, and the items whose names wait for it.
#[derive(Default)]
pub(crate) struct Unsynced {
    /// By device and inode.
    folders: BTreeMap<(u64, u64), Waiting>,
    /// Paths that were changed.
    changed: BTreeSet<RelPath>,
    /// Folders that hold one of those, however deep.
    above: BTreeSet<RelPath>,
    /// Folders that got a file from another, and those that gave one away.
    got: BTreeSet<RelPath>,
    gave: BTreeSet<RelPath>,
    /// For each item, where its places stand among the changes.
    items: Vec<Range<usize>>,
}

impl Unsynced {
    /// Whether what waits has to be durable before `item` begins.
    pub(crate) fn precedes(&self, item: &ChangeItem) -> bool {
        if self.items.len() >= ITEMS_MAX || self.folders.len() >= FOLDERS_MAX {
            return true;
        }
        let crossing =
            crossing(item).is_some_and(|(from, to)| self.got.contains(&from) || self.gave.contains(&to));
        crossing || changed_paths(item).any(|path| self.touches(path))
    }

    /// Whether a path, something in it or a folder around it was changed.
    fn touches(&self, path: &RelPath) -> bool {
        let mut around = path.clone();
        while !around.is_root() {
            if self.changed.contains(&around) {
                return true;
            }
            around = around.parent();
        }
        self.above.contains(path)
    }

    /// Takes in what an item left to be synced; its places stand at `places` among the changes.
    pub(crate) fn add(&mut self, item: &ChangeItem, folders: Vec<(Folder, RelPath)>, places: Range<usize>) {
        if folders.is_empty() {
            return;
        }
        for (folder, path) in folders {
            let gave = crossing(item).is_some_and(|(from, _)| path.parent() == from);
            let known = self.folders.entry(folder.identity()).or_insert(Waiting { folder, path, gave });
            known.gave |= gave;
        }
        for path in changed_paths(item) {
            self.changed.insert(path.clone());
            let mut above = path.parent();
            while !above.is_root() && self.above.insert(above.clone()) {
                above = above.parent();
            }
        }
        if let Some((from, to)) = crossing(item) {
            self.gave.insert(from);
            self.got.insert(to);
        }
        self.items.push(places);
    }

    /// Makes all of it durable.
    ///
    /// # Errors
    /// What the disk says, with the places of the items of which it is then open whether they last.
    pub(crate) fn sync(&mut self, executors: &Executors) -> Result<(), (Error, Vec<Range<usize>>)> {
        let Self { folders, items, .. } = std::mem::take(self);
        let (last, first): (Vec<_>, Vec<_>) = folders.into_values().partition(|waiting| waiting.gave);
        for Waiting { folder, path, .. } in first.iter().chain(&last) {
            if let Err(error) = step(executors, Point::ItemSyncFolder, path, || folder.sync(path)) {
                return Err((error, items));
            }
        }
        Ok(())
    }
}

/// Between which two folders an item takes a file.
fn crossing(item: &ChangeItem) -> Option<(RelPath, RelPath)> {
    let ChangeItem::Move { from, to, .. } = item else { return None };
    let (from, to) = (from.parent(), to.parent());
    (from != to).then_some((from, to))
}

/// Whether a failed sync leaves open what lasts.
pub(crate) fn leaves_open(error: &Error) -> bool {
    matches!(error, Error::Io { doing: "syncing the folder of", .. })
}
