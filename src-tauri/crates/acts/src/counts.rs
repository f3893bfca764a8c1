//! Counts of what an act does, for the rules.

use crate::items::changed_paths;
use crate::observe::read_path;
use crate::sensitive_paths::{PathKind, names_secret, path_kind};
use model::RelPath;
use model::action::{ChangeItem, Prior, ReadItem};

/// Permission bits of which any lets a file be run.
const EXECUTE_BITS: u32 = 0o111;
/// Permission bits that let a file run as its owner or group.
const ELEVATE_BITS: u32 = 0o6000;

/// Whether a link at `path` leads out of the folder, by its words alone.
fn leads_out(path: &RelPath, target: &str) -> bool {
    if target.starts_with('/') {
        return true;
    }
    let mut depth = path.as_bytes().iter().filter(|byte| **byte == b'/').count();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(up) => depth = up,
                None => return true,
            },
            _ => depth += 1,
        }
    }
    false
}

/// Counts of what an act does: places by kind, and what becomes of the files there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Places it names.
    pub targets: i64,
    /// Things made where nothing was.
    pub creates: i64,
    /// Files with other bytes, links with other targets, folders with other permission bits.
    pub overwrites: i64,
    /// Things taken away; of a move, the old place.
    pub deletes: i64,
    /// Files moved.
    pub moves: i64,
    /// Files that are gone or have other bytes afterwards: neither what is moved nor a folder with nothing in it.
    pub lost: i64,
    /// Places that are hidden.
    pub hidden_paths: i64,
    /// Places that act later as code or settings.
    pub acting_paths: i64,
    /// Places that look like keys, passwords or tokens.
    pub secret_paths: i64,
    /// Files that may be run.
    pub executables: i64,
    /// Files that would run as somebody else.
    pub elevated: i64,
    /// Links that lead out of the folder.
    pub links_out: i64,
    /// Whether it asks for the network.
    pub network: bool,
}

impl Counts {
    /// Counts of looks.
    pub fn of_reads(items: &[ReadItem]) -> Self {
        let mut counts = Self::default();
        items.iter().for_each(|item| counts.add_read(item));
        counts
    }

    /// Counts of a change set.
    pub fn of_changes(items: &[ChangeItem]) -> Self {
        let mut counts = Self::default();
        items.iter().for_each(|item| counts.add_change(item));
        counts
    }

    fn add_read(&mut self, item: &ReadItem) {
        self.add_path(read_path(item));
        // A search that aims at secrets by its glob names them as surely as by a path.
        let by_path = path_kind(read_path(item)) == PathKind::Secret;
        self.secret_paths += i64::from(!by_path && names_secret(item));
    }

    /// Adds one change.
    pub fn add_change(&mut self, item: &ChangeItem) {
        match item {
            ChangeItem::Write { prior: Prior::Absent, .. }
            | ChangeItem::Link { prior: Prior::Absent, .. }
            | ChangeItem::Folder { was: None, .. } => self.creates += 1,
            ChangeItem::Write { prior: Prior::Sha256(_) | Prior::EmptyFolder | Prior::Link(_), .. }
            | ChangeItem::Link { prior: Prior::Sha256(_) | Prior::EmptyFolder | Prior::Link(_), .. }
            | ChangeItem::Folder { was: Some(_), .. } => {
                self.overwrites += 1;
                // A folder only gets other permission bits.
                self.lost += i64::from(!matches!(item, ChangeItem::Folder { .. }));
            }
            ChangeItem::Delete { prior, .. } => {
                self.deletes += 1;
                self.lost += i64::from(*prior != Prior::EmptyFolder);
            }
            ChangeItem::Move { .. } => {
                self.moves += 1;
                self.deletes += 1;
            }
        }
        if let ChangeItem::Write { mode: Some(mode), .. } = item {
            self.executables += i64::from(mode & EXECUTE_BITS != 0);
            self.elevated += i64::from(mode & ELEVATE_BITS != 0);
        }
        if let ChangeItem::Link { path, target, .. } = item {
            self.links_out += i64::from(leads_out(path, target));
        }
        changed_paths(item).for_each(|path| self.add_path(path));
    }

    /// Adds one place.
    pub fn add_path(&mut self, path: &RelPath) {
        self.targets += 1;
        match path_kind(path) {
            PathKind::Plain => {}
            PathKind::Hidden => self.hidden_paths += 1,
            PathKind::ActsLater => self.acting_paths += 1,
            PathKind::Secret => self.secret_paths += 1,
        }
    }
}
