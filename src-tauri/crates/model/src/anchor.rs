//! What an anchor is of, and what a block proves (mesh.md 3, HV-3.6-3).

use crate::Digest;
use serde::{Deserialize, Serialize};
pub use words::identity::{AnchorClock, AnchorState};

/// What a clock is given the digest of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case", deny_unknown_fields)]
pub enum AnchorSubject {
    /// A head of the log: the digest is SHA-256 of the text of its signed note, with the final newline and without signatures.
    Head {
        /// The log.
        origin: String,
        /// Notes in it.
        size: u64,
        /// Their root.
        root: Digest,
        /// The signed note.
        note_sha256: Digest,
    },
    /// A link of the identity: the digest is that of its canonical bytes.
    Link {
        /// Its number, from 1.
        number: u64,
    },
}

/// The block that proves a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockTime {
    /// Its height.
    pub height: u64,
    /// Its hash, as Bitcoin spells it: the bytes of the double SHA-256, reversed, in hex.
    pub hash: String,
    /// The time that its header states, in seconds since 1970.
    pub time: u64,
    /// Blocks on top of it, itself among them, when it was observed.
    pub depth: u64,
}
