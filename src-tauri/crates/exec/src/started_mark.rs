//! The mark: standard input is a file of Hermit's, written in the instant before the command begins.

use crate::Error;
use rustix::fd::OwnedFd;
use rustix::io::{FdFlags, fcntl_setfd, write};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;

/// The file to mark, out of the command's reach: it closes itself when this process becomes the command.
#[derive(Debug)]
pub struct Mark(OwnedFd);

impl Mark {
    /// Takes the file from standard input and puts `/dev/null` there.
    ///
    /// # Errors
    /// [`Error::Mark`] when one of the two cannot be had.
    pub fn take() -> Result<Self, Error> {
        let nothing = File::open("/dev/null").map_err(Error::Mark)?;
        let taken = || -> io::Result<OwnedFd> {
            let file = rustix::io::dup(rustix::stdio::stdin())?;
            fcntl_setfd(&file, FdFlags::CLOEXEC)?;
            rustix::stdio::dup2_stdin(nothing.as_fd())?;
            Ok(file)
        };
        taken().map(Self).map_err(Error::Mark)
    }

    /// Marks the start, durably.
    ///
    /// # Errors
    /// [`Error::Mark`] when it is not on disk.
    pub fn started(&self) -> Result<(), Error> {
        self.say("started\n").map_err(Error::Mark)
    }

    /// Says behind the mark that there was no start after all.
    ///
    /// # Errors
    /// [`Error::Mark`] when it is not on disk.
    pub fn failed(&self, why: &str) -> Result<(), Error> {
        self.say(&format!("{why}\n")).map_err(Error::Mark)
    }

    fn say(&self, text: &str) -> io::Result<()> {
        let mut bytes = text.as_bytes();
        while !bytes.is_empty() {
            let n = write(&self.0, bytes)?;
            bytes = bytes.get(n..).unwrap_or(&[]);
        }
        Ok(rustix::fs::fsync(&self.0)?)
    }
}
