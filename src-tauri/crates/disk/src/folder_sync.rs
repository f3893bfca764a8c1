//! Names in a folder that are on the disk when the call returns.

use std::fs::File;
use std::io::Result;
use std::path::Path;

/// Makes names in a folder durable.
///
/// # Errors
/// What the disk says.
pub fn sync_folder(folder: &Path) -> Result<()> {
    opened(folder)?.sync_all()
}

#[cfg(unix)]
fn opened(folder: &Path) -> Result<File> {
    File::open(folder)
}

/// A folder opens as a file does only when that is asked for, and is flushed only by who may write in it. NTFS writes what becomes
/// of names into its journal, and to flush a folder writes that journal out.
#[cfg(windows)]
fn opened(folder: &Path) -> Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    File::options().write(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(folder)
}
