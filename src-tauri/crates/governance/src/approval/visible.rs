//! Text that cannot lie about itself: whatever has no shape of its own, or moves what has, is written out.

use model::RelPath;
use std::fmt::Write as _;

/// Text with every control, bidi, invisible and look-alike-of-space character written as `\u{…}`, line breaks and
/// tabs too, and a backslash doubled; so no two texts look the same here, and one text is one line.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push(&mut out, c));
    out
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
    } else if is_hidden(c) {
        out.extend(c.escape_unicode());
    } else {
        out.push(c);
    }
}

/// Controls, format characters, blanks other than the space, fillers, variation selectors, tags, noncharacters
/// and private use: general categories Cc, Cf, Zl, Zp, Zs, Co and what is default-ignorable (Unicode 17).
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{1680}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
            | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{ffff}'
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1345f}' | '\u{16fe4}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}')
        || matches!(c as u32 & 0xffff, 0xfffe | 0xffff)
}
