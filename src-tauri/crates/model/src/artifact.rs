//! Containers of work product, observation and evidence (HK-8.5, HK-14).

use crate::{ArtifactId, AttemptId, PrincipalId, UnixMs};
use seal::Digest;
use seal::disclose::Sensitive;
use serde::{Deserialize, Serialize};
pub use words::artifact::{ArtifactClass, ArtifactKind, RetentionClass, Sensitivity};
pub use words::knowledge::TrustTier;

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
        /// RFC 6901: the result of a look whose text they are lines of, counted as in the file; none where the artifact is the
        /// text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<String>,
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
