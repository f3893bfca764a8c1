//! What both arms of a trial play: recorded work of the person, and how Hermit stands.

use crate::{Budget, Patch};
use model::{Digest, TaskId};
use serde::{Deserialize, Serialize};

/// What a clone is given, whole: it sees nothing else of its parent (successor.md 3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The trial.
    pub trial_id: String,
    /// What the draw of tasks began with.
    pub seed: u64,
    /// What the clone may use up; it is told, and held to it by others.
    pub budget: Budget,
    /// The change; none for the parent's arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Patch>,
    /// The person's own rules, as they stand.
    pub rules: String,
    /// The standard profile.
    pub profile: String,
    /// The tools that the clone has, as the parent's registry of servers names them; their answers are the recorded ones.
    pub tools: Vec<serde_json::Value>,
    /// Work that is played again.
    pub tasks: Vec<RecordedTask>,
}

/// A task that was done, as the clone plays it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedTask {
    /// In the parent's store.
    pub task_id: TaskId,
    /// The goal, word for word.
    pub goal: String,
    /// The profile that it ran under.
    pub profile: String,
    /// How it ended.
    pub ended: String,
    /// What the model answered, in order.
    pub answers: Vec<RecordedAnswer>,
    /// What it did, in order.
    pub acts: Vec<RecordedAct>,
}

/// An answer of a model, with the digest of the request that it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedAnswer {
    /// Of the exact bytes that were sent.
    pub request_sha256: Digest,
    /// What was read from the response: a `model::proposal::Answer`. Arguments of a call with numbers that have no canonical
    /// form stand as JSON text in the member `arguments_text`, in place of `arguments`.
    pub answer: serde_json::Value,
    /// Tokens read and written.
    pub tokens: u64,
}

/// An act, what policy said of it, what a person said, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedAct {
    /// Digest of the action's canonical bytes: equal actions are recognised by it.
    pub action_sha256: Digest,
    /// The action, as its request holds it.
    pub action: serde_json::Value,
    /// One line about it.
    pub summary: String,
    /// Its class.
    pub class: String,
    /// `allow`, `require_approval`, `deny` or `downgrade`.
    pub verdict: String,
    /// What the person answered, where they were asked: `granted` or `denied`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<String>,
    /// What came of it, as the executor said: played back where the same act is done again.
    pub outcome: serde_json::Value,
    /// Digest over what it changed, item by item; none where it changed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_sha256: Option<Digest>,
}
