//! Weights that are not whole yet, in a file of their own that one fetch has at a time.

use super::fetch::{AGAIN, said};
use super::files::{Files, removed};
use super::header::{self, Header};
use crate::Error;
use seal::Hasher;
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// What is here of weights that are not whole.
pub(super) struct Part {
    path: PathBuf,
    file: File,
    pub(super) length: u64,
    hasher: Hasher,
    /// Whether it can be gone on with.
    goes_on: bool,
}

impl Part {
    /// Opens what was begun of these weights, and reads it for its digest.
    pub(super) fn open(files: &Files, digest: &str) -> Result<Self, Error> {
        let mut part = Self::locked(path(files, digest), true)?;
        let failed = |e: std::io::Error| Error::io("read", &part.path, &e);
        (part.hasher, part.length) = disk::hashed(&mut part.file).map_err(failed)?;
        Ok(part)
    }

    /// One that begins at its beginning, and is of no use unless it is whole. What another left has gone.
    pub(super) fn anew(files: &Files, name: &str) -> Result<Self, Error> {
        let mut part = Self::locked(path(files, name), false)?;
        part.begin_anew()?;
        Ok(part)
    }

    fn locked(path: PathBuf, goes_on: bool) -> Result<Self, Error> {
        let mut options = File::options();
        let opened =
            ledger::owner_only::open(options.read(true).write(true).create(true).truncate(false), &path);
        let file = opened.map_err(|e| Error::io("write", &path, &e))?;
        if file.try_lock().is_err() {
            return Err(said("another `hermit models get` is at it", "wait until it is done"));
        }
        Ok(Self { path, file, length: 0, hasher: Hasher::new(), goes_on })
    }

    /// What its beginning says.
    pub(super) fn header(&self) -> Result<Header, String> {
        header::of(&self.file, &self.path)
    }

    pub(super) fn begin_anew(&mut self) -> Result<(), Error> {
        let failed = |e: std::io::Error| Error::io("write", &self.path, &e);
        self.file.set_len(0).map_err(failed)?;
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        (self.length, self.hasher) = (0, Hasher::new());
        Ok(())
    }

    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.length == 0 {
            begins(bytes)?;
        }
        self.file.write_all(bytes).map_err(|e| match e.kind() {
            std::io::ErrorKind::StorageFull => said("the disk is full", format!("make room; then {AGAIN}")),
            _ => Error::io("write", &self.path, &e),
        })?;
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    pub(super) fn digest(&self) -> String {
        self.hasher.clone().finish().to_string()
    }

    pub(super) fn drop_it(self) -> Result<(), Error> {
        std::fs::remove_file(&self.path).map_err(|e| Error::io("remove", &self.path, &e))
    }

    pub(super) fn becomes(self, path: &Path) -> Result<(), Error> {
        let synced = self.file.sync_all().map_err(|e| Error::io("write", &self.path, &e));
        let named =
            synced.and_then(|()| disk::rename(&self.path, path).map_err(|e| Error::io("name", path, &e)));
        if named.is_err() && !self.goes_on {
            self.drop_it()?;
        }
        named
    }
}

/// Removes what was begun of these weights; the bytes that are free again.
pub(super) fn forget(files: &Files, digest: &str) -> Result<u64, Error> {
    let path = path(files, digest);
    if !path.is_file() {
        return Ok(0);
    }
    let part = Part::locked(path.clone(), true)?;
    let freed = removed(&path);
    drop(part);
    freed
}

/// Bytes of these weights that have come.
pub(super) fn length(files: &Files, digest: &str) -> u64 {
    std::fs::symlink_metadata(path(files, digest)).map_or(0, |found| found.len())
}

fn path(files: &Files, name: &str) -> PathBuf {
    files.folder().join(format!("{name}.part"))
}

/// Refuses what cannot be the beginning of weights.
pub(super) fn begins(bytes: &[u8]) -> Result<(), Error> {
    let most = bytes.len().min(header::MAGIC.len());
    if bytes.get(..most) == header::MAGIC.get(..most) {
        return Ok(());
    }
    Err(said("what comes is no GGUF file", "name the address of the weights themselves"))
}

/// Whether a file has these bytes and no others.
///
/// # Errors
/// When it cannot be read.
pub(super) fn is_of(path: &Path, digest: &str) -> std::io::Result<bool> {
    let (found, _) = disk::digest(File::open(path)?)?;
    Ok(found.to_string() == digest)
}

/// What the disk has left. Where it is not known the disk says so itself, when it is full.
pub(super) fn free(folder: &Path) -> Option<u64> {
    disk::space(folder).ok().map(|space| space.available)
}
