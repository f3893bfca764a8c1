//! Streams that break off, race, and dawdle.

use crate::bench::{Bench, PATIENCE, Stream};
use crate::model::{Model, THINKS};
use conforms::conforms;
use serde_json::{Value, json};
use std::time::Instant;

/// How often the client is killed; `HERMIT_SSE_KILLS` says otherwise.
const KILLS: usize = 200;

fn words(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("word{n} ")).collect()
}

/// A run of a model that talks.
fn talking(bench: &Bench, model: &Model) -> String {
    let started = bench.post(
        "/v1/runs",
        &json!({ "message": "tell a story", "workspace": bench.path("work"), "model": model.address }),
    );
    started["run_id"].as_str().expect("a name").to_owned()
}

#[conforms(
    "RA-1.1-3",
    "RA-1.1-4",
    "RA-1.4-1",
    part = "RA-1.1-5",
    "RA-4.1-3",
    part = "RA-5.1-2",
    part = "RA-5.1-3",
    part = "RA-3-1",
    part = "RA-3-2",
    part = "RA-2-5"
)]
#[test]
fn a_client_killed_at_random_sees_each_event_and_in_order() {
    let bench = Bench::new();
    let kills =
        std::env::var("HERMIT_SSE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS).max(KILLS);
    let model = Model::new(vec![words(3 * kills)], false);
    let run = talking(&bench, &model);
    let (mut seen, mut heard, mut said, mut chance) = (Vec::<(u64, Value)>::new(), 0, 0, 0x9e37_79b9_u64);
    for killed in 0..=kills {
        // Some words come while the client is away, some while it listens.
        model.say(if killed < kills { 2 } else { 0 });
        let last = seen.last().map(|(_, event)| event["event_id"].as_str().expect("a name").to_owned());
        let headers: Vec<(&str, &str)> = last.iter().map(|id| ("last-event-id", id.as_str())).collect();
        let mut stream = bench.stream(&run, "", &headers);
        let first = stream.next().expect("a greeting");
        let how = if last.is_some() { "continued" } else { "from_start" };
        assert_eq!((first.kind.as_str(), &first.data["resumed"]), ("resumed", &json!(how)));
        model.say(usize::from(killed < kills));
        said = (said + 3).min(3 * kills);
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let enough = heard + 1 + usize::try_from(chance >> 33).expect("small") % (said - heard).max(1);
        for event in stream {
            assert_eq!(event.id.as_deref(), event.data["event_id"].as_str());
            assert_eq!(event.data["type"], event.kind);
            heard += event.data["payload"]["delta"].as_str().map_or(0, |text| text.matches("word").count());
            seen.push((event.seq(), event.data.clone()));
            // Here the client dies, unless it is the last one.
            if killed < kills && heard >= enough {
                break;
            }
        }
    }
    println!("killed {kills} times over {} events", seen.len());
    assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0), "in order, none twice");
    let told: Vec<Value> = seen.into_iter().map(|(_, event)| event).collect();
    let mut all: Vec<Value> = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = bench.get(&format!("/v1/runs/{run}/events?limit=500{cursor}"));
        all.extend(page["events"].as_array().expect("events").iter().cloned());
        cursor = format!("&cursor={}", page["cursor"].as_str().expect("a cursor"));
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(told, all, "what was pieced together is what there is");
    let deltas = told.iter().filter(|event| event["type"] == "token.delta");
    let text: String =
        deltas.map(|event| event["payload"]["delta"].as_str().expect("text").to_owned()).collect();
    assert_eq!(text, words(3 * kills).concat(), "no piece of text is missing or doubled");
    let last = told.last().expect("events")["event_id"].as_str().expect("a name").to_owned();
    let (status, _) = bench.ask(
        "GET",
        &format!("/v1/runs/{run}/events"),
        &[("accept", "text/event-stream"), ("last-event-id", &last)],
        "",
    );
    assert_eq!(status, 204, "nothing can follow, and the client stays away");
}

#[conforms(part = "RA-1.2-3", part = "RA-2-6", part = "RA-3-1", part = "RA-4.1-1", part = "RA-5.1-4")]
#[test]
fn reasoning_is_told_apart_and_goes_on_where_a_client_left_it() {
    let bench = Bench::new();
    let thoughts: Vec<String> = (0..40).map(|n| format!("{THINKS}thought{n} ")).collect();
    let model = Model::new(vec![thoughts.into_iter().chain(words(10)).collect()], false);
    let run = talking(&bench, &model);
    model.say(20);
    let mut seen: Vec<Value> = Vec::new();
    for event in bench.stream(&run, "", &[]).filter(|event| event.kind != "resumed") {
        let is_thought = event.kind == "reasoning.delta";
        seen.push(event.data);
        // Here the client goes away, in the middle of a thought.
        if is_thought {
            break;
        }
    }
    // Who comes only now, by another surface, is told what was thought so far, and no word of an answer.
    let so_far: String = (0..20).map(|n| format!("thought{n} ")).collect();
    let until = Instant::now() + PATIENCE;
    let task = loop {
        let task = bench.post("/api/task.show", &json!({ "task": run }));
        if task["thinking"] == json!(so_far) {
            break task;
        }
        assert!(Instant::now() < until, "{task}");
    };
    assert_eq!(task["writing"], Value::Null);
    model.say(30);
    let last = seen.last().expect("a thought")["event_id"].as_str().expect("a name").to_owned();
    let again = bench.stream(&run, "", &[("last-event-id", last.as_str())]);
    seen.extend(again.filter(|event| event.kind != "resumed").map(|event| event.data));
    let of = |kind: &str, key: &str| -> Vec<String> {
        let all = seen.iter().filter(|event| event["type"] == kind);
        all.map(|event| event["payload"][key].as_str().expect("text").to_owned()).collect()
    };
    let whole: String = (0..40).map(|n| format!("thought{n} ")).collect();
    assert_eq!(of("reasoning.delta", "delta").concat(), whole, "no piece is missing or doubled");
    assert_eq!(of("reasoning.done", "text"), [whole]);
    assert_eq!(of("token.delta", "delta").concat(), words(10).concat(), "nothing of it is taken for words");
    let block = of("reasoning.done", "block_id");
    assert!(of("reasoning.delta", "block_id").iter().all(|id| *id == block[0]));
    assert!(of("reasoning.delta", "visibility").iter().all(|how| how == "shown"));
    assert!(model.heard().iter().all(|request| !request.contains("thought3")));
    let task = bench.post("/api/task.show", &json!({ "task": run }));
    assert_eq!(task["thinking"], Value::Null, "it is over with its answer");
}

