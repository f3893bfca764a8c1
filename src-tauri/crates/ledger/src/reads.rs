//! What a reader can be asked: the exact bytes, by place, by identifier, by digest.

use crate::checkpoint::{Checkpoint, CheckpointKind, origin};
use crate::reader::Reader;
use crate::rows::{Hash, Id, count, int};
use crate::{Error, severed, tree};
use model::{EventId, GrantId, TaskId, UnixMs};
use rusqlite::{Connection, OptionalExtension, Row, params};
use seal::Digest;

/// An event as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its place in the whole log, from 1.
    pub log_seq: u64,
    /// Its task.
    pub task_id: TaskId,
    /// Its place within the task, from 1.
    pub task_seq: u64,
    /// Its identifier.
    pub event_id: EventId,
    /// Its canonical bytes.
    pub bytes: Vec<u8>,
    /// SHA-256 of the bytes.
    pub hash: Digest,
}

impl Stored {
    /// The event in the bytes.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the bytes are no canonical event.
    pub fn event(&self) -> Result<model::Event, Error> {
        model::Event::from_bytes(&self.bytes).map_err(|e| Error::Corrupt {
            path: crate::FILE.to_owned(),
            why: format!("event {} of task `{}`: {e}", self.task_seq, self.task_id),
        })
    }
}

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Events.
    pub events: u64,
    /// Tasks that have events.
    pub tasks: u64,
    /// Entries of the gate.
    pub entries: u64,
    /// Small artifacts.
    pub blobs: u64,
    /// Disclosures that survive.
    pub disclosures: u64,
    /// Checkpoints of every kind.
    pub checkpoints: u64,
    /// Hosts so far.
    pub epoch: u64,
    /// Bytes of the database file.
    pub file_bytes: u64,
    /// Bytes of its WAL.
    pub wal_bytes: u64,
    /// Schema of the ground tables.
    pub schema: u32,
}

const STORED: &str = "SELECT log_seq, task_id, task_seq, event_id, bytes, hash FROM events";

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        log_seq: count(row.get(0)?),
        task_id: row.get::<_, Id>(1)?.task(),
        task_seq: count(row.get(2)?),
        event_id: row.get::<_, Id>(3)?.event(),
        bytes: row.get(4)?,
        hash: row.get::<_, Hash>(5)?.0,
    })
}

fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

impl Reader {
    fn many(&self, tail: &str, values: impl rusqlite::Params) -> Result<Vec<Stored>, Error> {
        self.read("reading events", |conn| {
            conn.prepare_cached(&format!("{STORED} {tail}"))?.query_map(values, stored)?.collect()
        })
    }

    fn one(&self, tail: &str, values: impl rusqlite::Params) -> Result<Option<Stored>, Error> {
        self.read("reading an event", |conn| {
            conn.prepare_cached(&format!("{STORED} {tail}"))?.query_row(values, stored).optional()
        })
    }

