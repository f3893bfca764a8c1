//! The system's time and chance.
//!
//! `HERMIT_PACE=ORIGIN*TIMES`, in debug builds: from that instant, in milliseconds since 1970, time passes so many times as fast, the
//! same for all programs that are told the same. Tests wait in it for what takes minutes. A program built without debug assertions
//! refuses to start with the variable set.

use crate::Error;
use model::{Clock, Entropy, UnixMs};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The variable.
const PACE: &str = "HERMIT_PACE";
/// How many times as fast time passes at most.
const TIMES_MAX: u32 = 1_000;

/// How time passes where it is not the machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pace {
    /// From when, in microseconds since 1970.
    origin: i64,
    times: u32,
}

impl Pace {
    fn parse(text: &str) -> Option<Self> {
        let (origin, times) = text.split_once('*')?;
        let origin = origin.parse::<i64>().ok()?.checked_mul(1_000)?;
        let times = times.parse().ok().filter(|times| (1..=TIMES_MAX).contains(times))?;
        Some(Self { origin, times })
    }

    /// What this clock says when the machine's says this, in microseconds both.
    fn of(self, now: i64) -> i64 {
        let since = now.saturating_sub(self.origin).max(0);
        now.min(self.origin).saturating_add(since.saturating_mul(i64::from(self.times)))
    }
}

fn pace() -> Option<Pace> {
    static READ: OnceLock<Option<Pace>> = OnceLock::new();
    *READ.get_or_init(|| {
        let told = std::env::var(PACE).ok().filter(|_| cfg!(debug_assertions));
        told.and_then(|text| Pace::parse(&text))
    })
}

/// Refuses a pace that is none, or that this program does not take.
///
/// # Errors
/// [`Error::Pace`].
pub(crate) fn check_pace() -> Result<(), Error> {
    match std::env::var(PACE) {
        Err(_) => Ok(()),
        Ok(text) if text.is_empty() => Ok(()),
        Ok(_) if !cfg!(debug_assertions) => Err(Error::Pace("only debug builds take it".to_owned())),
        Ok(text) if Pace::parse(&text).is_none() => {
            Err(Error::Pace(format!("`{text}`: write ORIGIN*TIMES, such as 1800000000000*30")))
        }
        Ok(_) => Ok(()),
    }
}

/// How long a span of [`SystemClock`] takes for whoever waits for it.
pub(crate) fn to_wait(span: Duration) -> Duration {
    pace().map_or(span, |pace| span / pace.times)
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> UnixMs {
        // A clock before 1970 is wrong by decades; zero is as wrong and harms nothing.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
        UnixMs(pace().map_or(now, |pace| pace.of(now)) / 1_000)
    }

    fn monotonic_ms(&self) -> u64 {
        static BEGAN: OnceLock<Instant> = OnceLock::new();
        let since = BEGAN.get_or_init(Instant::now).elapsed();
        let since = pace().map_or(since, |pace| since.saturating_mul(pace.times));
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
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

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn from_its_origin_on_time_passes_so_many_times_as_fast_and_is_whole_before() {
        let pace = Pace::parse("1000*30").expect("a pace");
        assert_eq!(
            [999_000, 1_000_000, 1_000_500, 3_000_000].map(|now| pace.of(now)),
            [999_000, 1_000_000, 1_015_000, 61_000_000]
        );
        for wrong in ["", "30", "*30", "1000*", "1000*0", "1000*1001", "x*2", "1000*-2"] {
            assert_eq!(Pace::parse(wrong), None, "{wrong}");
        }
    }
}
