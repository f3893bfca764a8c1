//! RFC 6962 Merkle trees over SHA-256, with the checks of RFC 9162.
//!
//! [`Frontier`] appends in constant space, [`Tree`] keeps every complete node in memory, and [`proofs`] builds
//! proofs from any source of nodes. The verifiers need nothing but hashes.

mod frontier;
mod pair;
pub mod proofs;
mod tree;
mod verify;

pub use frontier::Frontier;
pub use pair::digest_and_leaf;
pub use tree::Tree;
pub use verify::{verify_consistency, verify_inclusion};

use crate::{Digest, Error, Hasher};

/// No path in a tree of at most 2^64−1 leaves is longer, and no consistency proof has more than one node above.
pub const PROOF_LEN_MAX: usize = 65;

/// SHA-256 of 0x00 and the leaf's bytes.
#[must_use]
pub fn leaf_hash(bytes: &[u8]) -> Digest {
    let mut hasher = Hasher::new();
    hasher.update([0]);
    hasher.update(bytes);
    hasher.finish()
}

/// SHA-256 of 0x01 and the hashes of both children.
#[must_use]
pub fn node_hash(left: &Digest, right: &Digest) -> Digest {
    let mut preimage = [1_u8; 65];
    let (_, children) = preimage.split_at_mut(1);
    for (place, byte) in children.iter_mut().zip(left.0.iter().chain(right.0.iter())) {
        *place = *byte;
    }
    Digest::of(&preimage)
}

/// The root of the tree without leaves: SHA-256 of nothing.
#[must_use]
pub fn empty_root() -> Digest {
    Digest::of(&[])
}

/// The root over leaf hashes.
#[must_use]
pub fn root(leaf_hashes: &[Digest]) -> Digest {
    let mut frontier = Frontier::new();
    for leaf in leaf_hashes {
        frontier.push(*leaf);
    }
    frontier.root()
}

/// Path from the leaf at `index` to the root, the leaf's sibling first. For many proofs of one tree take [`Tree`].
///
/// # Errors
/// [`Error::OutOfRange`] when there is no such leaf.
pub fn inclusion_proof(index: u64, leaf_hashes: &[Digest]) -> Result<Vec<Digest>, Error> {
    Tree::from_leaves(leaf_hashes).inclusion_proof(index)
}

/// Proof that the tree over the first `old_size` leaves is the beginning of the tree over all of them.
///
/// # Errors
/// [`Error::OutOfRange`] when `old_size` is larger than the tree.
pub fn consistency_proof(old_size: u64, leaf_hashes: &[Digest]) -> Result<Vec<Digest>, Error> {
    Tree::from_leaves(leaf_hashes).consistency_proof(old_size)
}
