//! The last signed head of the whole log, kept outside the store's folder, beside it: a store that was set back to
//! an older state does not take it along, and verification tells (proof.md 2).

use crate::Home;
use ledger::{CheckpointKind, Reader};
use std::io::Write as _;
use std::path::PathBuf;

/// The file beside the folder.
fn place(home: &Home) -> Option<PathBuf> {
    let mut name = home.dir().file_name()?.to_owned();
    name.push(".pin");
    Some(home.dir().with_file_name(name))
}

/// The note that was kept.
///
/// # Errors
/// When it is there and cannot be read.
pub fn read(home: &Home) -> Result<Option<Vec<u8>>, wire::Error> {
    let Some(path) = place(home) else { return Ok(None) };
    match std::fs::read(&path) {
        Ok(note) => Ok(Some(note)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(api::failed(format!("cannot read the pin `{}`: {error}", path.display()))),
    }
}

/// Keeps the newest head. A place that cannot be written is no reason to stop working; the log says so.
pub fn keep(home: &Home, reader: &Reader) {
    let Some(path) = place(home) else { return };
    let newest = match reader.last_checkpoint(CheckpointKind::Global, None) {
        Ok(Some(newest)) => newest.note,
        Ok(None) => return,
        Err(error) => return tracing::warn!(%error, "the newest head cannot be read"),
    };
    if std::fs::read(&path).is_ok_and(|kept| kept == newest) {
        return;
    }
    let partial = path.with_extension("pin.partial");
    let written = std::fs::File::create(&partial)
        .and_then(|mut file| file.write_all(&newest).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&partial, &path));
    if let Err(error) = written {
        tracing::warn!(%error, "the newest head cannot be kept beside the store");
    }
}
