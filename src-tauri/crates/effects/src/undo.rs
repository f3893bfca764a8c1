//! The plan of an undo: the inverse of a receipt, around what anybody else has done since, or not at all.

use crate::merge;
use crate::stage::text;
use model::action::{ChangeItem, Prior};
use model::receipt::{Change, ItemOutcome, Receipt};
use model::witness::{Fingerprint, Found};
use model::{Digest, RelPath, ResourceId};
use std::collections::BTreeMap;

/// Why an undo cannot be planned. Nothing has been changed, nothing is lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} of the receipt's resources cannot be taken back as they are; decide about each by itself", .items.len())]
pub struct Conflict {
    /// What stands in the way, resource by resource.
    pub items: Vec<ConflictItem>,
}

/// One resource that stands in the way of an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictItem {
    /// Which, as the receipt names it.
    pub resource: String,
    /// What the act left there.
    pub left: Found,
    /// What is there now.
    pub found: Found,
    /// Why it stands in the way.
    pub why: String,
}

impl ConflictItem {
    /// Digest of what the act left, if it was a file.
    pub fn left_sha256(&self) -> Option<Digest> {
        digest(&self.left)
    }

    /// Digest of what is there now, if it is a file.
    pub fn found_sha256(&self) -> Option<Digest> {
        digest(&self.found)
    }
}

fn digest(found: &Found) -> Option<Digest> {
    match found {
        Found::File { sha256, .. } => Some(*sha256),
        _ => None,
    }
}

/// The inverse change set of what a receipt says was done, last thing first; each item expects what the act left.
///
/// `current` is what [`crate::Hands::observe`] finds at the receipt's resources now. Bytes needed are those of the
/// receipt's before-images. Folders the act made are taken away again when they are empty by then; a folder it
/// removed comes back with the files that were in it, an empty one does not come back: it held no bytes.
/// The receipt of an undo is undone in the same way.
///
/// # Errors
/// [`Conflict`] when a resource is not as the act left it, when its earlier bytes were not kept, or when what
/// happened there is no file change: all of them, not the first alone.
pub fn plan_rollback(receipt: &Receipt, current: &[Fingerprint]) -> Result<Vec<ChangeItem>, Conflict> {
    plan_rollback_keeping(receipt, current, &|_| None).map(|plan| plan.items)
}

/// An undo that keeps later work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The inverse change set.
    pub items: Vec<ChangeItem>,
    /// Texts in which the undo and a later edit are both, to be stored before the set is performed.
    pub merged: Vec<Vec<u8>>,
    /// Where that is so, in words.
    pub notes: Vec<String>,
}

/// As [`plan_rollback`], and where a person has edited a text since, the undo goes around their edit: base is what
/// the act left, one side what was there before, the other what is there now. Edits that overlap stay a conflict.
/// `read` gives bytes by digest, of before-images and of what the act left; `None` when they are not kept.
///
/// # Errors
/// [`Conflict`] as there, with what could not be merged.
pub fn plan_rollback_keeping(
    receipt: &Receipt,
    current: &[Fingerprint],
    read: &dyn Fn(&Digest) -> Option<Vec<u8>>,
) -> Result<Plan, Conflict> {
    let now: BTreeMap<String, Vec<u8>> = current
        .iter()
        .filter_map(|print| Some((print.resource.to_string(), read(&digest(&print.state)?)?)))
        .collect();
    let current: BTreeMap<String, &Found> =
        current.iter().map(|f| (f.resource.to_string(), &f.state)).collect();
    let (conflicts, merges) = around(receipt, last_states(receipt, &current), &current, &now, read);
    plan(receipt, conflicts, merges)
}

/// A text in which an undo and a later edit are both, by resource.
type Merges = BTreeMap<String, (ChangeItem, Vec<u8>)>;

