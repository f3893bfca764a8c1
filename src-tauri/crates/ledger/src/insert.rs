//! One batch into the open transaction: checked against the log, placed, inserted. Nothing here commits.

use crate::Error;
use crate::batch::Projector;
use crate::checkpoint::NewCheckpoint;
use crate::prepare::{Entry, Prepared};
use crate::rows::{Hash, Id, count, int};
use crate::state::State;
use crate::tree::STORED_LEVELS;
use model::{EventId, GrantId};
use rusqlite::{Connection, OptionalExtension, params};
use seal::{Digest, Disclosure};

/// The open transaction and what placing needs beside it.
pub(crate) struct Place<'a> {
    pub conn: &'a Connection,
    pub state: &'a mut State,
    pub epoch: u64,
    pub projector: &'a mut dyn Projector,
}

fn sql(e: rusqlite::Error) -> Error {
    Error::sql("recording a batch", &e)
}

impl Place<'_> {
    /// Inserts all of the batch, or says why not; then the caller takes the transaction or its savepoint back.
    pub fn batch(&mut self, batch: &mut Prepared) -> Result<(), Error> {
        let found = self.state.ends.log_seq;
        if let Some(expected) = batch.expect_log.filter(|expected| *expected != found) {
            return Err(Error::Grown { expected, found });
        }
        for (task, expected) in &batch.expect {
            let found = self.state.head(self.conn, *task)?.seq;
            if found != *expected {
                return Err(Error::Moved { task: *task, expected: *expected, found });
            }
        }
        for (grant, max_uses) in &batch.consume {
            self.consume(*grant, *max_uses)?;
        }
        for index in 0..batch.events.len() {
            self.event(batch, index)?;
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
        let said_by = (!batch.events.is_empty()).then_some(self.state.ends.log_seq);
        self.erase_content(&batch.erase_content, said_by)?;
        for new in &batch.checkpoints {
            self.checkpoint(new)?;
        }
        if !batch.events.is_empty() {
            self.projector.apply(self.conn, &batch.events).map_err(|why| Error::Projection { why })?;
        }
        Ok(())
    }

    fn execute(&self, text: &str, values: impl rusqlite::Params) -> Result<usize, Error> {
        self.conn.prepare_cached(text).and_then(|mut s| s.execute(values)).map_err(sql)
    }

    fn event(&mut self, batch: &mut Prepared, index: usize) -> Result<(), Error> {
        let task = batch.task(index)?;
        let head = self.state.head(self.conn, task)?;
        let log_seq = self.state.ends.log_seq + 1;
        let (placed, end) = batch.put(index, log_seq, head)?;
        let event = &placed.event;
        let text = "INSERT INTO events \
                    (log_seq, epoch, task_id, task_seq, event_id, event_type, idempotency_key, hash, bytes) \
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let values = params![
            int(log_seq),
            int(self.epoch),
            Id::from(task),
            int(end.seq),
            Id::from(event.event_id),
            event.event_type,
            event.idempotency_key,
            Hash(placed.hash),
            placed.bytes
        ];
        let inserted = self.conn.prepare_cached(text).and_then(|mut s| s.execute(values));
        inserted.map_err(|e| self.refusal(event.event_id, event.idempotency_key.as_deref(), &e))?;
        for disclosure in &placed.disclosures {
            self.disclosure(disclosure, Some(log_seq))?;
        }
        self.state.ends.log_seq = log_seq;
        self.state.set_head(task, end);
        Ok(())
    }

    /// Why the database would not take an event. The first result stands: of the same key, or of the same event.
    fn refusal(&self, event: EventId, key: Option<&str>, error: &rusqlite::Error) -> Error {
        let refused = Error::sql("recording a batch", error);
        if error.sqlite_error_code() != Some(rusqlite::ErrorCode::ConstraintViolation)
            || matches!(refused, Error::ReadOnly { .. })
        {
            return refused;
        }
        let text = "SELECT event_id FROM events WHERE event_id = ?1 \
                    UNION ALL SELECT event_id FROM events WHERE idempotency_key = ?2 LIMIT 1";
        let found = self.conn.prepare_cached(text).and_then(|mut s| {
            s.query_row(params![Id::from(event), key], |row| row.get::<_, Id>(0)).optional()
        });
        match found {
            Ok(Some(id)) => Error::Duplicate { event_id: id.event() },
            Ok(None) => refused,
            Err(e) => sql(e),
        }
    }

    fn entries(&mut self, entries: &[Entry]) -> Result<(), Error> {
        for Entry { entry, bytes } in entries {
            let found = self.state.ends.gate_head;
            if entry.prev_hash != found {
                return Err(Error::GateMoved { expected: entry.prev_hash, found });
            }
            let entry_seq = self.state.ends.entry_seq + 1;
            self.execute(
                "INSERT INTO entries (entry_seq, epoch, request_id, hash, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![int(entry_seq), int(self.epoch), entry.request_id, Hash(entry.entry_hash), bytes],
            )?;
            self.state.ends.entry_seq = entry_seq;
            self.state.ends.gate_head = entry.entry_hash;
            self.gate_leaf(bytes)?;
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
        let text = "INSERT OR IGNORE INTO blobs (epoch, digest, bytes) VALUES (?1, ?2, ?3)";
        self.execute(text, params![int(self.epoch), Hash(digest), bytes]).map(drop)
    }

    fn disclosure(&self, disclosure: &Disclosure, log_seq: Option<u64>) -> Result<(), Error> {
        let text =
            "INSERT OR IGNORE INTO disclosures (epoch, log_seq, digest, bytes) VALUES (?1, ?2, ?3, ?4)";
        let values = params![int(self.epoch), log_seq.map(int), Hash(disclosure.digest), disclosure.bytes];
        self.execute(text, values).map(drop)
    }

    /// Deletes content; the database allows it only for what an event of the log names.
    fn erase_content(&self, digests: &[Digest], log_seq: Option<u64>) -> Result<(), Error> {
        if digests.is_empty() {
            return Ok(());
        }
        let log_seq =
            log_seq.ok_or_else(|| Error::invalid("content is erased only with the event that says so"))?;
        for digest in digests {
            let text = "INSERT INTO erasures (digest, epoch, log_seq) VALUES (?1, ?2, ?3)";
            self.execute(text, params![Hash(*digest), int(self.epoch), int(log_seq)])?;
            self.execute("DELETE FROM blobs WHERE digest = ?1", params![Hash(*digest)])?;
        }
        Ok(())
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

    fn checkpoint(&mut self, new: &NewCheckpoint) -> Result<(), Error> {
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
        )
        .map(drop)
    }
}
