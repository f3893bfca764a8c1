//! What is kept, what takes the place of what, and how much.

use super::*;
use nostr_relay_builder::prelude::{EventBuilder, Keys, Tag};

fn event(keys: &Keys, kind: u16, at: u64, words: &str, name: Option<&str>) -> Event {
    let tags = name.map(|name| Tag::parse(["d", name]).unwrap());
    EventBuilder::new(Kind::from(kind), words)
        .tags(tags)
        .custom_created_at(Timestamp::from_secs(at))
        .sign_with_keys(keys)
        .unwrap()
}

#[test]
fn the_newest_of_a_name_stands_in_whatever_order_they_come() {
    let (one, other) = (Keys::generate(), Keys::generate());
    let mut kept = Kept::default();
    let (old, new) = (event(&one, 30_078, 1, "old", Some("a")), event(&one, 30_078, 2, "new", Some("a")));
    assert!(kept.save(&new).is_success());
    assert_eq!(kept.save(&old), SaveEventStatus::Rejected(RejectedReason::Replaced));
    assert_eq!(kept.save(&new), SaveEventStatus::Rejected(RejectedReason::Duplicate));
    // Another name, another person, another kind, and what replaces nothing.
    for event in [
        event(&one, 30_078, 1, "", Some("b")),
        event(&other, 30_078, 1, "", Some("a")),
        event(&one, 10_050, 1, "", None),
        event(&one, 1_059, 1, "", None),
        event(&one, 1_059, 2, "", None),
    ] {
        assert!(kept.save(&event).is_success());
    }
    assert_eq!(kept.events.len(), 6);
    assert!(kept.save(&event(&one, 30_078, 3, "newest", Some("a"))).is_success());
    assert_eq!(kept.events.len(), 6);
    assert_eq!((kept.numbers.len(), kept.places.len()), (6, 4));
    assert_eq!(kept.bytes, kept.events.values().map(weight).sum::<usize>());
}

#[test]
fn the_oldest_give_way_when_there_are_too_many_bytes() {
    let (mut kept, words) = (Kept::default(), "x".repeat(1024 * 1024));
    let first = event(&Keys::generate(), 1_059, 9, "", None);
    assert!(kept.save(&first).is_success());
    for number in 0..40 {
        let mut next = first.clone();
        (next.id, next.content) = (EventId::from_byte_array([number; 32]), words.clone());
        assert!(kept.save(&next).is_success());
        assert!(kept.bytes <= BYTES_MAX);
    }
    assert!(kept.events.len() > 20 && !kept.numbers.contains_key(&first.id));
    assert_eq!(kept.numbers.len(), kept.events.len());
    assert!(kept.places.is_empty());
}

#[test]
fn a_question_is_answered_with_the_newest_and_no_more_than_it_asks_for() {
    let (keys, shelf) = (Keys::generate(), Shelf::default());
    for at in 1..=5 {
        lock(&shelf.0).save(&event(&keys, 1_059, at, "", None));
    }
    let times = |filter: Filter| -> Vec<u64> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let events = runtime.block_on(shelf.query(filter)).unwrap();
        events.into_iter().map(|event| event.created_at.as_secs()).collect()
    };
    assert_eq!(times(Filter::new().limit(2)), [5, 4]);
    assert_eq!(times(Filter::new().kind(Kind::from(1_059)).since(Timestamp::from_secs(3))), [5, 4, 3]);
    assert_eq!(times(Filter::new().limit(0)), [0; 0]);
    assert_eq!(times(Filter::new().kind(Kind::from(1))), [0; 0]);
}
