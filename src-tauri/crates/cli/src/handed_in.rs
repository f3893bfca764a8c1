//! A file that whoever started this program has opened for it, by its number: a file descriptor.

pub use system::opened;

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io::Result;
    use std::os::fd::AsFd as _;

    /// The file of a number. 0 is the standard input, and goes on behind what was read of it.
    ///
    /// # Errors
    /// When nothing is open under the number.
    pub fn opened(number: i32) -> Result<File> {
        match number {
            0 => Ok(std::io::stdin().as_fd().try_clone_to_owned()?.into()),
            // Opening through the system's list of descriptors needs no unsafe code; the descriptor itself stays open.
            _ => File::open(format!("/dev/fd/{number}")),
        }
    }
}

#[cfg(windows)]
mod system {
    use std::fs::File;
    use std::io::{Error, ErrorKind, Result};
    use std::os::windows::io::AsHandle as _;

    /// The file of a number. 0 is the standard input, and goes on behind what was read of it; no other has a number here.
    ///
    /// # Errors
    /// When there is no standard input, or the number is another.
    pub fn opened(number: i32) -> Result<File> {
        match number {
            0 => Ok(std::io::stdin().as_handle().try_clone_to_owned()?.into()),
            _ => Err(Error::new(ErrorKind::Unsupported, "on Windows only 0 can be read, the standard input")),
        }
    }
}