/// Takes out of `conflicts` what can be merged.
fn around(
    receipt: &Receipt,
    conflicts: Vec<ConflictItem>,
    current: &BTreeMap<String, &Found>,
    now: &BTreeMap<String, Vec<u8>>,
    read: &dyn Fn(&Digest) -> Option<Vec<u8>>,
) -> (Vec<ConflictItem>, Merges) {
    let mut merges = Merges::new();
    let open = conflicts.into_iter().filter_map(|mut item| {
        let of_it: Vec<&Change> = receipt
            .changes
            .iter()
            .filter(|c| c.outcome == ItemOutcome::Done && name(c).as_ref() == Some(&item.resource))
            .collect();
        let ([change], Some(theirs)) = (of_it.as_slice(), now.get(&item.resource)) else { return Some(item) };
        let merged = merge_one(change, theirs, read);
        match (merged, current.get(&item.resource), path(change)) {
            (Some(Ok(bytes)), Some(Found::File { sha256, mode, .. }), Ok(path)) => {
                let write = ChangeItem::Write {
                    path,
                    content_sha256: Digest::of(&bytes),
                    byte_size: bytes.len() as u64,
                    prior: Prior::Sha256(*sha256),
                    mode: *mode,
                };
                merges.insert(item.resource, (write, bytes));
                None
            }
            (Some(Err(())), ..) => {
                item.why = "the same lines were changed after the act; undoing would lose that".to_owned();
                Some(item)
            }
            _ => Some(item),
        }
    });
    (open.collect(), merges)
}

/// What is there now without what the act did to it; an error when both touch the same lines, nothing when it is no
/// text or not kept.
fn merge_one(
    change: &Change,
    theirs: &[u8],
    read: &dyn Fn(&Digest) -> Option<Vec<u8>>,
) -> Option<Result<Vec<u8>, ()>> {
    let image = change.before_image.as_ref().filter(|kept| Some(kept.sha256) == digest(&change.before))?;
    let (base, ours) = (read(&digest(&change.after)?)?, read(&image.sha256)?);
    let all = [base.as_slice(), ours.as_slice(), theirs];
    if all.iter().any(|side| side.len() as u64 > crate::STAGE_TEXT_BYTES_MAX) {
        return None;
    }
    let (base, ours, theirs) = (text(&base)?, text(&ours)?, text(theirs)?);
    Some(merge::three_way(base, ours, theirs).map(String::into_bytes).ok_or(()))
}

fn plan(receipt: &Receipt, mut conflicts: Vec<ConflictItem>, mut merges: Merges) -> Result<Plan, Conflict> {
    let mut items = Vec::new();
    let (mut merged, mut notes) = (Vec::new(), Vec::new());
    let done: Vec<&Change> =
        receipt.changes.iter().filter(|c| c.outcome == ItemOutcome::Done && c.before != c.after).collect();
    let mut at = done.len();
    while at > 0 {
        at -= 1;
        let Some(change) = done.get(at).copied() else { break };
        if let Some((write, bytes)) = name(change).and_then(|name| merges.remove(&name)) {
            if let ChangeItem::Write { path, .. } = &write {
                notes.push(format!("`{path}` was edited since; the undo goes around that edit"));
            }
            items.push(write);
            merged.push(bytes);
            continue;
        }
        let earlier = at.checked_sub(1).and_then(|at| done.get(at)).copied();
        if let Some(source) = earlier.filter(|source| is_move(source, change)) {
            at -= 1;
            push(inverse_move(source, change), change, &mut items, &mut conflicts);
        } else {
            push(inverse(change), change, &mut items, &mut conflicts);
        }
    }
    for change in receipt.changes.iter().filter(|c| c.outcome == ItemOutcome::Unknown) {
        let why = "what happened here is not known; settle it first".to_owned();
        conflicts.push(conflict(change, change.after.clone(), why));
    }
    if conflicts.is_empty() { Ok(Plan { items, merged, notes }) } else { Err(Conflict { items: conflicts }) }
}

fn push(
    planned: Result<Vec<ChangeItem>, String>,
    change: &Change,
    items: &mut Vec<ChangeItem>,
    conflicts: &mut Vec<ConflictItem>,
) {
    match planned {
        Ok(planned) => items.extend(planned),
        Err(why) => conflicts.push(conflict(change, change.after.clone(), why)),
    }
}

