//! One durable boundary: what goes in, what comes back.

use crate::checkpoint::{Checkpoint, NewCheckpoint};
use model::audit::AuditEntry;
use model::event::Draft;
use model::fault::Point;
use model::{Event, GrantId, TaskId};
use seal::{Digest, Disclosure};

/// Folds events into tables of the same file, within the same transaction.
pub trait Projector: Send {
    /// Makes its tables ready, once, when the store is opened for writing.
    ///
    /// # Errors
    /// What is wrong with them; the store is then not opened.
    fn prepare(&mut self, _conn: &rusqlite::Connection) -> Result<(), String> {
        Ok(())
    }

    /// Takes up the events of one batch. When it fails the batch is taken back, its tables included, so anything
    /// kept in memory must not run ahead of them.
    ///
    /// # Errors
    /// Why it cannot; the batch is then refused with [`crate::Error::Projection`].
    fn apply(&mut self, tx: &rusqlite::Connection, placed: &[Placed]) -> Result<(), String>;
}

/// No tables at all: for tools and tests that need only the ground.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProjections;

impl Projector for NoProjections {
    fn apply(&mut self, _: &rusqlite::Connection, _: &[Placed]) -> Result<(), String> {
        Ok(())
    }
}

/// An event in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// Its place in the whole log, from 1.
    pub log_seq: u64,
    /// The event, sensitive leaves concealed.
    pub event: Event,
    /// Its canonical bytes, as stored.
    pub bytes: Vec<u8>,
    /// SHA-256 of the bytes.
    pub hash: Digest,
    /// What opens its sensitive leaves.
    pub disclosures: Vec<Disclosure>,
}

/// What is committed together: all of it or nothing.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The durable boundary this is; [`model::fault::Faults`] is asked before the commit and after it.
    pub point: Point,
    /// Events, placed in this order; they may belong to several tasks.
    pub drafts: Vec<Draft>,
    /// The last `task_seq` of each task as the caller saw it, 0 for a new task; another one refuses the batch.
    pub expect: Vec<(TaskId, u64)>,
    /// The last `log_seq` as the caller saw it, for what was decided over the whole log; another one refuses the batch.
    pub expect_log: Option<u64>,
    /// Entries already linked by the gate; the first must point to the stored head.
    pub entries: Vec<AuditEntry>,
    /// Small artifacts: digest and bytes. One that is there already stays as it is.
    pub blobs: Vec<(Digest, Vec<u8>)>,
    /// Disclosures that belong to no event of this batch, such as those of receipts.
    pub disclosures: Vec<Disclosure>,
    /// Grants used up by one, with the number of uses they allow.
    pub consume: Vec<(GrantId, u32)>,
    /// Disclosures to delete. The event that says so belongs into the same batch (proof.md 5).
    pub erase: Vec<Digest>,
    /// Small artifacts whose content is to be deleted. The events that say so belong into the same batch.
    pub erase_content: Vec<Digest>,
    /// Filled by [`crate::Writer::checkpoint`] alone.
    pub checkpoints: Vec<NewCheckpoint>,
}

impl Batch {
    /// An empty batch for a durable boundary.
    #[must_use]
    pub const fn new(point: Point) -> Self {
        Self {
            point,
            drafts: Vec::new(),
            expect: Vec::new(),
            expect_log: None,
            entries: Vec::new(),
            blobs: Vec::new(),
            disclosures: Vec::new(),
            consume: Vec::new(),
            erase: Vec::new(),
            erase_content: Vec::new(),
            checkpoints: Vec::new(),
        }
    }

    /// Whether committing it would write nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.drafts.is_empty()
            && self.entries.is_empty()
            && self.blobs.is_empty()
            && self.disclosures.is_empty()
            && self.consume.is_empty()
            && self.erase.is_empty()
            && self.erase_content.is_empty()
            && self.checkpoints.is_empty()
    }
}

/// What is on disk now.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    /// The events of the batch, in its order.
    pub placed: Vec<Placed>,
    /// The checkpoints of the batch, in its order.
    pub checkpoints: Vec<Checkpoint>,
}
