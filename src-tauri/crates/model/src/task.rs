//! Tasks and steps (HK-8.1, HK-8.2).

use crate::policy::Profile;
use crate::{
    ArtifactId, ConversationId, PrincipalId, ReceiptId, StepId, TaskId, UnixMs, WorkspaceId, limits,
};
use seal::disclose::Sensitive;
use serde::{Deserialize, Serialize};
pub use words::step::StepKind;
pub use words::task::{CriterionOutcome, Origin, Priority, Proposer, StepStatus, TaskStatus};

crate::names! {
    /// Whether steps of one task may overlap (HK-20.2).
    pub enum ParallelismMode ("parallelism mode") {
        /// One at a time.
        Serial = "serial",
        /// Independent steps with disjoint scopes may overlap.
        Parallel = "parallel",
    }
}

crate::names! {
    /// Protocol by which a server of models is asked.
    pub enum ModelApi ("model protocol") {
        /// Chat completions, as OpenAI and very many others speak them.
        Openai = "openai",
        /// OpenAI Responses.
        Responses = "responses",
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// Gemini `generateContent`.
        Gemini = "gemini",
        /// Ollama's own chat.
        Ollama = "ollama",
    }
}

impl ModelApi {
    /// Whether it is what a contract means that names none.
    pub const fn is_standard(&self) -> bool {
        matches!(self, Self::Openai)
    }

    /// The protocol of a contract that names none.
    pub const fn standard() -> Self {
        Self::Openai
    }
}

/// What a task may spend; every part is reserved before the call that uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Model calls of one attempt, at most [`crate::limits::ITERATIONS_MAX`].
    pub iterations_max: u32,
    /// Tokens in and out, all attempts together.
    pub tokens_max: u64,
    /// Milliseconds of work, waiting for people not counted.
    pub wall_ms_max: i64,
    /// Cost in micro-units of the currency the provider bills; 0 allows only calls without a price.
    pub cost_micros_max: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { iterations_max: 24, tokens_max: 400_000, wall_ms_max: 3_600_000, cost_micros_max: 5_000_000 }
    }
}

impl Budget {
    /// What work that nobody waits for may spend.
    pub const BACKGROUND: Self = Self {
        iterations_max: limits::BACKGROUND_ITERATIONS_MAX,
        tokens_max: limits::BACKGROUND_TOKENS_MAX,
        wall_ms_max: limits::BACKGROUND_MS_MAX,
        cost_micros_max: 0,
    };
}

/// Which reasoner proposes, and what it needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelChoice {
    /// A typed list of proposals: the name of a shipped one, or the artifact that holds the file.
    Playbook {
        /// Shipped name, or the file's own `name`.
        name: String,
        /// The artifact with the exact text that runs.
        artifact_id: ArtifactId,
        /// Parameters given by the person, by name.
        #[serde(default)]
        parameters: std::collections::BTreeMap<String, String>,
    },
    /// A server of models.
    Openai {
        /// The protocol that it speaks.
        #[serde(default = "ModelApi::standard", skip_serializing_if = "ModelApi::is_standard")]
        api: ModelApi,
        /// Base address, ending before what the protocol adds, such as `/chat/completions`.
        base_url: String,
        /// The model's name there.
        model: String,
        /// Handle of the secret that opens it, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secret: Option<String>,
    },
    /// A transcript that is replayed: the artifact that holds it.
    Recorded {
        /// The transcript.
        artifact_id: ArtifactId,
    },
    /// The kernel itself proposes the inverse of receipts.
    Rollback {
        /// Which, or the newest of them.
        receipt_id: crate::ReceiptId,
        /// The others, the newest first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<crate::ReceiptId>,
    },
    /// The kernel itself puts to a person what they asked for: a change of tools or rules, or something to remember.
    Tools {
        /// The artifact that says which.
        change: ArtifactId,
    },
    /// Proposals a test hands over.
    Scripted {
        /// The test's name for them.
        name: String,
    },
    /// Another program's agent, which proposes call by call over a connection; what it says of itself is its word.
    Session {
        /// The program, by its own name.
        client: String,
        /// Its version.
        version: String,
    },
    /// Another program's agent, which works by itself in a staged view of the folder.
    Guest {
        /// The preset's name, or the program's.
        guest: String,
        /// The artifact that says how it is started.
        launch: ArtifactId,
    },
}

impl ModelChoice {
    /// Who proposes.
    pub const fn proposer(&self) -> Proposer {
        match self {
            Self::Playbook { .. } => Proposer::Playbook,
            Self::Openai { .. } => Proposer::Model,
            Self::Recorded { .. } => Proposer::Recorded,
            Self::Rollback { .. } => Proposer::Rollback,
            Self::Tools { .. } => Proposer::Tools,
            Self::Scripted { .. } => Proposer::Scripted,
            Self::Session { .. } => Proposer::Session,
            Self::Guest { .. } => Proposer::Guest,
        }
    }
}

/// What a task promises (HK-8.1 `task_contract_ref` points at the artifact of this).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskContract {
    /// The goal, word for word.
    pub goal: String,
    /// Who proposes.
    pub model: ModelChoice,
    /// What it may spend.
    pub budget: Budget,
    /// What must hold at the end, for people and for the model.
    #[serde(default)]
    pub success_criteria: Vec<String>,
    /// What must not happen, pinned into every context pack.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// Whether a person is asked when it has used what it may, instead of ending there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_at_limit: bool,
    /// Who proposes when the one before does not answer, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<ModelChoice>,
}

