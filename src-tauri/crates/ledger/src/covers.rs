//! Which head of the global log covers an event, and what a head of it covers.

use crate::reads::{CHECKPOINT, checkpoint};
use crate::rows::{Id, int};
use crate::{Checkpoint, Error, Reader};
use model::TaskId;
use rusqlite::{OptionalExtension, Params, params};

impl Reader {
    /// The newest checkpoint of a task among the first `notes` of the global log.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn task_checkpoint_within(&self, task: TaskId, notes: u64) -> Result<Option<Checkpoint>, Error> {
        self.first_of(
            "WHERE kind = 'task' AND task_id = ?1 AND leaf_index < ?2 ORDER BY leaf_index DESC LIMIT 1",
            params![Id::from(task), int(notes)],
        )
    }

    /// The oldest head of the global log that covers this event of a task.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn global_checkpoint_covering(
        &self,
        task: TaskId,
        task_seq: u64,
    ) -> Result<Option<Checkpoint>, Error> {
        let first = self.first_of(
            "WHERE kind = 'task' AND task_id = ?1 AND size >= ?2 ORDER BY size, checkpoint_seq LIMIT 1",
            params![Id::from(task), int(task_seq)],
        )?;
        let Some(leaf) = first.and_then(|first| first.leaf_index) else { return Ok(None) };
        self.first_of(
            "WHERE kind = 'global' AND task_id IS NULL AND size > ?1 ORDER BY size, checkpoint_seq LIMIT 1",
            params![int(leaf)],
        )
    }

    fn first_of(&self, tail: &str, values: impl Params) -> Result<Option<Checkpoint>, Error> {
        let text = format!("{CHECKPOINT} {tail}");
        self.read("reading a checkpoint", |conn| {
            conn.prepare_cached(&text)?.query_row(values, |row| checkpoint(row, self.log_id())).optional()
        })
    }
}
