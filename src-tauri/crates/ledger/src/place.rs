//! One batch into the open transaction: checked against the log, placed, inserted. Nothing here commits.

use crate::batch::{Batch, Committed, Placed, Projector};
use crate::checkpoint::NewCheckpoint;
use crate::rows::{Hash, Id, count, int};
use crate::state::{Head, State};
use crate::tree::STORED_LEVELS;
use crate::{Checkpoint, Error};
use model::audit::AuditEntry;
use model::event::Draft;
use model::{Entropy, EventId, GrantId, limits};
use rusqlite::{Connection, OptionalExtension, params};
use seal::{Digest, Disclosure};

/// The open transaction and what placing needs beside it.
pub(crate) struct Place<'a> {
    pub conn: &'a Connection,
    pub state: &'a mut State,
    pub epoch: u64,
    pub entropy: &'a dyn Entropy,
    pub projector: &'a mut dyn Projector,
}

fn sql(e: rusqlite::Error) -> Error {
    Error::sql("recording a batch", &e)
}

impl Place<'_> {
    /// Inserts all of the batch, or says why not; then the caller goes back to its savepoint.
    pub fn batch(&mut self, batch: Batch) -> Result<Committed, Error> {
        for (task, expected) in &batch.expect {
            let found = self.state.head(self.conn, *task)?.seq;
            if found != *expected {
                return Err(Error::Moved { task: *task, expected: *expected, found });
            }
        }
        for (grant, max_uses) in &batch.consume {
            self.consume(*grant, *max_uses)?;
        }
        let mut placed = Vec::with_capacity(batch.drafts.len());
        for draft in batch.drafts {
            placed.push(self.event(draft)?);
        }
        self.entries(&batch.entries)?;
        for (digest, bytes) in &batch.blobs {
            self.blob(*digest, bytes)?;
        }
        for disclosure in &batch.disclosures {
            self.disclosure(disclosure, None)?;
        }
        for digest in &batch.erase {
            self.execute("DELETE FROM disclosures WHERE digest = ?1", params![Hash(*digest)])?;
        }
        let mut checkpoints = Vec::with_capacity(batch.checkpoints.len());
        for new in batch.checkpoints {
            checkpoints.push(self.checkpoint(new)?);
        }
        if !placed.is_empty() {
            self.projector.apply(self.conn, &placed).map_err(|why| Error::Projection { why })?;
        }
        Ok(Committed { placed, checkpoints })
    }

    fn execute(&self, text: &str, values: impl rusqlite::Params) -> Result<usize, Error> {
        self.conn.prepare_cached(text).and_then(|mut s| s.execute(values)).map_err(sql)
    }

    fn event(&mut self, draft: Draft) -> Result<Placed, Error> {
        self.refuse_duplicate(draft.event_id, draft.idempotency_key.as_deref())?;
        let task = draft.task_id;
        let head = self.state.head(self.conn, task)?;
        let seq = head.seq + 1;
        let entropy = self.entropy;
        let (event, disclosures) =
            draft.place(seq, head.hash, &mut || entropy.salt()).map_err(Error::invalid)?;
        let bytes = event.to_bytes().map_err(Error::invalid)?;
        if bytes.len() > limits::EVENT_BYTES_MAX {
            let max = limits::EVENT_BYTES_MAX;
            let why = format!(
                "an event of {} bytes is larger than {max}; put its content into an artifact",
                bytes.len()
            );
            return Err(Error::Invalid { why });
        }
        let hash = Digest::of(&bytes);
        let log_seq = self.state.ends.log_seq + 1;
        self.execute(
            "INSERT INTO events (log_seq, epoch, task_id, task_seq, event_id, event_type, idempotency_key, hash, bytes) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                int(log_seq),
                int(self.epoch),
                Id::from(task),
                int(seq),
                Id::from(event.event_id),
                event.event_type,
                event.idempotency_key,
                Hash(hash),
                bytes
            ],
        )?;
        for disclosure in &disclosures {
            self.disclosure(disclosure, Some(log_seq))?;
        }
        self.state.ends.log_seq = log_seq;
        self.state.set_head(task, Head { seq, hash });
        Ok(Placed { log_seq, event, bytes, hash, disclosures })
    }

    /// The first result stands: of the same key, or of the same event.
    fn refuse_duplicate(&self, event: EventId, key: Option<&str>) -> Result<(), Error> {
        let text = "SELECT event_id FROM events WHERE event_id = ?1 \
                    UNION ALL SELECT event_id FROM events WHERE idempotency_key = ?2 LIMIT 1";
        let mut found = self.conn.prepare_cached(text).map_err(sql)?;
        let known = found
            .query_row(params![Id::from(event), key], |row| row.get::<_, Id>(0))
            .optional()
            .map_err(sql)?;
        match known {
            Some(id) => Err(Error::Duplicate { event_id: id.event() }),
            None => Ok(()),
        }
    }

    fn entries(&mut self, entries: &[AuditEntry]) -> Result<(), Error> {
        for entry in entries {
            let found = self.state.ends.gate_head;
            if entry.prev_hash != found {
                return Err(Error::GateMoved { expected: entry.prev_hash, found });
            }
            if entry.computed_hash().map_err(Error::invalid)? != entry.entry_hash {
                return Err(Error::invalid("an audit entry does not have the hash of its fields"));
            }
            let bytes = entry.to_bytes().map_err(Error::invalid)?;
            let entry_seq = self.state.ends.entry_seq + 1;
            self.execute(
                "INSERT INTO entries (entry_seq, epoch, request_id, hash, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![int(entry_seq), int(self.epoch), entry.request_id, Hash(entry.entry_hash), bytes],
            )?;
            self.state.ends.entry_seq = entry_seq;
            self.state.ends.gate_head = entry.entry_hash;
            self.gate_leaf(&bytes)?;
        }
        Ok(())
    }

    fn gate_leaf(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut complete = Vec::new();
        self.state.ends.gate.push_with(seal::merkle::leaf_hash(bytes), &mut |level, index, hash| {
            if level > 0 && level.is_multiple_of(STORED_LEVELS) {
                complete.push((level, index, hash));
            }
        });
        for (level, index, hash) in complete {
            self.execute(
                "INSERT INTO gate_nodes (level, idx, epoch, hash) VALUES (?1, ?2, ?3, ?4)",
                params![level, int(index), int(self.epoch), Hash(hash)],
            )?;
        }
        Ok(())
    }

    fn blob(&self, digest: Digest, bytes: &[u8]) -> Result<(), Error> {
        if bytes.len() > limits::INLINE_ARTIFACT_BYTES_MAX {
            return Err(Error::invalid("an artifact this large belongs into a file of its own"));
        }
        if Digest::of(bytes) != digest {
            return Err(Error::invalid(format!("an artifact's bytes do not hash to `{digest}`")));
        }
        let text = "INSERT OR IGNORE INTO blobs (epoch, digest, bytes) VALUES (?1, ?2, ?3)";
        self.execute(text, params![int(self.epoch), Hash(digest), bytes]).map(drop)
    }

    fn disclosure(&self, disclosure: &Disclosure, log_seq: Option<u64>) -> Result<(), Error> {
        if log_seq.is_none() && Digest::of(&disclosure.bytes) != disclosure.digest {
            return Err(Error::invalid(format!("a disclosure does not hash to `{}`", disclosure.digest)));
        }
        let text =
            "INSERT OR IGNORE INTO disclosures (epoch, log_seq, digest, bytes) VALUES (?1, ?2, ?3, ?4)";
        let values = params![int(self.epoch), log_seq.map(int), Hash(disclosure.digest), disclosure.bytes];
        self.execute(text, values).map(drop)
    }

    fn consume(&self, grant: GrantId, max_uses: u32) -> Result<(), Error> {
        let text = "SELECT count(*), coalesce(min(max_uses), ?2) FROM grant_uses WHERE grant_id = ?1";
        let (used, limit) = self
            .conn
            .prepare_cached(text)
            .and_then(|mut s| {
                s.query_row(params![Id::from(grant), max_uses], |row| {
                    Ok((count(row.get(0)?), count(row.get(1)?)))
                })
            })
            .map_err(sql)?;
        if limit != u64::from(max_uses) {
            return Err(Error::invalid(format!("grant `{grant}` allows {limit} uses, not {max_uses}")));
        }
        if used >= limit {
            return Err(Error::GrantSpent { grant });
        }
        let text = "INSERT INTO grant_uses (grant_id, use_no, max_uses, epoch) VALUES (?1, ?2, ?3, ?4)";
        self.execute(text, params![Id::from(grant), int(used + 1), max_uses, int(self.epoch)]).map(drop)
    }

    fn checkpoint(&mut self, new: NewCheckpoint) -> Result<Checkpoint, Error> {
        let NewCheckpoint { checkpoint, frontier } = new;
        let ends = &mut self.state.ends;
        if checkpoint.leaf_index.is_some_and(|index| index != ends.leaves) {
            return Err(Error::invalid("another checkpoint came in between; make this one again"));
        }
        ends.checkpoint_seq += 1;
        ends.leaves += u64::from(checkpoint.leaf_index.is_some());
        let checkpoint_seq = ends.checkpoint_seq;
        self.execute(
            "INSERT INTO checkpoints \
             (checkpoint_seq, epoch, kind, task_id, size, root, leaf_index, made_at, frontier, note) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                int(checkpoint_seq),
                int(self.epoch),
                checkpoint.kind.as_str(),
                checkpoint.task_id.map(Id::from),
                int(checkpoint.size),
                Hash(checkpoint.root),
                checkpoint.leaf_index.map(int),
                checkpoint.made_at.0,
                frontier.to_bytes(),
                checkpoint.note
            ],
        )?;
        Ok(checkpoint)
    }
}
