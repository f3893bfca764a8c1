//! The pipes of a server, as the runtime waits for them.

#[cfg(any(not(unix), test))]
mod threaded;

pub(crate) use system::{Reader, Writer, reader, writer};

#[cfg(unix)]
mod system {
    use std::io::Result;
    use std::os::fd::OwnedFd;
    use std::process::{ChildStdin, ChildStdout};
    use tokio::net::unix::pipe;

    pub(crate) use tokio::net::unix::pipe::{Receiver as Reader, Sender as Writer};

    pub(crate) fn writer(stdin: ChildStdin) -> Result<Writer> {
        pipe::Sender::from_owned_fd(OwnedFd::from(stdin))
    }

    pub(crate) fn reader(stdout: ChildStdout) -> Result<Reader> {
        pipe::Receiver::from_owned_fd(OwnedFd::from(stdout))
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::Result;
    use std::process::{ChildStdin, ChildStdout};

    pub(crate) use super::threaded::{Reader, Writer};

    /// The runtime takes no pipe that it has not made itself, so a thread writes.
    pub(crate) fn writer(stdin: ChildStdin) -> Result<Writer> {
        Writer::of(stdin)
    }

    /// A thread reads.
    pub(crate) fn reader(stdout: ChildStdout) -> Result<Reader> {
        Reader::of(stdout)
    }
}
