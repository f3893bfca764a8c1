//! Poison recall: everything that derives from a bad source, and the order in which it is taken back.

use crate::graph::Graph;
use crate::node::{EdgeKind, NodeId};
use std::collections::BTreeSet;

/// What rests on a source, by kind; each list from the first that came of it to the last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recall {
    /// Artifacts.
    pub artifacts: Vec<NodeId>,
    /// Beliefs.
    pub beliefs: Vec<NodeId>,
    /// Memory records.
    pub memories: Vec<NodeId>,
    /// Decisions that cite any of it.
    pub decisions: Vec<NodeId>,
    /// What was done because of it.
    pub effects: Vec<NodeId>,
    /// The receipts of what was done.
    pub receipts: Vec<NodeId>,
    /// What is to be taken back, leaf first: nothing comes before what was derived from it.
    pub order: Vec<NodeId>,
}

impl Graph {
    /// Everything that content of these sources went into, and what was decided on it. The sources are not in it.
    pub fn recall(&self, sources: &[NodeId]) -> Recall {
        let mut reached: BTreeSet<NodeId> = BTreeSet::new();
        for source in sources {
            reached.extend(self.carried_into(*source));
        }
        // A decision carries nothing on, but it was made on what it cites.
        let cited: Vec<NodeId> = reached
            .iter()
            .chain(sources)
            .flat_map(|id| self.after(*id, EdgeKind::Cited))
            .filter(|id| matches!(id, NodeId::Decision(_)))
            .collect();
        reached.extend(cited);
        reached.retain(|id| !sources.contains(id));
        let mut ordered: Vec<(u64, NodeId)> =
            reached.into_iter().map(|id| (self.nodes.get(&id).map_or(0, |n| n.order), id)).collect();
        ordered.sort_unstable();
        let of = |wanted: fn(&NodeId) -> bool| -> Vec<NodeId> {
            ordered.iter().map(|(_, id)| *id).filter(wanted).collect()
        };
        // Events name a thing after what it came from, so the reverse of their order is leaf first.
        let order = ordered
            .iter()
            .rev()
            .map(|(_, id)| *id)
            .filter(|id| matches!(id, NodeId::Receipt(_) | NodeId::Memory(_) | NodeId::Belief(_)))
            .collect();
        Recall {
            artifacts: of(|id| matches!(id, NodeId::Artifact(_))),
            beliefs: of(|id| matches!(id, NodeId::Belief(_))),
            memories: of(|id| matches!(id, NodeId::Memory(_))),
            decisions: of(|id| matches!(id, NodeId::Decision(_))),
            effects: of(|id| matches!(id, NodeId::Effect(_))),
            receipts: of(|id| matches!(id, NodeId::Receipt(_))),
            order,
        }
    }
}
