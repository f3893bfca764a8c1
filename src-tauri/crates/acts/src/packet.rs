//! The approval packet: everything about one request that is shown before a person answers (HK-16.7).

use crate::ActionRequest;
use model::approval::StagedView;
use model::policy::{PolicyResult, RiskBand};
use model::witness::StateWitness;
use model::{ApprovalId, ArtifactId, AttemptId, StepId, TaskId, UnixMs};
use serde::{Deserialize, Serialize};

/// What is shown, stored as artifact `approval.packet`; its digest is what is approved (HK-16.7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalPacket {
    /// The approval it belongs to.
    pub approval_id: ApprovalId,
    /// The task.
    pub task_id: TaskId,
    /// The step.
    pub step_id: StepId,
    /// The attempt that waits.
    pub attempt_id: AttemptId,
    /// The goal the act serves.
    pub goal: String,
    /// The whole canonical action.
    pub action_request: ActionRequest,
    /// What policy said.
    pub policy_result: PolicyResult,
    /// The action in one line.
    pub action_summary: String,
    /// The risk in one line.
    pub risk_summary: String,
    /// How much is at stake.
    pub risk_band: RiskBand,
    /// Why it is proposed.
    pub rationale: String,
    /// What supports it.
    pub evidence_refs: Vec<ArtifactId>,
    /// Resource identifiers touched.
    pub impacted_resources: Vec<String>,
    /// Whether and how it can be undone, in words.
    pub rollback_availability: String,
    /// What was observed; observed again before execution.
    pub state_witness: Option<StateWitness>,
    /// When the question was put.
    pub requested_at: UnixMs,
    /// When it lapses.
    pub expires_at: UnixMs,
    /// 128 random bits, hexadecimal: an old yes never fits a new question.
    pub nonce: String,
    /// What the command did in its staged view, as a person reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<StagedView>,
}
