//! Makes a bundle.

use crate::{Error, Options, Signers, Source};
use model::{TaskId, UnixMs};
use seal::Digest;
use std::io::{Seek, Write};
use std::path::Path;

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Number of files.
    pub files: u64,
    /// Bytes of the zip, or of all files of the directory.
    pub bytes: u64,
    /// SHA-256 of `SHA256SUMS`: names the whole content.
    pub sums_sha256: Digest,
    /// Time of the checkpoint.
    pub exported_at: UnixMs,
    /// What could not go along, in words.
    pub left_out: Vec<String>,
}

/// Writes a bundle as an uncompressed zip.
///
/// # Errors
/// [`Error::Unknown`], [`Error::Source`], [`Error::Inconsistent`], [`Error::Signing`], [`Error::TooLarge`],
/// [`Error::Io`].
pub fn export<W: Write + Seek>(
    source: &dyn Source,
    signers: Option<Signers<'_>>,
    task: TaskId,
    options: &Options,
    out: &mut W,
) -> Result<Exported, Error> {
    let _ = (source, signers, task, options, out);
    Err(Error::inconsistent("not yet"))
}

/// Writes a bundle to a path that does not exist yet: an uncompressed zip when its name ends in `.zip`, else a
/// directory. It appears whole or not at all.
///
/// # Errors
/// As [`export`], and [`Error::Exists`].
pub fn export_to(
    source: &dyn Source,
    signers: Option<Signers<'_>>,
    task: TaskId,
    options: &Options,
    path: &Path,
) -> Result<Exported, Error> {
    let _ = (source, signers, task, options, path);
    Err(Error::inconsistent("not yet"))
}
