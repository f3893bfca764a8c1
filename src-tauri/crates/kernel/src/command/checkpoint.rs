//! Signed tree heads: when a task ends, at every export, and when asked (proof.md 2).

use crate::Error;
use crate::kernel::{Kernel, lock};
use ledger::Checkpoint;
use model::body::CheckpointSigned;
use model::event::Draft;
use model::principal::PrincipalType;
use model::{Body, EventId, TaskId};
use seal::Digest;

impl Kernel {
    /// Signs the trees of these tasks, the gate's and the global one.
    ///
    /// # Errors
    /// [`Error::KeyLocked`] without the log key.
    pub fn checkpoint(&self, tasks: &[TaskId]) -> Result<Vec<Checkpoint>, Error> {
        let signer = self.ports.keys.log().ok_or(Error::KeyLocked("log"))?;
        let (now, entropy) = (self.ports.clock.now(), &*self.ports.entropy);
        let actor = self.actor(PrincipalType::System)?;
        let system = lock(&self.store).system_task()?;
        let mut plain = Vec::new();
        let (made, committed) = self.writer.checkpoint(tasks, &*signer, now, |made, batch| {
            // A tree without anything new keeps its note; only new notes are events.
            for checkpoint in made.iter().filter(|c| c.made_at == now) {
                batch.drafts.push(Draft {
                    event_id: EventId::fresh(&*self.ports.clock, entropy),
                    task_id: system,
                    step_id: None,
                    attempt_id: None,
                    occurred_at: now,
                    actor,
                    body: Body::CheckpointSigned(CheckpointSigned {
                        origin: checkpoint.origin.clone(),
                        size: checkpoint.size,
                        root: checkpoint.root,
                        note_sha256: Digest::of(&checkpoint.note),
                        about_task_id: checkpoint.task_id,
                    }),
                    causation_id: None,
                    correlation_id: self.session.clone(),
                    idempotency_key: None,
                    workspace_id: None,
                });
            }
            plain.extend(batch.drafts.iter().map(|d| d.body.clone()));
        })?;
        self.take_note(Some(system), &committed.placed, &plain);
        Ok(made)
    }

    /// As [`Kernel::checkpoint`], where a missing key is no failure: the next export makes up for it. What a clock answered in that
    /// task is put on record first.
    pub(crate) fn checkpoint_after(&self, task_id: TaskId) {
        self.settle_anchor_of(task_id);
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
