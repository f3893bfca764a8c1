//! Poison recall: everything that derives from a bad source, and the order in which it is taken back.
//!
//! A source may be one thing of several that were looked at together: then it is a place in what the look found. What an agent
//! did after it had a source derives from it, whatever it was. A claim rests on its evidence alone: what a look found in
//! another file is what stood there, and what was remembered of that is named beside, for a person to look at. That does not hold
//! of a look behind a change that derives from the source: it may find what its own task put there.

use crate::graph::Graph;
use crate::node::{EdgeKind, NodeId};
use model::action::ActionClass;
use model::artifact::ArtifactKind;
use model::{ActionRequestId, ArtifactId, MemoryId, ReceiptId, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// Classes of acts that leave the files as they are, which a later look finds.
const LEAVES_FILES: [ActionClass; 3] =
    [ActionClass::ReadLocal, ActionClass::NetworkRead, ActionClass::DurableMemoryWrite];

/// Places in artifacts, as JSON pointers: of these artifacts, nothing but what stands there is meant.
pub type Places = BTreeMap<ArtifactId, BTreeSet<String>>;

/// By which part of an artifact a claim rests on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// By all of it.
    Whole,
    /// By the values at these pointers.
    At(BTreeSet<String>),
}

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
    /// Memory records that rest on other evidence and were asked for by an agent that had the source.
    pub beside: Vec<NodeId>,
}

impl Graph {
    /// Everything that content of these sources went into, and what was decided on it. The sources are not in it.
    pub fn recall(&self, sources: &[NodeId]) -> Recall {
        self.recall_at(sources, &Places::new())
    }

    /// The same, where of some artifacts these places alone are meant.
    pub fn recall_at(&self, sources: &[NodeId], places: &Places) -> Recall {
        let mut reached: BTreeSet<NodeId> = BTreeSet::new();
        for source in sources {
            reached.extend(self.resting_on(*source, places));
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
        let beside = self.set_beside(&mut reached, sources);
        let ordered = self.in_order(reached);
        let of =
            |wanted: fn(&NodeId) -> bool| -> Vec<NodeId> { ordered.iter().copied().filter(wanted).collect() };
        // Events name a thing after what it came from, so the reverse of their order is leaf first.
        let order = ordered
            .iter()
            .rev()
            .copied()
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
            beside: self.in_order(beside),
        }
    }

    /// The records that the act behind a receipt promoted. Ordered.
    pub fn promoted_in(&self, receipt: ReceiptId) -> Vec<MemoryId> {
        let acts: BTreeSet<NodeId> = self.before(receipt, EdgeKind::Proved).collect();
        let of = self.promoted_by.iter().filter(|(_, act)| acts.contains(&NodeId::Effect(**act)));
        of.map(|(memory, _)| *memory).collect()
    }

    /// Notes by which part of an artifact a claim rests on it; what rests on all of it once does so for good.
    pub(crate) fn rests_on_part(&mut self, artifact: ArtifactId, claim: NodeId, pointer: Option<&String>) {
        let part = self.parts.entry((artifact, claim)).or_insert_with(|| Part::At(BTreeSet::new()));
        match (pointer, part) {
            (Some(pointer), Part::At(known)) => _ = known.insert(pointer.clone()),
            (Some(_), Part::Whole) => {}
            (None, part) => *part = Part::Whole,
        }
    }

    /// By the order of the events that made them.
    fn in_order(&self, all: impl IntoIterator<Item = NodeId>) -> Vec<NodeId> {
        let place = |id: &NodeId| self.nodes.get(id).map_or(0, |node| node.order);
        let mut ordered: Vec<(u64, NodeId)> = all.into_iter().map(|id| (place(&id), id)).collect();
        ordered.sort_unstable();
        ordered.into_iter().map(|(_, id)| id).collect()
    }

