//! The forms in which a value may stand in bytes, each without white space.

use crate::squeeze::squeezed;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use zeroize::Zeroizing;

/// A part of a value is told from ordinary text by this many bytes.
const PART_BYTES_MIN: usize = 12;

/// What encoders of addresses leave as it is beside letters and digits: RFC 3986 for a part, for a segment of a path, and
/// what scripts in browsers do to a part and to a whole address.
const KEPT: [&[u8]; 4] = [b"-._~", b"-._~!$&'()*+,;=:@", b"-._~!*'()", b"-._~!*'();,/?:@&=+$#"];

/// Every form of a value that is searched for; none is shorter than [`crate::VALUE_BYTES_MIN`] unless the value is.
pub(crate) fn forms(value: &[u8]) -> BTreeSet<Vec<u8>> {
    let plain = squeezed(value);
    let mut found: BTreeSet<Vec<u8>> = parts(&plain).map(<[u8]>::to_vec).collect();
    let mut add = |form: Vec<u8>| {
        if form.len() >= crate::VALUE_BYTES_MIN {
            found.insert(form);
        }
    };
    // An encoder has seen the value with its white space; a shell may have dropped it at either end.
    for whole in BTreeSet::from([value, value.trim_ascii()]) {
        for upper in [false, true] {
            add(hex(whole, upper));
            for kept in KEPT {
                add(percent(whole, upper, Some(kept)));
            }
            add(percent(whole, upper, None));
        }
        for shift in 0..3 {
            add(base64(whole, shift, false));
            add(base64(whole, shift, true));
        }
        add(json(whole));
        let wide: Vec<u8> = whole.iter().flat_map(|b| [*b, 0]).collect();
        add(squeezed(&wide).to_vec());
        if whole.contains(&b' ') {
            add(plus(whole));
        }
    }
    add(plain.to_vec());
    found
}

/// The halves of a long value, and every other part as long as its half.
fn parts(plain: &[u8]) -> impl Iterator<Item = &[u8]> {
    let half = plain.len().div_ceil(2).max(PART_BYTES_MIN);
    let width = if plain.len() >= 2 * PART_BYTES_MIN { half } else { plain.len() };
    plain.windows(width.max(1))
}

fn hex(value: &[u8], upper: bool) -> Vec<u8> {
    let mut text = String::with_capacity(value.len() * 2);
    for byte in value {
        // Writing to a string cannot fail.
        let _ = if upper { write!(text, "{byte:02X}") } else { write!(text, "{byte:02x}") };
    }
    text.into_bytes()
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

/// As it stands between the quotes of a JSON string.
fn json(value: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(value) else { return Vec::new() };
    let quoted = serde_json::Value::from(text).to_string();
    let inner = quoted.as_bytes().get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    squeezed(inner).to_vec()
}
