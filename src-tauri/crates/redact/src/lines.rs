//! Private keys, for whoever sees single lines of a file.

use crate::shapes;
use regex::bytes::Regex;
use std::sync::LazyLock;

/// Lines of the longest private key.
const KEY_LINES_MAX: usize = 400;
/// What a private key becomes, line by line.
const KEY: &[u8] = b"[redacted: private key]";

static ARMOUR: LazyLock<Option<(Regex, Regex)>> = LazyLock::new(|| {
    let armour =
        |word: &str| shapes::compile(&format!("-----{word} [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----"));
    Some((armour("BEGIN")?, armour("END")?))
});

/// Knows, line by line of one file, what belongs to a private key. Values of secrets that stand on several lines are taken
/// out before, by [`Stream::by_line`](crate::Stream::by_line).
#[derive(Debug, Default)]
pub struct KeyLines {
    /// Lines that a private key may still go on for.
    key: usize,
}

impl KeyLines {
    /// The next line; what stands for it when it is part of a private key.
    pub fn line<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        let Some((begin, end)) = ARMOUR.as_ref() else { return KEY };
        let ends = end.find_iter(line).last().map(|found| found.end());
        if self.key > 0 {
            // A line of code or prose is none of a key.
            if ends.is_none() && !line.iter().all(|byte| is_of_key(*byte)) {
                self.key = 0;
                return line;
            }
            self.key = if ends.is_some() { 0 } else { self.key - 1 };
            return KEY;
        }
        // A key that begins and ends on one line is found by its shape.
        if begin.find_iter(line).last().is_some_and(|found| ends.is_none_or(|end| end < found.start())) {
            self.key = KEY_LINES_MAX;
        }
        line
    }
}

const fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte.is_ascii_whitespace()
        || matches!(
            byte,
            b'+' | b'/' | b'=' | b'\\' | b':' | b',' | b'.' | b'\'' | b'"' | b'|' | b'>' | b'#' | b'*' | b'-'
        )
}
