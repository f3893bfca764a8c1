//! Builds roots and proofs from any source of complete nodes, so that a huge tree need not be in memory.
//!
//! A node `(level, index)` covers the leaves from `index << level` up to, without, `(index + 1) << level`; level 0
//! is the leaves. Only complete nodes are asked for, about two per level.

use super::{empty_root, node_hash};
use crate::{Digest, Error};

/// Where complete nodes come from: level, index. `None` means the store has lost it.
pub type Nodes<'a> = dyn Fn(u8, u64) -> Option<Digest> + 'a;

/// Root of the tree over the first `size` leaves.
///
/// # Errors
/// [`Error::MissingNode`].
pub fn root(size: u64, nodes: &Nodes<'_>) -> Result<Digest, Error> {
    if size == 0 {
        return Ok(empty_root());
    }
    range(0, size, nodes)
}

/// Path from the leaf at `index` to the root of the tree of `size` leaves (RFC 6962 2.1.1).
///
/// # Errors
/// [`Error::OutOfRange`], [`Error::MissingNode`].
pub fn inclusion(index: u64, size: u64, nodes: &Nodes<'_>) -> Result<Vec<Digest>, Error> {
    if index >= size {
        return Err(Error::OutOfRange { asked: index, size });
    }
    let (mut low, mut high) = (0, size);
    let mut path = Vec::new();
    while high - low > 1 {
        let middle = low + split(high - low);
        if index < middle {
            path.push(range(middle, high, nodes)?);
            high = middle;
        } else {
            path.push(range(low, middle, nodes)?);
            low = middle;
        }
    }
    path.reverse();
    Ok(path)
}

/// Proof that the first `old_size` leaves are the beginning of the tree of `size` leaves (RFC 6962 2.1.2). It is
/// empty when there is nothing to prove: `old_size` is 0 or `size`.
///
/// # Errors
/// [`Error::OutOfRange`], [`Error::MissingNode`].
pub fn consistency(old_size: u64, size: u64, nodes: &Nodes<'_>) -> Result<Vec<Digest>, Error> {
    if old_size > size {
        return Err(Error::OutOfRange { asked: old_size, size });
    }
    if old_size == 0 || old_size == size {
        return Ok(Vec::new());
    }
    let (mut low, mut high) = (0, size);
    let mut proof = Vec::new();
    // Until the old tree ends exactly where the current subtree does, keep the sibling and go down.
    while high != old_size {
        let middle = low + split(high - low);
        if old_size <= middle {
            proof.push(range(middle, high, nodes)?);
            high = middle;
        } else {
            proof.push(range(low, middle, nodes)?);
            low = middle;
        }
    }
    // On the left edge the subtree is the old tree itself, whose root the verifier already holds.
    if low != 0 {
        proof.push(range(low, high, nodes)?);
    }
    proof.reverse();
    Ok(proof)
}

/// Hash over the leaves `low..high`, where `low` is where RFC 6962 would cut.
fn range(low: u64, high: u64, nodes: &Nodes<'_>) -> Result<Digest, Error> {
    let mut left = Vec::new();
    let mut low = low;
    while !(high - low).is_power_of_two() {
        let middle = low + split(high - low);
        left.push(complete(low, middle, nodes)?);
        low = middle;
    }
    let last = complete(low, high, nodes)?;
    Ok(left.iter().rev().fold(last, |right, left| node_hash(left, &right)))
}

fn complete(low: u64, high: u64, nodes: &Nodes<'_>) -> Result<Digest, Error> {
    let zeros = (high - low).trailing_zeros();
    let level = u8::try_from(zeros).unwrap_or(u8::MAX);
    let index = low >> zeros;
    nodes(level, index).ok_or(Error::MissingNode { level, index })
}

/// The largest power of two below `count`, which is at least 2.
fn split(count: u64) -> u64 {
    1 << (u64::BITS - 1 - (count - 1).leading_zeros())
}
