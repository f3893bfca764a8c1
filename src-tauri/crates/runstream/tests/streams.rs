//! What is written: order, one end, promises kept, compaction, forgetting (invariants 1, 2, 3, 5).

use crate::tale::{Tale, begin, delta, done, id, open, replay, run_id, session};
use model::{TaskId, UnixMs};
use runstream::{Draft, Error, Family, Mirrored, Position, Resumed};
use serde_json::{Value, json};

#[conforms::conforms("RA-1.1-1", "RA-1.1-2", part = "RA-1.1-3")]
#[test]
fn an_event_on_the_wire_is_the_contracts_envelope() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    begin(&writer, run_id());
    let written = writer.append(run_id(), &[delta("Hel"), delta("lo"), done()]).unwrap();
    assert_eq!((written.events, written.last_seq, written.ended), (3, 3, true));
    let events = replay(&writer.reader().unwrap(), run_id(), Position::Start, 500);
    let run = run_id().to_string();
    assert_eq!(
        serde_json::to_value(&events[0]).unwrap(),
        json!({
            "event_id": format!("{run}:1"), "seq": 1, "run_id": run, "session_id": session(),
            "type": "token.delta", "created_at": 1_778_750_000.25, "terminal": false,
            "payload": { "segment_id": "s", "delta": "Hel", "content_type": "text/plain" },
        })
    );
    assert_eq!((events[2].seq, events[2].terminal, &events[2].payload["last_seq"]), (3, true, &json!(3)));
    for event in events {
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<runstream::Envelope>(&text).unwrap(), event);
        let forged = text.replacen(&event.event_id(), &format!("{run}:9"), 1);
        assert!(serde_json::from_str::<runstream::Envelope>(&forged).is_err());
    }
}

#[conforms::conforms(part = "RA-1.1-6")]
#[test]
fn a_run_ends_once_and_what_comes_later_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    begin(&writer, run_id());
    assert_eq!(writer.append(run_id(), &[delta("a"), done(), delta("b"), done()]).unwrap().events, 2);
    assert_eq!(writer.append(run_id(), &[delta("late"), done()]).unwrap().events, 0);
    let reader = writer.reader().unwrap();
    let events = replay(&reader, run_id(), Position::Start, 500);
    assert_eq!(events.iter().filter(|e| e.terminal).count(), 1);
    let run = reader.run(run_id()).unwrap().unwrap();
    assert_eq!(run.ended.as_ref(), events.last());
    assert_eq!(run.last_event_id, Some(format!("{}:2", run_id())));
}

#[test]
fn a_ledger_event_is_mirrored_once_however_often_it_is_offered() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    let told = Tale::whole().told;
    for upto in 0..=told.len() {
        writer.mirror(run_id(), session(), &told[..upto]).unwrap();
    }
    let events = replay(&writer.reader().unwrap(), run_id(), Position::Start, 500);
    assert_eq!(events.iter().map(|e| e.family).collect::<Vec<_>>(), Tale::whole().families());
    assert_eq!(writer.mirrored(run_id()).unwrap(), told.len() as u64);
}

#[test]
fn an_event_left_out_is_asked_for_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    let told = Tale::whole().told;
    writer.mirror(run_id(), session(), &told[..2]).unwrap();
    let gap = writer.mirror(run_id(), session(), &[told[2].clone(), told[4].clone()]).unwrap_err();
    assert_eq!(gap, Error::Gap { run_id: run_id(), mirrored: 3, offered: 5 });
    assert_eq!(writer.mirrored(run_id()).unwrap(), 2);
    let first = writer.mirror(id("task", 2), session(), &told[3..]).unwrap_err();
    assert_eq!(first, Error::Gap { run_id: id("task", 2), mirrored: 0, offered: 4 });
    assert_eq!(writer.reader().unwrap().run(id("task", 2)).unwrap(), None);
}

#[test]
fn a_payload_that_breaks_its_familys_promise_or_is_too_large_is_refused_whole() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    begin(&writer, run_id());
    for family in Family::ALL {
        for missing in family.promises() {
            let keys = family.promises().iter().filter(|k| *k != missing);
            let payload = Value::Object(keys.map(|k| ((*k).to_owned(), Value::Null)).collect());
            let refused = writer.append(run_id(), &[delta("a"), Draft::new(*family, UnixMs(0), payload)]);
            assert_eq!(refused, Err(Error::Payload { family: *family, field: missing }));
        }
    }
    let large = delta(&"x".repeat(300_000));
    let payload = json!({ "block_id": "b", "delta": "x".repeat(300_000), "visibility": "shown" });
    let thought = Draft::new(Family::ReasoningDelta, UnixMs(0), payload);
    for large in [large, thought] {
        assert!(matches!(writer.append(run_id(), &[delta("a"), large]), Err(Error::TooLarge { .. })));
    }
    assert_eq!(writer.append(id("task", 5), &[delta("a")]), Err(Error::NoRun { run_id: id("task", 5) }));
    assert_eq!(replay(&writer.reader().unwrap(), run_id(), Position::Start, 500), []);
}

