//! Content that is alive, told without a collection: what a backup copies and a verification reads. One damaged piece
//! hides no other: what it would have led to is followed as far as it can be read.

use super::plan::{Gathered, document, names};
use crate::Error;
use crate::command::rollback;
use acts::{Action, ActionRequest};
use ledger::Reader;
use model::action::ChangeItem;
use model::artifact::ArtifactKind;
use model::{ArtifactId, TaskId};
use seal::Digest;
use std::collections::{BTreeMap, BTreeSet};

/// Digests of content that is alive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Live {
    /// Content that must be here, and a task it belongs to: of every artifact that was not let go, and what their
    /// requests write.
    pub kept: BTreeMap<Digest, TaskId>,
    /// What staged commands write: it is here once they were dispatched.
    pub staged: BTreeMap<Digest, TaskId>,
    /// Digests that requests and receipts name beside it. Some are content, others only the state of a file.
    pub named: BTreeSet<Digest>,
}

impl Live {
    fn request(&mut self, bytes: &[u8]) {
        if let Ok(request) = serde_json::from_slice::<ActionRequest>(bytes) {
            let of = request.task_id;
            if let Action::Change(acts::Change { items }) | Action::Rollback(acts::Rollback { items, .. }) =
                &request.action
            {
                self.kept.extend(written(items).map(|digest| (digest, of)));
            }
            let staged = request.staged.iter().flat_map(|staged| written(&staged.items));
            self.staged.extend(staged.map(|digest| (digest, of)));
        }
        self.names(bytes);
    }

    fn names(&mut self, bytes: &[u8]) {
        let mut found = BTreeSet::new();
        if let Ok(document) = document(bytes) {
            names(&document, &mut found);
        }
        self.named.extend(found.iter().filter_map(|name| name.parse::<Digest>().ok()));
    }
}

fn written(items: &[ChangeItem]) -> impl Iterator<Item = Digest> {
    items.iter().filter_map(|item| match item {
        ChangeItem::Write { content_sha256, .. } => Some(*content_sha256),
        ChangeItem::Move { .. }
        | ChangeItem::Delete { .. }
        | ChangeItem::Folder { .. }
        | ChangeItem::Link { .. } => None,
    })
}

/// What requests write, of these artifacts: bytes that stand there and may be no artifact of their own.
///
/// # Errors
/// As [`live`].
pub fn written_by(artifacts: &artifacts::Store, requests: &[Digest]) -> BTreeSet<Digest> {
    let mut live = Live::default();
    for digest in requests {
        if let Ok(bytes) = artifacts.read(digest) {
            live.request(&bytes);
        }
    }
    live.kept.into_keys().chain(live.staged.into_keys()).collect()
}

/// All content that is alive now. What a collection would take may be among it: that is alive until it is collected.
///
/// # Errors
/// [`Error::Ledger`] when the log cannot be read.
pub fn live(reader: &Reader, artifacts: &artifacts::Store) -> Result<Live, Error> {
    live_without(reader, artifacts, &BTreeSet::new())
}

/// As [`live`], as if these artifacts had been let go.
///
/// # Errors
/// As [`live`].
pub fn live_without(
    reader: &Reader,
    artifacts: &artifacts::Store,
    without: &BTreeSet<ArtifactId>,
) -> Result<Live, Error> {
    let all = Gathered::all(reader)?;
    let mut live = Live::default();
    live.named.extend(all.named.iter().filter_map(|name| name.parse::<Digest>().ok()));
    for (id, known) in &all.artifacts {
        if all.expired.contains(id) || without.contains(id) {
            continue;
        }
        let digest = known.artifact.content_hash;
        live.kept.insert(digest, known.task);
        // What cannot be read is found when its bytes are.
        let Ok(bytes) = (match known.artifact.kind {
            ArtifactKind::ActionRequest | ArtifactKind::ReceiptBundle => artifacts.read(&digest),
            _ => continue,
        }) else {
            continue;
        };
        match known.artifact.kind {
            ArtifactKind::ActionRequest => live.request(&bytes),
            _ => rollback::payload_of(&bytes).iter().for_each(|payload| live.names(payload)),
        }
    }
    live.named.extend(live.staged.keys());
    live.named.retain(|digest| !live.kept.contains_key(digest));
    Ok(live)
}
