//! Items of a change set: what is known of each, for whatever tool does them or undoes them.

use crate::sensitive_paths::{is_capability, is_version_control};
use crate::{Line, LineKind, Part, count, place, visible, visible_path};
use model::action::{ActionClass, ChangeItem, ExpectedEffect, Prior, ReadItem};
use model::witness::{Fingerprint, Found};
use model::{Digest, RelPath, ResourceId, WorkspaceId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// Classes of a change set: a move is a write and a delete, a file below `.git` is version control, and one below
/// `.hermit` changes what Hermit may do.
pub(crate) fn classes(items: &[ChangeItem]) -> BTreeSet<ActionClass> {
    let mut found = BTreeSet::new();
    // A set without items still asks for the right to write.
    if items.is_empty() {
        found.insert(ActionClass::WriteLocal);
    }
    for item in items {
        match item {
            ChangeItem::Write { .. } | ChangeItem::Folder { .. } | ChangeItem::Link { .. } => {
                found.insert(ActionClass::WriteLocal)
            }
            ChangeItem::Delete { .. } => found.insert(ActionClass::DeleteLocal),
            ChangeItem::Move { .. } => {
                found.insert(ActionClass::WriteLocal);
                found.insert(ActionClass::DeleteLocal)
            }
        };
        if changed_paths(item).any(is_version_control) {
            found.insert(ActionClass::VcsMutation);
        }
        if changed_paths(item).any(is_capability) {
            found.insert(ActionClass::CapabilityChange);
        }
    }
    found
}

/// Every place that an item changes: one, or two for a move, from where before to where.
pub fn changed_paths(item: &ChangeItem) -> impl Iterator<Item = &RelPath> {
    let (first, second) = match item {
        ChangeItem::Write { path, .. }
        | ChangeItem::Delete { path, .. }
        | ChangeItem::Folder { path, .. }
        | ChangeItem::Link { path, .. } => (path, None),
        ChangeItem::Move { from, to, .. } => (from, Some(to)),
    };
    std::iter::once(first).chain(second)
}

/// A change set in one line, what destroys first.
pub(crate) fn title(items: &[ChangeItem]) -> String {
    // A folder that goes is empty by then: nothing is destroyed with it, so it comes last.
    const VERBS: [&str; 6] = ["delete", "overwrite", "move", "change the mode of", "create", "remove"];
    const NOUNS: [&str; 3] = ["file", "folder", "link"];
    let told: Vec<_> = items.iter().map(told).collect();
    let number = |verb: &str, noun: &str| told.iter().filter(|one| **one == (verb, noun)).count();
    let parts: Vec<String> = VERBS
        .iter()
        .flat_map(|verb| NOUNS.iter().map(move |noun| (*verb, *noun)))
        .map(|(verb, noun)| (verb, noun, number(verb, noun)))
        .filter(|(.., number)| *number > 0)
        .map(|(verb, noun, number)| format!("{verb} {}", count(number, noun)))
        .collect();
    if parts.is_empty() { "change nothing".to_owned() } else { parts.join(", ") }
}

/// What an item does, and to what.
const fn told(item: &ChangeItem) -> (&'static str, &'static str) {
    match item {
        ChangeItem::Delete { prior: Prior::EmptyFolder, .. } => ("remove", "folder"),
        ChangeItem::Delete { prior, .. } => ("delete", thing(prior)),
        ChangeItem::Move { prior, .. } => ("move", thing(prior)),
        ChangeItem::Write { prior: Prior::Absent, .. } => ("create", "file"),
        ChangeItem::Link { prior: Prior::Absent, .. } => ("create", "link"),
        ChangeItem::Folder { was: None, .. } => ("create", "folder"),
        ChangeItem::Folder { was: Some(_), .. } => ("change the mode of", "folder"),
        ChangeItem::Write { prior, .. } | ChangeItem::Link { prior, .. } => ("overwrite", thing(prior)),
    }
}

const fn thing(prior: &Prior) -> &'static str {
    match prior {
        Prior::Absent | Prior::Sha256(_) => "file",
        Prior::EmptyFolder => "folder",
        Prior::Link(_) => "link",
    }
}

