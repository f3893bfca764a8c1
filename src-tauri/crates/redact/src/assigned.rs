//! Values that are secrets by the name they are assigned to, in files of settings and in code.

use crate::shapes::{compile, entropy};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A name, how it is assigned to, and what: `p` the name, `g` what stands between, `q` a quotation mark, `s` the value.
static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)\b(?P<p>[a-z0-9_.-]{0,60}(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|",
        r"encryption[_-]?key|signing[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|bot[_-]?token)",
        r"(?P<e>[a-z0-9_-]{0,40}))[\x22']?(?P<g>\s{0,3}(?:=>|[:=])\s{0,3})(?P<q>[\x22']?)",
        r"(?P<s>[^\s\x22',;<>{}\[\]$`]{8,200})",
    ))
});

/// Bare words of forty characters, as AWS makes them: `s` the word.
static BARE: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"(?:^|[\s\x22'=:,])(?P<s>[A-Za-z0-9/+]{40})(?:[\s\x22',;]|$)"));

/// Ends of names of what belongs to a secret and is none.
const BESIDES: [&str; 28] = [
    "file",
    "path",
    "dir",
    "url",
    "uri",
    "id",
    "name",
    "names",
    "type",
    "len",
    "length",
    "min",
    "max",
    "hash",
    "label",
    "hint",
    "policy",
    "field",
    "prompt",
    "env",
    "fd",
    "age",
    "count",
    "rules",
    "expiry",
    "ref",
    "arn",
    "placeholder",
];

/// The values; none when they cannot be looked for.
pub(crate) fn find(text: &str) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for one in ASSIGNED.as_ref()?.captures_iter(bytes) {
        let part = |name: &str| one.name(name).map(|m| m.as_bytes()).unwrap_or_default();
        let (Some(all), Some(secret)) = (one.get(0), one.name("s")) else { continue };
        // As much as tells whether the name is the first word of its line.
        let before = bytes.get(all.start().saturating_sub(80)..all.start()).unwrap_or_default();
        let behind = bytes.get(all.end()..).unwrap_or_default();
        if besides(part("e")) || !is_value(secret.as_bytes()) {
            continue;
        }
        let is_secret = match part("q") {
            [] => unquoted(part("p"), part("g"), secret.as_bytes(), before, behind),
            // The end of one text and the beginning of the next are no value between them.
            _ => !secret.as_bytes().starts_with(b")"),
        };
        if is_secret {
            found.push(secret.range());
        }
    }
    let bare = BARE.as_ref()?.captures_iter(bytes).filter_map(|one| one.name("s"));
    found.extend(bare.filter(|word| is_random(word.as_bytes())).map(|word| word.range()));
    Some(found)
}

/// Whether a name ends in a word that says it is about a secret.
fn besides(end: &[u8]) -> bool {
    let end = end.to_ascii_lowercase();
    BESIDES.iter().any(|word| end.ends_with(word.as_bytes()))
}

/// Whether this may be a value at all, and no reference to one.
fn is_value(value: &[u8]) -> bool {
    let refers =
        [&b"secret:"[..], b"env.", b"process.env", b"os.environ", b"vault:", b"sha256:", b"./", b"~/"];
    !refers.iter().any(|start| value.starts_with(start)) && entropy(value) > 1.5
}

/// Whether a value without quotation marks is one, or a word of code.
fn unquoted(name: &[u8], gap: &[u8], value: &[u8], before: &[u8], behind: &[u8]) -> bool {
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let first = line.is_empty() || line == b"export" || line == b"-" || line == b"set";
    let last = matches!(behind.first(), None | Some(b'\n' | b'\r'));
    let shouts = !name.iter().any(u8::is_ascii_lowercase);
    let code = value.iter().any(|b| matches!(b, b'(' | b')' | b'|' | b'&' | b'*' | b'!'))
        || value.windows(2).any(|two| matches!(two, b"::" | b"->" | b"=>" | b"//"));
    let word =
        without_index(value).iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.' | b'-'));
    match gap {
        // As shells and files of settings have it.
        b"=" if shouts || (first && last) => true,
        // As YAML has it.
        b": " if first && last && !code => !(word && value.iter().any(u8::is_ascii_uppercase)),
        _ => !code && !word && value.iter().any(u8::is_ascii_digit) && entropy(value) >= 3.0,
    }
}

/// A value without the number of a field, as in `words.0`.
fn without_index(value: &[u8]) -> &[u8] {
    let digits = value.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let stem = value.get(..value.len() - digits).unwrap_or_default();
    stem.strip_suffix(b".").filter(|_| digits > 0).unwrap_or(value)
}

/// Whether a bare word is nothing but chance.
fn is_random(word: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| word.iter().filter(|byte| is(byte)).count();
    let mixed = count(u8::is_ascii_digit) >= 2
        && count(u8::is_ascii_uppercase) >= 5
        && count(u8::is_ascii_lowercase) >= 5
        && count(|b| *b == b'/') <= 4;
    mixed && entropy(word) >= 4.5
}
