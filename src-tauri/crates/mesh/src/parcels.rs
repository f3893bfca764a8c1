//! What machines say to each other that learn together: in pieces, as the packet of a question is, and handed on piece by piece. What
//! it says is read where training is; here it is bytes, of which few are taken.

use crate::approvals::{is_fit, parts_of};
use crate::node::Node;
use crate::port::Delivered;
use crate::sealed::Sealing;
use crate::{Error, NodeId, PART_BYTES, PARTS_MAX, Part, Says, TRAINING_SINCE};

/// Bytes of one such content: as many pieces as any large content has.
pub const PARCEL_BYTES_MAX: usize = 15 * PART_BYTES;
const _: () = assert!(PARTS_MAX == 15, "a content of training has no more pieces than any other");
/// Bytes of such contents, in base64, that are taken of one machine within an hour; what is more is let go of.
pub const PARCEL_BYTES_AN_HOUR: usize = 64 * 1024 * 1024;
/// An hour, in milliseconds.
const HOUR_MS: u64 = 3_600_000;

impl<S: Sealing> Node<S> {
    /// Queues a content for a machine, all of it or nothing.
    pub(crate) fn send_parcel(&mut self, to: NodeId, content: &[u8]) -> Result<(), Error> {
        if !self.state.is_peer(to) {
            return Err(Error::NotPaired(to));
        }
        let parts = parts_of(content)?;
        self.understands_training(to)?;
        if !self.has_room(to, parts.len()) {
            return Err(Error::Refused("too many messages wait for this machine"));
        }
        for part in parts {
            self.queue(to, Says::Training(part))?;
        }
        Ok(())
    }

    /// Whether a machine understands such letters: it says so, or sent some itself.
    fn understands_training(&self, node: NodeId) -> Result<(), Error> {
        if self.parcels.contains_key(&node) {
            return Ok(());
        }
        match self.seen.get(&node) {
            Some(seen) if seen.presence.protocol >= TRAINING_SINCE => Ok(()),
            Some(_) => {
                Err(Error::Refused("this machine has a Hermit that cannot learn together: update it there"))
            }
            None => Err(Error::NotHeard(node)),
        }
    }

    /// A piece of a machine that is paired.
    pub(crate) fn take_parcel(&mut self, from: NodeId, part: Part) {
        if !is_fit(&part) {
            return;
        }
        let known = self.parcels.get(&from).copied();
        let (since, bytes) =
            known.filter(|(since, _)| self.now.0.abs_diff(since.0) < HOUR_MS).unwrap_or((self.now, 0));
        let bytes = bytes.saturating_add(part.data.len());
        self.parcels.insert(from, (since, bytes));
        if bytes <= PARCEL_BYTES_AN_HOUR {
            self.deliver(Delivered::Training { from, part });
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

    use super::*;
    use crate::peers::Seen;
    use crate::sealed::NostrSealing;
    use crate::{Capabilities, PROTOCOL, Peer, Presence, State};
    use model::UnixMs;
    use seal::{Digest, SeedSigner, Signer as _};

    const NOW: UnixMs = UnixMs(1_800_000_000_000);

    #[test]
    fn nothing_is_queued_for_a_machine_that_could_not_read_it() {
        let sealing = NostrSealing::new(&[1; 32]).unwrap();
        let (me, to) = (sealing.node(), NodeId(Digest::of(b"another")));
        let mut node = Node::new(sealing, State::new(me), NOW);
        let log_key = SeedSigner::from_seed([1; 32]).public();
        let (name, relays) = ("a machine".to_owned(), Vec::new());
        node.record(crate::Fact::Paired(Peer { node: to, name, relays, log_key, approval_key: None }));
        assert_eq!(node.send_parcel(to, b"words"), Err(Error::NotHeard(to)));
        for protocol in [TRAINING_SINCE - 1, PROTOCOL] {
            let presence = Presence {
                protocol,
                at: NOW,
                until: NOW.plus_ms(60_000),
                can: Capabilities::default(),
                load: 0,
                relays: Vec::new(),
                has: Digest::ZERO,
            };
            node.seen.insert(to, Seen { presence, heard: NOW });
            let said = node.send_parcel(to, b"words");
            assert_eq!(said.is_ok(), protocol >= TRAINING_SINCE, "{said:?}");
            let waiting = node.state.lanes.get(&to).map_or(0, |lane| lane.waiting.len());
            assert_eq!(waiting == 1, protocol >= TRAINING_SINCE);
        }
        // One that sends some itself understands them, whatever was heard of it.
        node.seen.clear();
        let data = "AAAA".to_owned();
        node.take_parcel(to, Part { whole: Digest::of(b"whole"), index: 0, count: 1, data });
        assert_eq!(node.send_parcel(to, b"words"), Ok(()));
    }

    #[test]
    fn more_than_a_bounded_part_within_an_hour_is_let_go_of_and_the_next_hour_is_heard_again() {
        let sealing = NostrSealing::new(&[1; 32]).unwrap();
        let (me, from) = (sealing.node(), NodeId(Digest::of(b"another")));
        let mut node = Node::new(sealing, State::new(me), NOW);
        let data = "A".repeat(PART_BYTES.div_ceil(3) * 4);
        let part = Part { whole: Digest::of(b"whole"), index: 14, count: 15, data };
        let most = PARCEL_BYTES_AN_HOUR / part.data.len();
        for _ in 0..most + 2 {
            node.take_parcel(from, part.clone());
        }
        assert_eq!(node.step.deliver.len(), most);
        node.take_parcel(NodeId(Digest::of(b"a third")), part.clone());
        assert_eq!(node.step.deliver.len(), most + 1, "each is counted alone");
        node.now = node.now.plus_ms(3_600_000);
        node.take_parcel(from, part.clone());
        for wrong in [Part { count: 16, ..part.clone() }, Part { index: 15, ..part.clone() }] {
            node.take_parcel(from, wrong);
        }
        node.take_parcel(from, Part { data: format!("{}A", part.data), ..part });
        assert_eq!(node.step.deliver.len(), most + 2);
    }
}
