//! Training between machines, without any: what they say to each other, and rounds that one leads while another comes, goes, lies or
//! is late.

use crate::outer::{key, signed};
use seal::{Digest, PublicKey, SeedSigner, Signer as _};
use std::collections::{BTreeMap, BTreeSet};
use training::outer::{
    Compressor, Course, OuterMessage, OuterSettings, PARCEL_BYTES_MAX, Parcel, ParcelHead, Rounds, Sent,
    SignedMessage, State, Terms, is_name,
};

const LENGTH: usize = 4;

fn terms() -> Terms {
    Terms {
        base_sha256: Digest::of(b"base"),
        rank: 8,
        alpha: 16.0,
        feed_forward: false,
        seed: 1,
        rounds: 3,
        steps: 2,
        percent: 10,
        patience_s: 60,
        settings: OuterSettings::default(),
    }
}

fn sent(message: &SignedMessage) -> Sent {
    let SignedMessage { peer, bytes, signature } = message;
    Sent { peer: *peer, signature: *signature, sha256: Digest::of(bytes) }
}

fn invited(name: &str, terms: Terms) -> ParcelHead {
    ParcelHead::Invited { id: Digest::of(b"run"), name: name.to_owned(), terms }
}

#[test]
fn what_one_machine_says_to_another_is_read_as_it_was_written_and_within_its_bounds() {
    let id = Digest::of(b"run");
    let message = signed(&message(&rounds(3), &[1.0, 2.0, 3.0, 4.0]), &key(0));
    let heads = [
        invited("notes 1", terms()),
        ParcelHead::Joins { id, round: 7 },
        ParcelHead::Leaves { id },
        ParcelHead::Counted { id, round: 7, all: vec![sent(&message)] },
    ];
    for head in heads {
        let parcel = Parcel::of(head);
        assert_eq!(Parcel::from_bytes(&parcel.to_bytes().unwrap()), Ok(parcel));
    }
    let head = ParcelHead::Sent { id, round: 0, sent: sent(&message) };
    let parcel = Parcel { head, body: message.bytes.clone() };
    let bytes = parcel.to_bytes().unwrap();
    assert_eq!(Parcel::from_bytes(&bytes), Ok(parcel.clone()));
    // Another byte in it, one more, or none of it.
    let changed = [&bytes[..bytes.len() - 1], &[9]].concat();
    for wrong in [changed, [&bytes[..], &[0]].concat(), bytes[..bytes.len() / 2].to_vec(), Vec::new()] {
        assert!(Parcel::from_bytes(&wrong).is_err());
    }
    let large = Parcel { body: vec![1; PARCEL_BYTES_MAX], ..parcel };
    assert!(large.to_bytes().unwrap_err().to_string().contains("send fewer"), "it is refused before it goes");
    for wrong in [
        Parcel::of(invited("../x", terms())),
        Parcel::of(invited("notes", Terms { rounds: 0, ..terms() })),
        Parcel::of(invited("notes", Terms { percent: 101, ..terms() })),
        Parcel::of(ParcelHead::Counted { id, round: 0, all: vec![sent(&message); 17] }),
        Parcel { head: ParcelHead::Leaves { id }, body: vec![1] },
    ] {
        assert!(Parcel::from_bytes(&wrong.to_bytes().unwrap()).is_err(), "{wrong:?}");
    }
    assert!(
        !is_name("") && !is_name(" x") && !is_name("a/b") && !is_name(&"x".repeat(65)) && is_name("run-1")
    );
}

fn rounds(peers: usize) -> Rounds {
    let peers: BTreeSet<PublicKey> = (0..peers).map(|at| key(at).public()).collect();
    Rounds::new(Digest::of(b"run"), OuterSettings::default(), State::first(vec![0.0; LENGTH]), peers).unwrap()
}

fn message(of: &Rounds, way: &[f32]) -> OuterMessage {
    let packed = Compressor::new(way.len()).unwrap().pack(way, way.len()).unwrap();
    OuterMessage { run: of.run(), round: of.state().round, state: of.state().digest(), steps: 2, packed }
}

/// What a machine does with what is counted: its program takes all of it, and ends the round.
fn ends(of: &mut Rounds, counted: &[Sent], bytes: &BTreeMap<Digest, Vec<u8>>) {
    for one in counted {
        let bytes = bytes[&one.sha256].clone();
        of.take(&SignedMessage { peer: one.peer, bytes, signature: one.signature }).unwrap();
    }
    let all = of.heard();
    of.end(&all).unwrap();
}

/// A round at its leader: what these send, heard in this order.
fn round(
    of: &Rounds,
    course: &mut Course,
    ways: &[(SeedSigner, [f32; LENGTH])],
    all: &mut BTreeMap<Digest, Vec<u8>>,
) {
    let messages: Vec<_> = ways.iter().map(|(key, way)| signed(&message(of, way), key)).collect();
    let own = messages[0].bytes.clone();
    for one in &messages {
        assert_eq!(course.hear(&own, &one.peer, &sent(one), &one.bytes), Ok(true));
        assert_eq!(course.hear(&own, &one.peer, &sent(one), &one.bytes), Ok(false), "it came before");
        all.insert(Digest::of(&one.bytes), one.bytes.clone());
    }
}

