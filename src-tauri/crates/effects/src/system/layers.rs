//! A staged view: copies that share their bytes, and what a layer over a folder says of itself.

pub(crate) use system::{bytes_on_disk, copy_link, is_opaque, is_whiteout, kind_of_special, share};

#[cfg(unix)]
mod system {
    use std::ffi::OsString;
    use std::fs::{File, Metadata};
    use std::io::Result;
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    use std::path::Path;

    /// Makes a new file of the same bytes, one set for both until one of them changes.
    #[cfg(target_os = "linux")]
    pub(crate) fn share(from: &File, at: &Path) -> Result<()> {
        Ok(rustix::fs::ioctl_ficlone(File::create_new(at)?, from)?)
    }

    #[cfg(target_os = "macos")]
    pub(crate) fn share(from: &File, at: &Path) -> Result<()> {
        Ok(rustix::fs::fclonefileat(from, rustix::fs::CWD, at, rustix::fs::CloneFlags::empty())?)
    }

    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    pub(crate) fn share(_: &File, _: &Path) -> Result<()> {
        Err(disk::not_on_this_system("a copy that shares its bytes"))
    }

    /// Makes a link at a place of the view.
    pub(crate) fn copy_link(target: OsString, at: &Path) -> Result<()> {
        std::os::unix::fs::symlink(target, at)
    }

    /// What a file takes of the disk.
    pub(crate) fn bytes_on_disk(metadata: &Metadata) -> u64 {
        metadata.blocks().saturating_mul(512)
    }

    /// What something is that is no file, folder or link, by its own name.
    pub(crate) fn kind_of_special(place: &Path) -> &'static str {
        match std::fs::symlink_metadata(place).map(|metadata| metadata.file_type()) {
            Ok(kind) if kind.is_fifo() => "a named pipe",
            Ok(kind) if kind.is_socket() => "a socket",
            Ok(kind) if kind.is_block_device() || kind.is_char_device() => "a device",
            _ => "a device, socket or pipe",
        }
    }

    /// Whether it says in a layer that what is below it is gone.
    pub(crate) fn is_whiteout(metadata: &Metadata) -> bool {
        metadata.file_type().is_char_device() && metadata.rdev() == 0
    }

    /// Whether a folder of a layer hides all that is in the folder below it.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_opaque(folder: &Path) -> bool {
        ["user.overlay.opaque", "trusted.overlay.opaque"].iter().any(|name| {
            let mut value = [0u8; 1];
            matches!(rustix::fs::lgetxattr(folder, *name, &mut value), Ok(1) if value == *b"y")
        })
    }

    /// No layers are made here.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn is_opaque(_: &Path) -> bool {
        false
    }
}

#[cfg(not(unix))]
mod system {
    use std::ffi::OsString;
    use std::fs::{File, Metadata};
    use std::io::Result;
    use std::path::Path;

    pub(crate) fn share(_: &File, _: &Path) -> Result<()> {
        Err(disk::not_on_this_system("a copy that shares its bytes"))
    }

    pub(crate) fn copy_link(_: OsString, _: &Path) -> Result<()> {
        Err(disk::not_on_this_system("a symbolic link"))
    }

    /// Its length: what is shared or packed is counted as if it were not.
    pub(crate) fn bytes_on_disk(metadata: &Metadata) -> u64 {
        metadata.len()
    }

    pub(crate) fn kind_of_special(_: &Path) -> &'static str {
        "a device, socket or pipe"
    }

    /// No layers are made here.
    pub(crate) fn is_whiteout(_: &Metadata) -> bool {
        false
    }

    pub(crate) fn is_opaque(_: &Path) -> bool {
        false
    }
}
