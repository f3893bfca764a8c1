//! Copies of the ledger from around updates, in the store's folder: what each is kept for, and which are swept. Whoever makes or sweeps
//! one has the turn (`turn`), so that none goes that another process has just made.

use super::{Record, Which};
use crate::{Error, Home};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};

/// In the store's folder.
pub(super) const COPIES: &str = "updates";
/// There, a copy that is being made.
const COPYING: &str = "copying";
/// How names begin of copies that were made before an update, and of ledgers that were set aside by going back.
const BEFORE: &str = "before-";
const AFTER: &str = "after-";
/// Copies that are listed, and names that are tried for a new one.
const COPIES_MAX: usize = 1_000;
/// Copies beside which an update makes another one.
const KEPT_MAX: usize = 16;

/// What a copy is kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The way back from an update puts it in the store's place.
    WayBack,
    /// An update that was broken off, or that is not on record any more, left it, and every program that read it reads the store as it
    /// is. The next update removes it.
    LeftOver,
    /// From before an update that is not on record any more, in another format than the store has, or in one that cannot be told. A
    /// person removes it.
    Older,
    /// The ledger that was in the store's place until a person went back. A person removes it.
    SetAside,
}

/// A copy of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LedgerCopy {
    /// Its folder.
    pub path: PathBuf,
    /// What it is kept for.
    pub purpose: Purpose,
}

/// The copies, by name.
///
/// # Errors
/// [`Error::Io`] when their folder cannot be read.
pub(super) fn list(home: &Home, record: &Record) -> Result<Vec<LedgerCopy>, Error> {
    let folder = home.path(COPIES);
    let failed = |e: io::Error| Error::io("read", &folder, &e);
    let entries = match std::fs::read_dir(&folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let paths = entries.take(COPIES_MAX).map(|entry| entry.map(|entry| entry.path()));
    let mut found = paths.collect::<io::Result<Vec<_>>>().map_err(failed)?;
    found.retain(|path| path.join(ledger::FILE).is_file() && !path.ends_with(COPYING));
    found.sort();
    let format = ledger::schema_of(home.dir()).ok();
    let told = |path: PathBuf| LedgerCopy { purpose: purpose(&path, record, format), path };
    Ok(found.into_iter().map(told).collect())
}

fn purpose(copy: &Path, record: &Record, format: Option<u32>) -> Purpose {
    let begins = |with: &str| {
        copy.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(with.as_bytes()))
    };
    // By its name: the store's folder may be spelled otherwise than when the record was written.
    let is_of = |update: &super::Update| {
        let folder = update.copy.as_ref().and_then(|file| file.parent());
        folder.is_some_and(|folder| folder.file_name() == copy.file_name())
    };
    let is_named = [Which::Now, Which::Before].into_iter().filter_map(|which| record.of(which)).any(is_of);
    match (is_named, format) {
        (true, _) => Purpose::WayBack,
        _ if begins(AFTER) => Purpose::SetAside,
        (false, Some(format)) if begins(BEFORE) && ledger::schema_of(copy).is_ok_and(|of| of == format) => {
            Purpose::LeftOver
        }
        _ => Purpose::Older,
    }
}

/// Removes every copy that is left over, and one that was begun and not finished; how many.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn sweep(home: &Home, record: &Record) -> Result<usize, Error> {
    remove_all(&home.path(COPIES).join(COPYING))?;
    let mut left = list(home, record)?;
    left.retain(|copy| copy.purpose == Purpose::LeftOver);
    left.iter().try_for_each(|copy| remove_all(&copy.path))?;
    Ok(left.len())
}

/// Whether an update may make one more.
///
/// # Errors
/// [`wire::Code::Conflict`] where too many are kept.
pub(super) fn has_room(home: &Home, record: &Record) -> Result<(), wire::Error> {
    let kept = list(home, record).map_err(Error::to_wire)?.len();
    if kept < KEPT_MAX {
        return Ok(());
    }
    let why = format!("{kept} copies of this store's log are kept in `{}`", home.path(COPIES).display());
    Err(wire::Error::new(wire::Code::Conflict, why)
        .hint("remove those that you do not need; `hermit update show` tells what each is for"))
}

/// A folder for a copy that is not there yet, by what it is of.
fn fresh(home: &Home, of: &str) -> Result<PathBuf, Error> {
    let folder = home.path(COPIES);
    disk::owner_only::folder(&folder).map_err(|e| Error::io("make", &folder, &e))?;
    let mut names = (1..=COPIES_MAX).map(|n| folder.join(format!("{of}-{n}")));
    let full = || Error::io("make", &folder, &io::Error::other("it holds too many copies; remove some"));
    names.find(|path| !path.exists()).ok_or_else(full)
}

/// A folder for the ledger that a copy takes the place of.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn aside(home: &Home, of: &str) -> Result<PathBuf, Error> {
    let folder = fresh(home, &format!("{AFTER}{of}"))?;
    disk::owner_only::new_folder(&folder).map_err(|e| Error::io("make", &folder, &e))?;
    Ok(folder)
}

/// Copies the ledger as it is before the program of this version is started; the copied file.
///
/// # Errors
/// [`Error::Io`], and what the ledger says.
pub(super) fn copy(home: &Home, version: &str) -> Result<PathBuf, Error> {
    let to = fresh(home, &format!("{BEFORE}{version}"))?;
    let draft = home.path(COPIES).join(COPYING);
    let failed = |e: io::Error| Error::io("make", &draft, &e);
    // One that was broken off.
    remove_all(&draft)?;
    disk::owner_only::new_folder(&draft).map_err(failed)?;
    let said = |e: ledger::Error| Error::Said(api::of_ledger(e));
    let reader = ledger::Reader::open(home.dir()).map_err(said)?;
    ledger::backup(&reader, &draft).map_err(said)?;
    disk::rename(&draft, &to).map_err(failed)?;
    Ok(to.join(ledger::FILE))
}

/// Removes the folder of a copy that this program made.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn remove(home: &Home, copy: &Path) -> Result<(), Error> {
    let folder = copy.parent().filter(|folder| folder.parent() == Some(home.path(COPIES).as_path()));
    folder.map_or(Ok(()), remove_all)
}

fn remove_all(folder: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", folder, &e)),
        _ => Ok(()),
    }
}
