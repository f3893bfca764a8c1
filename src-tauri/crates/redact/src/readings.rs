//! What stands encoded in a text, read without knowing a value: for whoever has values that are no handle's, and too many of
//! them to search for each in every form.
//!
//! A text is read as base64, base32 and hex from each sign on with which a byte may begin, and each of its words with what
//! it escapes. Nearly all of that is no text; what is, is asked about, and read once more.

use crate::VALUE_BYTES_MIN;
use std::ops::Range;

/// Encodings within each other that are read.
const DEPTH_MAX: usize = 3;
/// Digits of a line at least, behind which base64 and base32 may go on in the next.
const LINE_DIGITS_MIN: usize = 16;
/// Signs between two digits at most.
const SIGNS_MAX: usize = 8;
/// Backslashes in a row at most that are one escape: each text within a text doubles them.
const SLASHES_MAX: usize = 8;
/// What says of a pair of hex digits that it is one, behind a backslash and without.
const ESCAPES: [&[u8]; 2] = [b"u00", b"x"];
const MARKS: [&[u8]; 3] = [b"0x", b"%", b"="];

/// A writing of bytes by digits of so many bits.
struct Digits {
    bits: u32,
    /// Of its first digits, so many may be the first of a byte.
    starts: usize,
    /// Digits of the shortest value.
    least: usize,
    /// What a digit counts; none where a byte is no digit.
    counts: fn(u8) -> Option<u32>,
    /// What stands between two digits behind so many in a row: its bytes, none where no digit may follow it.
    gap: fn(&[u8], usize) -> usize,
}

const WRITINGS: [Digits; 3] = [
    Digits { bits: 6, starts: 4, least: 11, counts: base64_digit, gap: line_end },
    Digits { bits: 5, starts: 8, least: 13, counts: base32_digit, gap: line_end },
    Digits { bits: 4, starts: 2, least: 16, counts: hex_digit, gap: between_pairs },
];

/// A place of a text, and what stands there by one or more ways to read it, a line each.
struct Reading {
    place: Range<usize>,
    says: String,
}

/// The places of a text, from and to in bytes and in their order, where something stands encoded in which `holds` finds what
/// is looked for: in base64 of either alphabet, base32 or hex, over ends of lines and with signs between the pairs of hex, in
/// words that escape characters as addresses, programs, mail or pages do, and in one of these within another, three deep.
/// `holds` is given lines, so what it looks for has no line break in it.
pub fn encoded_places(text: &str, holds: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let all = deep(text, DEPTH_MAX);
    // Nearly every text holds nothing, which is asked once.
    let whole: Vec<&str> = all.iter().map(|reading| reading.says.as_str()).collect();
    if whole.is_empty() || !holds(&whole.join("\n")) {
        return Vec::new();
    }
    let found = all.into_iter().filter(|reading| holds(&reading.says)).map(|reading| reading.place);
    let mut found: Vec<Range<usize>> = found.collect();
    found.sort_by_key(|place| place.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for place in found {
        match merged.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            _ => merged.push(place),
        }
    }
    merged
}

/// What stands encoded in a text, in each of these ways: lines of it that are long enough for a value.
pub fn encoded_lines(text: &str) -> Vec<String> {
    let all = deep(text, DEPTH_MAX);
    all.iter().flat_map(|reading| reading.says.lines().map(str::to_owned)).collect()
}

/// Every reading of a text, with what is encoded in it in turn.
fn deep(text: &str, depth: usize) -> Vec<Reading> {
    let Some(left) = depth.checked_sub(1) else { return Vec::new() };
    let mut all = readings(text);
    for reading in &mut all {
        for inside in deep(&reading.says, left) {
            reading.says.push('\n');
            reading.says.push_str(&inside.says);
        }
    }
    all
}

fn readings(text: &str) -> Vec<Reading> {
    let mut all: Vec<Reading> = WRITINGS.iter().flat_map(|writing| runs(text, writing)).collect();
    for (place, word) in words(text) {
        // In an address, two digits behind `=` are what they are; in mail they are a byte.
        let mut says = unescaped(word, false);
        if word.contains('=') {
            says.push_str(&unescaped(word, true));
        }
        if !says.is_empty() {
            all.push(Reading { place, says });
        }
    }
    all
}

