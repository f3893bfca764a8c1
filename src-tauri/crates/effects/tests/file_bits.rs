//! Bits of permission, as a test gives them to a file and finds them at one.

#[allow(unused_imports, reason = "each test crate that includes this has use for some of them")]
pub use system::{give, of, seen};

#[cfg(unix)]
mod system {
    use std::fs::Permissions;
    use std::io::Result;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    /// Gives a file these bits.
    pub fn give(path: &Path, mode: u32) -> Result<()> {
        std::fs::set_permissions(path, Permissions::from_mode(mode))
    }

    /// The bits of a file that is there.
    pub fn of(path: &Path) -> Option<u32> {
        Some(std::fs::metadata(path).unwrap().permissions().mode() & 0o7777)
    }

    /// What is found at a file that has these bits.
    pub const fn seen(mode: u32) -> Option<u32> {
        Some(mode)
    }
}

#[cfg(windows)]
mod system {
    use std::io::Result;
    use std::path::Path;

    /// Files have none here, and stay as they are.
    pub fn give(_: &Path, _: u32) -> Result<()> {
        Ok(())
    }

    /// Files have none here.
    pub fn of(_: &Path) -> Option<u32> {
        None
    }

    /// None are found here.
    pub const fn seen(_: u32) -> Option<u32> {
        None
    }
}