crate::names! {
    /// What a task may use so much of.
    pub enum Limit ("limit") {
        /// Tokens in and out.
        Tokens = "tokens",
        /// Money, in micro-units.
        Cost = "cost",
        /// Milliseconds of work.
        Time = "time",
        /// Model calls of one attempt.
        Turns = "turns",
    }
}

/// A criterion as it was checked at the end of its task (HK-8.2-5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedCriterion {
    /// The criterion, in the person's words.
    pub criterion: Sensitive<String>,
    /// What became of it.
    pub outcome: CriterionOutcome,
    /// What was found, in a line.
    pub found: Sensitive<String>,
    /// The receipt that bears it, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_id: Option<ReceiptId>,
}

/// A part of a task that its agent gives away, to become a child task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildTask {
    /// One line for lists; the goal's beginning when empty.
    pub title: Sensitive<String>,
    /// Its goal.
    pub goal: Sensitive<String>,
    /// Its share of what is left to its parent.
    pub budget: Budget,
}

/// The durable entrypoint of work (HK-8.1-4, -5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its identifier; the goal's and the run's too (C21).
    pub task_id: TaskId,
    /// One line for lists.
    pub title: Sensitive<String>,
    /// The explicit goal.
    pub goal: Sensitive<String>,
    /// Where it stands.
    pub status: TaskStatus,
    /// How urgent.
    pub priority: Priority,
    /// Who answers for it.
    pub owner_principal_id: PrincipalId,
    /// The policy profile, visible on the task (HK-16.3).
    pub policy_profile_ref: Profile,
    /// The artifact that holds the [`TaskContract`].
    pub task_contract_ref: ArtifactId,
    /// When it was recorded.
    pub created_at: UnixMs,
    /// When it last changed.
    pub updated_at: UnixMs,
    /// The task it was derived from; never conversational carry-forward (HK-8.1-6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
    /// Tasks that must be complete first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TaskId>,
    /// Free labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<UnixMs>,
    /// The workspace it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_hint: Option<WorkspaceId>,
    /// Who asked, when not the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<PrincipalId>,
    /// Which surface it came through.
    pub source_channel: crate::ingress::Channel,
    /// Whether steps may overlap.
    pub parallelism_mode: ParallelismMode,
    /// The conversation it belongs to.
    pub conversation_id: ConversationId,
    /// What a follow-up to an ended task carries (HK-8.1.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuation_anchor: Option<crate::ingress::ContinuationAnchor>,
    /// Who began it; absent, a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The schedule that began it, and for which of its slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_by: Option<crate::schedule::ScheduledBy>,
}

impl Task {
    /// Who began it.
    pub fn origin(&self) -> Origin {
        self.origin.unwrap_or(Origin::Person)
    }
}

/// An earlier step that a step builds on: what it ends with is an input of the later one (HK-8.2-5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildsOn {
    /// Which.
    pub step_id: StepId,
    /// Its title.
    pub title: String,
    /// What it is to leave, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
}

/// What one step promises (HK-8.2-3, -5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepContract {
    /// What it is to reach.
    pub objective: String,
    /// Inputs it counts on: what came with the goal.
    #[serde(default)]
    pub expected_inputs: Vec<ArtifactId>,
    /// Inputs it counts on: what the steps before it end with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds_on: Vec<BuildsOn>,
    /// Outputs it is to leave, in words.
    #[serde(default)]
    pub expected_outputs: Vec<String>,
    /// When it counts as done.
    #[serde(default)]
    pub success_criteria: Vec<String>,
    /// Classes of action it may request; empty allows those the profile allows.
    #[serde(default)]
    pub allowed_action_classes: Vec<crate::action::ActionClass>,
    /// How to undo it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback_hint: Option<String>,
    /// Who proposes in this step, when not the task's own reasoner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelChoice>,
}

/// The smallest logical recoverable unit (HK-8.2-4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its identifier.
    pub step_id: StepId,
    /// The task that owns it.
    pub task_id: TaskId,
    /// What it is for.
    pub kind: StepKind,
    /// One line for lists.
    pub title: Sensitive<String>,
    /// The artifact that holds the [`StepContract`].
    pub contract_ref: ArtifactId,
    /// Where it stands.
    pub status: StepStatus,
    /// Steps that must have succeeded first.
    pub depends_on: Vec<StepId>,
    /// Attempts allowed.
    pub max_attempts: u32,
    /// When it was planned.
    pub created_at: UnixMs,
    /// When it last changed.
    pub updated_at: UnixMs,
}

crate::names! {
    /// Durable boundaries at which new input may be absorbed (HK-11.5-5).
    pub enum Boundary ("boundary") {
        /// Before a request is judged.
        PrePolicy = "pre_policy",
        /// After it was judged.
        PostPolicy = "post_policy",
        /// Before it is executed.
        PreExec = "pre_exec",
        /// After its outcome was observed.
        PostObservation = "post_observation",
        /// Before the next context pack.
        PreCompilation = "pre_compilation",
    }
}
