//! The operations, each of which makes one message of another.

use crate::Error;
use sha2::Digest as _;

/// The longest message, and the longest argument.
pub(super) const MESSAGE_BYTES_MAX: usize = 4096;

/// An operation. They are in order by their tag, and then by their argument, as the reference writes them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// SHA-1. That two messages have the same is no harm here: both were there.
    Sha1,
    /// RIPEMD-160.
    Ripemd160,
    /// SHA-256.
    Sha256,
    /// Keccak-256, as Ethereum has it.
    Keccak256,
    /// Puts this behind the message.
    Append(Vec<u8>),
    /// Puts this before the message.
    Prepend(Vec<u8>),
    /// Turns the message around, byte by byte.
    Reverse,
    /// Writes the message in lower-case hex.
    Hexlify,
}

impl Op {
    /// The byte that it begins with.
    #[must_use]
    pub const fn tag(&self) -> u8 {
        match self {
            Self::Sha1 => 0x02,
            Self::Ripemd160 => 0x03,
            Self::Sha256 => 0x08,
            Self::Keccak256 => 0x67,
            Self::Append(_) => 0xf0,
            Self::Prepend(_) => 0xf1,
            Self::Reverse => 0xf2,
            Self::Hexlify => 0xf3,
        }
    }

    /// What stands behind the tag, for those that take something.
    pub(super) fn argument(&self) -> Option<&[u8]> {
        match self {
            Self::Append(argument) | Self::Prepend(argument) => Some(argument),
            Self::Sha1 | Self::Ripemd160 | Self::Sha256 | Self::Keccak256 | Self::Reverse | Self::Hexlify => {
                None
            }
        }
    }

    /// What it makes of a message.
    pub(super) fn apply(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let made = match self {
            Self::Sha1 => sha1::Sha1::digest(message).to_vec(),
            Self::Ripemd160 => ripemd::Ripemd160::digest(message).to_vec(),
            Self::Sha256 => sha2::Sha256::digest(message).to_vec(),
            Self::Keccak256 => sha3::Keccak256::digest(message).to_vec(),
            Self::Append(argument) => [message, argument].concat(),
            Self::Prepend(argument) => [argument, message].concat(),
            Self::Reverse => message.iter().rev().copied().collect(),
            Self::Hexlify => hex::encode(message).into_bytes(),
        };
        if made.is_empty() || made.len() > MESSAGE_BYTES_MAX {
            return Err(Error::malformed(
                super::FILE,
                "an operation makes nothing of its message, or too much",
            ));
        }
        Ok(made)
    }
}
