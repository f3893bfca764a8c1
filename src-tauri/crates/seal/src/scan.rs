//! Proves in one pass, without allocating, that bytes are canonical, and cuts out top-level members.
//!
//! Verifying a chain means looking at every byte of every event. Building a value and writing it again costs many
//! times the hash; this costs about as much as the hash. It accepts exactly what parse-and-write-again accepts,
//! and a property test holds the two against each other.

use std::cmp::Ordering;
use std::ops::Range;

use crate::canon::{DEPTH_MAX, INTEGER_MAX};

/// The bytes are not canonical; where and why is for the slow path to say.
pub(crate) struct NotCanonical;

type Scanned<T> = Result<T, NotCanonical>;

/// Walks canonical bytes and tells every member of the top-level object: its name as it is spelled, and where its value
/// stands.
pub(crate) fn scan<'a>(bytes: &'a [u8], on_member: &mut dyn FnMut(&'a [u8], Range<usize>)) -> Scanned<()> {
    // With the whole text known to be UTF-8, a string may be cut at any ASCII byte.
    std::str::from_utf8(bytes).map_err(|_| NotCanonical)?;
    let mut cursor = Cursor { len: bytes.len(), rest: bytes };
    if cursor.peek() == Some(b'{') {
        cursor.object(0, Some(on_member))?;
    } else {
        cursor.value(0)?;
    }
    if cursor.rest.is_empty() { Ok(()) } else { Err(NotCanonical) }
}

/// Told of each member, name first.
type OnMember<'f, 'a> = &'f mut dyn FnMut(&'a [u8], Range<usize>);

struct Cursor<'a> {
    len: usize,
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn at(&self) -> usize {
        self.len - self.rest.len()
    }

    fn next(&mut self) -> Scanned<u8> {
        let (first, rest) = self.rest.split_first().ok_or(NotCanonical)?;
        self.rest = rest;
        Ok(*first)
    }

    fn expect(&mut self, text: &[u8]) -> Scanned<()> {
        self.rest = self.rest.strip_prefix(text).ok_or(NotCanonical)?;
        Ok(())
    }

    /// What was passed since `before`, which was the rest at that time.
    fn passed(&self, before: &'a [u8]) -> Scanned<&'a [u8]> {
        before.split_at_checked(before.len() - self.rest.len()).map(|(passed, _)| passed).ok_or(NotCanonical)
    }

    fn value(&mut self, depth: usize) -> Scanned<()> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.object(depth, None),
            Some(b'[') => self.array(depth),
            Some(b'-' | b'0'..=b'9') => self.integer(),
            Some(b't') => self.expect(b"true"),
            Some(b'f') => self.expect(b"false"),
            Some(b'n') => self.expect(b"null"),
            _ => Err(NotCanonical),
        }
    }

    fn array(&mut self, depth: usize) -> Scanned<()> {
        self.open(b"[", depth)?;
        if self.peek() == Some(b']') {
            return self.expect(b"]");
        }
        loop {
            self.value(depth + 1)?;
            match self.next()? {
                b',' => {}
                b']' => return Ok(()),
                _ => return Err(NotCanonical),
            }
        }
    }

    fn object(&mut self, depth: usize, mut on_member: Option<OnMember<'_, 'a>>) -> Scanned<()> {
        self.open(b"{", depth)?;
        if self.peek() == Some(b'}') {
            return self.expect(b"}");
        }
        let mut before: Option<Name<'a>> = None;
        loop {
            let name = self.string()?;
            if before.is_some_and(|before| order(before, name) != Ordering::Less) {
                return Err(NotCanonical);
            }
            before = Some(name);
            self.expect(b":")?;
            let start = self.at();
            self.value(depth + 1)?;
            if let Some(on_member) = &mut on_member {
                on_member(name.spelled, start..self.at());
            }
            match self.next()? {
                b',' => {}
                b'}' => return Ok(()),
                _ => return Err(NotCanonical),
            }
        }
    }

    fn open(&mut self, bracket: &[u8], depth: usize) -> Scanned<()> {
        if depth >= DEPTH_MAX {
            return Err(NotCanonical);
        }
        self.expect(bracket)
    }

    /// An integer within ±(2^53−1) in its one spelling.
    fn integer(&mut self) -> Scanned<()> {
        let negative = self.peek() == Some(b'-');
        if negative {
            self.expect(b"-")?;
        }
        if self.peek() == Some(b'0') {
            self.expect(b"0")?;
            return if negative { Err(NotCanonical) } else { Ok(()) };
        }
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        // 2^53−1 has 16 digits, so the number cannot overflow before it is compared.
        if digits == 0 || digits > 16 {
            return Err(NotCanonical);
        }
        let (number, rest) = self.rest.split_at_checked(digits).ok_or(NotCanonical)?;
        self.rest = rest;
        let number = number.iter().fold(0_i64, |number, digit| number * 10 + i64::from(digit - b'0'));
        if number > INTEGER_MAX { Err(NotCanonical) } else { Ok(()) }
    }

    /// A string in its one spelling; returns what stands between the quotes.
    fn string(&mut self) -> Scanned<Name<'a>> {
        self.expect(b"\"")?;
        let start = self.rest;
        let mut escaped = false;
        loop {
            self.plain()?;
            match self.next()? {
                b'"' => {
                    let spelled = self.passed(start)?.strip_suffix(b"\"").ok_or(NotCanonical)?;
                    return Ok(Name { spelled, escaped });
                }
                b'\\' => self.escape()?,
                _ => return Err(NotCanonical),
            }
            escaped = true;
        }
    }

    /// Moves to the next quote, backslash or control character, eight bytes at a time.
    fn plain(&mut self) -> Scanned<()> {
        while let Some((word, rest)) = self.rest.split_first_chunk::<8>() {
            let special = special(u64::from_le_bytes(*word));
            if special == 0 {
                self.rest = rest;
                continue;
            }
            let before = special.trailing_zeros() / 8;
            self.rest = self.rest.get(before as usize..).ok_or(NotCanonical)?;
            return Ok(());
        }
        let before = self.rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
        self.rest = self.rest.get(before.ok_or(NotCanonical)?..).ok_or(NotCanonical)?;
        Ok(())
    }

    /// What follows a backslash: the short escapes where there is one, `\u00xx` in lower case for the other control characters.
    fn escape(&mut self) -> Scanned<()> {
        match self.next()? {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => {
                self.expect(b"00")?;
                match (self.next()?, self.next()?) {
                    (b'0', b'0'..=b'7' | b'b' | b'e' | b'f') => Ok(()),
                    (b'1', b'0'..=b'9' | b'a'..=b'f') => Ok(()),
                    _ => Err(NotCanonical),
                }
            }
            _ => Err(NotCanonical),
        }
    }
}

