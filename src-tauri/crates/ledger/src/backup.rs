//! A copy of the ledger that stands by itself, and the way back.

use crate::reader::Reader;
use crate::{Error, lock::Lock, owner_only, schema};
use rusqlite::backup::StepResult;
use rusqlite::{Connection, OpenFlags};
use seal::Digest;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Name a file has until it is whole.
const PARTIAL: &str = "ledger.db.partial";

/// A copy that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// The copied file.
    pub path: PathBuf,
    /// SHA-256 of the file.
    pub sha256: Digest,
    /// Its length.
    pub byte_size: u64,
    /// The last place of the log it holds.
    pub log_seq: u64,
}

/// Copies the ledger as it is at this moment into the folder `to`, while hosts go on writing. The copy is one
/// file, without a WAL, synced before it gets its name. An existing copy is not overwritten.
///
/// # Errors
/// [`Error::Invalid`] when there is a copy already, [`Error::Full`], [`Error::Corrupt`], [`Error::Io`].
pub fn backup(reader: &Reader, to: &Path) -> Result<Backup, Error> {
    let (partial, path) = fresh(to)?;
    let sql = |e: rusqlite::Error| Error::sql("copying the ledger", &e);
    owner_only::database(&partial).map_err(|e| Error::file("copying the ledger", &e))?;
    let mut copy = Connection::open(&partial).map_err(sql)?;
    reader.with(|conn| {
        let backup = rusqlite::backup::Backup::new(conn, &mut copy).map_err(sql)?;
        // All pages in one step: one snapshot, however much is written meanwhile.
        match backup.step(-1).map_err(sql)? {
            StepResult::Done => Ok(()),
            other => Err(Error::io("copying the ledger", &format!("SQLite says {other:?}; try again"))),
        }
    })?;
    let mode: String =
        copy.pragma_update_and_check(None, "journal_mode", "delete", |r| r.get(0)).map_err(sql)?;
    let checked: String = copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(sql)?;
    if mode != "delete" || checked != "ok" {
        return Err(Error::corrupt(&partial, format!("the copy is not sound: {checked}")));
    }
    let log_seq =
        copy.query_row("SELECT coalesce(max(log_seq), 0) FROM events", [], |row| row.get(0)).map_err(sql)?;
    copy.close().map_err(|(_, e)| sql(e))?;
    let (sha256, byte_size) = digest_of(&partial)?;
    settle(&partial, &path)?;
    Ok(Backup { path, sha256, byte_size, log_seq: crate::rows::count(log_seq) })
}

/// Puts a copied ledger, the file `from`, into the folder `to`, which must hold none. The caller has compared its
/// digest with the one of its manifest and verifies the store afterwards.
///
/// # Errors
/// [`Error::Invalid`] when the folder holds a ledger, [`Error::Held`], [`Error::NewerSchema`] or
/// [`Error::Corrupt`] when the copy is not a ledger of ours, [`Error::Full`], [`Error::Io`].
pub fn restore(from: &Path, to: &Path) -> Result<Reader, Error> {
    let lock = Lock::take(to, "restore")?;
    let (partial, path) = fresh(to)?;
    taken(from, &partial, Format::Known)?;
    settle(&partial, &path)?;
    drop(lock);
    Reader::open(to)
}

/// Which formats of a ledger are put into a store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Those that this program reads.
    Known,
    /// Those of newer programs as well.
    Any,
}

/// Copies the file `from` to `partial`, once it is a sound ledger of ours, ready to be written.
fn taken(from: &Path, partial: &Path, format: Format) -> Result<(), Error> {
    let doing = || format!("restoring `{}`", from.display());
    let copied = File::open(from).and_then(|mut from| {
        let mut to = owner_only::create(partial)?;
        std::io::copy(&mut from, &mut to)
    });
    copied.map_err(|e| Error::file(doing(), &e))?;
    {
        let sql = |e: rusqlite::Error| Error::sql("restoring the ledger", &e);
        let copy = Connection::open(partial).map_err(sql)?;
        let damaged = |why: String| Error::corrupt(from, why);
        let checked = copy.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        let checked = checked.map_err(|e| damaged(e.to_string()))?;
        if checked != "ok" {
            return Err(damaged(checked));
        }
        match schema::require_ours(&copy, from) {
            Err(Error::NewerSchema { .. }) if format == Format::Any => {}
            known => known?,
        }
        let mode: String =
            copy.pragma_update_and_check(None, "journal_mode", "wal", |r| r.get(0)).map_err(sql)?;
        if mode != "wal" {
            return Err(Error::ReadOnly {
                why: format!("this file system keeps SQLite from using WAL: `{mode}`"),
            });
        }
    }
    Ok(())
}

