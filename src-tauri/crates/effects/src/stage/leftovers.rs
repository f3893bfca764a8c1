//! What a staged command has left at one place, read from its view.

use super::Unstaged;
use super::diff::{Link, New, cannot};
use crate::system::permissions;
use model::limits::ARTIFACT_BYTES_MAX;
use model::{Digest, RelPath};
use std::fs::{self, File};
use std::path::Path;

pub(super) fn read(path: &RelPath, at: &Path, mode: Option<u32>) -> Result<New, Unstaged> {
    let fail = |e| Unstaged::Failed(format!("what it left at `{path}` cannot be read: {e}"));
    let mut file = open(at).map_err(fail)?;
    // Looked at before it is read: what is far too long is named at once.
    let length = file.metadata().map_err(fail)?.len();
    if length > ARTIFACT_BYTES_MAX {
        return Err(Unstaged::Failed(format!(
            "it leaves `{path}` with {length} bytes, more than the {ARTIFACT_BYTES_MAX} of one file"
        )));
    }
    let (sha256, byte_size) = disk::digest(&mut file).map_err(fail)?;
    Ok(New { at: at.to_path_buf(), sha256, byte_size, mode })
}

/// Opens a file of the view; one that the command has closed to everybody is opened all the same: its permission bits
/// have been noted, and the view is ours.
fn open(at: &Path) -> std::io::Result<File> {
    match File::open(at) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            permissions::open_to_owner(at)?;
            File::open(at)
        }
        other => other,
    }
}

pub(super) fn link_at(path: &RelPath, at: &Path) -> Result<Link, Unstaged> {
    let fail = |e| Unstaged::Failed(format!("what it left at `{path}` cannot be read: {e}"));
    let target = fs::read_link(at).map_err(fail)?;
    let bytes = crate::workspace::names::name_bytes(target.as_os_str());
    said(path, bytes.ok_or_else(|| cannot(path, "leaves a link whose target is no text"))?)
}

pub(super) fn said(path: &RelPath, bytes: Vec<u8>) -> Result<Link, Unstaged> {
    let sha256 = Digest::of(&bytes);
    let target = String::from_utf8(bytes).map_err(|_| cannot(path, "has a link whose target is no text"))?;
    Ok(Link { sha256, target })
}
