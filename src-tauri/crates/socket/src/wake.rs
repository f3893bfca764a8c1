//! Waiting for a connection and for a word of another thread at once, and the connection as other threads see it.

use crate::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Frames that wait to be written to one connection, and their bytes.
const QUEUE_FRAMES_MAX: usize = 512;
const QUEUE_BYTES_MAX: usize = 8 * 1024 * 1024;

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

    /// Waits until a connection has something as well.
    pub(crate) fn wait(&self, connection: BorrowedFd<'_>, within: Duration) {
        let own = PollFd::new(&self.reader, PollFlags::IN);
        self.wait_on(&mut [own, PollFd::from_borrowed_fd(connection, PollFlags::IN)], within);
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

/// A connection as other threads see it: what waits to be written to it, and how it is ended.
pub(crate) struct Handle {
    queue: Mutex<Queue>,
    wake: Wake,
    is_over: AtomicBool,
    tcp: Mutex<Option<TcpStream>>,
}

#[derive(Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
}

impl Handle {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            queue: Mutex::default(),
            wake: Wake::new()?,
            is_over: AtomicBool::new(false),
            tcp: Mutex::new(None),
        })
    }

    /// The connection stands, and is ended with the handle; whether it is still wanted.
    pub(crate) fn reached(&self, tcp: &TcpStream) -> bool {
        let _ = tcp.set_nodelay(true);
        let Ok(same) = tcp.try_clone() else { return false };
        *lock(&self.tcp) = Some(same);
        !self.is_over()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Ends the connection, whatever its thread is doing with it.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(tcp) = lock(&self.tcp).as_ref() {
            let _ = tcp.shutdown(Shutdown::Both);
        }
        self.wake.wake();
    }

    /// Puts a frame to those that wait; whether it has room.
    pub(crate) fn push(&self, frame: Vec<u8>) -> bool {
        let mut queue = lock(&self.queue);
        let bytes = queue.bytes.saturating_add(frame.len());
        if self.is_over() || queue.frames.len() >= QUEUE_FRAMES_MAX || bytes > QUEUE_BYTES_MAX {
            return false;
        }
        queue.bytes = bytes;
        queue.frames.push_back(frame);
        drop(queue);
        self.wake.wake();
        true
    }

    /// The next frame to be written.
    pub(crate) fn next(&self) -> Option<Vec<u8>> {
        let mut queue = lock(&self.queue);
        let frame = queue.frames.pop_front()?;
        queue.bytes = queue.bytes.saturating_sub(frame.len());
        Some(frame)
    }

    /// Whether nothing waits to be written.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.queue).frames.is_empty()
    }

    /// Waits until the connection has something, somebody has, or a time is up.
    pub(crate) fn wait(&self, tcp: &TcpStream, within: Duration) {
        self.wake.wait(tcp.as_fd(), within);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_word_said_before_the_wait_is_heard_and_heard_once() {
        let wake = Wake::new().unwrap();
        wake.wake();
        wake.wake();
        let began = Instant::now();
        wake.pause(Duration::from_secs(20));
        assert!(began.elapsed() < Duration::from_secs(10));
        let began = Instant::now();
        wake.pause(Duration::from_millis(40));
        assert!(began.elapsed() >= Duration::from_millis(30));
    }

    #[test]
    fn what_waits_to_be_written_is_bounded_in_number_and_bytes() {
        let handle = Handle::new().unwrap();
        assert!((0..QUEUE_FRAMES_MAX).all(|_| handle.push(vec![0])));
        assert!(!handle.push(vec![0]));
        let handle = Handle::new().unwrap();
        assert!(handle.push(vec![0; QUEUE_BYTES_MAX]) && !handle.push(vec![0]));
        assert_eq!(handle.next().map(|frame| frame.len()), Some(QUEUE_BYTES_MAX));
        assert!(handle.push(vec![0]) && !handle.is_empty());
        handle.end();
        assert!(!handle.push(vec![0]));
    }
}
