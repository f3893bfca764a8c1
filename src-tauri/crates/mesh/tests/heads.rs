//! Heads of logs: which are to be cosigned, and what is found of a log that went back.

use crate::fake::{Fake, Make as _};
use crate::nodes::{One, peer, relay, two};
use crate::put_back::{after, put_back, talk};
use mesh::sealed::Sealing as _;
use mesh::{
    Capabilities, Command, Cosigned, Delivered, FORMAT, Happened, Head, LOGS_MAX, Letter, NOTICES_KEPT,
    Prove, Says, State, Step, frame,
};
use seal::merkle::{Tree, leaf_hash};
use seal::note::Checkpoint;
use seal::{Digest, SeedSigner};

pub const ORIGIN: &str = "hermit.local/a-log";

/// A log of so many notes, which from one of them on are others.
pub fn log(size: u64, others_from: u64) -> Tree {
    let leaf = |at: u64| leaf_hash(format!("{at} {}", at >= others_from).as_bytes());
    let leaves: Vec<Digest> = (0..size).map(leaf).collect();
    Tree::from_leaves(&leaves)
}

/// The head of a log, and that it grew from one of this size.
pub fn head(origin: &str, log: &Tree, old_size: u64) -> Head {
    let (size, root) = (log.size(), log.root());
    let proof = if old_size == 0 { Vec::new() } else { log.consistency_proof(old_size).unwrap() };
    let note = Checkpoint::new(origin, size, root).sign(&SeedSigner::from_seed([7; 32])).unwrap();
    Head { origin: origin.to_owned(), old_size, size, root, proof, note: note.to_string() }
}

fn grown(size: u64, old_size: u64) -> Head {
    head(ORIGIN, &log(size, u64::MAX), old_size)
}

fn tells(one: &mut One, head: Head) -> Step {
    one.does(Happened::Said(Command::Head(head)))
}

fn seen(one: &One, of: &One) -> u64 {
    one.node.state().head(of.id, ORIGIN).unwrap().size
}

#[test]
fn a_head_is_to_be_cosigned_where_the_log_is_shown_to_have_grown_and_nowhere_else() {
    let (mut one, mut other) = two();
    let from = other.id;
    let mut hears = |head: Head| {
        let told = tells(&mut other, head);
        one.hears(&told).deliver
    };
    let cosigns = |head: Head| vec![Delivered::Head { from, note: head.note }];
    let back =
        |seen: u64, told: u64| vec![Delivered::RolledBack { from, origin: ORIGIN.to_owned(), seen, told }];
    assert_eq!(hears(grown(3, 0)), cosigns(grown(3, 0)), "the first grew from nothing");
    assert_eq!(hears(grown(7, 3)), cosigns(grown(7, 3)));
    assert_eq!(hears(grown(7, 3)), [], "told anew, it is signed once");
    assert_eq!(hears(grown(5, 3)), back(7, 5), "it went back");
    assert_eq!(hears(grown(9, 5)), [], "it grew beyond that, from where it went back to: that was said");
    assert_eq!(hears(grown(9, 7)), cosigns(grown(9, 7)));
    assert_eq!(hears(head(ORIGIN, &log(9, 4), 0)), back(9, 9), "another of the same size");
    assert_eq!(hears(grown(12, 9)), cosigns(grown(12, 9)));
    assert_eq!(hears(head(ORIGIN, &log(14, 4), 12)), back(12, 14), "the proof leads from another history");
    assert_eq!(hears(grown(14, 12)), cosigns(grown(14, 12)));
    assert_eq!(hears(grown(50, 40)), back(14, 50), "nothing was missed, so there was none of that size");
    assert_eq!(hears(grown(15, 14)), cosigns(grown(15, 14)));
    assert_eq!(hears(grown(16, 13)), back(15, 16), "it began at one that is older than what was seen");
    assert_eq!(hears(grown(16, 15)), cosigns(grown(16, 15)));
    assert_eq!(hears(Head { proof: Vec::new(), ..grown(19, 16) }), back(16, 19), "nothing is shown");
    assert_eq!(seen(&one, &other), 16);
    for node in [&one, &other] {
        assert_eq!(&State::fold(node.id, &node.facts), node.node.state(), "invariant 1");
    }
}

#[test]
fn a_head_that_is_not_what_its_note_says_is_told_by_nobody_and_taken_from_nobody() {
    let (_, mut other) = two();
    let mut refuses = |head: Head| {
        let told = Happened::Said(Command::Head(head));
        other.node.handle(told, after(0), &mut other.chance).is_err()
    };
    let (good, zero) = (grown(9, 4), Digest::ZERO);
    assert!(refuses(Head { size: 10, ..good.clone() }));
    assert!(refuses(Head { root: zero, ..good.clone() }));
    assert!(refuses(Head { origin: "hermit.local/another".to_owned(), ..good.clone() }));
    assert!(refuses(Head { note: good.note.replace('\n', ""), ..good.clone() }));
    assert!(refuses(Head { old_size: 10, ..good.clone() }));
    assert!(refuses(Head { old_size: 0, ..good.clone() }), "from nothing there is no path");
    assert!(refuses(Head { proof: vec![zero; 64], ..good.clone() }));
    assert!(!refuses(good));
}