#[test]
fn compaction_takes_the_deltas_and_leaves_everything_else_with_its_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    let reader = writer.reader().unwrap();
    let told = Tale::whole().told;
    writer.mirror(run_id(), session(), &told[..4]).unwrap();
    writer.append(run_id(), &[delta("a"), delta("b"), delta("c")]).unwrap();
    assert_eq!(writer.compact(run_id()), Err(Error::StillGoing { run_id: run_id() }));
    assert_eq!(reader.to_compact(10).unwrap(), []);
    writer.mirror(run_id(), session(), &told).unwrap();
    let before = replay(&reader, run_id(), Position::Start, 500);
    assert_eq!(reader.to_compact(10).unwrap(), [run_id()]);
    assert_eq!(writer.compact(run_id()).unwrap(), 3);
    assert_eq!(writer.compact(run_id()).unwrap(), 0);
    assert_eq!(reader.to_compact(10).unwrap(), []);
    let after = replay(&reader, run_id(), Position::Start, 500);
    let kept: Vec<_> = before.iter().filter(|e| !e.family.is_delta()).cloned().collect();
    assert_eq!(after, kept);
    let run = reader.run(run_id()).unwrap().unwrap();
    assert_eq!((run.ended.as_ref(), run.compacted), (before.last(), true));
    // A cursor that stood on a delta goes on behind it.
    let page = reader.page(run_id(), &Position::AfterSeq(6), 500).unwrap();
    assert_eq!((page.resumed, page.compacted), (Resumed::Continued, true));
    assert!(page.events.iter().all(|e| e.seq > 6));
}

#[test]
fn a_forgotten_run_is_written_again_under_numbers_never_given_before() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    let reader = writer.reader().unwrap();
    let told = Tale::whole().told;
    writer.mirror(run_id(), session(), &told).unwrap();
    let old = reader.page(run_id(), &Position::Start, 5).unwrap();
    let last = reader.run(run_id()).unwrap().unwrap().ended.unwrap().seq;
    writer.forget(run_id()).unwrap();
    assert_eq!(writer.mirrored(run_id()).unwrap(), 0);
    writer.mirror(run_id(), session(), &told).unwrap();
    let again = reader.page(run_id(), &Position::Cursor(old.cursor), 500).unwrap();
    assert_eq!(again.resumed, Resumed::Foreign);
    assert!(again.events.iter().all(|e| e.seq > last), "no number twice");
    let by_id = reader.page(run_id(), &Position::EventId(old.last_event_id.unwrap()), 500).unwrap();
    assert_eq!((by_id.resumed, by_id.events), (Resumed::Foreign, again.events));
    writer.forget(id("task", 77)).unwrap();
}

#[test]
fn the_database_itself_refuses_what_this_room_must_never_do() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    let told = Tale::whole().told;
    writer.mirror(run_id(), session(), &told[..4]).unwrap();
    writer.append(run_id(), &[delta("a")]).unwrap();
    let conn = rusqlite::Connection::open(dir.path().join(runstream::FILE)).unwrap();
    let row = "INSERT INTO events SELECT run_id, seq + ?1, family, created_at, terminal, payload FROM events \
               WHERE seq = (SELECT max(seq) FROM events)";
    for refused in [
        conn.execute("UPDATE events SET payload = '{}'", []),
        conn.execute("DELETE FROM events WHERE family = 'token.delta'", []),
        conn.execute("DELETE FROM events WHERE family = 'run.started'", []),
        conn.execute(row, [2]),
    ] {
        assert!(refused.is_err());
    }
    writer.mirror(run_id(), session(), &told).unwrap();
    assert!(conn.execute(row, [1]).is_err(), "nothing follows the end");
    assert!(conn.execute("DELETE FROM events WHERE terminal", []).is_err());
}

#[conforms::conforms("RA-2-11", "RA-4.1-4")]
#[test]
fn a_session_finds_its_runs_again_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    let runs: Vec<TaskId> = (1..=3).map(|n| id("task", n)).collect();
    for run in &runs {
        begin(&writer, *run);
        writer.append(*run, &[delta("a")]).unwrap();
    }
    writer.append(runs[1], &[done()]).unwrap();
    writer.mirror(id("task", 9), id("cnv", 2), &[Mirrored { task_seq: 1, drafts: vec![] }]).unwrap();
    writer.close().unwrap();
    let reader = runstream::Reader::open(dir.path()).unwrap();
    let found = reader.runs_of(session()).unwrap();
    assert_eq!(found.iter().map(|r| r.run_id).collect::<Vec<_>>(), runs);
    assert_eq!(found.iter().map(|r| r.ended.is_some()).collect::<Vec<_>>(), [false, true, false]);
    let page = reader.page(runs[0], &Position::Cursor(found[0].cursor.clone()), 10).unwrap();
    assert_eq!((page.events.len(), page.resumed), (0, Resumed::Continued));
    assert_eq!(reader.runs_of(id("cnv", 3)).unwrap(), []);
}
