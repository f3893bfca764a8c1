//! The pause that waits for a person (HK-8.9, HK-16.7, governance.md 2).

use crate::artifact::ArtifactRef;
use crate::{ApprovalId, ArtifactId, AttemptId, PrincipalId, RelPath, StepId, TaskId, UnixMs, WitnessId};
use seal::Digest;
use serde::{Deserialize, Serialize};
pub use words::policy::{ApprovalStatus, Surface};

crate::names! {
    /// What a person chose (governance.md 2).
    pub enum Choice ("choice") {
        /// Yes, this once.
        Once = "once",
        /// Yes, and the like of it, within the scope's bounds.
        Standing = "standing",
        /// No.
        Deny = "deny",
    }
}

crate::names! {
    /// The shape a standing answer has.
    pub enum Shape ("shape") {
        /// Exactly this packet.
        Exact = "exact",
        /// Commands that begin with these words.
        ArgvPrefix = "argv_prefix",
        /// Paths that match this glob.
        PathGlob = "path_glob",
        /// This host.
        Host = "host",
    }
}

/// How far a yes reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalScope {
    /// Its shape.
    pub shape: Shape,
    /// The words, glob or host; empty for `exact`.
    pub pattern: Vec<String>,
    /// Until when.
    pub expires_at: UnixMs,
    /// How often.
    pub max_uses: u32,
}

/// The payload that a person's key signs; DSSE payload type [`DECISION_PAYLOAD_TYPE`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalDecision {
    /// The approval answered.
    pub approval_id: ApprovalId,
    /// Digest of the packet that was shown.
    pub packet_sha256: Digest,
    /// The answer.
    pub choice: Choice,
    /// How far it reaches.
    pub scope: ApprovalScope,
    /// The packet's nonce, hexadecimal.
    pub nonce: String,
    /// Where it was given.
    pub surface: Surface,
    /// Who gave it.
    pub decided_by: PrincipalId,
    /// When.
    pub decided_at: UnixMs,
    /// Words for the model, with a no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// DSSE payload type of [`ApprovalDecision`].
pub const DECISION_PAYLOAD_TYPE: &str = "application/vnd.hermit.approval-decision+json";

/// A staged command's doings, as a packet shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedView {
    /// The whole diff, artifact `diff`.
    pub diff: ArtifactRef,
    /// The whole transcript, artifact `command.transcript`.
    pub transcript: ArtifactRef,
    /// Every change, deletions first; long texts are left out here and are in `diff`.
    pub changes: Vec<StagedChange>,
    /// The last of what it printed.
    pub printed: String,
    /// Bytes it printed in all.
    pub printed_bytes: u64,
}

/// One file that a staged command changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedChange {
    /// Where it is; for a rename, where to.
    pub path: RelPath,
    /// For a rename: where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RelPath>,
    /// `delete`, `rename`, `replace`, `mode`, `create`, `delete_folder`, `make_folder`, `link`.
    pub effect: String,
    /// Digest before.
    pub before_sha256: Option<Digest>,
    /// Bytes before.
    pub before_bytes: Option<u64>,
    /// Permission bits before.
    pub before_mode: Option<u32>,
    /// Digest after.
    pub after_sha256: Option<Digest>,
    /// Bytes after.
    pub after_bytes: Option<u64>,
    /// Permission bits after.
    pub after_mode: Option<u32>,
    /// The difference as unified lines, where both sides are text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why there is no text: binary, or too long for here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_text: Option<String>,
}

impl StagedChange {
    /// A change of a place, about which nothing more is known.
    pub fn bare(path: RelPath, effect: &str) -> Self {
        Self {
            path,
            from: None,
            effect: effect.to_owned(),
            before_sha256: None,
            before_bytes: None,
            before_mode: None,
            after_sha256: None,
            after_bytes: None,
            after_mode: None,
            text: None,
            no_text: None,
        }
    }
}

/// The approval itself (HK-8.9-3, -4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Its identifier.
    pub approval_id: ApprovalId,
    /// The task it pauses.
    pub task_id: TaskId,
    /// The step it pauses.
    pub step_id: StepId,
    /// The attempt it pauses.
    pub attempt_id: AttemptId,
    /// Where it stands.
    pub status: ApprovalStatus,
    /// The class asked for.
    pub approval_type: crate::action::ActionClass,
    /// The request's artifact.
    pub requested_action_ref: ArtifactId,
    /// The packet's artifact.
    pub approval_packet_ref: ArtifactId,
    /// The packet's digest.
    pub approval_packet_sha256: Digest,
    /// When it was asked.
    pub requested_at: UnixMs,
    /// When it was answered.
    pub resolved_at: Option<UnixMs>,
    /// Who answered.
    pub resolved_by: Option<PrincipalId>,
    /// When it lapses.
    pub expires_at: UnixMs,
    /// The witness it depends on.
    pub state_witness_ref: Option<WitnessId>,
    /// The policy result that asked for it.
    pub policy_result_ref: ArtifactId,
}
