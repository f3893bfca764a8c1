//! What a stranger wrote, made fit to be kept and shown: nothing in it that cannot be seen, and no more than there is room
//! for.

/// Characters of a message that are kept.
const TEXT_CHARS_MAX: usize = 64 * 1024;
/// Characters of a name that are kept.
const NAME_CHARS_MAX: usize = 128;
/// Characters of what a service says about a failure.
const SAID_CHARS_MAX: usize = 300;
/// Bytes of an id at most.
const ID_BYTES_MAX: usize = 512;
/// Files of one message at most.
pub(crate) const ATTACHMENTS_MAX: usize = 16;

/// Characters that turn text around or stand for nothing, and those that no text holds.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{FEFF}')
        || ('\u{202A}'..='\u{202E}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
        || ('\u{E0000}'..='\u{E007F}').contains(&c)
}

/// The words of a message: line breaks and tabs stay, what cannot be seen goes, and a cut says so.
pub(crate) fn text(raw: &str) -> String {
    let lines = raw.replace("\r\n", "\n").replace('\r', "\n");
    let mut seen = lines.chars().filter(|c| matches!(c, '\n' | '\t') || !is_hidden(*c));
    let mut kept: String = seen.by_ref().take(TEXT_CHARS_MAX).collect();
    if seen.next().is_some() {
        kept.push_str("\n[The message is longer and was cut here.]");
    }
    kept
}

/// A name in one line.
pub(crate) fn name(raw: &str) -> String {
    let seen = raw.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !is_hidden(*c));
    seen.take(NAME_CHARS_MAX).collect::<String>().trim().to_owned()
}

/// A file's name: no folder, no leading dot.
pub(crate) fn file_name(raw: &str) -> String {
    let last = raw.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = name(last).replace(['"', '<', '>', '|', ':', '*', '?'], "_");
    match plain.trim_start_matches('.').trim() {
        "" => "file".to_owned(),
        plain => plain.to_owned(),
    }
}

/// A media type, or the one that says nothing.
pub(crate) fn media_type(raw: &str) -> String {
    let plain = raw.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let token = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c))
    };
    match plain.split_once('/') {
        Some((kind, of)) if plain.len() <= 100 && token(kind) && token(of) => plain,
        _ => "application/octet-stream".to_owned(),
    }
}

/// An id, where it can be one.
pub(crate) fn id(raw: &str) -> Option<String> {
    let is_one = !raw.is_empty()
        && raw.len() <= ID_BYTES_MAX
        && !raw.chars().any(|c| c.is_whitespace() || is_hidden(c));
    is_one.then(|| raw.to_owned())
}

/// What a service says about a failure, in one short line and without any of these secrets.
pub(crate) fn said(raw: &str, secrets: &[&str]) -> String {
    let mut plain = raw.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        plain = plain.replace(secret, "[token]");
    }
    let plain: String = plain.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    plain.chars().filter(|c| !is_hidden(*c)).take(SAID_CHARS_MAX).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_goes_and_what_is_read_stays() {
        assert_eq!(text("a\r\nb\u{202E}c\u{0}\u{200B}\td"), "a\nbc\td");
        assert_eq!(name(" Kim\n\u{2066}admin\u{2069}\u{7}  "), "Kim admin");
        assert_eq!(text("שלום 👩\u{200D}💻"), "שלום 👩\u{200D}💻");
        let long = text(&"x".repeat(TEXT_CHARS_MAX + 1));
        assert!(long.ends_with("was cut here.]") && long.starts_with("xxx"));
        assert_eq!(text(&"x".repeat(TEXT_CHARS_MAX)).len(), TEXT_CHARS_MAX);
    }

    #[test]
    fn names_of_files_lead_nowhere() {
        assert_eq!(file_name("../../etc/passwd"), "passwd");
        assert_eq!(file_name("C:\\a\\..\\b\".txt"), "b_.txt");
        assert_eq!(file_name("..."), "file");
        assert_eq!(media_type("text/plain; charset=x"), "text/plain");
        assert_eq!(media_type("text/plain\r\nX: y"), "application/octet-stream");
    }

    #[test]
    fn no_secret_is_repeated() {
        assert_eq!(said("no such\nbot12:AB here", &["12:AB", ""]), "no such bot[token] here");
        assert_eq!(said(&"e".repeat(5000), &[]).len(), SAID_CHARS_MAX);
        assert_eq!((id("a b"), id(""), id("$1:x")), (None, None, Some("$1:x".to_owned())));
    }
}
