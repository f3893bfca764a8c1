//! The seam to permissions: who else reads a file.

use std::fs::Metadata;

/// Whether others than its owner may read a file.
#[cfg(unix)]
pub(super) fn others_read(file: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.permissions().mode() & 0o044 != 0
}

/// A file in a person's folder is theirs alone there, unless they said otherwise.
#[cfg(not(unix))]
pub(super) fn others_read(_: &Metadata) -> bool {
    false
}
