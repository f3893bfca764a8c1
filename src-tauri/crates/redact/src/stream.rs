//! Bytes that come in pieces: as much is held back as a value could still need.

use crate::Redactor;
use std::sync::Arc;

/// Held back at most, beyond what a value needs: white space and repetitions end there.
const HELD_BYTES_MAX: usize = 64 * 1024;

/// Redacts a stream of pieces. What comes out, put together, is what redacting the whole would give.
pub struct Stream {
    redactor: Arc<Redactor>,
    held: Vec<u8>,
    /// Whether as many lines come out as went in.
    by_line: bool,
}

impl Stream {
    /// A stream of its own.
    pub fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, held: Vec::new(), by_line: false }
    }

    /// One that gives as many lines as it takes, for whoever sees single lines: a value that stands on several leaves
    /// nothing on any of them.
    pub fn by_line(redactor: Arc<Redactor>) -> Self {
        Self { redactor, held: Vec::new(), by_line: true }
    }

    /// As [`Stream::push`], up to the first value, and whose it is: nothing that comes after it may be given on.
    ///
    /// # Errors
    /// What came before the value, and the handle.
    pub fn until(&mut self, piece: &[u8]) -> Result<Vec<u8>, (Vec<u8>, String)> {
        self.held.extend_from_slice(piece);
        self.clear()?;
        let cut = self.cut();
        let rest = self.held.split_off(cut.min(self.held.len()));
        Ok(std::mem::replace(&mut self.held, rest))
    }

    /// The end of [`Stream::until`].
    ///
    /// # Errors
    /// As there.
    pub fn until_end(&mut self) -> Result<Vec<u8>, (Vec<u8>, String)> {
        self.clear()?;
        Ok(std::mem::take(&mut self.held))
    }

    fn clear(&mut self) -> Result<(), (Vec<u8>, String)> {
        let Some(span) = self.redactor.spans(&self.held).first().copied() else { return Ok(()) };
        let handle = self.redactor.handle(&span).to_owned();
        self.held.truncate(span.from);
        Err((std::mem::take(&mut self.held), handle))
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
        self.redactor.replaced(&given, self.by_line).rest.into_owned()
    }
}
