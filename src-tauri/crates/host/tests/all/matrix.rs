//! The matrix of replay and restart: runs of many sessions that have ended, wait, speak or are long, each told again to clients
//! that broke off anywhere, before and after their host ended; and what was left in the middle goes on.

use crate::bench::{Bench, PATIENCE};
use crate::contract::run_of;
use crate::model::{Model, call};
use crate::served::Shown;
use conforms::conforms;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Sessions of each kind.
const SESSIONS: usize = 6;
/// Pieces of the long answer, each an event of its own: three pages and more of its journal.
const PIECES: usize = 300;
/// Places at which a client of each run breaks off.
const CUTS: usize = 6;
/// Rows of the matrix that are tried at least.
const TRIALS: usize = 100;

/// How a run stands when its host ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Ended,
    Asks,
    Speaks,
}

/// A run in a session and a folder of its own, and the model that it asks.
struct Run {
    stands: Stands,
    id: String,
    session: String,
    model: Model,
}

fn begun(bench: &Bench, stands: Stands, name: &str, answers: Vec<Vec<String>>, freely: bool) -> Run {
    std::fs::create_dir(bench.path(name)).expect("a folder");
    let model = Model::new(answers, freely);
    let asked = json!({
        "message": "work", "workspace": bench.path(name), "model": model.address, "session_id": name,
    });
    let started = bench.post("/v1/runs", &asked);
    let id = run_of(&started);
    assert_eq!(started["stream_id"], id, "the stream of a run has its name");
    let session = started["session_id"].as_str().expect("a name").to_owned();
    Run { stands, id, session, model }
}

/// Waits until nothing more is written of a run before somebody speaks.
fn is_at_rest(bench: &Bench, run: &Run, status: &str) {
    bench.reaches(&run.id, &[status]);
    let id = run.id.parse().expect("a name");
    assert_eq!(api::Host::stands(&**bench.local(), id, PATIENCE).expect("known"), api::Stands::AtRest);
}

/// Every event of a run behind a place, read a page at a time.
fn behind(bench: &Bench, run: &str, place: Option<&str>) -> Vec<Value> {
    let (mut all, mut place) = (Vec::new(), place.map(str::to_owned));
    loop {
        let cursor = place.map_or_else(String::new, |place| format!("&cursor={place}"));
        let page = bench.get(&format!("/v1/runs/{run}/events?limit=100{cursor}"));
        all.extend(page["events"].as_array().expect("events").iter().cloned());
        if page["more"] == false {
            return all;
        }
        place = Some(page["cursor"].as_str().expect("a cursor").to_owned());
    }
}

/// One long run, and of each kind as many as there are sessions.
fn all_of(bench: &Bench) -> Vec<Run> {
    let pieces = (0..PIECES).map(|n| format!("word{n} ")).collect();
    let long = begun(bench, Stands::Ended, "long", vec![pieces], false);
    let mut stream = bench.stream(&long.id, "", &[]);
    for _ in 0..PIECES {
        long.model.say(1);
        stream.find(|event| event.kind == "token.delta").expect("it speaks");
    }
    drop(stream);
    is_at_rest(bench, &long, "completed");
    let mut runs = vec![long];
    for n in 0..SESSIONS {
        let words = || vec!["once".to_owned(), " more".to_owned()];
        let ended = begun(bench, Stands::Ended, &format!("ended{n}"), vec![words()], true);
        is_at_rest(bench, &ended, "completed");
        let ask = call("ask", &json!({ "question": "which?", "choices": [] }));
        let asks = begun(bench, Stands::Asks, &format!("asks{n}"), vec![ask], true);
        is_at_rest(bench, &asks, "awaiting_clarify");
        let speaks = begun(bench, Stands::Speaks, &format!("speaks{n}"), vec![words()], false);
        speaks.model.say(1);
        let until = Instant::now() + PATIENCE;
        while !bench.events(&speaks.id).iter().any(|event| event["type"] == "token.delta") {
            assert!(Instant::now() < until, "it says nothing");
            std::thread::yield_now();
        }
        runs.extend([ended, asks, speaks]);
    }
    runs
}

