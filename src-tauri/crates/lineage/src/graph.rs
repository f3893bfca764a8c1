//! The graph and the walks through it.

use crate::node::{Edge, EdgeKind, Node, NodeId};
use crate::recall::Part;
use model::{ActionRequestId, ArtifactId, AttemptId, MemoryId};
use std::collections::{BTreeMap, BTreeSet};

/// What a turn of the loop has come to, so that what follows is joined to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    pub pack: Option<ArtifactId>,
    pub request: Option<ArtifactId>,
    pub answer: Option<ArtifactId>,
    pub act: Option<ActionRequestId>,
}

/// Everything that came from something, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    pub(crate) nodes: BTreeMap<NodeId, Node>,
    pub(crate) down: BTreeMap<NodeId, BTreeSet<(EdgeKind, NodeId)>>,
    pub(crate) up: BTreeMap<NodeId, BTreeSet<(EdgeKind, NodeId)>>,
    /// Artifacts by where they came from, in the order of events.
    pub(crate) by_uri: BTreeMap<String, Vec<ArtifactId>>,
    pub(crate) place_of: BTreeMap<ArtifactId, String>,
    pub(crate) turns: BTreeMap<AttemptId, Turn>,
    /// By which part of an artifact a claim rests on it.
    pub(crate) parts: BTreeMap<(ArtifactId, NodeId), Part>,
    /// The act by which a record was promoted.
    pub(crate) promoted_by: BTreeMap<MemoryId, ActionRequestId>,
    /// The acts that look at files; a call of a tool that only looks is none of them.
    pub(crate) looks: BTreeSet<ActionRequestId>,
    pub(crate) events: u64,
}

impl Graph {
    /// A graph of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many events it was folded from.
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// A node, if anything named it.
    pub fn node(&self, id: impl Into<NodeId>) -> Option<&Node> {
        self.nodes.get(&id.into())
    }

    /// Every node, ordered by identifier.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values()
    }

    /// Every edge, ordered.
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        self.down
            .iter()
            .flat_map(|(from, to)| to.iter().map(|(kind, to)| Edge { from: *from, to: *to, kind: *kind }))
    }

    /// What came directly of a node along edges of one kind, ordered.
    pub fn after(&self, id: impl Into<NodeId>, kind: EdgeKind) -> impl Iterator<Item = NodeId> {
        step(&self.down, id.into(), kind)
    }

    /// What a node came directly from along edges of one kind, ordered.
    pub fn before(&self, id: impl Into<NodeId>, kind: EdgeKind) -> impl Iterator<Item = NodeId> {
        step(&self.up, id.into(), kind)
    }

    /// Everything a node came from, by any edge; without itself, ordered.
    pub fn ancestors(&self, id: impl Into<NodeId>) -> BTreeSet<NodeId> {
        reach(&self.up, id.into(), |_| true)
    }

    /// Everything that came of a node, by any edge; without itself, ordered.
    pub fn descendants(&self, id: impl Into<NodeId>) -> BTreeSet<NodeId> {
        reach(&self.down, id.into(), |_| true)
    }

    /// Everything whose content went into a node; without itself.
    pub fn sources(&self, id: impl Into<NodeId>) -> BTreeSet<NodeId> {
        reach(&self.up, id.into(), EdgeKind::carries)
    }

    /// Everything a node's content went into; without itself.
    pub fn carried_into(&self, id: impl Into<NodeId>) -> BTreeSet<NodeId> {
        reach(&self.down, id.into(), EdgeKind::carries)
    }

    /// The part of the graph around some nodes: they, all that content flowed from or into, and whatever is joined
    /// directly to any of these. An attempt is joined to all it did: what else it did stays out.
    pub fn around(&self, ids: &[NodeId]) -> Self {
        let mut keep: BTreeSet<NodeId> = ids.iter().copied().collect();
        for id in ids {
            keep.extend(self.sources(*id));
            keep.extend(self.carried_into(*id));
        }
        let joined = |map: &BTreeMap<NodeId, BTreeSet<(EdgeKind, NodeId)>>| -> Vec<NodeId> {
            keep.iter().filter_map(|id| map.get(id)).flatten().map(|(_, id)| *id).collect()
        };
        let near = [joined(&self.up), joined(&self.down)].concat();
        keep.extend(near);
        let among = |map: &BTreeMap<NodeId, BTreeSet<(EdgeKind, NodeId)>>| {
            let part = map.iter().filter(|(id, _)| keep.contains(id));
            part.map(|(id, to)| (*id, to.iter().filter(|(_, to)| keep.contains(to)).copied().collect()))
                .collect()
        };
        Self {
            nodes: self
                .nodes
                .iter()
                .filter(|(id, _)| keep.contains(id))
                .map(|(id, n)| (*id, n.clone()))
                .collect(),
            down: among(&self.down),
            up: among(&self.up),
            by_uri: self.by_uri.clone(),
            place_of: self.place_of.clone(),
            turns: BTreeMap::new(),
            parts: self.parts.clone(),
            promoted_by: self.promoted_by.clone(),
            looks: self.looks.clone(),
            events: self.events,
        }
    }

    pub(crate) fn join(&mut self, from: impl Into<NodeId>, kind: EdgeKind, to: impl Into<NodeId>) {
        let (from, to) = (from.into(), to.into());
        if from != to {
            self.down.entry(from).or_default().insert((kind, to));
            self.up.entry(to).or_default().insert((kind, from));
        }
    }
}

fn step(
    map: &BTreeMap<NodeId, BTreeSet<(EdgeKind, NodeId)>>,
    id: NodeId,
    kind: EdgeKind,
) -> impl Iterator<Item = NodeId> {
    map.get(&id).into_iter().flatten().filter(move |(k, _)| *k == kind).map(|(_, id)| *id)
}

fn reach(
    map: &BTreeMap<NodeId, BTreeSet<(EdgeKind, NodeId)>>,
    from: NodeId,
    goes: impl Fn(EdgeKind) -> bool,
) -> BTreeSet<NodeId> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        for (kind, next) in map.get(&id).into_iter().flatten() {
            if goes(*kind) && seen.insert(*next) {
                open.push(*next);
            }
        }
    }
    seen.remove(&from);
    seen
}
