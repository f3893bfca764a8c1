//! What a pack is compiled from.

use crate::{Error, Recalled};
use model::artifact::{ArtifactKind, Sensitivity, TrustTier};
use model::context::{Act, MeaningUsed, Picture};
use model::decision::Decision;
use model::knowledge::{Belief, WorkingState};
use model::task::{StepContract, TaskContract};
use model::{ArtifactId, AttemptId, Digest, IngressId, MemoryId, TaskId, UnixMs};
use serde::Serialize;
use std::collections::BTreeSet;

/// A text that must be in every pack, with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Pinned {
    /// Where it comes from: an artifact, a digest of a policy set, a rule's name.
    pub source: String,
    /// The text.
    pub text: String,
}

/// An artifact whose content may go into the pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Material {
    /// Which.
    pub artifact_id: ArtifactId,
    /// What it is.
    pub kind: ArtifactKind,
    /// One line: a path, a command, a search.
    pub title: String,
    /// Its content as text.
    pub text: String,
    /// How far it may be relied on.
    pub trust_tier: TrustTier,
    /// How private it is; secret content never goes in.
    pub sensitivity: Sensitivity,
    /// When it was observed, as a place in order; the highest is the newest.
    pub order: u64,
    /// Whether a person or contract named it: it comes first and is never left out, though it may be cut.
    pub pinned: bool,
    /// What a model can do to see what is cut of it; empty when it can do nothing.
    pub rest: &'static str,
    /// What was asked for, when this is what came of it.
    pub act: Option<Act>,
    /// Pictures of it that the model is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
    /// Why other pictures of it are not shown, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// By what number a closing answer cites it, when it is a result of this attempt or was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
}

/// A message bound to the task since the last boundary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Delta {
    /// Which.
    pub ingress_id: IngressId,
    /// What it says.
    pub text: String,
    /// What came with it, of the artifacts of the pack.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub encloses: Vec<ArtifactId>,
    /// How far it may be relied on: a person's words, or a webhook's.
    pub trust_tier: TrustTier,
    /// Its place in order.
    pub order: u64,
}

/// One earlier turn of the loop, in a line or two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// Which iteration, from 1.
    pub iteration: u32,
    /// What was decided and what came of it.
    pub summary: String,
    /// The weakest tier of what it had seen.
    pub trust_tier: TrustTier,
}

/// A summary that stands in the place of the oldest turns (HV-3.2-4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summarised {
    /// Its artifact.
    pub artifact_id: ArtifactId,
    /// The last turn that it stands for.
    pub through: u32,
    /// Its text.
    pub text: String,
    /// The lowest trust of all it was made of.
    pub trust_tier: TrustTier,
    /// Why pictures of what it stands for are not shown, in words, each with the artifact that it was of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<(ArtifactId, String)>,
}

/// A skill that a model may choose to read, in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillLine {
    /// Its name.
    pub name: String,
    /// All of its bytes.
    pub sha256: Digest,
    /// What it says it is for.
    pub words: String,
}

/// What a model has read of a skill. It is never summed up, and left out last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillText {
    /// Its artifact.
    pub artifact_id: ArtifactId,
    /// One line.
    pub title: String,
    /// Its text; none when it was erased.
    pub text: Option<String>,
    /// How far it may be relied on.
    pub trust_tier: TrustTier,
    /// Its place in order.
    pub order: u64,
}

/// How Hermit speaks in the conversation: the words of its skin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkinWords {
    /// Its name.
    pub name: String,
    /// The bytes of its file.
    pub sha256: Digest,
    /// What it says.
    pub words: String,
    /// How far that may be relied on: as far as whoever signed it, at most.
    pub trust_tier: TrustTier,
}

