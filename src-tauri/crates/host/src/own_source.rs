//! The source that a program carries, as it says when it begins: this room does not need it, or each change of any file would
//! make it anew.

use model::Digest;
use provenance::archive::{Archive, File};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::OnceLock;
use wire::{Code, Error};

/// What gives the archive of a program's source.
pub type OwnSource = fn() -> io::Result<&'static [u8]>;

static CARRIED: OnceLock<OwnSource> = OnceLock::new();

/// Says where this program carries its source. What was said first stays.
pub fn carry_source(source: OwnSource) {
    // A second program of one process would be the same one.
    let _ = CARRIED.set(source);
}

/// The archive of this program's source.
pub(crate) fn stream() -> Result<&'static [u8], Error> {
    let none = || Error::new(Code::Unavailable, "this program does not carry its source");
    let source = CARRIED.get().ok_or_else(none)?;
    source().map_err(|error| {
        Error::new(Code::Failed, format!("the source that this program carries is damaged: {error}"))
            .hint("install Hermit again")
    })
}

/// Writes every file of this program's source into a folder that is not there, or empty; the digest of the archive.
///
/// # Errors
/// [`Code::Conflict`] where something is in the folder, [`Code::Unavailable`] where this program carries no source,
/// [`Code::Usage`], [`Code::Failed`].
pub fn unpack_source(folder: &Path) -> Result<Digest, Error> {
    let failed = |error: io::Error| {
        Error::new(Code::Failed, format!("cannot unpack into {}: {error}", folder.display()))
            .hint("what is there of it is not whole: delete it")
    };
    let stream = stream()?;
    let archive = Archive::read(stream).map_err(|error| failed(io::Error::other(error)))?;
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Err(Error::new(Code::Conflict, format!("`{}` is not empty", folder.display()))
                    .hint("name a folder that is not there yet"));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder).map_err(failed)?
        }
        Err(error) => {
            return Err(Error::new(Code::Usage, format!("`{}` is no folder: {error}", folder.display()))
                .hint("name a folder that is not there yet"));
        }
    }
    archive.files().iter().try_for_each(|file| write(folder, file)).map_err(failed)?;
    Ok(Digest::of(stream))
}

fn write(folder: &Path, file: &File<'_>) -> io::Result<()> {
    let place = folder.join(file.path);
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)?;
    }
    disk::create_for_all(&place, file.executable)?.write_all(file.bytes)
}
