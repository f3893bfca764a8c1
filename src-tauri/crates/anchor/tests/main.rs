//! Proofs of clocks elsewhere: read, checked, changed and cut short, and shown to tools that nobody here wrote.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]

mod blocks;
mod calendars;
mod changed;
#[path = "../../seal/tests/foreign/mod.rs"]
mod foreign;
mod stamps;
mod stock;

use anchor::bitcoin::{Headers, double_sha256};
use seal::Digest;

/// The digest that every fixture is of.
fn digest() -> Digest {
    Digest::of(b"hermit")
}

const TSA: &[u8] = include_bytes!("data/tsa.tsr");
const TSA_EC: &[u8] = include_bytes!("data/tsa-ec.tsr");
const TSA_PSS: &[u8] = include_bytes!("data/tsa-pss.tsr");
const PENDING: &[u8] = include_bytes!("data/pending.ots");
const COMPLETE: &[u8] = include_bytes!("data/complete.ots");

fn authority(pem: &str) -> Vec<u8> {
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let digits = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0_u32, 0);
    for digit in body.bytes().filter_map(digits) {
        held = held << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).unwrap());
        }
    }
    bytes
}

fn authorities() -> Vec<Vec<u8>> {
    vec![authority(include_str!("data/tsa-ca.pem")), authority(include_str!("data/tsa-ec-ca.pem"))]
}

/// A header on top of another, as easy as those of a test network, which takes two tries to find.
fn mined(previous: [u8; 32], root: [u8; 32], time: u32) -> [u8; 80] {
    let start =
        [&[1, 0, 0, 0][..], &previous, &root, &time.to_le_bytes(), &0x207f_ffff_u32.to_le_bytes()].concat();
    (0_u32..)
        .map(|nonce| <[u8; 80]>::try_from([&start[..], &nonce.to_le_bytes()].concat()).unwrap())
        .find(|header| double_sha256(header)[31] < 0x7f)
        .unwrap()
}

/// A chain of headers with these Merkle roots, an hour apart, whose first has nothing before it.
fn chain(roots: &[[u8; 32]]) -> Vec<[u8; 80]> {
    let mut previous = [0; 32];
    let mut chain = Vec::new();
    for (number, root) in (0_u32..).zip(roots) {
        let header = mined(previous, *root, 1_700_000_000 + number * 3600);
        previous = double_sha256(&header);
        chain.push(header);
    }
    chain
}

fn headers(chain: &[[u8; 80]]) -> Headers {
    Headers::read(&chain.concat()).unwrap()
}
