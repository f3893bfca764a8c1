//! Working state, beliefs, memory (HK-8.6, HK-8.7, HK-15).

use crate::artifact::{EvidenceRef, TrustTier};
use crate::{
    ArtifactId, AttemptId, BeliefId, Digest, EventId, MemoryId, PrincipalId, ReceiptId, StepId, TaskId,
    UnixMs,
};
use seal::disclose::Sensitive;
use serde::{Deserialize, Serialize};
pub use words::knowledge::{BeliefStatus, InvalidationPolicy, MemoryRetention, MemoryStatus, MemoryType};

/// What is treated as true enough to reason with (HK-8.6-2, -3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Belief {
    /// Its identifier.
    pub belief_id: BeliefId,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The claim.
    pub claim: Sensitive<String>,
    /// Where it holds.
    pub scope: Sensitive<String>,
    /// What supports it; never empty.
    pub evidence_refs: Vec<EvidenceRef>,
    /// From 0 to 1000.
    pub confidence: u16,
    /// How far it may be relied on.
    pub trust_tier: TrustTier,
    /// Where it stands.
    pub status: BeliefStatus,
    /// When it was first held.
    pub created_at: UnixMs,
    /// Who holds it.
    pub asserted_by: PrincipalId,
    /// From 1; each change is a new revision, none is overwritten (HK-6.1-3).
    pub revision: u32,
    /// The step it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<StepId>,
    /// The attempt it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_id: Option<AttemptId>,
    /// The belief it replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<BeliefId>,
    /// Beliefs it contradicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicts: Vec<BeliefId>,
    /// When it goes stale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixMs>,
}

/// Knowledge that survives its task (HK-8.7-2, -3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRecord {
    /// Its identifier.
    pub memory_id: MemoryId,
    /// The task whose event promoted it (reconciliation C37).
    pub promoted_by_task_id: TaskId,
    /// Who promoted it.
    pub promoted_by: PrincipalId,
    /// The claim.
    pub claim: Sensitive<String>,
    /// Where it holds.
    pub scope: Sensitive<String>,
    /// What supports it; never empty.
    pub evidence_refs: Vec<EvidenceRef>,
    /// How far it may be relied on.
    pub trust_tier: TrustTier,
    /// Why it deserves to last.
    pub promotion_reason: Sensitive<String>,
    /// Where it stands.
    pub status: MemoryStatus,
    /// When it was promoted.
    pub created_at: UnixMs,
    /// The belief it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promoted_from_belief_id: Option<BeliefId>,
    /// When it was found wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalidated_at: Option<UnixMs>,
    /// The record it replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<MemoryId>,
    /// The project it holds in; everywhere when absent (HV-3.4-2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_hash: Option<Digest>,
    /// What kind of knowledge it is (reconciliation C29).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_assertion: Option<MemoryAssertion>,
    /// For how long it is kept; until somebody says otherwise when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_class: Option<MemoryRetention>,
    /// What ends it (HK-15.5-2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalidation_policy: Option<InvalidationPolicy>,
    /// When it goes stale; never when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixMs>,
}

/// What a memory record says in a form that programs read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryAssertion {
    /// What kind of knowledge it is.
    pub memory_type: MemoryType,
}

/// A project as a person knows it, and as its records name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Its hash (HV-3.4-2).
    pub hash: Digest,
    /// The name of its folder.
    pub name: String,
}

/// A memory record whose place another takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// Which.
    pub memory_id: MemoryId,
    /// What it says.
    pub claim: String,
}

/// A further claim on the card of one that is to be remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlsoRemembered {
    /// The claim.
    pub claim: String,
    /// Where it holds.
    pub scope: String,
    /// Why it deserves to last.
    pub promotion_reason: String,
    /// What supports it.
    pub evidence_refs: Vec<EvidenceRef>,
    /// What each piece of it is, in words and in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The project it holds in; everywhere when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// What kind of knowledge it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
}

/// What the historian found in ended tasks and holds worth remembering: a claim with all that it rests on (memory.md 4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    /// The claim.
    pub claim: String,
    /// What kind of knowledge it is.
    pub memory_type: MemoryType,
    /// The rule that found it.
    pub rule: String,
    /// Why it is proposed, in words.
    pub reason: String,
    /// The lowest trust of all that it rests on.
    pub trust_tier: TrustTier,
    /// What shows it; never empty.
    pub grounds: Vec<Ground>,
    /// What it was made of, beside a person's own words.
    pub sources: Vec<ArtifactId>,
}

/// A piece of what shows a suggestion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ground {
    /// The task it happened in.
    pub task_id: TaskId,
    /// The event that tells it.
    pub event_id: EventId,
    /// The receipt of it, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_id: Option<ReceiptId>,
    /// What happened, such as `a person answered`.
    pub what: String,
    /// The words.
    pub quote: String,
}

/// That a claim was looked at by the historian, and on which events it rested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryMark {
    /// The project it would hold in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_hash: Option<Digest>,
    /// Digest of the claim in lower case without punctuation, of its project and of this store.
    pub claim_sha256: Digest,
    /// The events it rests on.
    pub evidence: Vec<EventId>,
    /// Whether it was proposed; else it was too little to be proposed alone.
    pub proposed: bool,
}

/// Task-local execution state: these fields and no others, each list bounded (HK-15.2).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkingState {
    /// The objective, taken apart.
    #[serde(default)]
    pub objectives: Vec<String>,
    /// What must be kept to.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// The plan in force, in one line.
    #[serde(default)]
    pub plan: Option<String>,
    /// Questions still open.
    #[serde(default)]
    pub pending_questions: Vec<String>,
    /// Handles of resources in use.
    #[serde(default)]
    pub resource_handles: Vec<String>,
    /// Outputs that are expected.
    #[serde(default)]
    pub expected_outputs: Vec<String>,
    /// What is not known yet.
    #[serde(default)]
    pub uncertainties: Vec<String>,
}
