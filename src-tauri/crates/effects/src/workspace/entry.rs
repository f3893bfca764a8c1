//! What an entry of a folder is.

use cap_std::fs::Metadata;
use serde::{Deserialize, Serialize};

/// Kinds of entries, as a listing names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// A regular file.
    #[default]
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Symlink,
    /// A device, socket or pipe.
    Special,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Symlink => "symlink",
            Self::Special => "special",
        }
    }

    pub(crate) const fn article(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Symlink => "a symbolic link",
            Self::Special => "a device, socket or pipe",
        }
    }
}

/// Kind, size, times and identity of an entry. Times in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Stat {
    pub(crate) kind: Kind,
    pub(crate) byte_size: u64,
    pub(crate) modified_ns: i64,
    pub(crate) changed_ns: i64,
    pub(crate) mode: Option<u32>,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) owner: Option<(u32, u32)>,
}

impl Stat {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let kind = match metadata.file_type() {
            t if t.is_symlink() => Kind::Symlink,
            t if t.is_dir() => Kind::Folder,
            t if t.is_file() => Kind::File,
            _ => Kind::Special,
        };
        Self { kind, byte_size: metadata.len(), ..platform(metadata) }
    }

    pub(crate) fn modified_ms(&self) -> i64 {
        self.modified_ns.div_euclid(1_000_000)
    }
}

#[cfg(unix)]
fn platform(metadata: &Metadata) -> Stat {
    use cap_std::fs::MetadataExt;
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

#[cfg(not(unix))]
fn platform(metadata: &Metadata) -> Stat {
    let since = metadata.modified().ok().map(|t| t.into_std());
    let since = since.and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    let modified_ns = since.and_then(|d| i64::try_from(d.as_nanos()).ok()).unwrap_or(0);
    Stat { modified_ns, ..Stat::default() }
}
