//! Opening the file: pragmas, migrations, what an unclean end leaves behind.

use crate::Error;
use model::chance::Entropy;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the database within the store's folder.
pub const FILE: &str = "journal.db";

/// Version of the tables, kept in `user_version`.
const SCHEMA: u32 = 1;

/// Marks the file as ours: `HRMJ`.
const APPLICATION_ID: i32 = 0x4852_4d4a;

/// Every migration, oldest first.
const MIGRATIONS: [&str; SCHEMA as usize] =
    [include_str!("../../../../migrations/runstream/0001_streams.sql")];

/// Numbers left out after an unclean end: more events than the unsynced part of a log can hold, so that none that
/// a client may have seen is given to another event.
const SKIP: i64 = 1 << 20;

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let sql = |e: rusqlite::Error| Error::sql("opening the journal", &e);
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(sql)?;
    conn.busy_timeout(Duration::from_millis(model::limits::DATABASE_BUSY_MS_MAX)).map_err(sql)?;
    Ok(conn)
}

/// The schema found: 0 for a file in which nothing was ever committed.
fn version(conn: &Connection) -> Result<u32, Error> {
    let sql = |e: rusqlite::Error| Error::sql("reading the first page of the journal", &e);
    let read = |pragma: &str| conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).map_err(sql);
    let count = "SELECT count(*) FROM sqlite_schema";
    let tables: i64 = conn.query_row(count, [], |row| row.get(0)).map_err(sql)?;
    let found = read("user_version")?;
    if tables == 0 && found == 0 {
        return Ok(0);
    }
    if read("application_id")? != i64::from(APPLICATION_ID) {
        return Err(Error::Damaged { why: "it is a database of another program".to_owned() });
    }
    match u32::try_from(found) {
        Ok(found) if found > SCHEMA => Err(Error::NewerSchema { found, known: SCHEMA }),
        Ok(found) if found > 0 => Ok(found),
        _ => Err(Error::Damaged { why: format!("its schema version is {found}") }),
    }
}

/// Opens for writing. After an unclean end the pages are checked and numbers are left out (invariant 1).
pub(crate) fn open_writer(dir: &Path, entropy: &dyn Entropy) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    close_to_others(&dir.join(FILE))?;
    let mut conn = connect(&dir.join(FILE), flags)?;
    let sql = |e: rusqlite::Error| Error::sql("opening the journal", &e);
    let found = version(&conn)?;
    let mode: String =
        conn.pragma_update_and_check(None, "journal_mode", "wal", |r| r.get(0)).map_err(sql)?;
    if mode != "wal" {
        let why = format!("this file system keeps SQLite from using WAL (it says `{mode}`)");
        return Err(Error::Disk { doing: "opening the journal", why });
    }
    // What is deleted may be a text that was erased from the ledger: no bytes of it stay in a page.
    for (pragma, value) in [("synchronous", "full"), ("foreign_keys", "on"), ("secure_delete", "on")] {
        conn.pragma_update(None, pragma, value).map_err(sql)?;
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
    for migration in MIGRATIONS.get(found as usize..).unwrap_or_default() {
        tx.execute_batch(migration).map_err(sql)?;
    }
    if found == 0 {
        let first = "INSERT INTO journal (one, journal_id, clean) VALUES (1, ?1, 1)";
        tx.execute(first, [entropy.salt().as_slice()]).map_err(sql)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID).map_err(sql)?;
    }
    tx.pragma_update(None, "user_version", SCHEMA).map_err(sql)?;
    let clean: bool = tx.query_row("SELECT clean FROM journal", [], |row| row.get(0)).map_err(sql)?;
    if !clean {
        let said: String = tx.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(sql)?;
        if said != "ok" {
            return Err(Error::Damaged { why: said });
        }
        tx.execute("UPDATE runs SET next_seq = next_seq + ?1 WHERE ended_seq IS NULL", [SKIP])
            .map_err(sql)?;
    }
    tx.execute("UPDATE journal SET clean = 0", []).map_err(sql)?;
    tx.commit().map_err(sql)?;
    // Known to be in use is on disk before the first event is; from here on speed matters more (recovery.md: never truth).
    conn.pragma_update(None, "synchronous", "normal").map_err(sql)?;
    Ok(conn)
}

/// Sees to it that the file is there for its owner alone: SQLite gives its own files the mode of the first.
fn close_to_others(path: &Path) -> Result<(), Error> {
    disk::owner_only::database(path)
        .map_err(|e| Error::Disk { doing: "opening the journal", why: e.to_string() })
}

/// Says that the end was clean, with everything on disk.
pub(crate) fn close(conn: &Connection) -> Result<(), Error> {
    let sql = |e: rusqlite::Error| Error::sql("closing the journal", &e);
    conn.pragma_update(None, "synchronous", "full").map_err(sql)?;
    conn.execute("UPDATE journal SET clean = 1", []).map_err(sql)?;
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(sql)
}

/// Opens for reading; makes nothing.
pub(crate) fn open_reader(dir: &Path) -> Result<Connection, Error> {
    let path = dir.join(FILE);
    let none = || Error::NoJournal { dir: dir.display().to_string() };
    if std::fs::metadata(&path).map_or(0, |m| m.len()) == 0 {
        return Err(none());
    }
    let conn = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if version(&conn)? == 0 {
        return Err(none());
    }
    Ok(conn)
}

/// Moves a damaged journal out of the way, so that the next open makes a new one; nobody may have it open.
/// Answers where it lies now, or nothing when there was none.
///
/// # Errors
/// [`Error::Disk`] when the file system refuses.
pub fn set_aside(dir: &Path) -> Result<Option<PathBuf>, Error> {
    let disk = |e: std::io::Error| Error::Disk { doing: "setting the journal aside", why: e.to_string() };
    let from = dir.join(FILE);
    if !from.exists() {
        return Ok(None);
    }
    // The newest few are kept: whoever looks for the fault needs no more, and a disk that lies makes many.
    let named = |n: usize, tail: &str| dir.join(format!("{FILE}.damaged-{n}{tail}"));
    let place = (1..DAMAGED_MAX).find(|n| !named(*n, "").exists()).unwrap_or(DAMAGED_MAX);
    for tail in ["", "-wal", "-shm"] {
        if named(DAMAGED_MAX, "").exists() {
            for n in 1..DAMAGED_MAX {
                rename_if_there(&named(n + 1, tail), &named(n, tail)).map_err(disk)?;
            }
        }
    }
    let to = named(place, "");
    for tail in ["-wal", "-shm", ""] {
        rename_if_there(&dir.join(format!("{FILE}{tail}")), &named(place, tail)).map_err(disk)?;
    }
    Ok(Some(to))
}

/// Damaged journals that are kept at most.
const DAMAGED_MAX: usize = 3;

/// The file takes the other's place; where there is no file, the other goes, because it belongs to one that went.
fn rename_if_there(from: &Path, to: &Path) -> std::io::Result<()> {
    let done = if from.exists() { std::fs::rename(from, to) } else { std::fs::remove_file(to) };
    match done {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Damaged journals that were set aside in the store's folder.
#[must_use]
pub fn damaged(dir: &Path) -> Vec<PathBuf> {
    (1..=DAMAGED_MAX).map(|n| dir.join(format!("{FILE}.damaged-{n}"))).filter(|path| path.exists()).collect()
}
