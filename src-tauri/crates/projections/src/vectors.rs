//! Vectors of memory records, in a file of their own beside the ledger: what they are is told by an embedding model, not by
//! events, so they are no part of the tables that are folded. Deleted, they are made again.
//!
//! One process writes, the one that holds the store. What is deleted leaves no bytes in the file.

use crate::Error;
use model::{Digest, MemoryId};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, params};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// What looks at each text and its vector, until it has seen enough.
type Looks<'a> = dyn FnMut(&str, Option<&[u8]>) -> ControlFlow<()> + 'a;

/// Name of the database within the store's folder.
pub const FILE: &str = "vectors.db";

const SCHEMA: &str = include_str!("../../../../migrations/vectors/0001_vectors.sql");

/// Version of the tables, kept in `user_version`; a file of any other is made anew.
const VERSION: i64 = 1;

/// Marks the file as ours: `HRMV`.
const APPLICATION_ID: i64 = 0x4852_4d56;

/// The model whose vectors these are, and how far they are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorsOf {
    /// The model's address; none before one is named.
    pub model: Option<String>,
    /// The vector of the sentence that is their key; none before the model has answered.
    pub probe: Option<Vec<u8>>,
    /// How alike the model finds sentences about different things, in millionths.
    pub common: i64,
    /// The place in the log up to which every record has its vector, or has none to have.
    pub through: u64,
    /// Why the last try failed, in words.
    pub trouble: Option<String>,
}

/// A record's vector as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVector {
    /// The record.
    pub memory_id: MemoryId,
    /// The project it holds in; every one when absent.
    pub project: Option<Digest>,
    /// The numbers; none where the model refuses the text.
    pub numbers: Option<Vec<u8>>,
}

/// The vectors of a store.
#[derive(Debug)]
pub struct Vectors {
    conn: Connection,
}

impl Vectors {
    /// Opens the vectors of the store in `dir` for writing, and makes the file where there is none, where it cannot be used,
    /// or where its vectors are of another log.
    ///
    /// # Errors
    /// [`Error::Database`]; [`Error::Asked`] for a file that others may read and that can be neither narrowed nor removed.
    pub fn open(dir: &Path, log_id: &str) -> Result<Self, Error> {
        let path = dir.join(FILE);
        close_to_others(dir, &path)?;
        match Self::writing(&path, log_id) {
            Ok(open) => Ok(open),
            // Nothing in it is worth keeping.
            Err(Error::Database(error)) if is_unusable(&error) => {
                Self::remove(dir)?;
                close_to_others(dir, &path)?;
                Self::writing(&path, log_id)
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the file away with every vector in it; nobody has it open.
    ///
    /// # Errors
    /// [`Error::Asked`], with what the file system says.
    pub fn remove(dir: &Path) -> Result<(), Error> {
        for end in ["-journal", ""] {
            let path = dir.join(format!("{FILE}{end}"));
            match std::fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::Asked { why: format!("cannot remove `{}`: {e}", path.display()) });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn writing(path: &Path, log_id: &str) -> Result<Self, Error> {
        let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        // No write-ahead log, and zeros where something was: a vector tells about a text that may be erased.
        conn.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()))?;
        for (pragma, value) in [("synchronous", "normal"), ("secure_delete", "on")] {
            conn.pragma_update(None, pragma, value)?;
        }
        let vectors = Self { conn };
        let known: Option<String> = match vectors.version()? {
            VERSION => {
                vectors.conn.query_row("SELECT log_id FROM vectors_of", [], |row| row.get(0)).optional()?
            }
            _ => None,
        };
        if known.as_deref() != Some(log_id) {
            vectors.make(log_id)?;
        }
        Ok(vectors)
    }

    /// Opens the vectors of the store in `dir` for reading; none where there are none that can be read.
    pub fn reading(dir: &Path) -> Option<Self> {
        let conn = connect(&dir.join(FILE), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        let vectors = Self { conn };
        (vectors.version().ok()? == VERSION).then_some(vectors)
    }

    fn version(&self) -> Result<i64, Error> {
        let read = |pragma| self.conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        Ok(if read("application_id")? == APPLICATION_ID { read("user_version")? } else { 0 })
    }

    fn make(&self, log_id: &str) -> Result<(), Error> {
        self.in_one(|conn| {
            conn.execute_batch("DROP TABLE IF EXISTS vectors; DROP TABLE IF EXISTS vectors_of")?;
            conn.execute_batch(SCHEMA)?;
            let first = "INSERT INTO vectors_of (one, log_id, common, through) VALUES (1, ?1, 0, 0)";
            conn.execute(first, [log_id])?;
            conn.pragma_update(None, "application_id", APPLICATION_ID)?;
            conn.pragma_update(None, "user_version", VERSION)
        })
    }

    fn in_one(&self, with: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), Error> {
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        match with(&self.conn).and_then(|()| self.conn.execute_batch("COMMIT")) {
            Ok(()) => Ok(()),
            Err(error) => {
                let _ = self.conn.execute_batch("ROLLBACK");
                Err(error.into())
            }
        }
    }

    /// Whose vectors these are, and how far they are made.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn of(&self) -> Result<VectorsOf, Error> {
        let text = "SELECT model, probe, common, through, trouble FROM vectors_of";
        let read = |row: &Row<'_>| {
            Ok(VectorsOf {
                model: row.get(0)?,
                probe: row.get(1)?,
                common: row.get(2)?,
                through: u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0),
                trouble: row.get(4)?,
            })
        };
        Ok(self.conn.prepare_cached(text)?.query_row([], read)?)
    }

