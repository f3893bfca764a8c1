//! Which head of the global log covers an event, and what a head of it covers.

use crate::reads::{CHECKPOINT, checkpoint};
use crate::rows::{Id, count, int};
use crate::{Checkpoint, Error, Reader, severed};
use model::TaskId;
use rusqlite::{Params, params};
use seal::Digest;

impl Reader {
    /// The newest checkpoint of a task among the first `notes` of the global log.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn task_checkpoint_within(&self, task: TaskId, notes: u64) -> Result<Option<Checkpoint>, Error> {
        let tail = "WHERE kind = 'task' AND task_id = ?1 AND leaf_index < ?2 ORDER BY leaf_index DESC";
        self.first_of(Some(task), tail, params![Id::from(task), int(notes)])
    }

    /// The first checkpoint of a task at exactly this many events: after a rotation of keys the same head is signed once more.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn task_checkpoint_first(&self, task: TaskId, size: u64) -> Result<Option<Checkpoint>, Error> {
        let tail = "WHERE kind = 'task' AND task_id = ?1 AND size = ?2 ORDER BY leaf_index";
        self.first_of(Some(task), tail, params![Id::from(task), int(size)])
    }

    /// The head of the global log at exactly so many notes whose signed note has this digest: a rotation of keys signs one again.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn global_checkpoint_of(&self, size: u64, note_sha256: Digest) -> Result<Option<Checkpoint>, Error> {
        let text = format!("{CHECKPOINT} WHERE kind = 'global' AND task_id IS NULL AND size = ?1");
        self.read("reading a checkpoint", |conn| {
            let mut found = conn.prepare_cached(&text)?;
            let mut rows = found.query(params![int(size)])?;
            while let Some(row) = rows.next()? {
                let made = checkpoint(row, self.log_id())?;
                if Digest::of(&made.note) == note_sha256 {
                    return Ok(Some(made));
                }
            }
            Ok(None)
        })
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
        let tail = "WHERE kind = 'task' AND task_id = ?1 AND size >= ?2 ORDER BY size, checkpoint_seq";
        let first = self.first_of(Some(task), tail, params![Id::from(task), int(task_seq)])?;
        let Some(leaf) = first.and_then(|first| first.leaf_index) else { return Ok(None) };
        let tail =
            "WHERE kind = 'global' AND task_id IS NULL AND size > ?1 ORDER BY size, checkpoint_seq LIMIT 1";
        self.first_of(None, tail, params![int(leaf)])
    }

    /// The first of these that still says what stands: one that signed for rows that were severed since does not.
    fn first_of(
        &self,
        task: Option<TaskId>,
        tail: &str,
        values: impl Params,
    ) -> Result<Option<Checkpoint>, Error> {
        let known = if task.is_some() { self.severed()? } else { Vec::new() };
        let text = format!("{CHECKPOINT} {tail}");
        self.read("reading a checkpoint", |conn| {
            let mut found = conn.prepare_cached(&text)?;
            let mut rows = found.query(values)?;
            while let Some(row) = rows.next()? {
                let made = checkpoint(row, self.log_id())?;
                if severed::stands(&known, task, made.size, count(row.get(7)?)) {
                    return Ok(Some(made));
                }
            }
            Ok(None)
        })
    }
}
