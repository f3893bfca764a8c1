//! Transactions of an instance's own key in Bitcoin (mesh.md 2 and 3, HV-3.6-3, HV-3.9-3).
//!
//! **What this room is for.** Which script and address the key of an instance has, which coins an anchor spends, what it costs, and
//! the signed transaction; a hand-over with an input of each key; and what a transaction that somebody else shows says.
//!
//! **What it must never do.** Ask a node, send anything, draw chance, hold a secret of its own, or pay more than the caller's cap.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. The output key is the key of the instance as it stands, without a tweak: whoever has the key in a link of the identity knows
//!    its script (decision 301).
//! 2. Equal coins, words and fee make the same transaction, byte for byte; so sending it again never pays twice.
//! 3. What is left goes back to the key, unless it is dust; the fee is never above the cap.
//! 4. A hand-over spends at least one coin of each key, both sign all of it, and all that is left is the new key's.
//! 5. Every transaction signals that it may be replaced (BIP-125) and carries exactly one OP_RETURN output, the first one.
//!
//! **Where to start reading.** [`anchor_transaction`], then [`handover_transaction`].

mod choose;
mod place;
mod read;
mod sign;

pub use choose::{anchor_fee, anchor_transaction, handover_transaction};
pub use place::{address, chain_known, descriptor, script};
pub use read::{InBlock, Read, block_of, header_bytes, read, satoshi};

/// The most bytes of an OP_RETURN output that nodes of every version pass on.
pub const DATA_BYTES_MAX: usize = 80;
/// The most coins that one transaction spends.
pub const COINS_MAX: usize = 100;

/// An unspent output that pays to a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coin {
    /// The transaction, as Bitcoin spells it.
    pub txid: String,
    /// Which of its outputs.
    pub vout: u32,
    /// What it is worth.
    pub satoshi: u64,
    /// Whether a block holds it.
    pub is_confirmed: bool,
}

/// What may be paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fee {
    /// The rate: satoshi for 1,000 virtual bytes.
    pub rate: u64,
    /// The most that is paid, in satoshi.
    pub max: u64,
}

/// A signed transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Its id.
    pub txid: String,
    /// The whole of it in hex, as `sendrawtransaction` takes it.
    pub raw: String,
    /// What it pays, in satoshi.
    pub fee: u64,
    /// Its size in virtual bytes.
    pub vsize: u64,
    /// What goes back, in satoshi; 0 where there is no such output.
    pub change: u64,
}

/// Why there is no transaction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What came in is not of its form.
    #[error("{what}: {why}")]
    Malformed {
        /// What.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// The coins do not cover it.
    #[error("there are {has} satoshi, and {needs} are needed")]
    Insufficient {
        /// What can be spent.
        has: u64,
        /// What it takes.
        needs: u64,
    },
    /// A key of a hand-over has no coin.
    #[error("the key {pubkey} has no coin that is worth spending")]
    NoCoin {
        /// The key.
        pubkey: String,
    },
    /// It would cost more than may be paid.
    #[error("it would cost {fee} satoshi, and at most {max} may be paid")]
    AboveCap {
        /// What it would cost.
        fee: u64,
        /// What may be paid.
        max: u64,
    },
    /// The key does not sign.
    #[error(transparent)]
    Sign(#[from] seal::Error),
}

impl Error {
    pub(crate) fn malformed(what: &'static str, why: impl ToString) -> Self {
        Self::Malformed { what, why: why.to_string() }
    }
}

#[cfg(test)]
mod tests;
