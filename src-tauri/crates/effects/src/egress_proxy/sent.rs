//! What a command sent to the hosts of its secrets, kept as a record: as it left the command, so that a stand-in is where a
//! value was put in its place.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes that are kept of one command.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// The record of one command.
#[derive(Default)]
pub(super) struct Sent {
    keeps: AtomicBool,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    text: Vec<u8>,
    requests: usize,
    bytes: u64,
}

impl Sent {
    pub(super) fn keep(&self) {
        self.keeps.store(true, Ordering::SeqCst);
    }

    /// One request once it has been sent: its head, what was collected of its body, and how long that was.
    pub(super) fn request(&self, host: &str, head: &[u8], body: &[u8], body_bytes: u64) {
        if !self.keeps.load(Ordering::SeqCst) {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.requests = kept.requests.saturating_add(1);
        let bytes = body_bytes.saturating_add(head.len() as u64);
        kept.bytes = kept.bytes.saturating_add(bytes);
        let title = format!("=== request {} to {host}, {bytes} bytes\n", kept.requests);
        for part in [title.as_bytes(), head, body, b"\n"] {
            let room = BYTES_MAX.saturating_sub(kept.text.len());
            kept.text.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
        }
    }

    /// How much of a body may be collected for the record.
    pub(super) fn room(&self) -> usize {
        if !self.keeps.load(Ordering::SeqCst) {
            return 0;
        }
        BYTES_MAX.saturating_sub(self.kept.lock().unwrap_or_else(PoisonError::into_inner).text.len())
    }

    pub(super) fn take(&self) -> Option<(Vec<u8>, String)> {
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        if kept.requests == 0 {
            return None;
        }
        let whole = if kept.text.len() < BYTES_MAX { "" } else { ", the first 4 MiB of it" };
        let requests = if kept.requests == 1 { "1 request" } else { &format!("{} requests", kept.requests) };
        let words = format!(
            "network: what it sent where it signs in is kept{whole}: {requests}, {} bytes",
            kept.bytes
        );
        // Whatever is no text in it is shown as such.
        Some((String::from_utf8_lossy(&kept.text).into_owned().into_bytes(), words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_kept_where_that_was_asked_for_and_only_so_many_bytes_of_them() {
        let sent = Sent::default();
        sent.request("a:1", b"GET /", b"", 0);
        assert_eq!((sent.take(), sent.room()), (None, 0));
        sent.keep();
        sent.request("a:1", b"POST / HTTP/1.1\r\n\r\n", b"{}", 2);
        sent.request("b:2", b"", &[0xff; 3], 3);
        let (text, words) = sent.take().unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("=== request 1 to a:1, 21 bytes\nPOST / HTTP/1.1\r\n\r\n{}\n"), "{text}");
        assert!(words.contains("2 requests, 24 bytes"), "{words}");
        sent.request("a:1", b"", &vec![b'x'; BYTES_MAX + 7], 500_000_000);
        assert_eq!(sent.room(), 0, "nothing more is collected of what comes after it");
        let (text, words) = sent.take().unwrap();
        assert!(
            words.contains("1 request, 500000000 bytes"),
            "how much left, and not how much is kept: {words}"
        );
        assert_eq!(text.len(), BYTES_MAX);
        assert!(words.contains("the first 4 MiB"), "{words}");
        assert_eq!(sent.take(), None);
    }
}
