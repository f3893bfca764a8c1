//! The bytes of an artifact, to standard output or into a file that is there whole or not at all.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use wire::artifacts::{Artifact, Content};
use wire::{Code, Error};

/// Writes the bytes of `found` to `path`; `-` is standard output. A file has its name once all of it is on disk: where
/// content turns out damaged half-way, nothing is left.
///
/// # Errors
/// What reading says; [`Code::Failed`] where the file is there already or cannot be written.
pub(super) fn write(session: &host::Session, found: &Artifact, path: &Path) -> Result<(), Error> {
    if path == Path::new("-") {
        return copy(session, found, path, &mut std::io::stdout());
    }
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(failed(path, &std::io::Error::from(ErrorKind::AlreadyExists)));
    }
    let partial = beside(path);
    let written = (|| {
        let mut file = std::fs::File::create_new(&partial).map_err(|e| failed(path, &e))?;
        copy(session, found, path, &mut file)?;
        file.sync_all().map_err(|e| failed(path, &e))?;
        name(&partial, path).map_err(|e| failed(path, &e))
    })();
    // With its own name it stands already, or it is of no use; that it cannot be removed changes neither.
    let _ = std::fs::remove_file(&partial);
    written
}

fn failed(path: &Path, why: &std::io::Error) -> Error {
    Error::new(Code::Failed, format!("cannot write `{}`: {why}", path.display()))
        .hint("name a file that does not exist, in a folder that does")
}

/// A name in the same folder that nobody else uses.
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

/// Gives the file its name, and never takes one that another file has got since.
fn name(partial: &Path, path: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(partial, path) {
        // Not every file system knows a second name.
        Err(e) if e.kind() != ErrorKind::AlreadyExists && std::fs::symlink_metadata(path).is_err() => {
            std::fs::rename(partial, path)
        }
        linked => linked,
    }
}

fn copy(session: &host::Session, found: &Artifact, path: &Path, out: &mut dyn Write) -> Result<(), Error> {
    let mut offset = 0;
    loop {
        let part = session.call(&Content { artifact: found.artifact_id.clone(), offset, limit: None })?;
        let bytes = STANDARD.decode(&part.bytes).map_err(|e| Error::new(Code::Damaged, e.to_string()))?;
        out.write_all(&bytes).map_err(|e| failed(path, &e))?;
        match part.next_offset {
            Some(next) => offset = next,
            None => return out.flush().map_err(|e| failed(path, &e)),
        }
    }
}