/// Puts a copied ledger, the file `from`, in the place of the one in the folder `dir`, which stays whole as the new file
/// `aside` on the same disk. Whenever this is stopped, one of the two lies there.
///
/// # Errors
/// [`Error::Held`], [`Error::Corrupt`] when the copy is not a sound ledger of ours, [`Error::Full`], [`Error::Io`]; the ledger is
/// as it was then.
pub fn put_back(from: &Path, dir: &Path, aside: &Path) -> Result<(), Error> {
    let lock = Lock::take(dir, "put back")?;
    let (partial, path) = (dir.join(PARTIAL), schema::path(dir));
    remove_partial(dir)?;
    taken(from, &partial, Format::Any)?;
    // What a newer program wrote may stand in its WAL: it is folded in, so that the file stands by itself.
    let sql = |e: rusqlite::Error| Error::sql("keeping the ledger", &e);
    let newer = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sql)?;
    let mode: String =
        newer.pragma_update_and_check(None, "journal_mode", "delete", |r| r.get(0)).map_err(sql)?;
    if mode != "delete" {
        return Err(Error::io("keeping the ledger", &"another program reads it; end that, and try again"));
    }
    newer.close().map_err(|(_, e)| sql(e))?;
    let failed = |e: std::io::Error| Error::file(format!("keeping `{}`", path.display()), &e);
    std::fs::hard_link(&path, aside).map_err(failed)?;
    disk::sync_folder(aside.parent().unwrap_or(dir)).map_err(failed)?;
    settle(&partial, &path)?;
    drop(lock);
    Ok(())
}

/// The version of the ground tables of the store in `dir`, also where this program does not know it.
///
/// # Errors
/// [`Error::NoStore`], [`Error::Corrupt`], [`Error::ReadOnly`], [`Error::Io`].
pub fn schema_of(dir: &Path) -> Result<u32, Error> {
    let found = match Reader::open(dir) {
        Ok(reader) => reader.with(|conn| {
            let read = conn.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0));
            read.map_err(|e| Error::sql("reading its first page", &e))
        }),
        Err(error) => Err(error),
    };
    match found {
        Err(Error::NewerSchema { found, .. }) => Ok(found),
        other => other,
    }
}

/// The names of a copy in the making; what a broken-off one left is removed.
fn fresh(dir: &Path) -> Result<(PathBuf, PathBuf), Error> {
    let (partial, path) = (dir.join(PARTIAL), schema::path(dir));
    if path.exists() || dir.join("ledger.db-wal").exists() {
        let why = format!("`{}` holds a ledger already; choose another folder", dir.display());
        return Err(Error::Invalid { why });
    }
    remove_partial(dir)?;
    Ok((partial, path))
}

fn remove_partial(dir: &Path) -> Result<(), Error> {
    for name in
        [PARTIAL.to_owned(), format!("{PARTIAL}-wal"), format!("{PARTIAL}-shm"), format!("{PARTIAL}-journal")]
    {
        match std::fs::remove_file(dir.join(&name)) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(Error::file(format!("removing `{name}`"), &e)),
        }
    }
    Ok(())
}

/// Syncs the file, gives it its name, syncs the folder.
fn settle(partial: &Path, path: &Path) -> Result<(), Error> {
    let failed = |e: std::io::Error| Error::file(format!("writing `{}`", path.display()), &e);
    // Windows syncs through what may write alone.
    File::options().write(true).open(partial).and_then(|f| f.sync_all()).map_err(failed)?;
    disk::rename(partial, path).map_err(failed)
}

fn digest_of(path: &Path) -> Result<(Digest, u64), Error> {
    let read = File::open(path).and_then(disk::digest);
    read.map_err(|e| Error::file(format!("reading `{}`", path.display()), &e))
}