/// Everything a pack may be compiled from (HK-15.6-2). Lists may come in any order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackInput {
    /// The task.
    pub task_id: TaskId,
    /// The attempt.
    pub attempt_id: AttemptId,
    /// The iteration it is for, from 1.
    pub iteration: u32,
    /// Tokens it may use.
    pub tokens_max: u32,
    /// Now: what has run out by then is not active.
    pub now: UnixMs,
    /// The goal in force; an edited goal takes the place of the contract's.
    pub goal: String,
    /// How far the goal may be relied on: as far as whoever gave or edited it.
    pub goal_tier: TrustTier,
    /// How far the rest of the contract, and its steps, may be relied on.
    pub contract_tier: TrustTier,
    /// The artifact of the task contract.
    pub contract_ref: ArtifactId,
    /// The task contract.
    pub contract: TaskContract,
    /// The step contract, with its artifact.
    pub step: Option<(ArtifactId, StepContract)>,
    /// Lines about what policy allows here.
    pub policy: Vec<Pinned>,
    /// Rules of the folder or the person, pinned outside any transcript.
    pub rules: Vec<Pinned>,
    /// SOUL.md: who this instance is, in a person's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soul: Option<Pinned>,
    /// Decisions of the task.
    pub decisions: Vec<Decision>,
    /// The working state, with its artifact.
    pub working_state: Option<(ArtifactId, WorkingState)>,
    /// Beliefs of the task.
    pub beliefs: Vec<Belief>,
    /// Memory records that may matter.
    pub memories: Vec<Recalled>,
    /// Further ones that no task is told of: they hold, or may hold, a value of a secret that a task looked into.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub memories_withheld: BTreeSet<MemoryId>,
    /// How they were looked up by meaning; none where no embedding model is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<MeaningUsed>,
    /// Observations, results, ingested files.
    pub artifacts: Vec<Material>,
    /// What stands in the place of the oldest turns, once there is such a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summarised>,
    /// Skills to choose from, in the order in which they stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillLine>,
    /// Further skills that found no room.
    #[serde(skip_serializing_if = "is_none")]
    pub skills_left_out: u32,
    /// What was read of skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skill_texts: Vec<SkillText>,
    /// The skin of the conversation, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skin: Option<SkinWords>,
    /// Messages since the last boundary.
    pub ingress: Vec<Delta>,
    /// Earlier turns of this attempt.
    pub turns: Vec<Turn>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
const fn is_none(number: &u32) -> bool {
    *number == 0
}

impl PackInput {
    /// An input with nothing but its goal, to be filled.
    pub fn new(
        task_id: TaskId,
        attempt_id: AttemptId,
        contract_ref: ArtifactId,
        contract: TaskContract,
    ) -> Self {
        Self {
            task_id,
            attempt_id,
            iteration: 1,
            tokens_max: model::limits::CONTEXT_TOKENS_DEFAULT,
            now: UnixMs(0),
            goal: contract.goal.clone(),
            goal_tier: TrustTier::UserAsserted,
            contract_tier: TrustTier::UserAsserted,
            contract_ref,
            contract,
            step: None,
            policy: Vec::new(),
            rules: Vec::new(),
            soul: None,
            decisions: Vec::new(),
            working_state: None,
            beliefs: Vec::new(),
            memories: Vec::new(),
            memories_withheld: BTreeSet::new(),
            meaning: None,
            artifacts: Vec::new(),
            summary: None,
            skills: Vec::new(),
            skills_left_out: 0,
            skill_texts: Vec::new(),
            skin: None,
            ingress: Vec::new(),
            turns: Vec::new(),
        }
    }

    /// The same with every list in its one order; policy and rules keep theirs, which has a meaning.
    pub(crate) fn sorted(&self) -> Self {
        let mut input = self.clone();
        input.decisions.sort_by_key(|d| (d.created_at, d.decision_id));
        input.beliefs.sort_by_key(|b| (b.belief_id, b.revision));
        input.memories.sort_by_key(|m| (m.place, m.record.memory_id));
        input.artifacts.sort_by_key(|a| (a.order, a.artifact_id));
        input.ingress.sort_by_key(|d| (d.order, d.ingress_id));
        input.turns.sort_by_key(|t| t.iteration);
        input
    }

    /// SHA-256 over the canonical bytes of the sorted input.
    pub(crate) fn digest(&self) -> Result<Digest, Error> {
        let unfit =
            |e: seal::Error| Error::Unsealable { what: "the input of a context pack", why: e.to_string() };
        seal::canon::to_canonical(&self.sorted()).map(|bytes| Digest::of(&bytes)).map_err(unfit)
    }
}