/// How a run is told to stand by its own name, by its session and in its journal.
fn is_told(bench: &Bench, run: &Run, stands: Stands, all: &[Value], is_restarted: bool) {
    let status = bench.get(&format!("/v1/runs/{}", run.id));
    let expected = match stands {
        Stands::Ended => "completed",
        Stands::Asks => "awaiting_clarify",
        Stands::Speaks => "running",
    };
    // What waits for a person, and what a host has at work, is fresh; what its host left in the middle is not.
    let is_left = is_restarted && stands == Stands::Speaks;
    assert_eq!(
        (&status["status"], &status["interrupted"]),
        (&json!(expected), &json!(is_left)),
        "{}: {status}",
        run.session
    );
    let of_session = bench.get(&format!("/v1/sessions/{}/runs", run.session));
    let rows = of_session["runs"].as_array().expect("runs");
    assert_eq!(rows.iter().map(|row| &row["run_id"]).collect::<Vec<_>>(), [&json!(run.id)]);
    let has_ended = stands == Stands::Ended;
    let active = if has_ended { Value::Null } else { json!(run.id) };
    assert_eq!(of_session["active_run_id"], active, "{of_session}");
    assert!(all.iter().all(|event| event["run_id"] == json!(run.id)), "{}: another's event", run.session);
    assert!(all.iter().all(|event| event["session_id"] == all[0]["session_id"]), "{}", run.session);
    let ends = all.iter().filter(|event| event["terminal"] == true).count();
    assert_eq!(ends, usize::from(has_ended), "{}", run.session);
}

/// A client that breaks off behind an event, and comes back with its name: it gets the rest in its order, and what it is told twice
/// changes nothing of what it shows.
fn comes_back(bench: &Bench, run: &Run, all: &[Value], cut: usize) {
    let place = cut.checked_sub(1).map(|last| all[last]["event_id"].as_str().expect("a name"));
    let rest = behind(bench, &run.id, place);
    assert_eq!(rest[..], all[cut..], "{}: behind event {cut}", run.session);
    let mut shown = Shown::of(&all[..cut]);
    for event in all[cut.saturating_sub(3)..cut].iter().chain(&rest) {
        shown.take(event);
    }
    assert_eq!(shown, Shown::of(all), "{}: broken off behind event {cut}", run.session);
}

/// What was said, by the asking that it was said in.
fn said(all: &[Value]) -> Vec<String> {
    let mut askings: BTreeMap<u64, String> = BTreeMap::new();
    for event in all.iter().filter(|event| event["type"] == "token.delta") {
        let payload = &event["payload"];
        assert!(payload["segment_id"].as_str().is_some_and(|id| id.starts_with("att_")), "{event}");
        let words = askings.entry(payload["asking"].as_u64().expect("a number")).or_default();
        words.push_str(payload["delta"].as_str().expect("a text"));
    }
    askings.into_values().collect()
}

#[conforms("RA-GS-1", part = "RA-GS-2")]
#[test]
fn runs_of_many_sessions_are_told_again_a_hundred_times_and_those_left_in_the_middle_go_on() {
    let mut bench = Bench::new();
    let runs = all_of(&bench);
    let journals =
        |bench: &Bench| -> Vec<Vec<Value>> { runs.iter().map(|run| behind(bench, &run.id, None)).collect() };
    let before = journals(&bench);
    assert!(before[0].len() > PIECES, "the long one has {} events", before[0].len());
    let sessions: BTreeSet<&str> = before.iter().filter_map(|all| all[0]["session_id"].as_str()).collect();
    assert_eq!(sessions.len(), runs.len());
    for (run, all) in runs.iter().zip(&before) {
        is_told(&bench, run, run.stands, all, false);
    }
    bench.close();
    bench.open();
    let mut trials = 0;
    let after = journals(&bench);
    for ((run, before), all) in runs.iter().zip(&before).zip(&after) {
        assert!(all.starts_with(before), "{}: what was told stays as it was told", run.session);
        is_told(&bench, run, run.stands, all, true);
        for cut in 0..CUTS {
            comes_back(&bench, run, all, all.len() * cut / CUTS);
            trials += 1;
        }
    }
    assert!(trials >= TRIALS, "{trials}");
    // What was left in the middle goes on where it was, in the same run, and ends once.
    bench.post("/api/host.resume", &json!({}));
    for (run, before) in runs.iter().zip(&after).filter(|(run, _)| run.stands == Stands::Speaks) {
        run.model.say(50);
        bench.reaches(&run.id, &["completed"]);
        let all = behind(&bench, &run.id, None);
        assert!(all.starts_with(before), "{}", run.session);
        assert_eq!(said(&all), ["once", "once more"], "{}: two askings are never one text", run.session);
        is_told(&bench, run, Stands::Ended, &all, true);
    }
}
