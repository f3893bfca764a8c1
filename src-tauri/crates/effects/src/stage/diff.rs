//! From touched places to a change set: what is deleted, moved, replaced and made, by digest.

use super::Unstaged;
use super::leftovers::{link_at, read, said};
use super::text;
use super::touched::{Now, Touched};
use crate::{Error, Executors, STAGE_BYTES_MAX};
use model::action::{ChangeItem, LeftOut, Prior};
use model::approval::StagedChange;
use model::limits::{ARTIFACT_BYTES_MAX, CHANGE_ITEMS_MAX};
use model::witness::Found;
use model::{Digest, RelPath};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Permission bits by which its owner works in a folder.
const OWNER: u32 = 0o700;

/// What a staged command changed.
#[derive(Debug, Default)]
pub(crate) struct Diff {
    /// In the order in which they are committed.
    pub(crate) items: Vec<ChangeItem>,
    /// As a person reads them, deletions first.
    pub(crate) changes: Vec<StagedChange>,
    /// What is not carried over.
    pub(crate) notes: Vec<String>,
    /// What the folder's own ignore rules leave out.
    pub(crate) left_out: Vec<LeftOut>,
}

/// A file as the folder itself has it.
#[derive(Clone)]
struct Old {
    sha256: Digest,
    byte_size: u64,
    mode: Option<u32>,
}

/// A file as the command left it.
#[derive(Clone)]
pub(super) struct New {
    pub(super) at: PathBuf,
    pub(super) sha256: Digest,
    pub(super) byte_size: u64,
    pub(super) mode: Option<u32>,
}

/// A link as the folder itself has it, or as the command left it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) sha256: Digest,
    pub(super) target: String,
}

/// A link that came, and the file or the link that it takes the place of.
struct Linked {
    prior: Prior,
    file: Option<Old>,
    link: Option<Link>,
    new: Link,
}

#[derive(Default)]
struct Sorted {
    deletes: BTreeMap<RelPath, Old>,
    /// Links that went away.
    unlinked: BTreeMap<RelPath, Link>,
    /// Links that came, with what was there before.
    linked: BTreeMap<RelPath, Linked>,
    /// Files that came where a link was.
    unlinked_by_file: BTreeMap<RelPath, (Link, New)>,
    folders: BTreeSet<RelPath>,
    creates: BTreeMap<RelPath, New>,
    replaces: BTreeMap<RelPath, (Old, New)>,
    /// Folders that came, with their permission bits.
    made: BTreeMap<RelPath, Option<u32>>,
    /// Folders that are there and get other permission bits: before, after.
    modes: BTreeMap<RelPath, (u32, u32)>,
    /// What a folder gets when it is made and nobody says more.
    plain: Option<u32>,
}

/// The change set of what was touched. Bytes to be written are moved to `keep`, by digest.
pub(crate) fn diff(executors: &Executors, touched: &Touched, keep: &Path) -> Result<Diff, Unstaged> {
    check_length(touched)?;
    let mut sorted = Sorted { plain: plain(keep)?, ..Sorted::default() };
    for (path, now) in touched {
        sorted.take(executors, path, now)?;
    }
    let moves = sorted.moves();
    let mut diff = Diff::default();
    sorted.items(&moves, &mut diff);
    check_size(&sorted, &diff)?;
    sorted.show(executors, &moves, &mut diff);
    sorted.keep(keep)?;
    Ok(diff)
}

/// Looked at before anything is read, so that what is far too much is said at once, with the largest by name.
fn check_length(touched: &Touched) -> Result<(), Unstaged> {
    let files = touched.iter().filter_map(|(path, now)| match now {
        Now::File(at, _) => Some((path, fs::symlink_metadata(at).ok()?.len())),
        _ => None,
    });
    let (mut all, mut largest) = (0u64, None);
    for (path, length) in files {
        all = all.saturating_add(length);
        if largest.is_none_or(|(_, most)| length > most) {
            largest = Some((path, length));
        }
    }
    match largest {
        Some((path, length)) if all > STAGE_BYTES_MAX => Err(Unstaged::Failed(format!(
            "it leaves {all} bytes, more than the {STAGE_BYTES_MAX} of one act; `{path}` alone has {length}"
        ))),
        _ => Ok(()),
    }
}

