//! The scheduler of a store that is open: when a slot of a schedule is due, or something happens that one waits for, its task
//! begins (schedule.md 1). Which slots fire is the kernel's business.

use crate::clock::{Bell, Due};
use crate::task_drivers::TaskDrivers;
use crate::watcher::Watcher;
use kernel::command::looking::Among;
use kernel::{Error, Kernel};
use model::{TaskId, UnixMs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// How long what could not be settled or made is left alone.
const RETRY_MS: i64 = 60_000;
/// How many times as long as a look took nobody looks again: what changes all the time takes a tenth of a processor at most.
const REST: u32 = 9;

/// The scheduler. Slots are taken up by the clock; what schedules wait for is looked at beside it, because a folder may be large,
/// or on a disk that does not answer; and servers of tools beside that, because one may take its time.
pub struct Scheduler {
    kernel: Arc<Kernel>,
    drives: Arc<TaskDrivers>,
    watcher: Arc<Watcher>,
    bell: Bell,
    /// What is due all the same is not looked at before this.
    not_before: Mutex<Option<UnixMs>>,
    lookers: [Looker; 3],
}

/// Who looks at what some schedules wait for.
struct Looker {
    among: Among,
    looks: Arc<Looks>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Looks at what they wait for, one round at a time.
#[derive(Default)]
struct Looks {
    is_at_work: AtomicBool,
    /// Until when none begins.
    rests_until: Mutex<Option<UnixMs>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does it, and has the tasks driven that it answers with; whether that went well.
fn do_due(
    kernel: &Kernel,
    drives: &Arc<TaskDrivers>,
    what: impl FnOnce(&Kernel) -> Result<Vec<TaskId>, Error>,
) -> bool {
    match catch_unwind(AssertUnwindSafe(|| what(kernel))) {
        Ok(Ok(begun)) => {
            begun.into_iter().for_each(|task| drives.wake(task));
            return true;
        }
        // The boot that ends it is written, and what came due is settled then.
        Ok(Err(Error::Halted)) => {}
        Ok(Err(error)) => tracing::warn!(%error, "what is scheduled could not begin; it is tried again"),
        Err(_) => tracing::error!("the scheduler panicked; what is due is tried again"),
    }
    false
}

impl Scheduler {
    /// Has seen nothing yet. `bell`: rung when something that a schedule waits for may have changed.
    pub fn new(kernel: Arc<Kernel>, drives: Arc<TaskDrivers>, bell: Bell) -> Self {
        let watcher = Arc::new(Watcher::new(Arc::clone(&kernel), bell.clone()));
        let looker = |among| Looker { among, looks: Arc::default(), thread: Mutex::default() };
        let lookers = [Among::Others, Among::Servers, Among::Relays].map(looker);
        Self { kernel, drives, watcher, bell, not_before: Mutex::default(), lookers }
    }

    fn now(&self) -> UnixMs {
        self.kernel.ports().clock.now()
    }

    /// When something is due first: a slot, or a look at what a schedule waits for.
    fn first(&self) -> Option<UnixMs> {
        let looks = self.lookers.iter().filter_map(|looker| self.next_look(looker));
        self.kernel.next_slot().into_iter().chain(looks).min()
    }

    /// When a look begins next; none while one is under way, which says when it is over.
    fn next_look(&self, looker: &Looker) -> Option<UnixMs> {
        if looker.looks.is_at_work.load(Ordering::SeqCst) {
            return None;
        }
        let now = self.now();
        let at = match looker.among == Among::Others && self.watcher.is_outdated() {
            true => Some(now),
            false => self.kernel.next_look_among(looker.among),
        };
        // A clock that was set back does not hold it longer than that.
        let rests = lock(&looker.looks.rests_until).map(|until| until.min(now.plus_ms(RETRY_MS)));
        at.map(|at| rests.map_or(at, |until| at.max(until)))
    }

    /// Begins a look, which rings when it is over.
    fn begin_look(&self, looker: &Looker) {
        let mut thread = lock(&looker.thread);
        // It has said that it is over.
        let _ = thread.take().map(JoinHandle::join);
        looker.looks.is_at_work.store(true, Ordering::SeqCst);
        let (kernel, drives, bell) = (Arc::clone(&self.kernel), Arc::clone(&self.drives), self.bell.clone());
        let (watcher, looks, among) = (Arc::clone(&self.watcher), Arc::clone(&looker.looks), looker.among);
        let run = move || {
            let began = Instant::now();
            let went_well = do_due(&kernel, &drives, |kernel| {
                if among != Among::Others {
                    return kernel.look_due_among(among);
                }
                watcher.refresh();
                let ended = kernel.look_due_among(among);
                watcher.looked();
                ended
            });
            let took = began.elapsed().saturating_mul(REST).as_millis();
            let rest = i64::try_from(took).unwrap_or(RETRY_MS).min(RETRY_MS);
            let rest = if went_well { rest } else { RETRY_MS };
            *lock(&looks.rests_until) = Some(kernel.ports().clock.now().plus_ms(rest));
            looks.is_at_work.store(false, Ordering::SeqCst);
            bell.ring();
        };
        match std::thread::Builder::new().name("looker".to_owned()).spawn(run) {
            Ok(begun) => *thread = Some(begun),
            Err(error) => {
                tracing::warn!(%error, "there is no thread to look with; it is tried again");
                *lock(&looker.looks.rests_until) = Some(self.now().plus_ms(RETRY_MS));
                looker.looks.is_at_work.store(false, Ordering::SeqCst);
            }
        }
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        // A server that does not answer holds up no end.
        self.kernel.end_looks();
        for looker in &self.lookers {
            let _ = lock(&looker.thread).take().map(JoinHandle::join);
        }
    }
}

impl Due for Scheduler {
    fn next_due(&self, _: UnixMs) -> Option<UnixMs> {
        // One that is over is due at once: it was missed.
        let at = self.first()?;
        let held = *lock(&self.not_before);
        // A clock that was set back does not hold it longer than that.
        let held = held.map(|until| until.min(self.now().plus_ms(RETRY_MS)));
        Some(held.map_or(at, |until| at.max(until)))
    }

    fn take_up(&self) {
        // What is due at once is due at the time when it was asked for, which is later than any that was read before.
        let is_due = |at: UnixMs| at <= self.now();
        if self.drives.is_ending() {
            return;
        }
        for looker in &self.lookers {
            if self.next_look(looker).is_some_and(is_due) {
                self.begin_look(looker);
            }
        }
        if self.kernel.next_slot().is_some_and(is_due) {
            do_due(&self.kernel, &self.drives, Kernel::fire_due);
        }
        let left = self.first().is_some_and(is_due);
        let until = left.then(|| self.now().plus_ms(RETRY_MS));
        *lock(&self.not_before) = until;
    }
}
