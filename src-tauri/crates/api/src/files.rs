//! Files that a command names: read from where the host is, made whole or not at all.

use crate::{failed, usage};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use wire::{Code, Error};

/// A path as given; relative ones are refused, because the host's folder is not the caller's.
pub(crate) fn absolute(what: &str, text: &str) -> Result<PathBuf, Error> {
    let path = PathBuf::from(text);
    if path.is_absolute() {
        return Ok(path);
    }
    Err(usage(format!(
        "`{what}` is `{text}`; give an absolute path, because the store may be held by another process"
    )))
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<File, Error> {
    let shown = path.display();
    let file = File::open(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Error::new(Code::NotFound, format!("there is no file `{shown}`")),
        _ => failed(format!("`{shown}` cannot be read: {e}")),
    })?;
    match file.metadata() {
        Ok(found) if found.is_file() => Ok(file),
        Ok(_) => Err(usage(format!("`{shown}` is no regular file"))),
        Err(e) => Err(failed(format!("`{shown}` cannot be read: {e}"))),
    }
}

/// Makes a file that is not there yet: it has its name when all of it is on disk. Returns its length and what `write`
/// gave.
pub(crate) fn make<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Error>,
) -> Result<(u64, T), Error> {
    let said = |e: std::io::Error| failed(format!("`{}` cannot be written: {e}", path.display()));
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(Error::new(
            Code::Conflict,
            format!("`{}` is already there; name another file", path.display()),
        ));
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".part");
    let partial = PathBuf::from(partial);
    let mut file = File::create(&partial).map_err(said)?;
    let made = (|| {
        let given = write(&mut file)?;
        file.sync_all().map_err(said)?;
        let length = file.metadata().map_err(said)?.len();
        std::fs::rename(&partial, path).map_err(said)?;
        Ok((length, given))
    })();
    if made.is_err() {
        // What is left of a broken-off file is of no use; that it cannot be removed changes nothing.
        let _ = std::fs::remove_file(&partial);
    }
    made
}

/// Makes a folder, or takes an empty one.
pub(crate) fn empty_folder(path: &Path) -> Result<(), Error> {
    let said = |e: std::io::Error| failed(format!("`{}` cannot be used: {e}", path.display()));
    std::fs::create_dir_all(path).map_err(said)?;
    match std::fs::read_dir(path).map_err(said)?.next() {
        None => Ok(()),
        Some(_) => {
            Err(Error::new(Code::Conflict, format!("`{}` is not empty; name another folder", path.display())))
        }
    }
}
