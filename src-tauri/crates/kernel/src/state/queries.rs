//! What a task's state answers at once.

use super::{ApprovalRecord, TaskState, Turn};
use model::approval::ApprovalStatus;
use model::artifact::TrustTier;
use model::attempt::AttemptStatus;
use model::task::{Budget, Limit, TaskContract};
use model::{ArtifactId, ClarificationId, TaskId};
use seal::Digest;

impl TaskState {
    /// The goal's text, or what is left of it after erasure.
    pub fn goal_text(&self) -> String {
        self.task.goal.shown().cloned().unwrap_or_else(|| "(erased)".to_owned())
    }

    /// What it may use: as its contract says, and more where a person said so since.
    pub fn budget(&self, contract: &TaskContract) -> Budget {
        let raised = |limit, was: u64| self.raised.get(&limit).copied().unwrap_or(was);
        let Budget { iterations_max, tokens_max, wall_ms_max, cost_micros_max } = contract.budget;
        Budget {
            iterations_max: u32::try_from(raised(Limit::Turns, iterations_max.into())).unwrap_or(u32::MAX),
            tokens_max: raised(Limit::Tokens, tokens_max),
            wall_ms_max: i64::try_from(raised(Limit::Time, wall_ms_max.unsigned_abs())).unwrap_or(i64::MAX),
            cost_micros_max: raised(Limit::Cost, cost_micros_max),
        }
    }

    /// Whether reads were dispatched together with the act in hand, and come after it.
    pub(crate) fn is_accompanied(&self) -> bool {
        self.attempt().is_some_and(|attempt| !attempt.beside.is_empty())
    }

    /// The limit that this question asks about.
    pub(crate) fn limit_of(&self, question: ClarificationId) -> Option<Limit> {
        self.limit_asked.filter(|(id, _)| *id == question).map(|(_, limit)| limit)
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
