//! What can go wrong, told apart by what the caller can do about it.

use crate::Digest;

/// Every refusal of this room.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not in the one form that is accepted. Nothing can be done but to get other bytes.
    #[error("this is not a valid {what}: {reason}")]
    Malformed {
        /// Which format was expected, such as `json`, `digest`, `note`.
        what: &'static str,
        /// Where and why it was refused.
        reason: String,
    },
    /// Valid JSON, but not the canonical bytes of its own value.
    #[error("this JSON is not in canonical form: byte {at} differs from RFC 8785")]
    NotCanonical {
        /// Offset of the first byte that differs.
        at: usize,
    },
    /// A value holds something that has no canonical form here (a float, a number beyond ±(2^53−1)).
    #[error("this value cannot be sealed: {reason}")]
    Unsealable {
        /// What was found; say it in a decimal string instead.
        reason: String,
    },
    /// `$plain` or `$sd` stands where it may not.
    #[error("the names `$plain` and `$sd` are reserved: {reason} at `{pointer}`")]
    Reserved {
        /// JSON pointer of the object that carries the name.
        pointer: String,
        /// What is wrong about it.
        reason: &'static str,
    },
    /// A disclosure does not open the place it is used for.
    #[error("the disclosure `{digest}` does not fit `{pointer}`: {reason}")]
    Disclosure {
        /// The digest that stands in the document.
        digest: Digest,
        /// JSON pointer of the place.
        pointer: String,
        /// What does not fit.
        reason: String,
    },
    /// A signature by a known key does not hold: the bytes were changed, or the key is another.
    #[error("the signature on this {what} does not hold")]
    Signature {
        /// What was signed.
        what: &'static str,
    },
    /// Signed, but by none of the keys that were given as trusted. The verdict is `unverifiable`.
    #[error("this {what} is signed by no key you trust; pass the signer's key to check it")]
    Untrusted {
        /// What was signed.
        what: &'static str,
    },
    /// A Merkle proof does not lead to the root.
    #[error("this {what} does not hold: {reason}")]
    Proof {
        /// `inclusion proof` or `consistency proof`.
        what: &'static str,
        /// Which check failed.
        reason: &'static str,
    },
    /// A proof was asked for a leaf or a size that the tree does not have.
    #[error("the tree has {size} leaves, so there is nothing to prove about {asked}")]
    OutOfRange {
        /// Leaf index or older size that was asked for.
        asked: u64,
        /// Number of leaves in the tree.
        size: u64,
    },
    /// The store that keeps the tree's nodes does not have one that a proof needs.
    #[error("the tree lacks its node {index} of level {level}; rebuild it from the leaves")]
    MissingNode {
        /// 0 for leaves.
        level: u8,
        /// Position within the level.
        index: u64,
    },
    /// The chain is broken. `position` counts from 1 and is the first offending one.
    #[error("the chain breaks at position {position}: {fault}")]
    Chain {
        /// First offending position, counted from 1.
        position: u64,
        /// What is wrong there.
        fault: ChainFault,
    },
    /// The key exists and waits for a person or a passphrase.
    #[error("the key `{key}` is locked; unlock it and try again")]
    KeyLocked {
        /// Handle of the key.
        key: String,
    },
    /// There is no such key or secret.
    #[error("there is no key or secret `{key}`; create it first")]
    KeyMissing {
        /// Handle of the key or secret.
        key: String,
    },
    /// The place where keys sleep failed.
    #[error("the key store failed: {reason}")]
    KeyStore {
        /// What the store said.
        reason: String,
    },
}

/// Why a link of a chain does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainFault {
    /// The bytes are not a canonical object with the two link fields.
    #[error("its bytes are not a canonical event ({0})")]
    Unreadable(String),
    /// A gap, a repetition, or another order.
    #[error("its sequence number is {found} where {expected} belongs")]
    Sequence {
        /// The number that belongs here.
        expected: u64,
        /// The number that stands here.
        found: u64,
    },
    /// The link to the previous entry is another.
    #[error("it points back to `{found}` where `{expected}` belongs")]
    Link {
        /// Hash of the entry before, or [`Digest::ZERO`] at the start.
        expected: Digest,
        /// What stands in the entry.
        found: Digest,
    },
    /// The stored hash of the entry is not the hash of its bytes.
    #[error("its bytes hash to `{found}` but `{expected}` was recorded")]
    Hash {
        /// The recorded hash.
        expected: Digest,
        /// Hash of the bytes.
        found: Digest,
    },
    /// The chain ends before or after the place that was signed.
    #[error("the chain has {found} entries where {expected} were promised")]
    Length {
        /// Number that was promised (by a checkpoint, say).
        expected: u64,
        /// Number that is there.
        found: u64,
    },
}

impl Error {
    /// Shorthand for [`Error::Malformed`].
    pub(crate) fn malformed(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Malformed { what, reason: reason.into() }
    }
}
