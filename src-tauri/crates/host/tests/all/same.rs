//! A card and a question are the same thing whether a client of the run API answers them or a person at their own surface.

use crate::bench::{Bench, PATIENCE};
use crate::contract::run_of;
use crate::model::{Model, call};
use conforms::conforms;
use serde_json::{Value, json};
use std::time::Instant;

/// Who answers: a client of the run API, or the commands of every other surface.
#[derive(Debug, Clone, Copy)]
enum By {
    RunApi,
    Commands,
}

/// A run that asks which one, wants to write, is refused, and ends; what its model was sent.
fn answered(bench: &Bench, by: By) -> (String, Vec<String>) {
    let write = |path: &str| call("write", &json!({ "path": path, "content": "x" }));
    let ask = call("ask", &json!({ "question": "which one?", "choices": ["left", "right"] }));
    let end = call("done", &json!({ "summary": "as far as I may" }));
    let model = Model::new(vec![ask, write("a.md"), end], true);
    let asked = json!({ "message": "work", "workspace": bench.path("work"), "model": model.address });
    let run = run_of(&bench.post("/v1/runs", &asked));
    let question = bench.reaches(&run, &["awaiting_clarify"])["pending_clarify_id"].clone();
    let question = question.as_str().expect("a question").to_owned();
    match by {
        By::RunApi => {
            let path = format!("/v1/runs/{run}/clarifications/{question}/respond");
            assert_eq!(bench.post(&path, &json!({ "response": "the left one" }))["status"], "accepted");
        }
        By::Commands => {
            bench.post("/api/task.answer", &json!({ "task": run, "text": "the left one" }));
        }
    }
    let approval = bench.reaches(&run, &["awaiting_approval"])["pending_approval_id"].clone();
    match by {
        By::RunApi => {
            let deny = json!({ "approval_id": approval, "choice": "deny" });
            assert_eq!(bench.control(&run, "approval", &deny)["status"], "accepted");
        }
        By::Commands => {
            bench.post("/api/approvals.deny", &json!({ "approval": approval }));
        }
    }
    bench.reaches(&run, &["completed", "failed"]);
    (run, model.heard())
}

/// What the ledger says of a run, in order; reports of progress come as they may.
fn recorded(bench: &Bench, run: &str) -> Vec<String> {
    let id = run.parse().expect("a task");
    let stored = bench.reader().events(id, 0, 10_000).expect("events");
    let types = stored.iter().map(|one| one.event().expect("an event").event_type);
    types.filter(|kind| kind != "effect.progressed" && !kind.starts_with("checkpoint.")).collect()
}

#[conforms("RA-4.3b-2", "RA-4.3b-5")]
#[test]
fn a_card_and_a_question_come_to_the_same_whoever_answers_them() {
    let mut bench = Bench::new();
    let (ours, heard) = answered(&bench, By::RunApi);
    let (theirs, other) = answered(&bench, By::Commands);
    assert_eq!(recorded(&bench, &ours), recorded(&bench, &theirs), "the kernel has recorded the same");
    assert_eq!(heard.len(), other.len(), "the model was asked as often");
    for sent in [&heard, &other] {
        assert!(sent[1].contains("the left one"), "it is told the answer: {}", sent[1]);
        assert!(sent[2].contains("a.md") && sent[2].len() > sent[1].len(), "and what became of its write");
    }
    assert!(!bench.path("work").join("a.md").exists(), "what was refused was not done");
    // Both are told alike, in the journal and by the next host.
    let told = |bench: &Bench, run: &str| -> Vec<(String, Value, Value)> {
        let about = |event: &Value| {
            let kind = event["type"].as_str().expect("a word").to_owned();
            let payload = &event["payload"];
            let shown =
                ["status", "choice", "choices", "question", "summary"].map(|name| payload[name].clone());
            (kind, json!(shown), payload["risk"].clone())
        };
        let all = bench.events(run);
        let of = all.iter().filter(|e| {
            let kind = e["type"].as_str().expect("a word");
            kind.starts_with("approval.") || kind.starts_with("clarify.")
        });
        of.map(about).collect()
    };
    let (first, second) = (told(&bench, &ours), told(&bench, &theirs));
    assert_eq!(first, second);
    let kinds: Vec<&str> = first.iter().map(|(kind, ..)| kind.as_str()).collect();
    assert_eq!(kinds, ["clarify.requested", "clarify.resolved", "approval.requested", "approval.resolved"]);
    assert_eq!((&first[3].1[0], &first[3].1[1]), (&json!("denied"), &json!("deny")), "as it was answered");
    let standing = |bench: &Bench, run: &str| bench.get(&format!("/v1/runs/{run}"))["status"].clone();
    assert_eq!(standing(&bench, &ours), standing(&bench, &theirs));
    bench.close();
    bench.open();
    assert_eq!((told(&bench, &ours), told(&bench, &theirs)), (first, second), "the last safe state");
}

