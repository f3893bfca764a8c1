//! Preconditions, observed (HK-16.8).

use crate::{ActionRequestId, AttemptId, PrincipalId, ResourceId, UnixMs, WitnessId};
use seal::Digest;
use serde::{Deserialize, Serialize};

/// What was found at a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "found", rename_all = "snake_case")]
pub enum Found {
    /// Nothing is there.
    Absent,
    /// A regular file.
    File {
        /// Digest of its bytes.
        sha256: Digest,
        /// Its length.
        byte_size: u64,
        /// Permission bits, where the platform has them.
        mode: Option<u32>,
    },
    /// A folder.
    Folder {
        /// Permission bits, where the platform has them and somebody looked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// A symbolic link; its target is hashed, never followed.
    Symlink {
        /// Digest of the target's bytes.
        target_sha256: Digest,
    },
    /// A device, socket, pipe: named, never opened.
    Special,
    /// The version an outside system gave: an ETag, a ref, a record's version.
    Version {
        /// As given.
        value: String,
    },
    /// It could not be looked at.
    Unreadable {
        /// Why.
        reason: String,
    },
}

/// One resource and what was found there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Which.
    pub resource: ResourceId,
    /// What.
    pub state: Found,
}

/// Execution-time preconditions of exactly the resources touched, artifact `state.witness` (HK-16.8-1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateWitness {
    /// Its identifier.
    pub witness_id: WitnessId,
    /// The request it guards.
    pub action_request_id: ActionRequestId,
    /// The attempt it guards.
    pub attempt_id: AttemptId,
    /// What was found, sorted by resource.
    pub fingerprints: Vec<Fingerprint>,
    /// Preconditions in words.
    pub preconditions: Vec<String>,
    /// When it was observed.
    pub observed_at: UnixMs,
    /// Until when it may be compared.
    pub expires_at: UnixMs,
    /// Who observed.
    pub observed_by: PrincipalId,
}
