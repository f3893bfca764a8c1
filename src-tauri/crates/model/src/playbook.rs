//! Playbooks that recur in what was done: drafts, which have no effect, and those that a person adopted (memory.md 5).

use crate::artifact::{ArtifactRef, TrustTier};
use crate::knowledge::Project;
use crate::{Digest, ReceiptId, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
pub use words::store::{PlaybookState, PlaybookTrialOutcome};

/// That the dreamer read a task, and of which shape its acts were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapeMark {
    /// The project it was done in.
    pub project_hash: Digest,
    /// Digest of the shape: of what kind each act was, without any value.
    pub shape_sha256: Digest,
    /// The task.
    pub task_id: TaskId,
}

/// A recorded task on which a draft was tried, against what lay there before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaybookTrial {
    /// The task.
    pub task_id: TaskId,
    /// What it did, by its receipts.
    pub receipts: Vec<ReceiptId>,
    /// The parameters under which the draft stands for it.
    pub parameters: BTreeMap<String, String>,
    /// What came of it.
    pub outcome: PlaybookTrialOutcome,
    /// What differs, or why it cannot be tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A playbook that was drafted from what recurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaybookDraft {
    /// Its name.
    pub name: String,
    /// Its text, exactly as it would run.
    pub text: String,
    /// SHA-256 of the text.
    pub sha256: Digest,
    /// Digest of the shape that it was drafted for.
    pub shape_sha256: Digest,
    /// The project whose tasks it was drafted from.
    pub project: Project,
    /// The lowest trust of all that it was made of.
    pub trust_tier: TrustTier,
    /// The tasks that it was drafted from, and what came of trying it on each.
    pub trials: Vec<PlaybookTrial>,
    /// The narrowest standing grant under which it would run unasked, in words. Nothing is granted by this.
    pub narrowest: String,
}

impl PlaybookDraft {
    /// On how many of the recorded tasks it gives the same result, of all that it was drafted from.
    pub fn same(&self) -> (usize, usize) {
        let same = self.trials.iter().filter(|trial| trial.outcome == PlaybookTrialOutcome::Same);
        (same.count(), self.trials.len())
    }
}

/// That a playbook was drafted; its draft is the artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DraftMark {
    /// Its name.
    pub name: String,
    /// SHA-256 of its text.
    pub playbook_sha256: Digest,
    /// Digest of the shape that it was drafted for.
    pub shape_sha256: Digest,
    /// The project whose tasks it was drafted from.
    pub project_hash: Digest,
    /// These tasks.
    pub tasks: Vec<TaskId>,
    /// The draft with its trials.
    pub draft: ArtifactRef,
}

/// A draft that a person is asked to adopt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdoptPlaybook {
    /// The draft.
    pub draft: PlaybookDraft,
    /// Where it is kept.
    pub at: ArtifactRef,
    /// The version that it would be, from 1.
    pub version: u32,
    /// The text of the version before, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
}