fn check_size(sorted: &Sorted, diff: &Diff) -> Result<(), Unstaged> {
    if diff.items.len() > CHANGE_ITEMS_MAX {
        let say = format!(
            "it changes {}, more than the {} of one act; do it in parts",
            acts::count(diff.items.len(), "place"),
            acts::count(CHANGE_ITEMS_MAX, "place")
        );
        return Err(Unstaged::Failed(say));
    }
    let written = || {
        let files = sorted.creates.iter().chain(sorted.replaces.iter().map(|(path, (_, new))| (path, new)));
        files.chain(sorted.unlinked_by_file.iter().map(|(path, (_, new))| (path, new)))
    };
    if let Some((path, new)) = written().find(|(_, new)| new.byte_size > ARTIFACT_BYTES_MAX) {
        let say = format!(
            "it leaves `{path}` with {} bytes, more than the {ARTIFACT_BYTES_MAX} of one file",
            new.byte_size
        );
        return Err(Unstaged::Failed(say));
    }
    let bytes: u64 = written().map(|(_, new)| new.byte_size).sum();
    if bytes > STAGE_BYTES_MAX {
        let say = format!("it writes {bytes} bytes, more than the {STAGE_BYTES_MAX} of one act");
        return Err(Unstaged::Failed(say));
    }
    Ok(())
}

/// Makes the folder that bytes are laid aside in, as a command makes one, and tells which permission bits that gives.
fn plain(keep: &Path) -> Result<Option<u32>, Unstaged> {
    let fail = |source| Error::Spool { doing: "keeping what a staged run left", source };
    fs::create_dir(keep).map_err(fail)?;
    let metadata = fs::symlink_metadata(keep).map_err(fail)?;
    Ok(crate::workspace::entry::Stat::by_path(metadata).mode)
}

pub(super) fn cannot(path: &RelPath, what: &str) -> Unstaged {
    Unstaged::Cannot(format!("it {what} at `{path}`, which a change set cannot carry over"))
}

impl Sorted {
    fn take(&mut self, executors: &Executors, path: &RelPath, now: &Now) -> Result<(), Unstaged> {
        let before = executors.workspace.look(path);
        if let Now::Other(what) = now {
            return Err(cannot(path, &format!("leaves {what}")));
        }
        match (&before, now) {
            (Found::Special, _) => {
                return Err(cannot(path, "takes away something that is no file"));
            }
            (Found::Unreadable { reason }, _) => return Err(Unstaged::Failed(reason.clone())),
            _ => {}
        }
        if let Found::Symlink { .. } = &before {
            return self.was_link(executors, path, now);
        }
        if let Now::Link(at) = now {
            return self.becomes_link(path, &before, at);
        }
        let old = match &before {
            Found::File { sha256, byte_size, mode } => {
                Some(Old { sha256: *sha256, byte_size: *byte_size, mode: *mode })
            }
            _ => None,
        };
        match (old, now) {
            (Some(old), Now::Gone | Now::Folder(_)) => drop(self.deletes.insert(path.clone(), old)),
            (None, Now::Gone) if matches!(before, Found::Folder { .. }) => {
                self.folders.insert(path.clone());
            }
            (Some(old), Now::File(at, mode)) => {
                let new = read(path, at, *mode)?;
                if new.sha256 != old.sha256 || new.mode != old.mode {
                    self.replaces.insert(path.clone(), (old, new));
                }
            }
            (None, Now::File(at, mode)) => {
                if matches!(before, Found::Folder { .. }) {
                    self.folders.insert(path.clone());
                }
                self.creates.insert(path.clone(), read(path, at, *mode)?);
            }
            (None, Now::Gone | Now::Folder(_)) | (_, Now::Link(_) | Now::Other(_)) => {}
        }
        match (now, &before) {
            (Now::Folder(Some(now)), Found::Folder { mode: Some(was) }) if now != was => {
                self.modes.insert(path.clone(), (*was, *now));
            }
            (Now::Folder(_), Found::Folder { .. }) => {}
            (Now::Folder(mode), _) => drop(self.made.insert(path.clone(), *mode)),
            _ => {}
        }
        Ok(())
    }

