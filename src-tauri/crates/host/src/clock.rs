//! The clock of a store that is open: one thread that sleeps until something is due, and takes it up then.
//!
//! Approvals lapse and deadlines pass by time alone, with nobody calling. Whatever has such instants is a [`Due`].
//! Nothing is looked at between them but once in a long while, so that a host at rest costs nothing.

use model::{Clock, UnixMs};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the clock sleeps at most. It also bounds how late a machine that slept is noticed: a thread's sleep does not
/// count the time that the machine was suspended.
const SLEEP_MS_MAX: u64 = 5 * 60 * 1000;
/// How far the two clocks may part from each other before time has jumped: the machine slept, or its clock was set.
const JUMP_MS_MIN: u64 = 2_000;

/// Something that is to be taken up at instants of its own.
pub trait Due: Send + Sync {
    /// The first instant after this one at which it is due; none while there is no such instant.
    fn next_due(&self, after: UnixMs) -> Option<UnixMs>;

    /// Takes up what can go on.
    fn take_up(&self);
}

/// Why everything was taken up, or what was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Due,
    Jump,
    LongSleep,
}

#[derive(Default)]
struct Said {
    /// What is due may have changed.
    rung: bool,
    closing: bool,
}

/// Wakes the clock: what is due may have changed.
#[derive(Clone, Default)]
pub struct Bell(Arc<(Mutex<Said>, Condvar)>);

impl Bell {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the clock to look anew at what is due. Does not wait for it.
    pub fn ring(&self) {
        self.said().rung = true;
        self.0.1.notify_all();
    }

    /// Sleeps until it is rung or this much time has gone by; whether the clock goes on.
    fn sleep(&self, time: Duration) -> bool {
        let slept = self.0.1.wait_timeout_while(self.said(), time, |said| !said.rung && !said.closing);
        let mut said = slept.unwrap_or_else(PoisonError::into_inner).0;
        said.rung = false;
        !said.closing
    }
}

/// The clock's thread; dropped, it ends, and takes nothing up any more.
pub struct Timer {
    bell: Bell,
    thread: Option<JoinHandle<()>>,
}

impl Timer {
    /// Begins, with what it wakes. What was due before is not its business: whoever opens a store takes that up.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn begin(
        bell: Bell,
        clock: Arc<dyn Clock>,
        sources: Vec<Arc<dyn Due>>,
    ) -> Result<Self, crate::Error> {
        let mut watch = Watch::new(&*clock);
        let ear = bell.clone();
        let run = move || {
            loop {
                let (_, sleep) = watch.look(&*clock, &sources);
                if !ear.sleep(crate::chance::to_wait(sleep)) {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("clock".to_owned()).spawn(run);
        let thread = thread.map_err(|e| crate::Error::io("start", Path::new("the clock's thread"), &e))?;
        Ok(Self { bell, thread: Some(thread) })
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.bell.said().closing = true;
        self.bell.0.1.notify_all();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// What the clock has seen of time.
struct Watch {
    wall: UnixMs,
    counted: u64,
    /// What was due until then has been taken up: a task that cannot go on yet is not asked again at once.
    taken: UnixMs,
    /// When everything was last taken up, or the clock began.
    round: u64,
}

impl Watch {
    fn new(clock: &dyn Clock) -> Self {
        let (wall, counted) = (clock.now(), clock.monotonic_ms());
        Self { wall, counted, taken: wall, round: counted }
    }

    /// Takes up what is due now; why, and how long nothing else is.
    fn look(&mut self, clock: &dyn Clock, sources: &[Arc<dyn Due>]) -> (Option<Cause>, Duration) {
        let (wall, counted) = (clock.now(), clock.monotonic_ms());
        let cause = self.cause(wall, counted);
        // An instant that a clock ran ahead to was taken up then, and comes again.
        self.taken = self.taken.min(wall);
        let asked = |source: &Arc<dyn Due>| match cause {
            Some(_) => Some(wall),
            None => source.next_due(self.taken),
        };
        let instants: Vec<Option<UnixMs>> = sources.iter().map(asked).collect();
        // What is due at once is due at the time when it was asked for, which is later than what was read before.
        let now = clock.now();
        let (mut due, mut later) = (Vec::new(), Vec::new());
        for (source, instant) in sources.iter().zip(instants) {
            match instant {
                Some(instant) if instant <= now => due.push(source),
                // Nothing of it lies between what was taken up and now, so its next instant is known.
                instant => later.extend(instant),
            }
        }
        due.iter().for_each(|source| source.take_up());
        let next = later.into_iter().chain(due.iter().filter_map(|source| source.next_due(now))).min();
        let cause = cause.or((!due.is_empty()).then_some(Cause::Due));
        if let Some(cause) = cause {
            tracing::debug!(?cause, "what can go on is taken up");
            self.taken = now;
        }
        (self.wall, self.counted) = (wall, counted);
        if matches!(cause, Some(Cause::Jump | Cause::LongSleep)) {
            self.round = counted;
        }
        let until = next
            .map_or(u64::MAX, |instant| u64::try_from(instant.0.saturating_sub(now.0)).unwrap_or(0).max(1));
        let awake = SLEEP_MS_MAX.saturating_sub(counted.saturating_sub(self.round)).max(1);
        (cause, Duration::from_millis(until.min(awake)))
    }

    /// Why everything is taken up, whatever is due.
    fn cause(&self, wall: UnixMs, counted: u64) -> Option<Cause> {
        let elapsed = i64::try_from(counted.saturating_sub(self.counted)).unwrap_or(i64::MAX);
        if wall.0.abs_diff(self.wall.plus_ms(elapsed).0) >= JUMP_MS_MIN {
            return Some(Cause::Jump);
        }
        (counted.saturating_sub(self.round) >= SLEEP_MS_MAX).then_some(Cause::LongSleep)
    }
}

#[cfg(test)]
mod tests;
