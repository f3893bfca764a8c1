//! A broken chain is severed by a person and never reset; what was severed stays as it is, and named.

use crate::tampering::{filled, tampered_in};
use crate::world::{World, batch, commit, draft, open_broken_at, plain, saying, signer};
use ledger::severed::subject;
use ledger::verify::{Break, Place, breaks};
use ledger::{Batch, Severed, Verdict, Writer};
use model::body::{ChainReanchored, KeyPurpose, KeyRegistered, PersonDecided};
use model::{Sensitive, TaskId, UnixMs};
use seal::{Digest, SeedSigner, Signer};

/// Somebody who may decide.
fn person() -> SeedSigner {
    SeedSigner::from_seed([8; 32])
}

/// Two tasks and a stream of the store's own, in which the person's key is known; all signed.
fn store() -> (World, TaskId, [TaskId; 2]) {
    let (world, ids) = filled();
    let system = crate::world::task();
    let writer = world.writer();
    let public_key = person().public();
    let key = KeyRegistered {
        keyid: public_key.keyid(),
        purpose: KeyPurpose::Approval,
        public_key,
        kept_in: "file".to_owned(),
    };
    commit(&writer, vec![draft(system, key.into())]);
    commit(&writer, vec![saying(ids[0], "more"), plain(ids[1]), plain(ids[0])]);
    writer.checkpoint(&[ids[0], ids[1], system], &signer(), UnixMs(2), |_, _| {}).unwrap();
    drop(writer);
    (world, system, ids)
}

fn decision(log_id: &str, about: Digest, matter: &str, key: &SeedSigner) -> PersonDecided {
    let text = serde_json::json!({
        "decided_at": 1, "format": "hermit-person/1", "log_id": log_id, "matter": matter,
        "subject_sha256": about,
    });
    let decision = String::from_utf8(seal::canon::canonical_value(&text).unwrap()).unwrap();
    PersonDecided {
        decision_sha256: Digest::of(decision.as_bytes()),
        keyid: key.public().keyid(),
        signature: key.sign(decision.as_bytes()).unwrap().to_string(),
        decision,
    }
}

/// The batch that severs what is broken, as `key` decides it about `matter`.
fn severing(writer: &Writer, system: TaskId, found: &[Break], matter: &str, key: &SeedSigner) -> Batch {
    let reader = writer.reader();
    let mut found = found.to_vec();
    found.sort_by_key(|one| one.task != system);
    let mut drafts = Vec::new();
    for one in found {
        let extent = reader.severable(one.task, one.from_seq, writer.epoch()).unwrap();
        let about = subject(one.task, one.from_seq, extent.digest).unwrap();
        let reanchored = ChainReanchored {
            about_task_id: one.task,
            from_seq: one.from_seq,
            severed_sha256: extent.digest,
            reason: Sensitive::from("a disk that lies".to_owned()),
        };
        drafts.push(draft(system, reanchored.into()));
        drafts.push(draft(system, decision(reader.log_id(), about, matter, key).into()));
    }
    batch(drafts)
}

/// Severs what is broken; what was severed.
fn severed(world: &World, system: TaskId) -> Vec<Severed> {
    let found = breaks(&world.reader()).unwrap();
    assert!(!found.is_empty());
    let writer = open_broken_at(world.path()).unwrap();
    writer.commit(severing(&writer, system, &found, "reanchor", &person())).unwrap();
    drop(writer);
    world.reader().severed().unwrap()
}

/// Every kind of change that breaks the chain of a task.
const CHANGES: [&str; 13] = [
    "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), 'corr', 'cOrr') AS BLOB) WHERE log_seq = 2",
    "UPDATE events SET bytes = CAST(bytes || ' ' AS BLOB) WHERE log_seq = 2",
    "UPDATE events SET bytes = x'00' WHERE log_seq = 5",
    "UPDATE events SET hash = zeroblob(32) WHERE log_seq = 2",
    "UPDATE events SET event_type = 'task.created' WHERE log_seq = 2",
    "UPDATE events SET event_id = zeroblob(16) WHERE log_seq = 2",
    "UPDATE events SET idempotency_key = 'other' WHERE log_seq = 2",
    "UPDATE events SET task_seq = 9 WHERE log_seq = 2",
    "DELETE FROM events WHERE log_seq = 2",
    "DELETE FROM events WHERE log_seq IN (2, 5)",
    "DELETE FROM events WHERE log_seq = 10",
    "DELETE FROM events WHERE log_seq >= 8",
    "UPDATE events SET bytes = (SELECT bytes FROM events WHERE log_seq = 1) WHERE log_seq = 2",
];

