//! What a task's state answers at once.

use super::{ApprovalRecord, TaskState, Turn};
use model::approval::ApprovalStatus;
use model::artifact::TrustTier;
use model::attempt::AttemptStatus;
use model::{ArtifactId, TaskId};
use seal::Digest;

impl TaskState {
    /// The goal's text, or what is left of it after erasure.
    pub fn goal_text(&self) -> String {
        self.task.goal.shown().cloned().unwrap_or_else(|| "(erased)".to_owned())
    }

    /// Whether a person has said something that no context pack holds yet.
    pub fn has_unheard(&self) -> bool {
        !self.inputs.is_empty() || !self.queued.is_empty() || self.goal_is_news
    }

    /// How far the contract may be relied on: as far as whoever gave it.
    pub fn contract_tier(&self) -> TrustTier {
        let contract = self.artifacts.get(&self.task.task_contract_ref);
        contract.map_or(TrustTier::UserAsserted, |contract| contract.trust_tier)
    }

    /// How far the goal may be relied on; only a person edits one.
    pub fn goal_tier(&self) -> TrustTier {
        if self.goal_edits > 0 { TrustTier::UserAsserted } else { self.contract_tier() }
    }

    /// The child tasks that the turn in hand waits for.
    pub fn children_waited_for(&self) -> Vec<TaskId> {
        match self.attempt().map(|attempt| &attempt.turn) {
            Some(Turn::Delegated(delegated)) => delegated.open().collect(),
            _ => Vec::new(),
        }
    }

    /// Digest of an artifact of this task.
    pub fn digest_of(&self, id: ArtifactId) -> Option<Digest> {
        self.artifacts.get(&id).map(|artifact| artifact.content_hash)
    }

    /// Approvals that wait for a person.
    pub fn pending_approvals(&self) -> impl Iterator<Item = &ApprovalRecord> {
        self.approvals.values().filter(|r| r.approval.status == ApprovalStatus::Pending)
    }

    /// Whether an effect of this task has an outcome nobody knows (HK-19.4).
    pub fn has_unknown_outcome(&self) -> bool {
        self.attempts.values().any(|a| a.attempt.status == AttemptStatus::Observing && a.unsettled())
    }
}
