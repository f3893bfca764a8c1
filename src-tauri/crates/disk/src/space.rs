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
/// What the disk says, and that this system is not asked yet.
#[cfg(unix)]
pub fn space(path: &Path) -> Result<Space> {
    let disk = rustix::fs::statvfs(path)?;
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    Ok(Space { total: bytes(disk.f_blocks), free: bytes(disk.f_bfree), available: bytes(disk.f_bavail) })
}

/// Asks how much room there is.
///
/// # Errors
/// This system is not asked yet.
#[cfg(not(unix))]
pub fn space(_: &Path) -> Result<Space> {
    Err(crate::not_on_this_system("the room that a disk has left"))
}

/// Takes so many bytes of the disk for a file that is empty yet.
///
/// # Errors
/// What the disk says, and that this system has no way yet.
#[cfg(unix)]
pub fn reserve(file: &File, bytes: u64) -> Result<()> {
    Ok(rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes)?)
}

/// Takes so many bytes of the disk for a file that is empty yet.
///
/// # Errors
/// This system has no way yet.
#[cfg(not(unix))]
pub fn reserve(_: &File, _: u64) -> Result<()> {
    Err(crate::not_on_this_system("room of the disk that is taken before it is written"))
}
