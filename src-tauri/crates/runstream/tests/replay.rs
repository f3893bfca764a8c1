//! Replay from any place, and readers beside the writer (invariant 4).

use crate::tale::{begin, delta, done, id, open, replay, run_id};
use model::TaskId;
use proptest::prelude::*;
use runstream::{Draft, Envelope, Family, Position, Reader, Resumed};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn position(kind: u8, run: TaskId, seq: u64, cursors: &[String]) -> Position {
    match kind {
        0 => Position::AfterSeq(seq),
        1 => Position::EventId(format!("{run}:{seq}")),
        _ => Position::Cursor(cursors[usize::try_from(seq).unwrap()].clone()),
    }
}

/// A cursor behind each of the first `n` events.
fn cursors(reader: &Reader, n: u64) -> Vec<String> {
    (0..=n)
        .map(|seq| match seq {
            0 => reader.page(run_id(), &Position::Start, 1).unwrap().cursor,
            seq => reader.page(run_id(), &Position::AfterSeq(seq - 1), 1).unwrap().cursor,
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[conforms::conforms("RA-1.1-4", part = "RA-1.1-5", part = "RA-2-5", "RA-4.2-14")]
    #[test]
    fn a_replay_from_any_place_with_any_page_size_is_the_rest_of_the_whole(
        words in prop::collection::vec("\\PC{0,12}", 1..40),
        ends in any::<bool>(),
        after in 0u64..40,
        kind in 0u8..3,
        rows in 1u32..12,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let writer = open(dir.path());
        begin(&writer, run_id());
        let mut drafts: Vec<_> = words.iter().map(|w| delta(w)).collect();
        if ends {
            drafts.push(done());
        }
        writer.append(run_id(), &drafts).unwrap();
        let reader = writer.reader().unwrap();
        let whole = replay(&reader, run_id(), Position::Start, 500);
        prop_assert_eq!(whole.len(), drafts.len());
        prop_assert!(whole.windows(2).all(|w| w[0].seq < w[1].seq));
        prop_assert!(whole.iter().zip(&drafts).all(|(e, d)| e.payload.get("delta") == d.payload.get("delta")));
        let after = after.min(whole.len() as u64);
        let from = position(kind, run_id(), after, &cursors(&reader, after));
        if after > 0 || kind == 0 {
            let rest = replay(&reader, run_id(), from, rows);
            let expected: Vec<Envelope> = whole.iter().filter(|e| e.seq > after).cloned().collect();
            prop_assert_eq!(rest, expected);
        }
    }

    #[test]
    fn no_text_given_as_a_position_is_more_than_a_replay_from_the_start(text in "\\PC{0,80}") {
        let dir = tempfile::tempdir().unwrap();
        let writer = open(dir.path());
        begin(&writer, run_id());
        writer.append(run_id(), &[delta("a"), delta("b")]).unwrap();
        let reader = writer.reader().unwrap();
        for from in [Position::Cursor(text.clone()), Position::EventId(text.clone())] {
            let page = reader.page(run_id(), &from, 10).unwrap();
            prop_assert_eq!((page.events.len(), page.resumed), (2, Resumed::Malformed));
            prop_assert!(page.resumed.starts_over());
        }
    }
}

#[test]
fn a_cursor_of_another_run_or_behind_the_end_starts_over_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    for n in [1, 2] {
        begin(&writer, id("task", n));
        writer.append(id("task", n), &[delta("a"), delta("b")]).unwrap();
    }
    let reader = writer.reader().unwrap();
    let of_two = reader.page(id("task", 2), &Position::Start, 10).unwrap().cursor;
    let other = tempfile::tempdir().unwrap();
    let elsewhere = runstream::Writer::open(other.path(), &crate::tale::Seeded(8)).unwrap();
    begin(&elsewhere, run_id());
    elsewhere.append(run_id(), &[delta("a")]).unwrap();
    let of_other = elsewhere.reader().unwrap().page(run_id(), &Position::Start, 10).unwrap().cursor;
    for (from, says) in [
        (Position::Cursor(of_two), Resumed::Foreign),
        (Position::Cursor(of_other), Resumed::Foreign),
        (Position::EventId(format!("{}:1", id::<TaskId>("task", 2))), Resumed::Foreign),
        (Position::AfterSeq(3), Resumed::Ahead),
        (Position::EventId(format!("{}:3", run_id())), Resumed::Ahead),
    ] {
        let page = reader.page(run_id(), &from, 10).unwrap();
        assert_eq!((page.events.len(), page.resumed), (2, says), "{from:?}");
    }
}

#[test]
fn a_large_stream_comes_in_pages_of_bounded_size() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    begin(&writer, run_id());
    let large = "x".repeat(200_000);
    let drafts: Vec<_> = (0..40).map(|_| delta(&large)).collect();
    writer.append(run_id(), &drafts).unwrap();
    let reader = writer.reader().unwrap();
    let page = reader.page(run_id(), &Position::Start, 500).unwrap();
    assert!(page.more && page.events.len() < 25, "{} events", page.events.len());
    assert_eq!(replay(&reader, run_id(), Position::Start, 500).len(), 40);
}