    /// A place where a link was.
    fn was_link(&mut self, executors: &Executors, path: &RelPath, now: &Now) -> Result<(), Unstaged> {
        let old = said(path, executors.workspace.parent(path)?.link_target(path.file_name(), path)?)?;
        match now {
            Now::Gone => drop(self.unlinked.insert(path.clone(), old)),
            Now::Folder(mode) => {
                self.unlinked.insert(path.clone(), old);
                self.made.insert(path.clone(), *mode);
            }
            Now::File(at, mode) => {
                let new = read(path, at, *mode)?;
                self.unlinked_by_file.insert(path.clone(), (old, new));
            }
            Now::Link(at) => {
                let new = link_at(path, at)?;
                if new != old {
                    let prior = Prior::Link(old.sha256);
                    self.linked.insert(path.clone(), Linked { prior, file: None, link: Some(old), new });
                }
            }
            Now::Other(_) => {}
        }
        Ok(())
    }

    /// A place where a link is now.
    fn becomes_link(&mut self, path: &RelPath, before: &Found, at: &Path) -> Result<(), Unstaged> {
        let new = link_at(path, at)?;
        let file = match before {
            Found::File { sha256, byte_size, mode } => {
                Some(Old { sha256: *sha256, byte_size: *byte_size, mode: *mode })
            }
            Found::Folder { .. } => {
                self.folders.insert(path.clone());
                None
            }
            _ => None,
        };
        let prior = file.as_ref().map_or(Prior::Absent, |old| Prior::Sha256(old.sha256));
        self.linked.insert(path.clone(), Linked { prior, file, link: None, new });
        Ok(())
    }

    /// Folders that came with other permission bits than making one gives.
    fn odd_folders(&self) -> impl Iterator<Item = (&RelPath, u32)> {
        self.made
            .iter()
            .filter(|(_, mode)| **mode != self.plain)
            .filter_map(|(path, mode)| Some((path, (*mode)?)))
    }

    /// Folders that came with nothing in them and are like any other: of those with something, the files tell.
    fn empty_folders(&self, moves: &BTreeMap<RelPath, (RelPath, Old)>) -> impl Iterator<Item = &RelPath> {
        let came = self.creates.keys().chain(self.linked.keys()).chain(self.made.keys()).chain(moves.keys());
        let filled: BTreeSet<RelPath> = came.map(RelPath::parent).collect();
        let odd = |mode: &Option<u32>| mode.is_some() && *mode != self.plain;
        self.made
            .iter()
            .filter(move |(_, mode)| !odd(mode))
            .map(|(folder, _)| folder)
            .filter(move |folder| !filled.contains(*folder))
    }

    /// A file that went away and one of the same bytes and permissions that came: a rename. To, from.
    fn moves(&mut self) -> BTreeMap<RelPath, (RelPath, Old)> {
        let mut gone: BTreeMap<(Digest, Option<u32>), Vec<RelPath>> = BTreeMap::new();
        for (path, old) in &self.deletes {
            // What stands in the way of a new folder has to go before anything moves.
            if old.byte_size > 0 && !self.made.contains_key(path) {
                gone.entry((old.sha256, old.mode)).or_default().push(path.clone());
            }
        }
        let mut moves = BTreeMap::new();
        for (to, new) in &self.creates {
            if self.folders.contains(to) {
                continue;
            }
            let Some(from) = gone.get_mut(&(new.sha256, new.mode)) else { continue };
            let same_name = from.iter().position(|path| path.file_name() == to.file_name());
            let at = same_name.unwrap_or(0);
            if at < from.len() {
                let path = from.remove(at);
                if let Some(old) = self.deletes.get(&path) {
                    moves.insert(to.clone(), (path, old.clone()));
                }
            }
        }
        for (to, (from, _)) in &moves {
            self.creates.remove(to);
            self.deletes.remove(from);
        }
        moves
    }

