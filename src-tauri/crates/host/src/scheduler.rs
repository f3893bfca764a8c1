//! The scheduler of a store that is open: when a slot of a schedule is due, or something happens that one waits for, its task
//! begins (schedule.md 1). Which slots fire is the kernel's business.

use crate::clock::{Bell, Due};
use crate::task_drivers::TaskDrivers;
use crate::watcher::Watcher;
use kernel::{Error, Kernel};
use model::{TaskId, UnixMs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// How long what could not be settled or made is left alone.
const RETRY_MS: i64 = 60_000;

/// The scheduler; it has no thread of its own, and is taken up by the clock.
pub struct Scheduler {
    kernel: Arc<Kernel>,
    drives: Arc<TaskDrivers>,
    watcher: Watcher,
    /// What is due all the same is not looked at before this.
    not_before: Mutex<Option<UnixMs>>,
}

impl Scheduler {
    /// Has seen nothing yet. `bell`: rung when something that a schedule waits for may have changed.
    pub fn new(kernel: Arc<Kernel>, drives: Arc<TaskDrivers>, bell: Bell) -> Self {
        let watcher = Watcher::new(Arc::clone(&kernel), bell);
        Self { kernel, drives, watcher, not_before: Mutex::default() }
    }

    fn now(&self) -> UnixMs {
        self.kernel.ports().clock.now()
    }

    /// When something is due first: a slot, or a look at what a schedule waits for.
    fn first(&self) -> Option<UnixMs> {
        self.kernel.next_slot().into_iter().chain(self.kernel.next_look()).min()
    }

    /// Does it, and has the tasks driven that it answers with.
    fn do_due(&self, what: impl FnOnce(&Kernel) -> Result<Vec<TaskId>, Error>) {
        match catch_unwind(AssertUnwindSafe(|| what(&self.kernel))) {
            Ok(Ok(begun)) => begun.into_iter().for_each(|task| self.drives.wake(task)),
            // The boot that ends it is written, and what came due is settled then.
            Ok(Err(Error::Halted)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "what is scheduled could not begin; it is tried again"),
            Err(_) => tracing::error!("the scheduler panicked; what is due is tried again"),
        }
    }
}

impl Due for Scheduler {
    fn next_due(&self, _: UnixMs) -> Option<UnixMs> {
        self.watcher.refresh();
        // One that is over is due at once: it was missed.
        let at = self.first()?;
        let held = *self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back does not hold it longer than that.
        let held = held.map(|until| until.min(self.now().plus_ms(RETRY_MS)));
        Some(held.map_or(at, |until| at.max(until)))
    }

    fn take_up(&self) {
        let now = self.now();
        if self.drives.is_ending() {
            return;
        }
        if self.kernel.next_look().is_some_and(|at| at <= now) {
            self.watcher.refresh();
            self.do_due(Kernel::look_due);
            self.watcher.looked();
        }
        if self.kernel.next_slot().is_some_and(|at| at <= now) {
            self.do_due(Kernel::fire_due);
        }
        let left = self.first().is_some_and(|at| at <= now);
        let until = left.then(|| now.plus_ms(RETRY_MS));
        *self.not_before.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}
