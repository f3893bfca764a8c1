//! Which names of files some disk takes for one: the one place that compares a name which is protected with one that somebody gives.
//!
//! Disks of macOS and Windows ignore case, that of macOS compares names in a normal form of Unicode (as a folder of ext4 may), HFS+
//! skips signs that are not seen, and Windows drops dots and spaces at an end. Which disk a folder lies on is not asked: a name that is
//! the same on any of them counts as the same on all, so that a rule never holds on one machine and not on another.

use crate::visible::is_hidden;
use unicode_normalization::UnicodeNormalization as _;

/// A name of one part as the most forgiving of disks reads it: without signs that are not seen, decomposed, in small letters, without
/// dots and spaces at its end. What is not UTF-8 in it is a replacement sign.
pub fn folded(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let mut folded = if text.is_ascii() { text.to_ascii_lowercase() } else { unicode_folded(&text) };
    folded.truncate(folded.trim_end_matches([' ', '.']).len());
    folded
}

fn unicode_folded(text: &str) -> String {
    let is_seen = |c: &char| c.is_ascii() || *c == char::REPLACEMENT_CHARACTER || !is_hidden(*c);
    // To capitals and back, since two small letters may share one, as `ſ` and `s` do, and first to small ones, since a capital may stand
    // alone, as `ẞ` does. Letter by letter, since a small sigma is another one at the end of a word.
    let small = text.chars().filter(is_seen).nfd().flat_map(char::to_lowercase);
    small.flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfd().collect()
}

/// Whether some disk takes two names of one part for one.
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one == other {
        return true;
    }
    // Nearly every name there is: each file of a folder that is walked is asked about.
    match one.is_ascii() && other.is_ascii() {
        true => without_end(one).eq_ignore_ascii_case(without_end(other)),
        false => folded(one) == folded(other),
    }
}

/// A name in ASCII without dots and spaces at its end.
fn without_end(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| !matches!(byte, b' ' | b'.')).map_or(0, |last| last + 1);
    name.get(..end).unwrap_or_default()
}

/// Whether some disk takes a part of a path for one of these names.
pub fn has_part(path: &[u8], names: &[&str]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| names.iter().any(|name| is_same(part, name.as_bytes())))
}

/// Whether some disk takes a path for one that is `ancestor` or lies beneath it. Both are parts joined by `/`.
pub fn is_within(path: &[u8], ancestor: &[u8]) -> bool {
    if ancestor.is_empty() {
        return true;
    }
    let mut parts = path.split(|byte| *byte == b'/');
    ancestor.split(|byte| *byte == b'/').all(|above| parts.next().is_some_and(|part| is_same(part, above)))
}
