//! A file that another program has open, so that nobody else may move or change it meanwhile. Only one system has that.

pub(crate) use system::explained;

#[cfg(unix)]
mod system {
    use std::io::Error;

    /// What the system said; here an open file can be moved and changed.
    pub(crate) fn explained(error: Error) -> Error {
        error
    }
}

#[cfg(windows)]
mod system {
    use std::io::Error;

    /// It is shared with nobody for this, a part of it is locked, and a program has it in its memory.
    const HELD: [i32; 3] = [32, 33, 1224];

    /// What the system said, and what a person can do where another program holds the file.
    pub(crate) fn explained(error: Error) -> Error {
        match error.raw_os_error() {
            Some(code) if HELD.contains(&code) => {
                let why = format!("another program has it open; close it there, then ask again ({error})");
                Error::new(error.kind(), why)
            }
            _ => error,
        }
    }
}
