//! What a person severed: a broken chain is never reset, it is anchored anew (proof.md 2).
//!
//! A `chain.reanchored` event names a task, the first number of it that did not fit, and the digest of everything that
//! stood from there on when the event was written: rows as they were found, and the checkpoints that had signed for
//! others. All of it stays, readable, and is named for ever; nothing vouches for it any more. What comes after goes on
//! from the last of those rows, and the task's tree is from then on that of the bytes which are there; a row that was
//! lost is the leaf of no bytes.

use crate::rows::{Hash, Id, count, int};
use crate::{Error, Reader, Stored};
use model::body::{Body, KeyPurpose, PersonDecided};
use model::{Event, TaskId, UnixMs};
use rusqlite::{Connection, OptionalExtension, params};
use seal::{Digest, Hasher, PublicKey, Signature};
use serde::Deserialize;

/// The first schema in which there can be one.
const SINCE_SCHEMA: i64 = 3;

/// The end of one task's chain that was severed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Severed {
    /// Whose.
    pub task: TaskId,
    /// The first number that did not fit.
    pub from_seq: u64,
    /// The last number there was; below `from_seq` when every row from there on was gone.
    pub to_seq: u64,
    /// Rows of these that are there.
    pub rows: u64,
    /// Checkpoints of the task that had signed for something else.
    pub checkpoints: u64,
    /// Digest of all of it, as the event says it.
    pub digest: Digest,
    /// Why, in the words of the person; none when they were erased.
    pub reason: Option<String>,
    /// When.
    pub at: UnixMs,
    /// Where the event stands in the whole log.
    pub log_seq: u64,
    /// Whose stream it is in, and where.
    pub by: (TaskId, u64),
    pub(crate) epoch: u64,
}

impl Severed {
    /// Whether this row is part of it.
    #[must_use]
    pub fn covers(&self, task: TaskId, task_seq: u64, log_seq: u64) -> bool {
        let within = task_seq >= self.from_seq && task_seq <= self.to_seq;
        self.task == task && within && log_seq < self.log_seq
    }

    /// Whether a checkpoint of the task signed for something of it before it was severed.
    const fn outlives(&self, size: u64, epoch: u64) -> bool {
        size < self.from_seq || epoch >= self.epoch
    }

    /// Rows that are gone.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        (self.to_seq + 1).saturating_sub(self.from_seq).saturating_sub(self.rows)
    }
}

/// Whether a row is part of something severed.
pub(crate) fn covered(all: &[Severed], task: TaskId, task_seq: u64, log_seq: u64) -> bool {
    all.iter().any(|one| one.covers(task, task_seq, log_seq))
}

/// Whether a row can still be taken for an event: it was not severed, or its bytes are at least those of its hash.
pub(crate) fn readable(all: &[Severed], row: &Stored) -> bool {
    !covered(all, row.task_id, row.task_seq, row.log_seq) || Digest::of(&row.bytes) == row.hash
}

/// Whether a checkpoint of a task still says what stands.
pub(crate) fn stands(all: &[Severed], task: Option<TaskId>, size: u64, epoch: u64) -> bool {
    all.iter().filter(|one| Some(one.task) == task).all(|one| one.outlives(size, epoch))
}

/// What a person signs: the digest that names the severing of `digest` from `from_seq` on.
///
/// # Errors
/// [`Error::Signing`] when there is no canonical form, which does not happen.
pub fn subject(task: TaskId, from_seq: u64, digest: Digest) -> Result<Digest, Error> {
    let value = serde_json::json!({ "about_task_id": task, "from_seq": from_seq, "severed_sha256": digest });
    Ok(Digest::of(&seal::canon::canonical_value(&value).map_err(Error::Signing)?))
}

/// Rows and checkpoints that a severing covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Digest of them.
    pub digest: Digest,
    /// The last number there is.
    pub to_seq: u64,
    /// Rows.
    pub rows: u64,
    /// Checkpoints.
    pub checkpoints: u64,
}

