//! Waiting by the system, which tells what came first: a byte in a pipe, or something of a connection.

use super::On;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Wakes the one thread that waits.
pub(crate) struct Wake {
    reader: PipeReader,
    writer: PipeWriter,
    /// Whether there is a byte in the pipe, which never holds more.
    is_pending: AtomicBool,
}

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Self { reader, writer, is_pending: AtomicBool::new(false) })
    }

    pub(crate) fn wake(&self) {
        if !self.is_pending.swap(true, Ordering::SeqCst) {
            let mut writer = &self.writer;
            let _ = writer.write_all(&[1]);
        }
    }

    /// Waits until somebody wakes, or a time is up.
    pub(crate) fn pause(&self, within: Duration) {
        self.wait_on(&mut [PollFd::new(&self.reader, PollFlags::IN)], within);
    }

    /// Waits until a connection has something, or somebody connects, as well.
    pub(crate) fn wait(&self, on: On<'_>, within: Duration) {
        let own = PollFd::new(&self.reader, PollFlags::IN);
        let other = match on {
            On::Connection(tcp) => tcp.as_fd(),
            On::Listener(listener) => listener.as_fd(),
        };
        self.wait_on(&mut [own, PollFd::from_borrowed_fd(other, PollFlags::IN)], within);
    }

    /// Waits on descriptors, of which the first is the pipe's.
    fn wait_on(&self, on: &mut [PollFd<'_>], within: Duration) {
        let within = Timespec::try_from(within).unwrap_or_default();
        if poll(on, Some(&within)).is_err() {
            return;
        }
        if on.first().is_some_and(|own| own.revents().contains(PollFlags::IN)) {
            let (mut reader, mut byte) = (&self.reader, [0]);
            let _ = reader.read(&mut byte);
            self.is_pending.store(false, Ordering::SeqCst);
        }
    }
}
