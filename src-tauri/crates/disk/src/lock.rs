//! Locks that processes hold on a file.

use std::fs::File;
use std::io::Result;
use std::path::Path;

/// Takes the lock of a file for as long as it is open, or says that somebody has it. Others may read the file meanwhile.
///
/// # Errors
/// What the file system says.
pub fn try_lock(file: &File) -> Result<bool> {
    system::try_lock(file)
}

/// Opens a file that is there only to be held, makes it and its folder where they are not there, and takes its lock for as long as the
/// file stays open; none while somebody else holds it.
///
/// # Errors
/// What the file system says.
pub fn hold(path: &Path) -> Result<Option<File>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    Ok(try_lock(&file)?.then_some(file))
}

#[cfg(unix)]
mod system {
    use std::fs::{File, TryLockError};
    use std::io::Result;

    pub(super) fn try_lock(file: &File) -> Result<bool> {
        match file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(windows)]
mod system {
    use std::fs::File;
    use std::io::Result;

    /// A lock of the whole file would keep others from reading who holds it.
    pub(super) fn try_lock(file: &File) -> Result<bool> {
        win32::try_lock(file)
    }
}
