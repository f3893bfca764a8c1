//! Dropping the tables and folding the whole log again, in one transaction: readers see the old ones until the end.

use crate::fold::{self, Seen};
use crate::{Error, schema};
use model::Event;
use rusqlite::Connection;

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
    let of = conn.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, i64>(0))?;
    let of = u64::try_from(of).unwrap_or(0);
    let mut found = conn.prepare("SELECT log_seq, bytes FROM events ORDER BY log_seq")?;
    let mut rows = found.query([])?;
    let (mut done, mut last) = (0, 0_i64);
    while let Some(row) = rows.next()? {
        if done % STRIDE == 0 && progress(Progress { done, of }) == Flow::Cancel {
            return Err(Error::Cancelled);
        }
        last = row.get(0)?;
        let log_seq = u64::try_from(last).unwrap_or(0);
        let bytes = row.get_ref(1)?.as_bytes().map_err(rusqlite::Error::from)?;
        // Whether the bytes are canonical is for verification to say; here they are only read.
        let event: Event =
            serde_json::from_slice(bytes).map_err(|e| Error::Event { log_seq, why: e.to_string() })?;
        fold::fold(&Seen { conn, seq: last, event: &event })?;
        done += 1;
    }
    conn.execute("UPDATE view_meta SET log_seq = ?1", [last])?;
    if progress(Progress { done, of }) == Flow::Cancel {
        return Err(Error::Cancelled);
    }
    Ok(done)
}
