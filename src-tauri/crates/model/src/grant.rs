//! Scoped authority (HK-8.12, governance.md 4).

use crate::action::ActionClass;
use crate::standing::StandingRef;
use crate::{ApprovalId, AttemptId, DecisionId, GrantId, PrincipalId, Slot, StepId, TaskId, UnixMs};
use seal::Digest;
use serde::{Deserialize, Serialize};

/// What of the file system a grant covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilesystemScope {
    /// Nothing.
    Nothing,
    /// Reading below the lease root.
    ReadLease,
    /// Exactly the resources in `resource_scope`.
    Named,
    /// A command may read and write below the lease root.
    Lease,
}

/// A kernel record, not a bearer token (HK-8.12-1, -2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapabilityGrant {
    /// Its identifier.
    pub grant_id: GrantId,
    /// The task it is bound to.
    pub task_id: TaskId,
    /// The step.
    pub step_id: StepId,
    /// The attempt.
    pub attempt_id: AttemptId,
    /// The executor that may use it.
    pub issued_to_principal_id: PrincipalId,
    /// Who issued it.
    pub issued_by_principal_id: PrincipalId,
    /// The class it covers.
    pub action_class: ActionClass,
    /// Resource identifiers it covers, sorted.
    pub resource_scope: Vec<String>,
    /// When it was issued.
    pub issued_at: UnixMs,
    /// Not before.
    pub not_before: UnixMs,
    /// Until when.
    pub expires_at: UnixMs,
    /// How often it may be used.
    pub max_uses: u32,
    /// Digest of the request it was minted for.
    pub action_request_sha256: Digest,
    /// Digest of the policy result.
    pub policy_result_sha256: Digest,
    /// Digest of the approval packet, when a person was asked.
    pub approval_packet_sha256: Slot<Digest>,
    /// Digest of the witness observed last, when one is required.
    pub witness_sha256: Slot<Digest>,
    /// The approval, when a person was asked.
    pub approval_ref: Slot<ApprovalId>,
    /// The decision record, when HK-6.2-3 demands one.
    pub decision_ref: Slot<DecisionId>,
    /// What of the file system it covers.
    pub filesystem_scope: FilesystemScope,
    /// Hosts it may reach, `name:port`; empty is none.
    pub network_scope: Vec<String>,
    /// Secret handles it may resolve.
    pub secret_scope: Vec<String>,
    /// The standing grant it was minted under, when nobody was asked because of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<StandingRef>,
}
