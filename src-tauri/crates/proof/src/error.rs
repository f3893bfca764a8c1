//! Why a bundle cannot be made, or a verdict cannot be reached. What is wrong with a bundle is a verdict, no error.

use std::path::Path;

/// Every refusal of this room.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source has no such task or receipt.
    #[error("there is no {what} `{id}` to prove")]
    Unknown {
        /// `task` or `receipt`.
        what: &'static str,
        /// Its identifier.
        id: String,
    },
    /// The source failed to hand something over.
    #[error("the store could not read {what}: {why}")]
    Source {
        /// What was asked for.
        what: String,
        /// What it said.
        why: String,
    },
    /// What the source handed over does not hold together; a bundle of it would be refused.
    #[error("the store's own records do not hold together: {why}")]
    Inconsistent {
        /// What was found.
        why: String,
    },
    /// A signer failed, or waits for a person.
    #[error("the bundle cannot be signed: {0}")]
    Signing(seal::Error),
    /// No profile of redaction, and no JSON pointer.
    #[error(
        "`{word}` says nothing of what to withhold; give none, paths, content or all, or JSON pointers such as `/payload/goal`"
    )]
    Redact {
        /// What was given.
        word: String,
    },
    /// The checkpoint that the receiver holds does not lead to this log.
    #[error("the checkpoint given with `--since` cannot be continued: {why}")]
    Since {
        /// What is wrong with it.
        why: String,
    },
    /// It does not fit into a zip without compression and 64-bit fields, or a part is larger than a verifier reads.
    #[error("the bundle is too large ({why})")]
    TooLarge {
        /// Which limit.
        why: String,
    },
    /// The place to write is taken.
    #[error("`{path}` is already there; name another file, or move it away first")]
    Exists {
        /// The path.
        path: String,
    },
    /// The disk failed.
    #[error("cannot {act} `{path}`: {why}")]
    Io {
        /// `read`, `write`, ...
        act: &'static str,
        /// Where.
        path: String,
        /// What the system said.
        why: String,
    },
    /// What the caller gave beside keys cannot be read.
    #[error("the {what} that you gave cannot be read: {why}")]
    Given {
        /// What it was meant to be.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The text names no key.
    #[error("`{text}` names no key; give a PEM file, a verifier key, or a fingerprint: {why}")]
    Trust {
        /// What was given.
        text: String,
        /// Why it was refused.
        why: String,
    },
}

impl Error {
    pub(crate) fn io(act: &'static str, path: &Path, error: &std::io::Error) -> Self {
        Self::Io { act, path: path.display().to_string(), why: error.to_string() }
    }

    pub(crate) fn inconsistent(why: impl ToString) -> Self {
        Self::Inconsistent { why: why.to_string() }
    }
}
