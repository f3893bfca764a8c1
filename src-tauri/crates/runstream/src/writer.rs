//! The one writer of the journal: places drafts, mirrors the ledger, compacts, forgets.
//!
//! Who holds the ledger's lock opens it; a second writer is not expected and would only be told that a `seq` is taken.

use crate::{Draft, Error, Reader, Thoughts, Watch, schema};
use model::chance::Entropy;
use model::{ConversationId, TaskId};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What one committed ledger event becomes; often nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Mirrored {
    /// Its place in the task.
    pub task_seq: u64,
    /// What the run stream says of it.
    pub drafts: Vec<Draft>,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// How many events.
    pub events: usize,
    /// The last `seq` of the run now; 0 for none.
    pub last_seq: u64,
    /// Whether the run has ended; what came behind the end was left out.
    pub ended: bool,
}

/// Writes; from many threads, one at a time.
#[derive(Debug)]
pub struct Writer {
    conn: Mutex<Connection>,
    dir: PathBuf,
    watch: Watch,
    thoughts: Thoughts,
    closed: bool,
}

/// A run as its row says.
struct Row {
    next_seq: i64,
    mirrored: i64,
    ended: bool,
}

fn sql(error: rusqlite::Error) -> Error {
    Error::sql("writing the journal", &error)
}

fn key(run_id: TaskId) -> [u8; 16] {
    run_id.uuid().into_bytes()
}

fn row(tx: &Transaction<'_>, run_id: TaskId) -> Result<Option<Row>, Error> {
    let read = "SELECT next_seq, mirrored, ended_seq IS NOT NULL FROM runs WHERE run_id = ?1";
    let map = |r: &rusqlite::Row<'_>| Ok(Row { next_seq: r.get(0)?, mirrored: r.get(1)?, ended: r.get(2)? });
    tx.prepare_cached(read).map_err(sql)?.query_row([key(run_id)], map).optional().map_err(sql)
}

/// Places drafts behind the last event; those behind a terminal one are left out (invariant 2).
fn place(
    tx: &Transaction<'_>,
    thoughts: &Thoughts,
    run_id: TaskId,
    row: &mut Row,
    drafts: &[Draft],
) -> Result<usize, Error> {
    let text = "INSERT INTO events (run_id, seq, family, created_at, terminal, payload) \
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = tx.prepare_cached(text).map_err(sql)?;
    let mut placed = 0;
    for draft in drafts {
        if row.ended {
            break;
        }
        let seq = u64::try_from(row.next_seq).unwrap_or_default();
        // Before it is committed: whoever reads the row finds its words.
        let payload = match thoughts.take(run_id, seq, draft)? {
            Some(rest) => rest.stored(seq)?,
            None => draft.stored(seq)?,
        };
        let family = draft.family.as_str();
        insert
            .execute(params![key(run_id), row.next_seq, family, draft.created_at.0, draft.terminal, payload])
            .map_err(sql)?;
        row.next_seq = row.next_seq.saturating_add(1);
        row.ended = draft.terminal;
        placed += 1;
    }
    Ok(placed)
}

impl Writer {
    /// Opens the journal in the store's folder and makes it when it is not there.
    ///
    /// # Errors
    /// [`Error::Damaged`] (then [`crate::set_aside`] it and open again), [`Error::NewerSchema`], [`Error::Disk`].
    pub fn open(dir: &Path, entropy: &dyn Entropy) -> Result<Self, Error> {
        let conn = Mutex::new(schema::open_writer(dir, entropy)?);
        let (watch, thoughts) = (Watch::default(), Thoughts::default());
        Ok(Self { conn, dir: dir.to_owned(), watch, thoughts, closed: false })
    }

