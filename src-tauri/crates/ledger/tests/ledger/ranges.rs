//! A log long enough that several threads read it: what is wrong is found as if one had read it all.

use crate::tampering::tampered_in;
use crate::world::{World, commit, saying, signer, task};
use ledger::verify::Place;
use ledger::{Reader, Verdict};
use model::{TaskId, UnixMs};
use seal::Signer;

const EVENTS: usize = 2_000;

/// Tasks side by side, every event with a sensitive leaf, all signed.
fn long() -> World {
    let world = World::new();
    let writer = world.writer();
    let ids: Vec<TaskId> = (0..7).map(|_| task()).collect();
    for from in (0..EVENTS).step_by(500) {
        let drafts = (from..from + 500).map(|n| saying(ids[n % ids.len()], &format!("text {n}")));
        commit(&writer, drafts.collect());
    }
    writer.checkpoint(&ids, &signer(), UnixMs(1), |_, _| {}).unwrap();
    drop(writer);
    world
}

#[test]
fn a_long_log_is_valid_and_everything_is_counted_once() {
    let report = long().verify();
    assert_eq!(report.verdict, Verdict::Valid, "{}", report.reason);
    assert_eq!((report.events, report.tasks, report.unsigned_events), (EVENTS as u64, 7, 0));
    assert_eq!(report.disclosures, EVENTS as u64);
}

#[test]
fn gaps_strays_and_changes_at_the_edges_of_ranges_are_found_where_they_are() {
    for (change, at) in [
        ("DELETE FROM events WHERE log_seq = 256", 257),
        ("DELETE FROM events WHERE log_seq = 257", 258),
        ("DELETE FROM events WHERE log_seq BETWEEN 257 AND 512", 513),
        ("DELETE FROM events WHERE log_seq BETWEEN 300 AND 1500", 1501),
        ("UPDATE events SET log_seq = 1 << 60 WHERE log_seq = 2000", 1 << 60),
        ("UPDATE events SET hash = zeroblob(32) WHERE log_seq IN (700, 1300, 1999)", 700),
        ("UPDATE events SET task_seq = 1 << 40 WHERE log_seq = 1025", 1025),
    ] {
        let report = tampered_in(&long(), change);
        let Verdict::Invalid { place: Place::Event { log_seq, .. }, .. } = report.verdict else {
            panic!("{change}: {:?}", report.verdict)
        };
        assert_eq!(log_seq, at, "{change}");
    }
    let before = "INSERT INTO events SELECT -5, epoch, task_id, 1 << 41, randomblob(16), event_type, NULL, hash, bytes \
                  FROM events WHERE log_seq = 9";
    let report = tampered_in(&long(), before);
    assert!(matches!(report.verdict, Verdict::Invalid { .. }), "{:?}", report.verdict);
}

#[test]
fn disclosures_far_away_or_changed_are_found_and_erased_ones_are_no_fault() {
    let gone = "DELETE FROM disclosures WHERE disclosure_seq BETWEEN 200 AND 1800";
    let report = tampered_in(&long(), gone);
    assert_eq!((report.verdict, report.disclosures), (Verdict::Valid, 399));
    for change in [
        "UPDATE disclosures SET disclosure_seq = 1 << 61, bytes = CAST(bytes || ' ' AS BLOB) WHERE disclosure_seq = 3",
        "UPDATE disclosures SET bytes = CAST(replace(CAST(bytes AS TEXT), 'text 1700', 'text 1701') AS BLOB)",
        "UPDATE disclosures SET log_seq = log_seq + 1 WHERE disclosure_seq = 1025",
        "UPDATE disclosures SET digest = randomblob(32) WHERE disclosure_seq = 512",
    ] {
        let report = tampered_in(&long(), change);
        let found = matches!(report.verdict, Verdict::Invalid { place: Place::Disclosure(_), .. });
        assert!(found, "{change}: {:?}", report.verdict);
    }
}

#[test]
fn disclosures_in_the_order_of_the_log_are_looked_at_beside_their_events_and_any_other_once_more() {
    let looks = |change: &str| {
        let world = long();
        let report = tampered_in(&world, change);
        assert_eq!((report.verdict, report.disclosures), (Verdict::Valid, EVENTS as u64 + 1), "{change}");
        let (reader, keys, mut looks) = (world.reader(), [signer().public()], 0);
        let count = &mut |p: ledger::verify::Progress| {
            looks += u32::from(p.stage == "disclosures");
            true
        };
        ledger::verify(&reader, &keys, None, count).unwrap();
        looks
    };
    // One that no event was recorded with, as those of receipts: it stands anywhere.
    let (salt, whose) = ("00".repeat(16), "epoch, NULL");
    let bytes = format!("[\"{salt}\",\"/predicate/a\",\"x\"]");
    let digest = seal::Digest::of(bytes.as_bytes());
    let free = |number: &str| {
        format!(
            "INSERT INTO disclosures SELECT {number}, {whose}, x'{digest}', CAST('{bytes}' AS BLOB) FROM epochs LIMIT 1"
        )
    };
    assert_eq!(looks(&free("3000")), 1, "told of once, at the end");
    let moved = "UPDATE disclosures SET disclosure_seq = 5000 WHERE disclosure_seq = 3";
    assert!(looks(&format!("{moved}; {}", free("3"))) > 1, "all of them by themselves, range by range");
}

#[test]
fn it_stops_in_the_middle_when_asked() {
    let world = long();
    let reader: Reader = world.reader();
    let keys = [signer().public()];
    let stopped = ledger::verify(&reader, &keys, None, &mut |p| p.stage != "disclosures");
    assert!(matches!(stopped, Err(ledger::Error::Cancelled)), "{stopped:?}");
}
