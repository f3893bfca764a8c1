//! Roots of state of a store that is open: stated and signed when something was written since, a while later, and when
//! the store is closed (HV-3.6-1). What changed is the kernel's business.

use crate::clock::Due;
use kernel::Kernel;
use model::UnixMs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// The longest time between what is written and its root, while a store is open.
pub const EVERY_MS: i64 = 5 * 60 * 1000;

/// What it has seen of the log.
#[derive(Default)]
struct Seen {
    /// The end of the log up to which all roots are stated.
    head: Option<u64>,
    /// Since when there is more behind it, or when stating it last failed.
    since: Option<UnixMs>,
}

/// States roots; it has no thread of its own, and is taken up by the clock.
pub struct StateRoots {
    kernel: Arc<Kernel>,
    seen: Mutex<Seen>,
}

impl StateRoots {
    /// Has seen nothing yet.
    pub fn new(kernel: Arc<Kernel>) -> Self {
        Self { kernel, seen: Mutex::default() }
    }

    /// When roots are stated next; none where nothing was written since they were.
    fn due(&self, now: UnixMs) -> Option<UnixMs> {
        let head = self.kernel.reader().log_head().ok()?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.head == Some(head) {
            return None;
        }
        // A clock that was set back begins the wait anew.
        let since = seen.since.filter(|since| *since <= now).unwrap_or(now);
        seen.since = Some(since);
        Some(since.plus_ms(EVERY_MS))
    }
}

impl Due for StateRoots {
    fn next_due(&self, after: UnixMs) -> Option<UnixMs> {
        self.due(self.kernel.ports().clock.now()).map(|at| at.max(after.plus_ms(1)))
    }

    fn take_up(&self) {
        let now = self.kernel.ports().clock.now();
        if self.due(now).is_none_or(|at| at > now) {
            return;
        }
        // What is written meanwhile is behind it: the event itself, too, after which one more look finds nothing new.
        let before = self.kernel.reader().log_head().ok();
        let whole = state(&self.kernel);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = match whole {
            true => Seen { head: before, since: None },
            false => Seen { head: seen.head, since: Some(self.kernel.ports().clock.now()) },
        };
    }
}

/// States and signs what changed; whether that is all. What cannot be is told, and tried again a while later.
pub fn state(kernel: &Kernel) -> bool {
    match catch_unwind(AssertUnwindSafe(|| kernel.state_roots())) {
        Ok(Ok(stated)) => {
            tracing::debug!(events = stated.events, more = stated.more, "roots of state are stated");
            !stated.more
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "no roots of state were stated; that is tried again in a while");
            false
        }
        Err(_) => {
            tracing::error!("stating roots panicked; that is tried again in a while");
            false
        }
    }
}

#[cfg(test)]
mod tests;
