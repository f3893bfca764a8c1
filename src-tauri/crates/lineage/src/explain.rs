//! The chain behind a receipt: goal, context, evidence, policy, decision, approval, grant, effect, changes.

use crate::graph::Graph;
use crate::node::{EdgeKind, NodeId, NodeKind};
use crate::taint::Taint;
use model::artifact::ArtifactKind;
use model::{ArtifactId, ReceiptId};
use std::collections::BTreeSet;

/// Why a change came about, link by link; a list is empty where the path taken has no such link. All ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The receipt explained.
    pub receipt: ReceiptId,
    /// The messages, tasks, steps and attempts it served, from the outermost in.
    pub goal: Vec<NodeId>,
    /// The context packs that were in the proposer's sight.
    pub context: Vec<ArtifactId>,
    /// What those packs and the proposal came from.
    pub evidence: Vec<ArtifactId>,
    /// The proposed action.
    pub action: Option<NodeId>,
    /// What policy said.
    pub policy: Vec<NodeId>,
    /// Decisions that led to the grant.
    pub decisions: Vec<NodeId>,
    /// Approvals that led to the grant.
    pub approvals: Vec<NodeId>,
    /// Preconditions observed.
    pub witnesses: Vec<NodeId>,
    /// The grants.
    pub grants: Vec<NodeId>,
    /// What was done.
    pub effect: Option<NodeId>,
    /// What it left behind.
    pub changes: Vec<ArtifactId>,
    /// Receipts that undid it.
    pub undone_by: Vec<ReceiptId>,
    /// How far all of it may be relied on.
    pub taint: Taint,
}

impl Graph {
    /// The chain behind a receipt, or nothing when no event names it.
    pub fn explain(&self, receipt: ReceiptId) -> Option<Explanation> {
        let id = NodeId::Receipt(receipt);
        self.nodes.get(&id)?;
        let act = self.before(id, EdgeKind::Proved).next();
        let action = act.and_then(|act| match act {
            NodeId::Action(action) | NodeId::Effect(action) => Some(NodeId::Action(action)),
            _ => None,
        });
        let effect = act.filter(|act| matches!(act, NodeId::Effect(_)));
        let at = |kind, after: bool| -> Vec<NodeId> {
            let Some(action) = action else {
                return Vec::new();
            };
            if after { self.after(action, kind).collect() } else { self.before(action, kind).collect() }
        };
        let grants = at(EdgeKind::Allowed, true);
        let allowing: BTreeSet<NodeId> =
            grants.iter().flat_map(|g| self.before(*g, EdgeKind::Allowed)).collect();
        let of = |kind: NodeKind| allowing.iter().filter(|id| id.kind() == kind).copied().collect();
        let (context, evidence) = self.seen(action);
        let changes = effect.map(|e| self.after(e, EdgeKind::Left).filter_map(artifact).collect());
        Some(Explanation {
            receipt,
            goal: self.goal(action),
            context,
            evidence,
            action,
            policy: at(EdgeKind::Judged, true),
            decisions: of(NodeKind::Decision),
            approvals: of(NodeKind::Approval),
            witnesses: at(EdgeKind::Guarded, true),
            grants,
            effect,
            changes: changes.unwrap_or_default(),
            undone_by: self.after(id, EdgeKind::Undone).filter_map(crate::queries::as_receipt).collect(),
            taint: self.taint(id),
        })
    }

    /// Attempt, step, tasks and messages behind an action, the outermost first.
    fn goal(&self, action: Option<NodeId>) -> Vec<NodeId> {
        let kinds = [EdgeKind::Owns, EdgeKind::Continued, EdgeKind::Started];
        let mut found = Vec::new();
        let mut open: Vec<NodeId> = action.into_iter().collect();
        while let Some(id) = open.pop() {
            for before in kinds.into_iter().flat_map(|kind| self.before(id, kind)) {
                if !found.contains(&before) {
                    found.push(before);
                    open.push(before);
                }
            }
        }
        found.reverse();
        found
    }

    /// The packs behind an action, and the artifacts behind those.
    fn seen(&self, action: Option<NodeId>) -> (Vec<ArtifactId>, Vec<ArtifactId>) {
        let sources = action.map(|a| self.sources(a)).unwrap_or_default();
        let kind = |id: ArtifactId| self.nodes.get(&NodeId::Artifact(id)).and_then(|n| n.artifact_kind);
        let (mut packs, mut evidence) = (Vec::new(), Vec::new());
        for id in sources.into_iter().filter_map(artifact) {
            match kind(id) {
                Some(ArtifactKind::ContextPack) => packs.push(id),
                Some(
                    ArtifactKind::ModelRequest | ArtifactKind::ModelResponse | ArtifactKind::ModelAnswer,
                ) => {}
                _ => evidence.push(id),
            }
        }
        (packs, evidence)
    }
}

const fn artifact(id: NodeId) -> Option<ArtifactId> {
    match id {
        NodeId::Artifact(artifact) => Some(artifact),
        _ => None,
    }
}
