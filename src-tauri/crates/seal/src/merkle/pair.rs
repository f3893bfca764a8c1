//! The digest of bytes and their leaf hash, made in one pass.
//!
//! Each event is hashed once for its chain and once for its leaf, over the same bytes one place apart. A processor with
//! instructions for SHA-256 waits for each of them; block by block in turns it works on one hash while it waits for the
//! other.

use crate::Digest;
use sha2::block_api::compress256;

const BLOCK: usize = 64;

/// What SHA-256 begins with (FIPS 180-4, 5.3.3).
const BEGIN: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// [`Digest::of`] the bytes, and their [`super::leaf_hash`].
#[must_use]
pub fn digest_and_leaf(bytes: &[u8]) -> (Digest, Digest) {
    // A leaf begins with a zero, so that its first block holds one byte less.
    let Some((head, behind)) = bytes.split_first_chunk::<{ BLOCK - 1 }>() else {
        return (Digest::of(bytes), super::leaf_hash(bytes));
    };
    let mut first = [0; BLOCK];
    first.last_chunk_mut().into_iter().for_each(|to| *to = *head);
    let ((blocks, rest), (shifted, shifted_rest)) = (bytes.as_chunks(), behind.as_chunks());
    let (end, leaf_end) = (End::new(rest, bytes.len()), End::new(shifted_rest, bytes.len() + 1));
    let mut of_leaf = std::iter::once(&first).chain(shifted).chain(leaf_end.blocks());
    let (mut digest, mut leaf) = (BEGIN, BEGIN);
    for block in blocks.iter().chain(end.blocks()) {
        compress256(&mut digest, std::slice::from_ref(block));
        if let Some(block) = of_leaf.next() {
            compress256(&mut leaf, std::slice::from_ref(block));
        }
    }
    of_leaf.for_each(|block| compress256(&mut leaf, std::slice::from_ref(block)));
    (spelled(digest), spelled(leaf))
}

/// The last one or two blocks of a text: what is left of it, a one-bit, and its length in bits.
struct End {
    blocks: [[u8; BLOCK]; 2],
    used: usize,
}

impl End {
    fn new(rest: &[u8], length: usize) -> Self {
        let mut blocks = [[0; BLOCK]; 2];
        if let Some((to, behind)) = blocks.as_flattened_mut().split_at_mut_checked(rest.len()) {
            to.copy_from_slice(rest);
            behind.first_mut().into_iter().for_each(|to| *to = 0x80);
        }
        let used = if rest.len() + 1 + size_of::<u64>() <= BLOCK { 1 } else { 2 };
        let last = blocks.get_mut(used - 1).and_then(|block| block.last_chunk_mut());
        last.into_iter().for_each(|to| *to = (length as u64 * 8).to_be_bytes());
        Self { blocks, used }
    }

    fn blocks(&self) -> impl Iterator<Item = &[u8; BLOCK]> {
        self.blocks.iter().take(self.used)
    }
}

fn spelled(state: [u32; 8]) -> Digest {
    let mut bytes = [0; 32];
    let (words, _) = bytes.as_chunks_mut();
    words.iter_mut().zip(state).for_each(|(to, word)| *to = word.to_be_bytes());
    Digest(bytes)
}

#[cfg(test)]
mod tests {
    use super::digest_and_leaf;
    use crate::{Digest, merkle::leaf_hash};

    #[test]
    fn both_are_those_of_one_at_a_time_at_every_length() {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(1_000).collect();
        for length in 0..bytes.len() {
            let bytes = &bytes[..length];
            assert_eq!(digest_and_leaf(bytes), (Digest::of(bytes), leaf_hash(bytes)), "{length}");
        }
    }
}
