//! What a clone leaves: how it played its case, and what it could not reach.

use crate::Used;
use model::{Digest, TaskId};
use serde::{Deserialize, Serialize};
use words::successor::{Arm, MeasuredBy};

/// The evidence of one clone. The parent reads it as it reads what any stranger writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Digest of the case that was played.
    pub case_sha256: Digest,
    /// Which arm it was.
    pub arm: Arm,
    /// Each task of the case that was played, in its order.
    pub tasks: Vec<Played>,
    /// What it tried to reach of its parent, and what came of it.
    pub probes: Vec<Probe>,
    /// What it used, as its parent measured it: what the clone itself says here is overwritten.
    #[serde(default)]
    pub used: Used,
    /// Whose program played and counted it, as its parent knows it: what the clone itself says here is overwritten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_by: Option<MeasuredBy>,
}

/// A task as a clone played it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Played {
    /// In the parent's store.
    pub task_id: TaskId,
    /// How it ended: a `TaskStatus`, or `diverged` where it went where no recording leads.
    pub ended: String,
    /// What it did, in order.
    pub acts: Vec<PlayedAct>,
    /// Questions that a person would have been asked.
    pub questions: u32,
    /// Tokens of models.
    pub tokens: u64,
    /// Turns of the model.
    pub turns: u32,
}

/// An act as a clone did it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayedAct {
    /// Digest of the action's canonical bytes.
    pub action_sha256: Digest,
    /// One line about it.
    pub summary: String,
    /// Its class.
    pub class: String,
    /// `allow`, `require_approval`, `deny` or `downgrade`.
    pub verdict: String,
    /// The rules that decided.
    pub rules: Vec<String>,
    /// Digest over what it changed, item by item; none where it changed nothing or did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_sha256: Option<Digest>,
}

/// An attempt of a clone at what it may not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// At what: `store`, `socket`, `keychain`, `approval_key`, `token`, `network`, `home`, `processes`.
    pub what: String,
    /// Whether it was refused.
    pub refused: bool,
    /// What the system said.
    pub says: String,
}
