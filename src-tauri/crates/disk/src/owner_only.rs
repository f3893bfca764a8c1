//! Files and folders for their owner alone, whatever the process's mask says. Whoever writes something of a store, a copy
//! of it or an export makes it here.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Result, Write as _};
use std::path::Path;
use tempfile::Builder;

/// Makes a folder and the missing ones above it; one that is there is closed to others.
///
/// # Errors
/// What the file system says.
pub fn folder(path: &Path) -> Result<()> {
    system::folder(path)
}

/// Makes a folder that is not there yet, below one that is.
///
/// # Errors
/// What the file system says.
pub fn new_folder(path: &Path) -> Result<()> {
    system::new_folder(path)
}

/// Makes a folder and the missing ones above it, and leaves one that is there as it is.
///
/// # Errors
/// What the file system says.
pub fn missing_folders(path: &Path) -> Result<()> {
    system::missing_folders(path)
}

/// The bits by which others than its owner may reach a file; none where it is closed to them.
///
/// # Errors
/// This system is not asked yet.
pub fn open_to_others(of: &Metadata) -> Result<Option<u32>> {
    system::open_to_others(of)
}

/// Opens a file with these options; it is readable by its owner alone then.
///
/// # Errors
/// What the file system says.
pub fn open(options: &mut OpenOptions, path: &Path) -> Result<File> {
    system::open(options, path)
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
///
/// # Errors
/// What the file system says.
pub fn database(path: &Path) -> Result<()> {
    open(OpenOptions::new().write(true).create(true).truncate(false), path).map(drop)
}

/// A temporary file is its owner's alone from its first moment.
pub(crate) fn temporary(builder: &mut Builder<'_, '_>) -> Result<()> {
    system::temporary(builder)
}

#[cfg(unix)]
mod system {
    use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
    use std::io::Result;
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
    use std::path::Path;
    use tempfile::Builder;

    pub(super) fn missing_folders(path: &Path) -> Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    pub(super) fn open_to_others(of: &Metadata) -> Result<Option<u32>> {
        let mode = of.permissions().mode() & 0o777;
        Ok((mode & 0o077 != 0).then_some(mode))
    }

    pub(super) fn folder(path: &Path) -> Result<()> {
        missing_folders(path)?;
        if std::fs::metadata(path)?.permissions().mode() & 0o077 == 0 {
            return Ok(());
        }
        std::fs::set_permissions(path, Permissions::from_mode(0o700))
    }

    pub(super) fn new_folder(path: &Path) -> Result<()> {
        DirBuilder::new().mode(0o700).create(path)?;
        std::fs::set_permissions(path, Permissions::from_mode(0o700))
    }

    pub(super) fn open(options: &mut OpenOptions, path: &Path) -> Result<File> {
        let file = options.mode(0o600).open(path)?;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }

    pub(super) fn temporary(builder: &mut Builder<'_, '_>) -> Result<()> {
        builder.permissions(Permissions::from_mode(0o600));
        Ok(())
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{File, Metadata, OpenOptions};
    use std::io::{Error, Result};
    use std::path::Path;
    use tempfile::Builder;

    /// Access lists for one user are not written here yet.
    fn refused() -> Error {
        crate::not_on_this_system("a file that its owner alone can read")
    }

    pub(super) fn missing_folders(_: &Path) -> Result<()> {
        Err(refused())
    }

    pub(super) fn open_to_others(_: &Metadata) -> Result<Option<u32>> {
        Err(refused())
    }

    pub(super) fn folder(_: &Path) -> Result<()> {
        Err(refused())
    }

    pub(super) fn new_folder(_: &Path) -> Result<()> {
        Err(refused())
    }

    pub(super) fn open(_: &mut OpenOptions, _: &Path) -> Result<File> {
        Err(refused())
    }

    pub(super) fn temporary(_: &mut Builder<'_, '_>) -> Result<()> {
        Err(refused())
    }
}
