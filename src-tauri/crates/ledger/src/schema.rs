//! Opening the file: version of SQLite, pragmas, migrations, and what is refused before a row is read.

use crate::Error;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the database within the store's folder.
pub const FILE: &str = "ledger.db";

/// Version of the ground tables, kept in `user_version`.
pub const SCHEMA: u32 = 3;

/// Marks the file as ours: `HRMT`.
const APPLICATION_ID: i32 = 0x4852_4d54;

/// Below this SQLite may lose a WAL that is reset while a reader checkpoints it.
const SQLITE_MIN: i32 = 3_051_003;

/// Every migration of the ground, oldest first. Frozen in tests/house/migrations.sha256.
const MIGRATIONS: [&str; SCHEMA as usize] = [
    include_str!("../../../../migrations/ledger/0001_ground.sql"),
    include_str!("../../../../migrations/ledger/0002_erasures.sql"),
    include_str!("../../../../migrations/ledger/0003_severed.sql"),
];

/// The oldest schema that is read as it is; a host that opens the store for writing brings it up to date.
const READABLE: u32 = 1;

/// Bytes of a page; a step of a few events fits into a handful of them.
pub(crate) const PAGE_BYTES: u32 = 4096;

/// Pages the writer keeps in memory. A step touches a dozen pages in as many indexes, and their inner pages with it.
const CACHE_KIB: i64 = 16 << 10;

pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

fn assert_version() -> Result<(), Error> {
    if rusqlite::version_number() >= SQLITE_MIN {
        return Ok(());
    }
    let why = format!("SQLite {} can lose a commit; build Hermit with its bundled one", rusqlite::version());
    Err(Error::ReadOnly { why })
}

/// Opens for writing, making the file and bringing it up to date. The caller holds the lock.
pub(crate) fn open_writer(dir: &Path) -> Result<Connection, Error> {
    assert_version()?;
    if !has_room(dir) {
        return Err(Error::Full);
    }
    let path = path(dir);
    let sql = |e: rusqlite::Error| Error::sql("opening the ledger", &e);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    crate::owner_only::database(&path)
        .map_err(|e| Error::file(format!("opening `{}`", path.display()), &e))?;
    let mut conn = Connection::open_with_flags(&path, flags).map_err(sql)?;
    conn.busy_timeout(busy()).map_err(sql)?;
    conn.set_prepared_statement_cache_capacity(128);
    let found = version(&conn, &path)?;
    if found == 0 {
        conn.pragma_update(None, "page_size", PAGE_BYTES).map_err(sql)?;
    }
    let mode: String =
        conn.pragma_update_and_check(None, "journal_mode", "wal", |r| r.get(0)).map_err(sql)?;
    if mode != "wal" {
        return Err(Error::ReadOnly {
            why: format!("this file system keeps SQLite from using WAL (it says `{mode}`)"),
        });
    }
    // Checkpoints run between commits, not inside them; deleted disclosures leave no bytes behind in their pages.
    for (pragma, value) in [("synchronous", "full"), ("foreign_keys", "on"), ("wal_autocheckpoint", "0")] {
        conn.pragma_update(None, pragma, value).map_err(sql)?;
    }
    for (pragma, value) in [("secure_delete", "on"), ("fullfsync", "on"), ("checkpoint_fullfsync", "on")] {
        conn.pragma_update(None, pragma, value).map_err(sql)?;
    }
    conn.pragma_update(None, "cache_size", -CACHE_KIB).map_err(sql)?;
    keep_plans(&conn).map_err(sql)?;
    migrate(&mut conn, found)?;
    Ok(conn)
}

/// Room that SQLite's index of the WAL takes, twice. It is written through memory, and where a block of it cannot be
/// had the system ends the process without a word.
const ROOM_MIN: u64 = 64 << 10;

/// Whether the disk has room for what SQLite makes beside the file. A file system that does not say has.
pub(crate) fn has_room(dir: &Path) -> bool {
    disk::space(dir).map_or(true, |space| space.total == 0 || space.available >= ROOM_MIN)
}

/// How a store is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Beside a host, which may be writing.
    Beside,
    /// With nothing made beside it: nobody writes, and its WAL is empty.
    Still,
}

