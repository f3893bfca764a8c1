//! What a node believes of decisions: whom it asked, who asks it, and whose keys count.

use crate::port::Fact;
use crate::state::{Question, State};
use crate::{Card, NodeId, Part};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::UnixMs;
use seal::Digest;
use seal::keys::PublicKey;
use std::collections::BTreeMap;

/// Questions of this node that are closed and known to have been asked.
const CLOSED_MAX: usize = 4_096;

impl State {
    /// Questions of this node that are open.
    pub fn asked(&self) -> impl Iterator<Item = &Question> {
        self.asked.values()
    }

    /// Whether other machines were ever asked this; of questions that are closed, the newest 4,096 are known.
    pub fn was_asked(&self, approval: &str) -> bool {
        self.asked.contains_key(approval) || self.closed.iter().any(|known| known == approval)
    }

    /// What other nodes ask a person here, and when each question came by the clock of this node.
    pub fn questions(&self) -> impl Iterator<Item = (NodeId, &Card, UnixMs)> {
        self.questions.iter().map(|((from, _), (card, at))| (*from, card, *at))
    }

    /// The exact bytes of the packet that a question of another node is about.
    pub fn packet(&self, from: NodeId, approval: &str) -> Option<Vec<u8>> {
        let (card, _) = self.questions.get(&(from, approval.to_owned()))?;
        self.content(from, card.packet)
    }

    /// The approval key of another machine that counts here.
    pub fn approver(&self, node: NodeId) -> Option<&PublicKey> {
        self.approvers.iter().find(|(_, of)| **of == node).map(|(key, _)| key)
    }

    /// Machines whose approval keys count here.
    pub fn approvers(&self) -> impl Iterator<Item = NodeId> {
        self.approvers.values().copied()
    }

    /// How far this node's own decisions have counted.
    pub const fn answers(&self) -> u32 {
        self.answers
    }

    /// A large content whose pieces all came and have its digest.
    pub(crate) fn content(&self, from: NodeId, whole: Digest) -> Option<Vec<u8>> {
        let parts = self.parts.get(&(from, whole))?;
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

    /// Whether a question of that node is about this content.
    pub(crate) fn holds(&self, from: NodeId, whole: Digest) -> bool {
        let questions = self.questions.iter().filter(|((asking, _), _)| *asking == from);
        questions.map(|(_, (card, _))| card.packet).any(|packet| packet == whole)
    }

    /// How much of that node is kept for its questions, in bytes of base64.
    pub(crate) fn kept_bytes(&self, from: NodeId) -> usize {
        let kept = self.parts.iter().filter(|((of, whole), _)| *of == from && self.holds(from, *whole));
        kept.flat_map(|(_, parts)| parts.values()).map(|part| part.data.len()).sum()
    }

    /// Takes a fact about decisions in.
    pub(crate) fn apply_approval(&mut self, fact: &Fact) {
        match fact {
            Fact::Registered { node, key } => {
                self.approvers.retain(|_, of| of != node);
                self.approvers.insert(*key, *node);
            }
            Fact::Unregistered { node } => {
                self.approvers.retain(|_, of| of != node);
                for question in self.asked.values_mut() {
                    question.decisions.remove(node);
                }
            }
            Fact::Asked { card, of } => {
                let asked = Question { card: card.clone(), of: of.clone(), decisions: BTreeMap::new() };
                self.asked.insert(card.approval.clone(), asked);
            }
            Fact::Part { from, part } => self.part(*from, part),
            Fact::Whole { from, whole } => {
                self.parts.remove(&(*from, *whole));
            }
            Fact::Question { from, card, at } => {
                let before = self.questions.insert((*from, card.approval.clone()), (card.clone(), *at));
                self.let_go(*from, before);
            }
            Fact::Answered { from, approval } => {
                let before = self.questions.remove(&(*from, approval.clone()));
                self.let_go(*from, before);
            }
            Fact::Decided { from, decision } => {
                if let Some(question) = self.asked.get_mut(&decision.decision.approval) {
                    question.decisions.insert(*from, decision.clone());
                }
            }
            Fact::Settled { approval } => {
                if self.asked.remove(approval).is_some() {
                    self.closed.push_back(approval.clone());
                }
                while self.closed.len() > CLOSED_MAX {
                    self.closed.pop_front();
                }
            }
            _ => {}
        }
    }

    fn part(&mut self, from: NodeId, part: &Part) {
        let parts = self.parts.entry((from, part.whole)).or_default();
        parts.insert(part.index, part.clone());
    }

    /// Lets go of the packet of a question that is over, unless another question is about the same.
    fn let_go(&mut self, from: NodeId, question: Option<(Card, UnixMs)>) {
        if let Some((card, _)) = question
            && !self.holds(from, card.packet)
        {
            self.parts.remove(&(from, card.packet));
        }
    }
}