#[test]
fn a_machine_comes_and_goes_at_any_round_and_a_poisoned_one_moves_nothing() {
    let (mut lead, mut course, mut bytes) = (rounds(5), Course::default(), BTreeMap::new());
    // All five, of which one sends the opposite a thousand times as far.
    let honest = [1.0, 1.1, 0.9, 1.0];
    let mut ways: Vec<_> = (0..4).map(|at| (key(at), honest)).collect();
    ways.push((key(4), honest.map(|way| way * -1_000.0)));
    round(&lead, &mut course, &ways, &mut bytes);
    assert!(course.is_over(5, 3, 0, &terms()));
    course.count();
    ends(&mut lead, course.counted.as_deref().unwrap(), &bytes);
    course.end();
    let moved = lead.state().parameters.clone();
    let mut without = rounds(5);
    let mut alone = Course::default();
    round(&without, &mut alone, &ways[..4], &mut bytes);
    alone.count();
    ends(&mut without, alone.counted.as_deref().unwrap(), &bytes);
    for (with, without) in moved.iter().zip(&without.state().parameters) {
        assert!((with - without).abs() < 1e-3, "{moved:?}, and {without} without it");
    }
    // Two are away: the others are waited for, and the round ends with three.
    round(&lead, &mut course, &ways[..3], &mut bytes);
    assert!(!course.is_over(5, 3, 59, &terms()) && course.is_over(5, 3, 60, &terms()));
    assert!(course.is_over(3, 3, 0, &terms()), "nobody waits for one that left");
    course.count();
    // What comes now is late, and changes nothing that was told.
    let fixed = course.counted.clone();
    let late = signed(&message(&lead, &ways[3].1), &key(3));
    let own = signed(&message(&lead, &honest), &key(0)).bytes;
    assert!(course.hear(&own, &late.peer, &sent(&late), &late.bytes).is_err());
    course.count();
    assert_eq!(course.counted, fixed);
    ends(&mut lead, fixed.as_deref().unwrap(), &bytes);
    course.end();
    // One that comes now goes through what was counted before, and has the same state.
    let (mut comer, mut own_course) = (rounds(5), Course::default());
    for (at, all) in course.since(0) {
        assert_eq!(at, own_course.round);
        own_course.fix(all).unwrap();
        own_course.fix(all).unwrap();
        assert!(own_course.fix(&all[1..]).is_err(), "it is fixed");
        ends(&mut comer, all, &bytes);
        own_course.end();
    }
    assert_eq!((comer.state(), own_course.round), (lead.state(), 2));
    assert_eq!(course.since(1).map(|(at, _)| at).collect::<Vec<_>>(), [1]);
    assert!(own_course.fix(&[]).is_err() && own_course.fix(&[sent(&late), sent(&late)]).is_err());
}

#[test]
fn what_is_forged_of_another_round_or_the_second_of_a_machine_is_not_counted() {
    let (lead, mut course) = (rounds(3), Course::default());
    let own = signed(&message(&lead, &[1.0; LENGTH]), &key(0));
    let one = signed(&message(&lead, &[2.0; LENGTH]), &key(1));
    let hear = |course: &mut Course, of: &SignedMessage| {
        course.hear(&own.bytes, &key(1).public(), &sent(of), &of.bytes)
    };
    let forged = SignedMessage { signature: own.signature, ..one.clone() };
    assert!(hear(&mut course, &forged).unwrap_err().to_string().contains("signature"));
    assert!(hear(&mut course, &signed(&message(&lead, &[2.0; LENGTH]), &key(2))).is_err(), "another key");
    let good = message(&lead, &[2.0; LENGTH]);
    for wrong in [
        OuterMessage { round: 1, ..good.clone() },
        OuterMessage { run: Digest::of(b"other"), ..good.clone() },
        OuterMessage { state: Digest::ZERO, ..good.clone() },
        OuterMessage { steps: 0, ..good.clone() },
        message(&lead, &[2.0; LENGTH + 1]),
    ] {
        assert!(hear(&mut course, &signed(&wrong, &key(1))).is_err(), "{wrong:?}");
    }
    let mut cut = one.clone();
    cut.bytes.pop();
    cut.signature = key(1).sign(&cut.bytes).unwrap();
    assert!(hear(&mut course, &cut).is_err());
    assert_eq!(course.heard, []);
    assert_eq!(hear(&mut course, &one), Ok(true));
    let second = signed(&message(&lead, &[3.0; LENGTH]), &key(1));
    assert!(hear(&mut course, &second).unwrap_err().to_string().contains("another one"));
    course.is_sending(100, Some(&one.bytes));
    course.is_sending(50, None);
    assert_eq!((course.sent_bytes, course.plain_bytes), (150, 16));
}
