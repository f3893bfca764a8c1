//! The beginning and the end of what a command prints, and how much lay between.

use model::limits::COMMAND_OUTPUT_BYTES_MAX;
use std::collections::VecDeque;

/// Keeps half of the bound from the beginning and half from the end.
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    most: usize,
    total: u64,
}

impl Default for Capture {
    fn default() -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), most: COMMAND_OUTPUT_BYTES_MAX / 2, total: 0 }
    }
}

impl Capture {
    /// Takes a piece; gives back the part of it that belongs to the beginning.
    pub(crate) fn take<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = self.most.saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let rest = rest.get(rest.len().saturating_sub(self.most)..).unwrap_or(&[]);
        let over = (self.tail.len() + rest.len()).saturating_sub(self.most);
        self.tail.drain(..over);
        self.tail.extend(rest);
        first
    }

    /// Bytes seen.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Bytes left out.
    pub(crate) fn dropped(&self) -> u64 {
        self.total.saturating_sub((self.head.len() + self.tail.len()) as u64)
    }

    /// What was kept behind the beginning, with a line that says what is missing before it.
    pub(crate) fn rest(&self) -> Vec<u8> {
        let mut rest = Vec::new();
        if self.dropped() > 0 {
            rest.extend_from_slice(format!("\n[hermit left out {} bytes here]\n", self.dropped()).as_bytes());
        }
        rest.extend(self.tail.iter());
        rest
    }

    /// All that was kept.
    pub(crate) fn kept(&self) -> Vec<u8> {
        [self.head.clone(), self.rest()].concat()
    }
}