    /// Every task that has events, in the order of their identifiers, which is the order of their making.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn task_ids(&self) -> Result<Vec<TaskId>, Error> {
        self.read("listing tasks", |conn| {
            let text = "WITH RECURSIVE t (id) AS (SELECT min(task_id) FROM events UNION ALL \
                        SELECT (SELECT min(task_id) FROM events WHERE task_id > t.id) FROM t WHERE t.id IS NOT NULL) \
                        SELECT id FROM t WHERE id IS NOT NULL";
            conn.prepare_cached(text)?.query_map([], |row| Ok(row.get::<_, Id>(0)?.task()))?.collect()
        })
    }

    /// The last `task_seq` of a task and the hash of that event.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn task_head(&self, task: TaskId) -> Result<Option<(u64, Digest)>, Error> {
        self.with(|conn| Ok(crate::state::stored_head(conn, task)?.map(|head| (head.seq, head.hash))))
    }

    /// Events of a task behind `after_seq`, in order, at most `max`. Rows that were severed and are no events any more
    /// are left out; [`Reader::severed_rows`] has them.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn events(&self, task: TaskId, after_seq: u64, max: usize) -> Result<Vec<Stored>, Error> {
        self.readable(after_seq, |row| row.task_seq, |after| self.raw_events(task, after, max))
    }

    pub(crate) fn raw_events(&self, task: TaskId, after_seq: u64, max: usize) -> Result<Vec<Stored>, Error> {
        let tail = "WHERE task_id = ?1 AND task_seq > ?2 ORDER BY task_seq LIMIT ?3";
        self.many(tail, params![Id::from(task), int(after_seq), limit(max)])
    }

    /// Events of all tasks behind `after_log_seq`, in the order of their commit, at most `max`; as
    /// [`Reader::events`] without what was severed and is unreadable.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn log(&self, after_log_seq: u64, max: usize) -> Result<Vec<Stored>, Error> {
        let tail = "WHERE log_seq > ?1 ORDER BY log_seq LIMIT ?2";
        let read = |after: u64| self.many(tail, params![int(after), limit(max)]);
        self.readable(after_log_seq, |row| row.log_seq, read)
    }

    /// The next rows that are events. An empty answer is the end, so a page of which nothing is left is read over.
    fn readable(
        &self,
        mut after: u64,
        place: impl Fn(&Stored) -> u64,
        read: impl Fn(u64) -> Result<Vec<Stored>, Error>,
    ) -> Result<Vec<Stored>, Error> {
        let known = self.severed()?;
        loop {
            let mut page = read(after)?;
            let Some(last) = page.last() else { return Ok(page) };
            after = place(last);
            page.retain(|row| known.is_empty() || severed::readable(&known, row));
            if !page.is_empty() {
                return Ok(page);
            }
        }
    }

    /// The last place in the whole log; 0 when it is empty.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn log_head(&self) -> Result<u64, Error> {
        self.read("reading the end of the log", |conn| {
            number(conn, "SELECT coalesce(max(log_seq), 0) FROM events")
        })
    }

    /// An event by its identifier.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn event(&self, event: EventId) -> Result<Option<Stored>, Error> {
        self.one("WHERE event_id = ?1", params![Id::from(event)])
    }

    /// The event that carries an idempotency key.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn by_idempotency_key(&self, key: &str) -> Result<Option<Stored>, Error> {
        self.one("WHERE idempotency_key = ?1", params![key])
    }

    /// The hash the gate's next entry must point to; 64 zeros before the first.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn gate_head(&self) -> Result<Digest, Error> {
        let text = "SELECT hash FROM entries ORDER BY entry_seq DESC LIMIT 1";
        let head = self.read("reading the gate's head", |conn| {
            conn.prepare_cached(text)?.query_row([], |row| row.get::<_, Hash>(0)).optional()
        })?;
        Ok(head.map_or(Digest::ZERO, |h| h.0))
    }

    /// Entries of the gate from number `from` (the first is 1), with their numbers and exact bytes, at most `max`.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn gate_entries(&self, from: u64, max: usize) -> Result<Vec<(u64, Vec<u8>)>, Error> {
        let text = "SELECT entry_seq, bytes FROM entries WHERE entry_seq >= ?1 ORDER BY entry_seq LIMIT ?2";
        self.numbered(text, params![int(from), limit(max)])
    }

    /// Entries of the gate that belong to one request, in order.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn gate_entries_of(&self, request_id: &str) -> Result<Vec<(u64, Vec<u8>)>, Error> {
        self.numbered(
            "SELECT entry_seq, bytes FROM entries WHERE request_id = ?1 ORDER BY entry_seq",
            params![request_id],
        )
    }

    fn numbered(&self, text: &str, values: impl rusqlite::Params) -> Result<Vec<(u64, Vec<u8>)>, Error> {
        self.read("reading the gate's entries", |conn| {
            conn.prepare_cached(text)?
                .query_map(values, |row| Ok((count(row.get(0)?), row.get(1)?)))?
                .collect()
        })
    }

    /// How often a grant was used.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn grant_uses(&self, grant: GrantId) -> Result<u32, Error> {
        self.read("counting the uses of a grant", |conn| {
            let text = "SELECT count(*) FROM grant_uses WHERE grant_id = ?1";
            conn.prepare_cached(text)?.query_row([Id::from(grant)], |row| row.get(0))
        })
    }

    /// The newest checkpoint of a task, of the gate, or of the global log.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn last_checkpoint(
        &self,
        kind: CheckpointKind,
        task: Option<TaskId>,
    ) -> Result<Option<Checkpoint>, Error> {
        self.with(|conn| last_checkpoint(conn, self.log_id(), kind, task))
    }

    /// The checkpoint of one tree at exactly `size` leaves.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn checkpoint_at(
        &self,
        kind: CheckpointKind,
        task: Option<TaskId>,
        size: u64,
    ) -> Result<Option<Checkpoint>, Error> {
        let text = format!(
            "{CHECKPOINT} WHERE kind = ?1 AND task_id IS ?2 AND size = ?3 ORDER BY checkpoint_seq DESC LIMIT 1"
        );
        self.read("reading a checkpoint", |conn| {
            conn.prepare_cached(&text)?
                .query_row(params![kind.as_str(), task.map(Id::from), int(size)], |row| {
                    checkpoint(row, self.log_id())
                })
                .optional()
        })
    }

    /// The newest checkpoint of a task that covers fewer than `from_seq` events.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn checkpoint_before(&self, task: TaskId, from_seq: u64) -> Result<Option<Checkpoint>, Error> {
        self.with(|conn| checkpoint_before(conn, self.log_id(), task, from_seq))
    }

    /// When a tree of a task other than this one was signed last.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn last_signed_but(&self, task: TaskId) -> Result<Option<UnixMs>, Error> {
        let text = "SELECT made_at FROM checkpoints WHERE kind = ?1 AND task_id IS NOT ?2 \
                    ORDER BY checkpoint_seq DESC LIMIT 1";
        self.read("reading a checkpoint", |conn| {
            let bound = params![CheckpointKind::Task.as_str(), Id::from(task)];
            conn.prepare_cached(text)?.query_row(bound, |row| Ok(UnixMs(row.get(0)?))).optional()
        })
    }

    /// Leaf hashes of a task's first `size` events.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`] when there are fewer.
    pub fn task_leaves(&self, task: TaskId, size: u64) -> Result<Vec<Digest>, Error> {
        let leaves = self.with(|conn| tree::task_leaves(conn, task, 0, size))?;
        self.exactly(leaves, size)
    }

    /// Leaf hashes of the global log's first `size` notes.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`] when there are fewer.
    pub fn global_leaves(&self, size: u64) -> Result<Vec<Digest>, Error> {
        let leaves = self.with(|conn| tree::note_leaves(conn, 0, size))?;
        self.exactly(leaves, size)
    }

    /// Root of the global log's first `size` notes; none when there are fewer.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn global_root(&self, size: u64) -> Result<Option<Digest>, Error> {
        self.with(|conn| match leaf_count(conn)? {
            count if count < size => Ok(None),
            _ => tree::global_frontier(conn, size).map(|edge| Some(edge.root())),
        })
    }

    /// Proof that the global log's first `old_size` notes are the beginning of its first `size`: it takes as long as there were
    /// notes since, however many there were before.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there are fewer, [`Error::Io`], [`Error::Corrupt`].
    pub fn global_consistency(&self, old_size: u64, size: u64) -> Result<Vec<Digest>, Error> {
        self.with(|conn| {
            if old_size > size || size > leaf_count(conn)? {
                return Err(Error::invalid(format!("the global log has no {old_size} of {size} notes")));
            }
            tree::global_consistency(conn, old_size, size)
        })
    }

    fn exactly(&self, leaves: Vec<Digest>, size: u64) -> Result<Vec<Digest>, Error> {
        if leaves.len() as u64 == size {
            return Ok(leaves);
        }
        let why = format!("a tree of {size} leaves has only {} of them", leaves.len());
        Err(Error::corrupt(&crate::schema::path(self.dir()), why))
    }

    /// Path of the gate's entry number `entry_seq` (from 1) to the root of the gate tree at `size` entries.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there is no such entry at that size, [`Error::Io`], [`Error::Corrupt`].
    pub fn gate_proof(&self, entry_seq: u64, size: u64) -> Result<Vec<Digest>, Error> {
        let index = entry_seq.checked_sub(1).ok_or_else(|| Error::invalid("entries count from 1"))?;
        if size > self.with(entry_count)? {
            return Err(Error::invalid(format!("the gate has fewer than {size} entries")));
        }
        self.with(|conn| {
            let failed = std::cell::RefCell::new(None);
            let node = |level: u8, index: u64| match tree::gate_node(conn, level, index) {
                Ok(node) => node,
                Err(e) => {
                    *failed.borrow_mut() = Some(e);
                    None
                }
            };
            let proof = seal::merkle::proofs::inclusion(index, size, &node);
            match failed.into_inner() {
                Some(e) => Err(e),
                None => proof.map_err(Error::invalid),
            }
        })
    }

    /// The epoch of the newest writer; none has one of nought. Nothing is counted for it.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn epoch(&self) -> Result<u64, Error> {
        self.read("reading the epoch", |conn| number(conn, "SELECT coalesce(max(epoch), 0) FROM epochs"))
    }

    /// How many entries the gate has written. Nothing is counted for it: they are numbered.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn entries_written(&self) -> Result<u64, Error> {
        let last = "SELECT coalesce(max(entry_seq), 0) FROM entries";
        self.read("reading the gate's last entry", |conn| number(conn, last))
    }

    /// How much there is. It counts rows, so that it takes longer the more there are.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn stats(&self) -> Result<Stats, Error> {
        let tasks = self.task_ids()?.len() as u64;
        let length = |name: &str| std::fs::metadata(self.dir().join(name)).map_or(0, |m| m.len());
        self.read("counting", |conn| {
            Ok(Stats {
                events: number(conn, "SELECT coalesce(max(log_seq), 0) FROM events")?,
                tasks,
                entries: number(conn, "SELECT coalesce(max(entry_seq), 0) FROM entries")?,
                blobs: number(conn, "SELECT count(*) FROM blobs")?,
                disclosures: number(conn, "SELECT count(*) FROM disclosures")?,
                checkpoints: number(conn, "SELECT coalesce(max(checkpoint_seq), 0) FROM checkpoints")?,
                epoch: number(conn, "SELECT coalesce(max(epoch), 0) FROM epochs")?,
                file_bytes: length(crate::FILE),
                wal_bytes: length(&format!("{}-wal", crate::FILE)),
                schema: crate::SCHEMA,
            })
        })
    }
}

