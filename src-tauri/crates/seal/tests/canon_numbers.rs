//! The published hash of the first million numbers of RFC 8785's reference implementation.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on stops where it stands"
)]

use std::collections::BTreeMap;

use seal::{Digest, Hasher};

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
