//! Dropping the tables and folding the whole log again, in one transaction: readers see the old ones until the end.

use crate::fold::{self, Docs, Forgotten, Seen, Typed};
use crate::rows::Rows as Waiting;
use crate::{Error, schema};
use model::Digest;
use rusqlite::{Connection, Rows};
use std::collections::BTreeSet;
use std::sync::mpsc::sync_channel;

/// Events between two reports of progress.
const STRIDE: u64 = 1_000;

/// How far a rebuild has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Events folded.
    pub done: u64,
    /// Events there are.
    pub of: u64,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop, and leave everything as it was.
    Cancel,
}

/// Drops every table and folds the log anew, on the writer's connection; returns how many events that were.
/// All of it happens in one transaction (a savepoint, where one is open already).
///
/// # Errors
/// [`Error::Cancelled`] when `progress` says so, [`Error::Event`] for an event this program cannot read; the tables
/// are then as they were.
pub fn rebuild(conn: &Connection, progress: &mut dyn FnMut(Progress) -> Flow) -> Result<u64, Error> {
    conn.set_prepared_statement_cache_capacity(fold::STATEMENTS);
    conn.execute_batch("SAVEPOINT rebuild")?;
    match refold(conn, progress) {
        Ok(done) => {
            conn.execute_batch("RELEASE rebuild")?;
            Ok(done)
        }
        Err(error) => {
            conn.execute_batch("ROLLBACK TO rebuild; RELEASE rebuild")?;
            Err(error)
        }
    }
}

fn refold(conn: &Connection, progress: &mut dyn FnMut(Progress) -> Flow) -> Result<u64, Error> {
    schema::drop_all(conn)?;
    schema::make_tables(conn)?;
    let of = conn.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, i64>(0))?;
    let of = u64::try_from(of).unwrap_or(0);
    let (docs, waiting, forgotten) = (Docs::default(), Waiting::new(true), Forgotten::default());
    let (mut done, mut last) = (0, 0_i64);
    typed(conn, &mut |seq, typed| {
        if done % STRIDE == 0 && progress(Progress { done, of }) == Flow::Cancel {
            return Err(Error::Cancelled);
        }
        last = seq;
        let seq = u64::try_from(seq).unwrap_or(0);
        let (event, bytes) = (&typed.event, &*typed.bytes);
        let seen = Seen { conn, seq, event, bytes, docs: Some(&docs), rows: &waiting, forgotten: &forgotten };
        fold::fold(&seen, &typed.body, typed.leaves)?;
        done += 1;
        Ok(())
    })?;
    waiting.write(conn)?;
    docs.write(conn)?;
    forgotten.drop_words(conn)?;
    schema::make_indexes(conn)?;
    conn.execute("UPDATE view_meta SET log_seq = ?1", [last])?;
    if progress(Progress { done, of }) == Flow::Cancel {
        return Err(Error::Cancelled);
    }
    Ok(done)
}

/// Events handed to and fro at once, and how many such heaps are under way for each thread: memory stays bounded.
const HEAP: usize = 64;
const HEAPS: usize = 4;

/// More threads than this wait for the one that folds.
const THREADS_MAX: usize = 4;

/// An event as stored, and what opens its leaves.
struct Stored {
    seq: i64,
    bytes: Vec<u8>,
    opened: Vec<(Digest, Vec<u8>)>,
}

impl Stored {
    fn typed(self) -> (i64, Result<Typed<'static>, Error>) {
        let opened: Vec<(Digest, &[u8])> =
            self.opened.iter().map(|(digest, bytes)| (*digest, bytes.as_slice())).collect();
        (self.seq, Typed::read(u64::try_from(self.seq).unwrap_or(0), self.bytes.into(), &opened))
    }
}

