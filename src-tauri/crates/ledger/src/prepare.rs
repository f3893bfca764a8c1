//! What the caller does before it waits for its turn: everything of a batch that needs neither the database nor the
//! batches before it. Most of an event's work is here, so many callers do it at the same time.

use crate::Error;
use crate::batch::{Batch, Committed, Placed};
use crate::checkpoint::NewCheckpoint;
use crate::state::Head;
use model::audit::AuditEntry;
use model::event::{Draft, Form, Ready};
use model::fault::Point;
use model::{Entropy, GrantId, TaskId, limits};
use seal::{Digest, Disclosure};

/// An entry of the gate and its bytes.
pub(crate) struct Entry {
    pub entry: AuditEntry,
    pub bytes: Vec<u8>,
}

/// A batch that only waits for its place. Placing changes nothing that cannot be placed again, so a batch whose
/// group is taken back goes in once more.
pub(crate) struct Prepared {
    pub point: Point,
    pub writes: bool,
    pub expect: Vec<(TaskId, u64)>,
    pub expect_log: Option<u64>,
    /// In order, and complete but for what [`Prepared::put`] fills in.
    pub events: Vec<Placed>,
    forms: Vec<Form>,
    pub entries: Vec<Entry>,
    pub blobs: Vec<(Digest, Vec<u8>)>,
    pub disclosures: Vec<Disclosure>,
    pub consume: Vec<(GrantId, u32)>,
    pub erase: Vec<Digest>,
    pub erase_content: Vec<Digest>,
    pub checkpoints: Vec<NewCheckpoint>,
}

impl Prepared {
    /// Conceals, canonicalises, hashes, and refuses what is wrong in itself.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn new(batch: Batch, entropy: &dyn Entropy) -> Result<Self, Error> {
        let writes = !batch.is_empty();
        let (mut events, mut forms) = (Vec::new(), Vec::new());
        for draft in batch.drafts {
            let (event, form) = unplaced(draft, entropy)?;
            events.push(event);
            forms.push(form);
        }
        let entries = batch.entries.into_iter().map(entry).collect::<Result<_, _>>()?;
        batch.blobs.iter().try_for_each(|(digest, bytes)| blob(digest, bytes))?;
        for disclosure in &batch.disclosures {
            if Digest::of(&disclosure.bytes) != disclosure.digest {
                let why = format!("a disclosure does not hash to `{}`", disclosure.digest);
                return Err(Error::Invalid { why });
            }
        }
        Ok(Self {
            point: batch.point,
            writes,
            expect: batch.expect,
            expect_log: batch.expect_log,
            events,
            forms,
            entries,
            blobs: batch.blobs,
            disclosures: batch.disclosures,
            consume: batch.consume,
            erase: batch.erase,
            erase_content: batch.erase_content,
            checkpoints: batch.checkpoints,
        })
    }

    /// Whose the event with this index is.
    pub fn task(&self, index: usize) -> Result<TaskId, Error> {
        self.events.get(index).map(|placed| placed.event.task_id).ok_or_else(lost)
    }

    /// Puts the event with this index behind the end of its task; returns it and the new end.
    pub fn put(&mut self, index: usize, log_seq: u64, behind: Head) -> Result<(&Placed, Head), Error> {
        let placed = self.events.get_mut(index).zip(self.forms.get(index));
        let (placed, form) = placed.ok_or_else(lost)?;
        let seq = behind.seq + 1;
        placed.log_seq = log_seq;
        placed.event.task_seq = seq;
        placed.event.prev_event_hash = behind.hash;
        placed.bytes = form.filled(seq, behind.hash);
        if placed.bytes.len() > limits::EVENT_BYTES_MAX {
            return Err(too_large(placed.bytes.len()));
        }
        placed.hash = Digest::of(&placed.bytes);
        Ok((placed, Head { seq, hash: placed.hash }))
    }

    /// Rows it writes, more or less.
    pub fn rows(&self) -> usize {
        let disclosed: usize = self.events.iter().map(|placed| placed.disclosures.len()).sum();
        1 + self.events.len() + disclosed + self.entries.len() + 8 * self.blobs.len()
    }

    /// What the caller gets when all of it is recorded.
    pub fn take(&mut self) -> Committed {
        let checkpoints = std::mem::take(&mut self.checkpoints).into_iter().map(|new| new.checkpoint);
        Committed { placed: std::mem::take(&mut self.events), checkpoints: checkpoints.collect() }
    }
}

fn lost() -> Error {
    Error::invalid("a batch lost one of its events")
}

fn unplaced(draft: Draft, entropy: &dyn Entropy) -> Result<(Placed, Form), Error> {
    let Ready { event, disclosures, form } = draft.ready(&mut || entropy.salt()).map_err(Error::invalid)?;
    Ok((Placed { log_seq: 0, event, bytes: Vec::new(), hash: Digest::ZERO, disclosures }, form))
}

fn too_large(bytes: usize) -> Error {
    let max = limits::EVENT_BYTES_MAX;
    let why = format!("an event of {bytes} bytes is larger than {max}; put its content into an artifact");
    Error::Invalid { why }
}

fn entry(entry: AuditEntry) -> Result<Entry, Error> {
    if entry.computed_hash().map_err(Error::invalid)? != entry.entry_hash {
        return Err(Error::invalid("an audit entry does not have the hash of its fields"));
    }
    let bytes = entry.to_bytes().map_err(Error::invalid)?;
    Ok(Entry { entry, bytes })
}

fn blob(digest: &Digest, bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() > limits::INLINE_ARTIFACT_BYTES_MAX {
        return Err(Error::invalid("an artifact this large belongs into a file of its own"));
    }
    if Digest::of(bytes) != *digest {
        return Err(Error::invalid(format!("an artifact's bytes do not hash to `{digest}`")));
    }
    Ok(())
}
