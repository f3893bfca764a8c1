//! What a task did as its receipts say, and a playbook tried on it: against the state that was recorded before it, held in
//! memory. Nothing in any folder is looked at or touched.

use crate::Error;
use crate::drive::weakest_seen;
use crate::kernel::Kernel;
use crate::query::view;
use crate::state::TaskState;
use acts::{Action, ActionRequest, Change};
use knowledge::dreamer::{Did, Recorded};
use model::action::{ActionClass, ChangeItem, Prior};
use model::artifact::{Sensitivity, TrustTier};
use model::playbook::{PlaybookTrial, PlaybookTrialOutcome};
use model::receipt::{ItemOutcome, Receipt, ReceiptClass, ResultCode};
use model::task::{ModelChoice, TaskStatus};
use model::witness::Found;
use model::{ArtifactId, Digest, ReceiptId, RelPath, ResourceId, Slot, TaskId};
use reasoning::Playbook;
use reasoning::playbook::TrialWorld;
use std::collections::BTreeMap;

/// What one task did, as its receipts say.
pub(super) struct Traced {
    pub(super) recorded: Recorded,
    pub(super) receipts: Vec<ReceiptId>,
    pub(super) sources: Vec<ArtifactId>,
    pub(super) tier: TrustTier,
    /// What lay there before the first act, and behind the last, of all places that were changed.
    pub(super) before: TrialWorld,
    pub(super) after: BTreeMap<RelPath, Option<Digest>>,
}

impl Kernel {
    /// What a task did; none where its acts are not typed and enough, were undone, or cannot be read any more.
    pub(super) fn trace(&self, task_id: TaskId) -> Option<Traced> {
        self.ended_state(task_id).and_then(|state| self.traced(&state)).unwrap_or_else(|error| {
            tracing::warn!(task = %task_id, %error, "the dreamer goes on without a task that it cannot read");
            None
        })
    }

    fn traced(&self, state: &TaskState) -> Result<Option<Traced>, Error> {
        let by_model = !matches!(
            self.contract(state)?.model,
            ModelChoice::Playbook { .. } | ModelChoice::Rollback { .. } | ModelChoice::Tools { .. }
        );
        // What was done after a look into secrets may repeat them, and a draft is shown and used elsewhere.
        if state.artifacts.values().any(|artifact| artifact.sensitivity_class == Sensitivity::Secret) {
            return Ok(None);
        }
        let Some(attempt) =
            state.attempt().filter(|_| by_model && state.task.status == TaskStatus::Completed)
        else {
            return Ok(None);
        };
        let mut traced = Traced {
            recorded: Recorded { task_id: state.task.task_id, acts: Vec::new() },
            receipts: Vec::new(),
            sources: Vec::new(),
            // What a task that follows another was told of it, a model said and nobody has verified.
            tier: match state.task.continuation_anchor {
                Some(_) => TrustTier::Untrusted,
                None => weakest_seen(state, attempt),
            },
            before: TrialWorld::new(),
            after: BTreeMap::new(),
        };
        let query = self.query()?;
        for record in &state.receipts {
            let is_act = record.receipt_class != ReceiptClass::ApprovalResolution
                && record.action_class != ActionClass::ReadLocal;
            let (_, receipt) = self.receipt(record.receipt_id)?;
            // A receipt of calls of a model elsewhere is of no act.
            let Slot::Value(request) = receipt.action_request_ref.clone() else { continue };
            if !is_act {
                continue;
            }
            let undone =
                query.receipt(record.receipt_id).map_err(view)?.is_some_and(|row| row.undone_by.is_some());
            let request: ActionRequest = self.read_object(state, request.artifact_id)?;
            let Action::Change(change) = &request.action else { return Ok(None) };
            let Some(act) = self.typed(change)? else { return Ok(None) };
            if undone || record.result_code != ResultCode::Succeeded || !traced.saw(&receipt) {
                return Ok(None);
            }
            traced.recorded.acts.push(act);
            traced.receipts.push(record.receipt_id);
            traced.sources.push(record.envelope.artifact_id);
        }
        Ok(Some(traced).filter(|traced| !traced.receipts.is_empty()))
    }

    /// A change, item by item, where a playbook can say it: what is made anew, moved or removed.
    fn typed(&self, change: &Change) -> Result<Option<Vec<Did>>, Error> {
        let text = |path: &RelPath| std::str::from_utf8(path.as_bytes()).ok().map(str::to_owned);
        let mut act = Vec::new();
        for item in &change.items {
            let did = match item {
                ChangeItem::Write { path, content_sha256, prior: Prior::Absent, mode: None, .. } => {
                    let bytes = match self.artifacts.read(content_sha256) {
                        Ok(bytes) => bytes,
                        Err(artifacts::Error::Missing { .. }) => return Ok(None),
                        Err(error) => return Err(error.into()),
                    };
                    let content = String::from_utf8(bytes).ok();
                    text(path).zip(content).map(|(path, content)| Did::Write { path, content })
                }
                ChangeItem::Move { from, to, .. } => {
                    text(from).zip(text(to)).map(|(from, to)| Did::Move { from, to })
                }
                ChangeItem::Delete { path, prior: Prior::Sha256(_) } => {
                    text(path).map(|path| Did::Delete { path })
                }
                _ => None,
            };
            match did {
                Some(did) => act.push(did),
                None => return Ok(None),
            }
        }
        Ok(Some(act))
    }
}

impl Traced {
    /// Takes what a receipt says was there before and behind; whether all of it is files.
    fn saw(&mut self, receipt: &Receipt) -> bool {
        for change in &receipt.changes {
            let place = change.resource.shown().and_then(|text| text.parse().ok());
            let (Some(ResourceId::File(_, path)), ItemOutcome::Done) = (place, &change.outcome) else {
                return false;
            };
            // Folders come with the files in them.
            if [&change.before, &change.after].iter().any(|found| matches!(found, Found::Folder { .. })) {
                continue;
            }
            let digest = |found: &Found| match found {
                Found::Absent => Some(None),
                Found::File { sha256, .. } => Some(Some(*sha256)),
                _ => None,
            };
            let (Some(before), Some(after)) = (digest(&change.before), digest(&change.after)) else {
                return false;
            };
            if !self.after.contains_key(&path) {
                self.before.extend(before.map(|sha256| (path.clone(), sha256)));
            }
            self.after.insert(path, after);
        }
        true
    }
}

/// What a playbook does to the state that was recorded before a task, beside what the task did.
pub(super) fn tried(
    playbook: &Playbook,
    one: &Traced,
    parameters: BTreeMap<String, String>,
) -> PlaybookTrial {
    let ready = playbook.to_reasoner(&parameters).map_err(|error| error.to_string());
    let left = ready.and_then(|ready| ready.try_on(one.before.clone()));
    let mut wanted = one.before.clone();
    for (path, after) in &one.after {
        match after {
            Some(sha256) => wanted.insert(path.clone(), *sha256),
            None => wanted.remove(path),
        };
    }
    let (outcome, why) = match left {
        Ok(left) if left == wanted => (PlaybookTrialOutcome::Same, None),
        Ok(left) => {
            let differs = |path: &&RelPath| left.get(*path) != wanted.get(*path);
            let first = left.keys().chain(wanted.keys()).find(differs).map(RelPath::display_lossy);
            (PlaybookTrialOutcome::Differs, first.map(|path| format!("`{path}` would be another")))
        }
        Err(why) => (PlaybookTrialOutcome::Differs, Some(why)),
    };
    let task_id = one.recorded.task_id;
    PlaybookTrial { task_id, receipts: one.receipts.clone(), parameters, outcome, why }
}