/// Reads every event in order. Typing it costs more than folding it, and needs no table: threads beside do it, each a
/// heap in turn, and what they made is taken up in the same turn.
fn typed(conn: &Connection, take: &mut dyn FnMut(i64, Typed<'_>) -> Result<(), Error>) -> Result<(), Error> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(THREADS_MAX));
    std::thread::scope(|scope| {
        let hand = |_| {
            let (to, inbox) = sync_channel::<Vec<Stored>>(HEAPS);
            let (back, typed) = sync_channel(HEAPS);
            scope.spawn(move || {
                for heap in inbox {
                    let read: Vec<_> = heap.into_iter().map(Stored::typed).collect();
                    if back.send(read).is_err() {
                        break;
                    }
                }
            });
            (to, typed)
        };
        let executors: Vec<_> = (0..threads).map(hand).collect();
        let broken = || Error::Event { log_seq: 0, why: "a thread that reads events broke off".to_owned() };
        let mut turns = executors.iter().cycle();
        let mut fold = || -> Result<(), Error> {
            let (_, typed) = turns.next().ok_or_else(broken)?;
            let heap: Vec<(i64, Result<Typed<'static>, Error>)> = typed.recv().map_err(|_| broken())?;
            heap.into_iter().try_for_each(|(seq, one)| take(seq, one?))
        };
        let skipped = unreadable(conn)?;
        let mut found = conn.prepare("SELECT log_seq, bytes FROM events ORDER BY log_seq")?;
        let mut rows = found.query([])?;
        let mut found = conn.prepare(DISCLOSURES)?;
        let mut opened = Disclosures { rows: found.query([])?, ahead: None };
        let mut under_way = 0;
        for (to, _) in executors.iter().cycle() {
            let heap = next(&mut rows, &mut opened, &skipped)?;
            if heap.is_empty() {
                break;
            }
            to.send(heap).map_err(|_| broken())?;
            under_way += 1;
            if under_way == HEAPS * threads {
                fold()?;
                under_way -= 1;
            }
        }
        (0..under_way).try_for_each(|_| fold())
        // Leaving drops the ends of the channels, and the threads find nobody to hand over to.
    })
}

/// Rows that were severed and are no events any more: nothing can be folded from them.
fn unreadable(conn: &Connection) -> Result<BTreeSet<i64>, Error> {
    let mut skipped = BTreeSet::new();
    for one in ledger::severed::all(conn)? {
        let text =
            "SELECT log_seq, hash, bytes FROM events WHERE task_id = ?1 AND task_seq BETWEEN ?2 AND ?3";
        let mut found = conn.prepare(text)?;
        let numbers = (fold::int(one.from_seq), fold::int(one.to_seq));
        let mut rows = found.query((one.task.uuid().as_bytes().as_slice(), numbers.0, numbers.1))?;
        while let Some(row) = rows.next()? {
            let hash = row.get_ref(1)?.as_blob().unwrap_or_default();
            if Digest::of(row.get_ref(2)?.as_blob().unwrap_or_default()).as_bytes().as_slice() != hash {
                skipped.insert(row.get(0)?);
            }
        }
    }
    Ok(skipped)
}

fn next(
    rows: &mut Rows<'_>,
    opened: &mut Disclosures<'_>,
    skipped: &BTreeSet<i64>,
) -> Result<Vec<Stored>, Error> {
    let mut heap = Vec::with_capacity(HEAP);
    while heap.len() < HEAP
        && let Some(row) = rows.next()?
    {
        let seq = row.get(0)?;
        if skipped.contains(&seq) {
            continue;
        }
        let bytes = row.get_ref(1)?.as_bytes().map_err(rusqlite::Error::from)?.to_vec();
        heap.push(Stored { seq, bytes, opened: opened.of(seq)? });
    }
    Ok(heap)
}

/// Disclosures were recorded in the order of their events, so both are read side by side; one that stands elsewhere
/// is looked up when its leaf is folded.
const DISCLOSURES: &str =
    "SELECT log_seq, digest, bytes FROM disclosures WHERE log_seq IS NOT NULL ORDER BY disclosure_seq";

struct Disclosures<'a> {
    rows: Rows<'a>,
    ahead: Option<(i64, Digest, Vec<u8>)>,
}

impl Disclosures<'_> {
    fn of(&mut self, seq: i64) -> Result<Vec<(Digest, Vec<u8>)>, Error> {
        let mut opened = Vec::new();
        loop {
            if self.ahead.is_none() {
                let Some(row) = self.rows.next()? else { return Ok(opened) };
                let bytes = row.get_ref(2)?.as_bytes().map_err(rusqlite::Error::from)?.to_vec();
                self.ahead = Some((row.get(0)?, Digest(row.get(1)?), bytes));
            }
            match self.ahead.take_if(|(of, ..)| *of <= seq) {
                Some((of, digest, bytes)) if of == seq => opened.push((digest, bytes)),
                Some(_) => {}
                None => return Ok(opened),
            }
        }
    }
}
