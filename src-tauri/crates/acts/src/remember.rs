//! Remembering in later tasks.

use model::BeliefId;
use model::artifact::EvidenceRef;
use serde::{Deserialize, Serialize};

/// A claim that is promoted to durable memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remember {
    /// The claim.
    pub claim: String,
    /// Where it holds.
    pub scope: String,
    /// Why it deserves to last.
    pub promotion_reason: String,
    /// What supports it.
    pub evidence_refs: Vec<EvidenceRef>,
    /// The belief it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub belief_id: Option<BeliefId>,
}