    fn resting_on(&self, source: NodeId, places: &Places) -> BTreeSet<NodeId> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![source]);
        // What looks found that is set apart, and since when each task has changed what its looks find.
        let (mut apart, mut changed) = (BTreeSet::new(), BTreeMap::new());
        while let Some(id) = open.pop() {
            self.note_change(id, &mut changed);
            for (kind, next) in self.down.get(&id).into_iter().flatten() {
                // What an agent had seen before it looked stands among the inputs of what it found, and is none of its content.
                let is_of_look = matches!(kind, EdgeKind::Left | EdgeKind::Contributed)
                    && self.is_found_by_a_look(source, *next);
                if is_of_look && !self.is_behind(*next, &changed) {
                    apart.insert(*next);
                } else if (is_of_look || self.passes_on(places, (id, *kind, *next))) && seen.insert(*next) {
                    open.push(*next);
                }
            }
            if open.is_empty() {
                let late = apart.iter().copied().filter(|id| self.is_behind(*id, &changed));
                open.extend(late.filter(|id| seen.insert(*id)));
            }
        }
        seen.remove(&source);
        seen
    }

    /// Takes up when a task first changed what its looks find.
    fn note_change(&self, id: NodeId, changed: &mut BTreeMap<TaskId, u64>) {
        let (NodeId::Effect(act), Some(effect)) = (id, self.nodes.get(&id)) else { return };
        if LEAVES_FILES.iter().any(|class| self.is_of_class(act, *class)) {
            return;
        }
        let first = changed.entry(effect.task_id).or_insert(effect.order);
        *first = effect.order.min(*first);
    }

    fn is_behind(&self, found: NodeId, changed: &BTreeMap<TaskId, u64>) -> bool {
        let since = |task: &TaskId| changed.get(task).copied();
        self.nodes.get(&found).is_some_and(|node| since(&node.task_id).is_some_and(|at| at < node.order))
    }

    fn passes_on(&self, places: &Places, (from, kind, to): (NodeId, EdgeKind, NodeId)) -> bool {
        let meant = |of: ArtifactId| places.get(&of);
        match (kind, from) {
            (EdgeKind::Supports | EdgeKind::Promoted, NodeId::Artifact(of)) => {
                meant(of).is_none_or(|meant| self.rests_on_any(of, to, meant))
            }
            // A context of another task is told of it by a record of memory, from which the way leads on.
            (EdgeKind::Contributed, NodeId::Artifact(of)) if meant(of).is_some() => {
                !self.is_told_by_memory(from, to)
            }
            _ => kind.carries(),
        }
    }

    /// Whether it is what a look at files found, of a look that is not the source itself.
    fn is_found_by_a_look(&self, source: NodeId, found: NodeId) -> bool {
        self.before(found, EdgeKind::Left).any(|by| match by {
            NodeId::Effect(act) => {
                let is_asked = [NodeId::Action(act), NodeId::Effect(act)].contains(&source);
                !is_asked && self.looks.contains(&act)
            }
            _ => false,
        })
    }

    fn is_of_class(&self, act: ActionRequestId, class: ActionClass) -> bool {
        self.nodes.get(&NodeId::Action(act)).is_some_and(|node| node.detail == class.as_str())
    }

    /// Whether a claim rests on any of these places of an artifact, or on something around or within them.
    fn rests_on_any(&self, of: ArtifactId, claim: NodeId, meant: &BTreeSet<String>) -> bool {
        let holds = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match self.parts.get(&(of, claim)) {
            Some(Part::At(known)) => {
                known.iter().any(|known| meant.iter().any(|meant| holds(meant, known) || holds(known, meant)))
            }
            Some(Part::Whole) | None => true,
        }
    }

    /// Whether it went into a context of another task with a record of memory; contexts of before say nothing of records.
    fn is_told_by_memory(&self, from: NodeId, to: NodeId) -> bool {
        let (Some(of), Some(context)) = (self.nodes.get(&from), self.nodes.get(&to)) else { return false };
        context.artifact_kind == Some(ArtifactKind::ContextPack)
            && context.task_id != of.task_id
            && self.before(to, EdgeKind::Contributed).any(|id| matches!(id, NodeId::Memory(_)))
    }

    /// Takes out the acts that remembered what rests on other evidence alone, and answers the records that do.
    fn set_beside(&self, reached: &mut BTreeSet<NodeId>, sources: &[NodeId]) -> Vec<NodeId> {
        let mut acts: BTreeMap<ActionRequestId, Vec<NodeId>> = BTreeMap::new();
        for (memory, act) in &self.promoted_by {
            let is_asked = sources.iter().any(|id| [NodeId::Action(*act), NodeId::Effect(*act)].contains(id));
            let is_reached = reached.contains(&NodeId::Effect(*act));
            if is_reached && !is_asked && self.is_of_class(*act, ActionClass::DurableMemoryWrite) {
                acts.entry(*act).or_default().push(NodeId::Memory(*memory));
            }
        }
        let mut beside = Vec::new();
        for (act, memories) in acts {
            let (rest, others): (Vec<NodeId>, Vec<NodeId>) =
                memories.into_iter().partition(|id| reached.contains(id) || sources.contains(id));
            beside.extend(others);
            if rest.is_empty() {
                let effect = NodeId::Effect(act);
                let receipts: Vec<NodeId> = self.after(effect, EdgeKind::Proved).collect();
                for id in receipts.into_iter().chain([effect]) {
                    reached.remove(&id);
                }
            }
        }
        beside
    }
}