/// Each run of digits, where it reads as text from one of its first digits on.
fn runs(text: &str, writing: &Digits) -> Vec<Reading> {
    let bytes = text.as_bytes();
    let (mut all, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let (digits, end) = run(bytes, at, writing);
        let mut says = String::new();
        // Nearly every word is too short to write a value.
        let starts = if digits.len() < writing.least { 0 } else { writing.starts };
        for skipped in 0..starts {
            add_readable(&decoded(digits.get(skipped..).unwrap_or_default(), writing.bits), &mut says);
        }
        if !says.is_empty() {
            // What begins and ends a run of digits is ASCII.
            all.push(Reading { place: at..end, says });
        }
        at = end.max(at.saturating_add(1));
    }
    all
}

/// What the digits from here on count, and where the last of them ends.
fn run(bytes: &[u8], from: usize, writing: &Digits) -> (Vec<u32>, usize) {
    let (mut digits, mut at, mut end, mut in_a_row) = (Vec::new(), from, from, 0_usize);
    while let Some(byte) = bytes.get(at) {
        if let Some(digit) = (writing.counts)(*byte) {
            digits.push(digit);
            at += 1;
            (end, in_a_row) = (at, in_a_row + 1);
            continue;
        }
        match (writing.gap)(bytes.get(at..).unwrap_or_default(), in_a_row) {
            0 => break,
            gap => (at, in_a_row) = (at + gap, 0),
        }
    }
    (digits, end)
}

/// The whole bytes that digits of so many bits write.
fn decoded(digits: &[u32], bits: u32) -> Vec<u8> {
    let (mut bytes, mut held, mut left) = (Vec::new(), 0_u32, 0_u32);
    for digit in digits {
        held = (held << bits) | digit;
        left += bits;
        if left >= 8 {
            left -= 8;
            bytes.extend(u8::try_from(held >> left));
            held &= (1 << left) - 1;
        }
    }
    bytes
}

/// Adds what of these bytes is readable and long enough for a value, a line each. Zeros are passed over: text of two bytes a
/// character has them.
fn add_readable(bytes: &[u8], says: &mut String) {
    let bytes: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    for chunk in bytes.utf8_chunks() {
        let parts = chunk.valid().split(|c: char| c.is_control() && c != '\t');
        for part in parts.filter(|part| part.len() >= VALUE_BYTES_MIN) {
            says.push_str(part);
            says.push('\n');
        }
    }
}

fn base64_digit(byte: u8) -> Option<u32> {
    let counts = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(counts))
}

fn base32_digit(byte: u8) -> Option<u32> {
    match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a')),
        b'2'..=b'7' => Some(u32::from(byte - b'2' + 26)),
        _ => None,
    }
}

fn hex_digit(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(16)
}

/// The end of a line behind enough digits.
fn line_end(bytes: &[u8], in_a_row: usize) -> usize {
    if in_a_row < LINE_DIGITS_MIN {
        return 0;
    }
    let mut to = 0;
    while to < SIGNS_MAX {
        match white(bytes.get(to..).unwrap_or_default()) {
            0 => break,
            more => to += more,
        }
    }
    to
}

/// Backslashes at the begin.
fn slashes(bytes: &[u8]) -> usize {
    bytes.iter().take(SLASHES_MAX).take_while(|byte| **byte == b'\\').count()
}

/// One white space at the begin, as it is or as texts within texts escape it: its bytes.
fn white(bytes: &[u8]) -> usize {
    let slashes = slashes(bytes);
    match bytes.get(slashes) {
        Some(b'n' | b'r' | b't') if slashes > 0 => slashes + 1,
        Some(byte) if slashes == 0 && byte.is_ascii_whitespace() => 1,
        _ => 0,
    }
}

