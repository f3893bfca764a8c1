//! Dropping the tables and folding the whole log again, in one transaction: readers see the old ones until the end.

use crate::fold::{self, Seen, Tasks, Typed, Words};
use crate::{Error, schema};
use rusqlite::{Connection, Rows};
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
    schema::migrate(conn)?;
    let indexes = schema::without_indexes(conn)?;
    let of = conn.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, i64>(0))?;
    let of = u64::try_from(of).unwrap_or(0);
    let (words, tasks) = (Words::default(), Tasks::default());
    let (mut done, mut last) = (0, 0_i64);
    typed(conn, &mut |seq, typed| {
        if done % STRIDE == 0 && progress(Progress { done, of }) == Flow::Cancel {
            return Err(Error::Cancelled);
        }
        last = seq;
        let seen = Seen { conn, seq, event: &typed.event, words: Some(&words), tasks: &tasks };
        fold::fold(&seen, &typed.body, &typed.leaves)?;
        done += 1;
        Ok(())
    })?;
    tasks.flush(conn)?;
    words.flush(conn)?;
    for index in indexes {
        conn.execute_batch(&index)?;
    }
    conn.execute("UPDATE view_meta SET log_seq = ?1", [last])?;
    if progress(Progress { done, of }) == Flow::Cancel {
        return Err(Error::Cancelled);
    }
    Ok(done)
}

/// Events handed to and fro at once, and how many such heaps are under way: memory stays bounded.
const HEAP: usize = 128;
const HEAPS: usize = 8;

type Stored = Vec<(i64, Vec<u8>)>;
type Read = Vec<(i64, Result<Typed, Error>)>;

/// Reads every event in order. Typing it costs as much as folding it, and needs no table: a thread beside does it.
fn typed(conn: &Connection, take: &mut dyn FnMut(i64, Typed) -> Result<(), Error>) -> Result<(), Error> {
    std::thread::scope(|scope| {
        let (to, inbox) = sync_channel::<Stored>(HEAPS);
        let (back, typed) = sync_channel::<Read>(HEAPS);
        scope.spawn(move || {
            for heap in inbox {
                let read = |(seq, bytes): (i64, Vec<u8>)| {
                    (seq, Typed::read(u64::try_from(seq).unwrap_or(0), &bytes))
                };
                if back.send(heap.into_iter().map(read).collect()).is_err() {
                    break;
                }
            }
        });
        let broken = || Error::Event { log_seq: 0, why: "the thread that reads events broke off".to_owned() };
        let mut under_way = 0;
        let mut fold = |under_way: &mut usize| -> Result<(), Error> {
            let heap = typed.recv().map_err(|_| broken())?;
            *under_way -= 1;
            heap.into_iter().try_for_each(|(seq, one)| take(seq, one?))
        };
        let mut found = conn.prepare("SELECT log_seq, bytes FROM events ORDER BY log_seq")?;
        let mut rows = found.query([])?;
        loop {
            let heap = next(&mut rows)?;
            if heap.is_empty() {
                break;
            }
            to.send(heap).map_err(|_| broken())?;
            under_way += 1;
            if under_way == HEAPS {
                fold(&mut under_way)?;
            }
        }
        drop(to);
        while under_way > 0 {
            fold(&mut under_way)?;
        }
        Ok(())
    })
}

fn next(rows: &mut Rows<'_>) -> Result<Stored, Error> {
    let mut heap = Vec::with_capacity(HEAP);
    while heap.len() < HEAP
        && let Some(row) = rows.next()?
    {
        heap.push((row.get(0)?, row.get_ref(1)?.as_bytes().map_err(rusqlite::Error::from)?.to_vec()));
    }
    Ok(heap)
}