/// One change is told by the name of its file, so that lists tell acts apart and a search finds it.
pub(crate) fn one_line(items: &[ChangeItem]) -> String {
    if let [item] = items {
        return match item {
            ChangeItem::Write { path, prior: Prior::Absent, .. } => format!("create {}", place(path)),
            ChangeItem::Write { path, .. } => format!("overwrite {}", place(path)),
            ChangeItem::Delete { path, prior: Prior::EmptyFolder } => {
                format!("remove the folder {}", place(path))
            }
            ChangeItem::Delete { path, .. } => format!("delete {}", place(path)),
            ChangeItem::Move { from, to, .. } => format!("move {} to {}", place(from), place(to)),
            ChangeItem::Folder { path, .. } => format!("make the folder {}", place(path)),
            ChangeItem::Link { path, .. } => format!("make the link {}", place(path)),
        };
    }
    title(items)
}

/// How the line of a folder begins that goes only if nothing is in it then: quiet, and last of a card.
pub const EMPTY_FOLDER: &str = "remove the folder, if it is empty by then:";

/// On what it depends that a folder goes.
pub const IF_EMPTY: &str = "if it is empty by then";

/// What a receipt says of a folder that went.
pub const WAS_EMPTY: &str = "it was empty by then";

/// Why a folder that an undo was to take away is there still.
pub const HOLDS_LATER: &str = "it holds files that came later";

/// How a receipt observes that an undo has left a place; the place and why follow.
pub const LEFT_AS_IT_IS: &str = "left as it is: ";

/// How a receipt observes that a person chose a part of what was asked; by what follows.
pub const PART_APPROVED: &str = "a part of it was approved, by ";

/// How a receipt observes that a folder was to go, held something by then, and is there; the path in its written form.
pub fn folder_stays(path: &impl Display) -> String {
    format!("{A_FOLDER}{path}{STAYS}")
}

const A_FOLDER: &str = "the folder `";
const STAYS: &str = "` is not empty and stays";

/// Whether an observation of a receipt says that of any folder.
pub fn is_folder_that_stays(observed: &str) -> bool {
    observed.strip_prefix(A_FOLDER).is_some_and(|rest| rest.ends_with(STAYS))
}

/// The line of one change.
pub(crate) fn line(item: &ChangeItem) -> Line {
    match item {
        ChangeItem::Delete { path, prior: Prior::EmptyFolder } => {
            Line::effect(format!("{EMPTY_FOLDER} {}", visible_path(path)))
        }
        ChangeItem::Delete { path, prior } => Line {
            kind: LineKind::Destructive,
            text: format!("DELETE {} ({})", visible_path(path), before(prior)),
        },
        ChangeItem::Write { path, content_sha256, byte_size, prior, mode } => {
            let mode = mode.map(|mode| format!(", mode {mode:o}")).unwrap_or_default();
            let after = format!("{byte_size} bytes, sha256 {content_sha256}{mode}");
            match prior {
                Prior::Absent => Line::effect(format!("create {} with {after}", visible_path(path))),
                Prior::Sha256(_) | Prior::EmptyFolder | Prior::Link(_) => Line {
                    kind: LineKind::Destructive,
                    text: format!("OVERWRITE {} ({}) with {after}", visible_path(path), before(prior)),
                },
            }
        }
        ChangeItem::Folder { path, mode, was: None } => {
            let mode = mode.map(|mode| format!(", mode {mode:o}")).unwrap_or_default();
            Line::effect(format!("make the folder {}{mode}", visible_path(path)))
        }
        ChangeItem::Folder { path, mode, was: Some(was) } => Line {
            kind: LineKind::Destructive,
            text: format!(
                "CHANGE THE MODE of the folder {} from {was:o} to {:o}",
                visible_path(path),
                mode.unwrap_or(*was)
            ),
        },
        ChangeItem::Link { path, target, prior } => {
            let says = format!("a link to \"{}\"", visible(target));
            match prior {
                Prior::Absent => Line::effect(format!("put {} as {says}", visible_path(path))),
                Prior::Sha256(_) | Prior::EmptyFolder | Prior::Link(_) => Line {
                    kind: LineKind::Destructive,
                    text: format!("OVERWRITE {} ({}) with {says}", visible_path(path), before(prior)),
                },
            }
        }
        ChangeItem::Move { from, to, prior } => {
            Line::effect(format!("MOVE {} ({}) to {}", visible_path(from), before(prior), visible_path(to)))
        }
    }
}

