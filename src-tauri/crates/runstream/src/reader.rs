//! Replay pages and what is known of a run. Reads only; as many as wanted beside the writer.

use crate::cursor::{Mark, Stream, resolve};
use crate::envelope::event_id;
use crate::{Envelope, Error, Position, Resumed, Thoughts, schema};
use model::{ConversationId, TaskId, UnixMs};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde::Serialize;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// Payload bytes of one page: a client on a slow line gets its first events soon.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Reads the journal; each one holds a connection of its own.
#[derive(Debug)]
pub struct Reader {
    conn: Mutex<Connection>,
    thoughts: Thoughts,
}

/// A piece of a run's stream, in order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Page {
    /// The run.
    pub run_id: TaskId,
    /// Its events behind the position, oldest first.
    pub events: Vec<Envelope>,
    /// Opaque; give it back to go on behind this page.
    pub cursor: String,
    /// The last event this page or an earlier one gave; none when there was none yet.
    pub last_event_id: Option<String>,
    /// What was made of the position.
    pub resumed: Resumed,
    /// Whether more is there already.
    pub more: bool,
    /// Whether the deltas of this run are gone.
    pub compacted: bool,
}

/// What the journal knows of a run. It never knows whether it is at work now.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The run.
    pub run_id: TaskId,
    /// Its session.
    pub session_id: ConversationId,
    /// When its first event was.
    pub started_at: Option<UnixMs>,
    /// The last event; none when nothing is written yet.
    pub last_event_id: Option<String>,
    /// Opaque cursor behind the last event.
    pub cursor: String,
    /// The terminal event, if it has ended.
    pub ended: Option<Envelope>,
    /// The last event of the ledger that is mirrored.
    pub mirrored: u64,
    /// Whether its deltas are gone.
    pub compacted: bool,
}

struct Head {
    stream: Stream,
    session_id: ConversationId,
    mirrored: u64,
    compacted: bool,
    last_seq: Option<u64>,
    ended_seq: Option<u64>,
}

fn sql(error: rusqlite::Error) -> Error {
    Error::sql("reading the journal", &error)
}

fn damaged<E: ToString>(error: E) -> Error {
    Error::Damaged { why: error.to_string() }
}

fn unsigned(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(|n| u64::try_from(n).unwrap_or_default())
}

impl Reader {
    /// Opens the journal of a store, as its file holds it: without what was reasoned.
    ///
    /// # Errors
    /// [`Error::NoJournal`], [`Error::Damaged`], [`Error::NewerSchema`], [`Error::Disk`].
    pub fn open(dir: &Path) -> Result<Self, Error> {
        Self::hearing(dir, Thoughts::default())
    }

    /// Opens the journal of a store in the process that writes it, with what was reasoned there ([`crate::Writer::thoughts`]).
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn hearing(dir: &Path, thoughts: Thoughts) -> Result<Self, Error> {
        Ok(Self { conn: Mutex::new(schema::open_reader(dir)?), thoughts })
    }

    /// The events behind a position, at most `limit` ([`model::limits::PAGE_ROWS_MAX`] caps it), ordered by `seq`.
    /// An event may come again in another page; a client drops what it has by `event_id` (RA-1.1-5).
    ///
    /// # Errors
    /// [`Error::NoRun`], [`Error::Damaged`], [`Error::Disk`].
    pub fn page(&self, run_id: TaskId, position: &Position, limit: u32) -> Result<Page, Error> {
        self.within(|tx| {
            let head = head(tx, run_id)?.ok_or(Error::NoRun { run_id })?;
            let (after, resumed) = resolve(position, &head.stream);
            let rows = limit.clamp(1, model::limits::PAGE_ROWS_MAX);
            let (events, more) = events(tx, &self.thoughts, &head, after, rows)?;
            let seq = events.last().map_or(after, |event| event.seq);
            let last_event_id = (seq > 0).then(|| event_id(run_id, seq));
            let cursor = mark(&head.stream, seq);
            Ok(Page { run_id, events, cursor, last_event_id, resumed, more, compacted: head.compacted })
        })
    }

    /// What is known of a run.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Disk`].
    pub fn run(&self, run_id: TaskId) -> Result<Option<Run>, Error> {
        self.within(|tx| head(tx, run_id)?.map(|head| run(tx, &self.thoughts, &head)).transpose())
    }

    /// The runs of a session, oldest first: a restarted client finds its run here (RA-2-11).
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Disk`].
    pub fn runs_of(&self, session_id: ConversationId) -> Result<Vec<Run>, Error> {
        let ids = "SELECT run_id FROM runs WHERE session_id = ?1 ORDER BY run_id LIMIT ?2";
        self.within(|tx| {
            let ids = run_ids(tx, ids, params![session_id.to_string(), model::limits::PAGE_ROWS_MAX])?;
            let heads = ids.into_iter().filter_map(|id| head(tx, id).transpose());
            heads.map(|head| run(tx, &self.thoughts, &head?)).collect()
        })
    }

    /// Runs that have ended and still hold their deltas, for [`crate::Writer::compact`].
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Disk`].
    pub fn to_compact(&self, limit: u32) -> Result<Vec<TaskId>, Error> {
        let ids =
            "SELECT run_id FROM runs WHERE ended_seq IS NOT NULL AND compacted = 0 ORDER BY run_id LIMIT ?1";
        self.within(|tx| run_ids(tx, ids, params![limit]))
    }

    fn within<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let mut conn = self.conn.lock().unwrap_or_else(PoisonError::into_inner);
        work(&conn.transaction().map_err(sql)?)
    }
}

