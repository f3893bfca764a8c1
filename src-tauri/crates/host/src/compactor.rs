//! The thread that sums up the oldest turns of tasks whose context has become full, beside the tasks' own threads
//! (HV-3.2-4), and has a model of this machine put such a summary in fewer words while nothing is at work.

use crate::Error;
use crate::notices::Notices;
use kernel::Kernel;
use model::TaskId;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Tasks that wait to be looked at; one that finds no room comes again with its next turn.
const WAITING_MAX: usize = 256;
/// How long no context is compiled before a model is asked about a summary.
const QUIET: Duration = Duration::from_secs(3);

/// The thread; dropped, it ends after the summary in hand.
pub struct Compactor {
    notices: Arc<Notices>,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Compactor {
    /// Looks from now on at each task whose context was compiled.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn begin(kernel: Arc<Kernel>, notices: Arc<Notices>) -> Result<Self, Error> {
        let (send, receive) = sync_channel(WAITING_MAX);
        let thread = std::thread::Builder::new().name("compactor".to_owned());
        let closing = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&closing);
        let thread = thread.spawn(move || run(&kernel, &receive, &is_over));
        let thread = thread.map_err(|e| Error::io("start", Path::new("the compactor's thread"), &e))?;
        notices.tell_of_contexts(Some(send));
        Ok(Self { notices, closing, thread: Some(thread) })
    }
}

impl Drop for Compactor {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        self.notices.tell_of_contexts(None);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn run(kernel: &Kernel, receive: &Receiver<TaskId>, is_over: &AtomicBool) {
    // Tasks that have a new summary, which no model was asked about.
    let mut summed_up: BTreeSet<TaskId> = BTreeSet::new();
    loop {
        let first = match next(receive, !summed_up.is_empty()) {
            Ok(first) => first,
            Err(RecvTimeoutError::Timeout) => {
                let asked = summed_up.pop_first().map(|task| retell(kernel, task, is_over));
                // Something was at work meanwhile: it is asked when that rests.
                summed_up.extend(asked.flatten());
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let tasks: BTreeSet<TaskId> = std::iter::once(first).chain(receive.try_iter()).collect();
        for task in tasks {
            if is_over.load(Ordering::SeqCst) {
                return;
            }
            match catch_unwind(AssertUnwindSafe(|| kernel.compact(task, false))) {
                Ok(Ok(None)) => {}
                Ok(Ok(Some(made))) => {
                    tracing::debug!(%task, through = made.through, lines = made.lines, "a context is compacted");
                    summed_up.insert(task);
                }
                Ok(Err(error)) => {
                    tracing::warn!(%task, %error, "a context was not compacted; its oldest turns are left out as before")
                }
                Err(_) => {
                    tracing::error!(%task, "compacting a context panicked; its oldest turns are left out as before")
                }
            }
        }
    }
}

/// The next task whose context was compiled; where something is left to do, only until it has been quiet for a while.
fn next(receive: &Receiver<TaskId>, is_left: bool) -> Result<TaskId, RecvTimeoutError> {
    match is_left {
        true => receive.recv_timeout(QUIET),
        false => receive.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
}

/// Has a model asked about the summary of a task; the task again, where it is to be asked later.
fn retell(kernel: &Kernel, task: TaskId, is_over: &AtomicBool) -> Option<TaskId> {
    if !kernel.is_idle() {
        return Some(task);
    }
    let goes_on = || !is_over.load(Ordering::SeqCst);
    match catch_unwind(AssertUnwindSafe(|| kernel.retell(task, &goes_on))) {
        // It was left off from.
        Ok(Ok(None)) if !kernel.is_idle() => return Some(task),
        Ok(Ok(None)) => {}
        Ok(Ok(Some(made))) => tracing::debug!(%task, lines = made.lines, "a summary is in fewer words"),
        Ok(Err(error)) => tracing::warn!(%task, %error, "a summary stays as it was"),
        Err(_) => tracing::error!(%task, "asking a model about a summary panicked; it stays as it was"),
    }
    None
}