/// What parts two bytes in hex: white space, signs of a list, and what says in front of each that it is hex.
fn between_pairs(bytes: &[u8], in_a_row: usize) -> usize {
    if in_a_row < 2 {
        return 0;
    }
    let rest = |at: usize| bytes.get(at..).unwrap_or_default();
    let mut to = 0;
    while to < SIGNS_MAX {
        let sign = usize::from(bytes.get(to).is_some_and(|byte| b":,;-".contains(byte)));
        match sign.max(white(rest(to))) {
            0 => break,
            more => to += more,
        }
    }
    let slashes = slashes(rest(to));
    let length =
        |at: usize, of: &[&[u8]]| of.iter().find(|one| rest(at).starts_with(one)).map(|one| one.len());
    let escape = length(to + slashes, &ESCAPES).filter(|_| slashes > 0).map(|length| slashes + length);
    to + escape.or_else(|| length(to, &MARKS)).unwrap_or(0)
}

/// The words of a text, by what stands between them in addresses, programs and pages.
fn words(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
    let mut at = 0;
    text.split_inclusive(ends).map(move |word| {
        let from = at;
        at += word.len();
        let word = word.trim_end_matches(ends);
        (from..from + word.len(), word)
    })
}

/// Names of characters in pages.
const NAMED: [(&str, u8); 5] =
    [("&amp;", b'&'), ("&lt;", b'<'), ("&gt;", b'>'), ("&quot;", b'"'), ("&apos;", b'\'')];

/// A word with the characters that it escapes, in mail behind `=` too, and once more with blanks where it has a plus; nothing
/// where it escapes nothing.
fn unescaped(word: &str, mail: bool) -> String {
    let (mut bytes, mut at) = (Vec::new(), 0);
    while let Some(rest) = word.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some((byte, length)) = escaped(rest, mail) {
            bytes.push(byte);
            at += length;
        } else {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            bytes.extend_from_slice(rest.as_bytes().get(..first).unwrap_or_default());
            at += first;
        }
    }
    let mut says = String::new();
    if bytes.len() == word.len() {
        return says;
    }
    add_readable(&bytes, &mut says);
    if says.contains('+') {
        let spaced = says.replace('+', " ");
        says.push_str(&spaced);
    }
    says
}

/// The byte with whose escape a text begins, and how long that is: `%41`, `\x41`, `\u0041`, `\101`, `\/`, `&#65;`, `&#x41;`,
/// `&amp;`, and in mail `=41`.
fn escaped(text: &str, mail: bool) -> Option<(u8, usize)> {
    if let Some(rest) = text.strip_prefix('%').or_else(|| text.strip_prefix('=').filter(|_| mail)) {
        return Some((number(rest, 2, 16)?, 3));
    }
    if let Some(rest) = text.strip_prefix("&#") {
        let end = rest.bytes().take(6).position(|byte| byte == b';')?;
        let digits = rest.get(..end)?;
        let byte = match digits.strip_prefix(['x', 'X']) {
            Some(hex) => number(hex, hex.len(), 16)?,
            None => number(digits, digits.len(), 10)?,
        };
        return Some((byte, end + 3));
    }
    if let Some((name, byte)) = NAMED.iter().find(|(name, _)| text.starts_with(name)) {
        return Some((*byte, name.len()));
    }
    // Within a text that is within a text a backslash stands twice.
    let slashes = slashes(text.as_bytes());
    let rest = text.get(slashes..).filter(|_| slashes > 0)?;
    if let Some(hex) = rest.strip_prefix('x') {
        return Some((number(hex, 2, 16)?, slashes + 3));
    }
    if let Some(hex) = rest.strip_prefix("u00") {
        return Some((number(hex, 2, 16)?, slashes + 5));
    }
    if rest.starts_with('/') {
        return Some((b'/', slashes + 1));
    }
    Some((number(rest, 3, 8)?, slashes + 3))
}

/// The byte that so many digits are.
fn number(text: &str, digits: usize, radix: u32) -> Option<u8> {
    let digits =
        text.get(..digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
    u8::from_str_radix(digits, radix).ok()
}
