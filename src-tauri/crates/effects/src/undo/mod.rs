//! The plan of an undo: the inverse of receipts, around what anybody else has done since.
//!
//! Nothing here touches the disk. [`plan_undo`] walks receipts from the newest to the oldest over a world of its own,
//! in which each step back has already been taken, so that a later act is out of the way before an earlier one is
//! undone. What stands in the way is named and left; the rest is planned (governance.md 5, HK-18.6).

mod collapse;
mod inverse;
mod past;

use model::action::ChangeItem;
use model::receipt::Receipt;
use model::witness::{Fingerprint, Found};
use model::{Digest, ReceiptId, RelPath, ResourceId};
use std::collections::BTreeMap;

/// Why an undo cannot be planned. Nothing has been changed, nothing is lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} of the receipt's resources cannot be taken back as they are; decide about each by itself", .items.len())]
pub struct Conflict {
    /// What stands in the way, resource by resource.
    pub items: Vec<ConflictItem>,
}

/// One resource that an undo leaves as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictItem {
    /// The receipt whose act is not taken back here.
    pub receipt_id: ReceiptId,
    /// Which, as the receipt names it.
    pub resource: String,
    /// What the act left there.
    pub left: Found,
    /// What is there now.
    pub found: Found,
    /// Why it stands in the way.
    pub why: String,
    /// Where the earlier version comes instead.
    pub beside: Option<RelPath>,
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

/// An undo that keeps later work.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The inverse change set.
    pub items: Vec<ChangeItem>,
    /// Texts in which the undo and a later edit are both, to be stored before the set is performed.
    pub merged: Vec<Vec<u8>>,
    /// Where that is so, in words.
    pub notes: Vec<String>,
    /// What is left as it is, and why.
    pub left: Vec<ConflictItem>,
    /// Receipts of which nothing will be left, the newest first.
    pub undone: Vec<ReceiptId>,
    /// Receipts of which something will be left.
    pub partly: Vec<ReceiptId>,
}

/// The inverse change set of what a receipt says was done, last thing first; each item expects what the act left.
///
/// `current` is what [`crate::Executors::observe`] finds at the receipt's resources now. Bytes needed are those of the
/// receipt's before-images. Folders the act made are taken away again when they are empty by then; a folder it
/// removed comes back with the files that were in it, an empty one does not come back: it held no bytes.
/// The receipt of an undo is undone in the same way.
///
/// # Errors
/// [`Conflict`] when anything would be left: all of it, not the first alone.
pub fn plan_rollback(receipt: &Receipt, current: &[Fingerprint]) -> Result<Vec<ChangeItem>, Conflict> {
    plan_rollback_keeping(receipt, current, &|_| None).map(|plan| plan.items)
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
    let places: BTreeMap<&RelPath, &Found> = current
        .iter()
        .filter_map(|print| match &print.resource {
            ResourceId::File(_, path) => Some((path, &print.state)),
            _ => None,
        })
        .collect();
    // A place that the receipt does not name is one that nobody looked at, and so not free.
    let look = |path: &RelPath| {
        let unseen = || Found::Unreadable { reason: "it has not been looked at".to_owned() };
        places.get(path).map_or_else(unseen, |found| (*found).clone())
    };
    let plan = plan_undo(&[receipt], &look, read);
    if plan.left.is_empty() { Ok(plan) } else { Err(Conflict { items: plan.left }) }
}

/// The inverse of many receipts, given the newest first, as one change set.
///
/// A file that somebody changed since is never overwritten: a text is merged where the edits do not touch; else
/// theirs stays, and of what is no text the earlier version comes beside it under a name of its own. `look` tells what
/// is at a path now, `read` gives bytes by digest as in [`plan_rollback_keeping`].
pub fn plan_undo(
    receipts: &[&Receipt],
    look: &dyn Fn(&RelPath) -> Found,
    read: &dyn Fn(&Digest) -> Option<Vec<u8>>,
) -> Plan {
    let mut past = past::Past::new(receipts, look, read);
    let mut plan = Plan::default();
    for receipt in receipts {
        let whole = past.undo(receipt);
        let list = if whole { &mut plan.undone } else { &mut plan.partly };
        list.push(receipt.receipt_id);
    }
    past.finish(&mut plan);
    plan
}

/// Of a file.
pub(crate) fn digest(found: &Found) -> Option<Digest> {
    match found {
        Found::File { sha256, .. } => Some(*sha256),
        _ => None,
    }
}
