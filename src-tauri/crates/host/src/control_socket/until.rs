//! What is read until a moment, or until a host ends, in however many pieces it comes.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What comes from the other side, a moment at a time.
pub(super) trait Comes {
    /// Reads what is there, or comes soon and before `left` is over; none where nothing did.
    fn next(&self, buffer: &mut [u8], left: Duration) -> io::Result<Option<usize>>;
}

/// A reader whose time is over at a moment, or when it is to stop.
pub(super) struct Until<'a, S> {
    pub(super) stream: &'a S,
    pub(super) by: Instant,
    pub(super) stop: &'a AtomicBool,
}

impl<S: Comes> Read for Until<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = self.by.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stop.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if let Some(bytes) = self.stream.next(buffer, left)? {
                return Ok(bytes);
            }
        }
    }
}
