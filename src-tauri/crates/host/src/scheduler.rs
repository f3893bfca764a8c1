//! The scheduler of a store that is open: when a slot of a schedule is due, its task begins (schedule.md 1). Which slots fire
//! is the kernel's business.

use crate::clock::Due;
use crate::task_drivers::TaskDrivers;
use kernel::Kernel;
use model::UnixMs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// How long what could not be settled or made is left alone.
const RETRY_MS: i64 = 60_000;

/// The scheduler; it has no thread of its own, and is taken up by the clock.
pub struct Scheduler {
    kernel: Arc<Kernel>,
    drives: Arc<TaskDrivers>,
    /// What is due all the same is not looked at before this.
    not_before: Mutex<Option<UnixMs>>,
}

impl Scheduler {
    /// Has seen nothing yet.
    pub fn new(kernel: Arc<Kernel>, drives: Arc<TaskDrivers>) -> Self {
        Self { kernel, drives, not_before: Mutex::default() }
    }

    fn now(&self) -> UnixMs {
        self.kernel.ports().clock.now()
    }
}

impl Due for Scheduler {
    fn next_due(&self, _: UnixMs) -> Option<UnixMs> {
        // One that is over is due at once: it was missed.
        let at = self.kernel.next_slot()?;
        let held = *self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back does not hold it longer than that.
        let held = held.map(|until| until.min(self.now().plus_ms(RETRY_MS)));
        Some(held.map_or(at, |until| at.max(until)))
    }

    fn take_up(&self) {
        let now = self.now();
        if self.drives.is_ending() || self.kernel.next_slot().is_none_or(|at| at > now) {
            return;
        }
        match catch_unwind(AssertUnwindSafe(|| self.kernel.fire_due())) {
            Ok(Ok(begun)) => begun.into_iter().for_each(|task| self.drives.wake(task)),
            // The boot that ends it is written, and what came due is settled then.
            Ok(Err(kernel::Error::Halted)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "what is scheduled could not begin; it is tried again"),
            Err(_) => tracing::error!("the scheduler panicked; what is due is tried again"),
        }
        let left = self.kernel.next_slot().is_some_and(|at| at <= now);
        let until = left.then(|| now.plus_ms(RETRY_MS));
        *self.not_before.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}
