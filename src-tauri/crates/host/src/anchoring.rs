//! Anchors of a store that is open, as far as time has a part in them: what is pending is asked about again, and heads are anchored
//! by themselves where a person set that (mesh.md 3). What is due is the kernel's business; with nothing set and nothing pending
//! nothing is due. It has no thread of its own, and is taken up by the clock.

use crate::clock::Due;
use crate::task_drivers::TaskDrivers;
use crate::{Config, Home};
use kernel::command::anchors::AnchorTerms;
use kernel::{Error, Kernel};
use model::UnixMs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// How long what could not be begun is left alone.
const RETRY_MS: i64 = 60_000;

/// Takes up what is due of anchors.
pub struct Anchoring {
    home: Home,
    kernel: Arc<Kernel>,
    drives: Arc<TaskDrivers>,
    /// What is due all the same is not looked at before this.
    not_before: Mutex<Option<UnixMs>>,
}

impl Anchoring {
    /// Has seen nothing yet.
    pub fn new(home: Home, kernel: Arc<Kernel>, drives: Arc<TaskDrivers>) -> Self {
        Self { home, kernel, drives, not_before: Mutex::default() }
    }

    /// Which clocks are set; none where nothing is, and nothing is open.
    fn terms(&self) -> Option<AnchorTerms> {
        let settings = Config::in_force(&self.home).anchors;
        let is_idle = settings.every_hours.is_none() && self.kernel.anchor_registry().all().next().is_none();
        (!is_idle).then(|| settings.terms())
    }
}

impl Due for Anchoring {
    fn next_due(&self, _: UnixMs) -> Option<UnixMs> {
        let at = self.kernel.next_anchor(&self.terms()?).unwrap_or_else(|error| {
            tracing::warn!(%error, "what is due of anchors cannot be read; it is looked at again later");
            None
        })?;
        let now = self.kernel.ports().clock.now();
        let held = *self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back does not hold it longer than that.
        let held = held.map(|until| until.min(now.plus_ms(RETRY_MS)));
        Some(held.map_or(at, |until| at.max(until)))
    }

    fn take_up(&self) {
        let now = self.kernel.ports().clock.now();
        let Some(terms) = self.terms().filter(|_| !self.drives.is_ending()) else { return };
        if self.next_due(now).is_none_or(|at| at > now) {
            return;
        }
        match catch_unwind(AssertUnwindSafe(|| self.kernel.anchors_due(&terms))) {
            Ok(Ok(begun)) => begun.into_iter().for_each(|task| self.drives.wake(task)),
            // The boot that ends it is written, and what came due is begun then.
            Ok(Err(Error::Halted)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "an anchor could not go on; it is tried again"),
            Err(_) => tracing::error!("anchoring panicked; what is due is tried again"),
        }
        *self.not_before.lock().unwrap_or_else(PoisonError::into_inner) = Some(now.plus_ms(RETRY_MS));
    }
}
