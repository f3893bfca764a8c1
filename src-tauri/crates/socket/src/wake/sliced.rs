//! Waiting where the system does not wait for a connection and a word at once: for the word, and every few milliseconds it is looked
//! whether the connection has something.

use super::On;
use crate::lock;
use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a connection is looked at: the first time, and at most.
const SLICE_FIRST: Duration = Duration::from_millis(2);
const SLICE_MOST: Duration = Duration::from_millis(50);

/// Wakes the one thread that waits.
pub(crate) struct Wake {
    is_pending: Mutex<bool>,
    bell: Condvar,
}

impl Wake {
    #[allow(
        clippy::unnecessary_wraps,
        reason = "where the system waits it may have nothing left to wait with"
    )]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { is_pending: Mutex::new(false), bell: Condvar::new() })
    }

    pub(crate) fn wake(&self) {
        *lock(&self.is_pending) = true;
        self.bell.notify_all();
    }

    /// Waits until somebody wakes, or a time is up.
    pub(crate) fn pause(&self, within: Duration) {
        self.is_woken(within);
    }

    /// Waits until a connection has something, or somebody connects, as well. A listener is not asked, since that would take up
    /// whoever is there: who waits for it looks again after one slice.
    pub(crate) fn wait(&self, on: On<'_>, within: Duration) {
        let On::Connection(tcp) = on else {
            self.is_woken(within.min(SLICE_MOST));
            return;
        };
        let until = Instant::now() + within;
        let mut slice = SLICE_FIRST;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if has_something(tcp) || left.is_zero() || self.is_woken(left.min(slice)) {
                return;
            }
            slice = slice.saturating_mul(2).min(SLICE_MOST);
        }
    }

    /// Whether somebody woke within a time.
    fn is_woken(&self, within: Duration) -> bool {
        let pending = lock(&self.is_pending);
        let waited = self.bell.wait_timeout_while(pending, within, |pending| !*pending);
        let (mut pending, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *pending)
    }
}

/// Whether a read would come back at once: with bytes, with the end, or with an error. The one thread that reads is the one that
/// waits.
fn has_something(tcp: &TcpStream) -> bool {
    if tcp.set_nonblocking(true).is_err() {
        return true;
    }
    let looked = tcp.peek(&mut [0]);
    let is_back = tcp.set_nonblocking(false).is_ok();
    !is_back || !matches!(looked, Err(error) if error.kind() == ErrorKind::WouldBlock)
}
