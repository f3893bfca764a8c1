//! Locks that processes hold on a file.

use std::fs::File;
use std::io::Result;

/// Takes the lock of a file for as long as it is open, or says that somebody has it. Others may read the file meanwhile.
///
/// # Errors
/// What the file system says.
pub fn try_lock(file: &File) -> Result<bool> {
    system::try_lock(file)
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
