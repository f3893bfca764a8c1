//! Recorded judgments (HK-8.8).

use crate::artifact::EvidenceRef;
use crate::policy::RiskBand;
use crate::{ArtifactId, AttemptId, DecisionId, PrincipalId, StepId, TaskId, UnixMs};
use seal::disclose::Sensitive;
use serde::{Deserialize, Serialize};
pub use words::knowledge::DecisionClass;

/// A consequential judgment of the system or a person (HK-8.8-2, -3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Its identifier.
    pub decision_id: DecisionId,
    /// The task.
    pub task_id: TaskId,
    /// The step, when there is one.
    pub step_id: Option<StepId>,
    /// The attempt, when there is one.
    pub attempt_id: Option<AttemptId>,
    /// Its class.
    pub decision_type: DecisionClass,
    /// One line.
    pub summary: Sensitive<String>,
    /// Why.
    pub rationale: Sensitive<String>,
    /// What supports it.
    pub evidence_refs: Vec<EvidenceRef>,
    /// What is at stake.
    pub risk_level: RiskBand,
    /// Who decided.
    pub decided_by: PrincipalId,
    /// Whether it can be taken back.
    pub reversible: bool,
    /// When.
    pub created_at: UnixMs,
    /// What else was considered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives_considered: Vec<Sensitive<String>>,
    /// The override it rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_override_ref: Option<DecisionId>,
    /// Until when it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_until: Option<UnixMs>,
    /// The contract whose constraints bound it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints_ref: Option<ArtifactId>,
}
