//! The canonical bytes of a value that has passed the gate of [`crate::canon`].
//!
//! Every event, receipt, request and grant is written by this, so it writes in one pass and allocates once. With floats
//! refused before, what is left of RFC 8785 is the order of names and the one escape of each character; tests hold it
//! against two writers of others.

use std::cmp::Ordering;
use std::io::Write as _;

use serde_json::Value;

/// Room that is taken at once: most documents are shorter.
pub(crate) const ROOM: usize = 1_024;

/// Writes a value whose numbers are integers.
pub(crate) fn write(value: &Value) -> Vec<u8> {
    let mut to = Vec::with_capacity(ROOM);
    put(value, &mut to);
    to
}

fn put(value: &Value, to: &mut Vec<u8>) {
    match value {
        Value::Null => to.extend_from_slice(b"null"),
        Value::Bool(true) => to.extend_from_slice(b"true"),
        Value::Bool(false) => to.extend_from_slice(b"false"),
        // Writing to a vector never fails.
        Value::Number(number) => drop(write!(to, "{number}")),
        Value::String(text) => string(text, to),
        Value::Array(items) => list(items.iter(), b"[]", to, put),
        Value::Object(members) => {
            let member = |(name, member): (&String, &Value), to: &mut Vec<u8>| {
                string(name, to);
                to.push(b':');
                put(member, to);
            };
            // Nearly always they are in order: names beyond ASCII are rare, and sorted by bytes all others are.
            if members.keys().is_sorted_by(|a, b| order(a, b).is_lt()) {
                return list(members.iter(), b"{}", to, member);
            }
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_unstable_by(|(a, _), (b, _)| order(a, b));
            list(sorted.into_iter(), b"{}", to, member);
        }
    }
}

fn list<T>(
    items: impl Iterator<Item = T>,
    [open, close]: &[u8; 2],
    to: &mut Vec<u8>,
    put: impl Fn(T, &mut Vec<u8>),
) {
    to.push(*open);
    for (n, item) in items.enumerate() {
        if n > 0 {
            to.push(b',');
        }
        put(item, to);
    }
    to.push(*close);
}

/// RFC 8785 sorts names by their UTF-16 code units, which is the order of their bytes but beyond the basic plane.
pub(crate) fn order(left: &str, right: &str) -> Ordering {
    match left.bytes().zip(right.bytes()).find(|(a, b)| a != b) {
        None => left.len().cmp(&right.len()),
        Some((a, b)) if a.is_ascii() || b.is_ascii() => a.cmp(&b),
        Some(_) => left.encode_utf16().cmp(right.encode_utf16()),
    }
}

pub(crate) fn string(text: &str, to: &mut Vec<u8>) {
    to.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
        let Some((plain, [special, behind @ ..])) = rest.split_at_checked(at) else { break };
        to.extend_from_slice(plain);
        match special {
            0x08 => to.extend_from_slice(b"\\b"),
            0x09 => to.extend_from_slice(b"\\t"),
            0x0a => to.extend_from_slice(b"\\n"),
            0x0c => to.extend_from_slice(b"\\f"),
            0x0d => to.extend_from_slice(b"\\r"),
            b'"' | b'\\' => to.extend_from_slice(&[b'\\', *special]),
            control => drop(write!(to, "\\u{control:04x}")),
        }
        rest = behind;
    }
    to.extend_from_slice(rest);
    to.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::write;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[a-c\\\\\"\n\r\u{0}-\u{1f}]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("[a-z\u{e9}\u{ff61}\u{fffd}\u{1f600}\n]{0,3}", inner, 0..6)
                    .prop_map(|m| json!(m)),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_value_has_the_bytes_that_others_give_it(value in value()) {
            let bytes = write(&value);
            prop_assert_eq!(&serde_json_canonicalizer::to_vec(&value).unwrap(), &bytes);
            prop_assert_eq!(&json_canon::to_vec(&value).unwrap(), &bytes);
            prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), value);
        }
    }

    #[test]
    fn every_character_below_the_space_and_its_neighbours_have_their_one_spelling() {
        for code in (0..0x80_u32).chain([0x7ff, 0x800, 0x2028, 0xfeff, 0xffff, 0x1_0000, 0x10_ffff]) {
            let Some(character) = char::from_u32(code) else { continue };
            let value = json!([character.to_string(), { (character.to_string()): 0 }]);
            assert_eq!(write(&value), serde_json_canonicalizer::to_vec(&value).unwrap(), "{code:x}");
        }
    }
}
