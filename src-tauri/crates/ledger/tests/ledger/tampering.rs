//! Every kind of change under the writer's feet is found, at its place.

use crate::world::{World, batch, commit, entries, grant, plain, saying, signer, task};
use ledger::verify::Place;
use ledger::{Batch, CheckpointKind, Error, Verdict};
use model::{TaskId, UnixMs};
use seal::{Digest, SeedSigner, Signer};

/// Two tasks, a gate of 300 entries, content, a grant, all signed.
pub fn filled() -> (World, [TaskId; 2]) {
    let world = World::new();
    let writer = world.writer();
    let ids = [task(), task()];
    let first = Batch {
        entries: entries(Digest::ZERO, "req", 300),
        blobs: vec![(Digest::of(b"content"), b"content".to_vec())],
        consume: vec![(grant(), 2)],
        ..batch(vec![plain(ids[0]), saying(ids[0], "text"), plain(ids[1])])
    };
    writer.commit(first).unwrap();
    let mut keyed = plain(ids[0]);
    keyed.idempotency_key = Some("key".to_owned());
    commit(&writer, vec![keyed, plain(ids[1]), plain(ids[0])]);
    writer.checkpoint(&ids, &signer(), UnixMs(1), |_, _| {}).unwrap();
    drop(writer);
    (world, ids)
}

/// Changes rows the way somebody would who owns the machine: triggers off, change, triggers on again.
fn tampered(change: &str) -> (World, ledger::Report) {
    let (world, _) = filled();
    let report = tampered_in(&world, change);
    (world, report)
}

