//! Who may do what with a file: bits of permission, and its owner.

pub(crate) use system::{
    PLAIN_FILE, give, open_to_owner, private_folder, read_only, set_bits, set_folder_bits, set_permissions,
};

#[cfg(unix)]
mod system {
    use cap_std::fs::{Dir, File};
    use rustix::fs::{AtFlags, Gid, Mode, OFlags, RawMode, Uid};
    use rustix::io::Errno;
    use std::ffi::OsStr;
    use std::io::Result;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    /// The bits of a file that nothing else is said of.
    pub(crate) const PLAIN_FILE: Option<u32> = Some(0o644);

    fn set(path: &Path, mode: u32) -> Result<()> {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
    }

    /// The bits as the system's own type has them, whose width differs.
    fn bits(mode: u32) -> Mode {
        Mode::from_raw_mode(RawMode::from(u16::try_from(mode & 0o7777).unwrap_or_default()))
    }

    /// Gives an open file these bits.
    pub(crate) fn set_bits(file: &File, mode: u32) -> Result<()> {
        Ok(rustix::fs::fchmod(file, bits(mode))?)
    }

    /// Gives a folder these bits; what has become something else meanwhile is refused.
    pub(crate) fn set_folder_bits(above: &Dir, name: &OsStr, mode: u32) -> Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(above, name, flags, Mode::empty()) {
            Ok(folder) => {
                rustix::fs::fchmod(&folder, bits(mode))?;
                Ok(rustix::fs::fsync(&folder)?)
            }
            // Its owner may not look into it; it was seen to be a folder just now.
            Err(Errno::ACCESS) => Ok(rustix::fs::chmodat(above, name, bits(mode), AtFlags::empty())?),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives an open file to a user and a group.
    pub(crate) fn give(file: &File, (uid, gid): (u32, u32)) -> Result<()> {
        Ok(rustix::fs::fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?)
    }

    /// Gives a copy the bits of what it is a copy of.
    pub(crate) fn set_permissions(at: &Path, mode: u32) -> Result<()> {
        set(at, mode)
    }

    /// Closes a folder to everybody but its owner.
    pub(crate) fn private_folder(path: &Path) -> Result<()> {
        set(path, 0o700)
    }

    /// Opens a file to its owner, who had closed it.
    pub(crate) fn open_to_owner(path: &Path) -> Result<()> {
        set(path, 0o600)
    }

    /// Nobody writes to it any more; one that runs still does.
    pub(crate) fn read_only(path: &Path, runs: bool) -> Result<()> {
        set(path, if runs { 0o555 } else { 0o444 })
    }
}

#[cfg(windows)]
mod system {
    use cap_std::fs::{Dir, File};
    use std::ffi::OsStr;
    use std::io::{Error, Result};
    use std::path::Path;

    /// A file has no bits here.
    pub(crate) const PLAIN_FILE: Option<u32> = None;

    fn refused() -> Error {
        disk::not_on_this_system("permissions of files by bits")
    }

    /// Files have no such bits here, and none is seen on one that is there.
    pub(crate) fn set_bits(_: &File, _: u32) -> Result<()> {
        Err(refused())
    }

    pub(crate) fn set_folder_bits(_: &Dir, _: &OsStr, _: u32) -> Result<()> {
        Err(refused())
    }

    pub(crate) fn give(_: &File, _: (u32, u32)) -> Result<()> {
        Err(refused())
    }

    pub(crate) fn set_permissions(_: &Path, _: u32) -> Result<()> {
        Err(refused())
    }

    pub(crate) fn private_folder(path: &Path) -> Result<()> {
        disk::owner_only::folder(path)
    }

    pub(crate) fn open_to_owner(_: &Path) -> Result<()> {
        Err(refused())
    }

    /// Whether it runs is told by its name here.
    pub(crate) fn read_only(path: &Path, _: bool) -> Result<()> {
        let mut permissions = std::fs::metadata(path)?.permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(path, permissions)
    }
}
