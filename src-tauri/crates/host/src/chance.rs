//! The system's time and chance.

use model::{Clock, Entropy, UnixMs};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> UnixMs {
        // A clock before 1970 is wrong by decades; zero is as wrong and harms nothing.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UnixMs(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic_ms(&self) -> u64 {
        static BEGAN: OnceLock<Instant> = OnceLock::new();
        u64::try_from(BEGAN.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// An end that comes when either clock reaches it: a machine that was suspended counts the time on the wall's clock only,
/// one whose clock was set on the steady one only.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    steady: Instant,
    wall: SystemTime,
}

impl Deadline {
    /// In so much time from now.
    pub fn after(time: Duration) -> Self {
        Self::of(time, time)
    }

    /// In so much time by the steady clock, or so much by the wall's.
    pub(crate) fn of(steady: Duration, wall: Duration) -> Self {
        Self { steady: Instant::now() + steady, wall: SystemTime::now() + wall }
    }

    /// What is left of it; zero when it is over.
    pub fn left(&self) -> Duration {
        let steady = self.steady.saturating_duration_since(Instant::now());
        steady.min(self.wall.duration_since(SystemTime::now()).unwrap_or_default())
    }
}

/// The system's random bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        if let Err(error) = getrandom::fill(buffer) {
            // Predictable salts and nonces would break every promise made over them, silently. Nothing goes on.
            tracing::error!(%error, "the system gives no random bytes");
            std::process::abort();
        }
    }
}
