//! Chains: the first offending position is named, and an empty chain proves nothing.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]

use proptest::prelude::*;
use seal::{ChainFault, Digest, Error, canon::to_canonical, chain::ChainVerifier};
use serde_json::json;

/// A chain of `count` events, each its canonical bytes.
fn chain(count: u64) -> Vec<Vec<u8>> {
    let mut prev = Digest::ZERO;
    (1..=count)
        .map(|seq| {
            let event = json!({"task_seq": seq, "prev_event_hash": prev, "kind": "note", "body": {"n": seq}});
            let bytes = to_canonical(&event).unwrap();
            prev = Digest::of(&bytes);
            bytes
        })
        .collect()
}

/// Position and fault of the first refusal, or of the end.
fn verify(events: &[Vec<u8>], promised: u64, head: Digest) -> Result<(), (u64, ChainFault)> {
    let mut verifier = ChainVerifier::new();
    let walked = events.iter().try_for_each(|bytes| verifier.push(bytes).map(drop));
    match walked.and_then(|()| verifier.finish(promised, head)) {
        Ok(()) => Ok(()),
        Err(Error::Chain { position, fault }) => Err((position, fault)),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_whole_chain_is_taken_and_its_head_is_the_hash_of_its_last_event() {
    let events = chain(5);
    verify(&events, 5, Digest::of(&events[4])).unwrap();
}

#[test]
fn an_empty_or_truncated_or_longer_chain_is_refused_at_its_end() {
    let events = chain(5);
    let head = Digest::of(&events[4]);
    assert_eq!(verify(&[], 0, Digest::ZERO), Err((1, ChainFault::Length { expected: 0, found: 0 })));
    assert_eq!(verify(&events[..4], 5, head), Err((5, ChainFault::Length { expected: 5, found: 4 })));
    assert_eq!(
        verify(&events, 4, Digest::of(&events[3])),
        Err((6, ChainFault::Length { expected: 4, found: 5 }))
    );
    assert!(matches!(verify(&events, 5, Digest::ZERO), Err((5, ChainFault::Hash { .. }))));
}

#[test]
fn a_missing_doubled_or_swapped_event_is_named_by_its_position() {
    let events = chain(5);
    let head = Digest::of(&events[4]);
    for at in 0..5 {
        let mut missing = events.clone();
        missing.remove(at);
        assert_eq!(verify(&missing, 5, head).unwrap_err().0, at as u64 + 1, "without {at}");
        let mut doubled = events.clone();
        doubled.insert(at, events[at].clone());
        assert_eq!(verify(&doubled, 5, head).unwrap_err().0, at as u64 + 2, "{at} twice");
        if at > 0 {
            let mut swapped = events.clone();
            swapped.swap(at, at - 1);
            assert_eq!(verify(&swapped, 5, head).unwrap_err().0, at as u64, "{at} swapped");
        }
    }
}

#[test]
fn every_changed_byte_is_refused_at_its_event_or_the_next() {
    let events = chain(4);
    let head = Digest::of(&events[3]);
    for (event, original) in events.iter().enumerate() {
        for at in 0..original.len() {
            for bit in 0..8 {
                let mut changed = events.clone();
                changed[event][at] ^= 1 << bit;
                let (position, _) = verify(&changed, 4, head).unwrap_err();
                let event = event as u64 + 1;
                assert!(
                    position == event || position == event + 1,
                    "event {event} byte {at} bit {bit}: {position}"
                );
            }
        }
    }
}

#[test]
fn a_rewritten_event_breaks_the_next_link_even_when_it_is_well_formed() {
    let mut events = chain(3);
    let text = String::from_utf8(events[1].clone()).unwrap();
    events[1] = text.replace(r#""kind":"note""#, r#""kind":"lies""#).into_bytes();
    let expected = Digest::of(&events[1]);
    let found = Digest::of(text.as_bytes());
    let head = Digest::of(&events[2]);
    assert_eq!(verify(&events, 3, head), Err((3, ChainFault::Link { expected, found })));
}

#[test]
fn a_gap_or_a_repetition_in_the_count_is_refused_though_every_link_holds() {
    for counts in [vec![2_u64], vec![0], vec![1, 3], vec![1, 1], vec![1, 2, 2], vec![1, 2, 1]] {
        let mut prev = Digest::ZERO;
        let mut events = Vec::new();
        for seq in &counts {
            let bytes = to_canonical(&json!({"task_seq": seq, "prev_event_hash": prev})).unwrap();
            prev = Digest::of(&bytes);
            events.push(bytes);
        }
        let position = counts.len() as u64;
        let fault = ChainFault::Sequence { expected: position, found: counts[counts.len() - 1] };
        assert_eq!(verify(&events, position, prev), Err((position, fault)), "{counts:?}");
    }
}

#[test]
fn bytes_that_are_no_event_are_refused_with_a_reason() {
    let zero = Digest::ZERO;
    for (bytes, word) in [
        (String::from("{}"), "task_seq"),
        (format!(r#"{{"prev_event_hash":"{zero}","task_seq":"1"}}"#), "task_seq"),
        (format!(r#"{{"prev_event_hash":"{zero}","task_seq":-1}}"#), "task_seq"),
        (String::from(r#"{"task_seq":1}"#), "prev_event_hash"),
        (String::from(r#"{"prev_event_hash":"00","task_seq":1}"#), "prev_event_hash"),
        (format!(r#"{{"task_seq":1,"prev_event_hash":"{zero}"}}"#), "canonical"),
        (format!(r#"{{"prev_event_hash":"{zero}","task_seq":1}} "#), "canonical"),
        (format!(r#"{{"a":{{"prev_event_hash":"{zero}","task_seq":1}}}}"#), "task_seq"),
        (String::from("[1]"), "not an object"),
        (String::new(), "json"),
    ] {
        let (position, fault) = verify(&[bytes.clone().into_bytes()], 1, zero).unwrap_err();
        assert_eq!(position, 1);
        assert!(
            matches!(&fault, ChainFault::Unreadable(reason) if reason.contains(word)),
            "{bytes}: {fault}"
        );
    }
}

#[test]
fn a_refused_event_is_not_taken_in() {
    let events = chain(3);
    let mut verifier = ChainVerifier::new();
    verifier.push(&events[0]).unwrap();
    let before = verifier.clone();
    assert!(verifier.push(&events[2]).is_err());
    assert_eq!(verifier, before);
    verifier.push(&events[1]).unwrap();
    let mut resumed = ChainVerifier::resume(verifier.len(), verifier.head());
    resumed.push(&events[2]).unwrap();
    resumed.finish(3, Digest::of(&events[2])).unwrap();
}

#[test]
fn an_entry_is_followed_by_its_links_and_its_hash_as_by_its_bytes() {
    let events = chain(3);
    let (mut by_bytes, mut by_links) = (ChainVerifier::new(), ChainVerifier::new());
    for (seq, event) in (1..).zip(&events) {
        let head = by_links.head();
        let other = by_links.follow(seq, Digest::of(b"other"), Digest::of(event));
        let fault = ChainFault::Link { expected: head, found: Digest::of(b"other") };
        assert_eq!(other, Err(Error::Chain { position: seq, fault }));
        let later = by_links.follow(seq + 1, head, Digest::of(event));
        let fault = ChainFault::Sequence { expected: seq, found: seq + 1 };
        assert_eq!(later, Err(Error::Chain { position: seq, fault }));
        by_links.follow(seq, head, by_bytes.push(event).unwrap()).unwrap();
        assert_eq!(by_links, by_bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_but_the_right_one_is_refused(order in prop::collection::vec(0_usize..6, 1..9)) {
        let events = chain(6);
        let chosen: Vec<Vec<u8>> = order.iter().map(|i| events[*i].clone()).collect();
        let right = order == [0, 1, 2, 3, 4, 5];
        prop_assert_eq!(verify(&chosen, 6, Digest::of(&events[5])).is_ok(), right);
    }
}
