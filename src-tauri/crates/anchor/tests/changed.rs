//! Invariant 3: changed or cut short, a proof never proves another time than it did, and never ends the program.

#![allow(clippy::disallowed_methods, reason = "how many bytes are changed is set from outside")]

use crate::{COMPLETE, PENDING, TSA, TSA_EC, TSA_PSS, authorities, blocks, chain, digest, headers};
use anchor::bitcoin::Headers;
use anchor::{Trust, check};
use model::anchor::AnchorClock;
use seal::Digest;

/// Every byte, or one of so many, changed in two ways, and every length: what is still proven is what was; of another digest,
/// nothing is.
fn changed(clock: AnchorClock, proof: &[u8], trust: &Trust<'_>, step: usize) {
    let good = check(clock, proof, &digest(), trust).unwrap();
    let other = Digest::of(b"other");
    assert!(check(clock, proof, &other, trust).is_err());
    let held = |bytes: &[u8], at: usize| {
        if let Ok(checked) = check(clock, bytes, &digest(), trust)
            && checked.proven.is_some()
        {
            assert_eq!(checked.proven, good.proven, "byte {at} of a proof by {clock:?}");
        }
        let other = check(clock, bytes, &other, trust);
        assert!(other.is_err() || other.unwrap().proven.is_none(), "byte {at} of a proof by {clock:?}");
    };
    for at in 0..proof.len() {
        for by in [0x01, 0x80_u8].into_iter().filter(|_| at.is_multiple_of(step)) {
            let mut bytes = proof.to_vec();
            bytes[at] ^= by;
            held(&bytes, at);
        }
        assert!(check(clock, &proof[..at], &digest(), trust).is_err(), "{at} bytes of a proof by {clock:?}");
    }
    assert!(check(clock, &[proof, &[0]].concat(), &digest(), trust).is_err());
}

/// Of a time stamp, one byte of so many is changed: checking a signature takes a while. `HERMIT_ANCHOR_STEP=1` takes each.
fn step() -> usize {
    std::env::var("HERMIT_ANCHOR_STEP")
        .ok()
        .and_then(|step| step.parse().ok())
        .filter(|step| *step > 0)
        .unwrap_or(101)
}

#[test]
fn a_time_stamp_that_was_changed_proves_no_other_time() {
    let authorities = authorities();
    let trust = Trust { authorities: &authorities, headers: None };
    for stamp in [TSA, TSA_EC, TSA_PSS] {
        assert!(check(AnchorClock::Rfc3161, stamp, &digest(), &trust).unwrap().proven.is_some());
        changed(AnchorClock::Rfc3161, stamp, &trust, step());
    }
}

/// The bytes that a signature covers: with one of them changed, nothing is proven.
#[test]
fn a_time_stamp_whose_content_was_changed_is_an_error() {
    let authorities = authorities();
    let trust = Trust { authorities: &authorities, headers: None };
    let at = TSA.windows(32).position(|window| window == digest().as_bytes()).unwrap();
    // The digest, and the time, which stands a few bytes behind it.
    let time = at + TSA[at..].windows(2).position(|window| window == b"20").unwrap();
    for byte in (at..at + 32).chain(time + 2..time + 14) {
        let mut bytes = TSA.to_vec();
        bytes[byte] ^= 1;
        assert!(check(AnchorClock::Rfc3161, &bytes, &digest(), &trust).is_err(), "byte {byte}");
    }
}

#[test]
fn a_file_of_a_calendar_that_was_changed_proves_no_other_time() {
    let root = *"05fa971cfe70ba29ea6b3ea4c4afee205afb1d40f9d7146aa06bf6aa4875ba9f"
        .parse::<Digest>()
        .unwrap()
        .as_bytes();
    let told = headers(&chain(&[[1; 32], [2; 32], root]));
    let trust = Trust { authorities: &[], headers: Some(&told) };
    assert!(check(AnchorClock::OpenTimestamps, COMPLETE, &digest(), &trust).unwrap().proven.is_some());
    changed(AnchorClock::OpenTimestamps, COMPLETE, &trust, 1);
    changed(AnchorClock::OpenTimestamps, PENDING, &trust, 1);
}

#[test]
fn a_proof_of_a_transaction_that_was_changed_proves_no_other_time() {
    let (proof, chain) = blocks::own();
    let told = headers(&chain);
    let trust = Trust { authorities: &[], headers: Some(&told) };
    changed(AnchorClock::OpReturn, &proof, &trust, 1);
}

#[test]
fn headers_that_were_changed_are_none() {
    let chain = chain(&[[1; 32], [2; 32], [3; 32]]).concat();
    for at in 0..160 {
        let mut bytes = chain.clone();
        bytes[at] ^= 1;
        assert!(Headers::read(&bytes).is_err(), "byte {at}");
    }
    for length in (0..chain.len()).filter(|length| !length.is_multiple_of(80) || *length == 0) {
        assert!(Headers::read(&chain[..length]).is_err(), "{length} bytes");
    }
}
