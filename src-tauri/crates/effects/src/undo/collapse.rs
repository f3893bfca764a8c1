//! Many steps at one place as one: the card shows where it leads, not the way.

use model::action::{ChangeItem, Prior};
use model::witness::Found;
use model::{Digest, RelPath};
use std::collections::{BTreeMap, BTreeSet};

/// The same end from the same beginning in fewer items. Places that are moved from or to keep their steps, and so do
/// those that turn from a folder into something else or back.
pub(super) fn collapse(items: Vec<ChangeItem>, start: &BTreeMap<RelPath, Found>) -> Vec<ChangeItem> {
    let mut steps: BTreeMap<&RelPath, Vec<usize>> = BTreeMap::new();
    let mut fixed: BTreeSet<&RelPath> = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        match item {
            ChangeItem::Move { from, to, .. } => fixed.extend([from, to]),
            ChangeItem::Write { path, .. }
            | ChangeItem::Delete { path, .. }
            | ChangeItem::Folder { path, .. }
            | ChangeItem::Link { path, .. } => steps.entry(path).or_default().push(at),
        }
    }
    let mut instead: BTreeMap<usize, Option<ChangeItem>> = BTreeMap::new();
    for (path, at) in steps.into_iter().filter(|(path, _)| !fixed.contains(path)) {
        let ([_, .., last], Some(found)) = (at.as_slice(), start.get(path)) else { continue };
        let Some(one) = items.get(*last).and_then(|end| both(end, found)) else { continue };
        at.iter().for_each(|at| _ = instead.insert(*at, None));
        instead.insert(*last, one);
    }
    let kept: Vec<ChangeItem> = items
        .into_iter()
        .enumerate()
        .filter_map(|(at, item)| instead.remove(&at).unwrap_or(Some(item)))
        .collect();
    without_idle_folders(kept, start)
}

/// What was found as an item must expect it; none for what no item can replace in one step.
fn expected(found: &Found) -> Option<Prior> {
    match found {
        Found::Absent => Some(Prior::Absent),
        Found::File { sha256, .. } => Some(Prior::Sha256(*sha256)),
        Found::Symlink { target_sha256 } => Some(Prior::Link(*target_sha256)),
        _ => None,
    }
}

/// From what was found to behind the last step: one item, or none when that is where it began. Nothing when it takes
/// more than one item.
fn both(last: &ChangeItem, found: &Found) -> Option<Option<ChangeItem>> {
    let mut one = last.clone();
    let as_it_is = match (&mut one, found) {
        (ChangeItem::Folder { mode, was, .. }, Found::Folder { mode: now }) => {
            *was = *now;
            mode.is_none() || now.is_none() || mode == now
        }
        (ChangeItem::Folder { was, .. }, Found::Absent) => {
            *was = None;
            false
        }
        (ChangeItem::Folder { .. } | ChangeItem::Move { .. }, _) => return None,
        (ChangeItem::Delete { .. }, Found::Absent) => true,
        (ChangeItem::Delete { prior, .. }, Found::Folder { .. }) => {
            *prior = Prior::EmptyFolder;
            false
        }
        (ChangeItem::Delete { prior, .. }, _) => {
            *prior = expected(found)?;
            false
        }
        (ChangeItem::Write { prior, content_sha256, mode, .. }, _) => {
            *prior = expected(found)?;
            matches!(found, Found::File { sha256, mode: now, .. }
                if sha256 == content_sha256 && (mode.is_none() || now == mode))
        }
        (ChangeItem::Link { prior, target, .. }, _) => {
            *prior = expected(found)?;
            matches!(found, Found::Symlink { target_sha256 } if *target_sha256 == Digest::of(target.as_bytes()))
        }
    };
    Some((!as_it_is).then_some(one))
}

/// A folder that only steps on the way would have made is not there to be taken away.
fn without_idle_folders(items: Vec<ChangeItem>, start: &BTreeMap<RelPath, Found>) -> Vec<ChangeItem> {
    let mut kept: Vec<ChangeItem> = Vec::with_capacity(items.len());
    for item in items {
        if let ChangeItem::Delete { path, prior: Prior::EmptyFolder } = &item {
            let there = matches!(start.get(path), Some(Found::Folder { .. }));
            let comes = kept.iter().any(|earlier| match earlier {
                ChangeItem::Write { path: at, .. }
                | ChangeItem::Link { path: at, .. }
                | ChangeItem::Folder { path: at, .. }
                | ChangeItem::Move { to: at, .. } => at.is_within(path),
                ChangeItem::Delete { .. } => false,
            });
            if !there && !comes {
                continue;
            }
        }
        kept.push(item);
    }
    kept
}
