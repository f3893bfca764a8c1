//! What came from what, as a drawing: places from the room `lineage`, words for a screen.

use crate::convert::{opt, opt_text};
use crate::lineages::around;
use crate::{Host, Wire as _, not_found};
use lineage::{Graph, NodeId};
use model::TaskId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::Error;
use wire::lineage::{Draw, Drawing, Edge, Node};

/// Nodes of one drawing: as many as a screen draws within a second.
const NODES_MAX: u32 = 1_000;

pub(crate) fn draw(host: &dyn Host, p: Draw) -> Result<Drawing, Error> {
    let focus: NodeId = p.of.trim().parse::<NodeId>().wire()?;
    let query = host.query()?;
    // The task decides which part of a long log is folded; where it is not known yet, the log is short or it is not there.
    let task = task_of(&query, focus, &p.of)?;
    let (graph, reach) = around(&query, task)?;
    if graph.node(focus).is_none() {
        return Err(not_found(focus.kind().as_str(), &p.of));
    }
    let centre: Vec<NodeId> = match focus {
        NodeId::Task(id) => graph.nodes().filter(|n| n.task_id == id).map(|n| n.id).collect(),
        other => vec![other],
    };
    let part = graph.around(&centre);
    let limit = p.limit.unwrap_or(NODES_MAX).clamp(1, NODES_MAX);
    let kept = nearest(&part, focus, usize::try_from(limit).unwrap_or(usize::MAX));
    let layout = part.layout();
    let (feeds, tainted) = (graph.sources(focus), graph.carried_into(focus));
    let nodes: Vec<Node> = layout
        .nodes
        .iter()
        .filter(|drawn| kept.contains(&drawn.id))
        .filter_map(|drawn| {
            let node = part.node(drawn.id)?;
            Some(Node {
                id: drawn.id.to_string(),
                kind: drawn.id.kind(),
                detail: node.detail.clone(),
                label: opt_text(node.label.as_ref()),
                task_id: node.task_id.to_string(),
                at: node.at.0,
                trust: node.trust_tier,
                sha256: opt(node.content_hash),
                layer: drawn.layer,
                row: drawn.row,
                feeds: feeds.contains(&drawn.id),
                tainted: tainted.contains(&drawn.id),
            })
        })
        .collect();
    let edges = part.edges().filter(|edge| kept.contains(&edge.from) && kept.contains(&edge.to));
    Ok(Drawing {
        focus: focus.to_string(),
        scope: reach,
        edges: edges
            .map(|edge| Edge {
                from: edge.from.to_string(),
                to: edge.to.to_string(),
                kind: edge.kind,
                carries: edge.kind.carries(),
            })
            .collect(),
        left_out: u64::try_from(layout.nodes.len().saturating_sub(nodes.len())).unwrap_or(0),
        nodes,
        layers: layout.layers,
        rows: layout.rows,
    })
}

/// The task that something belongs to.
fn task_of(query: &projections::Query, focus: NodeId, named: &str) -> Result<TaskId, Error> {
    let missing = || not_found(focus.kind().as_str(), named);
    let found = match focus {
        NodeId::Task(id) => Some(id),
        NodeId::Artifact(id) => query.artifact(id).wire()?.map(|row| row.task_id),
        NodeId::Receipt(id) => query.receipt(id).wire()?.map(|row| row.task_id),
        NodeId::Approval(id) => query.approval(id).wire()?.map(|row| row.task_id),
        NodeId::Ingress(_)
        | NodeId::Step(_)
        | NodeId::Attempt(_)
        | NodeId::Belief(_)
        | NodeId::Memory(_)
        | NodeId::Decision(_)
        | NodeId::Action(_)
        | NodeId::Policy(_)
        | NodeId::Witness(_)
        | NodeId::Grant(_)
        | NodeId::Effect(_) => {
            let one = projections::Ask { limit: 1, ..projections::Ask::default() }.oldest_first();
            query
                .tasks(&projections::query::TaskFilter::default(), one)
                .wire()?
                .rows
                .first()
                .map(|row| row.task_id)
        }
    };
    found.ok_or_else(missing)
}

/// The focus and what is joined to it, step by step, until there are enough.
fn nearest(graph: &Graph, focus: NodeId, limit: usize) -> BTreeSet<NodeId> {
    let mut joined: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for edge in graph.edges() {
        joined.entry(edge.from).or_default().push(edge.to);
        joined.entry(edge.to).or_default().push(edge.from);
    }
    let mut kept = BTreeSet::from([focus]);
    let mut open = VecDeque::from([focus]);
    while let Some(id) = open.pop_front() {
        for next in joined.get(&id).into_iter().flatten() {
            if kept.len() >= limit {
                return kept;
            }
            if kept.insert(*next) {
                open.push_back(*next);
            }
        }
    }
    // What is joined to nothing that is joined to the focus still belongs to a task.
    let rest: Vec<NodeId> = graph.nodes().map(|n| n.id).filter(|id| !kept.contains(id)).collect();
    let room = limit.saturating_sub(kept.len());
    kept.extend(rest.into_iter().take(room));
    kept
}
