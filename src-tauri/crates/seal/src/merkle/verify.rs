//! The two verifiers, after RFC 9162 sections 2.1.3.2 and 2.1.4.2.

use super::{empty_root, node_hash};
use crate::{Digest, Error};

const INCLUSION: &str = "inclusion proof";
const CONSISTENCY: &str = "consistency proof";

/// Checks that the leaf stands at `index` of the tree of `size` leaves with this root.
///
/// # Errors
/// [`Error::Proof`] when the index lies outside, the proof is too short or too long, or the root is another.
pub fn verify_inclusion(
    leaf_hash: &Digest,
    index: u64,
    size: u64,
    proof: &[Digest],
    root: &Digest,
) -> Result<(), Error> {
    let refuse = |reason| Err(Error::Proof { what: INCLUSION, reason });
    if index >= size {
        return refuse("the index lies outside the tree");
    }
    let (mut at, mut last) = (index, size - 1);
    let mut hash = *leaf_hash;
    for sibling in proof {
        if last == 0 {
            return refuse("it is too long");
        }
        if at & 1 == 1 || at == last {
            hash = node_hash(sibling, &hash);
            // On the right edge the levels without a sibling are skipped.
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            hash = node_hash(&hash, sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    if last != 0 {
        return refuse("it is too short");
    }
    if hash != *root {
        return refuse("it leads to another root");
    }
    Ok(())
}

/// Checks that the tree of `old_size` leaves is the beginning of the tree of `new_size` leaves.
///
/// An empty old tree is the beginning of every tree; it needs an empty proof and the empty tree's root.
///
/// # Errors
/// [`Error::Proof`] when the tree shrank, the proof is too short or too long, or a root is another.
pub fn verify_consistency(
    old_size: u64,
    new_size: u64,
    old_root: &Digest,
    new_root: &Digest,
    proof: &[Digest],
) -> Result<(), Error> {
    let refuse = |reason| Err(Error::Proof { what: CONSISTENCY, reason });
    if old_size > new_size {
        return refuse("the tree has shrunk");
    }
    if old_size == 0 && *old_root != empty_root() {
        return refuse("an empty tree has another root");
    }
    if old_size == new_size || old_size == 0 {
        if !proof.is_empty() {
            return refuse("it is too long");
        }
        if old_size == new_size && old_root != new_root {
            return refuse("trees of one size have two roots");
        }
        return Ok(());
    }
    // A complete old tree is its own first node, and the proof leaves it out.
    let own = old_size.is_power_of_two().then_some(old_root);
    let mut path = own.into_iter().chain(proof);
    let Some(first) = path.next() else {
        return refuse("it is too short");
    };
    climb(old_size, new_size, first, path, old_root, new_root)
}

fn climb<'a>(
    old_size: u64,
    new_size: u64,
    first: &Digest,
    path: impl Iterator<Item = &'a Digest>,
    old_root: &Digest,
    new_root: &Digest,
) -> Result<(), Error> {
    let refuse = |reason| Err(Error::Proof { what: CONSISTENCY, reason });
    let (mut at, mut last) = (old_size - 1, new_size - 1);
    while at & 1 == 1 {
        at >>= 1;
        last >>= 1;
    }
    let (mut old, mut new) = (*first, *first);
    for sibling in path {
        if last == 0 {
            return refuse("it is too long");
        }
        if at & 1 == 1 || at == last {
            old = node_hash(sibling, &old);
            new = node_hash(sibling, &new);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            new = node_hash(&new, sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    if last != 0 {
        return refuse("it is too short");
    }
    if old != *old_root {
        return refuse("it leads to another old root");
    }
    if new != *new_root {
        return refuse("it leads to another new root");
    }
    Ok(())
}