    /// Files go first, then files move, then folders go from the inside out, then files come.
    fn items(&self, moves: &BTreeMap<RelPath, (RelPath, Old)>, diff: &mut Diff) {
        let delete = |(path, old): (&RelPath, &Old)| ChangeItem::Delete {
            path: path.clone(),
            prior: Prior::Sha256(old.sha256),
        };
        let bits = |path: &RelPath, was: u32, mode: u32| ChangeItem::Folder {
            path: path.clone(),
            mode: Some(mode),
            was: Some(was),
        };
        // A folder that its owner may write to only now has to get its bits before anything in it changes.
        let opens = |was: u32, mode: u32| mode & OWNER & !was != 0;
        let (first, last): (Vec<_>, Vec<_>) =
            self.modes.iter().partition(|(_, (was, mode))| opens(*was, *mode));
        diff.items.extend(first.into_iter().map(|(path, (was, mode))| bits(path, *was, *mode)));
        diff.items.extend(self.deletes.iter().map(delete));
        diff.items.extend(
            self.unlinked
                .iter()
                .map(|(path, old)| ChangeItem::Delete { path: path.clone(), prior: Prior::Link(old.sha256) }),
        );
        diff.items.extend(self.odd_folders().map(|(path, mode)| ChangeItem::Folder {
            path: path.clone(),
            mode: Some(mode | OWNER),
            was: None,
        }));
        diff.items.extend(moves.iter().map(|(to, (from, old))| ChangeItem::Move {
            from: from.clone(),
            to: to.clone(),
            prior: Prior::Sha256(old.sha256),
        }));
        let gone = |path: &RelPath| ChangeItem::Delete { path: path.clone(), prior: Prior::EmptyFolder };
        diff.items.extend(self.folders.iter().rev().map(gone));
        let write = |path: &RelPath, new: &New, prior: Prior| ChangeItem::Write {
            path: path.clone(),
            content_sha256: new.sha256,
            byte_size: new.byte_size,
            prior,
            mode: new.mode,
        };
        diff.items.extend(
            self.replaces.iter().map(|(path, (old, new))| write(path, new, Prior::Sha256(old.sha256))),
        );
        diff.items.extend(
            self.unlinked_by_file.iter().map(|(path, (old, new))| write(path, new, Prior::Link(old.sha256))),
        );
        diff.items.extend(self.empty_folders(moves).map(|path| ChangeItem::Folder {
            path: path.clone(),
            mode: None,
            was: None,
        }));
        diff.items.extend(self.creates.iter().map(|(path, new)| write(path, new, Prior::Absent)));
        diff.items.extend(self.linked.iter().map(|(path, linked)| ChangeItem::Link {
            path: path.clone(),
            target: linked.new.target.clone(),
            prior: linked.prior,
        }));
        let closed = self.odd_folders().filter(|(_, mode)| mode & OWNER != OWNER);
        let closed = closed.map(|(path, mode)| (path, (mode | OWNER, mode)));
        let mut last: Vec<_> = last.into_iter().map(|(path, both)| (path, *both)).chain(closed).collect();
        last.sort();
        diff.items.extend(last.into_iter().rev().map(|(path, (was, mode))| bits(path, was, mode)));
    }