fn conflict(change: &Change, found: Found, why: String) -> ConflictItem {
    ConflictItem { resource: name(change).unwrap_or_default(), left: change.after.clone(), found, why }
}

/// Resources that are not as the act left them. The last change of a resource says how it was left.
fn last_states(receipt: &Receipt, current: &BTreeMap<String, &Found>) -> Vec<ConflictItem> {
    let mut last: BTreeMap<String, &Change> = BTreeMap::new();
    for change in receipt.changes.iter().filter(|c| c.outcome == ItemOutcome::Done && c.before != c.after) {
        last.insert(name(change).unwrap_or_default(), change);
    }
    let differs = |(resource, change): (&String, &&Change)| match current.get(resource) {
        Some(found) if same(&change.after, found) => None,
        Some(found) => {
            let why = "it was changed after the act; undoing would lose that".to_owned();
            Some(conflict(change, (*found).clone(), why))
        }
        None => {
            let found = Found::Unreadable { reason: "nobody looked".to_owned() };
            Some(conflict(change, found, "it has not been looked at".to_owned()))
        }
    };
    last.iter().filter_map(differs).collect()
}

/// Bytes decide: a change of permission bits alone loses nothing that an undo would overwrite.
fn same(left: &Found, found: &Found) -> bool {
    match (left, found) {
        (Found::File { sha256: a, .. }, Found::File { sha256: b, .. }) => a == b,
        _ => left == found,
    }
}

fn name(change: &Change) -> Option<String> {
    change.resource.clone().into_shown()
}

fn path(change: &Change) -> Result<RelPath, String> {
    let name = name(change).ok_or("the receipt's path has been redacted; disclose it first")?;
    match name.parse() {
        Ok(ResourceId::File(_, path)) => Ok(path),
        _ => Err(format!("`{name}` is not a file")),
    }
}

/// A file that vanished in one place and stood in the next with the same bytes, none of them kept aside: a move.
fn is_move(source: &Change, target: &Change) -> bool {
    let gone = matches!((&source.before, &source.after), (Found::File { .. }, Found::Absent));
    let came = matches!((&target.before, &target.after), (Found::Absent, Found::File { .. }));
    gone && came && source.before_image.is_none() && digest(&source.before) == digest(&target.after)
}

fn inverse_move(source: &Change, target: &Change) -> Result<Vec<ChangeItem>, String> {
    let digest = digest(&target.after).ok_or("what was moved is not a file")?;
    Ok(vec![ChangeItem::Move { from: path(target)?, to: path(source)?, prior: Prior::Sha256(digest) }])
}

/// Takes away what the act left, puts back what was there; a file that replaces a file is one item.
fn inverse(change: &Change) -> Result<Vec<ChangeItem>, String> {
    let path = path(change)?;
    let left = match &change.after {
        Found::Absent => Prior::Absent,
        Found::File { sha256, .. } => Prior::Sha256(*sha256),
        Found::Folder => Prior::EmptyFolder,
        _ => return Err("what the act left here is neither file nor folder".to_owned()),
    };
    let delete = |prior| ChangeItem::Delete { path: path.clone(), prior };
    match &change.before {
        Found::Absent => Ok(vec![delete(left)]),
        Found::File { sha256, byte_size, mode } => {
            if change.before_image.as_ref().is_none_or(|kept| kept.sha256 != *sha256) {
                return Err("its earlier bytes were not kept".to_owned());
            }
            let (content_sha256, byte_size, mode) = (*sha256, *byte_size, *mode);
            let write =
                |prior| ChangeItem::Write { path: path.clone(), content_sha256, byte_size, prior, mode };
            Ok(match left {
                Prior::EmptyFolder => vec![delete(left), write(Prior::Absent)],
                _ => vec![write(left)],
            })
        }
        // It comes back with the files inside; one without files held no bytes.
        Found::Folder if left == Prior::Absent => Ok(vec![]),
        Found::Folder => Ok(vec![delete(left)]),
        _ => Err("what was here before is not a file and was not kept".to_owned()),
    }
}
