//! Small shapes that many answers share.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Words that may have been erased: a plain string, or `{"erased": "<digest>"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// Readable.
    Shown(String),
    /// Gone; the digest of what stood here is left.
    Erased {
        /// SHA-256, hexadecimal.
        erased: String,
    },
}

impl Text {
    /// The words, where they are readable.
    pub const fn shown(&self) -> Option<&str> {
        match self {
            Self::Shown(text) => Some(text.as_str()),
            Self::Erased { .. } => None,
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shown().unwrap_or("(erased)"))
    }
}

/// What a check came to (proof.md 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Whole, consistent, and signed by a trusted key.
    Valid,
    /// Changed or contradictory.
    Invalid,
    /// It holds together, but nobody trusted vouches for it.
    Unverifiable,
    /// What is there holds, but something is missing.
    Incomplete,
}

impl Verdict {
    /// Exit code of a program that says this: 0, 5, 6, 7.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Valid => crate::exit::DONE,
            Self::Invalid => crate::exit::INVALID,
            Self::Unverifiable => crate::exit::UNVERIFIABLE,
            Self::Incomplete => crate::exit::INCOMPLETE,
        }
    }

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Unverifiable => "unverifiable",
            Self::Incomplete => "incomplete",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
