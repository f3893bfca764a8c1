//! Files that are written whole or not at all, and are on the disk when the call returns.
//!
//! **What this room is for.** The one writer of small files beside the ledger: keys, pins, settings, tokens, exports.
//! A temporary file in the same folder, synced; then the name; then the folder, synced. After a power cut there are the
//! old bytes or the new ones.
//!
//! **What it must never do.** Follow a link that stands where the file goes. Write into a file that another program
//! made. Report success before the disk has it.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. Whoever reads the path meanwhile reads the old bytes or the new ones, never a part.
//! 2. An error leaves the file as it was, and no temporary file.
//! 3. A file is its owner's alone (0600), from its first moment.
//! 4. [`Draft::create`] never replaces what is there.
//!
//! **Where to start reading.** [`replace`], then [`Draft`].

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A temporary file that becomes the file at its path, or nothing.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    path: PathBuf,
}

/// Replaces or makes a file.
///
/// # Errors
/// What the disk says; the file is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::beside(path)?;
    draft.file().write_all(bytes)?;
    draft.replace()
}

/// Gives a file that is already synced its name, in place of what had it, and makes the name durable.
///
/// # Errors
/// What the disk says.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)?;
    sync_folder_of(to)
}

/// Makes names in a folder durable.
///
/// # Errors
/// What the disk says.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Makes names in a folder durable: here they are with the file.
///
/// # Errors
/// None on this system.
#[cfg(not(unix))]
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    sync_folder(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

impl Draft {
    /// A temporary file in the folder of `path`.
    ///
    /// # Errors
    /// What the disk says.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::other("the path names no file"))?;
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(".part");
        for_its_owner(&mut builder);
        let file = builder.tempfile_in(folder_of(path))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// The file to write to.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Puts it in the place of what is at the path.
    ///
    /// # Errors
    /// What the disk says; the file is then as it was.
    pub fn replace(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(&self.path).map_err(|refused| refused.error)?;
        sync_folder_of(&self.path)
    }

    /// Puts it where nothing is.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], and what the disk says.
    pub fn create(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist_noclobber(&self.path).map_err(|refused| refused.error)?;
        sync_folder_of(&self.path)
    }
}

#[cfg(unix)]
fn for_its_owner(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt as _;
    builder.permissions(std::fs::Permissions::from_mode(0o600));
}

#[cfg(not(unix))]
fn for_its_owner(_: &mut tempfile::Builder<'_, '_>) {}
