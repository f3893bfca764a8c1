//! The encodings in which a value may stand in bytes, each without white space.

use crate::whitespace::squeezed;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use zeroize::Zeroizing;

/// Bytes of the shortest value of which a part is searched for as well.
const PARTED_BYTES_MIN: usize = 24;
/// Bytes of the longest part that has to be there before a long value counts as found.
const PART_BYTES_MAX: usize = 48;
/// Bytes of the shortest part that is searched for by itself when a value has several lines, or several words.
pub(crate) const LINE_BYTES_MIN: usize = 16;

/// What encoders of addresses leave as it is beside letters and digits: RFC 3986 for a part, for a segment of a path, and
/// what scripts in browsers do to a part and to a whole address.
const KEPT: [&[u8]; 4] = [b"-._~", b"-._~!$&'()*+,;=:@", b"-._~!*'()", b"-._~!*'();,/?:@&=+$#"];

/// What stands before each byte in hex, and between two, without white space.
const PAIRED: [(&str, &str); 5] = [("", ":"), ("", "-"), ("", ","), ("0x", ","), ("\\x", "")];

/// Characters that some writers of JSON escape although they need not, and how.
const JSON_ESCAPES: [&[(char, &str)]; 3] = [
    &[('/', "\\/")],
    &[('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026")],
    &[
        ('/', "\\/"),
        ('<', "\\u003C"),
        ('>', "\\u003E"),
        ('&', "\\u0026"),
        ('\'', "\\u0027"),
        ('+', "\\u002B"),
        ('=', "\\u003D"),
    ],
];

/// The same for writers of HTML.
const HTML_ESCAPES: [&[(char, &str)]; 3] = [
    &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;")],
    &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")],
    &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&#34;"), ('\'', "&#x27;"), ('/', "&#x2F;")],
];

/// One encoding of a value, and how many of its bytes in a row have to be there to count.
pub(crate) struct Form {
    pub(crate) text: Zeroizing<Vec<u8>>,
    pub(crate) least: usize,
}

/// Every encoding of a value that is searched for, and of each part when it has several; none is shorter than
/// [`crate::VALUE_BYTES_MIN`] unless the value is.
pub(crate) fn forms(value: &[u8]) -> Vec<Form> {
    let mut found: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for piece in std::iter::once(value).chain(parts(value)) {
        add_forms(piece, &mut found);
    }
    found.into_iter().map(|(text, least)| Form { text: text.into(), least }).collect()
}

/// The lines of a value that has several, but for those that many values have in common; of one that has one line, what
/// blanks part, because two tokens may be kept as one value.
fn parts(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = value.trim_ascii();
    let lines = whole.contains(&b'\n');
    let ends =
        move |byte: &u8| if lines { matches!(byte, b'\n' | b'\r') } else { matches!(byte, b' ' | b'\t') };
    let several = whole.iter().any(ends);
    let all = value.split(ends).map(<[u8]>::trim_ascii);
    all.filter(move |part| several && squeezed(part).len() >= LINE_BYTES_MIN && !part.starts_with(b"-----"))
}

fn add_forms(piece: &[u8], found: &mut BTreeMap<Vec<u8>, usize>) {
    let plain = squeezed(piece).to_vec();
    let length = plain.len();
    let part = length.div_ceil(2).clamp(crate::VALUE_BYTES_MIN, PART_BYTES_MAX);
    let mut add = |form: Vec<u8>, shortest: usize| {
        if form.len() < shortest {
            return;
        }
        let least = if length < PARTED_BYTES_MIN { form.len() } else { (part * form.len()).div_ceil(length) };
        let least = least.clamp(shortest.min(form.len()), form.len());
        found.entry(form).and_modify(|known| *known = least.min(*known)).or_insert(least);
    };
    // An encoder has seen the value with its white space; a shell may have dropped it at either end.
    for whole in BTreeSet::from([piece, piece.trim_ascii()]) {
        for form in encodings(whole) {
            add(form, crate::VALUE_BYTES_MIN);
        }
    }
    add(plain, 1);
}

fn encodings(whole: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for upper in [false, true] {
        all.push(hex(whole, upper));
        all.extend(KEPT.map(|kept| percent(whole, upper, Some(kept))));
        all.push(percent(whole, upper, None));
        all.extend(PAIRED.map(|(before, between)| pairs(whole, upper, before, between)));
    }
    for shift in 0..3 {
        all.push(base64(whole, shift, false));
        all.push(base64(whole, shift, true));
    }
    for shift in 0..5 {
        let upper = base32(whole, shift);
        all.push(upper.to_ascii_lowercase());
        all.push(upper);
    }
    let numbers: Vec<String> = whole.iter().map(u8::to_string).collect();
    all.push(numbers.join(",").into_bytes());
    if let Ok(text) = std::str::from_utf8(whole) {
        let quoted = json(text);
        let escaped = JSON_ESCAPES.map(|escapes| escape(&quoted, escapes));
        let html = HTML_ESCAPES.map(|escapes| escape(text, escapes));
        let texts = escaped.into_iter().chain(html).chain([quoted]);
        all.extend(texts.map(|text| squeezed(text.as_bytes()).to_vec()));
    }
    let wide: Vec<u8> = whole.iter().flat_map(|b| [*b, 0]).collect();
    all.push(squeezed(&wide).to_vec());
    if whole.contains(&b' ') {
        all.push(plus(whole));
    }
    all
}

fn hex(value: &[u8], upper: bool) -> Vec<u8> {
    let mut text = String::with_capacity(value.len() * 2);
    for byte in value {
        // Writing to a string cannot fail.
        let _ = if upper { write!(text, "{byte:02X}") } else { write!(text, "{byte:02x}") };
    }
    text.into_bytes()
}

/// Each byte in hex, with what stands before each and between two.
fn pairs(value: &[u8], upper: bool, before: &str, between: &str) -> Vec<u8> {
    let pair = |byte: &u8| if upper { format!("{before}{byte:02X}") } else { format!("{before}{byte:02x}") };
    value.iter().map(pair).collect::<Vec<_>>().join(between).into_bytes()
}

/// Escapes what is not among `kept`, or every byte, as some programs do.
fn percent(value: &[u8], upper: bool, kept: Option<&[u8]>) -> Vec<u8> {
    let mut text = String::with_capacity(value.len() * 3);
    for byte in value {
        let stays = kept.is_some_and(|kept| byte.is_ascii_alphanumeric() || kept.contains(byte));
        let _ = match (stays, upper) {
            (true, _) => write!(text, "{}", char::from(*byte)),
            (false, true) => write!(text, "%{byte:02X}"),
            (false, false) => write!(text, "%{byte:02x}"),
        };
    }
    text.into_bytes()
}

/// As forms send it: a space is a plus.
fn plus(value: &[u8]) -> Vec<u8> {
    let words = value.split(|b| *b == b' ').map(|word| percent(word, true, Some(b"-._~")));
    words.collect::<Vec<_>>().join(&b'+')
}

/// The characters of base64 that this value alone decides when `shift` bytes stand before it in its group of three.
fn base64(value: &[u8], shift: usize, url: bool) -> Vec<u8> {
    let mut padded = Zeroizing::new(vec![0_u8; shift]);
    padded.extend_from_slice(value);
    let text = if url { URL_SAFE_NO_PAD.encode(&*padded) } else { STANDARD_NO_PAD.encode(&*padded) };
    let (from, to) = ((shift * 8).div_ceil(6), padded.len() * 8 / 6);
    text.as_bytes().get(from..to).unwrap_or_default().to_vec()
}

/// The characters of base32 that this value alone decides when `shift` bytes stand before it in its group of five.
fn base32(value: &[u8], shift: usize) -> Vec<u8> {
    const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bytes = std::iter::repeat_n(&0_u8, shift).chain(value);
    let (mut text, mut held, mut left) = (Vec::new(), 0_usize, 0_u32);
    for byte in bytes {
        held = (held << 8) | usize::from(*byte);
        left += 8;
        while left >= 5 {
            left -= 5;
            text.extend(DIGITS.get(held >> left));
            held &= (1 << left) - 1;
        }
    }
    text.drain(..(shift * 8).div_ceil(5).min(text.len()));
    text
}

/// As it stands between the quotes of a JSON string.
fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

fn escape(text: &str, escapes: &[(char, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match escapes.iter().find(|(plain, _)| *plain == c) {
            Some((_, escaped)) => out.push_str(escaped),
            None => out.push(c),
        }
    }
    out
}
