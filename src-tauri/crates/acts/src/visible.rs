//! Text that cannot lie about itself: whatever has no shape of its own, or moves what has, is written out.

use model::RelPath;
use model::visible::{is_blank, is_hidden};
use std::fmt::Write as _;

/// Text with every control, bidi, invisible and look-alike-of-space character written as `\u{…}`, line breaks and
/// tabs too, and a backslash doubled; so no two texts look the same here, and one text is one line.
pub fn visible(text: &str) -> String {
    // What nearly every text is: a card of a hundred thousand rows has half a million of them.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push(&mut out, c));
    out
}

/// A path as [`visible`], with what is not UTF-8 replaced: as a note names it in backticks.
pub fn visible_lossy(path: &RelPath) -> String {
    visible(&path.display_lossy())
}

/// A path as [`visible`], with each byte that is not UTF-8 as `\xNN`, in double quotes.
pub fn visible_path(path: &RelPath) -> String {
    if path.is_root() {
        return "the workspace itself".to_owned();
    }
    let mut out = String::from("\"");
    for chunk in path.as_bytes().utf8_chunks() {
        chunk.valid().chars().for_each(|c| if c == '"' { out.push_str("\\\"") } else { push(&mut out, c) });
        for byte in chunk.invalid() {
            // Writing into a string cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

fn push(out: &mut String, c: char) {
    if c == '\\' {
        out.push_str("\\\\");
    } else if is_hidden(c) || is_blank(c) {
        out.extend(c.escape_unicode());
    } else {
        out.push(c);
    }
}
