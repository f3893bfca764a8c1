//! The bytes of an artifact, to standard output or into a file that is there whole or not at all.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use std::io::{ErrorKind, Write};
use std::path::Path;
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
    let mut draft = disk::Draft::beside(path).map_err(|e| failed(path, &e))?;
    copy(session, found, path, draft.file())?;
    draft.create().map_err(|e| failed(path, &e))
}

fn failed(path: &Path, why: &std::io::Error) -> Error {
    Error::new(Code::Failed, format!("cannot write `{}`: {why}", path.display()))
        .hint("name a file that does not exist, in a folder that does")
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
