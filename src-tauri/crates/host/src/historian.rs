//! The historian of a store that is open: when everything has been at rest for a while, it looks at what ended
//! (memory.md 4). Where it is to look, and what comes of it, is the kernel's business.

use crate::clock::{Bell, Due};
use crate::task_drivers::TaskDrivers;
use kernel::Kernel;
use model::UnixMs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

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

/// The historian. It is taken up by the clock, and looks on a thread of its own: a model that it asks takes its time, and what
/// else is due does not wait for that.
pub struct Historian {
    looks: Arc<Looks>,
    /// Rung when it has looked.
    bell: Bell,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Historian {
    /// Has seen nothing yet.
    pub fn new(kernel: Arc<Kernel>, drives: Arc<TaskDrivers>, bell: Bell) -> Self {
        let (seen, is_at_work) = (Mutex::default(), AtomicBool::new(false));
        Self { looks: Arc::new(Looks { kernel, drives, seen, is_at_work }), bell, thread: Mutex::default() }
    }

    fn is_looking(&self) -> bool {
        self.looks.is_at_work.load(Ordering::SeqCst)
    }
}

impl Drop for Historian {
    fn drop(&mut self) {
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let _ = thread.map(JoinHandle::join);
    }
}

/// What looks.
struct Looks {
    kernel: Arc<Kernel>,
    drives: Arc<TaskDrivers>,
    seen: Mutex<Seen>,
    is_at_work: AtomicBool,
}

impl Looks {
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
        let goes_on = || !self.drives.is_ending();
        for _ in 0..LOOKS_MAX {
            if !goes_on() {
                return;
            }
            match catch_unwind(AssertUnwindSafe(|| self.kernel.read_history_while(QUIET_MS, &goes_on))) {
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
        let now = self.looks.kernel.ports().clock.now();
        // It rings when it has looked.
        if self.is_looking() {
            return None;
        }
        // An instant that is over is due: the clock asks for those behind it.
        self.looks.due(now).map(|at| at.max(after.plus_ms(1)))
    }

    fn take_up(&self) {
        let now = self.looks.kernel.ports().clock.now();
        if self.is_looking() || self.looks.due(now).is_none_or(|at| at > now) {
            return;
        }
        let (looks, bell) = (Arc::clone(&self.looks), self.bell.clone());
        looks.is_at_work.store(true, Ordering::SeqCst);
        let run = move || {
            looks.look();
            looks.is_at_work.store(false, Ordering::SeqCst);
            bell.ring();
        };
        let begun = std::thread::Builder::new().name("historian".to_owned()).spawn(run);
        match begun {
            // The one before has ended.
            Ok(begun) => drop(self.thread.lock().unwrap_or_else(PoisonError::into_inner).replace(begun)),
            Err(error) => {
                tracing::warn!(%error, "the historian has no thread, and looks on the clock's");
                self.looks.look();
                self.looks.is_at_work.store(false, Ordering::SeqCst);
            }
        }
    }
}