/// A run that asks, is paused and goes on, has words queued and its goal edited, is answered, and ends: how it stood on the
/// way, and what its model was sent of both.
fn steered(bench: &Bench, by: By) -> (String, Vec<Value>, Vec<[bool; 2]>) {
    let ask = call("ask", &json!({ "question": "which ones?", "choices": [] }));
    let end = || call("done", &json!({ "summary": "well" }));
    let model = Model::new(vec![ask, end(), end(), end()], true);
    let asked = json!({ "message": "the red ones", "workspace": bench.path("work"), "model": model.address,
        "session_id": format!("steered-{by:?}") });
    let started = bench.post("/v1/runs", &asked);
    let (run, session) = (run_of(&started), started["session_id"].as_str().expect("a name").to_owned());
    // Whoever drives it has come to rest before the next is asked for: so the order is the same each time.
    let rests = || {
        let id = run.parse().expect("a name");
        assert_eq!(api::Host::stands(&**bench.local(), id, PATIENCE).expect("known"), api::Stands::AtRest);
    };
    let at = |status: &str| {
        bench.reaches(&run, &[status]);
        rests();
        let told = bench.reaches(&run, &[status]);
        json!([told["status"], told["active_controls"], told["interrupted"]])
    };
    let taken = |path: &str, body: Value| {
        let told = bench.post(path, &body);
        assert!(told["status"] != "conflict" && told["accepted"] != false, "{path}: {told}");
        rests();
    };
    let goal = |action: &str, text: Option<&str>, command: &str, body: Value| match by {
        By::RunApi => {
            taken(&format!("/v1/sessions/{session}/goal"), json!({ "action": action, "text": text }))
        }
        By::Commands => taken(command, body),
    };
    let mut stood = vec![at("awaiting_clarify")];
    goal("pause", None, "/api/task.pause", json!({ "task": run }));
    stood.push(at("paused"));
    goal("resume", None, "/api/task.resume", json!({ "task": run }));
    stood.push(at("awaiting_clarify"));
    let queued = "then the summary";
    match by {
        By::RunApi => {
            taken(&format!("/v1/runs/{run}/messages"), json!({ "message": queued, "mode": "queue" }))
        }
        By::Commands => taken("/api/task.note", json!({ "task": run, "text": queued, "mode": "queue" })),
    }
    let edited = "the blue ones";
    goal("edit", Some(edited), "/api/task.edit_goal", json!({ "task": run, "goal": edited }));
    stood.push(at("awaiting_clarify"));
    bench.post("/api/task.answer", &json!({ "task": run, "text": "those there" }));
    stood.push(at("completed"));
    let heard = model.heard();
    (run, stood, heard.iter().map(|request| [queued, edited].map(|words| request.contains(words))).collect())
}

#[conforms("RA-4.3c-3", part = "RA-4.3c-2")]
#[test]
fn a_queue_a_goal_and_a_pause_come_to_the_same_whoever_steers() {
    let bench = Bench::new();
    let (ours, stood, heard) = steered(&bench, By::RunApi);
    let (theirs, also_stood, also_heard) = steered(&bench, By::Commands);
    assert_eq!(recorded(&bench, &ours), recorded(&bench, &theirs), "the kernel has recorded the same");
    assert_eq!(stood, also_stood, "it stood alike, and the same could be done with it");
    assert_eq!(heard, also_heard, "its model was asked as often, and told the same");
    assert_eq!((heard.first(), heard.last()), (Some(&[false; 2]), Some(&[true; 2])));
    let told = |run: &str| -> Vec<(Value, Value)> {
        let of = |event: &Value| (event["type"].clone(), event["payload"]["phase"].clone());
        let phases = ["input_queued", "goal_changed", "input_absorbed"];
        let all = bench.events(run).iter().map(of).collect::<Vec<_>>();
        all.into_iter().filter(|(_, phase)| phases.iter().any(|one| phase == one)).collect()
    };
    let journal = told(&ours);
    assert_eq!(journal, told(&theirs), "and the journal tells it alike");
    assert!(journal.len() > 2, "{journal:?}");
    let end = |run: &str| bench.events(run).pop().expect("events")["payload"]["result"]["reason"].clone();
    assert_eq!((end(&ours), end(&theirs)), (json!("done"), json!("done")));
}

