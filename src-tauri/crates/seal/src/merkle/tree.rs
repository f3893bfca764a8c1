//! A tree with all its complete nodes in memory, for many proofs of one tree.

use super::{Frontier, proofs};
use crate::{Digest, Error};

/// An append-only tree that answers every proof in logarithmic time. Holds two hashes per leaf.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    frontier: Frontier,
    levels: Vec<Vec<Digest>>,
}

impl Tree {
    /// A tree without leaves.
    #[must_use]
    pub const fn new() -> Self {
        Self { frontier: Frontier::new(), levels: Vec::new() }
    }

    /// A tree over leaf hashes.
    #[must_use]
    pub fn from_leaves(leaf_hashes: &[Digest]) -> Self {
        let mut tree = Self::new();
        for leaf in leaf_hashes {
            tree.push(*leaf);
        }
        tree
    }

    /// Appends the hash of a leaf and returns its index.
    pub fn push(&mut self, leaf_hash: Digest) -> u64 {
        let levels = &mut self.levels;
        self.frontier.push_with(leaf_hash, &mut |level, _, node| {
            let level = usize::from(level);
            if levels.len() <= level {
                levels.resize(level + 1, Vec::new());
            }
            // Nodes of one level become complete from left to right, so the place is always the next one.
            if let Some(nodes) = levels.get_mut(level) {
                nodes.push(node);
            }
        })
    }

    /// Number of leaves.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.frontier.size()
    }

    /// The root over all leaves.
    #[must_use]
    pub fn root(&self) -> Digest {
        self.frontier.root()
    }

    /// The root as it was at `size` leaves.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn root_at(&self, size: u64) -> Result<Digest, Error> {
        self.within(size)?;
        proofs::root(size, &|level, index| self.node(level, index))
    }

    /// A complete node: level 0 is the leaves.
    #[must_use]
    pub fn node(&self, level: u8, index: u64) -> Option<Digest> {
        self.levels.get(usize::from(level))?.get(usize::try_from(index).ok()?).copied()
    }

    /// The right edge, to be kept by a store.
    #[must_use]
    pub const fn frontier(&self) -> &Frontier {
        &self.frontier
    }

    /// Path of a leaf in the whole tree.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn inclusion_proof(&self, index: u64) -> Result<Vec<Digest>, Error> {
        self.inclusion_proof_at(index, self.size())
    }

    /// Path of a leaf in the tree as it was at `size` leaves.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn inclusion_proof_at(&self, index: u64, size: u64) -> Result<Vec<Digest>, Error> {
        self.within(size)?;
        proofs::inclusion(index, size, &|level, index| self.node(level, index))
    }

    /// Proof that the tree at `old_size` leaves is the beginning of this one.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn consistency_proof(&self, old_size: u64) -> Result<Vec<Digest>, Error> {
        proofs::consistency(old_size, self.size(), &|level, index| self.node(level, index))
    }

    fn within(&self, size: u64) -> Result<(), Error> {
        if size <= self.size() {
            return Ok(());
        }
        Err(Error::OutOfRange { asked: size, size: self.size() })
    }
}