fn number(conn: &Connection, text: &str) -> rusqlite::Result<u64> {
    conn.prepare_cached(text)?.query_row([], |row| row.get::<_, i64>(0)).map(count)
}

pub(crate) const CHECKPOINT: &str =
    "SELECT kind, task_id, size, root, leaf_index, made_at, note, epoch FROM checkpoints";

pub(crate) fn checkpoint(row: &Row<'_>, log_id: &str) -> rusqlite::Result<Checkpoint> {
    let kind: String = row.get(0)?;
    let kind: CheckpointKind = kind.parse().map_err(|e| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(e))
    })?;
    let task_id = row.get::<_, Option<Id>>(1)?.map(Id::task);
    Ok(Checkpoint {
        kind,
        task_id,
        origin: origin(log_id, kind, task_id),
        size: count(row.get(2)?),
        root: row.get::<_, Hash>(3)?.0,
        leaf_index: row.get::<_, Option<i64>>(4)?.map(count),
        made_at: UnixMs(row.get(5)?),
        note: row.get(6)?,
    })
}

pub(crate) fn last_checkpoint(
    conn: &Connection,
    log_id: &str,
    kind: CheckpointKind,
    task: Option<TaskId>,
) -> Result<Option<Checkpoint>, Error> {
    let known = if task.is_some() { severed::all(conn)? } else { Vec::new() };
    let read = || -> rusqlite::Result<Option<Checkpoint>> {
        let tail = "WHERE kind = ?1 AND task_id IS ?2 ORDER BY size DESC, checkpoint_seq DESC";
        let mut found = conn.prepare_cached(&format!("{CHECKPOINT} {tail}"))?;
        let mut rows = found.query(params![kind.as_str(), task.map(Id::from)])?;
        while let Some(row) = rows.next()? {
            let made = checkpoint(row, log_id)?;
            // One that signed for rows that were severed since says nothing about what stands now.
            if severed::stands(&known, task, made.size, count(row.get(7)?)) {
                return Ok(Some(made));
            }
        }
        Ok(None)
    };
    read().map_err(|e| Error::sql("reading a checkpoint", &e))
}

/// The newest checkpoint of a task that says nothing about what was severed of it.
pub(crate) fn checkpoint_before(
    conn: &Connection,
    log_id: &str,
    task: TaskId,
    from_seq: u64,
) -> Result<Option<Checkpoint>, Error> {
    let text = format!(
        "{CHECKPOINT} WHERE kind = 'task' AND task_id = ?1 AND size < ?2 ORDER BY size DESC, checkpoint_seq DESC LIMIT 1"
    );
    conn.prepare_cached(&text)
        .and_then(|mut found| {
            found.query_row(params![Id::from(task), int(from_seq)], |row| checkpoint(row, log_id)).optional()
        })
        .map_err(|e| Error::sql("reading a checkpoint", &e))
}

pub(crate) fn leaf_count(conn: &Connection) -> Result<u64, Error> {
    number(conn, "SELECT coalesce(max(leaf_index) + 1, 0) FROM checkpoints")
        .map_err(|e| Error::sql("counting notes", &e))
}

pub(crate) fn entry_count(conn: &Connection) -> Result<u64, Error> {
    number(conn, "SELECT coalesce(max(entry_seq), 0) FROM entries")
        .map_err(|e| Error::sql("counting entries", &e))
}
