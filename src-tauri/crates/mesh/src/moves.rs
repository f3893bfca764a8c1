//! Where other machines read, as each says with its presence. That they moved is recorded, but not as often as one of them may say it:
//! what comes more often is believed while the program runs, and recorded later.

use crate::node::Node;
use crate::port::Fact;
use crate::sealed::Sealing;
use crate::{NodeId, RELAYS_MAX};
use model::UnixMs;
use std::collections::{BTreeMap, VecDeque};

/// The longest URL of a relay, in bytes.
pub const RELAY_BYTES_MAX: usize = 512;
/// Moves of one machine that are recorded in [`MOVES_MS`].
pub const MOVES_MAX: usize = 4;
/// Within which time no more of them are recorded, in milliseconds.
pub const MOVES_MS: i64 = 60 * 60_000;

/// Moves of one machine.
#[derive(Debug, Default)]
struct Moved {
    /// When they were recorded, as far as that is not long ago.
    recorded: VecDeque<UnixMs>,
    /// Where it reads, where that is not recorded yet.
    newest: Option<Vec<String>>,
}

/// Moves of all machines.
#[derive(Debug, Default)]
pub(crate) struct Moves(BTreeMap<NodeId, Moved>);

impl Moves {
    pub(crate) fn newest(&self, node: NodeId) -> Option<&[String]> {
        self.0.get(&node)?.newest.as_deref()
    }

    pub(crate) fn forget(&mut self, node: NodeId) {
        self.0.remove(&node);
    }

    /// What may be recorded at this time of where a machine reads now.
    fn next(&mut self, node: NodeId, now: UnixMs) -> Option<Vec<String>> {
        let moved = self.0.get_mut(&node)?;
        moved.recorded.retain(|at| *at <= now && at.plus_ms(MOVES_MS) > now);
        let next = moved.newest.take_if(|_| moved.recorded.len() < MOVES_MAX)?;
        moved.recorded.push_back(now);
        Some(next)
    }
}

/// Whether so many relays, and none with a longer name, are what a machine may have.
pub(crate) fn are_relays(relays: &[String]) -> bool {
    relays.len() <= RELAYS_MAX && relays.iter().all(|url| url.len() <= RELAY_BYTES_MAX)
}

impl<S: Sealing> Node<S> {
    /// Where a machine reads: as it said last.
    pub(crate) fn relays_of(&self, node: NodeId) -> &[String] {
        let recorded = self.state.peers.get(&node).map(|peer| peer.relays.as_slice());
        self.moves.newest(node).or(recorded).unwrap_or_default()
    }

    /// A machine says where it reads.
    pub(crate) fn reads_elsewhere(&mut self, node: NodeId, relays: &[String]) {
        let is_recorded = self.state.peers.get(&node).is_none_or(|peer| peer.relays == relays);
        if is_recorded && self.moves.newest(node).is_none() {
            return;
        }
        let moved = self.moves.0.entry(node).or_default();
        moved.newest = (!is_recorded).then(|| relays.to_vec());
        self.record_move(node);
    }

    fn record_move(&mut self, node: NodeId) {
        if let Some(relays) = self.moves.next(node, self.now) {
            self.record(Fact::Moved { node, relays });
        }
    }

    /// Records moves that could not be recorded when they were said.
    pub(crate) fn record_moves(&mut self) {
        let unrecorded = self.moves.0.iter().filter(|(_, moved)| moved.newest.is_some());
        for node in unrecorded.map(|(node, _)| *node).collect::<Vec<_>>() {
            self.record_move(node);
        }
    }
}
