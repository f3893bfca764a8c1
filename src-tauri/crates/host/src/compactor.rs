//! The thread that sums up the oldest turns of tasks whose context has become full, beside the tasks' own threads
//! (HV-3.2-4).

use crate::Error;
use crate::notices::Notices;
use kernel::Kernel;
use model::TaskId;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

/// Tasks that wait to be looked at; one that finds no room comes again with its next turn.
const WAITING_MAX: usize = 256;

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
    while let Ok(first) = receive.recv() {
        let tasks: BTreeSet<TaskId> = std::iter::once(first).chain(receive.try_iter()).collect();
        for task in tasks {
            if is_over.load(Ordering::SeqCst) {
                return;
            }
            match catch_unwind(AssertUnwindSafe(|| kernel.compact(task, false))) {
                Ok(Ok(None)) => {}
                Ok(Ok(Some(made))) => {
                    tracing::debug!(%task, through = made.through, lines = made.lines, "a context is compacted");
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
