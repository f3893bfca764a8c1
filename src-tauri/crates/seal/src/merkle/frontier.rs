//! The right edge of a growing tree: enough to append and to tell the root, never more than 64 hashes.

use serde::{Deserialize, Serialize};

use super::{empty_root, node_hash};
use crate::{Digest, Error, encoding::Reader};

/// An append-only tree that remembers only the roots of its complete subtrees, largest first.
///
/// In JSON `{"peaks": [hex…], "size": n}`; in bytes the size (8, big-endian) and the peaks (32 each).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Frontier {
    size: u64,
    peaks: Vec<Digest>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    size: u64,
    peaks: Vec<Digest>,
}

impl From<Frontier> for Stored {
    fn from(frontier: Frontier) -> Self {
        Self { size: frontier.size, peaks: frontier.peaks }
    }
}

impl TryFrom<Stored> for Frontier {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self, Error> {
        Self::from_parts(stored.size, stored.peaks)
    }
}

impl Frontier {
    /// A tree without leaves.
    #[must_use]
    pub const fn new() -> Self {
        Self { size: 0, peaks: Vec::new() }
    }

    /// A tree of `size` leaves with the roots of its complete subtrees, largest first.
    ///
    /// # Errors
    /// [`Error::Malformed`] when the number of peaks is not the number of one-bits in `size`.
    pub fn from_parts(size: u64, peaks: Vec<Digest>) -> Result<Self, Error> {
        if peaks.len() as u64 != u64::from(size.count_ones()) {
            let reason = format!("{size} leaves have {} peaks, not {}", size.count_ones(), peaks.len());
            return Err(Error::malformed("frontier", reason));
        }
        Ok(Self { size, peaks })
    }

    /// Appends the hash of a leaf (see [`super::leaf_hash`]) and returns its index.
    pub fn push(&mut self, leaf_hash: Digest) -> u64 {
        self.push_with(leaf_hash, &mut |_, _, _| {})
    }

    /// As [`Self::push`], telling every node that becomes complete: level (0 is the leaf), index, hash. A store
    /// that keeps those nodes can build any proof with [`super::proofs`].
    pub fn push_with(&mut self, leaf_hash: Digest, complete: &mut dyn FnMut(u8, u64, Digest)) -> u64 {
        let index = self.size;
        let mut node = leaf_hash;
        complete(0, index, node);
        let mut level = 0_u8;
        // Each trailing one-bit of the old size is a complete subtree that now gets its right sibling.
        while (index >> level) & 1 == 1 {
            let Some(left) = self.peaks.pop() else { break };
            node = node_hash(&left, &node);
            level += 1;
            complete(level, index >> level, node);
        }
        self.peaks.push(node);
        self.size += 1;
        index
    }

    /// Number of leaves.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The root; of the empty tree SHA-256 of nothing.
    #[must_use]
    pub fn root(&self) -> Digest {
        let mut peaks = self.peaks.iter().rev();
        match peaks.next() {
            None => empty_root(),
            Some(last) => peaks.fold(*last, |right, left| node_hash(left, &right)),
        }
    }

    /// The roots of its complete subtrees, largest first.
    #[must_use]
    pub fn peaks(&self) -> &[Digest] {
        &self.peaks
    }

    /// The bytes a store keeps.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.size.to_be_bytes().to_vec();
        bytes.extend(self.peaks.iter().flat_map(|peak| peak.0));
        bytes
    }

    /// Reads what [`Self::to_bytes`] writes.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new("frontier", bytes);
        let size = u64::from_be_bytes(reader.array()?);
        let mut peaks = Vec::new();
        for _ in 0..size.count_ones() {
            peaks.push(Digest(reader.array()?));
        }
        reader.end()?;
        Self::from_parts(size, peaks)
    }
}
