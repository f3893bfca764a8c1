//! Bytes that come in pieces: as much is held back as a value could still need.

use crate::Redactor;
use std::sync::Arc;

/// Held back at most, beyond what a value needs: white space and repetitions end there.
const HELD_BYTES_MAX: usize = 64 * 1024;

/// Redacts a stream of pieces. What comes out, put together, is what redacting the whole would give.
pub struct Stream {
    redactor: Arc<Redactor>,
    held: Vec<u8>,
}

impl Stream {
    /// A stream of its own.
    pub fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, held: Vec::new() }
    }

    /// Takes a piece; gives back what can no longer be part of a value.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        if self.redactor.is_empty() {
            return piece.to_vec();
        }
        self.held.extend_from_slice(piece);
        let cut = self.cut();
        self.give(cut)
    }

    /// As [`Stream::push`] for text, which is never cut inside a character.
    pub fn push_text(&mut self, piece: &str) -> String {
        if self.redactor.is_empty() {
            return piece.to_owned();
        }
        self.held.extend_from_slice(piece.as_bytes());
        let mut cut = self.cut();
        while cut > 0 && self.held.get(cut).is_some_and(|byte| byte & 0xC0 == 0x80) {
            cut -= 1;
        }
        String::from_utf8_lossy(&self.give(cut)).into_owned()
    }

    /// The end: everything that was held back.
    pub fn end(&mut self) -> Vec<u8> {
        let all = self.held.len();
        self.give(all)
    }

    /// The end of text.
    pub fn end_text(&mut self) -> String {
        String::from_utf8_lossy(&self.end()).into_owned()
    }

    /// Up to where nothing that comes can change what is taken out.
    fn cut(&self) -> usize {
        // Counted without white space: so many bytes may belong to a value whose end is not here yet.
        let mut needed = self.redactor.longest;
        let mut cut = self.held.len();
        while cut > 0 && needed > 0 {
            cut -= 1;
            if self.held.get(cut).is_some_and(|byte| !byte.is_ascii_whitespace()) {
                needed -= 1;
            }
        }
        let cut = cut.max(self.held.len().saturating_sub(HELD_BYTES_MAX + self.redactor.longest));
        let spans = self.redactor.spans(&self.held);
        match spans.iter().find(|span| span.from < cut && cut < span.to) {
            Some(span) if self.held.len() - span.from > 2 * HELD_BYTES_MAX => span.to,
            Some(span) => span.from,
            None => cut,
        }
    }

    fn give(&mut self, cut: usize) -> Vec<u8> {
        let rest = self.held.split_off(cut.min(self.held.len()));
        let given = std::mem::replace(&mut self.held, rest);
        self.redactor.bytes(&given).rest.into_owned()
    }
}