/// What stands between the quotes of a string, and whether a backslash stands in it.
#[derive(Clone, Copy)]
struct Name<'a> {
    spelled: &'a [u8],
    escaped: bool,
}

/// The high bit of each byte that is a quote, a backslash or below 0x20. A borrow can only reach bytes above a real
/// hit, so the lowest bit that is set is always right.
const fn special(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let below = word.wrapping_sub(ONES * 0x20) & !word;
    (below | (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash)) & HIGH
}

/// RFC 8785 sorts names by their UTF-16 code units.
fn order(left: Name<'_>, right: Name<'_>) -> Ordering {
    let by_units = || unescaped(left.spelled).encode_utf16().cmp(unescaped(right.spelled).encode_utf16());
    if left.escaped || right.escaped {
        return by_units();
    }
    match left.spelled.iter().zip(right.spelled).find(|(a, b)| a != b) {
        None => left.spelled.len().cmp(&right.spelled.len()),
        // Bytes and code units disagree only beyond ASCII.
        Some((a, b)) if a.is_ascii() || b.is_ascii() => a.cmp(b),
        Some(_) => by_units(),
    }
}

/// The name behind its spelling, which [`Cursor::string`] has already accepted.
fn unescaped(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    let spelled = String::from_utf8_lossy(name);
    let mut characters = spelled.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        text.push(match characters.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => control(&mut characters),
            Some(other) => other,
            None => char::REPLACEMENT_CHARACTER,
        });
    }
    text
}

fn control(characters: &mut std::str::Chars<'_>) -> char {
    let digits = characters.by_ref().take(4);
    let code = digits.fold(0, |code, digit| code * 16 + digit.to_digit(16).unwrap_or(0));
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::scan;
    use crate::canon::{INTEGER_MAX, canonical_value};

    /// The public functions ask the slow way when the scan refuses; here the scan stands alone.
    fn accepts(bytes: &[u8]) -> bool {
        scan(bytes, &mut |_, _| {}).is_ok()
    }

    #[test]
    fn the_longest_integers_need_no_second_look() {
        for number in [INTEGER_MAX, -INTEGER_MAX, 0, 10, -10] {
            assert!(accepts(number.to_string().as_bytes()), "{number}");
        }
        for text in ["9007199254740992", "-9007199254740992", "10000000000000000", "-", "-0", "00", "1-"] {
            assert!(!accepts(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn words_and_control_characters_need_no_second_look_and_are_sorted_by_what_they_stand_for() {
        assert!(accepts(br#"[true,false,null]"#));
        for code in 0..0x20_u32 {
            let text = char::from_u32(code).unwrap().to_string();
            let bytes = canonical_value(&serde_json::json!([text])).unwrap();
            assert!(accepts(&bytes), "{}", String::from_utf8_lossy(&bytes));
        }
        let names = |left: &str, right: &str| format!(r#"{{"{left}":1,"{right}":1}}"#);
        for (less, more) in [
            (r"\u0001", r"\u0002"),
            (r"\u000f", r"\u0010"),
            (r"\u0012", r"\u001f"),
            (r"\u0007", r"\b"),
            (r"\n", r"\u000b"),
        ] {
            assert!(accepts(names(less, more).as_bytes()), "{less} {more}");
            assert!(!accepts(names(more, less).as_bytes()), "{more} {less}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn canonical_bytes_need_no_second_look(
            members in prop::collection::vec((any::<String>(), any::<String>(), any::<i32>()), 0..8),
        ) {
            let object = members.into_iter().map(|(name, text, number)| (name, serde_json::json!([text, number])));
            let bytes = canonical_value(&serde_json::Value::Object(object.collect())).unwrap();
            prop_assert!(accepts(&bytes), "{}", String::from_utf8_lossy(&bytes));
        }
    }
}
