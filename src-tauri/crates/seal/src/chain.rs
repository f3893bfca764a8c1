//! Hash chains: every entry points back to the bytes before it (proof 2, KS-7.1).

use crate::{ChainFault, Digest, Error, canon};

/// The field of an event's bytes that counts it within its task, from 1.
pub const SEQ_FIELD: &str = "task_seq";

/// The field of an event's bytes that holds the hash of the event before.
pub const PREV_FIELD: &str = "prev_event_hash";

/// Walks a chain entry by entry and stops for good at the first that does not fit.
///
/// An entry that was refused is not taken in, so the position of the next refusal is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainVerifier {
    taken: u64,
    head: Digest,
}

impl Default for ChainVerifier {
    fn default() -> Self {
        Self::new()
    }
}

impl ChainVerifier {
    /// A chain at its genesis: the first entry counts 1 and points back to [`Digest::ZERO`].
    #[must_use]
    pub const fn new() -> Self {
        Self { taken: 0, head: Digest::ZERO }
    }

    /// A chain of which `taken` entries were already verified, the last with the hash `head`.
    #[must_use]
    pub const fn resume(taken: u64, head: Digest) -> Self {
        Self { taken, head }
    }

    /// How many entries fitted.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.taken
    }

    /// Whether nothing fitted yet. An empty chain proves nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.taken == 0
    }

    /// Hash of the last entry that fitted, or [`Digest::ZERO`].
    #[must_use]
    pub const fn head(&self) -> Digest {
        self.head
    }

    /// Takes the exact bytes of the next event: canonical, with the fields [`SEQ_FIELD`] and [`PREV_FIELD`].
    /// Returns the hash of the event.
    ///
    /// # Errors
    /// [`Error::Chain`] with the position of this entry.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Digest, Error> {
        let [seq, prev] =
            canon::members(bytes, [SEQ_FIELD, PREV_FIELD]).map_err(|e| self.unreadable(e.to_string()))?;
        let seq = seq.and_then(count);
        let seq = seq.ok_or_else(|| self.unreadable(format!("`{SEQ_FIELD}` is missing or no count")))?;
        let prev = prev.and_then(link);
        let prev = prev.ok_or_else(|| self.unreadable(format!("`{PREV_FIELD}` is missing or no digest")))?;
        let hash = Digest::of(bytes);
        self.follow(seq, prev, hash)?;
        Ok(hash)
    }

    /// Takes the next entry by its link fields and its hash, which the caller has read and made of its bytes.
    ///
    /// # Errors
    /// [`Error::Chain`] with the position of this entry.
    pub fn follow(&mut self, seq: u64, prev: Digest, hash: Digest) -> Result<(), Error> {
        let expected = self.taken + 1;
        if seq != expected {
            return Err(self.fault(ChainFault::Sequence { expected, found: seq }));
        }
        if prev != self.head {
            return Err(self.fault(ChainFault::Link { expected: self.head, found: prev }));
        }
        (self.taken, self.head) = (seq, hash);
        Ok(())
    }

    /// Checks the end against what was promised elsewhere, by a checkpoint or a pin.
    ///
    /// # Errors
    /// [`Error::Chain`] when entries are missing or too many, or the last one is another. An empty chain always
    /// fails.
    pub fn finish(&self, expected_len: u64, expected_head: Digest) -> Result<(), Error> {
        if self.taken != expected_len || self.is_empty() {
            return Err(self.fault(ChainFault::Length { expected: expected_len, found: self.taken }));
        }
        if self.head != expected_head {
            let fault = ChainFault::Hash { expected: expected_head, found: self.head };
            return Err(Error::Chain { position: self.taken, fault });
        }
        Ok(())
    }

    fn unreadable(&self, reason: String) -> Error {
        self.fault(ChainFault::Unreadable(reason))
    }

    fn fault(&self, fault: ChainFault) -> Error {
        Error::Chain { position: self.taken + 1, fault }
    }
}

/// A count as it is spelled in canonical bytes.
fn count(spelled: &[u8]) -> Option<u64> {
    std::str::from_utf8(spelled).ok()?.parse().ok()
}

/// A digest as it is spelled in canonical bytes, within its quotes.
fn link(spelled: &[u8]) -> Option<Digest> {
    let text = std::str::from_utf8(spelled).ok()?;
    text.strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}