fn texts(list: &Value, name: &str) -> Vec<String> {
    list.as_array()
        .expect("a list")
        .iter()
        .map(|one| one[name].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Words that are being said, as the journal holds them.
fn words(events: &[Value]) -> String {
    events.iter().filter_map(|event| event["payload"]["delta"].as_str()).collect()
}

/// The commands that pages ask tell of a run what the run API and its journal tell of it.
#[track_caller]
fn agree(bench: &Bench, run: &str) {
    let told = bench.events(run);
    let asked = bench.post("/api/task_events.list", &json!({ "task": run, "limit": 500 }));
    let names = texts(&asked["events"], "event_id");
    let place = |event: &Value| {
        let name = event["payload"]["ledger_event_id"].as_str()?;
        Some(names.iter().position(|one| one == name).unwrap_or_else(|| panic!("no page is told of {event}")))
    };
    let places: Vec<usize> = told.iter().filter_map(place).collect();
    assert!(places.len() > 10 && places.is_sorted(), "in the same order: {places:?}");
    let kinds = texts(&asked["events"], "event_type");
    let families: Vec<&str> = told.iter().filter_map(|event| event["type"].as_str()).collect();
    for (kind, family) in [
        ("task.created", "run.started"),
        ("effect.dispatched", "tool.started"),
        ("effect.observed", "tool.done"),
        ("approval.requested", "approval.requested"),
        ("approval.granted", "approval.resolved"),
    ] {
        let of = |all: &mut dyn Iterator<Item = bool>| all.filter(|is| *is).count();
        let (pages, clients) = (
            of(&mut kinds.iter().map(|one| one == kind)),
            of(&mut families.iter().map(|one| *one == family)),
        );
        assert_eq!(pages, clients, "{kind} and {family}");
    }
    let (status, task) =
        (bench.get(&format!("/v1/runs/{run}")), bench.post("/api/task.show", &json!({ "task": run })));
    assert_eq!(task["row"]["run_status"], status["status"]);
    let waits = bench.post("/api/approvals.list", &json!({ "task": run, "status": "pending" }));
    let waits = texts(&waits["rows"], "approval_id");
    assert_eq!(waits.first().map_or(Value::Null, |id| json!(id)), status["pending_approval_id"]);
}

#[conforms("RA-4.4-2", part = "RA-4.2-3")]
#[test]
fn what_a_page_asks_tells_a_run_as_the_run_api_and_its_journal_do() {
    let mut bench = Bench::new();
    let (run, approval) = bench.asking();
    agree(&bench, &run);
    // Words under way: a page is told of them what the journal holds, and nothing else is kept of them.
    std::fs::create_dir(bench.path("two")).expect("a folder");
    let model = Model::new(vec![(0..9).map(|n| format!("word{n} ")).collect()], false);
    let asked = json!({ "message": "talk", "workspace": bench.path("two"), "model": model.address });
    let talks = run_of(&bench.post("/v1/runs", &asked));
    model.say(5);
    let until = Instant::now() + PATIENCE;
    while !words(&bench.events(&talks)).contains("word4") {
        assert!(Instant::now() < until, "it is not told");
    }
    let shown = bench.post("/api/task.show", &json!({ "task": talks }));
    assert_eq!(shown["writing"], json!(words(&bench.events(&talks))));
    model.say(4);
    bench.reaches(&talks, &["completed"]);
    assert_eq!(bench.post("/api/task.show", &json!({ "task": talks }))["writing"], Value::Null);
    // To its end, and under a host that never saw it.
    bench.allow(&approval);
    bench.reaches(&run, &["completed"]);
    agree(&bench, &run);
    bench.close();
    bench.open();
    agree(&bench, &run);
}
