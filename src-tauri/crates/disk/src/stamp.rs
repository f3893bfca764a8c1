//! Everything by which a file is known to be the same, without reading it.

use std::fs::Metadata;

/// A file as its disk has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its device and its number there.
    pub place: (u64, u64),
    /// Its bytes.
    pub size: u64,
    /// When it was written: seconds and nanoseconds since 1970.
    pub written: (i64, i64),
    /// When anything of it was changed, which nobody sets.
    pub changed: (i64, i64),
}

/// The stamp of a file; none where the system does not say when anything of it was changed.
#[cfg(unix)]
#[must_use]
pub fn stamp(of: &Metadata) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt as _;
    Some(Stamp {
        place: (of.dev(), of.ino()),
        size: of.size(),
        written: (of.mtime(), of.mtime_nsec()),
        changed: (of.ctime(), of.ctime_nsec()),
    })
}

/// The stamp of a file: none, so that it is read each time. Windows knows when anything of a file was changed, and lets each
/// program that may write the file set that as well.
#[cfg(not(unix))]
#[must_use]
pub const fn stamp(_: &Metadata) -> Option<Stamp> {
    None
}