#[test]
fn two_clients_hear_the_same_one_from_the_start_one_from_the_middle() {
    let bench = Bench::new();
    let model = Model::new(vec![words(60)], false);
    let run = talking(&bench, &model);
    let gather = |stream: Stream| -> Vec<Value> {
        stream.filter(|event| event.kind != "resumed").map(|event| event.data).collect()
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| gather(bench.stream(&run, "", &[])));
        model.say(30);
        let second = scope.spawn(|| gather(bench.stream(&run, "?after_seq=2", &[])));
        model.say(30);
        let (first, second) = (first.join().expect("heard"), second.join().expect("heard"));
        assert_eq!(first[2..], second[..]);
        assert_eq!(first.last().expect("events")["type"], "done");
    });
}

#[conforms("RA-2-2", part = "RA-GS-2")]
#[test]
fn a_client_that_does_not_read_holds_up_nobody_and_is_cut_off_without_losing_anything() {
    let bench = Bench::new();
    // As much as a model may say, and more than the channels between here and there hold.
    let story = || (0..1_000).map(|n| format!("{n:04}{}", "x".repeat(900))).collect::<Vec<String>>();
    let spoken = |stuck: usize| {
        let model = Model::new(vec![story()], true);
        let begun = Instant::now();
        let run = talking(&bench, &model);
        let stuck: Vec<Stream> = (0..stuck).map(|_| bench.stream(&run, "", &[])).collect();
        let status = bench.reaches(&run, &["completed", "failed"]);
        assert_eq!(status["status"], "completed");
        (begun.elapsed(), run, stuck, status)
    };
    let (alone, _, _, _) = spoken(0);
    let places = usize::try_from(bench.get("/v1/capabilities")["streams_max"].as_u64().expect("a number"));
    let (beside, run, stuck, status) = spoken(places.expect("small"));
    println!("a run took {alone:?} alone and {beside:?} beside {} clients that do not read", stuck.len());
    let (other, _) = bench.asking();
    // Their places are given to others after a while.
    let until = Instant::now() + PATIENCE;
    while bench.try_stream(&other, "", &[]).0 == 429 {
        assert!(Instant::now() < until, "whoever does not read keeps its place for ever");
        std::thread::yield_now();
    }
    // Cut off or not, what it got is the beginning, and with its last event it gets the rest.
    let slow = stuck.into_iter().next().expect("a client");
    let mut seqs: Vec<u64> = slow.filter(|event| event.kind != "resumed").map(|event| event.seq()).collect();
    let last = status["terminal_event"]["seq"].as_u64().expect("a number");
    if seqs.last() != Some(&last) {
        let id = seqs.last().map_or_else(String::new, |seq| format!("{run}:{seq}"));
        let headers: Vec<(&str, &str)> =
            if id.is_empty() { Vec::new() } else { vec![("last-event-id", &id)] };
        let rest = bench.stream(&run, "", &headers).filter(|event| event.kind != "resumed");
        seqs.extend(rest.map(|event| event.seq()));
    }
    assert_eq!(seqs.last(), Some(&last));
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]));
    let all: Vec<u64> = {
        let again = bench.stream(&run, "", &[]).filter(|event| event.kind != "resumed");
        again.map(|event| event.seq()).collect()
    };
    assert_eq!(seqs, all, "nothing is missing");
    // By now every place was given back, and whatever comes of that has come.
    let stands = bench.get(&format!("/v1/runs/{other}"));
    assert_eq!(stands["status"], "awaiting_approval", "whoever hears of it or not, it waits on: {stands}");
}

#[test]
fn more_streams_than_there_are_places_are_answered_429() {
    let bench = Bench::new();
    let (run, _) = bench.asking();
    let places = bench.get("/v1/capabilities")["streams_max"].as_u64().expect("a number");
    let open: Vec<Stream> = (0..places).map(|_| bench.stream(&run, "", &[])).collect();
    let path = format!("/v1/runs/{run}/events");
    let (status, answer) = bench.ask("GET", &path, &[("accept", "text/event-stream")], "");
    assert_eq!((status, answer["hint"].is_string()), (429, true), "{answer}");
    assert_eq!(bench.ask("GET", &path, &[], "").0, 200, "pages go on");
    drop(open);
    let until = Instant::now() + PATIENCE;
    while bench.try_stream(&run, "", &[]).0 != 200 {
        assert!(Instant::now() < until, "no place was given back");
    }
}
