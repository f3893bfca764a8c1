//! What can go wrong, told apart by what the caller can do about it.

use model::Digest;

/// Every refusal of this room.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing has this digest, neither in the ledger nor among the files.
    #[error("the artifact `{digest}` is not in this store; restore it from a backup")]
    Missing {
        /// Which.
        digest: Digest,
    },
    /// The bytes found do not hash to the digest.
    #[error("the artifact `{digest}` is damaged: {why}; restore it from a backup")]
    Corrupt {
        /// Which.
        digest: Digest,
        /// What was found.
        why: String,
    },
    /// Larger than any artifact may be.
    #[error("this content is larger than {max} bytes; split it, or leave it where it is and cite its digest")]
    TooLarge {
        /// The largest allowed.
        max: u64,
    },
    /// The disk is full. Nothing was kept.
    #[error("the disk is full; nothing was kept, free some space and try again")]
    Full,
    /// The source of the bytes could not be read.
    #[error("the content could not be read: {why}")]
    Source {
        /// What was said.
        why: String,
    },
    /// The file system said no.
    #[error("{doing} failed: {why}")]
    Io {
        /// What was being done.
        doing: String,
        /// What was said.
        why: String,
    },
}

impl Error {
    pub(crate) fn file(doing: impl Into<String>, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        match error.kind() {
            StorageFull | QuotaExceeded => Self::Full,
            _ => Self::Io { doing: doing.into(), why: error.to_string() },
        }
    }

    pub(crate) fn corrupt(digest: Digest, why: impl ToString) -> Self {
        Self::Corrupt { digest, why: why.to_string() }
    }
}
