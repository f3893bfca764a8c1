//! What policy allows only in a lesser form: the change is drafted and looked at, and nothing is changed (HK-11.4).
//!
//! The lesser form is a request of its own, with its own digest, and policy is asked about it like about any other. What
//! was asked and what was done instead both stay on record, and the proposer is told.

use super::judge::Judged;
use super::normalise::{Normalised, in_one_line};
use crate::Error;
use crate::kernel::Kernel;
use crate::ports::Hands;
use crate::state::TaskState;
use crate::writeup::{NewArtifact, Writeup};
use model::action::{Action, ChangeItem, Prior, ReadItem};
use model::artifact::{ArtifactClass, ArtifactKind, TrustTier};
use model::policy::Verdict;
use model::{Digest, PolicyResultId, RelPath};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Bytes of a draft that the proposer is shown; the whole is an artifact.
const SHOWN_BYTES_MAX: usize = 64 * 1024;

impl Kernel {
    /// The lesser form of a request that policy downgraded, in words for the proposer. None when there is none, or when
    /// policy does not allow that either: then the answer is no.
    pub(super) fn lesser(
        &self,
        state: &TaskState,
        w: &mut Writeup<'_>,
        hands: &dyn Hands,
        judged: &Judged,
    ) -> Result<Option<Value>, Error> {
        let Action::Change { items } = &judged.request.action else { return Ok(None) };
        let asked = judged.request.action_request_id;
        let reason = format!("looks at what `{asked}` would change, because policy allows no more");
        let look = Action::Observe { items: looks(items) };
        let Normalised { request, bytes, .. } = self.request_of(state, w, hands, look, &reason)?;
        let request_sha256 = Digest::of(&bytes);
        let id = PolicyResultId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let policy = self.ask_policy(state, &request, request_sha256, id, w.now)?;
        if policy.verdict != Verdict::Allow {
            return Ok(None);
        }
        let from = [judged.request_ref.artifact_id, judged.policy_ref.artifact_id];
        let at = w.artifact(&bytes, NewArtifact::audit(ArtifactKind::ActionRequest).from(from))?;
        let by = w.object(&policy, NewArtifact::audit(ArtifactKind::PolicyResult).from([at.artifact_id]))?;
        let draft = self.draft_of(w, hands, items)?;
        let mut new = NewArtifact::audit(ArtifactKind::Diff)
            .class(ArtifactClass::Deliverable)
            .media("text/plain; charset=utf-8")
            .trust(TrustTier::Untrusted)
            .from([judged.request_ref.artifact_id]);
        new.alias = Some(format!("draft of {}", in_one_line(&judged.request.action)));
        let kept = w.artifact(draft.as_bytes(), new)?;
        let found = hands.observe(&governance::witness::observable(&judged.request.target_resources));
        let found: Vec<Value> = found
            .iter()
            .map(|print| json!({ "resource": print.resource, "found": governance::witness::in_words(&print.state) }))
            .collect();
        let end = (0..=SHOWN_BYTES_MAX.min(draft.len())).rev().find(|at| draft.is_char_boundary(*at));
        let shown = draft.get(..end.unwrap_or(0)).unwrap_or_default();
        Ok(Some(json!({
            "asked": in_one_line(&judged.request.action),
            "done": "drafted and looked at; nothing was changed",
            "request": at.artifact_id,
            "request_sha256": request_sha256,
            "policy_result": by.artifact_id,
            "verdict": policy.verdict.as_str(),
            "found": found,
            "draft": kept.artifact_id,
            "draft_sha256": kept.sha256,
            "diff": shown,
            "diff_left_out": draft.len().saturating_sub(shown.len()),
        })))
    }

    /// The change as lines that a person reads, item by item.
    fn draft_of(&self, w: &Writeup<'_>, hands: &dyn Hands, items: &[ChangeItem]) -> Result<String, Error> {
        let paths: Vec<RelPath> = items.iter().flat_map(governance::changed_paths).cloned().collect();
        let there = hands.texts(&paths);
        let before = |prior: &Prior| match prior {
            Prior::Sha256(sha256) => there.get(sha256).cloned(),
            Prior::Absent | Prior::EmptyFolder | Prior::Link(_) => Some(Vec::new()),
        };
        let mut draft = String::new();
        for item in items {
            let (head, before, after) = match item {
                ChangeItem::Write { path, content_sha256, prior, .. } => {
                    let fresh = w.batch.blobs.iter().find(|(known, _)| known == content_sha256);
                    let after = match fresh {
                        Some((_, bytes)) => bytes.to_vec(),
                        None => self.artifacts.read(content_sha256)?,
                    };
                    let verb = if matches!(prior, Prior::Absent) { "create" } else { "replace" };
                    (format!("{verb} {path}"), before(prior), Some(after))
                }
                ChangeItem::Delete { path, prior } => {
                    (format!("delete {path}"), before(prior), Some(Vec::new()))
                }
                ChangeItem::Move { from, to, .. } => (format!("move {from} to {to}"), None, None),
                ChangeItem::Folder { path, .. } => (format!("make the folder {path}"), None, None),
                ChangeItem::Link { path, target, .. } => {
                    (format!("put {path} as a link to {target}"), None, None)
                }
            };
            let lines = before.zip(after).and_then(|(before, after)| effects::difference(&before, &after));
            // Writing into a string cannot fail.
            let _ = writeln!(draft, "{head}\n{}", lines.unwrap_or_default());
        }
        Ok(draft)
    }
}

/// Each place by its digest where something is, and the folder it would come to where nothing is.
fn looks(items: &[ChangeItem]) -> Vec<ReadItem> {
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
                listed.insert(path.parent());
            }
            ChangeItem::Move { from, to, .. } => {
                hashed.insert(from.clone());
                listed.insert(to.parent());
            }
        }
    }
    let hashes = hashed.into_iter().map(|path| ReadItem::Hash { path });
    hashes.chain(listed.into_iter().map(|path| ReadItem::List { path, recursive: false })).collect()
}
