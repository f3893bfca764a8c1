//! Lines of a file, one at a time, hashed on the way.

use crate::container::{Stop, unread};
use crate::layout::LINE_BYTES_MAX;
use seal::{Digest, Hasher};
use std::io::{BufRead as _, BufReader, Read};

/// Reads lines that each end in LF, and hashes every byte that passes.
pub(crate) struct Lines<'a> {
    name: &'a str,
    reader: BufReader<Box<dyn Read + 'a>>,
    hasher: Hasher,
    line: Vec<u8>,
    number: u64,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(name: &'a str, reader: Box<dyn Read + 'a>) -> Self {
        let reader = BufReader::with_capacity(64 * 1024, reader);
        Self { name, reader, hasher: Hasher::new(), line: Vec::new(), number: 0 }
    }

    /// The next line without its LF, and its number from 1; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, Stop> {
        self.line.clear();
        let mut bounded = self.reader.by_ref().take(LINE_BYTES_MAX as u64 + 1);
        let read = bounded.read_until(b'\n', &mut self.line).map_err(|e| unread(self.name, &e))?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.hasher.update(&self.line);
        match self.line.strip_suffix(b"\n") {
            Some(line) => Ok(Some((self.number, line))),
            None if read > LINE_BYTES_MAX => {
                Err(Stop::at(self.place(), "the line is longer than any of ours"))
            }
            None => Err(Stop::at(self.place(), "the line does not end in a newline: it was cut off")),
        }
    }

    /// Digest of everything that was read; call it after the last line.
    pub(crate) fn digest(self) -> Digest {
        self.hasher.finish()
    }

    fn place(&self) -> String {
        format!("{} line {}", self.name, self.number)
    }
}