/// The same with names alone: no digest, and no size.
pub(crate) fn by_name(item: &ChangeItem) -> String {
    match item {
        ChangeItem::Delete { path, prior: Prior::EmptyFolder } => {
            format!("{EMPTY_FOLDER} {}", visible_path(path))
        }
        ChangeItem::Delete { path, .. } => format!("DELETE {}", visible_path(path)),
        ChangeItem::Write { path, prior, mode, .. } => {
            let verb = if *prior == Prior::Absent { "create" } else { "OVERWRITE" };
            let mode = mode.map(|mode| format!(", mode {mode:o}")).unwrap_or_default();
            format!("{verb} {}{mode}", visible_path(path))
        }
        ChangeItem::Link { path, target, prior } => {
            let verb = if *prior == Prior::Absent { "put" } else { "OVERWRITE" };
            let link = if *prior == Prior::Absent { "as a link" } else { "with a link" };
            format!("{verb} {} {link} to \"{}\"", visible_path(path), visible(target))
        }
        ChangeItem::Move { from, to, .. } => format!("MOVE {} to {}", visible_path(from), visible_path(to)),
        ChangeItem::Folder { .. } => line(item).text,
    }
}

fn before(prior: &Prior) -> String {
    match prior {
        Prior::Absent => "now absent".to_owned(),
        Prior::Sha256(digest) => format!("now sha256 {digest}"),
        Prior::EmptyFolder => "now an empty folder".to_owned(),
        Prior::Link(digest) => format!("now a link whose target has sha256 {digest}"),
    }
}

/// What rules can speak of in one change.
pub fn parts(item: &ChangeItem) -> Vec<Part> {
    match item {
        ChangeItem::Write { path, .. } | ChangeItem::Folder { path, .. } => vec![Part::Edit(path.clone())],
        // Where a link leads is not said by its path: a rule may ask and deny it, and none allows it.
        ChangeItem::Link { path, .. } => vec![Part::Edit(path.clone()), Part::Other],
        ChangeItem::Delete { path, .. } => vec![Part::Delete(path.clone())],
        ChangeItem::Move { from, to, .. } => vec![Part::Delete(from.clone()), Part::Edit(to.clone())],
    }
}

/// The foreseen effects of a change set, item by item.
pub fn expected(workspace: WorkspaceId, items: &[ChangeItem], found: &[Fingerprint]) -> Vec<ExpectedEffect> {
    let there: BTreeMap<&RelPath, Digest> = found
        .iter()
        .filter_map(|print| match (&print.resource, &print.state) {
            (ResourceId::File(of, path), Found::File { sha256, .. }) if *of == workspace => {
                Some((path, *sha256))
            }
            _ => None,
        })
        .collect();
    let before = |path: &RelPath| there.get(path).copied();
    let effect =
        |path: &RelPath, effect: &str, after: Option<Digest>, byte_size: Option<u64>| ExpectedEffect {
            resource: ResourceId::File(workspace, path.clone()),
            effect: effect.to_owned(),
            before_sha256: before(path),
            after_sha256: after,
            byte_size,
        };
    let one = |item: &ChangeItem| match item {
        ChangeItem::Write { path, content_sha256, byte_size, prior, .. } => {
            let what = if matches!(prior, Prior::Absent) { "create" } else { "replace" };
            vec![effect(path, what, Some(*content_sha256), Some(*byte_size))]
        }
        ChangeItem::Delete { path, .. } => vec![effect(path, "delete", None, None)],
        ChangeItem::Folder { path, was: None, .. } => vec![effect(path, "create", None, None)],
        ChangeItem::Folder { path, was: Some(_), .. } => vec![effect(path, "replace", None, None)],
        ChangeItem::Link { path, target, prior } => {
            let what = if matches!(prior, Prior::Absent) { "create" } else { "replace" };
            vec![effect(path, what, Some(Digest::of(target.as_bytes())), Some(target.len() as u64))]
        }
        ChangeItem::Move { from, to, prior } => {
            let after = match prior {
                Prior::Sha256(digest) => Some(*digest),
                Prior::Absent | Prior::EmptyFolder | Prior::Link(_) => None,
            };
            vec![effect(from, "move_from", None, None), effect(to, "move_to", after, None)]
        }
    };
    items.iter().flat_map(one).collect()
}

