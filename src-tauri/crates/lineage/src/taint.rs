//! How far a bad source reaches, and what rests on something that has changed since.

use crate::graph::Graph;
use crate::node::NodeId;
use model::ArtifactId;
use model::artifact::TrustTier;
use std::collections::BTreeSet;

/// What a node may be relied on for, all it came from considered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taint {
    /// The weakest tier of the node and everything whose content went into it; none when no tier is known.
    pub tier: Option<TrustTier>,
    /// The untrusted artifacts behind it, ordered.
    pub untrusted: Vec<ArtifactId>,
}

impl Taint {
    /// Whether anything untrusted went into it.
    pub const fn is_tainted(&self) -> bool {
        !self.untrusted.is_empty() || matches!(self.tier, Some(TrustTier::Untrusted))
    }
}

/// Something that rests on an artifact whose place holds other content by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stale {
    /// What it rests on.
    pub source: ArtifactId,
    /// The newest artifact of the same place.
    pub newer: ArtifactId,
}

/// Tiers from the least trusted up, as HK-15.4 lists them.
fn weaker(a: TrustTier, b: TrustTier) -> TrustTier {
    a.min(b)
}

impl Graph {
    /// The tier of a node after everything it came from, and the untrusted artifacts among that.
    pub fn taint(&self, id: impl Into<NodeId>) -> Taint {
        let id = id.into();
        let all: BTreeSet<NodeId> = self.sources(id).into_iter().chain([id]).collect();
        let tier = all.iter().filter_map(|id| self.nodes.get(id)?.trust_tier).reduce(weaker);
        let untrusted = all.iter().filter_map(|id| match id {
            NodeId::Artifact(artifact) => {
                let tier = self.nodes.get(id)?.trust_tier?;
                (tier == TrustTier::Untrusted).then_some(*artifact)
            }
            _ => None,
        });
        Taint { tier, untrusted: untrusted.collect() }
    }

    /// Everything that content of `source` went into: the beliefs, memories, artifacts, effects and receipts to
    /// look at again when the source turns out bad. Ordered; without the source.
    pub fn tainted_by(&self, source: impl Into<NodeId>) -> Vec<NodeId> {
        self.carried_into(source).into_iter().collect()
    }

    /// The sources of a node that have been replaced since, each with what took its place; ordered.
    pub fn stale(&self, id: impl Into<NodeId>) -> Vec<Stale> {
        let id = id.into();
        let mut stale: Vec<Stale> =
            self.sources(id).into_iter().chain([id]).filter_map(|id| self.replaced(id)).collect();
        stale.sort();
        stale
    }

    fn replaced(&self, id: NodeId) -> Option<Stale> {
        let NodeId::Artifact(source) = id else {
            return None;
        };
        let newer = *self.by_uri.get(self.place_of.get(&source)?)?.last()?;
        let hash = |id: ArtifactId| self.nodes.get(&NodeId::Artifact(id)).and_then(|n| n.content_hash);
        (newer != source && hash(newer) != hash(source)).then_some(Stale { source, newer })
    }
}
