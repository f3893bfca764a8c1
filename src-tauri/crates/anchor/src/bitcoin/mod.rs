//! Bitcoin's block headers and branches of its Merkle trees: what a header's own work shows, and no more.

mod headers;
mod merkle;
mod target;
mod transaction;

pub use headers::{Headers, Place};
pub use merkle::TxOutProof;
pub use transaction::Transaction;

use crate::{Error, reader::Reader};
use sha2::{Digest as _, Sha256};
pub(crate) use target::Target;

const HEADER: &str = "Bitcoin block header";
/// The bytes of a header.
pub const HEADER_BYTES: usize = 80;

/// SHA-256 of SHA-256, the hash of Bitcoin.
#[must_use]
pub fn double_sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(Sha256::digest(bytes)).into()
}

/// A hash as Bitcoin spells it: its bytes from the last to the first, in hex.
#[must_use]
pub fn spelled(hash: &[u8; 32]) -> String {
    let mut reversed = *hash;
    reversed.reverse();
    hex::encode(reversed)
}

/// The header of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The hash of the header before it, in the order of bytes that hashing gives.
    pub previous: [u8; 32],
    /// The root of its transactions, in the same order.
    pub merkle_root: [u8; 32],
    /// When its miner says that it was made, in seconds since 1970.
    pub time: u32,
    /// The target that its hash has to meet, in compact form.
    pub bits: u32,
    /// SHA-256 of SHA-256 of its bytes.
    pub hash: [u8; 32],
}

impl Header {
    /// Reads the 80 bytes of a header whose hash meets the target that it names.
    ///
    /// # Errors
    /// It has another length, names no target, or has not the work that it names.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(HEADER, bytes);
        let _version: [u8; 4] = reader.array()?;
        let (previous, merkle_root) = (reader.array()?, reader.array()?);
        let time = u32::from_le_bytes(reader.array()?);
        let bits = u32::from_le_bytes(reader.array()?);
        let _nonce: [u8; 4] = reader.array()?;
        reader.end()?;
        let hash = double_sha256(bytes);
        let target = Target::of(bits).ok_or_else(|| reader.bad("its target is none"))?;
        if !target.is_met_by(&hash) {
            return Err(Error::wrong(HEADER, "its hash does not meet its target: nobody worked for it"));
        }
        Ok(Self { previous, merkle_root, time, bits, hash })
    }

    /// How many hashes it takes on average to find such a header. A target that is too easy for Bitcoin gives few.
    #[must_use]
    pub fn work(&self) -> f64 {
        Target::of(self.bits).map_or(0.0, |target| target.work())
    }
}