/// What there is of a task from a number on, before a place in the log and an epoch. One line of text for each row and
/// each checkpoint, so that anybody can make the digest again.
pub(crate) fn extent(
    conn: &Connection,
    task: TaskId,
    from_seq: u64,
    before: (i64, i64),
) -> rusqlite::Result<Extent> {
    let (mut hasher, mut rows_found, mut checkpoints) = (Hasher::new(), 0, 0);
    let mut to_seq = from_seq.saturating_sub(1);
    let text = "SELECT log_seq, task_seq, epoch, event_id, event_type, idempotency_key, hash, bytes FROM events \
                WHERE task_id = ?1 AND task_seq >= ?2 AND log_seq < ?3 ORDER BY task_seq";
    let mut found = conn.prepare(text)?;
    let mut rows = found.query(params![Id::from(task), int(from_seq), before.0])?;
    while let Some(row) = rows.next()? {
        let (log_seq, seq, epoch): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let id = row.get::<_, Id>(3)?.event();
        let (kind, key): (String, Option<String>) = (row.get(4)?, row.get(5)?);
        let (hash, bytes) =
            (row.get::<_, Hash>(6)?.0, Digest::of(row.get_ref(7)?.as_blob().unwrap_or_default()));
        let key = serde_json::Value::from(key);
        hasher.update(format!("event {log_seq} {seq} {epoch} {id} {kind} {key} {hash} {bytes}\n").as_bytes());
        to_seq = to_seq.max(count(seq));
        rows_found += 1;
    }
    let text = "SELECT checkpoint_seq, size, note FROM checkpoints WHERE kind = 'task' AND task_id = ?1 AND size >= ?2 \
                AND epoch < ?3 ORDER BY checkpoint_seq";
    let mut found = conn.prepare(text)?;
    let mut rows = found.query(params![Id::from(task), int(from_seq), before.1])?;
    while let Some(row) = rows.next()? {
        let (number, size): (i64, i64) = (row.get(0)?, row.get(1)?);
        let note = Digest::of(row.get_ref(2)?.as_blob().unwrap_or_default());
        hasher.update(format!("checkpoint {number} {size} {note}\n").as_bytes());
        checkpoints += 1;
    }
    Ok(Extent { digest: hasher.finish(), to_seq, rows: rows_found, checkpoints })
}

/// The last number, the rows and the checkpoints of an extent, without reading them.
fn size(
    conn: &Connection,
    task: TaskId,
    from_seq: u64,
    before: (i64, i64),
) -> rusqlite::Result<(u64, u64, u64)> {
    let text = "SELECT coalesce(max(task_seq), ?2 - 1), count(*) FROM events \
                WHERE task_id = ?1 AND task_seq >= ?2 AND log_seq < ?3";
    let place = params![Id::from(task), int(from_seq), before.0];
    let (to, rows) = conn.prepare_cached(text)?.query_row(place, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let text =
        "SELECT count(*) FROM checkpoints WHERE kind = 'task' AND task_id = ?1 AND size >= ?2 AND epoch < ?3";
    let place = params![Id::from(task), int(from_seq), before.1];
    let checkpoints = conn.prepare_cached(text)?.query_row(place, |row| row.get(0))?;
    Ok((count(to), count(rows), count(checkpoints)))
}

/// Everything that was ever severed, in the order of the events that say so.
///
/// # Errors
/// [`Error::Io`], [`Error::Corrupt`].
pub fn all(conn: &Connection) -> Result<Vec<Severed>, Error> {
    let sql = |e: rusqlite::Error| Error::sql("reading what was severed", &e);
    let schema: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(sql)?;
    if schema < SINCE_SCHEMA {
        return Ok(Vec::new());
    }
    let text = "SELECT log_seq, epoch, task_id, task_seq, bytes FROM events \
                WHERE event_type = 'chain.reanchored' ORDER BY log_seq";
    let mut found = conn.prepare_cached(text).map_err(sql)?;
    let mut rows = found.query([]).map_err(sql)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next().map_err(sql)? {
        let read = || -> rusqlite::Result<_> {
            let by = (row.get::<_, Id>(2)?.task(), count(row.get(3)?));
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, by, row.get::<_, Vec<u8>>(4)?))
        };
        let (log_seq, epoch, by, bytes) = read().map_err(sql)?;
        // One that cannot be read severs nothing, and verification finds it.
        let Ok(event) = Event::from_bytes(&bytes) else { continue };
        let opened = |digest: &Digest| opened(conn, digest).ok().flatten();
        let Ok(Body::ChainReanchored(body)) = event.body(&opened) else { continue };
        let (task, from_seq) = (body.about_task_id, body.from_seq);
        let (to_seq, rows, checkpoints) = size(conn, task, from_seq, (log_seq, epoch)).map_err(sql)?;
        all.push(Severed {
            task,
            from_seq,
            to_seq,
            rows,
            checkpoints,
            digest: body.severed_sha256,
            reason: body.reason.shown().cloned(),
            at: event.occurred_at,
            log_seq: count(log_seq),
            by,
            epoch: count(epoch),
        });
    }
    Ok(all)
}

