//! The path from a transaction to the header of its block, as `gettxoutproof` writes it.

use super::{HEADER_BYTES, Header, double_sha256};
use crate::{Error, reader::Reader};

const PROOF: &str = "transaction proof of Bitcoin";
/// Transactions in a block: its greatest weight over the least weight that a transaction has.
const TRANSACTIONS_MAX: u32 = 4_000_000 / 240;
/// The longest proof, in bytes. One transaction needs some 600.
pub const PROOF_BYTES_MAX: usize = 64 * 1024;

/// What a proof of transactions shows: they are in the block with this header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TxOutProof {
    /// The header.
    pub header: Header,
    /// Its 80 bytes.
    pub header_bytes: [u8; HEADER_BYTES],
    /// The transactions that are shown, by their hash in the order of bytes that hashing gives.
    pub transactions: Vec<[u8; 32]>,
}

impl TxOutProof {
    /// Reads a proof and follows it to the Merkle root of its header.
    ///
    /// Two things about Bitcoin's tree are known to mislead. A row of odd length repeats its last entry, so two equal
    /// neighbours are refused. And an inner node is 64 bytes, as a transaction could be: who holds the transaction has to see
    /// that it is longer, as [`Transaction`](super::Transaction) does.
    ///
    /// # Errors
    /// It is malformed, has parts that nothing uses, or leads to another root.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > PROOF_BYTES_MAX {
            return Err(Error::malformed(PROOF, "it is too long"));
        }
        let mut reader = Reader::new(PROOF, bytes);
        let header_bytes = reader.array::<HEADER_BYTES>()?;
        let header = Header::read(&header_bytes)?;
        let count = u32::from_le_bytes(reader.array()?);
        if count == 0 || count > TRANSACTIONS_MAX {
            return Err(reader.bad("its block has no such number of transactions"));
        }
        let hashes = reader.compact(PROOF_BYTES_MAX / 32)?;
        let (hashes, _) = reader.take(hashes.saturating_mul(32))?.as_chunks::<32>();
        let flags = reader.compact(PROOF_BYTES_MAX)?;
        let flags = reader.take(flags)?;
        reader.end()?;
        let mut walk = Walk { count, hashes: hashes.iter(), flags, used: 0, found: Vec::new() };
        let height = (0..).find(|height| width(count, *height) == 1).unwrap_or(0);
        let root = walk.node(height, 0)?;
        walk.end()?;
        if root != header.merkle_root {
            return Err(Error::wrong(PROOF, "it does not lead to the Merkle root of its header"));
        }
        Ok(Self { header, header_bytes, transactions: walk.found })
    }
}

/// How many nodes a row of the tree has; row 0 are the transactions.
const fn width(count: u32, height: u32) -> u32 {
    (count + (1 << height) - 1) >> height
}

struct Walk<'a> {
    count: u32,
    hashes: std::slice::Iter<'a, [u8; 32]>,
    flags: &'a [u8],
    used: usize,
    found: Vec<[u8; 32]>,
}

impl Walk<'_> {
    /// The hash of one node; 15 rows at most, by the bound on transactions.
    fn node(&mut self, height: u32, at: u32) -> Result<[u8; 32], Error> {
        let leads_on = self.flag()?;
        if height == 0 || !leads_on {
            let hash = *self.hashes.next().ok_or_else(|| Error::malformed(PROOF, "a hash is missing"))?;
            if leads_on {
                self.found.push(hash);
            }
            return Ok(hash);
        }
        let left = self.node(height - 1, at * 2)?;
        let right = if at * 2 + 1 < width(self.count, height - 1) {
            let right = self.node(height - 1, at * 2 + 1)?;
            if right == left {
                return Err(Error::malformed(PROOF, "two equal nodes stand side by side"));
            }
            right
        } else {
            left
        };
        Ok(double_sha256(&[left, right].concat()))
    }

    fn flag(&mut self) -> Result<bool, Error> {
        let byte =
            self.flags.get(self.used / 8).ok_or_else(|| Error::malformed(PROOF, "a flag is missing"))?;
        let flag = byte >> (self.used % 8) & 1 == 1;
        self.used += 1;
        Ok(flag)
    }

    /// Whether everything was used, and what fills the last byte is zero.
    fn end(&mut self) -> Result<(), Error> {
        let whole = self.flags.len() == self.used.div_ceil(8) && self.hashes.next().is_none();
        let filled =
            self.flags.last().is_none_or(|last| self.used.is_multiple_of(8) || last >> (self.used % 8) == 0);
        if whole && filled { Ok(()) } else { Err(Error::malformed(PROOF, "it has parts that nothing uses")) }
    }
}