    fn show(&self, executors: &Executors, moves: &BTreeMap<RelPath, (RelPath, Old)>, diff: &mut Diff) {
        let mut add = |path: &RelPath, effect: &str, old: Option<&Old>, new: Option<&New>| {
            let mut change = StagedChange {
                path: path.clone(),
                from: None,
                effect: effect.to_owned(),
                before_sha256: old.map(|o| o.sha256),
                before_bytes: old.map(|o| o.byte_size),
                before_mode: old.and_then(|o| o.mode),
                after_sha256: new.map(|n| n.sha256),
                after_bytes: new.map(|n| n.byte_size),
                after_mode: new.and_then(|n| n.mode),
                text: None,
                no_text: None,
            };
            if !matches!(effect, "mode" | "delete_folder" | "make_folder") {
                let before = old.map(|o| (path, o.byte_size));
                let after = new.map(|n| (n.at.as_path(), n.byte_size));
                match text::lines(&executors.workspace, before, after) {
                    Ok(text) => change.text = Some(text),
                    Err(why) => change.no_text = Some(why),
                }
            }
            diff.changes.push(change);
        };
        for (path, old) in &self.deletes {
            add(path, "delete", Some(old), None);
        }
        for path in &self.folders {
            add(path, "delete_folder", None, None);
        }
        for (path, (old, new)) in &self.replaces {
            let effect = if old.sha256 == new.sha256 { "mode" } else { "replace" };
            add(path, effect, Some(old), Some(new));
        }
        for (path, new) in &self.creates {
            add(path, "create", None, Some(new));
        }
        for (path, (_, new)) in &self.unlinked_by_file {
            add(path, "replace", None, Some(new));
        }
        for path in self.empty_folders(moves) {
            add(path, "make_folder", None, None);
        }
        for (path, mode) in self.odd_folders() {
            let mut change = StagedChange::bare(path.clone(), "make_folder");
            change.after_mode = Some(mode);
            diff.changes.push(change);
        }
        for (path, (was, mode)) in &self.modes {
            let mut change = StagedChange::bare(path.clone(), "mode");
            (change.before_mode, change.after_mode) = (Some(*was), Some(*mode));
            diff.changes.push(change);
        }
        let lost = self.show_links(&mut diff.changes);
        // A rename takes the name away, so it stands with what is lost.
        let at = self.deletes.len().saturating_add(lost);
        diff.changes.splice(at..at, moves.iter().map(renamed));
    }

    /// Links that went and came; how many rows of what is lost now stand before all others.
    fn show_links(&self, changes: &mut Vec<StagedChange>) -> usize {
        let says = |sign: char, link: &Link| format!("{sign}link to {}\n", link.target);
        for change in changes.iter_mut() {
            if let Some((old, _)) = self.unlinked_by_file.get(&change.path) {
                change.before_sha256 = Some(old.sha256);
                change.text = change.text.take().map(|text| format!("-link to {}\n{text}", old.target));
            }
        }
        let mut lost: Vec<StagedChange> = Vec::new();
        for (path, old) in &self.unlinked {
            let mut change = StagedChange::bare(path.clone(), "delete");
            change.before_sha256 = Some(old.sha256);
            change.text = Some(says('-', old));
            lost.push(change);
        }
        for (path, Linked { file, link, new, .. }) in &self.linked {
            let mut change = StagedChange::bare(path.clone(), "link");
            change.after_sha256 = Some(new.sha256);
            change.text = Some(link.iter().map(|old| says('-', old)).chain([says('+', new)]).collect());
            change.before_bytes = file.as_ref().map(|old| old.byte_size);
            change.before_mode = file.as_ref().and_then(|old| old.mode);
            change.before_sha256 =
                file.as_ref().map(|old| old.sha256).or_else(|| link.as_ref().map(|old| old.sha256));
            let list = if change.before_sha256.is_some() { &mut lost } else { &mut *changes };
            list.push(change);
        }
        let many = lost.len();
        changes.splice(0..0, lost);
        many
    }

    /// Moves what will be written out of the view, by digest.
    fn keep(&self, folder: &Path) -> Result<(), Unstaged> {
        let fail = |source| Error::Spool { doing: "keeping what a staged run left", source };
        let files = self.creates.values().chain(self.replaces.values().map(|(_, new)| new));
        for new in files.chain(self.unlinked_by_file.values().map(|(_, new)| new)) {
            let to = folder.join(new.sha256.to_string());
            if !to.exists() {
                // Another name of the same file may still be looked for in the view.
                fs::hard_link(&new.at, &to).or_else(|_| fs::copy(&new.at, &to).map(drop)).map_err(fail)?;
            }
        }
        Ok(())
    }
}

fn renamed((to, (from, old)): (&RelPath, &(RelPath, Old))) -> StagedChange {
    let mut change = StagedChange::bare(to.clone(), "rename");
    change.from = Some(from.clone());
    (change.before_sha256, change.after_sha256) = (Some(old.sha256), Some(old.sha256));
    (change.before_bytes, change.after_bytes) = (Some(old.byte_size), Some(old.byte_size));
    (change.before_mode, change.after_mode) = (old.mode, old.mode);
    change
}
