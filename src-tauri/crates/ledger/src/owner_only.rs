//! Files and folders for their owner alone, whatever the process's mask says. Whoever writes something of a store, a copy
//! of it or an export makes it here; rooms without a door to this one set the same modes where they open a file.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Result, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Makes a folder and the missing ones above it; one that is there is closed to others.
///
/// # Errors
/// What the file system says.
pub fn folder(path: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    close(path, 0o700)
}

/// Opens a file with these options; it is readable by its owner alone then.
///
/// # Errors
/// What the file system says.
pub fn open(options: &mut OpenOptions, path: &Path) -> Result<File> {
    let file = options.mode(0o600).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Makes a file, or empties the one that is there.
///
/// # Errors
/// What the file system says.
pub fn create(path: &Path) -> Result<File> {
    open(OpenOptions::new().write(true).create(true).truncate(true), path)
}

/// Makes a file that is not there yet.
///
/// # Errors
/// What the file system says.
pub fn create_new(path: &Path) -> Result<File> {
    open(OpenOptions::new().write(true).create_new(true), path)
}

/// Writes a file whole and synced; the caller gives it its name.
///
/// # Errors
/// What the file system says.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Sees to it that a file is there and closed to others before a database is opened in it: SQLite gives its own files the
/// mode of the first.
pub(crate) fn database(path: &Path) -> Result<()> {
    open(OpenOptions::new().write(true).create(true).truncate(false), path).map(drop)
}

fn close(path: &Path, mode: u32) -> Result<()> {
    if std::fs::metadata(path)?.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}
