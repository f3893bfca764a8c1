//! Attempts, leases and what they record (HK-8.3, HK-17, RX-4).

use crate::{
    ArtifactId, AttemptId, LeaseId, PrincipalId, Slot, StepId, TaskId, UnixMs, WitnessId, WorkspaceId,
};
use seal::Digest;
use seal::disclose::Sensitive;
use serde::{Deserialize, Serialize};
pub use words::task::{AttemptStatus, Proposer, TerminationReason};

crate::names! {
    /// Phase metadata of an attempt (HK-8.3-9).
    pub enum AttemptPhase ("attempt phase") {
        /// The model is thinking.
        Planning = "planning",
        /// Before policy.
        PolicyPending = "policy_pending",
        /// Before a person.
        AwaitingApproval = "awaiting_approval",
        /// Granted, not dispatched.
        AuthorizedPreExec = "authorized_pre_exec",
        /// Dispatched.
        Executing = "executing",
        /// Being observed.
        Observing = "observing",
        /// Being receipted or closed.
        Settling = "settling",
    }
}

/// One concrete execution of a step (HK-8.3-2, -3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepAttempt {
    /// Its identifier.
    pub attempt_id: AttemptId,
    /// The task that owns it.
    pub task_id: TaskId,
    /// The step it executes.
    pub step_id: StepId,
    /// From 1; each retry takes the next (HK-12.3-2).
    pub attempt_no: u32,
    /// Where it stands.
    pub status: AttemptStatus,
    /// The latest context pack.
    pub context_pack_ref: Slot<ArtifactId>,
    /// The latest working state.
    pub working_state_ref: Slot<ArtifactId>,
    /// The lease it runs under.
    pub workspace_lease_ref: Slot<LeaseId>,
    /// Makes its creation idempotent.
    pub idempotency_key: String,
    /// When it began.
    pub started_at: UnixMs,
    /// When it ended.
    pub finished_at: Option<UnixMs>,
    /// The attempt it continues, after a retry or supersession.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_from_ref: Option<AttemptId>,
    /// Who proposes in it; absent in attempts of hosts that did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposer: Option<Proposer>,
    /// How its commands are confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor_mode: Option<LeaseMode>,
    /// Digest of the policy set it began under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_version: Option<Digest>,
    /// The witness it waits on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_witness_ref: Option<WitnessId>,
    /// The captured environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_ref: Option<ArtifactId>,
}

crate::names! {
    /// What a lease permits (HK-17.1).
    pub enum LeaseMode ("lease mode") {
        /// Only reads.
        Readonly = "readonly",
        /// Reads and writes below the root.
        Mutable = "mutable",
        /// Writes go to a copy.
        Isolated = "isolated",
        /// No effect leaves the machine.
        ExternalEffectsDisabled = "external_effects_disabled",
    }
}

/// Authority over a folder for a time (HK-17.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceLease {
    /// Its identifier.
    pub lease_id: LeaseId,
    /// The task that holds it.
    pub task_id: TaskId,
    /// The attempt that holds it.
    pub attempt_id: AttemptId,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder, percent-encoded absolute path.
    pub root_path: Sensitive<String>,
    /// Who holds it.
    pub holder_principal_id: PrincipalId,
    /// Since when.
    pub acquired_at: UnixMs,
    /// Until when, unless renewed.
    pub expires_at: UnixMs,
    /// What it permits.
    pub mode: LeaseMode,
    /// What it covers, as resource identifiers.
    pub resource_scope: Vec<Sensitive<String>>,
}

/// One turn of the loop, persisted (RX-4-1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationRecord {
    /// From 1.
    pub step_number: u32,
    /// What the model decided, in one line.
    pub model_decision: Sensitive<String>,
    /// The tool asked for, if any.
    pub tool_invocation: Option<String>,
    /// The artifact with the tool's input.
    pub tool_input: Option<ArtifactId>,
    /// The artifact with the tool's output.
    pub tool_output: Option<ArtifactId>,
    /// What went wrong, if anything.
    pub error: Option<Sensitive<String>>,
    /// The state in one line.
    pub state_summary: Sensitive<String>,
    /// Digest over decision and output, by which progress is judged.
    pub progress_mark: Digest,
}
