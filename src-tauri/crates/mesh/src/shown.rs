//! What a person is shown of a state beside what the protocol itself asks it.

use crate::Peer;
use crate::state::State;

impl State {
    /// Every machine that is or was paired, and whether it was withdrawn.
    pub fn every_peer(&self) -> impl Iterator<Item = (&Peer, bool)> {
        self.peers.values().map(|peer| (peer, self.withdrawn.contains_key(&peer.node)))
    }
}
