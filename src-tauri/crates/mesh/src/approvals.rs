//! Decisions that are asked of other machines: which of them count, and how many are needed.

use crate::node::Node;
use crate::port::{Delivered, Discount, Fact};
use crate::sealed::Sealing;
use crate::{Card, Error, NodeId, PART_BYTES, PARTS_MAX, Part, Says, SignedDecision};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use seal::Digest;
use seal::keys::PublicKey;

/// Contents of one node whose pieces are waited for at once.
const WHOLES_MAX: usize = 4;
/// Questions of one node that wait here.
const QUESTIONS_MAX: usize = 256;

impl<S: Sealing> Node<S> {
    pub(crate) fn register(&mut self, node: NodeId, key: PublicKey) -> Result<(), Error> {
        if !self.state.is_peer(node) {
            return Err(Error::NotPaired(node));
        }
        if self.state.approvers.get(&key).is_some_and(|of| *of != node) {
            return Err(Error::Refused("this key is registered for another machine"));
        }
        self.record(Fact::Registered { node, key });
        Ok(())
    }

    pub(crate) fn ask(&mut self, card: Card, packet: &[u8], of: Vec<NodeId>) -> Result<(), Error> {
        // A machine that is named twice has one voice.
        let of: Vec<NodeId> = of.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
        let registered = |node: &NodeId| self.state.approvers.values().any(|of| of == node);
        if Digest::of(packet) != card.packet {
            return Err(Error::Refused("the card names another packet"));
        }
        if card.need == 0 || of.iter().filter(|node| registered(node)).count() < usize::from(card.need) {
            return Err(Error::Refused(
                "fewer machines with a registered key are asked than have to say yes",
            ));
        }
        if card.approval.len() > 128 || self.state.asked.contains_key(&card.approval) {
            return Err(Error::Refused("this was asked before"));
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
        let fits = (1..=PARTS_MAX).contains(&part.count)
            && part.index < part.count
            && part.data.len() <= PART_BYTES.div_ceil(3) * 4;
        let is_known = self.state.parts.contains_key(&(from, part.whole));
        let wholes = self.state.parts.keys().filter(|(node, _)| *node == from).count();
        if !fits {
            return;
        }
        // Pieces come in the order in which they were sent: of too many contents, one was given up.
        if !is_known && wholes >= WHOLES_MAX {
            let given_up = self.state.parts.keys().find(|(node, _)| *node == from).copied();
            if let Some((from, whole)) = given_up {
                self.record(Fact::Whole { from, whole });
            }
        }
        self.record(Fact::Part { from, part });
    }

    pub(crate) fn take_card(&mut self, from: NodeId, card: Card) {
        let whole = self.whole(from, card.packet);
        self.record(Fact::Whole { from, whole: card.packet });
        let open = self.state.questions.keys().filter(|(node, _)| *node == from).count();
        if let Some(packet) = whole.filter(|_| open < QUESTIONS_MAX && card.approval.len() <= 128) {
            self.record(Fact::Question { from, card: card.clone() });
            self.deliver(Delivered::Question { from, card, packet });
        }
    }

    /// A large content whose pieces all came and have its digest.
    fn whole(&self, from: NodeId, whole: Digest) -> Option<Vec<u8>> {
        let parts = self.state.parts.get(&(from, whole))?;
        let count = parts.values().next()?.count;
        if parts.len() != usize::try_from(count).ok()? || parts.values().any(|part| part.count != count) {
            return None;
        }
        let mut bytes = Vec::new();
        for part in parts.values() {
            bytes.extend(STANDARD.decode(&part.data).ok()?);
        }
        (Digest::of(&bytes) == whole).then_some(bytes)
    }

    /// A person here answered a question of another node.
    pub(crate) fn decide(&mut self, decision: SignedDecision) -> Result<(), Error> {
        let (to, approval) = (decision.decision.asked_by, decision.decision.approval.clone());
        let question = self.state.questions.get(&(to, approval.clone()));
        let is_it =
            |card: &&Card| card.packet == decision.decision.packet && card.nonce == decision.decision.nonce;
        if question.filter(is_it).is_none() {
            return Err(Error::Refused("nobody asks for this decision"));
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
        self.record(Fact::Decided { from, decision });
        let Some(question) = self.state.asked.get(&approval) else {
            return;
        };
        if is_no || question.decisions.len() >= usize::from(question.card.need) {
            let decisions = question.decisions.values().cloned().collect();
            self.deliver(Delivered::Decided { approval: approval.clone(), allow: !is_no, decisions });
            self.settle(&approval);
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
        if !is_about {
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

fn parts_of(bytes: &[u8]) -> Result<Vec<Part>, Error> {
    let whole = Digest::of(bytes);
    let chunks: Vec<&[u8]> = bytes.chunks(PART_BYTES).collect();
    let count = u32::try_from(chunks.len()).ok().filter(|count| (1..=PARTS_MAX).contains(count));
    let count = count.ok_or(Error::TooLarge)?;
    let parts = (0..).zip(chunks);
    Ok(parts.map(|(index, chunk)| Part { whole, index, count, data: STANDARD.encode(chunk) }).collect())
}
