//! Values and the forms that programs of the world give them.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use redact::Redactor;
use zeroize::Zeroizing;

pub fn knowing(secrets: &[(&str, &[u8])]) -> Redactor {
    let all = secrets.iter().map(|(handle, value)| ((*handle).to_owned(), Zeroizing::new(value.to_vec())));
    Redactor::new(all).unwrap()
}

/// Every form that invariant 1 promises, by name, with the words around it that its encoder has seen as well.
pub fn disguises(value: &[u8], before: &[u8], after: &[u8]) -> Vec<(String, Vec<u8>)> {
    let whole = [before, value, after].concat();
    let mut forms = vec![
        ("plain".to_owned(), whole.clone()),
        ("hex".to_owned(), hex::encode(&whole).into_bytes()),
        ("HEX".to_owned(), hex::encode_upper(&whole).into_bytes()),
        ("utf-16".to_owned(), whole.iter().flat_map(|b| [*b, 0]).collect()),
        ("url".to_owned(), url(&whole, false).into_bytes()),
        ("url, every byte".to_owned(), url(&whole, true).into_bytes()),
        ("broken".to_owned(), broken(&whole, 7)),
        ("hex, broken".to_owned(), broken(hex::encode(&whole).as_bytes(), 60)),
        ("hex, parted".to_owned(), pairs(&whole, "", ":")),
        ("hex, a list".to_owned(), pairs(&whole, "0x", ", ")),
        ("hex, escaped".to_owned(), pairs(&whole, "\\x", "")),
        ("numbers".to_owned(), format!("{whole:?}").into_bytes()),
        ("base64, broken".to_owned(), broken(STANDARD.encode(&whole).as_bytes(), 10)),
    ];
    for shift in 0..3 {
        let shifted = [&b"xyz"[..shift], &whole].concat();
        forms.push((format!("base64 at {shift}"), STANDARD.encode(&shifted).into_bytes()));
        forms.push((format!("base64url at {shift}"), URL_SAFE.encode(&shifted).into_bytes()));
    }
    for shift in 0..5 {
        let shifted = [&b"vwxyz"[..shift], &whole].concat();
        forms.push((format!("base32 at {shift}"), base32(&shifted)));
        forms.push((format!("base32, small, at {shift}"), base32(&shifted).to_ascii_lowercase()));
    }
    if let Ok(text) = std::str::from_utf8(&whole) {
        forms.push(("json".to_owned(), serde_json::Value::from(text).to_string().into_bytes()));
    }
    forms
}

fn url(bytes: &[u8], all: bool) -> String {
    let stays = |b: u8| !all && (b.is_ascii_alphanumeric() || b"-._~".contains(&b));
    bytes.iter().map(|b| if stays(*b) { char::from(*b).to_string() } else { format!("%{b:02X}") }).collect()
}

fn pairs(bytes: &[u8], before: &str, between: &str) -> Vec<u8> {
    bytes.iter().map(|b| format!("{before}{b:02x}")).collect::<Vec<_>>().join(between).into_bytes()
}

/// As RFC 4648 has it, by the digits of one number of so many bits.
fn base32(bytes: &[u8]) -> Vec<u8> {
    let bits: String = bytes.iter().map(|b| format!("{b:08b}")).collect();
    let digit = |five: &[u8]| {
        let five = format!("{:0<5}", String::from_utf8_lossy(five));
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[usize::from_str_radix(&five, 2).unwrap()]
    };
    let mut text: Vec<u8> = bits.as_bytes().chunks(5).map(digit).collect();
    text.resize(text.len().next_multiple_of(8), b'=');
    text
}

fn broken(bytes: &[u8], width: usize) -> Vec<u8> {
    bytes.chunks(width).collect::<Vec<_>>().join(&b"\n  "[..])
}
