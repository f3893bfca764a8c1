//! Whether this process may make files in a folder.

use std::path::Path;

/// Whether this process may make files in a folder, as the system says.
#[cfg(unix)]
#[must_use]
pub fn may_write(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Whether this process may make files in a folder. The system is not asked: one is made, and goes again.
#[cfg(not(unix))]
#[must_use]
pub fn may_write(folder: &Path) -> bool {
    tempfile::tempfile_in(folder).is_ok()
}
