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
//! **Where to start reading.** [`replace`], then [`Draft`]; [`digest()`] for files of any size. What systems do differently
//! stands in [`owner_only`], [`sync_folder`] and [`space()`].

mod digest;
mod folder_sync;
mod lock;
mod opening;
mod origin_mark;
pub mod owner_only;
mod program_files;
mod space;
mod stamp;
mod writable;

pub use digest::{digest, hashed};
pub use folder_sync::sync_folder;
pub use lock::{hold, try_lock};
pub use opening::{open_folder, open_unfollowed, open_unwaited};
pub use origin_mark::origin_mark;
pub use program_files::{create_for_all, is_own, is_program, make_program};
pub use space::{Space, reserve, space};
pub use stamp::{Stamp, stamp};
pub use writable::may_write;

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

/// The error that something is not done on this system, in words for the person who runs into it.
#[must_use]
pub fn not_on_this_system(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("{what}: Hermit does not have this on this system yet"),
    )
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
        let file = owner_only::temporary(&mut builder, folder_of(path))?;
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
