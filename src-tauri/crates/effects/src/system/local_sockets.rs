//! Sockets with a name in a folder, by which a process inside the walls reaches this one.

#[cfg(unix)]
pub(crate) use system::listen_at;
pub use system::{LocalListener, LocalStream};
pub(crate) use system::{bind, connect, first_byte};

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io::Result;
    use std::net::TcpStream;
    #[cfg(target_os = "linux")]
    use std::os::fd::AsRawFd as _;
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    pub use std::os::unix::net::{UnixListener as LocalListener, UnixStream as LocalStream};

    /// A second way to a socket, short enough to bind and connect to: the folder's own name may be long.
    #[cfg(target_os = "linux")]
    fn beneath(folder: &File, name: &str) -> Result<PathBuf> {
        Ok(PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())))
    }

    /// There is no such way here.
    #[cfg(not(target_os = "linux"))]
    fn beneath(_: &File, _: &str) -> Result<PathBuf> {
        Err(disk::not_on_this_system("a socket with a name in a folder"))
    }

    pub(crate) fn bind(folder: &File, name: &str) -> Result<LocalListener> {
        LocalListener::bind(beneath(folder, name)?)
    }

    pub(crate) fn connect(folder: &File, name: &str) -> Result<LocalStream> {
        LocalStream::connect(beneath(folder, name)?)
    }

    /// A socket at a place with a short name.
    pub(crate) fn listen_at(place: &Path) -> Result<LocalListener> {
        LocalListener::bind(place)
    }

    /// What comes first, which is left where it is; waits so long for it.
    pub(crate) fn first_byte(stream: &LocalStream, within: Duration) -> Option<u8> {
        // The standard library looks ahead in a `TcpStream` alone; the system does it in every socket.
        let ahead = stream.try_clone().map(|stream| TcpStream::from(OwnedFd::from(stream))).ok()?;
        let mut first = [0; 1];
        let _ = ahead.set_read_timeout(Some(within));
        let came = ahead.peek(&mut first);
        let _ = stream.set_read_timeout(None);
        came.is_ok_and(|read| read == 1).then_some(first).map(|[byte]| byte)
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::File;
    use std::io::{Read, Result, Write};
    use std::net::Shutdown;
    use std::time::Duration;

    /// None can be made here yet.
    #[derive(Debug)]
    pub enum LocalListener {}

    /// None can be made here yet.
    #[derive(Debug)]
    pub enum LocalStream {}

    impl LocalListener {
        /// Who connects.
        ///
        /// # Errors
        /// What the system says.
        pub fn accept(&self) -> Result<(LocalStream, ())> {
            match *self {}
        }

        /// Who connects, one after the other.
        pub fn incoming(&self) -> std::iter::Empty<Result<LocalStream>> {
            match *self {}
        }

        /// Whether nobody is waited for.
        ///
        /// # Errors
        /// What the system says.
        pub fn set_nonblocking(&self, _: bool) -> Result<()> {
            match *self {}
        }
    }

    impl LocalStream {
        /// The same connection once more.
        ///
        /// # Errors
        /// What the system says.
        pub fn try_clone(&self) -> Result<Self> {
            match *self {}
        }

        /// Ends a direction of it.
        ///
        /// # Errors
        /// What the system says.
        pub fn shutdown(&self, _: Shutdown) -> Result<()> {
            match *self {}
        }

        /// How long a read waits.
        ///
        /// # Errors
        /// What the system says.
        pub fn set_read_timeout(&self, _: Option<Duration>) -> Result<()> {
            match *self {}
        }
    }

    impl Read for &LocalStream {
        fn read(&mut self, _: &mut [u8]) -> Result<usize> {
            match **self {}
        }
    }

    impl Write for &LocalStream {
        fn write(&mut self, _: &[u8]) -> Result<usize> {
            match **self {}
        }

        fn flush(&mut self) -> Result<()> {
            match **self {}
        }
    }

    pub(crate) fn bind(_: &File, _: &str) -> Result<LocalListener> {
        Err(disk::not_on_this_system("a socket with a name in a folder"))
    }

    pub(crate) fn connect(_: &File, _: &str) -> Result<LocalStream> {
        Err(disk::not_on_this_system("a socket with a name in a folder"))
    }

    pub(crate) fn first_byte(stream: &LocalStream, _: Duration) -> Option<u8> {
        match *stream {}
    }
}
