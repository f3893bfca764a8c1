//! Decisions that are asked of other machines: which of them count, and how many are needed.

use crate::node::Node;
use crate::port::{Delivered, Discount, Fact};
use crate::sealed::Sealing;
use crate::{
    CLOCK_DIFFERENCE_MS, Card, Error, NodeId, PACKET_BYTES_MAX, PART_BYTES, PARTS_MAX, Part, Says,
    SignedDecision,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::UnixMs;
use seal::Digest;
use seal::keys::PublicKey;

/// Contents of one node whose pieces are waited for at once.
const WHOLES_MAX: usize = 4;
/// Questions of one node that wait here.
const QUESTIONS_MAX: usize = 256;
/// Bytes of packets, in base64, that are kept for the questions of one node; one more begins below it.
const PACKETS_BYTES_MAX: usize = 16 * 1024 * 1024;

impl<S: Sealing> Node<S> {
    pub(crate) fn register(&mut self, node: NodeId, key: PublicKey) -> Result<(), Error> {
        if !self.state.is_peer(node) {
            return Err(Error::NotPaired(node));
        }
        if self.state.approvers.get(&key).is_some_and(|of| *of != node) {
            return Err(Error::Refused("this key is registered for another machine"));
        }
        if self.state.approver(node) != Some(&key) {
            self.record(Fact::Registered { node, key });
        }
        Ok(())
    }

    pub(crate) fn unregister(&mut self, node: NodeId) -> Result<(), Error> {
        if self.state.approver(node).is_some() {
            self.record(Fact::Unregistered { node });
        }
        Ok(())
    }

    pub(crate) fn ask(&mut self, mut card: Card, packet: &[u8], of: Vec<NodeId>) -> Result<(), Error> {
        // A machine that is named twice has one voice.
        let of: Vec<NodeId> = of.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
        let registered = |node: &NodeId| self.state.approvers.values().any(|of| of == node);
        if Digest::of(packet) != card.packet {
            return Err(Error::Refused("the card names another packet"));
        }
        // One that read nothing for so long that no more may wait for it keeps nobody else from being asked.
        let letters = packet.len().div_ceil(PART_BYTES) + 1;
        let able = |of: &[NodeId]| of.iter().filter(|node| registered(node)).count();
        let named = able(&of);
        let of: Vec<NodeId> = of.into_iter().filter(|node| self.has_room(*node, letters)).collect();
        let left = able(&of);
        if card.need == 0 || named < usize::from(card.need) || left == 0 {
            return Err(Error::Refused(
                "fewer machines with a registered key are asked than have to say yes",
            ));
        }
        // The question at those that are left ends with as many yeses as they have; who asks tells how many allow it.
        card.need = card.need.min(u8::try_from(left).unwrap_or(u8::MAX));
        if !card.is_fit() || self.state.was_asked(&card.approval) {
            return Err(Error::Refused("this was asked before"));
        }
        if packet.len() > PACKET_BYTES_MAX {
            return Err(Error::TooLarge);
        }
        let parts = parts_of(packet)?;
        // Before anything is queued: a command that fails leaves nothing behind.
        if let Some(stranger) = of.iter().find(|node| !self.state.is_peer(**node)) {
            return Err(Error::NotPaired(*stranger));
        }
        for node in &of {
            for part in &parts {
                self.queue(*node, Says::Part(part.clone()))?;
            }
            self.queue(*node, Says::Card(card.clone()))?;
        }
        self.record(Fact::Asked { card, of });
        Ok(())
    }

    pub(crate) fn take_part(&mut self, from: NodeId, part: Part) {
        // What a question is about is here whole, and nothing takes its place.
        if !is_fit(&part) || self.state.holds(from, part.whole) {
            return;
        }
        let is_known = self.state.parts.contains_key(&(from, part.whole));
        let awaits = |(node, whole): &&(NodeId, Digest)| *node == from && !self.state.holds(from, *whole);
        let awaited: Vec<_> = self.state.parts.keys().filter(awaits).copied().collect();
        // Pieces come in the order in which they were sent: of too many contents, one was given up.
        if let Some((from, whole)) = awaited.first().filter(|_| !is_known && awaited.len() >= WHOLES_MAX) {
            self.record(Fact::Whole { from: *from, whole: *whole });
        }
        self.record(Fact::Part { from, part });
    }

    pub(crate) fn take_card(&mut self, from: NodeId, card: Card) {
        let open = self.state.questions.keys().filter(|(node, _)| *node == from).count();
        let has_room = open < QUESTIONS_MAX && self.state.kept_bytes(from) < PACKETS_BYTES_MAX;
        let packet = self.state.content(from, card.packet);
        let packet = packet.filter(|bytes| has_room && card.is_fit() && bytes.len() <= PACKET_BYTES_MAX);
        if let Some(packet) = packet {
            self.record(Fact::Question { from, card: card.clone(), at: self.now });
            self.deliver(Delivered::Question { from, card, packet });
        } else if !self.state.holds(from, card.packet) {
            self.record(Fact::Whole { from, whole: card.packet });
        }
    }

    /// Questions of others that nobody here answered in time are no questions any more.
    pub(crate) fn expire_questions(&mut self) {
        let before = self.now.plus_ms(-CLOCK_DIFFERENCE_MS);
        let late = self.state.questions().filter(|(_, card, _)| card.expires_at < before);
        let late: Vec<_> = late.map(|(from, card, _)| (from, card.approval.clone())).collect();
        for (from, approval) in late {
            self.record(Fact::Answered { from, approval: approval.clone() });
            self.deliver(Delivered::Answered { from, approval });
        }
    }

    /// A person here answered a question of another node.
    pub(crate) fn decide(&mut self, decision: SignedDecision) -> Result<(), Error> {
        let (to, approval) = (decision.decision.asked_by, decision.decision.approval.clone());
        let question = self.state.questions.get(&(to, approval.clone()));
        let is_it = |(card, _): &&(Card, UnixMs)| {
            card.packet == decision.decision.packet && card.nonce == decision.decision.nonce
        };
        if question.filter(is_it).is_none() {
            return Err(Error::Refused("nobody asks for this decision"));
        }
        if !decision.is_fit() {
            return Err(Error::TooLarge);
        }
        // The owner takes a count that does not go on for that of a copy of the key.
        if decision.decision.counter <= self.state.answers() {
            return Err(Error::Refused("another answer was given in the meantime; answer this one again"));
        }
        self.queue(to, Says::Decision(decision))?;
        self.record(Fact::Answered { from: to, approval });
        Ok(())
    }

    /// A decision of another machine, in the order in which this node took it in: a withdrawal that is recorded before it wins.
    pub(crate) fn take_decision(&mut self, from: NodeId, decision: SignedDecision) {
        let approval = decision.decision.approval.clone();
        if let Some(why) = self.discount(from, &decision) {
            let approval = approval.chars().take(128).collect();
            self.record(Fact::Discounted { from, approval, why });
            return;
        }
        let is_no = !decision.decision.allow;
        self.record(Fact::Decided { from, decision: decision.clone() });
        let Some(question) = self.state.asked.get(&approval) else {
            return;
        };
        if is_no || question.decisions.len() >= usize::from(question.card.need) {
            let decisions = question.decisions.values().cloned().collect();
            self.deliver(Delivered::Decided { approval: approval.clone(), allow: !is_no, decisions });
            self.settle(&approval);
        } else {
            // The question waits for another machine, or for an answer where it was asked.
            self.deliver(Delivered::Decided { approval, allow: true, decisions: vec![decision] });
        }
    }

    fn discount(&self, from: NodeId, signed: &SignedDecision) -> Option<Discount> {
        let decision = &signed.decision;
        let Some(question) =
            self.state.asked.get(&decision.approval).filter(|asked| asked.of.contains(&from))
        else {
            return Some(Discount::NotAsked);
        };
        let card = &question.card;
        let is_about = decision.packet == card.packet
            && decision.nonce == card.nonce
            && decision.asked_by == self.state.me;
        let bytes = decision.signed_bytes();
        let holds = || bytes.is_ok_and(|bytes| signed.key.verify(&bytes, &signed.signature).is_ok());
        if !is_about || !signed.is_fit() {
            Some(Discount::OtherPacket)
        } else if self.now > card.expires_at {
            Some(Discount::Late)
        } else if self.state.approvers.get(&signed.key) != Some(&from) {
            Some(Discount::NotRegistered)
        } else if question.decisions.contains_key(&from) {
            Some(Discount::Repeated)
        } else if !holds() {
            Some(Discount::BadSignature)
        } else {
            None
        }
    }

    /// A question of this node needs no answer any more.
    pub(crate) fn settled(&mut self, approval: &str) -> Result<(), Error> {
        self.settle(approval);
        Ok(())
    }

    /// Closes a question, and takes it off the screens of those who were asked.
    pub(crate) fn settle(&mut self, approval: &str) {
        let Some(question) = self.state.asked.get(approval) else {
            return;
        };
        for node in question.of.clone() {
            // One that was withdrawn has nothing to take off.
            let _ = self.queue(node, Says::Settled { approval: approval.to_owned() });
        }
        self.record(Fact::Settled { approval: approval.to_owned() });
    }
}

/// Whether a piece is one of few, and as small as one is.
pub(crate) fn is_fit(part: &Part) -> bool {
    (1..=PARTS_MAX).contains(&part.count)
        && part.index < part.count
        && part.data.len() <= PART_BYTES.div_ceil(3) * 4
}

/// The pieces of a content.
pub(crate) fn parts_of(bytes: &[u8]) -> Result<Vec<Part>, Error> {
    let whole = Digest::of(bytes);
    let chunks: Vec<&[u8]> = bytes.chunks(PART_BYTES).collect();
    let count = u32::try_from(chunks.len()).ok().filter(|count| (1..=PARTS_MAX).contains(count));
    let count = count.ok_or(Error::TooLarge)?;
    let parts = (0..).zip(chunks);
    Ok(parts.map(|(index, chunk)| Part { whole, index, count, data: STANDARD.encode(chunk) }).collect())
}
