//! Text on its way to a terminal: nothing in it may move the cursor, change colours, or look like something else.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::RelPath;
use model::visible::is_hidden;
use words::knowledge::TrustTier;
use words::number::grouped;

/// Digits of a short reference: the end of an identifier, where it is random.
const SHORT: usize = 8;

/// Text with every character that has no plain shape written out; line breaks and tabs stay when `lines` is said.
pub fn plain(text: &str) -> String {
    escape(text, false)
}

/// As [`plain`], line breaks kept: for text that is a paragraph.
pub fn paragraph(text: &str) -> String {
    escape(text, true)
}

fn escape(text: &str, breaks: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' if breaks => out.push(c),
            c if is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// A place as a person reads it: no percent signs, and no identifier before a path. What is no place stays as it is.
pub fn place(text: &str) -> String {
    match text.parse::<model::ResourceId>() {
        Ok(model::ResourceId::File(_, path)) => path.display_lossy(),
        _ if text.contains('%') && !text.contains(' ') => {
            text.parse::<model::RelPath>().map_or_else(|_| text.to_owned(), |path| path.display_lossy())
        }
        _ => text.to_owned(),
    }
}

/// The name of a file as a person knows it; in quotes where its edges would not be seen.
pub fn name(path: &RelPath) -> String {
    let quoted = host::visible_path(path);
    let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&quoted);
    let plain = inner.trim() == inner && !inner.is_empty() && !inner.contains(['"', ',', '→']);
    if plain { inner.to_owned() } else { quoted }
}

/// As [`name`], of a path in the written form that answers hold; what is none stays as it is.
pub fn path(written: &str) -> String {
    written.parse::<RelPath>().map_or_else(|_| plain(written), |path| name(&path))
}

/// The first letter large, as at the beginning of a sentence.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// `1 file`, `3 files`, `2 entries`.
pub fn count(many: usize, noun: &str) -> String {
    match (many, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{} {stem}ies", grouped(u64::try_from(many).unwrap_or(u64::MAX))),
        (_, None) => format!("{} {noun}s", grouped(u64::try_from(many).unwrap_or(u64::MAX))),
    }
}

/// At most so many characters; how many are left out is said.
pub fn clip(text: &str, most: usize) -> String {
    let all = text.chars().count();
    if all <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most).collect();
    format!("{head} … ({} more characters)", all - most)
}

