//! What an entry of a folder is.

use crate::system::file_identity;
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
    /// Of what is open.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self::with(metadata, file_identity::told(metadata))
    }

    /// Of what was looked at by its path. Not every system says then which file it is.
    pub(crate) fn by_path(metadata: std::fs::Metadata) -> Self {
        let metadata = Metadata::from_just_metadata(metadata);
        let told = file_identity::told_by_path(&metadata);
        Self::with(&metadata, told)
    }

    fn with(metadata: &Metadata, told: Self) -> Self {
        let kind = match metadata.file_type() {
            t if t.is_symlink() => Kind::Symlink,
            t if t.is_dir() => Kind::Folder,
            t if t.is_file() => Kind::File,
            _ => Kind::Special,
        };
        Self { kind, byte_size: metadata.len(), ..told }
    }

    pub(crate) fn modified_ms(&self) -> i64 {
        self.modified_ns.div_euclid(1_000_000)
    }
}
