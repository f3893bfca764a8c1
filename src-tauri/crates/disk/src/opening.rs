//! Files that are opened without waiting for anybody.

use std::fs::{File, OpenOptions};
use std::io::Result;
use std::path::Path;

/// Opens a file for reading. A pipe that stands there is not waited for; the caller looks at what it has opened.
///
/// # Errors
/// What the disk says.
pub fn open_unwaited(path: &Path) -> Result<File> {
    system::unwaited(OpenOptions::new().read(true)).open(path)
}

/// Opens a file for reading, as [`open_unwaited`] does, and follows no link that stands in its place.
///
/// # Errors
/// What the disk says; where a link opens as itself, the caller sees that it is no file.
pub fn open_unfollowed(path: &Path) -> Result<File> {
    system::unfollowed(OpenOptions::new().read(true)).open(path)
}

/// Opens a folder, so that it can be asked about itself.
///
/// # Errors
/// What the disk says; where something else opens as well, the caller sees that it is no folder.
pub fn open_folder(path: &Path) -> Result<File> {
    system::folder(OpenOptions::new().read(true)).open(path)
}

#[cfg(unix)]
mod system {
    use rustix::fs::OFlags;
    use std::fs::OpenOptions;
    use std::os::unix::fs::OpenOptionsExt as _;

    fn with(options: &mut OpenOptions, flags: OFlags) -> &mut OpenOptions {
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
    }

    pub(super) fn unwaited(options: &mut OpenOptions) -> &mut OpenOptions {
        with(options, OFlags::NONBLOCK)
    }

    pub(super) fn unfollowed(options: &mut OpenOptions) -> &mut OpenOptions {
        with(options, OFlags::NOFOLLOW | OFlags::NONBLOCK)
    }

    pub(super) fn folder(options: &mut OpenOptions) -> &mut OpenOptions {
        with(options, OFlags::DIRECTORY)
    }
}

#[cfg(windows)]
mod system {
    use std::fs::OpenOptions;
    use std::os::windows::fs::OpenOptionsExt as _;

    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

    /// No folder holds a pipe here.
    pub(super) fn unwaited(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    pub(super) fn unfollowed(options: &mut OpenOptions) -> &mut OpenOptions {
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
    }

    /// Without this no folder opens.
    pub(super) fn folder(options: &mut OpenOptions) -> &mut OpenOptions {
        const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
        options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
    }
}
