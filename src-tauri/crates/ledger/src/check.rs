//! What is looked at whenever a store is opened for writing: the ends of the chains, and what was signed for. All of it is `verify`'s.

use crate::rows::{Hash, Id, count};
use crate::verify::Changed;
use crate::{Error, schema, severed};
use rusqlite::{Connection, OptionalExtension};
use seal::{Digest, PublicKey};
use std::path::Path;

/// Rows looked at, counted from the end: what the last commits wrote.
const TAIL: u32 = 64;

/// Refuses a store in which something stands otherwise than one of these keys signed it.
pub(crate) fn signed(conn: &Connection, keys: &[PublicKey]) -> Result<(), Error> {
    let named = conn.query_row("SELECT log_id FROM store", [], |row| row.get::<_, String>(0)).optional();
    let Some(log_id) = named.map_err(|e| Error::sql("reading the log's name", &e))? else { return Ok(()) };
    match crate::verify::stands::look(conn, &log_id, keys)? {
        Some(Changed { own, why }) => Err(Error::Changed { own, why }),
        None => Ok(()),
    }
}

/// Refuses a store whose last rows do not hash to what they say, but for those that a person severed.
pub(crate) fn ends(conn: &Connection, dir: &Path) -> Result<(), Error> {
    let path = schema::path(dir);
    let damaged = |e: rusqlite::Error| match Error::sql("reading the end of the log", &e) {
        Error::Corrupt { why, .. } => Error::corrupt(&path, why),
        other => other,
    };
    let known = severed::all(conn)?;
    let read = || -> rusqlite::Result<Option<String>> {
        let text =
            "SELECT log_seq, task_id, hash, bytes, task_seq FROM events ORDER BY log_seq DESC LIMIT ?1";
        let mut found = conn.prepare(text)?;
        let mut rows = found.query([TAIL])?;
        while let Some(row) = rows.next()? {
            let (place, task) = (row.get::<_, i64>(0)?, row.get::<_, Id>(1)?.task());
            if Digest::of(row.get_ref(3)?.as_blob().unwrap_or_default()) != row.get::<_, Hash>(2)?.0
                && !severed::covered(&known, task, count(row.get(4)?), count(place))
            {
                return Ok(Some(format!(
                    "event {place} of the log, of task `{task}`, does not hash to its hash"
                )));
            }
        }
        Ok(None)
    };
    match read().map_err(damaged)? {
        Some(why) => Err(Error::corrupt(&path, why)),
        None => Ok(()),
    }
}
