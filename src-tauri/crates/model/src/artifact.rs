//! Containers of work product, observation and evidence (HK-8.5, HK-14).

use crate::{ArtifactId, AttemptId, PrincipalId, UnixMs};
use seal::Digest;
use seal::disclose::Sensitive;
use serde::{Deserialize, Serialize};
pub use words::knowledge::TrustTier;

crate::names! {
    /// Artifact classes (HK-14.1).
    pub enum ArtifactClass ("artifact class") {
        /// Came from outside.
        Source = "source",
        /// In the making.
        Working = "working",
        /// Computed from others.
        Derived = "derived",
        /// Supports a claim or a decision.
        Evidence = "evidence",
        /// What was asked for.
        Deliverable = "deliverable",
        /// Shows what the kernel did.
        Audit = "audit",
    }
}

crate::names! {
    /// Artifact kinds (HK-14.1, and those the kernel itself needs).
    pub enum ArtifactKind ("artifact kind") {
        /// What an attempt was given to think with.
        ContextPack = "context.pack",
        /// A typed proposal.
        ActionRequest = "action.request",
        /// What policy said.
        PolicyResult = "policy.result",
        /// What a person is shown.
        ApprovalPacket = "approval.packet",
        /// What a person signed.
        ApprovalDecision = "approval.decision",
        /// Observed preconditions.
        StateWitness = "state.witness",
        /// Facts about machine and process.
        EnvironmentSnapshot = "environment.snapshot",
        /// A folder's manifest.
        WorkspaceSnapshot = "workspace.snapshot",
        /// What a search found.
        SearchBundle = "search.bundle",
        /// A page as fetched.
        WebSnapshot = "web.snapshot",
        /// A file as it was.
        FileSnapshot = "file.snapshot",
        /// A change to apply.
        Patch = "patch",
        /// A change as found.
        Diff = "diff",
        /// What a command printed.
        CommandTranscript = "command.transcript",
        /// What tests said.
        TestReport = "test.report",
        /// A picture.
        Image = "image",
        /// Any other file taken in.
        BinaryAttachment = "binary.attachment",
        /// A claim taken from a source.
        BeliefExtract = "belief.extract",
        /// A promotion to durable memory.
        MemoryPromotion = "memory.promotion",
        /// A sealed proof.
        ReceiptBundle = "receipt.bundle",
        /// What a task promises.
        TaskContract = "task.contract",
        /// What a step promises.
        StepContract = "step.contract",
        /// A scoped authority record.
        CapabilityGrant = "capability.grant",
        /// Bounded execution state.
        WorkingState = "working.state",
        /// The exact bytes sent to a model.
        ModelRequest = "model.request",
        /// The exact bytes a model answered.
        ModelResponse = "model.response",
        /// A model's answer, as read from its bytes.
        ModelAnswer = "model.answer",
        /// A playbook's text.
        Playbook = "playbook",
        /// A server of tools: how it is started, and what it says it offers.
        ToolManifest = "tool.manifest",
        /// A transcript of model answers.
        Transcript = "transcript",
        /// What an action gave back.
        ActionResult = "action.result",
        /// A final answer.
        Answer = "answer",
        /// Text a person gave.
        Message = "message",
    }
}

crate::names! {
    /// How private content is.
    pub enum Sensitivity ("sensitivity class") {
        /// May be shown to anyone.
        Public = "public",
        /// Of this machine's owner.
        Private = "private",
        /// Holds what must not leave.
        Secret = "secret",
    }
}

crate::names! {
    /// How long content is kept.
    pub enum RetentionClass ("retention class") {
        /// As long as the ledger.
        Permanent = "permanent",
        /// While its task can be undone or explained.
        Task = "task",
        /// May be compacted when its task has ended.
        Ephemeral = "ephemeral",
    }
}

/// A canonical container (HK-8.5-2, -3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its identifier.
    pub artifact_id: ArtifactId,
    /// Its class.
    pub class: ArtifactClass,
    /// Its kind.
    pub kind: ArtifactKind,
    /// Where it came from or is: a resource identifier, or `sha256:<hex>`.
    pub uri: Sensitive<String>,
    /// SHA-256 of its bytes.
    pub content_hash: Digest,
    /// Its media type.
    pub media_type: String,
    /// Its length.
    pub byte_size: u64,
    /// When it was made.
    pub created_at: UnixMs,
    /// Who made it.
    pub producer: PrincipalId,
    /// How long it is kept.
    pub retention_class: RetentionClass,
    /// How far it may be relied on.
    pub trust_tier: TrustTier,
    /// How private it is.
    pub sensitivity_class: Sensitivity,
    /// The attempt that made it, when one did (HK-14.4-1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub produced_by: Option<AttemptId>,
    /// What contributed to it (HK-14.4-2).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<ArtifactId>,
    /// A short name inside its task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_local_alias: Option<Sensitive<String>>,
}

/// An artifact pinned by its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRef {
    /// Which.
    pub artifact_id: ArtifactId,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
}

/// Which part of an artifact is meant (HK-14.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Selector {
    /// All of it.
    Whole,
    /// Bytes `start..end`.
    Bytes {
        /// First.
        start: u64,
        /// Behind the last.
        end: u64,
    },
    /// Lines, from 1, both ends included.
    Lines {
        /// First.
        start: u64,
        /// Last.
        end: u64,
    },
    /// A JSON pointer.
    JsonPath {
        /// RFC 6901.
        pointer: String,
    },
    /// A DOM selector.
    Dom {
        /// CSS.
        selector: String,
    },
    /// A span of time, in milliseconds.
    TimeSpan {
        /// First.
        start_ms: u64,
        /// Behind the last.
        end_ms: u64,
    },
    /// A structured record.
    Record {
        /// Its identifier.
        id: String,
    },
}

/// The typed pointer of beliefs, memory, decisions, approvals and receipts (HK-14.5-1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceRef {
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Which part.
    pub selector: Selector,
    /// SHA-256 of the part.
    pub excerpt_hash: Digest,
    /// How it was captured.
    pub capture_method: String,
    /// From 0 to 1000.
    pub confidence: u16,
    /// How far it may be relied on.
    pub trust_tier: TrustTier,
}
