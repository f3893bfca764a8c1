//! A pool of connections that only read: made on demand, given back, shared by clones.

use crate::{Error, schema};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Idle connections kept open.
const IDLE_MAX: usize = 8;

/// Reads a store. It never locks, makes or migrates anything, and may be cloned and shared between threads.
#[derive(Clone)]
pub struct Reader {
    pool: Arc<Pool>,
}

struct Pool {
    dir: PathBuf,
    log_id: String,
    idle: Mutex<Vec<Connection>>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("dir", &self.pool.dir).finish_non_exhaustive()
    }
}

impl Reader {
    /// Opens the store in `dir`, held by another process or by none.
    ///
    /// # Errors
    /// [`Error::NoStore`], [`Error::NewerSchema`], [`Error::Corrupt`], [`Error::Io`].
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let conn = schema::open_reader(dir)?;
        let read = conn.query_row("SELECT log_id FROM store", [], |row| row.get(0));
        let log_id = read.map_err(|e| match e {
            rusqlite::Error::QueryReturnedNoRows => Error::NoStore { dir: dir.display().to_string() },
            other => Error::sql("reading the log's name", &other),
        })?;
        Ok(Self { pool: Arc::new(Pool { dir: dir.to_owned(), log_id, idle: Mutex::new(vec![conn]) }) })
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
            None => schema::open_reader(&self.pool.dir)?,
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
