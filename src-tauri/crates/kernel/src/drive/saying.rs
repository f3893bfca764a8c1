//! What is said while it is said: each piece with the asking that it answers and with its place there, so that whoever listens
//! joins what it was told with what it hears, each piece once, and never the words of two askings. Never truth.

use crate::kernel::{Cell, Kernel};
use crate::ports::Notice;
use model::TaskId;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of one host: the next one, whose epoch is higher, counts on above them. A page counts up to 2^53.
const OF_ONE_HOST: u64 = 1 << 24;

/// An answer that comes in, from the asking on until this is dropped.
pub(super) struct Saying<'k> {
    kernel: &'k Kernel,
    cell: &'k Cell,
    task_id: TaskId,
    asking: u64,
    said: AtomicU64,
    thought: AtomicU64,
}

impl<'k> Saying<'k> {
    /// Somebody is asked now.
    pub(super) fn begin(kernel: &'k Kernel, cell: &'k Cell, task_id: TaskId) -> Self {
        let count = kernel.askings.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        let asking = kernel.writer.epoch().saturating_mul(OF_ONE_HOST).saturating_add(count);
        cell.asking.store(asking, Ordering::SeqCst);
        Self { kernel, cell, task_id, asking, said: AtomicU64::new(0), thought: AtomicU64::new(0) }
    }

    /// A piece of the answer came.
    pub(super) fn says(&self, text: String) {
        if text.is_empty() {
            return;
        }
        let from = self.said.fetch_add(units(&text), Ordering::SeqCst);
        let (task_id, asking) = (self.task_id, self.asking);
        self.kernel.ports.observer.notice(Notice::Delta { task_id, asking, from, text });
    }

    /// A piece of what is reasoned came.
    pub(super) fn thinks(&self, text: String) {
        if text.is_empty() {
            return;
        }
        let from = self.thought.fetch_add(units(&text), Ordering::SeqCst);
        let (task_id, asking) = (self.task_id, self.asking);
        self.kernel.ports.observer.notice(Notice::Reasoning { task_id, asking, from, text });
    }
}

impl Drop for Saying<'_> {
    fn drop(&mut self) {
        // A task is driven once at a time, so this is the one that is there.
        self.cell.asking.store(0, Ordering::SeqCst);
    }
}

/// How long a text is, as pages count.
fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}
