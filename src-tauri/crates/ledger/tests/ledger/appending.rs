//! One batch at a time: order, chain, refusals.

use crate::world::{World, assert_sound, batch, commit, entries, grant, keyed, plain, saying, task};
use ledger::{Batch, Error, Placed, Projector};
use model::fault::Point;
use seal::Digest;

#[conforms::conforms("HK-13.2-1", "HK-13.4-1", "HK-13.1-3", "HK-25.3-1")]
#[test]
fn a_task_counts_from_one_without_gaps_and_each_event_points_to_the_one_before() {
    let world = World::new();
    let writer = world.writer();
    let (a, b) = (task(), task());
    commit(&writer, vec![plain(a), plain(b), saying(a, "stop")]);
    commit(&writer, vec![plain(b), plain(a)]);
    let reader = writer.reader();
    for id in [a, b] {
        let events = reader.events(id, 0, 100).unwrap();
        let mut head = Digest::ZERO;
        for (index, stored) in events.iter().enumerate() {
            let event = stored.event().unwrap();
            assert_eq!(event.task_seq, index as u64 + 1);
            assert_eq!(event.prev_event_hash, head);
            assert_eq!(Digest::of(&stored.bytes), stored.hash);
            head = stored.hash;
        }
        assert_eq!(reader.task_head(id).unwrap(), Some((events.len() as u64, head)));
    }
    assert_eq!(reader.log(0, 100).unwrap().iter().map(|s| s.log_seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(reader.log(3, 1).unwrap()[0].log_seq, 4);
    assert_sound(&world.verify());
}

#[conforms::conforms("HK-8.4-3", "HK-13.1-2")]
#[test]
fn the_bytes_that_were_hashed_are_the_bytes_that_come_back_with_every_required_field() {
    let world = World::new();
    let writer = world.writer();
    let id = task();
    let placed = commit(&writer, vec![saying(id, "why")]).placed.remove(0);
    let stored = world.reader().event(placed.event.event_id).unwrap().unwrap();
    assert_eq!((stored.bytes.clone(), stored.hash), (placed.bytes, placed.hash));
    let value: serde_json::Value = serde_json::from_slice(&stored.bytes).unwrap();
    for field in [
        "event_id",
        "schema_version",
        "event_type",
        "entity_type",
        "entity_id",
        "task_id",
        "task_seq",
        "occurred_at",
        "actor_type",
        "actor_id",
        "payload",
        "causation_id",
        "correlation_id",
        "prev_event_hash",
    ] {
        assert!(value.get(field).is_some(), "{field} is missing");
    }
    assert!(
        !String::from_utf8(stored.bytes).unwrap().contains("why"),
        "a sensitive leaf stands in the event"
    );
    let disclosure = world.reader().disclosure(&placed.disclosures[0].digest).unwrap().unwrap();
    assert!(String::from_utf8(disclosure).unwrap().contains("why"));
}

#[conforms::conforms("HK-20.1-1", "HK-10.2-5")]
#[test]
fn a_task_that_moved_on_refuses_whoever_looked_before() {
    let world = World::new();
    let writer = world.writer();
    let id = task();
    let looking = |seen: u64| Batch { expect: vec![(id, seen)], ..batch(vec![plain(id)]) };
    writer.commit(looking(0)).unwrap();
    assert_eq!(writer.commit(looking(0)), Err(Error::Moved { task: id, expected: 0, found: 1 }));
    writer.commit(looking(1)).unwrap();
    assert_eq!(world.reader().task_head(id).unwrap().unwrap().0, 2);
}

#[test]
fn what_was_decided_over_the_whole_log_is_refused_when_the_log_has_grown() {
    let world = World::new();
    let writer = world.writer();
    let deciding = |seen: u64| Batch { expect_log: Some(seen), ..batch(vec![plain(task())]) };
    let first = writer.commit(deciding(0)).unwrap().placed[0].log_seq;
    assert_eq!(writer.commit(deciding(0)), Err(Error::Grown { expected: 0, found: first }));
    commit(&writer, vec![plain(task())]);
    assert_eq!(writer.commit(deciding(first)), Err(Error::Grown { expected: first, found: first + 1 }));
    writer.commit(deciding(first + 1)).unwrap();
}

#[conforms::conforms("HK-13.3-2")]
#[test]
fn a_key_used_before_gives_back_the_first_event() {
    let world = World::new();
    let writer = world.writer();
    let id = task();
    let first = commit(&writer, vec![keyed(id, "dispatch:1")]).placed.remove(0).event.event_id;
    let again = writer.commit(batch(vec![plain(id), keyed(id, "dispatch:1")]));
    assert_eq!(again, Err(Error::Duplicate { event_id: first }));
    assert_eq!(world.reader().task_head(id).unwrap().unwrap().0, 1, "the rest of the batch was taken back");
    assert_eq!(world.reader().by_idempotency_key("dispatch:1").unwrap().unwrap().event_id, first);
    let twice = writer.commit(batch(vec![keyed(id, "x"), keyed(id, "x")]));
    assert!(matches!(twice, Err(Error::Duplicate { .. })), "within one batch too: {twice:?}");
    let same = plain(id);
    let event_id = same.event_id;
    commit(&writer, vec![same.clone()]);
    assert_eq!(writer.commit(batch(vec![same])), Err(Error::Duplicate { event_id }));
}

#[test]
fn a_grant_is_used_as_often_as_it_allows_and_never_again() {
    let world = World::new();
    let writer = world.writer();
    let (id, one) = (task(), grant());
    let using = |max| Batch { consume: vec![(one, max)], ..batch(vec![plain(id)]) };
    writer.commit(using(2)).unwrap();
    writer.commit(using(2)).unwrap();
    assert_eq!(writer.commit(using(2)), Err(Error::GrantSpent { grant: one }));
    assert!(matches!(writer.commit(using(3)), Err(Error::Invalid { .. })), "a grant does not grow");
    assert_eq!(world.reader().grant_uses(one).unwrap(), 2);
    assert_eq!(world.reader().task_head(id).unwrap().unwrap().0, 2);
    let doubled = Batch { consume: vec![(grant(), 1); 2], ..Batch::new(Point::EffectDispatch) };
    assert!(matches!(writer.commit(doubled), Err(Error::GrantSpent { .. })));
}

#[conforms::conforms("KS-3.5-1")]
#[test]
fn the_gates_entries_form_one_chain_from_zeros() {
    let world = World::new();
    let writer = world.writer();
    let gate = |entries| Batch { entries, ..Batch::new(Point::GateBoot) };
    let first = entries(Digest::ZERO, "req_1", 3);
    writer.commit(gate(first.clone())).unwrap();
    let head = first[2].entry_hash;
    assert_eq!(world.reader().gate_head().unwrap(), head);
    let stale = writer.commit(gate(entries(Digest::ZERO, "req_2", 1)));
    assert_eq!(stale, Err(Error::GateMoved { expected: Digest::ZERO, found: head }));
    let mut forged = entries(head, "req_2", 1);
    forged[0].actor = "prn_other".to_owned();
    assert!(matches!(writer.commit(gate(forged)), Err(Error::Invalid { .. })));
    writer.commit(gate(entries(head, "req_2", 2))).unwrap();
    let all = world.reader().gate_entries(1, 100).unwrap();
    assert_eq!(all.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(all[0].1, first[0].to_bytes().unwrap());
    assert_eq!(world.reader().gate_entries_of("req_2").unwrap().len(), 2);
}

#[test]
fn content_is_kept_once_under_its_digest_and_a_wrong_digest_is_refused() {
    let world = World::new();
    let writer = world.writer();
    let bytes = b"some content".to_vec();
    let digest = Digest::of(&bytes);
    let with = |digest, bytes: &[u8]| Batch {
        blobs: vec![(digest, bytes.to_vec())],
        ..Batch::new(Point::ArtifactIngest)
    };
    writer.commit(with(digest, &bytes)).unwrap();
    writer.commit(with(digest, &bytes)).unwrap();
    assert_eq!(world.reader().blob(&digest).unwrap(), Some(bytes));
    assert_eq!(world.reader().stats().unwrap().blobs, 1);
    assert!(matches!(writer.commit(with(digest, b"other")), Err(Error::Invalid { .. })));
    let large = vec![0; model::limits::INLINE_ARTIFACT_BYTES_MAX + 1];
    assert!(matches!(writer.commit(with(Digest::of(&large), &large)), Err(Error::Invalid { .. })));
    assert_eq!(world.reader().blob(&Digest::of(b"nothing")).unwrap(), None);
}

#[test]
fn an_event_beyond_the_limit_is_refused_with_advice() {
    let world = World::new();
    let writer = world.writer();
    let mut draft = plain(task());
    draft.correlation_id = "x".repeat(model::limits::EVENT_BYTES_MAX);
    let Err(Error::Invalid { why }) = writer.commit(batch(vec![draft])) else { panic!("it was taken") };
    assert!(why.contains("artifact"), "{why}");
}

/// Counts events in a table of its own, and refuses what says `bad`.
struct Counting;

impl Projector for Counting {
    fn prepare(&mut self, conn: &rusqlite::Connection) -> Result<(), String> {
        let text = "CREATE TABLE IF NOT EXISTS view_count (n INTEGER)";
        conn.execute_batch(text).map_err(|e| e.to_string())
    }

    fn apply(&mut self, tx: &rusqlite::Connection, placed: &[Placed]) -> Result<(), String> {
        for one in placed {
            tx.execute("INSERT INTO view_count VALUES (?1)", [i64::try_from(one.log_seq).unwrap()])
                .map_err(|e| e.to_string())?;
            if one.event.correlation_id == "bad" {
                return Err("bad".to_owned());
            }
        }
        Ok(())
    }
}

#[conforms::conforms("HK-6.1-1")]
#[test]
fn events_and_their_views_are_one_transaction() {
    let world = World::new();
    let writer = world.with_projector(Box::new(Counting));
    let id = task();
    commit(&writer, vec![plain(id), plain(id)]);
    let mut bad = plain(id);
    bad.correlation_id = "bad".to_owned();
    let refused = writer.commit(batch(vec![plain(id), bad]));
    assert_eq!(refused, Err(Error::Projection { why: "bad".to_owned() }));
    commit(&writer, vec![plain(id)]);
    let rows: Vec<i64> = {
        let raw = world.raw();
        let mut found = raw.prepare("SELECT n FROM view_count ORDER BY n").unwrap();
        found.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(rows, [1, 2, 3]);
    assert_eq!(world.reader().task_head(id).unwrap().unwrap().0, 3);
}

#[test]
fn tasks_are_listed_once_each_and_counted() {
    let world = World::new();
    let writer = world.writer();
    let mut ids: Vec<_> = (0..5).map(|_| task()).collect();
    for id in &ids {
        commit(&writer, vec![plain(*id), plain(*id)]);
    }
    ids.sort();
    assert_eq!(world.reader().task_ids().unwrap(), ids);
    let stats = world.reader().stats().unwrap();
    assert_eq!((stats.events, stats.tasks, stats.epoch, stats.schema), (10, 5, 1, ledger::SCHEMA));
    assert!(stats.file_bytes > 0 && stats.wal_bytes > 0);
}

#[test]
fn an_empty_batch_is_a_boundary_that_writes_nothing() {
    let world = World::new();
    let writer = world.writer();
    assert_eq!(writer.commit(Batch::new(Point::PinMove)).unwrap().placed, []);
    assert_eq!(world.reader().stats().unwrap().events, 0);
}
