//! The bytes of one client: no message is longer than is read, none come faster, and who does not go on is let go. The library
//! of relays leaves all of this to whoever hands it a connection.

use crate::FRAME_BYTES_MAX;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// How long a client may be silent. One that subscribes asks now and then whether the relay is there.
const SILENT: Duration = Duration::from_secs(600);
/// How long a client may take nothing of what it asked for.
const STUCK: Duration = Duration::from_secs(30);
/// Bytes that one client sends at once, and in each millisecond after that.
const AT_ONCE: u64 = 8 * 1024 * 1024;
const IN_A_MS: u64 = 1024;
/// How long it is waited for a client that sent too much.
const BREATH: Duration = Duration::from_millis(50);

pub(super) struct Bounded {
    tcp: TcpStream,
    meter: Meter,
    pace: Pace,
    silent: Pin<Box<Sleep>>,
    stuck: Option<Pin<Box<Sleep>>>,
}

impl Bounded {
    pub(super) fn new(tcp: TcpStream) -> Self {
        let pace = Pace { left: AT_ONCE, at: Instant::now(), wait: None };
        Self { tcp, meter: Meter::default(), pace, silent: Box::pin(sleep(SILENT)), stuck: None }
    }
}

impl AsyncRead for Bounded {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.pace.poll_leave(context));
        let before = buffer.filled().len();
        match Pin::new(&mut this.tcp).poll_read(context, buffer) {
            Poll::Ready(Ok(())) => {
                let fresh = buffer.filled().get(before..).unwrap_or_default();
                this.pace.used(fresh.len());
                this.silent.as_mut().reset(Instant::now() + SILENT);
                let is_fit = this.meter.takes(fresh);
                Poll::Ready(if is_fit { Ok(()) } else { Err(io::Error::from(io::ErrorKind::InvalidData)) })
            }
            Poll::Pending => {
                ready!(this.silent.as_mut().poll(context));
                Poll::Ready(Err(io::Error::from(io::ErrorKind::TimedOut)))
            }
            failed => failed,
        }
    }
}

impl AsyncWrite for Bounded {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.tcp).poll_write(context, bytes);
        if written.is_ready() {
            this.stuck = None;
            return written;
        }
        let stuck = this.stuck.get_or_insert_with(|| Box::pin(sleep(STUCK)));
        ready!(stuck.as_mut().poll(context));
        Poll::Ready(Err(io::Error::from(io::ErrorKind::TimedOut)))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_shutdown(context)
    }
}

/// How much a client may still send.
struct Pace {
    left: u64,
    at: Instant,
    wait: Option<Pin<Box<Sleep>>>,
}

impl Pace {
    fn poll_leave(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let passed = u64::try_from(self.at.elapsed().as_millis()).unwrap_or(u64::MAX);
            if passed > 0 {
                self.at = Instant::now();
                self.left = self.left.saturating_add(passed.saturating_mul(IN_A_MS)).min(AT_ONCE);
            }
            if self.left > 0 {
                self.wait = None;
                return Poll::Ready(());
            }
            let wait = self.wait.get_or_insert_with(|| Box::pin(sleep(BREATH)));
            ready!(wait.as_mut().poll(context));
            self.wait = None;
        }
    }

    fn used(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes as u64);
    }
}

/// Follows the frames of a client (RFC 6455, 5.2) by their heads alone.
#[derive(Default)]
struct Meter {
    /// The head of the next frame, as far as it came.
    head: Vec<u8>,
    /// Bytes of a frame that are still to come.
    rest: u64,
    /// Bytes of the message so far.
    message: u64,
}

impl Meter {
    /// Whether no message grows longer than is read.
    fn takes(&mut self, mut bytes: &[u8]) -> bool {
        while let Some((first, others)) = bytes.split_first() {
            if self.rest > 0 {
                let part = usize::try_from(self.rest).unwrap_or(usize::MAX).min(bytes.len());
                self.rest = self.rest.saturating_sub(part as u64);
                bytes = bytes.get(part..).unwrap_or_default();
                continue;
            }
            self.head.push(*first);
            bytes = others;
            let Some((length, is_control, is_last)) = read_head(&self.head) else { continue };
            self.head.clear();
            self.rest = length;
            if is_control {
                if length > 125 {
                    return false;
                }
                continue;
            }
            let message = self.message.saturating_add(length);
            if message > FRAME_BYTES_MAX as u64 {
                return false;
            }
            self.message = if is_last { 0 } else { message };
        }
        true
    }
}

/// How long a frame is, whether it is one of control, and whether its message ends with it; none where its head is not complete.
fn read_head(head: &[u8]) -> Option<(u64, bool, bool)> {
    let (first, second) = (head.first()?, head.get(1)?);
    let mask = if second & 0x80 == 0 { 0 } else { 4 };
    let of_length = match second & 0x7f {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    if head.len() < 2 + of_length + mask {
        return None;
    }
    let length = match head.get(2..2 + of_length)? {
        [] => u64::from(second & 0x7f),
        bytes => bytes.iter().fold(0, |length, byte| (length << 8) | u64::from(*byte)),
    };
    Some((length, first & 0x08 != 0, first & 0x80 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A masked frame: its first byte, and its length.
    fn frame(first: u8, length: usize) -> Vec<u8> {
        let mut bytes = vec![first];
        match length {
            0..126 => bytes.push(0x80 | u8::try_from(length).unwrap()),
            126..65_536 => {
                bytes.push(0x80 | 126);
                bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
            _ => {
                bytes.push(0x80 | 127);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.extend([1, 2, 3, 4]);
        bytes.extend(vec![0; length]);
        bytes
    }

    #[test]
    fn messages_of_every_size_that_is_read_pass_however_they_are_cut() {
        let sizes = [0, 1, 125, 126, 65_535, 65_536, FRAME_BYTES_MAX];
        let mut all: Vec<u8> = sizes.iter().flat_map(|size| frame(0x81, *size)).collect();
        // In parts, with a sign of life between them.
        all.extend(
            [frame(0x01, 100_000), frame(0x89, 4), frame(0x80, 60_000), frame(0x81, 100_000)].concat(),
        );
        for cut in [1, 7, 4096, all.len()] {
            let mut meter = Meter::default();
            assert!(all.chunks(cut).all(|bytes| meter.takes(bytes)), "{cut}");
            assert!(meter.head.is_empty() && meter.rest == 0 && meter.message == 0);
        }
    }

    #[test]
    fn a_message_that_is_too_long_is_refused_by_its_head() {
        let head = |bytes: Vec<u8>| bytes.get(..14).unwrap().to_vec();
        assert!(!Meter::default().takes(&head(frame(0x81, FRAME_BYTES_MAX + 1))));
        assert!(
            !Meter::default()
                .takes(&[0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4])
        );
        let mut meter = Meter::default();
        assert!(meter.takes(&frame(0x01, 100_000)) && !meter.takes(&head(frame(0x00, 100_000))));
        assert!(!Meter::default().takes(&head(frame(0x89, 126))));
    }
}