    /// Reads the same journal, with what was reasoned.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn reader(&self) -> Result<Reader, Error> {
        Reader::hearing(&self.dir, self.thoughts())
    }

    /// What was reasoned in the runs that this one writes, for [`Reader::hearing`].
    pub fn thoughts(&self) -> Thoughts {
        self.thoughts.clone()
    }

    /// Wakes whoever has caught up.
    pub fn watch(&self) -> Watch {
        self.watch.clone()
    }

    /// The last `task_seq` of the ledger that is mirrored in a run: mirroring goes on behind it. 0 for none.
    ///
    /// # Errors
    /// [`Error::Disk`], [`Error::Damaged`].
    pub fn mirrored(&self, run_id: TaskId) -> Result<u64, Error> {
        let mut conn = self.lock();
        let tx = conn.transaction().map_err(sql)?;
        Ok(row(&tx, run_id)?.map_or(0, |row| u64::try_from(row.mirrored).unwrap_or_default()))
    }

    /// Writes what committed ledger events become, oldest first, in one transaction. Call it after their commit and
    /// never before (reconciliation C22). Those mirrored before are left out, so offering twice is harmless.
    ///
    /// # Errors
    /// [`Error::Gap`] when an event in between was left out; [`Error::Payload`], [`Error::TooLarge`], [`Error::Disk`].
    pub fn mirror(
        &self,
        run_id: TaskId,
        session_id: ConversationId,
        batch: &[Mirrored],
    ) -> Result<Written, Error> {
        for draft in batch.iter().flat_map(|mirrored| &mirrored.drafts) {
            draft.check()?;
        }
        self.within(|tx| {
            let insert = "INSERT INTO runs (run_id, session_id, generation, first_seq, next_seq, mirrored) \
                          VALUES (?1, ?2, 1, 1, 1, 0) ON CONFLICT (run_id) DO NOTHING";
            tx.execute(insert, params![key(run_id), session_id.to_string()]).map_err(sql)?;
            let mut row = row(tx, run_id)?.ok_or(Error::NoRun { run_id })?;
            let mut events = 0;
            for Mirrored { task_seq, drafts } in batch {
                let mirrored = u64::try_from(row.mirrored).unwrap_or_default();
                if *task_seq <= mirrored {
                    continue;
                }
                if *task_seq != mirrored.saturating_add(1) {
                    return Err(Error::Gap { run_id, mirrored, offered: *task_seq });
                }
                events += place(tx, &self.thoughts, run_id, &mut row, drafts)?;
                row.mirrored = row.mirrored.saturating_add(1);
            }
            let update = "UPDATE runs SET mirrored = ?2 WHERE run_id = ?1";
            tx.prepare_cached(update)
                .and_then(|mut s| s.execute(params![key(run_id), row.mirrored]))
                .map_err(sql)?;
            Ok(written(events, &row))
        })
    }

    /// Writes what no ledger event stands for: deltas and progress. A run that has ended takes none.
    ///
    /// # Errors
    /// [`Error::NoRun`] before the run's first event was mirrored; [`Error::Payload`], [`Error::TooLarge`],
    /// [`Error::Disk`].
    pub fn append(&self, run_id: TaskId, drafts: &[Draft]) -> Result<Written, Error> {
        for draft in drafts {
            draft.check()?;
        }
        self.within(|tx| {
            let mut row = row(tx, run_id)?.ok_or(Error::NoRun { run_id })?;
            let events = place(tx, &self.thoughts, run_id, &mut row, drafts)?;
            Ok(written(events, &row))
        })
    }

    /// Deletes the deltas of a run that has ended, and lets go of what was reasoned in it; answers how many deltas. The
    /// last `seq` and every other event stay (reconciliation C31).
    ///
    /// # Errors
    /// [`Error::NoRun`], [`Error::StillGoing`], [`Error::Disk`].
    pub fn compact(&self, run_id: TaskId) -> Result<usize, Error> {
        self.within(|tx| {
            if !row(tx, run_id)?.ok_or(Error::NoRun { run_id })?.ended {
                return Err(Error::StillGoing { run_id });
            }
            let delete =
                "DELETE FROM events WHERE run_id = ?1 AND family IN ('token.delta', 'reasoning.delta')";
            let gone = tx.execute(delete, [key(run_id)]).map_err(sql)?;
            tx.execute("UPDATE runs SET compacted = 1 WHERE run_id = ?1", [key(run_id)]).map_err(sql)?;
            self.thoughts.forget(run_id);
            Ok(gone)
        })
    }

    /// Deletes everything of a run, so that it can be mirrored again from its first ledger event: after an erasure,
    /// or when the ledger was restored from a copy that is older. Cursors given out before are foreign from then on;
    /// no `seq` is given twice. A run that is not there stays so.
    ///
    /// # Errors
    /// [`Error::Disk`], [`Error::Damaged`].
    pub fn forget(&self, run_id: TaskId) -> Result<(), Error> {
        // First: where the disk says no, what was reasoned is gone all the same.
        self.thoughts.forget(run_id);
        self.within(|tx| {
            for text in [
                "UPDATE runs SET forgetting = 1 WHERE run_id = ?1",
                "DELETE FROM events WHERE run_id = ?1",
                "UPDATE runs SET forgetting = 0, generation = generation + 1, first_seq = next_seq, mirrored = 0, \
                 ended_seq = NULL, compacted = 0 WHERE run_id = ?1",
            ] {
                tx.execute(text, [key(run_id)]).map_err(sql)?;
            }
            Ok(())
        })
    }

    /// Says that the end was clean. Dropping does the same and hears no error.
    ///
    /// # Errors
    /// [`Error::Disk`]; the next open then leaves some numbers out, nothing else.
    pub fn close(mut self) -> Result<(), Error> {
        self.closed = true;
        schema::close(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.conn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn within<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let mut conn = self.lock();
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
        let done = work(&tx)?;
        tx.commit().map_err(sql)?;
        drop(conn);
        self.watch.tell();
        Ok(done)
    }
}

fn written(events: usize, row: &Row) -> Written {
    let last_seq = u64::try_from(row.next_seq.saturating_sub(1)).unwrap_or_default();
    Written { events, last_seq, ended: row.ended }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.closed {
            schema::close(&self.lock()).ok();
        }
    }
}
