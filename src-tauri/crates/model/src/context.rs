//! What an attempt is given to think with (HK-15.6, HK-15.7).

use crate::artifact::{ArtifactRef, TrustTier};
use crate::{ArtifactId, AttemptId, EventId, TaskId};
use seal::Digest;
use serde::{Deserialize, Serialize};
pub use words::knowledge::{FoundBy, SummaryLineKind};

crate::names! {
    /// Sections of a pack, in the precedence of HK-15.7.
    pub enum Section ("context section") {
        /// The task contract.
        TaskContract = "task_contract",
        /// The step contract.
        StepContract = "step_contract",
        /// Active policy constraints.
        Policy = "policy",
        /// Active decisions.
        Decisions = "decisions",
        /// Working state.
        WorkingState = "working_state",
        /// Selected beliefs.
        Beliefs = "beliefs",
        /// Durable memory.
        Memory = "memory",
        /// Relevant artifacts: observations, results, ingested files.
        Artifacts = "artifacts",
        /// Bound ingress since the last boundary.
        Ingress = "ingress",
        /// Session projection, only when necessary.
        Session = "session",
    }
}

/// One item of a pack, with where it comes from (HK-15.6-4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextItem {
    /// Its section.
    pub section: Section,
    /// Artifact, belief, memory, decision or ingress identifier.
    pub source: String,
    /// One line for people and for the model.
    pub title: String,
    /// What the model sees.
    pub text: String,
    /// How far it may be relied on.
    pub trust_tier: TrustTier,
    /// Tokens it was counted as.
    pub tokens: u32,
    /// Whether the text was cut to fit.
    pub cut: bool,
    /// What was asked for, when the item is what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<Act>,
    /// By what it was looked up, when the item is a memory record that not every context holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<FoundBy>,
    /// Pictures that are sent with it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
    /// By what number a closing answer cites it, when it is a result of this attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
}

/// How memory was looked up by meaning, where a person named an embedding model (memory.md 2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeaningUsed {
    /// The model, as its address names it.
    pub model: String,
    /// Digest of the vectors' key: the model's name and what it answers to sentences that are always the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Digest>,
    /// Why words alone were used, when they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words_alone: Option<String>,
    /// How far the vectors of its project were made; absent where words alone were used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorsThere>,
}

/// How far the vectors of a project's memory, and of what holds in every one, were made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorsThere {
    /// Records that have a vector.
    pub made: u64,
    /// Records that are held, those that a model refuses among them.
    pub records: u64,
}

/// A picture that a model is shown. Its bytes are content of the store, or stand in the result that it is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// What it is called: a path, the name of a file that came with words, the tool that answered with it.
    pub name: String,
    /// What its bytes are, such as `image/png`.
    pub media_type: String,
    /// How many bytes it has.
    pub byte_size: u64,
    /// Their digest.
    pub sha256: Digest,
}

/// What a model asked for, as it is shown to itself again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// The call, as the model writes it; empty when that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// In a few words.
    pub did: String,
    /// Whether something was done that changes more than what is known.
    #[serde(default)]
    pub changed: bool,
}

/// Something that did not fit, named so that it is not lost silently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextOmission {
    /// What.
    pub source: String,
    /// Its section.
    pub section: Section,
    /// Why.
    pub reason: String,
}

/// The compiled pack, stored as artifact `context.pack` (HK-15.6-6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPack {
    /// The task.
    pub task_id: TaskId,
    /// The attempt.
    pub attempt_id: AttemptId,
    /// The iteration it is for, from 1.
    pub iteration: u32,
    /// Tokens it may use.
    pub tokens_max: u32,
    /// Tokens it uses, as counted.
    pub tokens: u32,
    /// What is in it, in order.
    pub items: Vec<ContextItem>,
    /// What is not.
    pub omissions: Vec<ContextOmission>,
    /// Artifacts it was compiled from, sorted.
    pub inputs: Vec<ArtifactId>,
    /// Digest over everything it was compiled from, for explaining it later.
    pub input_sha256: Digest,
    /// How memory was looked up by meaning; none where no embedding model is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<MeaningUsed>,
}

/// One line of a summary, with what it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryLine {
    /// What it tells.
    pub kind: SummaryLineKind,
    /// The turn it is about, the first one when it is about several.
    pub iteration: u32,
    /// The words.
    pub text: String,
    /// The events it stands for, never none.
    pub events: Vec<EventId>,
    /// The artifact it quotes or names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<ArtifactId>,
}

/// What stands in a context in the place of the oldest turns of an attempt, stored as artifact `context.summary`
/// (HV-3.2-4, memory.md 3). It is made beside the loop, and never of rules, contract, messages or open approvals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextSummary {
    /// The attempt.
    pub attempt_id: AttemptId,
    /// The last iteration that it stands for; it begins with the first.
    pub through: u32,
    /// The last event of the task that it stands for, by its place.
    pub through_seq: u64,
    /// Results of that many acts, from the first, stand in it and no longer in the context.
    pub results: u32,
    /// The lowest trust of all it was made of.
    pub trust_tier: TrustTier,
    /// Its lines, in the order of what they tell of.
    pub lines: Vec<SummaryLine>,
    /// Lines that found no room; they stand in the summaries before.
    pub left_out: u32,
    /// The summary that it took the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ArtifactRef>,
    /// The model that put lines of it in fewer words, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retold: Option<RetoldBy>,
}

/// A model that put lines of a summary in fewer words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetoldBy {
    /// Its name.
    pub model: String,
    /// All that it answered, what was refused with it.
    pub answer: ArtifactRef,
}
