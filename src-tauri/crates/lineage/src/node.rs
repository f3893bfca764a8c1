//! What stands in the graph and what joins it.

use model::artifact::{ArtifactKind, TrustTier};
use model::{
    ActionRequestId, ApprovalId, ArtifactId, AttemptId, BeliefId, DecisionId, Digest, GrantId, IngressId,
    MemoryId, PolicyResultId, ReceiptId, Sensitive, StepId, TaskId, UnixMs, WitnessId,
};
use std::fmt;
use std::str::FromStr;

macro_rules! nodes {
    ($($(#[$meta:meta])* $variant:ident($id:ty) = $kind:literal,)+) => {
        /// Anything that can come from something.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum NodeId { $($(#[$meta])* $variant($id),)+ }

        impl NodeId {
            /// The noun, as stored and shown.
            pub const fn kind(self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)+ }
            }
        }

        impl fmt::Display for NodeId {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Effect(id) => write!(f, "effect:{id}"),
                    $(#[allow(unreachable_patterns, reason = "the effect has its own spelling above")]
                      Self::$variant(id) => fmt::Display::fmt(id, f),)+
                }
            }
        }

        impl FromStr for NodeId {
            type Err = model::Error;
            /// Reads an identifier of any of these kinds.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                if let Some(id) = text.strip_prefix("effect:") {
                    return id.parse().map(Self::Effect);
                }
                $(if let Ok(id) = text.parse::<$id>() { return Ok(Self::$variant(id)); })+
                Err(model::Error::Id { text: text.to_owned(), kind: "lineage", prefix: "kind" })
            }
        }

        $(nodes!(@from $variant $id);)+
    };
    (@from Effect $id:ty) => {};
    (@from $variant:ident $id:ty) => {
        impl From<$id> for NodeId { fn from(id: $id) -> Self { Self::$variant(id) } }
    };
}

nodes! {
    /// A message that came in.
    Ingress(IngressId) = "ingress",
    /// A task.
    Task(TaskId) = "task",
    /// A step.
    Step(StepId) = "step",
    /// An attempt.
    Attempt(AttemptId) = "attempt",
    /// An artifact.
    Artifact(ArtifactId) = "artifact",
    /// A belief.
    Belief(BeliefId) = "belief",
    /// A memory record.
    Memory(MemoryId) = "memory",
    /// A decision.
    Decision(DecisionId) = "decision",
    /// A proposed action.
    Action(ActionRequestId) = "action",
    /// What policy said of it.
    Policy(PolicyResultId) = "policy_result",
    /// Preconditions observed for it.
    Witness(WitnessId) = "witness",
    /// An approval asked for it.
    Approval(ApprovalId) = "approval",
    /// Authority minted for it.
    Grant(GrantId) = "grant",
    /// What was done: an action that was dispatched.
    Effect(ActionRequestId) = "effect",
    /// The proof of it.
    Receipt(ReceiptId) = "receipt",
}

/// What is known about a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Which.
    pub id: NodeId,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// When it was first named.
    pub at: UnixMs,
    /// Its place in the order of events, for drawing and for staleness.
    pub order: u64,
    /// Words for people, erased ones included.
    pub label: Option<Sensitive<String>>,
    /// A noun that says more than the kind: an artifact's kind, an action's class.
    pub detail: String,
    /// Its own trust tier, before taint.
    pub trust_tier: Option<TrustTier>,
    /// Of an artifact: what it is.
    pub artifact_kind: Option<ArtifactKind>,
    /// Of an artifact: SHA-256 of its bytes.
    pub content_hash: Option<Digest>,
    /// Whether the event that made it was seen, not just one that names it.
    pub known: bool,
}

model::names! {
    /// How one thing came of another.
    pub enum EdgeKind ("lineage edge") {
        /// A message started a task.
        Started = "started",
        /// A task, step or attempt has a part of its own.
        Owns = "owns",
        /// A later task or attempt goes on where an earlier one stopped.
        Continued = "continued",
        /// A contract binds a task or step.
        Binds = "binds",
        /// An attempt made an artifact.
        Produced = "produced",
        /// An artifact went into another.
        Contributed = "contributed",
        /// An artifact was folded into another.
        Compacted = "compacted",
        /// Evidence stands behind a claim or judgment.
        Supports = "supports",
        /// A belief or artifact became memory.
        Promoted = "promoted",
        /// A belief or memory gave way to a newer one.
        Superseded = "superseded",
        /// Two beliefs say otherwise.
        Contradicts = "contradicts",
        /// A pack was given to an attempt.
        Informed = "informed",
        /// A pack was made into the bytes sent to a model.
        Asked = "asked",
        /// A model answered.
        Answered = "answered",
        /// An answer proposed an action.
        Proposed = "proposed",
        /// The artifact that records a thing.
        Recorded = "recorded",
        /// Policy judged an action.
        Judged = "judged",
        /// Preconditions of an action were observed.
        Guarded = "guarded",
        /// A person was asked about an action.
        Shown = "shown",
        /// A judgment, approval or policy result led to a grant.
        Allowed = "allowed",
        /// A grant permitted an effect.
        Permitted = "permitted",
        /// An action was carried out.
        Executed = "executed",
        /// An effect left something behind.
        Left = "left",
        /// A receipt proves an act.
        Proved = "proved",
        /// A receipt's act was undone by another's.
        Undone = "undone",
        /// A decision, approval or receipt cites an artifact.
        Cited = "cited",
    }
}

impl EdgeKind {
    /// Whether content flows along it, so that taint does (invariant 2).
    pub const fn carries(self) -> bool {
        match self {
            Self::Contributed
            | Self::Compacted
            | Self::Supports
            | Self::Promoted
            | Self::Asked
            | Self::Answered
            | Self::Proposed
            | Self::Recorded
            | Self::Executed
            | Self::Left
            | Self::Proved
            | Self::Undone => true,
            Self::Started
            | Self::Owns
            | Self::Continued
            | Self::Binds
            | Self::Produced
            | Self::Superseded
            | Self::Contradicts
            | Self::Informed
            | Self::Judged
            | Self::Guarded
            | Self::Shown
            | Self::Allowed
            | Self::Permitted
            | Self::Cited => false,
        }
    }
}

/// One thing came of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// What was there.
    pub from: NodeId,
    /// What came of it.
    pub to: NodeId,
    /// How.
    pub kind: EdgeKind,
}
