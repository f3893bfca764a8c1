//! The six questions of HK-14.4.

use crate::graph::Graph;
use crate::node::{EdgeKind, NodeId};
use model::artifact::ArtifactKind;
use model::{ArtifactId, AttemptId, BeliefId, DecisionId, MemoryId, ReceiptId};
use std::collections::BTreeSet;

impl Graph {
    /// Which attempt produced this artifact (HK-14.4-1).
    pub fn producer(&self, artifact: ArtifactId) -> Option<AttemptId> {
        self.before(artifact, EdgeKind::Produced).find_map(|id| match id {
            NodeId::Attempt(attempt) => Some(attempt),
            _ => None,
        })
    }

    /// Which artifacts contributed to it directly (HK-14.4-2); [`Graph::sources`] goes all the way. Ordered.
    pub fn inputs(&self, artifact: ArtifactId) -> Vec<ArtifactId> {
        let kinds = [EdgeKind::Contributed, EdgeKind::Compacted, EdgeKind::Asked, EdgeKind::Answered];
        let before = kinds.into_iter().flat_map(|kind| self.before(artifact, kind));
        let found: BTreeSet<ArtifactId> = before.filter_map(as_artifact).collect();
        found.into_iter().collect()
    }

    /// Which decisions cited it, directly or through something made of it (HK-14.4-3). Ordered.
    pub fn decisions_citing(&self, artifact: ArtifactId) -> Vec<DecisionId> {
        let mut found: BTreeSet<DecisionId> =
            self.carried_into(artifact).into_iter().filter_map(as_decision).collect();
        found.extend(self.after(artifact, EdgeKind::Cited).filter_map(as_decision));
        found.into_iter().collect()
    }

    /// Which beliefs referenced it (HK-14.4-4). Ordered.
    pub fn beliefs_referencing(&self, artifact: ArtifactId) -> Vec<BeliefId> {
        let beliefs = self.after(artifact, EdgeKind::Supports).filter_map(|id| match id {
            NodeId::Belief(belief) => Some(belief),
            _ => None,
        });
        beliefs.collect()
    }

    /// The memory records it was promoted into, or that rest on it (HK-14.4-5). Ordered.
    pub fn memories_from(&self, artifact: ArtifactId) -> Vec<MemoryId> {
        let memories = self.carried_into(artifact).into_iter().filter_map(|id| match id {
            NodeId::Memory(memory) => Some(memory),
            _ => None,
        });
        memories.collect()
    }

    /// The receipts whose bundle includes it (HK-14.4-6): their envelope, the records and results of their act, and
    /// what was sealed for them. Ordered.
    pub fn receipts_including(&self, artifact: ArtifactId) -> Vec<ReceiptId> {
        let mut found = BTreeSet::new();
        let near = self.before(artifact, EdgeKind::Recorded).chain(self.before(artifact, EdgeKind::Left));
        for owner in near.chain(self.after(artifact, EdgeKind::Cited)) {
            found.extend(self.receipts_of(owner));
        }
        let shown = self.after(artifact, EdgeKind::Shown).collect::<Vec<_>>();
        found.extend(shown.into_iter().flat_map(|approval| self.receipts_of(approval)));
        // A bundle made as an artifact of its own names what it includes as its inputs.
        for bundle in self.after(artifact, EdgeKind::Contributed) {
            let is_bundle = |n: &crate::Node| n.artifact_kind == Some(ArtifactKind::ReceiptBundle);
            if self.nodes.get(&bundle).is_some_and(is_bundle) {
                let owners =
                    self.before(bundle, EdgeKind::Recorded).chain(self.after(bundle, EdgeKind::Cited));
                found.extend(owners.filter_map(as_receipt));
            }
        }
        found.into_iter().collect()
    }

    /// The receipts of the act a node belongs to.
    fn receipts_of(&self, id: NodeId) -> Vec<ReceiptId> {
        let action = match id {
            NodeId::Receipt(receipt) => return vec![receipt],
            NodeId::Action(action) | NodeId::Effect(action) => Some(NodeId::Action(action)),
            NodeId::Policy(_) => self.before(id, EdgeKind::Judged).next(),
            NodeId::Witness(_) => self.before(id, EdgeKind::Guarded).next(),
            NodeId::Approval(_) => {
                self.before(id, EdgeKind::Shown).find(|id| matches!(id, NodeId::Action(_)))
            }
            NodeId::Grant(_) => self.before(id, EdgeKind::Allowed).find(|id| matches!(id, NodeId::Action(_))),
            _ => None,
        };
        let Some(NodeId::Action(action)) = action else {
            return Vec::new();
        };
        let acts = [NodeId::Action(action), NodeId::Effect(action)];
        acts.into_iter().flat_map(|act| self.after(act, EdgeKind::Proved)).filter_map(as_receipt).collect()
    }
}

const fn as_artifact(id: NodeId) -> Option<ArtifactId> {
    match id {
        NodeId::Artifact(artifact) => Some(artifact),
        _ => None,
    }
}

const fn as_decision(id: NodeId) -> Option<DecisionId> {
    match id {
        NodeId::Decision(decision) => Some(decision),
        _ => None,
    }
}

pub(crate) const fn as_receipt(id: NodeId) -> Option<ReceiptId> {
    match id {
        NodeId::Receipt(receipt) => Some(receipt),
        _ => None,
    }
}
