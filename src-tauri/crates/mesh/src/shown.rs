//! What a person is shown of a state beside what the protocol itself asks it.

use crate::Peer;
use crate::state::State;

impl State {
    /// Every machine that is or was paired, and whether it was withdrawn.
    pub fn every_peer(&self) -> impl Iterator<Item = (&Peer, bool)> {
        self.peers.values().map(|peer| (peer, self.withdrawn.contains_key(&peer.node)))
    }

    /// How many conversations are known, and among them those that this node claims and tells of anew.
    pub fn conversations(&self) -> (usize, usize) {
        (self.owners.known(), self.owners.count(self.me))
    }
}
