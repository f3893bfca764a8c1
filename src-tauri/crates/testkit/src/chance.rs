//! Time and chance from a seed.

use model::{Clock, Entropy, UnixMs};
use seal::Digest;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A clock that moves a millisecond with every look, and as far as a test says.
#[derive(Debug)]
pub struct FakeClock(AtomicI64, AtomicU64, AtomicU64);

impl FakeClock {
    /// Begins at a time of the present decade.
    pub const fn new() -> Self {
        Self(AtomicI64::new(1_790_000_000_000), AtomicU64::new(0), AtomicU64::new(1))
    }

    /// Counts on, as time that goes by does.
    pub fn count(&self, ms: u64) {
        self.1.fetch_add(ms, Ordering::SeqCst);
    }

    /// Counts on by so much with every look, as on a machine that is slow.
    pub fn slow(&self, ms: u64) {
        self.2.store(ms, Ordering::SeqCst);
    }

    /// Moves on, or back.
    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for FakeClock {
    fn now(&self) -> UnixMs {
        UnixMs(self.0.fetch_add(1, Ordering::SeqCst))
    }

    fn monotonic_ms(&self) -> u64 {
        self.1.fetch_add(self.2.load(Ordering::SeqCst), Ordering::SeqCst)
    }
}

/// Bytes from a seed and a counter.
#[derive(Debug)]
pub struct SeededEntropy {
    seed: u64,
    drawn: AtomicU64,
}

impl SeededEntropy {
    /// Chance of this seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed, drawn: AtomicU64::new(0) }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(32) {
            let at = self.drawn.fetch_add(1, Ordering::SeqCst);
            let mut text = self.seed.to_le_bytes().to_vec();
            text.extend_from_slice(&at.to_le_bytes());
            let digest = Digest::of(&text);
            for (to, from) in chunk.iter_mut().zip(digest.as_bytes()) {
                *to = *from;
            }
        }
    }
}
