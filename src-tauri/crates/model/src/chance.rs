//! Time and chance, passed in: a function that asks a clock cannot be replayed.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMs(pub i64);

impl UnixMs {
    /// This time, later by `ms` milliseconds; saturates.
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> UnixMs;

    /// Milliseconds on a clock that nobody sets; only differences within one process mean something.
    fn monotonic_ms(&self) -> u64 {
        u64::try_from(self.now().0).unwrap_or(0)
    }
}

/// Draws random bytes, for identifiers, salts and nonces.
pub trait Entropy: Send + Sync {
    /// Fills the buffer.
    fn fill(&self, buffer: &mut [u8]);

    /// One 128-bit salt.
    fn salt(&self) -> [u8; 16] {
        let mut salt = [0u8; 16];
        self.fill(&mut salt);
        salt
    }
}
