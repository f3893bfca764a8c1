//! Which bytes of an answer can be told before the next ones are there.

/// The beginning that can be told: all of it when nothing follows, else what can become neither a stop nor another letter.
pub fn whole<'b>(bytes: &'b [u8], stops: &[String], last: bool) -> &'b [u8] {
    let held = if last { 0 } else { held(bytes, stops).max(unfinished(bytes)) };
    &bytes[..bytes.len() - held]
}

/// Bytes at the end that may become a stop.
fn held(bytes: &[u8], stops: &[String]) -> usize {
    let begins = |stop: &String| {
        (1..=stop.len().min(bytes.len())).rev().find(|n| bytes.ends_with(&stop.as_bytes()[..*n]))
    };
    stops.iter().filter_map(begins).max().unwrap_or(0)
}

/// Bytes at the end that may become a letter with what comes next.
fn unfinished(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(4)..];
    let last = tail.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    let is_cut = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    if is_cut { last.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_no_text_holds_nothing_back_and_half_a_letter_waits() {
        let none = [];
        assert_eq!(whole(b"a\xffb", &none, false), b"a\xffb");
        assert_eq!(whole(b"a\xff", &none, false), b"a\xff");
        assert_eq!(whole(b"a\xe2\x82", &none, false), b"a");
        assert_eq!(whole(b"a\xe2\x82\xac", &none, false), b"a\xe2\x82\xac");
        assert_eq!(whole(b"a\xf0\x9f\x98", &none, false), b"a");
        assert_eq!(whole(b"a\xe2\x82", &none, true), b"a\xe2\x82");
    }

    #[test]
    fn what_may_become_a_stop_waits() {
        let stops = ["<end>".to_owned()];
        assert_eq!(whole(b"a <en", &stops, false), b"a ");
        assert_eq!(whole(b"a <en", &stops, true), b"a <en");
        assert_eq!(whole(b"a <an", &stops, false), b"a <an");
    }
}
