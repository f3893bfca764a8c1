//! What comes in, before it changes anything (HK-8.1.1 to 8.1.3), and questions that go out (C25).

use crate::{ArtifactId, AttemptId, ClarificationId, ConversationId, IngressId, PrincipalId, TaskId, UnixMs};
use seal::disclose::Sensitive;
use serde::{Deserialize, Serialize};
pub use words::store::Channel;
pub use words::task::{ClarificationStatus, IngressResolution};

crate::names! {
    /// Where an ingress record stands.
    pub enum IngressStatus ("ingress status") {
        /// Recorded.
        Received = "received",
        /// Bound to what it is about.
        Bound = "bound",
        /// Nobody can tell yet what it is about; a legal state.
        PendingDisambiguation = "pending_disambiguation",
    }
}

/// The durable record of one inbound free-form message (HK-8.1.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngressRecord {
    /// Its identifier.
    pub ingress_id: IngressId,
    /// The conversation it came into.
    pub conversation_id: ConversationId,
    /// Through which surface.
    pub source_channel: Channel,
    /// As it came.
    pub raw_text: Sensitive<String>,
    /// Trimmed, line ends unified.
    pub normalized_text: Sensitive<String>,
    /// Where it stands.
    pub status: IngressStatus,
    /// What it turned out to be.
    pub resolution: IngressResolution,
    /// When it came.
    pub created_at: UnixMs,
    /// When it last changed.
    pub updated_at: UnixMs,
    /// Who sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<PrincipalId>,
    /// The task that it names: outright, by what it answers or quotes, or by an identifier in it. None where focus alone binds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explicit_task_ref: Option<TaskId>,
    /// Artifacts named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub referenced_artifact_refs: Vec<ArtifactId>,
    /// The question of a task that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_ref: Option<ClarificationId>,
    /// What its sender says that it answers, by its identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to_ref: Option<String>,
    /// The earlier message that it quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quoted_message_ref: Option<IngressId>,
    /// The task it was bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_task_id: Option<TaskId>,
    /// The task that its work is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<Sensitive<String>>,
    /// Whether the words were spoken and written down by a machine, as their sender says (RA-3-15). They mean what written words
    /// mean, and allow nothing that those do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spoken: bool,
    /// Makes a repeated submission harmless.
    pub idempotency_key: String,
}

/// What a follow-up to an ended task carries (HK-8.1.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContinuationAnchor {
    /// The ended task.
    pub anchor_task_id: TaskId,
    /// Always `completed_outcome` in v0.1; the difference is in `outcome_status`.
    pub anchor_kind: String,
    /// Why this one.
    pub selection_reason: Sensitive<String>,
    /// How it ended.
    pub outcome_status: crate::task::TaskStatus,
    /// How it ended, in words.
    pub outcome_summary: Sensitive<String>,
    /// What it left.
    pub source_artifact_refs: Vec<ArtifactId>,
}

/// A question put to a person; the same blocking rules as an approval (reconciliation C25).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clarification {
    /// Its identifier.
    pub clarification_id: ClarificationId,
    /// The task that waits.
    pub task_id: TaskId,
    /// The attempt that waits.
    pub attempt_id: AttemptId,
    /// The question.
    pub question: Sensitive<String>,
    /// Answers offered, if any.
    pub choices: Vec<Sensitive<String>>,
    /// Where it stands.
    pub status: ClarificationStatus,
    /// When it was asked.
    pub requested_at: UnixMs,
    /// When it lapses.
    pub expires_at: UnixMs,
    /// The ingress record with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<IngressId>,
}
