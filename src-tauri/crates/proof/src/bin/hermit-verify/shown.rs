//! Text that somebody else wrote, as a person is shown it: what would steer a terminal, hide or reorder a line stands as its code point.

/// Characters of one foreign word or sentence that are shown.
const CHARS_MAX: usize = 400;

fn steers(c: char) -> bool {
    let is_hidden = matches!(
        c,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    c.is_control() || is_hidden
}

fn spelled(text: impl Iterator<Item = char>, is_spelled: impl Fn(char) -> bool) -> String {
    text.fold(String::new(), |mut shown, c| {
        if is_spelled(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
        shown
    })
}

/// An answer of many lines, of which some quote what others wrote.
pub fn lines(text: &str) -> String {
    spelled(text.chars(), |c| !matches!(c, '\n' | '\t') && steers(c))
}

/// One foreign word or sentence: it ends no line, and is not without end.
pub fn line(text: &str) -> String {
    let mut shown = spelled(text.chars().take(CHARS_MAX), steers);
    if text.chars().nth(CHARS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}
