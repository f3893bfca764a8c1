//! A pool of connections that only read: made on demand, given back, shared by clones.

use crate::schema::Reading;
use crate::{Error, owner_only, schema};
use rusqlite::Connection;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;

/// Idle connections kept open.
const IDLE_MAX: usize = 8;

/// Reads a store. It never locks, makes or migrates anything, and may be cloned and shared between threads.
#[derive(Clone)]
pub struct Reader {
    pool: Arc<Pool>,
}

struct Pool {
    dir: PathBuf,
    /// Where the database is read: in the folder itself, or as a copy of it.
    at: PathBuf,
    reading: Reading,
    /// A private copy, which goes with the last reader.
    _copy: Option<TempDir>,
    log_id: String,
    idle: Mutex<Vec<Connection>>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("dir", &self.pool.dir).finish_non_exhaustive()
    }
}

/// The database and its WAL, copied to where SQLite can work. Nobody writes to the original while it is copied: its
/// folder takes no files.
fn private_copy(dir: &Path) -> Result<TempDir, Error> {
    let failed =
        |e: std::io::Error| Error::file(format!("copying the read-only ledger of `{}`", dir.display()), &e);
    let copy = tempfile::Builder::new().prefix("hermit-read-").tempdir().map_err(failed)?;
    for name in [schema::FILE.to_owned(), format!("{}-wal", schema::FILE)] {
        match File::open(dir.join(&name)) {
            Ok(mut from) => {
                let mut to = owner_only::create(&copy.path().join(&name)).map_err(failed)?;
                std::io::copy(&mut from, &mut to).map_err(failed)?;
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(failed(e)),
        }
    }
    Ok(copy)
}

/// Opens a store beside which nothing can be made: as it is where its WAL is empty, else as a private copy.
fn making_nothing(dir: &Path) -> Result<(Connection, Reading, Option<TempDir>), Error> {
    let wal = dir.join(format!("{}-wal", schema::FILE));
    if std::fs::metadata(wal).map_or(0, |wal| wal.len()) == 0 {
        return Ok((schema::open_reader(dir, Reading::Still)?, Reading::Still, None));
    }
    let copy = private_copy(dir)?;
    if !schema::has_room(copy.path()) {
        return Err(Error::Full);
    }
    Ok((schema::open_reader(copy.path(), Reading::Beside)?, Reading::Beside, Some(copy)))
}

impl Reader {
    /// Opens the store in `dir`, held by another process or by none. On a read-only file system or a full disk nothing
    /// is made beside it; one whose host was killed is read there from a private copy of its database.
    ///
    /// # Errors
    /// [`Error::NoStore`], [`Error::NewerSchema`], [`Error::Corrupt`], [`Error::Full`], [`Error::Io`].
    pub fn open(dir: &Path) -> Result<Self, Error> {
        // Beside a host everything that SQLite needs is there.
        let (conn, reading, copy) = if !schema::has_room(dir) && crate::holder(dir)?.is_none() {
            making_nothing(dir)?
        } else {
            match schema::open_reader(dir, Reading::Beside) {
                // A store whose host was killed is read with help of files made there.
                Err(Error::Io { .. }) if !disk::may_write(dir) => making_nothing(dir)?,
                opened => (opened?, Reading::Beside, None),
            }
        };
        let at = copy.as_ref().map_or_else(|| dir.to_owned(), |copy| copy.path().to_owned());
        let read = conn.query_row("SELECT log_id FROM store", [], |row| row.get(0));
        let log_id = read.map_err(|e| match e {
            rusqlite::Error::QueryReturnedNoRows => Error::NoStore { dir: dir.display().to_string() },
            other => Error::sql("reading the log's name", &other),
        })?;
        let (dir, idle) = (dir.to_owned(), Mutex::new(vec![conn]));
        Ok(Self { pool: Arc::new(Pool { dir, at, reading, _copy: copy, log_id, idle }) })
    }

    /// The folder of the store.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.pool.dir
    }

    /// The name of the log: 32 hex digits.
    #[must_use]
    pub fn log_id(&self) -> &str {
        &self.pool.log_id
    }

    /// Lends a read-only connection: for rooms that keep tables of their own in the same file.
    ///
    /// # Errors
    /// What `read` returns, or why no connection could be opened.
    pub fn with<T>(&self, read: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let conn = match idle {
            Some(conn) => conn,
            None => schema::open_reader(&self.pool.at, self.pool.reading)?,
        };
        let result = read(&conn);
        // A transaction left open would keep an old snapshot alive; such a connection is not given back.
        if conn.is_autocommit() {
            let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < IDLE_MAX {
                idle.push(conn);
            }
        }
        result
    }

    pub(crate) fn read<T>(
        &self,
        doing: &str,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        self.with(|conn| read(conn).map_err(|e| Error::sql(doing, &e)))
    }
}
