//! Signed tree heads: of a task, of the gate, of the global log over both (proof.md 2).

use crate::batch::{Batch, Committed};
use crate::writer::Writer;
use crate::{Error, tree};
use model::fault::Point;
use model::{TaskId, UnixMs};
use rusqlite::Connection;
use seal::merkle::{Frontier, leaf_hash};
use seal::note::VerifierKey;
use seal::{Digest, Signer};
pub use words::store::CheckpointKind;

/// A signed tree head, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which tree.
    pub kind: CheckpointKind,
    /// The task, for [`CheckpointKind::Task`].
    pub task_id: Option<TaskId>,
    /// Name of the log: `hermit.local/<log-id>`, and `/task/<task_id>` or `/gate` behind it.
    pub origin: String,
    /// Number of leaves.
    pub size: u64,
    /// Root at that size.
    pub root: Digest,
    /// Its own place among the global log's leaves; none for the global one.
    pub leaf_index: Option<u64>,
    /// When it was made.
    pub made_at: UnixMs,
    /// The signed note, as passed on.
    pub note: Vec<u8>,
}

/// A checkpoint on its way into the ledger, with the frontier that lets the next one start where it ends.
#[derive(Debug, Clone)]
pub struct NewCheckpoint {
    pub(crate) checkpoint: Checkpoint,
    pub(crate) frontier: Frontier,
}

/// Name of a tree in its notes.
pub(crate) fn origin(log_id: &str, kind: CheckpointKind, task: Option<TaskId>) -> String {
    match (kind, task) {
        (CheckpointKind::Task, Some(task)) => format!("hermit.local/{log_id}/task/{task}"),
        (CheckpointKind::Gate, _) => format!("hermit.local/{log_id}/gate"),
        _ => format!("hermit.local/{log_id}"),
    }
}

impl Writer {
    /// Signs a task's tree as it is now. Its last checkpoint is returned as it is when nothing was added since.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a task without events, [`Error::Signing`], and those of [`Writer::commit`].
    pub fn checkpoint_task(
        &self,
        task: TaskId,
        signer: &dyn Signer,
        now: UnixMs,
    ) -> Result<Checkpoint, Error> {
        let (made, _) = self.checkpoint(&[task], signer, now, |_, _| {})?;
        let of_task = |c: &Checkpoint| c.kind == CheckpointKind::Task;
        made.into_iter().find(of_task).ok_or_else(|| Error::invalid("no checkpoint was made"))
    }

    /// Signs the gate's tree and the global log over it and all tasks' checkpoints.
    ///
    /// # Errors
    /// As [`Writer::checkpoint_task`]; [`Error::Invalid`] when there is nothing to sign yet.
    pub fn checkpoint_global(&self, signer: &dyn Signer, now: UnixMs) -> Result<Checkpoint, Error> {
        let (made, _) = self.checkpoint(&[], signer, now, |_, _| {})?;
        let global = |c: &Checkpoint| c.kind == CheckpointKind::Global;
        made.into_iter().find(global).ok_or_else(|| Error::invalid("there is nothing to sign yet"))
    }

    /// Signs the trees of some tasks, the gate's and the global one, in one commit. Where nothing was added since
    /// the last checkpoint, that one is returned and none is made. `with` may add to the batch: the events that
    /// say a checkpoint was signed.
    ///
    /// Returns tasks in the order given, then the gate (when it has entries), then the global one.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a task without events, [`Error::Signing`], and those of [`Writer::commit`].
    pub fn checkpoint(
        &self,
        tasks: &[TaskId],
        signer: &dyn Signer,
        now: UnixMs,
        with: impl FnOnce(&[Checkpoint], &mut Batch),
    ) -> Result<(Vec<Checkpoint>, Committed), Error> {
        // Leaves of the global log are numbered here, so only one caller makes checkpoints at a time.
        let _one = self.checkpointing();
        let mut batch = Batch::new(Point::CheckpointSign);
        let made = self.reader().with(|conn| {
            let mut maker =
                Maker { conn, log_id: self.log_id(), signer, now, new: Vec::new(), all: Vec::new() };
            maker.make(tasks)?;
            batch.checkpoints = maker.new;
            Ok(maker.all)
        })?;
        with(&made, &mut batch);
        let committed = self.commit(batch)?;
        Ok((made, committed))
    }
}

struct Maker<'a> {
    conn: &'a Connection,
    log_id: &'a str,
    signer: &'a dyn Signer,
    now: UnixMs,
    new: Vec<NewCheckpoint>,
    all: Vec<Checkpoint>,
}

impl Maker<'_> {
    fn make(&mut self, tasks: &[TaskId]) -> Result<(), Error> {
        // One snapshot for all trees.
        let tx = self.conn.unchecked_transaction().map_err(|e| Error::sql("reading the trees", &e))?;
        let mut leaves = crate::reads::leaf_count(&tx)?;
        for task in tasks {
            let head = crate::state::stored_head(&tx, *task)?;
            let size =
                head.map(|h| h.seq).ok_or_else(|| Error::invalid(format!("task `{task}` has no events")))?;
            self.one(&tx, CheckpointKind::Task, Some(*task), size, &mut leaves, || {
                tree::task_frontier(&tx, *task, size)
            })?;
        }
        let entries = crate::reads::entry_count(&tx)?;
        if entries > 0 {
            self.one(&tx, CheckpointKind::Gate, None, entries, &mut leaves, || {
                tree::gate_frontier(&tx, entries)
            })?;
        }
        let stored = leaves - self.new.len() as u64;
        if leaves > 0 {
            let mut frontier = tree::global_frontier(&tx, stored)?;
            for new in &self.new {
                let note = seal::note::Note::parse(&new.checkpoint.note).map_err(Error::Signing)?;
                frontier.push(leaf_hash(note.text.as_bytes()));
            }
            self.one(&tx, CheckpointKind::Global, None, leaves, &mut 0, || Ok(frontier))?;
        }
        Ok(())
    }

    /// Whether the key that signs now signed this one: after a rotation every head is signed once more.
    fn signed(&self, last: &Checkpoint) -> Result<bool, Error> {
        let key = VerifierKey::new(&last.origin, self.signer.public()).map_err(Error::Signing)?;
        Ok(seal::note::verify_note(&last.note, &[key]).is_ok())
    }

    fn one(
        &mut self,
        conn: &Connection,
        kind: CheckpointKind,
        task_id: Option<TaskId>,
        size: u64,
        leaves: &mut u64,
        frontier: impl FnOnce() -> Result<Frontier, Error>,
    ) -> Result<(), Error> {
        if let Some(last) = crate::reads::last_checkpoint(conn, self.log_id, kind, task_id)?
            && last.size == size
            && self.signed(&last)?
        {
            self.all.push(last);
            return Ok(());
        }
        let frontier = frontier()?;
        let (origin, root) = (origin(self.log_id, kind, task_id), frontier.root());
        let note =
            seal::note::Checkpoint::new(&origin, size, root).sign(self.signer).map_err(Error::Signing)?;
        let leaf_index = (kind != CheckpointKind::Global).then_some(*leaves);
        *leaves += 1;
        let checkpoint = Checkpoint {
            kind,
            task_id,
            origin,
            size,
            root,
            leaf_index,
            made_at: self.now,
            note: note.to_bytes(),
        };
        self.all.push(checkpoint.clone());
        self.new.push(NewCheckpoint { checkpoint, frontier });
        Ok(())
    }
}