/// A client that asks again and again, now and then from where it stood before, and drops what it has.
fn follow(reader: &Reader, watch: &runstream::Watch, rows: u32) -> Vec<Envelope> {
    let (mut all, mut known) = (Vec::<Envelope>::new(), BTreeSet::new());
    let mut forgotten = BTreeSet::new();
    let mut position = Position::Start;
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < Duration::from_secs(120), "no end was told: {} events", all.len());
        let seen = watch.count();
        let page = reader.page(run_id(), &position, rows).unwrap();
        assert!(!page.resumed.starts_over());
        let ended = page.events.last().is_some_and(|e| e.terminal);
        let idle = page.events.is_empty();
        for event in page.events {
            if known.insert(event.event_id()) {
                all.push(event);
            }
        }
        if ended {
            return all;
        }
        if idle {
            watch.wait(seen, Duration::from_secs(5));
        }
        // Now and then it forgot its last events: replay is at least once.
        let forgot = if all.len() % 3 == 0 && forgotten.insert(all.len()) { 2 } else { 0 };
        let back = all.len().saturating_sub(forgot);
        position = match back.checked_sub(1).map(|at| all[at].event_id()) {
            None => Position::Start,
            Some(id) => Position::EventId(id),
        };
    }
}

#[conforms::conforms("RA-4.1-3")]
#[test]
fn readers_beside_a_writer_replay_then_follow_and_all_see_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    begin(&writer, run_id());
    writer.append(run_id(), &[delta("before anybody looked")]).unwrap();
    let started = AtomicBool::new(false);
    let streams: Vec<Vec<Envelope>> = std::thread::scope(|scope| {
        let readers: Vec<_> = [1u32, 3, 7, 500]
            .into_iter()
            .map(|rows| {
                let (reader, watch, started) = (writer.reader().unwrap(), writer.watch(), &started);
                scope.spawn(move || {
                    started.store(true, Ordering::SeqCst);
                    follow(&reader, &watch, rows)
                })
            })
            .collect();
        while !started.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        for n in 0..200 {
            writer.append(run_id(), &[delta(&n.to_string())]).unwrap();
        }
        writer.append(run_id(), &[done()]).unwrap();
        readers.into_iter().map(|r| r.join().unwrap()).collect()
    });
    let whole = replay(&writer.reader().unwrap(), run_id(), Position::Start, 500);
    assert_eq!(whole.len(), 202);
    for stream in streams {
        assert_eq!(stream, whole);
    }
}

/// What is reasoned, in pieces and whole, and words that are said behind it.
fn thinking() -> Vec<Draft> {
    let at = model::UnixMs(1_778_750_000_000);
    let piece = |text: &str| {
        let payload = json!({ "block_id": "b", "delta": text, "visibility": "shown" });
        Draft::new(Family::ReasoningDelta, at, payload)
    };
    let whole = json!({ "block_id": "b", "text": "first-thought second-thought", "visibility": "shown" });
    let pieces = [piece("first-thought "), piece("second-thought")];
    [&pieces[..], &[Draft::new(Family::ReasoningDone, at, whole), delta("said-words")]].concat()
}

/// What an event tells of reasoning, and how it may be shown.
fn told(payload: &serde_json::Map<String, Value>) -> [Option<&Value>; 3] {
    ["delta", "text", "visibility"].map(|key| payload.get(key))
}

