//! Names that move within and between folders in one step, and folders whose names are on the disk.

use cap_std::fs::Dir;
use std::ffi::OsStr;
use std::io::Result;

pub(crate) use system::{exchange, link, rename_new, sync_dir};

/// A hard link refuses to replace what is there, on every system. These are two steps: the new name is durable before
/// the old one goes, so that no power cut finds the file at neither.
fn link_then_remove(from: &Dir, name: &OsStr, to: &Dir, to_name: &OsStr) -> Result<()> {
    from.hard_link(name, to, to_name)?;
    sync_dir(to)?;
    from.remove_file(name)
}

#[cfg(unix)]
mod system {
    use super::{Dir, OsStr, Result, link_then_remove};
    use rustix::fs::{Mode, OFlags, RenameFlags, renameat_with};
    use rustix::io::Errno;

    /// Makes the folder's entries durable.
    pub(crate) fn sync_dir(dir: &Dir) -> Result<()> {
        // The handle may be good for walking only; a sync needs one that was opened for reading.
        let readable = rustix::fs::openat(
            dir,
            ".",
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        Ok(rustix::fs::fsync(readable)?)
    }

    /// Renames; fails with `AlreadyExists` when something is at the new place.
    pub(crate) fn rename_new(from: &Dir, name: &OsStr, to: &Dir, to_name: &OsStr) -> Result<()> {
        match renameat_with(from, name, to, to_name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => link_then_remove(from, name, to, to_name),
            other => Ok(other?),
        }
    }

    /// Swaps two entries in one step; `Unsupported` where the file system cannot.
    pub(crate) fn exchange(dir: &Dir, one: &OsStr, other: &OsStr) -> Result<()> {
        match renameat_with(dir, one, dir, other, RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS) => Err(std::io::ErrorKind::Unsupported.into()),
            result => Ok(result?),
        }
    }

    /// Makes a link that says `target`, whatever that is.
    pub(crate) fn link(dir: &Dir, target: &str, name: &OsStr) -> Result<()> {
        dir.symlink_contents(target, name)
    }
}

#[cfg(windows)]
mod system {
    use super::{Dir, OsStr, Result, link_then_remove};

    /// The handle that walks a folder cannot flush it here; one that may write in it can.
    pub(crate) fn sync_dir(dir: &Dir) -> Result<()> {
        win32::reopen_folder(dir)?.sync_all()
    }

    pub(crate) fn rename_new(from: &Dir, name: &OsStr, to: &Dir, to_name: &OsStr) -> Result<()> {
        link_then_remove(from, name, to, to_name)
    }

    /// Two files change places in three steps here, and a power cut between them would leave one without its name: whoever asks
    /// takes one step, a rename, instead.
    pub(crate) fn exchange(_: &Dir, _: &OsStr, _: &OsStr) -> Result<()> {
        Err(disk::not_on_this_system("an exchange of two files in one step"))
    }

    /// Links are of other kinds here.
    pub(crate) fn link(_: &Dir, _: &str, _: &OsStr) -> Result<()> {
        Err(disk::not_on_this_system("a symbolic link"))
    }
}