/// A line broken between words where it is wider than the screen; what follows is indented as it began.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let indent: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut lines = Vec::new();
    let mut line = indent.clone();
    let mut width = indent.len();
    for word in text.trim_start_matches(' ').split(' ') {
        let long = shown(word);
        if width > indent.len() && width + long > columns {
            lines.push(std::mem::replace(&mut line, format!("{indent}  ")).trim_end().to_owned());
            width = indent.len() + 2;
        }
        line.push_str(word);
        line.push(' ');
        width += long + 1;
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// Characters of a word that are seen: those that set a colour are not.
fn shown(word: &str) -> usize {
    let mut coloured = false;
    let seen = word.chars().filter(|c| {
        let was = coloured;
        coloured = if was { *c != 'm' } else { *c == '\u{1b}' };
        !was && !coloured
    });
    seen.count()
}

/// The end of an identifier, which every command takes for the whole of it.
pub fn short(id: &str) -> &str {
    let digits = id.rsplit('_').next().unwrap_or(id);
    let at = digits.len().saturating_sub(SHORT);
    digits.get(at..).unwrap_or(digits)
}

/// A time on this machine's clock, to the minute.
pub fn time(ms: i64) -> String {
    let Ok(at) = Timestamp::from_millisecond(ms) else { return wire::utc(ms) };
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// A sentence in which times are this machine's: the wire tells them in UTC, such as `2026-11-24 16:54:05Z`.
pub fn local_times(sentence: &str) -> String {
    let mut out = sentence.to_owned();
    for (end, _) in sentence.rmatch_indices('Z') {
        let Some(begin) = end.checked_sub(19) else { continue };
        let Some(at) = sentence.get(begin..=end).and_then(|text| text.parse::<Timestamp>().ok()) else {
            continue;
        };
        out.replace_range(begin..=end, &time(at.as_millisecond()));
    }
    out
}

/// A line of a card, its time by this machine's clock. Other lines hold the words of whoever asks, in which nothing is changed.
pub fn card_line(line: &str) -> String {
    if line.starts_with("asked at ") { local_times(line) } else { line.to_owned() }
}

/// Whose word something is, as the pages say it.
pub const fn trust(tier: TrustTier) -> &'static str {
    match tier {
        TrustTier::Untrusted => "untrusted",
        TrustTier::Observed => "observed",
        TrustTier::Verified => "verified",
        TrustTier::UserAsserted => "said by you",
        TrustTier::PolicyAsserted => "set by policy",
    }
}

/// Bytes as a person reads them.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", bytes / 1_024),
        1_048_576..1_073_741_824 => format!("{} MiB", bytes / 1_048_576),
        _ => format!("{} GiB", bytes / 1_073_741_824),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_a_sentence_are_those_of_this_machine_and_other_words_stay() {
        let told =
            local_times("Done on 2026-11-24 16:54:05Z, not on Zürich 1Z; 2026-99-24 16:54:05Z is none.");
        let here = time(1_795_539_245_000);
        assert_eq!(told, format!("Done on {here}, not on Zürich 1Z; 2026-99-24 16:54:05Z is none."));
    }

    #[test]
    fn a_card_tells_when_it_expires_by_this_machines_clock_and_other_peoples_words_stay() {
        let here = time(1_795_539_245_000);
        let line = "asked at 2026-11-24 16:54:05Z and expires at 2026-11-24 16:54:05Z";
        assert_eq!(card_line(line), format!("asked at {here} and expires at {here}"));
        let named = "create `2026-11-24 16:54:05Z`";
        assert_eq!(card_line(named), named);
    }

    #[test]
    fn a_place_is_shown_by_its_name_and_other_words_are_left_alone() {
        let file = "file:wsp_01a2048e00007000800000000000000a/Screenshot%202026.png";
        assert_eq!(place(file), "Screenshot 2026.png");
        assert_eq!(place("%E5%90%88/a%20b"), "合/a b");
        for other in ["100%", "50% of it", "https://example.org/a%20b"] {
            assert_eq!(place(other), other);
        }
    }

    #[test]
    fn nothing_in_a_text_reaches_the_terminal_as_a_command() {
        assert_eq!(plain("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(plain("x\u{202e}y\nz"), "x\\u{202e}y\\u{a}z");
        assert_eq!(paragraph("x\ny\r"), "x\ny\\u{d}");
    }

    #[test]
    fn names_show_their_edges_and_long_texts_say_what_is_left_out() {
        let name = |text: &str| name(&RelPath::from_bytes(text.as_bytes()).unwrap());
        assert_eq!(name("notes/meeting 1.md"), "notes/meeting 1.md");
        assert_eq!(name(" leading.txt"), "\" leading.txt\"");
        assert_eq!(name("weird\nname.txt"), "weird\\u{a}name.txt");
        assert_eq!(path("notes/meeting%201.md"), "notes/meeting 1.md");
        assert_eq!(clip("abcdef", 4), "abcd … (2 more characters)");
        assert_eq!((count(1, "entry"), count(2, "entry")), ("1 entry".to_owned(), "2 entries".to_owned()));
        assert_eq!(short("task_01a204a4ef17aabbccdd"), "aabbccdd");
        assert_eq!(wrap("  one two three", 10), ["  one two", "    three"]);
        assert_eq!(wrap("verylongword x", 5), ["verylongword", "  x"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("\u{1b}[1mone\u{1b}[0m two", 7), ["\u{1b}[1mone\u{1b}[0m two"]);
    }
}
