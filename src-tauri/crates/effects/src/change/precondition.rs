//! What must be there before, against what is there.

use crate::Error;
use model::action::Prior;
use model::witness::Found;
use model::{Digest, RelPath};

/// Whether `found` is what `prior` asks for.
pub(crate) fn holds(prior: &Prior, found: &Found) -> bool {
    match (prior, found) {
        (Prior::Absent, Found::Absent) | (Prior::EmptyFolder, Found::Folder { .. }) => true,
        (Prior::Sha256(wanted), Found::File { sha256, .. }) => wanted == sha256,
        (Prior::Link(wanted), Found::Symlink { target_sha256 }) => wanted == target_sha256,
        _ => false,
    }
}

/// [`Error::Prior`] unless `found` is what `prior` asks for.
pub(crate) fn expect(path: &RelPath, prior: &Prior, found: &Found) -> Result<(), Error> {
    if let Found::Unreadable { reason } = found {
        return Err(Error::Request(reason.clone()));
    }
    if holds(prior, found) {
        return Ok(());
    }
    Err(Error::Prior { path: path.clone(), expected: prior_words(prior), found: found_words(found) })
}

/// [`Error::Prior`] unless the bytes have the digest.
pub(crate) fn expect_bytes(path: &RelPath, wanted: &Digest, bytes: &[u8]) -> Result<(), Error> {
    let found = Digest::of(bytes);
    if found == *wanted {
        return Ok(());
    }
    let expected = prior_words(&Prior::Sha256(*wanted));
    Err(Error::Prior { path: path.clone(), expected, found: format!("a file with sha256 {found}") })
}

fn prior_words(prior: &Prior) -> String {
    match prior {
        Prior::Absent => "nothing".to_owned(),
        Prior::Sha256(digest) => format!("a file with sha256 {digest}"),
        Prior::EmptyFolder => "an empty folder".to_owned(),
        Prior::Link(digest) => format!("a symbolic link whose target has sha256 {digest}"),
    }
}

/// In words, with the digest.
pub(crate) fn found_words(found: &Found) -> String {
    match found {
        Found::Absent => "nothing".to_owned(),
        Found::File { sha256, .. } => format!("a file with sha256 {sha256}"),
        Found::Folder { .. } => "a folder".to_owned(),
        Found::Symlink { target_sha256 } => {
            format!("a symbolic link whose target has sha256 {target_sha256}")
        }
        Found::Special => "a device, socket or pipe".to_owned(),
        Found::Version { value } => format!("version `{value}`"),
        Found::Unreadable { reason } => format!("something unreadable: {reason}"),
    }
}
