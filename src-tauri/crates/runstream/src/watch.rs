//! Waiting for more: a reader that has caught up sleeps here until something was written.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Tells when the journal of this process has grown. Holds nothing of any run, so losing it loses nothing (RA-2-2).
#[derive(Debug, Clone, Default)]
pub struct Watch(Arc<(Mutex<u64>, Condvar)>);

impl Watch {
    /// How often something was written so far. Take it before reading, then [`Watch::wait`] for more than it.
    pub fn count(&self) -> u64 {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until more was written than `seen`, at most `patience`; answers the count then.
    pub fn wait(&self, seen: u64, patience: Duration) -> u64 {
        let guard = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        match self.0.1.wait_timeout_while(guard, patience, |count| *count <= seen) {
            Ok((count, _)) => *count,
            Err(poisoned) => *poisoned.into_inner().0,
        }
    }

    pub(crate) fn tell(&self) {
        let mut count = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_add(1);
        self.0.1.notify_all();
    }
}
