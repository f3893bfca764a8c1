//! Numbers: the published hash of the first million of RFC 8785's reference implementation, and those that do not pass.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on stops where it stands"
)]

use std::collections::BTreeMap;

use seal::canon::{parse_strict, to_canonical};
use seal::{Digest, Hasher};
use serde::Serialize;

/// The number sequence of the reference implementation: fixed doubles, 2000 in a row, then SHA-256 fed with itself.
fn published_numbers() -> impl Iterator<Item = f64> {
    let fixed = include_str!("data/es6_first_doubles.txt").lines().skip(1).flat_map(str::split_whitespace);
    let fixed: Vec<u64> = fixed.map(|hex| u64::from_str_radix(hex, 16).unwrap()).collect();
    let serial = (0..2000).map(|i| 0x0010_0000_0000_0000 + i);
    let mut block = [0_u8; 32];
    let chance = std::iter::repeat_with(move || {
        block = Digest::of(&block).0;
        block
    })
    .flat_map(|block| {
        let words: [u64; 4] =
            std::array::from_fn(|i| u64::from_le_bytes(block[8 * i..8 * i + 8].try_into().unwrap()));
        words
    })
    .filter(|bits| f64::from_bits(*bits) != 0.0 && f64::from_bits(*bits).is_finite());
    fixed.into_iter().chain(serial).chain(chance).map(f64::from_bits)
}

#[test]
fn the_canonicaliser_behind_the_gate_reproduces_the_published_hash_of_a_million_numbers() {
    // The gate refuses floats, so this runs against the canonicaliser itself: it is the part we lean on.
    let published = BTreeMap::from([
        (1_000, "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687"),
        (10_000, "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892"),
        (100_000, "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7"),
        (1_000_000, "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16"),
    ]);
    let mut hasher = Hasher::new();
    for (count, number) in (1..=1_000_000).zip(published_numbers()) {
        hasher.update(format!("{:x},", number.to_bits()));
        hasher.update(serde_json_canonicalizer::to_vec(&number).unwrap());
        hasher.update("\n");
        if let Some(expected) = published.get(&count) {
            assert_eq!(hasher.clone().finish().to_string(), *expected, "after {count} numbers");
        }
    }
}

#[test]
fn integers_of_every_width_are_written_as_they_are() {
    use seal::canon::{DEPTH_MAX, canonical_value, check_canonical, to_canonical};
    let narrow = to_canonical(&(i8::MIN, i16::MIN, i32::MIN, u8::MAX, u16::MAX, u32::MAX)).unwrap();
    assert_eq!(narrow, b"[-128,-32768,-2147483648,255,65535,4294967295]");
    #[derive(serde::Serialize)]
    struct Nothing;
    assert_eq!(to_canonical(&Nothing).unwrap(), b"null");
    // Names are in the order of what they mean, also where one of them is spelled with an escape.
    assert!(check_canonical(br#"{"\n":1,"A":2}"#).is_ok());
    assert!(check_canonical(br#"{"A":2,"\n":1}"#).is_err());
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nest = |levels: usize| format!("{}1{}", open.repeat(levels), close.repeat(levels));
        let value = |levels: usize| serde_json::from_str::<serde_json::Value>(&nest(levels)).unwrap();
        assert!(canonical_value(&value(DEPTH_MAX)).is_ok());
        assert!(canonical_value(&value(DEPTH_MAX + 1)).is_err());
    }
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let refused = seal::canon::parse_canonical(deep.as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("nests deeper than"), "{refused}");
    assert_eq!(seal::Digest::of(b"x").as_ref(), seal::Digest::of(b"x").as_bytes());
}

#[test]
fn a_number_that_does_not_pass_is_named_with_what_to_write_instead() {
    let why = |text: &[u8]| parse_strict(text).unwrap_err().to_string();
    for (text, number) in [(&b"[9007199254740992]"[..], "9007199254740992"), (b"[1.5]", "1.5")] {
        let why = why(text);
        assert!(why.contains(number) && why.contains("write it as a decimal string"), "{why}");
    }
}

/// Bytes as serde passes them on when they are no list.
struct Bytes(&'static [u8]);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[test]
fn bytes_are_written_as_a_list_of_numbers() {
    assert_eq!(to_canonical(&Bytes(&[0, 7, 255])).unwrap(), b"[0,7,255]");
}