/// Opens for reading; makes nothing, migrates nothing.
pub(crate) fn open_reader(dir: &Path, reading: Reading) -> Result<Connection, Error> {
    assert_version()?;
    let path = path(dir);
    if std::fs::metadata(&path).map_or(0, |m| m.len()) == 0 {
        return Err(Error::NoStore { dir: dir.display().to_string() });
    }
    let sql = |e: rusqlite::Error| Error::sql("opening the ledger", &e);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = match reading {
        Reading::Beside => Connection::open_with_flags(&path, flags),
        Reading::Still => Connection::open_with_flags(still(&path), flags | OpenFlags::SQLITE_OPEN_URI),
    };
    let conn = conn.map_err(sql)?;
    conn.busy_timeout(busy()).map_err(sql)?;
    conn.set_prepared_statement_cache_capacity(64);
    conn.pragma_update(None, "query_only", "on").map_err(sql)?;
    keep_plans(&conn).map_err(sql)?;
    match version(&conn, &path)? {
        0 => Err(Error::NoStore { dir: dir.display().to_string() }),
        READABLE..=SCHEMA => Ok(conn),
        older => Err(Error::ReadOnly {
            why: format!(
                "its schema {older} is older than {SCHEMA}; let a host open it once to bring it up to date"
            ),
        }),
    }
}

/// The address under which SQLite takes a file for one that nobody changes.
fn still(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                address.push(char::from(*byte))
            }
            other => address.push_str(&format!("%{other:02x}")),
        }
    }
    address.push_str("?immutable=1");
    address
}

/// A plan never depends on the values of a question; otherwise one that asks for a range is planned anew each time.
fn keep_plans(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

const fn busy() -> Duration {
    Duration::from_millis(model::limits::DATABASE_BUSY_MS_MAX)
}

/// The schema found: 0 for a file in which nothing was ever committed.
fn version(conn: &Connection, path: &Path) -> Result<u32, Error> {
    let read = |pragma: &str| conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let damaged = |e: rusqlite::Error| match Error::sql("reading its first page", &e) {
        Error::Corrupt { why, .. } => Error::corrupt(path, why),
        other => other,
    };
    let found = read("user_version").map_err(damaged)?;
    let tables = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
        .map_err(damaged)?;
    if tables == 0 && found == 0 {
        return Ok(0);
    }
    if read("application_id").map_err(damaged)? != i64::from(APPLICATION_ID) {
        return Err(Error::corrupt(path, "it is a database of another program"));
    }
    let found = u32::try_from(found).map_err(|_| Error::corrupt(path, "its schema version is negative"))?;
    if found > SCHEMA {
        return Err(Error::NewerSchema { found, known: SCHEMA });
    }
    if found == 0 {
        return Err(Error::corrupt(path, "it has tables but no schema version"));
    }
    Ok(found)
}

/// Refuses a file that is not a ledger this program knows.
pub(crate) fn require_ours(conn: &Connection, path: &Path) -> Result<(), Error> {
    match version(conn, path)? {
        0 => Err(Error::corrupt(path, "it is empty")),
        _ => Ok(()),
    }
}

fn migrate(conn: &mut Connection, from: u32) -> Result<(), Error> {
    let pending = MIGRATIONS.get(from as usize..).unwrap_or_default();
    if pending.is_empty() {
        return Ok(());
    }
    let sql = |e: rusqlite::Error| Error::sql("bringing the ledger up to date", &e);
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(sql)?;
    for migration in pending {
        tx.execute_batch(migration).map_err(sql)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID).map_err(sql)?;
    tx.pragma_update(None, "user_version", SCHEMA).map_err(sql)?;
    tx.commit().map_err(sql)
}

/// The ground objects as the migrations up to the store's own schema make them: kind, name, SQL; verification compares
/// the store's with these.
pub(crate) fn expected_objects(of: &Connection) -> Result<Vec<(String, String, String)>, Error> {
    let sql = |e: rusqlite::Error| Error::sql("making the expected schema", &e);
    let found: i64 = of.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(sql)?;
    let applied = usize::try_from(found).unwrap_or(0).clamp(READABLE as usize, MIGRATIONS.len());
    let conn = Connection::open_in_memory().map_err(sql)?;
    for migration in MIGRATIONS.iter().take(applied) {
        conn.execute_batch(migration).map_err(sql)?;
    }
    objects(&conn)
}

/// Kind, name and SQL of every table, index and trigger.
pub(crate) fn objects(conn: &Connection) -> Result<Vec<(String, String, String)>, Error> {
    let sql = |e: rusqlite::Error| Error::sql("reading the schema", &e);
    let mut found = conn
        .prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")
        .map_err(sql)?;
    let rows = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).map_err(sql)?;
    rows.collect::<Result<_, _>>().map_err(sql)
}
