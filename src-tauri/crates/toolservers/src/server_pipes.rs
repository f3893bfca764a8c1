//! The pipes of a server, as the runtime waits for them.

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
    use std::io::{Error, ErrorKind, Result};
    use std::process::{ChildStdin, ChildStdout};

    pub(crate) use tokio::io::{Empty as Reader, Sink as Writer};

    /// A pipe that can be waited for without a thread is not made here yet.
    fn refused() -> Error {
        let why = "speaking to a server of tools: Hermit does not have this on this system yet";
        Error::new(ErrorKind::Unsupported, why)
    }

    pub(crate) fn writer(_: ChildStdin) -> Result<Writer> {
        Err(refused())
    }

    pub(crate) fn reader(_: ChildStdout) -> Result<Reader> {
        Err(refused())
    }
}
