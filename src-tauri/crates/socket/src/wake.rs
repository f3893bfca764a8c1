//! Waiting for a connection and for a word of another thread at once, and the connection as other threads see it.

#[cfg(unix)]
mod polled;
#[cfg(any(not(unix), test))]
mod sliced;

#[cfg(unix)]
pub(crate) use polled::Wake;
#[cfg(not(unix))]
pub(crate) use sliced::Wake;

use crate::lock;
use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Frames that wait to be written to one connection, and their bytes.
const QUEUE_FRAMES_MAX: usize = 512;
const QUEUE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What is waited for beside a word of another thread.
#[derive(Clone, Copy)]
pub(crate) enum On<'a> {
    /// Something to be read.
    Connection(&'a TcpStream),
    /// Somebody to be taken up.
    #[cfg_attr(
        not(unix),
        expect(dead_code, reason = "where nothing is polled, a listener is looked at again and again")
    )]
    Listener(&'a TcpListener),
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
        self.wake.wait(On::Connection(tcp), within);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::thread;
    use std::time::Instant;

    /// A word that was said before the wait is heard, and once; what comes by a connection or to a listener ends it as well.
    macro_rules! waits {
        ($name:ident, $wake:ty) => {
            #[test]
            fn $name() {
                let wake = <$wake>::new().unwrap();
                let (long, short) = (Duration::from_secs(20), Duration::from_millis(40));
                let took = |wait: &dyn Fn()| {
                    let began = Instant::now();
                    wait();
                    began.elapsed()
                };
                wake.wake();
                wake.wake();
                assert!(took(&|| wake.pause(long)) < Duration::from_secs(10));
                assert!(took(&|| wake.pause(short)) >= Duration::from_millis(30));
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                listener.set_nonblocking(true).unwrap();
                let mut there = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                assert!(took(&|| wake.wait(On::Listener(&listener), long)) < Duration::from_secs(10));
                let (here, _) = listener.accept().unwrap();
                here.set_nonblocking(false).unwrap();
                assert!(took(&|| wake.wait(On::Connection(&here), short)) >= Duration::from_millis(30));
                there.write_all(b"x").unwrap();
                assert!(took(&|| wake.wait(On::Connection(&here), long)) < Duration::from_secs(10));
                let mut byte = [0];
                (&here).read_exact(&mut byte).unwrap();
                assert_eq!(&byte, b"x", "nothing of it is taken by the wait");
                thread::scope(|scope| {
                    scope.spawn(|| {
                        thread::sleep(short);
                        wake.wake();
                    });
                    assert!(took(&|| wake.wait(On::Connection(&here), long)) < Duration::from_secs(10));
                });
                drop(there);
                assert!(
                    took(&|| wake.wait(On::Connection(&here), long)) < Duration::from_secs(10),
                    "its end"
                );
            }
        };
    }

    #[cfg(unix)]
    waits!(a_wait_by_the_system_ends_with_whatever_comes_first, polled::Wake);
    waits!(a_wait_in_slices_ends_with_whatever_comes_first, sliced::Wake);

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