fn run_ids(tx: &Transaction<'_>, text: &str, params: impl rusqlite::Params) -> Result<Vec<TaskId>, Error> {
    let mut found = tx.prepare_cached(text).map_err(sql)?;
    let rows = found.query_map(params, |row| row.get::<_, [u8; 16]>(0)).map_err(sql)?;
    rows.map(|bytes| bytes.map_err(sql).and_then(task_id)).collect()
}

/// Identifiers are made of their text alone: this room knows no UUIDs.
fn task_id(bytes: [u8; 16]) -> Result<TaskId, Error> {
    format!("{}_{:032x}", TaskId::PREFIX, u128::from_be_bytes(bytes)).parse().map_err(damaged)
}

fn mark(stream: &Stream, seq: u64) -> String {
    let Stream { journal_id, run_id, generation, .. } = *stream;
    Mark { journal_id, run_id, generation, seq }.to_text()
}

fn head(tx: &Transaction<'_>, run_id: TaskId) -> Result<Option<Head>, Error> {
    let text = "SELECT j.journal_id, r.generation, r.first_seq, r.next_seq, r.session_id, r.mirrored, r.compacted, \
                (SELECT max(seq) FROM events e WHERE e.run_id = r.run_id), r.ended_seq \
                FROM runs r, journal j WHERE r.run_id = ?1";
    let mut found = tx.prepare_cached(text).map_err(sql)?;
    let key = run_id.uuid().into_bytes();
    let read = |row: &Row<'_>| {
        let stream = Stream {
            journal_id: row.get(0)?,
            run_id,
            generation: unsigned(row, 1)?,
            first_seq: unsigned(row, 2)?,
            next_seq: unsigned(row, 3)?,
        };
        let session: String = row.get(4)?;
        let seq = |at: usize| row.get::<_, Option<i64>>(at).map(|n| n.and_then(|n| u64::try_from(n).ok()));
        Ok((stream, session, unsigned(row, 5)?, row.get(6)?, seq(7)?, seq(8)?))
    };
    let found = found.query_row([key], read).optional().map_err(sql)?;
    let Some((stream, session, mirrored, compacted, last_seq, ended_seq)) = found else { return Ok(None) };
    let session_id = session.parse().map_err(damaged)?;
    Ok(Some(Head { stream, session_id, mirrored, compacted, last_seq, ended_seq }))
}

fn run(tx: &Transaction<'_>, thoughts: &Thoughts, head: &Head) -> Result<Run, Error> {
    let Stream { run_id, .. } = head.stream;
    let first = "SELECT created_at FROM events WHERE run_id = ?1 ORDER BY seq LIMIT 1";
    let key = run_id.uuid().into_bytes();
    let started_at = tx.query_row(first, [key], |row| row.get(0)).optional().map_err(sql)?.map(UnixMs);
    let ended = match head.ended_seq {
        None => None,
        Some(seq) => events(tx, thoughts, head, seq.saturating_sub(1), 1)?.0.pop(),
    };
    Ok(Run {
        run_id,
        session_id: head.session_id,
        started_at,
        last_event_id: head.last_seq.map(|seq| event_id(run_id, seq)),
        cursor: mark(&head.stream, head.last_seq.unwrap_or_default()),
        ended,
        mirrored: head.mirrored,
        compacted: head.compacted,
    })
}

/// Events behind `after`, and whether there are more.
fn events(
    tx: &Transaction<'_>,
    thoughts: &Thoughts,
    head: &Head,
    after: u64,
    rows: u32,
) -> Result<(Vec<Envelope>, bool), Error> {
    let text = "SELECT seq, family, created_at, terminal, payload FROM events \
                WHERE run_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut found = tx.prepare_cached(text).map_err(sql)?;
    let Stream { run_id, .. } = head.stream;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let key = run_id.uuid().into_bytes();
    let mut cells = found.query(params![key, after, i64::from(rows) + 1]).map_err(sql)?;
    let (mut events, mut bytes) = (Vec::new(), 0usize);
    while let Some(row) = cells.next().map_err(sql)? {
        let (family, payload): (String, String) = (row.get(1).map_err(sql)?, row.get(4).map_err(sql)?);
        let mut event = Envelope {
            seq: unsigned(row, 0).map_err(sql)?,
            run_id,
            session_id: head.session_id,
            family: FromStr::from_str(&family).map_err(damaged)?,
            created_at: UnixMs(row.get(2).map_err(sql)?),
            terminal: row.get(3).map_err(sql)?,
            payload: serde_json::from_str(&payload).map_err(damaged)?,
        };
        bytes = bytes.saturating_add(payload.len()).saturating_add(thoughts.tell(&mut event));
        let full = events.len() >= rows as usize || (bytes > PAGE_BYTES_MAX && !events.is_empty());
        if full {
            return Ok((events, true));
        }
        events.push(event);
    }
    Ok((events, false))
}