#[conforms::conforms("RA-2-6", part = "HK-15.1-1")]
#[test]
fn reasoning_is_told_again_as_it_was_to_who_comes_in_the_middle_and_no_file_holds_it() {
    let dir = tempfile::tempdir().unwrap();
    let holds = |words: &str| {
        std::fs::read_dir(dir.path()).unwrap().flatten().any(|file| {
            let bytes = std::fs::read(file.path()).unwrap_or_default();
            bytes.windows(words.len()).any(|window| window == words.as_bytes())
        })
    };
    let writer = open(dir.path());
    begin(&writer, run_id());
    let drafts = [thinking(), vec![done()]].concat();
    writer.append(run_id(), &drafts).unwrap();
    // Whoever comes, behind whichever event, while the process lives: each thing as it was told.
    for seq in 0..=drafts.len() {
        let reader = writer.reader().unwrap();
        let rest = replay(&reader, run_id(), Position::AfterSeq(u64::try_from(seq).unwrap()), 2);
        assert_eq!(rest.len(), drafts.len() - seq);
        for (event, draft) in rest.iter().zip(&drafts[seq..]) {
            assert_eq!((event.family, told(&event.payload)), (draft.family, told(&draft.payload)));
        }
    }
    let first = replay(&writer.reader().unwrap(), run_id(), Position::Start, 500);
    assert!(holds("said-words") && !holds("-thought"), "while the journal is open");
    writer.close().unwrap();
    assert!(holds("said-words") && !holds("-thought"), "once it is closed");
    // The next process knows that it came, and no word of it.
    let left = replay(&Reader::open(dir.path()).unwrap(), run_id(), Position::Start, 500);
    assert_eq!(left.len(), first.len());
    for (now, before) in left.iter().zip(&first) {
        assert_eq!((now.seq, now.family), (before.seq, before.family));
        let (gone, let_go) = (json!(""), json!("let_go"));
        match now.family {
            Family::ReasoningDelta => assert_eq!(told(&now.payload), [Some(&gone), None, Some(&let_go)]),
            Family::ReasoningDone => assert_eq!(told(&now.payload), [None, Some(&gone), Some(&let_go)]),
            _ => assert_eq!(now, before),
        }
    }
}

#[test]
fn what_was_reasoned_goes_with_the_deltas_of_its_run_and_with_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    let reader = writer.reader().unwrap();
    let runs: Vec<TaskId> = (1..=3).map(|n| id("task", n)).collect();
    for run in &runs {
        begin(&writer, *run);
        writer.append(*run, &[thinking(), vec![done()]].concat()).unwrap();
    }
    let texts = |run: TaskId| -> Vec<Value> {
        let all = replay(&reader, run, Position::Start, 500);
        all.iter().filter_map(|event| event.payload.get("text")).cloned().collect()
    };
    writer.compact(runs[0]).unwrap();
    writer.forget(runs[1]).unwrap();
    begin(&writer, runs[1]);
    writer.append(runs[1], &thinking()[..1]).unwrap();
    let whole = json!("first-thought second-thought");
    assert_eq!([texts(runs[0]), texts(runs[1]), texts(runs[2])], [vec![json!("")], vec![], vec![whole]]);
    let anew = replay(&reader, runs[1], Position::Start, 500);
    assert_eq!(told(&anew[0].payload)[0], Some(&json!("first-thought ")), "what comes anew is told anew");
}

#[test]
fn a_journal_of_a_program_that_kept_what_was_reasoned_is_read_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    begin(&writer, run_id());
    writer.append(run_id(), &[delta("said-words")]).unwrap();
    let conn = rusqlite::Connection::open(dir.path().join(runstream::FILE)).unwrap();
    let kept = r#"{"block_id":"b","delta":"an old thought","visibility":"shown"}"#;
    let row = "INSERT INTO events SELECT run_id, seq + 1, 'reasoning.delta', created_at, 0, ?1 FROM events";
    assert_eq!(conn.execute(row, [kept]).unwrap(), 1);
    for reader in [writer.reader().unwrap(), Reader::open(dir.path()).unwrap()] {
        let all = replay(&reader, run_id(), Position::Start, 500);
        assert_eq!(told(&all[1].payload), [Some(&json!("an old thought")), None, Some(&json!("shown"))]);
    }
}
