//! Which file something is, whatever its name, whose it is, and when anything of it was changed.

use crate::workspace::entry::Stat;
use cap_std::fs::Metadata;

pub(crate) use system::{TELLS_CHANGES, is_told, told, told_by_path};

#[cfg(unix)]
mod system {
    use super::{Metadata, Stat};
    use cap_std::fs::MetadataExt as _;

    /// Whether a file that was changed shows it, whoever changed it.
    pub(crate) const TELLS_CHANGES: bool = true;

    /// Whether the system tells one folder from another that took its name.
    pub(crate) const fn is_told() -> std::io::Result<()> {
        Ok(())
    }

    /// What the system says beyond kind and length.
    pub(crate) fn told(metadata: &Metadata) -> Stat {
        let ns = |s: i64, n: i64| s.saturating_mul(1_000_000_000).saturating_add(n);
        Stat {
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
            mode: Some(metadata.mode() & 0o7777),
            device: metadata.dev(),
            inode: metadata.ino(),
            owner: Some((metadata.uid(), metadata.gid())),
            ..Stat::default()
        }
    }

    /// The same of what was looked at by its path.
    pub(crate) fn told_by_path(metadata: &Metadata) -> Stat {
        told(metadata)
    }
}

#[cfg(windows)]
mod system {
    use super::{Metadata, Stat};
    use cap_fs_ext::MetadataExt as _;

    /// Whoever may write a file sets its times as they were.
    pub(crate) const TELLS_CHANGES: bool = false;

    /// A folder has a number here as well. One of ReFS has a longer one, and half of it is told.
    pub(crate) const fn is_told() -> std::io::Result<()> {
        Ok(())
    }

    /// What the system says beyond kind and length. When anything of a file was changed is not told, because whoever may write
    /// a file sets that, too.
    pub(crate) fn told(metadata: &Metadata) -> Stat {
        Stat { device: metadata.dev(), inode: metadata.ino(), ..told_by_path(metadata) }
    }

    /// Only what is open has a number.
    pub(crate) fn told_by_path(metadata: &Metadata) -> Stat {
        let since = metadata.modified().ok().map(|t| t.into_std());
        let since = since.and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
        let modified_ns = since.and_then(|d| i64::try_from(d.as_nanos()).ok()).unwrap_or(0);
        Stat { modified_ns, ..Stat::default() }
    }
}
