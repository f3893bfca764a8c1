//! A place for every node: layers by the longest path, order within a layer by barycentre sweeps.
//!
//! Deterministic: the same graph gives the same drawing, so that a screen does not dance.

use crate::graph::Graph;
use crate::node::{EdgeKind, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Sweeps down and up; more change little.
const SWEEPS: usize = 8;

/// A node's place: layers run from cause to effect, rows within a layer from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Drawn {
    /// The layer, from 0.
    pub layer: u32,
    /// The row within the layer, from 0.
    pub row: u32,
    /// The node.
    pub id: NodeId,
}

/// Where everything goes, ordered by layer and row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// The nodes.
    pub nodes: Vec<Drawn>,
    /// How many layers.
    pub layers: u32,
    /// The most rows of any layer.
    pub rows: u32,
}

impl Graph {
    /// Draws the whole graph; draw [`Graph::around`] a node for a part of it.
    pub fn layout(&self) -> Layout {
        let layer = self.layers();
        let depth = layer.values().max().map_or(0, |l| l + 1);
        let mut layers: Vec<Vec<NodeId>> = vec![Vec::new(); depth];
        let mut order: Vec<_> = self.nodes.values().map(|n| (n.order, n.id)).collect();
        order.sort();
        for (_, id) in order {
            if let Some(row) = layer.get(&id).and_then(|l| layers.get_mut(*l)) {
                row.push(id);
            }
        }
        for sweep in 0..SWEEPS {
            self.sweep(&mut layers, sweep % 2 == 0);
        }
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let rows = layers.iter().map(Vec::len).max().unwrap_or(0);
        let drawn = layers.iter().enumerate().flat_map(|(layer, ids)| {
            ids.iter().enumerate().map(move |(row, id)| Drawn {
                layer: count(layer),
                row: count(row),
                id: *id,
            })
        });
        Layout { nodes: drawn.collect(), layers: count(depth), rows: count(rows) }
    }

    /// Whether an edge pushes its end into a later layer. What feeds an attempt was often made by that attempt, and
    /// what cites an artifact may be what it records: such edges lead back, and are drawn so.
    fn leads(&self, from: NodeId, kind: EdgeKind, to: NodeId) -> bool {
        let may_turn =
            matches!(kind, EdgeKind::Informed | EdgeKind::Binds | EdgeKind::Cited | EdgeKind::Contradicts);
        let order = |id: NodeId| self.nodes.get(&id).map(|n| n.order);
        !may_turn || order(from) < order(to)
    }

    /// The longest path from a beginning to each node. Nodes of a loop, which events do not make, come last.
    fn layers(&self) -> BTreeMap<NodeId, usize> {
        let ends = |to: &NodeId| {
            let up = self.up.get(to).into_iter().flatten();
            up.filter(|(kind, from)| self.leads(*from, *kind, *to))
                .map(|(_, from)| from)
                .collect::<BTreeSet<_>>()
                .len()
        };
        let mut waits: BTreeMap<NodeId, usize> = self.nodes.keys().map(|id| (*id, ends(id))).collect();
        let mut layer: BTreeMap<NodeId, usize> = BTreeMap::new();
        let mut open: Vec<NodeId> = waits.iter().filter(|(_, n)| **n == 0).map(|(id, _)| *id).collect();
        while let Some(id) = open.pop() {
            let here = *layer.entry(id).or_insert(0);
            let next = self.down.get(&id).into_iter().flatten();
            let next: BTreeSet<NodeId> =
                next.filter(|(kind, to)| self.leads(id, *kind, *to)).map(|(_, to)| *to).collect();
            for to in next {
                let at = layer.entry(to).or_insert(0);
                *at = (*at).max(here + 1);
                if let Some(n) = waits.get_mut(&to) {
                    *n = n.saturating_sub(1);
                    if *n == 0 {
                        open.push(to);
                    }
                }
            }
        }
        let last = layer.values().max().map_or(0, |l| l + 1);
        for id in self.nodes.keys() {
            layer.entry(*id).or_insert(last);
        }
        layer
    }

    /// Orders each layer by the mean row of what its nodes are joined to on the side already ordered.
    fn sweep(&self, layers: &mut [Vec<NodeId>], down: bool) {
        let map = if down { &self.up } else { &self.down };
        let mut row: BTreeMap<NodeId, usize> = BTreeMap::new();
        for ids in layers.iter() {
            row.extend(ids.iter().enumerate().map(|(at, id)| (*id, at)));
        }
        let count = layers.len();
        for at in 0..count {
            let Some(ids) = layers.get_mut(if down { at } else { count - 1 - at }) else {
                continue;
            };
            let mut placed: Vec<(u64, usize, NodeId)> = ids
                .iter()
                .enumerate()
                .map(|(at, id)| {
                    let near: Vec<usize> = map
                        .get(id)
                        .into_iter()
                        .flatten()
                        .filter_map(|(_, to)| row.get(to).copied())
                        .collect();
                    (mean(&near, at), at, *id)
                })
                .collect();
            placed.sort();
            *ids = placed.into_iter().map(|(_, _, id)| id).collect();
            row.extend(ids.iter().enumerate().map(|(at, id)| (*id, at)));
        }
    }
}

/// The mean in thousandths, without a float; a node that is joined to nothing keeps its row.
fn mean(rows: &[usize], own: usize) -> u64 {
    let thousand = |n: usize| u64::try_from(n).unwrap_or(u64::MAX).saturating_mul(1000);
    match rows.len() {
        0 => thousand(own),
        n => thousand(rows.iter().sum()) / u64::try_from(n).unwrap_or(1),
    }
}
