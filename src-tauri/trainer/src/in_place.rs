//! A program that gives its place to another.

use std::io::Error;
use std::process::Command;

/// Starts a program in the place of this one. It comes back only where that cannot be started, with the reason.
pub fn start(program: &mut Command) -> Error {
    system::start(program)
}

#[cfg(unix)]
mod system {
    use std::io::Error;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    pub(super) fn start(program: &mut Command) -> Error {
        program.exec()
    }
}

#[cfg(windows)]
mod system {
    use std::io::Error;
    use std::process::Command;

    /// No program takes the place of another here: this one waits, and ends as that one does.
    pub(super) fn start(program: &mut Command) -> Error {
        match program.status() {
            Ok(ended) => std::process::exit(ended.code().unwrap_or(1)),
            Err(error) => error,
        }
    }
}