pub fn tampered_in(world: &World, change: &str) -> ledger::Report {
    let raw = world.raw();
    let triggers: Vec<(String, String)> = {
        let mut found = raw.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        found.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap()
    };
    raw.execute_batch("PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on").unwrap();
    for (name, _) in &triggers {
        raw.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    raw.execute_batch(change).unwrap_or_else(|e| panic!("{change}: {e}"));
    for (_, sql) in &triggers {
        raw.execute_batch(sql).unwrap();
    }
    drop(raw);
    world.verify()
}

#[test]
fn an_untouched_store_is_valid() {
    let (_, report) = tampered("SELECT 1");
    assert_eq!(report.verdict, Verdict::Valid, "{}", report.reason);
    assert_eq!((report.events, report.tasks, report.entries, report.unsigned_events), (6, 2, 300, 0));
    assert_eq!(
        (report.checkpoints, report.trusted_checkpoints, report.disclosures, report.blobs),
        (4, 4, 1, 1)
    );
}

#[conforms::conforms("HK-13.4-1")]
#[test]
fn every_changed_column_and_byte_of_an_event_is_found_where_it_is() {
    for change in [
        "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), 'corr', 'cOrr') AS BLOB) WHERE log_seq = 2",
        "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"canon\":', '\"canon\": ') AS BLOB) WHERE log_seq = 2",
        "UPDATE events SET bytes = CAST(bytes || ' ' AS BLOB) WHERE log_seq = 2",
        "UPDATE events SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) AS BLOB) WHERE log_seq = 2",
        "UPDATE events SET hash = zeroblob(32) WHERE log_seq = 2",
        "UPDATE events SET event_type = 'task.created' WHERE log_seq = 2",
        "UPDATE events SET event_id = zeroblob(16) WHERE log_seq = 2",
        "UPDATE events SET idempotency_key = 'other' WHERE log_seq = 2",
        "UPDATE events SET task_seq = 9 WHERE log_seq = 2",
        "UPDATE events SET task_id = zeroblob(16) WHERE log_seq = 2",
        "UPDATE events SET epoch = 7 WHERE log_seq = 2",
        "UPDATE events SET epoch = 0 WHERE log_seq = 2",
    ] {
        let (_, report) = tampered(change);
        let Verdict::Invalid { place: Place::Event { log_seq, .. }, .. } = report.verdict else {
            panic!("{change}: {:?}", report.verdict)
        };
        assert_eq!(log_seq, 2, "{change}");
    }
    let (_, report) = tampered("UPDATE events SET idempotency_key = NULL WHERE log_seq = 4");
    assert!(matches!(report.verdict, Verdict::Invalid { place: Place::Event { log_seq: 4, .. }, .. }));
}

#[test]
fn deleted_swapped_doubled_and_inserted_events_are_found() {
    let swap = "UPDATE events SET log_seq = -1 WHERE log_seq = 1; UPDATE events SET log_seq = 1 WHERE log_seq = 4; \
                UPDATE events SET log_seq = 4 WHERE log_seq = -1";
    let double = "INSERT INTO events SELECT 7, epoch, task_id, 5, randomblob(16), event_type, NULL, hash, bytes \
                  FROM events WHERE log_seq = 6";
    for (change, at) in [
        ("DELETE FROM events WHERE log_seq = 2", 3),
        ("DELETE FROM events WHERE log_seq = 1", 2),
        (swap, 1),
        (double, 7),
    ] {
        let (_, report) = tampered(change);
        let Verdict::Invalid { place: Place::Event { log_seq, .. }, .. } = report.verdict else {
            panic!("{change}: {:?}", report.verdict)
        };
        assert_eq!(log_seq, at, "{change}");
    }
}

#[test]
fn what_was_cut_off_at_the_end_is_missing_and_an_empty_log_is_never_valid() {
    for change in [
        "DELETE FROM events WHERE log_seq = 6",
        "DELETE FROM events WHERE log_seq >= 3",
        "DELETE FROM events",
        "DELETE FROM entries WHERE entry_seq = 300",
        "DELETE FROM checkpoints WHERE checkpoint_seq = 3; UPDATE checkpoints SET checkpoint_seq = 3 WHERE checkpoint_seq = 4",
        "DELETE FROM events; DELETE FROM entries; DELETE FROM checkpoints; DELETE FROM gate_nodes",
    ] {
        let (_, report) = tampered(change);
        assert_eq!(report.verdict, Verdict::Incomplete, "{change}: {}", report.reason);
        assert!(!report.reason.is_empty());
    }
    let world = World::new();
    drop(world.writer());
    assert_eq!(world.verify().verdict, Verdict::Incomplete);
}

#[test]
fn of_several_tasks_that_lack_events_the_same_one_is_told_every_time() {
    let (world, ids) = filled();
    let report = tampered_in(&world, "DELETE FROM events WHERE log_seq >= 4");
    let first = ids.iter().min().unwrap().to_string();
    assert!(report.reason.contains(&first), "{}", report.reason);
    for _ in 0..8 {
        assert_eq!(world.verify(), report);
    }
}

#[test]
fn a_history_rewritten_consistently_is_still_found_by_the_signed_tree() {
    let (world, ids) = filled();
    let other = World::new();
    {
        let writer = other.writer();
        commit(&writer, vec![plain(ids[0]), plain(ids[0]), plain(ids[1])]);
        commit(&writer, vec![plain(ids[0]), plain(ids[1]), plain(ids[0])]);
    }
    drop(other.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"));
    let change = format!(
        "ATTACH '{}' AS other; DELETE FROM events; INSERT INTO events SELECT * FROM other.events; DETACH other",
        other.db().display()
    );
    drop(world);
    let (_, report) = {
        // The same tasks' events under the same numbers, chained without a flaw.
        let (world, _) = (World::new(), ());
        let writer = world.writer();
        commit(&writer, vec![plain(ids[0]), plain(ids[0]), plain(ids[1])]);
        commit(&writer, vec![plain(ids[0]), plain(ids[1]), plain(ids[0])]);
        writer.checkpoint(&ids, &signer(), UnixMs(1), |_, _| {}).unwrap();
        drop(writer);
        let raw = world.raw();
        for table in ["events", "disclosures"] {
            for name in ["append", "keep", "stay"] {
                raw.execute_batch(&format!("DROP TRIGGER IF EXISTS {table}_{name}")).unwrap();
            }
        }
        raw.execute_batch(&change).unwrap();
        let schema = other.raw();
        let mut found = schema.prepare("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('events', 'disclosures')").unwrap();
        for sql in found.query_map([], |row| row.get::<_, String>(0)).unwrap() {
            raw.execute_batch(&sql.unwrap()).unwrap();
        }
        drop(raw);
        let report = world.verify();
        (world, report)
    };
    let Verdict::Invalid { place, .. } = &report.verdict else { panic!("{:?}", report.verdict) };
    assert!(matches!(place, Place::Checkpoint { kind: CheckpointKind::Task, .. }), "{place}");
}

#[conforms::conforms("KS-3.5-1")]
#[test]
fn a_changed_gate_is_found_where_it_was_changed() {
    for change in [
        "UPDATE entries SET bytes = CAST(replace(CAST(bytes AS TEXT), 'DENY', 'HALT') AS BLOB) WHERE entry_seq = 100",
        "UPDATE entries SET hash = zeroblob(32) WHERE entry_seq = 100",
        "UPDATE entries SET request_id = 'other' WHERE entry_seq = 100",
        "UPDATE entries SET entry_seq = -1 WHERE entry_seq = 100; UPDATE entries SET entry_seq = 100 WHERE entry_seq = 101; \
         UPDATE entries SET entry_seq = 101 WHERE entry_seq = -1",
    ] {
        let (_, report) = tampered(change);
        let Verdict::Invalid { place: Place::Entry(at), .. } = report.verdict else {
            panic!("{change}: {report:?}")
        };
        assert_eq!(at, 100, "{change}");
    }
    let (_, report) = tampered("UPDATE gate_nodes SET hash = zeroblob(32)");
    assert!(
        matches!(report.verdict, Verdict::Invalid { place: Place::GateNode { level: 8, index: 0 }, .. }),
        "{report:?}"
    );
    let (_, report) = tampered("INSERT INTO gate_nodes VALUES (8, 1, 1, zeroblob(32))");
    assert!(matches!(report.verdict, Verdict::Invalid { place: Place::Object(_), .. }), "{report:?}");
}

#[test]
fn changed_checkpoints_disclosures_content_and_uses_are_found() {
    let invalid = |change: &str| match tampered(change).1.verdict {
        Verdict::Invalid { place, .. } => place,
        other => panic!("{change}: {other:?}"),
    };
    for change in [
        "UPDATE checkpoints SET note = CAST(replace(CAST(note AS TEXT), char(10) || '4' || char(10), char(10) || '3' || char(10)) AS BLOB) WHERE checkpoint_seq = 1",
        "UPDATE checkpoints SET frontier = (SELECT frontier FROM checkpoints WHERE checkpoint_seq = 2) WHERE checkpoint_seq = 1",
        "UPDATE checkpoints SET leaf_index = 9 WHERE checkpoint_seq = 1",
        "UPDATE checkpoints SET size = 2 WHERE checkpoint_seq = 1",
        "UPDATE checkpoints SET root = zeroblob(32) WHERE checkpoint_seq = 1",
        "UPDATE checkpoints SET task_id = (SELECT task_id FROM checkpoints WHERE checkpoint_seq = 2) WHERE checkpoint_seq = 1",
    ] {
        let place = invalid(change);
        assert!(
            matches!(place, Place::Checkpoint { number: 1, .. } | Place::Checkpoint { number: 2, .. }),
            "{change}: {place}"
        );
    }
    let place = invalid("UPDATE checkpoints SET root = zeroblob(32) WHERE kind = 'global'");
    assert_eq!(place, Place::Checkpoint { number: 4, kind: CheckpointKind::Global });
    assert!(matches!(invalid("UPDATE disclosures SET bytes = x'5b5d'"), Place::Disclosure(_)));
    let flipped = "UPDATE disclosures SET bytes = CAST(replace(CAST(bytes AS TEXT), 'text', 'texT') AS BLOB)";
    assert!(matches!(invalid(flipped), Place::Disclosure(_)));
    assert!(
        matches!(invalid("UPDATE disclosures SET log_seq = 1"), Place::Disclosure(_)),
        "it is of another event"
    );
    assert_eq!(invalid("UPDATE blobs SET bytes = x'00'"), Place::Blob(Digest::of(b"content")));
    assert!(matches!(invalid("UPDATE grant_uses SET use_no = 2"), Place::GrantUse(_)));
    assert!(matches!(invalid("INSERT INTO epochs VALUES (5, 'x', 1, 'x')"), Place::Epoch(5)));
}

#[test]
fn a_trigger_that_was_taken_away_is_missed() {
    let (world, _) = filled();
    world.raw().execute_batch("DROP TRIGGER events_keep").unwrap();
    let Verdict::Invalid { place, .. } = world.verify().verdict else { panic!("not missed") };
    assert_eq!(place, Place::Object("events_keep".to_owned()));
}

#[test]
fn without_a_trusted_signature_the_best_is_unverifiable() {
    let (world, _) = filled();
    let verdict = |keys: &[_]| ledger::verify(&world.reader(), keys, None, &mut |_| true).unwrap();
    assert_eq!(verdict(&[]).verdict, Verdict::Unverifiable);
    assert_eq!(verdict(&[SeedSigner::from_seed([1; 32]).public()]).verdict, Verdict::Unverifiable);
    assert_eq!(
        verdict(&[SeedSigner::from_seed([1; 32]).public(), signer().public()]).verdict,
        Verdict::Valid
    );
    let unsigned = World::new();
    commit(&unsigned.writer(), vec![plain(task())]);
    assert_eq!(unsigned.verify().verdict, Verdict::Unverifiable);
}

#[test]
fn verification_tells_how_far_it_is_and_stops_when_asked() {
    let (world, _) = filled();
    let mut stages = Vec::new();
    ledger::verify(&world.reader(), &[], None, &mut |progress| {
        stages.push(progress.stage);
        true
    })
    .unwrap();
    assert_eq!(stages, ["checkpoints", "events", "entries", "disclosures", "artifacts"]);
    let stopped = ledger::verify(&world.reader(), &[], None, &mut |_| false);
    assert_eq!(stopped, Err(Error::Cancelled));
}