/// Two, of which the first was away for longer than the second keeps notices: it saw a head of 3 notes, and one of 8 that it cannot
/// tell from that of another log.
fn one_that_was_away(newest: Head) -> (One, One, Vec<Delivered>) {
    let (mut away, mut maker) = two();
    let told = tells(&mut maker, grown(3, 0));
    assert_eq!(away.hears(&told).deliver.len(), 1);
    tells(&mut maker, grown(5, 3));
    tells(&mut maker, newest);
    for _ in 0..3 * NOTICES_KEPT {
        maker.at(Happened::Said(Command::Receipts(Vec::new())), after(1));
    }
    let mut delivered = Vec::new();
    for minute in 2..8 {
        let [more, asked] = talk(&mut away, &mut maker, after(minute));
        assert!(asked.iter().all(|one| !matches!(one, Delivered::Head { .. })), "{asked:?}");
        delivered.extend(more);
        delivered.extend(asked.into_iter().filter(|one| matches!(one, Delivered::Prove { .. })));
    }
    assert!(delivered.iter().any(|one| matches!(one, Delivered::NoticesMissed { .. })), "{delivered:?}");
    (away, maker, delivered)
}

/// What a machine answers that was asked for a proof.
fn proves(maker: &mut One, away: &mut One, head: Head) -> Vec<Delivered> {
    let to = away.id;
    let shown = maker.at(Happened::Said(Command::Prove { to, head }), after(8));
    assert_eq!((shown.facts.len(), shown.write.len()), (0, 1));
    away.hears(&shown).deliver
}

fn unproven(one: &One, of: &One) -> Option<u64> {
    one.node.state().head(of.id, ORIGIN).unwrap().unproven()
}

#[test]
fn who_missed_heads_signs_none_of_those_that_follow_until_the_proof_came() {
    let (mut away, mut maker, delivered) = one_that_was_away(grown(8, 5));
    let is_head = |one: &&Delivered| matches!(one, Delivered::Head { .. } | Delivered::RolledBack { .. });
    assert_eq!(delivered.iter().find(is_head), None, "nobody showed that it grew from what was seen");
    assert_eq!((seen(&away, &maker), unproven(&away, &maker)), (3, Some(8)));
    // What grows from it is no surer.
    let told = tells(&mut maker, grown(9, 8));
    assert_eq!(away.hears(&told).deliver, []);
    assert_eq!((seen(&away, &maker), unproven(&away, &maker)), (3, Some(9)));
    let prove = Prove { origin: ORIGIN.to_owned(), old_size: 3, size: 8 };
    let asked: Vec<&Delivered> =
        delivered.iter().filter(|one| matches!(one, Delivered::Prove { .. })).collect();
    assert_eq!(asked, [&Delivered::Prove { from: away.id, prove }], "asked once in ten minutes");
    // What was asked is about another head by now; a proof of the newest is taken, and no other.
    assert_eq!(proves(&mut maker, &mut away, grown(8, 3)), []);
    assert_eq!(proves(&mut maker, &mut away, grown(9, 5)), []);
    assert_eq!((seen(&away, &maker), unproven(&away, &maker)), (3, Some(9)));
    let [_, asked] = talk(&mut away, &mut maker, after(20));
    let prove = Prove { origin: ORIGIN.to_owned(), old_size: 3, size: 9 };
    assert!(asked.contains(&Delivered::Prove { from: away.id, prove }), "{asked:?}");
    let from = maker.id;
    let cosigns = |head: Head| vec![Delivered::Head { from, note: head.note }];
    assert_eq!(proves(&mut maker, &mut away, grown(9, 3)), cosigns(grown(9, 3)));
    assert_eq!((seen(&away, &maker), unproven(&away, &maker)), (9, None));
    assert_eq!(proves(&mut maker, &mut away, grown(9, 3)), [], "once");
    let told = tells(&mut maker, grown(11, 9));
    assert_eq!(away.hears(&told).deliver, cosigns(grown(11, 9)));
    let told = tells(&mut maker, grown(50, 40));
    let heard = away.hears(&told).deliver;
    assert!(
        matches!(heard.as_slice(), [Delivered::RolledBack { seen: 11, told: 50, .. }]),
        "it has all again"
    );
    assert_eq!(&State::fold(away.id, &away.facts), away.node.state(), "invariant 1");
}

