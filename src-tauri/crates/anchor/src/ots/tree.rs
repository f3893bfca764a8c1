//! The tree: a message, what attests it, and the operations that lead on.

use super::op::Op;

/// What a clock says of a message. They are in order by their tag, and then by what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attestation {
    /// The block of Bitcoin at this height has the message as its Merkle root.
    Bitcoin(u64),
    /// The calendar at this address has it, and will know more.
    Pending(String),
    /// Of a kind that is not known here.
    Unknown {
        /// Its kind.
        tag: [u8; 8],
        /// What it says.
        payload: Vec<u8>,
    },
}

impl Attestation {
    pub(super) const BITCOIN: [u8; 8] = [0x05, 0x88, 0x96, 0x0d, 0x73, 0xd7, 0x19, 0x01];
    pub(super) const PENDING: [u8; 8] = [0x83, 0xdf, 0xe3, 0x0d, 0x2e, 0xf9, 0x0c, 0x8e];

    /// The eight bytes that it begins with.
    #[must_use]
    pub const fn tag(&self) -> [u8; 8] {
        match self {
            Self::Bitcoin(_) => Self::BITCOIN,
            Self::Pending(_) => Self::PENDING,
            Self::Unknown { tag, .. } => *tag,
        }
    }

    /// Where it stands among others.
    fn order(&self) -> ([u8; 8], u64, &[u8]) {
        match self {
            Self::Bitcoin(height) => (self.tag(), *height, &[]),
            Self::Pending(uri) => (self.tag(), 0, uri.as_bytes()),
            Self::Unknown { tag, payload } => (*tag, 0, payload),
        }
    }
}

impl PartialOrd for Attestation {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Attestation {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

/// A message in the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// The message.
    pub message: Vec<u8>,
    /// What attests it, in order and each once.
    pub attestations: Vec<Attestation>,
    /// What is made of it, in order and each once.
    pub ops: Vec<(Op, Node)>,
}

impl Node {
    pub(super) fn attest(&mut self, attestation: Attestation) {
        if let Err(at) = self.attestations.binary_search(&attestation) {
            self.attestations.insert(at, attestation);
        }
    }

    /// Puts what an operation leads to into the tree. A second one of the same operation is the same message, so both are merged.
    pub(super) fn lead(&mut self, op: Op, node: Self) {
        match self.ops.binary_search_by(|(own, _)| own.cmp(&op)) {
            Ok(at) => {
                if let Some((_, own)) = self.ops.get_mut(at) {
                    own.merge(node);
                }
            }
            Err(at) => self.ops.insert(at, (op, node)),
        }
    }

    fn merge(&mut self, other: Self) {
        for attestation in other.attestations {
            self.attest(attestation);
        }
        for (op, node) in other.ops {
            self.lead(op, node);
        }
    }

    /// Merges `added` into the first node with this message; whether there was one. Into one alone: else an answer could be
    /// multiplied.
    pub(super) fn take_in(&mut self, message: &[u8], added: &Self) -> bool {
        if self.message == message {
            self.merge(added.clone());
            return true;
        }
        self.ops.iter_mut().any(|(_, node)| node.take_in(message, added))
    }

    /// Calls this with each node.
    pub(super) fn each<'n>(&'n self, call: &mut dyn FnMut(&'n Self)) {
        call(self);
        for (_, node) in &self.ops {
            node.each(call);
        }
    }

    /// Whether something that is made of this is attested by a block of Bitcoin.
    pub(super) fn is_in_a_block(&self) -> bool {
        let mut is_in = false;
        self.each(&mut |node| {
            is_in |= node.attestations.iter().any(|one| matches!(one, Attestation::Bitcoin(_)))
        });
        is_in
    }
}
