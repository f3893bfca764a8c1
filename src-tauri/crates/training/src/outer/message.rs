//! What a peer sends in a round, and its signature. Whoever holds the key signs the bytes; nothing here does.

use super::compress::Packed;
use crate::Error;
use seal::{Digest, Hasher, PublicKey, Signature};

/// Bytes of a message.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What is signed begins so.
const DOMAIN: &[u8] = b"hermit/outer-step/1\n";

/// How far a peer came in a round.
#[derive(Debug, Clone, PartialEq)]
pub struct OuterMessage {
    /// The run: the same base, dataset rules and settings at all peers.
    pub run: Digest,
    /// The round.
    pub round: u32,
    /// The state that the peer began with.
    pub state: Digest,
    /// Steps that it did alone.
    pub steps: u32,
    /// How far it came.
    pub packed: Packed,
}

impl OuterMessage {
    /// The bytes that are signed and sent.
    #[must_use]
    pub fn to_sign(&self) -> Vec<u8> {
        let mut bytes = DOMAIN.to_vec();
        bytes.extend(self.run.as_bytes());
        bytes.extend(self.round.to_be_bytes());
        bytes.extend(self.state.as_bytes());
        bytes.extend(self.steps.to_be_bytes());
        bytes.extend(self.packed.to_bytes());
        bytes
    }

    /// Reads them, for an adapter of this many numbers.
    ///
    /// # Errors
    /// They are no such message.
    pub fn from_bytes(bytes: &[u8], length: u32) -> Result<Self, Error> {
        if bytes.len() > MESSAGE_BYTES_MAX {
            return Err(Error::Peer(format!("it is longer than {MESSAGE_BYTES_MAX} bytes")));
        }
        let (run, round, state, steps, rest) = begun(bytes).ok_or_else(no_message)?;
        Ok(Self { run, round, state, steps, packed: Packed::from_bytes(rest, length)? })
    }
}

/// What stands before the numbers of a message: run, round, state and steps; and what follows.
fn begun(bytes: &[u8]) -> Option<(Digest, u32, Digest, u32, &[u8])> {
    let rest = bytes.strip_prefix(DOMAIN)?;
    let (run, rest) = rest.split_first_chunk()?;
    let (round, rest) = rest.split_first_chunk()?;
    let (state, rest) = rest.split_first_chunk()?;
    let (steps, rest) = rest.split_first_chunk()?;
    Some((Digest(*run), u32::from_be_bytes(*round), Digest(*state), u32::from_be_bytes(*steps), rest))
}

fn no_message() -> Error {
    Error::Peer("it is no message of training".to_owned())
}

/// What a message says of itself before its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OuterHead {
    /// The run.
    pub run: Digest,
    /// The round.
    pub round: u32,
    /// The state that the peer began with.
    pub state: Digest,
    /// Numbers of the adapter.
    pub length: u32,
}

impl OuterHead {
    /// Reads it from the bytes of a message.
    ///
    /// # Errors
    /// They begin as no message does.
    pub fn of(bytes: &[u8]) -> Result<Self, Error> {
        let (run, round, state, _, rest) = begun(bytes).ok_or_else(no_message)?;
        let length = u32::from_be_bytes(*rest.first_chunk().ok_or_else(no_message)?);
        Ok(Self { run, round, state, length })
    }
}

/// The bytes of a message, who sent it, and the signature under them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedMessage {
    /// Who.
    pub peer: PublicKey,
    /// What was signed.
    pub bytes: Vec<u8>,
    /// The signature.
    pub signature: Signature,
}

impl SignedMessage {
    /// The digest by which a round counts it: of who sent it and what, since anybody may sign a copy.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new();
        hasher.update(self.peer.as_bytes());
        hasher.update(&self.bytes);
        hasher.finish()
    }

    /// The message, where the signature holds.
    ///
    /// # Errors
    /// It does not, or the bytes are no message.
    pub fn open(&self, length: u32) -> Result<OuterMessage, Error> {
        if self.bytes.len() > MESSAGE_BYTES_MAX {
            return Err(Error::Peer(format!("it is longer than {MESSAGE_BYTES_MAX} bytes")));
        }
        self.peer
            .verify(&self.bytes, &self.signature)
            .map_err(|error| Error::Peer(format!("its signature does not hold: {error}")))?;
        OuterMessage::from_bytes(&self.bytes, length)
    }
}
