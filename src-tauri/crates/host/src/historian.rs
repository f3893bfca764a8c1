//! The historian of a store that is open: when everything has been at rest for a while, it looks at what ended
//! (memory.md 4). Where it is to look, and what comes of it, is the kernel's business.

use crate::clock::Due;
use crate::task_drivers::TaskDrivers;
use kernel::Kernel;
use model::UnixMs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// How long nothing is written before it looks, and how long a project has been at rest.
const QUIET_MS: i64 = 2 * 60 * 1000;
/// Looks of one time; what is left then comes with the next.
const LOOKS_MAX: usize = 8;

/// What it has seen of the log.
#[derive(Default)]
struct Seen {
    /// The end of the log, and since when it has been the end.
    head: Option<(u64, UnixMs)>,
    /// Up to where it has looked.
    looked: u64,
}

/// The historian; it has no thread of its own, and is taken up by the clock.
pub struct Historian {
    kernel: Arc<Kernel>,
    drives: Arc<TaskDrivers>,
    seen: Mutex<Seen>,
}

impl Historian {
    /// Has seen nothing yet.
    pub fn new(kernel: Arc<Kernel>, drives: Arc<TaskDrivers>) -> Self {
        Self { kernel, drives, seen: Mutex::default() }
    }

    /// When it looks next; none where nothing was written since it looked.
    fn due(&self, now: UnixMs) -> Option<UnixMs> {
        let head = self.kernel.reader().log_head().ok()?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.looked == head {
            return None;
        }
        let since = match seen.head {
            Some((at, since)) if at == head && since <= now => since,
            _ => now,
        };
        seen.head = Some((head, since));
        Some(since.plus_ms(QUIET_MS))
    }

    fn look(&self) {
        let mut more = true;
        for _ in 0..LOOKS_MAX {
            if self.drives.is_ending() {
                return;
            }
            match catch_unwind(AssertUnwindSafe(|| self.kernel.read_history(QUIET_MS))) {
                Ok(Ok(looked)) => {
                    tracing::debug!(?looked, "the historian has looked at what ended");
                    looked.task_id.into_iter().for_each(|task| self.drives.wake(task));
                    more = looked.more;
                }
                // The boot that ends it is written, and looked at then.
                Ok(Err(kernel::Error::Halted)) => more = false,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the historian could not look; it does when more has happened");
                    more = false;
                }
                Err(_) => {
                    tracing::error!("the historian panicked; it looks again when more has happened");
                    more = false;
                }
            }
            if !more {
                break;
            }
        }
        // What is left is looked at when its time has come again, whether anything is written until then or not.
        if more {
            return;
        }
        if let Ok(head) = self.kernel.reader().log_head() {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).looked = head;
        }
    }
}

impl Due for Historian {
    fn next_due(&self, after: UnixMs) -> Option<UnixMs> {
        // An instant that is over is due: the clock asks for those behind it.
        self.due(self.kernel.ports().clock.now()).map(|at| at.max(after.plus_ms(1)))
    }

    fn take_up(&self) {
        let now = self.kernel.ports().clock.now();
        if self.due(now).is_some_and(|at| at <= now) {
            self.look();
        }
    }
}