fn opened(conn: &Connection, digest: &Digest) -> rusqlite::Result<Option<Vec<u8>>> {
    let text = "SELECT bytes FROM disclosures WHERE digest = ?1";
    conn.prepare_cached(text)?.query_row([Hash(*digest)], |row| row.get(0)).optional()
}

/// What a person signed, as far as it matters here.
#[derive(Deserialize)]
struct Decision {
    log_id: String,
    matter: String,
    subject_sha256: Digest,
}

/// Whether what is there is still what was severed, and a person with the approval key says so in the next event.
pub(crate) fn holds(conn: &Connection, log_id: &str, one: &Severed) -> Result<Result<(), String>, Error> {
    let sql = |e: rusqlite::Error| Error::sql("reading what was severed", &e);
    let before = (int(one.log_seq), int(one.epoch));
    if extent(conn, one.task, one.from_seq, before).map_err(sql)?.digest != one.digest {
        return Ok(Err("what it severed is not what stands there".to_owned()));
    }
    let said: Option<Vec<u8>> = conn
        .prepare_cached("SELECT bytes FROM events WHERE task_id = ?1 AND task_seq = ?2")
        .and_then(|mut found| {
            let place = params![Id::from(one.by.0), int(one.by.1 + 1)];
            found.query_row(place, |row| row.get(0)).optional()
        })
        .map_err(sql)?;
    let nobody = || Err("no decision of a person stands behind it".to_owned());
    let body = said.and_then(|bytes| Event::from_bytes(&bytes).ok()?.body(&|_| None).ok());
    let Some(Body::PersonDecided(person)) = body else { return Ok(nobody()) };
    let Ok(decision) = serde_json::from_str::<Decision>(&person.decision) else { return Ok(nobody()) };
    let fits = decision.log_id == log_id
        && decision.matter == "reanchor"
        && decision.subject_sha256 == subject(one.task, one.from_seq, one.digest)?;
    if !fits {
        return Ok(Err("the decision behind it is about something else".to_owned()));
    }
    Ok(if signed(conn, one, &person).map_err(sql)? {
        Ok(())
    } else {
        Err("the decision behind it is not signed by an approval key of this store".to_owned())
    })
}

/// Whether an approval key that was made known before signed the decision.
fn signed(conn: &Connection, one: &Severed, person: &PersonDecided) -> rusqlite::Result<bool> {
    let text = "SELECT bytes FROM events WHERE task_id = ?1 AND log_seq < ?2 \
                AND event_type IN ('key.registered', 'key.rotated')";
    let mut found = conn.prepare(text)?;
    let mut rows = found.query(params![Id::from(one.by.0), int(one.log_seq)])?;
    let Ok(signature) = person.signature.parse::<Signature>() else { return Ok(false) };
    while let Some(row) = rows.next()? {
        let bytes: Vec<u8> = row.get(0)?;
        let body = Event::from_bytes(&bytes).ok().and_then(|event| event.body(&|_| None).ok());
        let key: PublicKey = match body {
            Some(Body::KeyRegistered(b)) if b.purpose == KeyPurpose::Approval => b.public_key,
            Some(Body::KeyRotated(b)) if b.purpose == KeyPurpose::Approval => b.public_key,
            _ => continue,
        };
        if key.keyid() == person.keyid && key.verify(person.decision.as_bytes(), &signature).is_ok() {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Reader {
    /// Everything that a person severed, oldest first; nearly always nothing.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn severed(&self) -> Result<Vec<Severed>, Error> {
        self.with(all)
    }

    /// The rows of one severing as they are, behind `after_seq`, at most `max`: they are read and not believed.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn severed_rows(&self, one: &Severed, after_seq: u64, max: usize) -> Result<Vec<Stored>, Error> {
        let after = after_seq.max(one.from_seq.saturating_sub(1));
        let mut rows = self.raw_events(one.task, after, max)?;
        rows.retain(|row| one.covers(row.task_id, row.task_seq, row.log_seq));
        Ok(rows)
    }

    /// What severing a task from a number on would cover now, for a writer of this epoch.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn severable(&self, task: TaskId, from_seq: u64, epoch: u64) -> Result<Extent, Error> {
        self.read("reading what is to be severed", |conn| {
            extent(conn, task, from_seq, (i64::MAX, int(epoch)))
        })
    }
}