#[test]
fn a_hostile_head_after_notices_that_were_missed_is_never_signed() {
    // Its proof leads from a head of another history, which nobody can see who missed that.
    let (mut away, mut maker, delivered) = one_that_was_away(head(ORIGIN, &log(8, 2), 5));
    let is_head = |one: &&Delivered| matches!(one, Delivered::Head { .. });
    assert_eq!(delivered.iter().find(is_head), None);
    let from = maker.id;
    let back = [Delivered::RolledBack { from, origin: ORIGIN.to_owned(), seen: 3, told: 8 }];
    assert_eq!(proves(&mut maker, &mut away, head(ORIGIN, &log(8, 2), 3)), back);
    assert_eq!(proves(&mut maker, &mut away, grown(8, 3)), [], "that was said");
    assert_eq!((seen(&away, &maker), unproven(&away, &maker)), (3, Some(8)));
    let told = tells(&mut maker, head(ORIGIN, &log(12, 2), 8));
    assert_eq!(away.hears(&told).deliver, []);
    assert_eq!(seen(&away, &maker), 3);
    // Nobody is asked for what it never told.
    for (old_size, size) in [(3, 13), (0, 8), (8, 8), (9, 8)] {
        let prove = Prove { origin: ORIGIN.to_owned(), old_size, size };
        let asked = Says::Prove(prove);
        assert_eq!(loose(&mut away, &mut maker, asked), []);
    }
    let prove = Prove { origin: "another log".to_owned(), old_size: 3, size: 8 };
    assert_eq!(loose(&mut away, &mut maker, Says::Prove(prove)), []);
    assert_eq!(&State::fold(away.id, &away.facts), away.node.state(), "invariant 1");
}

/// What comes of a letter that may be lost, as another program than this one would write it.
fn loose(by: &mut One, to: &mut One, says: Says) -> Vec<Delivered> {
    let zero = Digest::ZERO;
    let letter = Letter {
        format: FORMAT.to_owned(),
        from: by.id,
        to: to.id,
        number: 0,
        says,
        before: zero,
        chain: zero,
    };
    let text = String::from_utf8(seal::canon::to_canonical(&letter).unwrap()).unwrap();
    let event = Fake::make([1; 32]).wrap(to.id, &text, after(40), &mut by.chance).unwrap();
    let bytes = frame::event(&event);
    to.at(Happened::Received { way: relay(), bytes }, after(40)).deliver
}

#[test]
fn a_log_that_was_put_back_is_found_by_the_others_and_by_its_own_machine() {
    let (mut one, mut other) = two();
    let told = tells(&mut other, grown(3, 0));
    one.hears(&told);
    let before = other.facts.len();
    let told = tells(&mut other, grown(8, 3));
    one.hears(&told);
    put_back(&mut other, 2, before, after(2));
    assert_eq!(seen(&other, &other), 3, "it does not know that it told more");
    let told = other.at(Happened::Said(Command::Head(grown(4, 3))), after(2));
    let mut delivered = one.hears(&told).deliver;
    for minute in 3..8 {
        let [more, _] = talk(&mut one, &mut other, after(minute));
        delivered.extend(more);
    }
    assert!(delivered.iter().any(|one| matches!(one, Delivered::Forked { .. })), "{delivered:?}");
    assert_eq!(seen(&one, &other), 8, "no other notice makes what was seen forgotten");
    assert_eq!(seen(&other, &other), 8, "it hears from the others what it told once");
    // Whatever it tells from now on, in truth or not, the other does not sign.
    let mut heard = Vec::new();
    for head in [grown(4, 0), head(ORIGIN, &log(30, 4), 4), head(ORIGIN, &log(31, 4), 8)] {
        let told = tells(&mut other, head);
        heard.extend(one.hears(&told).deliver);
    }
    let origin = ORIGIN.to_owned();
    assert_eq!(heard, [Delivered::RolledBack { from: other.id, origin, seen: 8, told: 4 }], "said once");
    assert_eq!(seen(&one, &other), 8);
    // That it reads elsewhere makes nobody forget it.
    let relays = vec!["wss://elsewhere.example".to_owned()];
    let moved = Command::Tell { can: Capabilities::default(), load: 0, relays: relays.clone() };
    for (_, bytes) in other.at(Happened::Said(moved), after(9)).write {
        one.at(Happened::Received { way: relay(), bytes }, after(9));
    }
    assert_eq!((&one.node.state().peer(other.id).unwrap().relays, seen(&one, &other)), (&relays, 8));
    // A person who pairs both anew takes the log as it is.
    one.does(Happened::Said(Command::Pair { peer: peer(other.id), group: None }));
    let told = tells(&mut other, grown(4, 0));
    assert!(matches!(one.hears(&told).deliver.as_slice(), [Delivered::Head { .. }]));
}

#[test]
fn a_machine_has_few_logs_and_a_signature_is_short() {
    let (mut one, mut other) = two();
    let mut cosigned = 0;
    for at in 0..3 * LOGS_MAX {
        let told = tells(&mut other, head(&format!("hermit.local/log-{at}"), &log(2, u64::MAX), 0));
        cosigned += one.hears(&told).deliver.len();
    }
    assert_eq!(cosigned, LOGS_MAX);
    let cosigned = Cosigned { origin: ORIGIN.to_owned(), size: 2, line: "l".to_owned(), key: "k".to_owned() };
    let mut says = |cosigned: Cosigned| {
        let said = one.does(Happened::Said(Command::Cosign { node: other.id, cosigned }));
        other.hears(&said).deliver
    };
    assert_eq!(says(cosigned.clone()).len(), 1);
    assert_eq!(says(Cosigned { key: "k".repeat(513), ..cosigned.clone() }), []);
    assert_eq!(says(Cosigned { origin: "o".repeat(257), ..cosigned }), []);
}
