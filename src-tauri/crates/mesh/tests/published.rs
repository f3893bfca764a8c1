//! The chain of an instance as relays keep it.

use mesh::published::{CHAIN_PARTS_MAX, filter, read, sign};
use mesh::sealed::{NostrSealing, Sealing as _, WireEvent};
use mesh::{Error, NodeId};
use model::UnixMs;

const NOW: UnixMs = UnixMs(1_800_000_000_000);

fn sealing(secret: u8) -> NostrSealing {
    NostrSealing::new(&[secret; 32]).unwrap()
}

fn lines(count: usize, each: usize) -> Vec<Vec<u8>> {
    (0..count).map(|n| format!("{{\"n\":{n},\"pad\":\"{}\"}}", "x".repeat(each)).into_bytes()).collect()
}

fn signed(secret: u8, lines: &[Vec<u8>], at: UnixMs) -> (Vec<WireEvent>, NodeId) {
    let sealing = sealing(secret);
    (sign(&sealing, lines, at).unwrap(), sealing.node())
}

#[test]
fn a_chain_comes_back_as_it_was_in_whatever_order_its_parts_come() {
    for (count, parts) in [(1, 1), (3, 1), (80, 4)] {
        let lines = lines(count, 1_000);
        let (mut events, key) = signed(1, &lines, NOW);
        assert_eq!(events.len(), parts);
        events.reverse();
        assert_eq!(read(&events, key), Some(lines));
    }
    let (events, key) = signed(1, &lines(80, 1_000), NOW);
    let asked = filter(key);
    let names: Vec<&str> = asked["#d"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(events.iter().all(|event| event.tags[0][0] == "d" && names.contains(&event.tags[0][1].as_str())));
    assert_eq!(asked["authors"], serde_json::json!([key.to_string()]));
}

#[test]
fn the_newest_that_is_whole_is_read_and_nothing_of_anybody_else() {
    let (old, key) = signed(1, &lines(30, 1_000), NOW);
    let (new, _) = signed(1, &lines(60, 1_000), NOW.plus_ms(60_000));
    let all = [old.clone(), new.clone()].concat();
    assert_eq!(read(&all, key), Some(lines(60, 1_000)));
    // A relay that keeps a part back does not mix two chains.
    let torn = [old.clone(), new[1..].to_vec()].concat();
    assert_eq!(read(&torn, key), Some(lines(30, 1_000)));
    assert_eq!(read(&new[1..], key), None);
    // Of another key, and bent.
    let (other, _) = signed(2, &lines(3, 10), NOW.plus_ms(120_000));
    assert_eq!(read(&[other.clone(), old.clone()].concat(), key), Some(lines(30, 1_000)));
    let mut bent = old;
    bent[0].content = bent[0].content.replacen('x', "y", 1);
    assert_eq!(read(&bent, key), None);
    let mut renamed = other;
    renamed[0].pubkey = key;
    assert_eq!(read(&renamed, key), None);
}

#[test]
fn what_relays_would_not_take_is_not_signed() {
    let most = lines(CHAIN_PARTS_MAX * 23, 1_000);
    assert_eq!(signed(1, &most, NOW).0.len(), CHAIN_PARTS_MAX);
    assert!(signed(1, &most, NOW).0.iter().all(WireEvent::is_bounded));
    let refused = |lines: &[Vec<u8>]| sign(&sealing(1), lines, NOW).unwrap_err();
    assert_eq!(refused(&lines(CHAIN_PARTS_MAX * 30, 1_000)), Error::TooLarge);
    assert_eq!(refused(&lines(1, 30_000)), Error::TooLarge);
    assert!(matches!(refused(&[vec![0xff]]), Error::Refused(_)));
}
