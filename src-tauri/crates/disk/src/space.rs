//! How much room a disk has.

use std::fs::File;
use std::io::Result;
use std::path::Path;

/// The room of the disk that a path lies on, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// All of it; zero where the file system does not say.
    pub total: u64,
    /// What is free.
    pub free: u64,
    /// What of it this user may take.
    pub available: u64,
}

/// Asks how much room there is.
///
/// # Errors
/// What the disk says.
#[cfg(unix)]
pub fn space(path: &Path) -> Result<Space> {
    let disk = rustix::fs::statvfs(path)?;
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    Ok(Space { total: bytes(disk.f_blocks), free: bytes(disk.f_bfree), available: bytes(disk.f_bavail) })
}

/// Asks how much room there is.
///
/// # Errors
/// What the disk says.
#[cfg(windows)]
pub fn space(path: &Path) -> Result<Space> {
    // Only a folder is asked.
    let above =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let (total, free, available) = win32::room(if path.is_dir() { path } else { above })?;
    Ok(Space { total, free, available })
}

/// Takes so many bytes of the disk for a file that is empty yet.
///
/// # Errors
/// What the disk says.
#[cfg(unix)]
pub fn reserve(file: &File, bytes: u64) -> Result<()> {
    Ok(rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes)?)
}

/// Takes so many bytes of the disk for a file that is empty yet.
///
/// # Errors
/// What the disk says.
#[cfg(windows)]
pub fn reserve(file: &File, bytes: u64) -> Result<()> {
    // A file that is not sparse has all of its length on the disk.
    file.set_len(bytes)
}
