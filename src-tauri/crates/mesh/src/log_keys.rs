//! The keys of logs, which sign the envelopes of messages that a node takes in: as the pairing showed them, and as they are told
//! since.

use crate::node::Node;
use crate::sealed::Sealing;
use crate::state::State;
use crate::{Chance, Error, NodeId, Peer, Tells};
use seal::Digest;
use seal::keys::PublicKey;

impl State {
    /// Whose state it is.
    pub const fn me(&self) -> NodeId {
        self.me
    }

    /// A machine that is or was paired.
    pub fn peer(&self, node: NodeId) -> Option<&Peer> {
        self.peers.get(&node)
    }

    /// Messages that wait for the owner of their conversation to be known, each by [`crate::Input::id`].
    pub fn held(&self) -> impl Iterator<Item = Digest> {
        self.held.keys().copied()
    }

    /// The key of a machine's log: the newest that it told, else that of the pairing.
    pub fn log_key(&self, node: NodeId) -> Option<&PublicKey> {
        self.told_log_key(node).or_else(|| self.peers.get(&node).map(|peer| &peer.log_key))
    }

    /// The key of a machine's log as its notices tell it.
    pub(crate) fn told_log_key(&self, node: NodeId) -> Option<&PublicKey> {
        self.log_keys.get(&node).map(|(key, _)| key)
    }

    /// A machine that is paired anew with another key for its log has forgotten what it told before.
    pub(crate) fn pair(&mut self, peer: &Peer) {
        // A person who pairs it anew takes its log as it is now.
        self.heads.retain(|(by, _), _| *by != peer.node);
        let before = self.peers.insert(peer.node, peer.clone());
        if before.is_some_and(|before| before.log_key != peer.log_key) {
            self.log_keys.remove(&peer.node);
        }
    }

    /// Whether this node owned a conversation at some time.
    pub fn has_claimed(&self, conversation: &str) -> bool {
        let claims = self.owners.claims(conversation);
        claims.is_some_and(|claims| claims.keys().any(|(_, by)| *by == self.me))
    }

    /// To whom this node handed a conversation over, until that machine says that it has it.
    pub fn handed_to(&self, conversation: &str) -> Option<NodeId> {
        self.passing.get(conversation).map(|(to, _)| *to)
    }
}

impl<S: Sealing> Node<S> {
    /// Tells the key of this node's log, where it told another one or none.
    pub(crate) fn tell_log_key(&mut self, key: PublicKey, chance: &mut dyn Chance) -> Result<(), Error> {
        if self.state.told_log_key(self.state.me) == Some(&key) {
            return Ok(());
        }
        self.tell_all(Tells::LogKey { key }, chance)
    }
}