#[conforms::conforms("HK-13.4-1")]
#[test]
fn whatever_broke_a_task_is_severed_and_the_log_goes_on_and_says_so_for_ever() {
    for change in CHANGES {
        let (world, system, ids) = store();
        let before = tampered_in(&world, change);
        assert!(
            matches!(before.verdict, Verdict::Invalid { .. } | Verdict::Incomplete),
            "{change}: {before:?}"
        );
        let cuts = severed(&world, system);
        let report = world.verify();
        assert_eq!(report.verdict, Verdict::Incomplete, "{change}: {}", report.reason);
        assert_eq!(report.severed, cuts);
        assert!(report.reason.contains("was severed at event"), "{}", report.reason);
        assert!(breaks(&world.reader()).unwrap().is_empty(), "{change}");

        // The log goes on, in the severed tasks too, and is signed anew.
        let writer = world.writer();
        commit(&writer, vec![plain(ids[0]), plain(ids[1]), saying(ids[0], "later")]);
        writer.checkpoint(&[ids[0], ids[1], system], &signer(), UnixMs(3), |_, _| {}).unwrap();
        commit(&writer, vec![plain(ids[0])]);
        writer.checkpoint(&[ids[0]], &signer(), UnixMs(4), |_, _| {}).unwrap();
        drop(writer);
        let report = world.verify();
        assert_eq!(
            (&report.verdict, &report.severed),
            (&Verdict::Incomplete, &cuts),
            "{change}: {}",
            report.reason
        );
        assert_eq!(report.unsigned_events, 0, "{change}");
        // Changed once more, behind the severing, it is broken once more.
        let again = tampered_in(
            &world,
            "UPDATE events SET bytes = x'00' WHERE log_seq = (SELECT max(log_seq) FROM events)",
        );
        assert!(matches!(again.verdict, Verdict::Invalid { .. }), "{change}: {again:?}");
        let twice = severed(&world, system);
        assert_eq!(twice.len(), cuts.len() + 1, "{change}");
        assert_eq!(world.verify().verdict, Verdict::Incomplete, "{change}");
    }
}

#[test]
fn severed_rows_are_read_as_they_are_and_left_out_where_events_are_read() {
    let (world, system, ids) = store();
    tampered_in(&world, "UPDATE events SET bytes = x'7b7d' WHERE log_seq = 2");
    let cuts = severed(&world, system);
    let [cut] = cuts.as_slice() else { panic!("{cuts:?}") };
    assert_eq!((cut.task, cut.from_seq, cut.to_seq, cut.rows, cut.lost()), (ids[0], 2, 6, 5, 0));
    assert_eq!(cut.reason.as_deref(), Some("a disk that lies"));
    assert_eq!(cut.checkpoints, 2, "what signed for the old bytes is severed with them");
    let reader = world.reader();
    let rows = reader.severed_rows(cut, 0, 100).unwrap();
    assert_eq!((rows.len(), rows[0].bytes.as_slice()), (5, b"{}".as_slice()));
    let events: Vec<u64> = reader.events(ids[0], 0, 100).unwrap().iter().map(|e| e.task_seq).collect();
    assert_eq!(events, [1, 3, 4, 5, 6]);
    assert_eq!(reader.events(ids[0], 1, 1).unwrap()[0].task_seq, 3, "a page of nothing is no end");
    assert!(reader.log(0, 100).unwrap().iter().all(|e| e.log_seq != 2));
}

#[test]
fn a_severing_that_no_person_decided_or_that_is_about_something_else_is_none() {
    let broken = "UPDATE events SET bytes = x'7b7d' WHERE log_seq = 2";
    let stranger = SeedSigner::from_seed([9; 32]);
    for (matter, key) in [("reanchor", &stranger), ("erase", &person()), ("accept_pin", &person())] {
        let (world, system, _) = store();
        tampered_in(&world, broken);
        let found = breaks(&world.reader()).unwrap();
        let writer = open_broken_at(world.path()).unwrap();
        writer.commit(severing(&writer, system, &found, matter, key)).unwrap();
        drop(writer);
        let verdict = world.verify().verdict;
        let Verdict::Invalid { place: Place::Event { task, .. }, why } = verdict else {
            panic!("{verdict:?}")
        };
        assert!(task == system && why.contains("decision"), "{why}");
    }
    // Without the decision, with one about another number, and over rows that were changed afterwards.
    for change in [
        "DELETE FROM events WHERE event_type = 'person.decided'",
        "UPDATE events SET bytes = x'7b7d20' WHERE log_seq = 2",
        "UPDATE events SET hash = zeroblob(32) WHERE log_seq = 2",
        "UPDATE events SET bytes = x'00' WHERE log_seq = 4",
        "DELETE FROM events WHERE log_seq = 4",
        "DELETE FROM checkpoints WHERE checkpoint_seq = 1",
    ] {
        let (world, system, _) = store();
        tampered_in(&world, broken);
        severed(&world, system);
        let report = tampered_in(&world, change);
        assert!(matches!(report.verdict, Verdict::Invalid { .. }), "{change}: {report:?}");
    }
}

#[test]
fn a_store_whose_last_rows_are_broken_is_not_opened_for_writing_until_they_are_severed() {
    let (world, system, _) = store();
    tampered_in(&world, "UPDATE events SET bytes = x'7b7d' WHERE log_seq = 9");
    assert!(matches!(world.open(), Err(ledger::Error::Corrupt { .. })));
    assert!(world.reader().log(0, 100).is_ok(), "it is read all the same");
    severed(&world, system);
    world.open().unwrap();
}