/// The looks that stand in for a change set: each place by its digest where something is, and the nearest folder it would come to where nothing is.
pub(crate) fn looks(items: &[ChangeItem], there: &dyn Fn(&RelPath) -> bool) -> Vec<ReadItem> {
    // A folder that would be made first is not there to be looked at.
    let folder = |path: &RelPath| {
        let mut folder = path.parent();
        while !folder.is_root() && !there(&folder) {
            folder = folder.parent();
        }
        folder
    };
    let mut hashed: BTreeSet<RelPath> = BTreeSet::new();
    let mut listed: BTreeSet<RelPath> = BTreeSet::new();
    for item in items {
        match item {
            ChangeItem::Write { path, prior: Prior::Sha256(_), .. } | ChangeItem::Delete { path, .. } => {
                hashed.insert(path.clone());
            }
            ChangeItem::Write { path, .. }
            | ChangeItem::Folder { path, .. }
            | ChangeItem::Link { path, .. } => {
                listed.insert(folder(path));
            }
            ChangeItem::Move { from, to, .. } => {
                hashed.insert(from.clone());
                listed.insert(folder(to));
            }
        }
    }
    let hashes = hashed.into_iter().map(|path| ReadItem::Hash { path });
    hashes.chain(listed.into_iter().map(|path| ReadItem::List { path, recursive: false })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder goes only if nothing is in it by then: that is told apart from what destroys.
    #[test]
    fn a_folder_that_goes_is_removed_and_never_deleted() {
        let path = |name: &str| -> RelPath { name.parse().unwrap() };
        let file = Prior::Sha256(Digest([7; 32]));
        let gone = |name: &str, prior| ChangeItem::Delete { path: path(name), prior };
        let back = ChangeItem::Move { from: path("a/x"), to: path("x"), prior: file };
        let items = [gone("a", Prior::EmptyFolder), gone("b", Prior::EmptyFolder), back, gone("y", file)];
        assert_eq!(title(&items), "delete 1 file, move 1 file, remove 2 folders");
        assert_eq!(crate::done(&title(&items)), "Deleted 1 file, moved 1 file, removed 2 folders");
        assert!(one_line(&[gone("a", Prior::EmptyFolder)]).starts_with("remove the folder "));
    }

    /// Whoever reads of an act elsewhere is told which files, and what is lost; the card has the digests.
    #[test]
    fn a_change_is_told_elsewhere_by_the_names_of_its_files() {
        let path = |name: &str| -> RelPath { name.parse().unwrap() };
        let digest = Digest([7; 32]);
        let was = Prior::Sha256(digest);
        let write = |prior, mode| ChangeItem::Write {
            path: path("a.md"),
            content_sha256: digest,
            byte_size: 5,
            prior,
            mode,
        };
        let link = |prior| ChangeItem::Link { path: path("a"), target: "b".to_owned(), prior };
        let (from, to) = (path("one.jpg"), path("pictures/one.jpg"));
        for (item, says) in [
            (ChangeItem::Move { from, to, prior: was }, "MOVE one.jpg to pictures/one.jpg"),
            (ChangeItem::Delete { path: path("a.md"), prior: was }, "DELETE a.md"),
            (write(Prior::Absent, None), "create a.md"),
            (write(was, Some(0o755)), "OVERWRITE a.md, mode 755"),
            (link(Prior::Absent), "put a as a link to b"),
            (link(Prior::Link(digest)), "OVERWRITE a with a link to b"),
        ] {
            // However a name is marked on a card, it is so here.
            let told = by_name(&item).replace('"', "");
            assert_eq!(told, says);
            assert!(line(&item).text.len() > told.len() && !told.contains(&digest.to_string()), "{told}");
        }
    }
}