    /// How many records have a vector.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn count(&self) -> Result<u64, Error> {
        let text = "SELECT count(*) FROM vectors WHERE numbers IS NOT NULL";
        let count: i64 = self.conn.query_row(text, [], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Forgets every vector and takes those of another model from now on; none for no model.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn begin_anew(&self, model: Option<&str>, trouble: Option<&str>) -> Result<(), Error> {
        self.in_one(|conn| {
            conn.execute("DELETE FROM vectors", [])?;
            let set = "UPDATE vectors_of SET model = ?1, probe = NULL, common = 0, through = 0, trouble = ?2";
            conn.execute(set, params![model, trouble]).map(drop)
        })
    }

    /// Keeps what the model answered to the sentence that is the key of all its vectors.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn keep_probe(&self, probe: &[u8], common: i64) -> Result<(), Error> {
        let set = "UPDATE vectors_of SET probe = ?1, common = ?2";
        self.conn.execute(set, params![probe, common])?;
        Ok(())
    }

    /// Keeps vectors, and how far they are made now.
    ///
    /// # Errors
    /// [`Error::Database`]; nothing is kept then.
    pub fn keep(&self, new: &[NewVector], through: u64) -> Result<(), Error> {
        self.in_one(|conn| {
            let mut keep = conn.prepare_cached(
                "INSERT OR REPLACE INTO vectors (project, memory_id, numbers) VALUES (?1, ?2, ?3)",
            )?;
            for one in new {
                keep.execute(params![of_project(one.project), one.memory_id.to_string(), one.numbers])?;
            }
            let set = "UPDATE vectors_of SET through = max(through, ?1), trouble = NULL";
            conn.execute(set, [i64::try_from(through).unwrap_or(i64::MAX)]).map(drop)
        })
    }

    /// Keeps why the last try failed, or that it did not.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn keep_trouble(&self, trouble: Option<&str>) -> Result<(), Error> {
        self.conn.execute("UPDATE vectors_of SET trouble = ?1 WHERE trouble IS NOT ?1", params![trouble])?;
        Ok(())
    }

    /// Forgets the vectors of these records.
    ///
    /// # Errors
    /// [`Error::Database`]; they are all there then.
    pub fn forget<'m>(&self, records: impl IntoIterator<Item = &'m MemoryId>) -> Result<(), Error> {
        self.in_one(|conn| {
            let mut delete = conn.prepare_cached("DELETE FROM vectors WHERE memory_id = ?1")?;
            records.into_iter().try_for_each(|id| delete.execute([id.to_string()]).map(drop))
        })
    }

    /// Every record that is known here, with a vector or without.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn records(&self) -> Result<Vec<MemoryId>, Error> {
        let mut found = self.conn.prepare_cached("SELECT memory_id FROM vectors")?;
        let ids = found.query_map([], |row| row.get::<_, String>(0))?;
        ids.map(|id| id.map_err(Error::from).and_then(|id| of_id(&id))).collect()
    }

    /// Hands over every record of a project, and of what holds in every one, with its vector, or none where the model refuses its
    /// text; ends where it is told to break off, and says whether it was.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn each(&self, project: Option<Digest>, with: &mut Looks<'_>) -> Result<ControlFlow<()>, Error> {
        let text = "SELECT memory_id, numbers FROM vectors WHERE project = ?1";
        let mut found = self.conn.prepare_cached(text)?;
        let own = project.map(|project| of_project(Some(project)));
        for project in std::iter::once(String::new()).chain(own) {
            let mut rows = found.query([project])?;
            while let Some(row) = rows.next()? {
                let (id, numbers) = (row.get_ref(0)?, row.get_ref(1)?);
                let read = |e: rusqlite::types::FromSqlError| rusqlite::Error::from(e);
                if with(id.as_str().map_err(read)?, numbers.as_blob_or_null().map_err(read)?).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn of_project(project: Option<Digest>) -> String {
    project.map(|project| project.to_string()).unwrap_or_default()
}

fn of_id(text: &str) -> Result<MemoryId, Error> {
    text.parse().map_err(|_| Error::Row { table: "vectors", why: format!("`{text}` is no memory record") })
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(Duration::from_millis(model::limits::DATABASE_BUSY_MS_MAX))?;
    Ok(conn)
}

/// Whether the file is no database that can be used, whatever is done with it.
fn is_unusable(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown)
    )
}

/// Nobody but its owner reads it. One that others may read, and whose rights cannot be narrowed, is taken away and made anew:
/// vectors tell about texts, and nothing in the file is worth keeping.
fn close_to_others(dir: &Path, path: &Path) -> Result<(), Error> {
    let failed = |e: std::io::Error| Error::Asked {
        why: format!(
            "`{}` may be readable by others, and its rights cannot be narrowed: {e}; remove it, and it is made anew",
            path.display()
        ),
    };
    match narrowed(path) {
        Ok(()) => Ok(()),
        Err(first) if path.exists() => {
            Vectors::remove(dir).map_err(|_| failed(first))?;
            narrowed(path).map_err(failed)
        }
        Err(e) => Err(Error::Asked { why: format!("cannot make `{}`: {e}", path.display()) }),
    }
}

fn narrowed(path: &Path) -> std::io::Result<()> {
    ledger::owner_only::database(path)
}
