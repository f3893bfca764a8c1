//! Signed tree heads: when a task ends, at every export, and when asked (proof.md 2).

use crate::kernel::{Kernel, lock};
use crate::Error;
use ledger::Checkpoint;
use model::TaskId;

impl Kernel {
    /// Signs the trees of these tasks, the gate's and the global one.
    ///
    /// # Errors
    /// [`Error::KeyLocked`] without the log key.
    pub fn checkpoint(&self, tasks: &[TaskId]) -> Result<Vec<Checkpoint>, Error> {
        let signer = self.ports.keys.log().ok_or(Error::KeyLocked("log"))?;
        let (made, _) = self.writer.checkpoint(tasks, &*signer, self.ports.clock.now(), |_, _| {})?;
        Ok(made)
    }

    /// As [`Kernel::checkpoint`], where a missing key is no failure: the next export makes up for it.
    pub(crate) fn checkpoint_after(&self, task_id: TaskId) {
        if self.ports.keys.log().is_none() {
            return;
        }
        if let Err(error) = self.checkpoint(&[task_id]) {
            tracing::warn!(task = %task_id, %error, "no checkpoint at the end of the task");
        }
    }

    /// Lets go of what is in memory of a task; it is folded again from the log when it is needed.
    pub fn forget(&self, task_id: TaskId) {
        lock(&self.tasks).remove(&task_id);
    }
}
