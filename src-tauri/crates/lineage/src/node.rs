//! What stands in the graph and what joins it.

use model::artifact::{ArtifactKind, TrustTier};
use model::{
    ActionRequestId, ApprovalId, ArtifactId, AttemptId, BeliefId, DecisionId, Digest, GrantId, IngressId,
    MemoryId, PolicyResultId, ReceiptId, Sensitive, StepId, TaskId, UnixMs, WitnessId,
};
use std::fmt;
use std::str::FromStr;
pub use words::knowledge::{EdgeKind, NodeKind};

macro_rules! nodes {
    ($($(#[$meta:meta])* $variant:ident($id:ty),)+) => {
        /// Anything that can come from something.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum NodeId { $($(#[$meta])* $variant($id),)+ }

        impl NodeId {
            /// The noun, as stored and shown.
            pub const fn kind(self) -> NodeKind {
                match self { $(Self::$variant(_) => NodeKind::$variant,)+ }
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
    Ingress(IngressId),
    /// A task.
    Task(TaskId),
    /// A step.
    Step(StepId),
    /// An attempt.
    Attempt(AttemptId),
    /// An artifact.
    Artifact(ArtifactId),
    /// A belief.
    Belief(BeliefId),
    /// A memory record.
    Memory(MemoryId),
    /// A decision.
    Decision(DecisionId),
    /// A proposed action.
    Action(ActionRequestId),
    /// What policy said of it.
    Policy(PolicyResultId),
    /// Preconditions observed for it.
    Witness(WitnessId),
    /// An approval asked for it.
    Approval(ApprovalId),
    /// Authority minted for it.
    Grant(GrantId),
    /// What was done: an action that was dispatched.
    Effect(ActionRequestId),
    /// The proof of it.
    Receipt(ReceiptId),
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
