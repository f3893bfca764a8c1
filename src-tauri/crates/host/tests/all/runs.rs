//! Every row of the run API, from a start to an end.

use crate::bench::{Bench, PATIENCE};
use crate::model::{Model, call};
use conforms::conforms;
use runstream::Family;
use serde_json::{Value, json};
use std::time::SystemTime;

#[conforms(
    "RA-4.2-2",
    "RA-4.2-11",
    "RA-4.2-12",
    "RA-1.3-1",
    "RA-4.2-4",
    "RA-4.2-13",
    part = "RA-4.4d-4",
    part = "HK-8.1-3",
    part = "HK-27-1",
    "RA-4.4e-2"
)]
#[test]
fn a_run_is_started_looked_at_and_found_again_by_its_session() {
    let bench = Bench::new();
    bench.files(3);
    let asked = json!({
        "session_id": null, "message": "tidy up", "attachments": [], "workspace": bench.path("work"),
        "profile": "repo_mutation_gated", "provider": "playbook", "model": "tidy", "toolsets": ["standard"],
        "source": "run_api", "metadata": { "title": "spring", "idempotency_key": "one", "anything": 7 },
    });
    let started = bench.post("/v1/runs", &asked);
    let fields = [
        "run_id",
        "session_id",
        "stream_id",
        "status",
        "started_at",
        "cursor",
        "active_controls",
        "profile",
        "model",
        "toolsets",
    ];
    fields.iter().for_each(|field| assert!(!started[*field].is_null(), "{field}: {started}"));
    assert_eq!(
        started.as_object().expect("an object").len(),
        fields.len(),
        "nothing of the inside: {started}"
    );
    assert_eq!((&started["stream_id"], &started["profile"]), (&started["run_id"], &asked["profile"]));
    let run = started["run_id"].as_str().expect("a name").to_owned();
    let again = bench.post("/v1/runs", &asked);
    assert_eq!(again["run_id"], run, "the same key is the same run");
    let status = bench.reaches(&run, &["awaiting_approval"]);
    for field in [
        "run_id",
        "session_id",
        "status",
        "last_event_id",
        "terminal_state",
        "active_controls",
        "pending_approval_id",
        "pending_clarify_id",
        "interrupted",
    ] {
        assert!(status.get(field).is_some(), "{field}: {status}");
    }
    assert!(status["pending_approval_id"].is_string() && status["terminal_state"].is_null(), "{status}");
    assert_eq!(status["interrupted"], false, "it waits for a person");
    assert!(status["active_controls"].as_array().expect("a list").contains(&json!("approval")));
    // The same thing as a task of every other surface, recorded as what came in.
    let task = api::call(&**bench.local(), "task.show", json!({ "task": run })).expect("shown");
    assert_eq!((&task["row"]["title"], &task["channel"]), (&json!("spring"), &json!("run_api")));
    let session = started["session_id"].as_str().expect("a name");
    let runs = bench.get(&format!("/v1/sessions/{session}/runs"));
    assert_eq!(runs["active_run_id"], run, "{runs}");
    assert_eq!(runs["runs"][0]["run_id"], run);
    assert_eq!(runs["runs"].as_array().expect("runs").len(), 1, "one run, however often it was asked for");
    bench.allow(status["pending_approval_id"].as_str().expect("a name"));
    let status = bench.reaches(&run, &["completed"]);
    assert_eq!(
        (&status["terminal_state"], &status["pending_approval_id"]),
        (&json!("completed"), &Value::Null)
    );
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    i64::try_from(now.as_millis()).expect("a time of this millennium")
}

#[conforms("RA-4.2-12", part = "RA-1.3-1", part = "RA-4.2-4")]
#[test]
fn a_start_answers_with_a_place_that_its_events_follow_and_with_controls_that_are_taken() {
    let bench = Bench::new();
    bench.files(3);
    let begun = now_ms();
    let asked =
        json!({ "message": "", "workspace": bench.path("work"), "provider": "playbook", "model": "tidy" });
    let started = bench.post("/v1/runs", &asked);
    let run = started["run_id"].as_str().expect("a name").to_owned();
    assert_eq!(started["stream_id"], run, "the stream of a run has its name");
    let at = started["started_at"].as_f64().expect("seconds") * 1000.0;
    #[allow(clippy::cast_precision_loss, reason = "milliseconds of this millennium are far below 2^53")]
    let (begun, now) = (begun as f64, now_ms() as f64);
    assert!((begun - 1.0..=now + 1.0).contains(&at), "{begun} {at} {now}");
    let controls = started["active_controls"].as_array().expect("a list").clone();
    assert!(controls.contains(&json!("cancel")), "{controls:?}");
    bench.reaches(&run, &["awaiting_approval"]);
    assert_eq!(bench.control(&run, "cancel", &json!({}))["status"], "accepted");
    let ended = bench.reaches(&run, &["cancelled"]);
    // What it was begun with, how it ended, and what can be done with it now.
    assert_eq!(ended["terminal_event"]["type"], "cancelled");
    assert_eq!(ended["terminal_event"]["payload"]["result"]["reason"], "cancelled");
    assert_eq!(ended["last_event_id"], ended["terminal_event"]["event_id"]);
    assert_eq!(ended["active_controls"], json!(["observe", "status"]));
    let cursor = started["cursor"].as_str().expect("a cursor");
    let page = bench.get(&format!("/v1/runs/{run}/events?cursor={cursor}&limit=500"));
    assert_eq!(page["resumed"], "continued");
    let (all, behind) = (bench.events(&run), page["events"].as_array().expect("events").clone());
    assert!(!behind.is_empty() && behind.len() < all.len(), "{} of {}", behind.len(), all.len());
    assert!(all.ends_with(&behind), "the rest, and nothing else");
}

/// How a run is told to stand, as soon as it has this status: whether nobody works on it, and its end.
fn stands(bench: &Bench, run: &str, status: &str) -> (bool, Value, Value) {
    let told = bench.reaches(run, &[status]);
    let interrupted = told["interrupted"].as_bool().expect("yes or no");
    (interrupted, told["terminal_state"].clone(), told["terminal_event"]["type"].clone())
}

/// A run of a model in a folder of its own.
fn in_folder(bench: &Bench, name: &str, model: &Model) -> String {
    std::fs::create_dir(bench.path(name)).expect("a folder");
    let asked = json!({ "message": "work", "workspace": bench.path(name), "model": model.address });
    bench.post("/v1/runs", &asked)["run_id"].as_str().expect("a name").to_owned()
}

/// A playbook that asks, and whose time is up before anybody answers.
fn overdue(bench: &Bench) -> String {
    let folder = bench.path("late");
    std::fs::create_dir(&folder).expect("a folder");
    for n in 0..3 {
        std::fs::write(folder.join(format!("{n}.txt")), format!("number {n}")).expect("a file");
    }
    let asked = json!({
        "workspace": folder, "reasoner": { "kind": "playbook", "name": "tidy" }, "deadline_at": now_ms() + 3_000,
    });
    bench.post("/api/task.submit", &asked)["task_id"].as_str().expect("a name").to_owned()
}

#[conforms("RA-4.2-4", "RA-1.3-2")]
#[test]
fn a_run_at_work_one_that_has_ended_and_one_that_was_left_in_the_middle_are_told_apart() {
    let mut bench = Bench::new();
    let open = || (false, Value::Null, Value::Null);
    let over = |state: &str, event: &str| (false, json!(state), json!(event));
    let late = overdue(&bench);
    let (cancelled, _) = bench.asking();
    assert_eq!(stands(&bench, &cancelled, "awaiting_approval"), open());
    bench.post("/api/task.pause", &json!({ "task": cancelled }));
    assert_eq!(stands(&bench, &cancelled, "paused"), open());
    bench.control(&cancelled, "cancel", &json!({}));
    bench.reaches(&cancelled, &["cancelled"]);
    let (failed, approval) = bench.asking();
    bench.control(&failed, "approval", &json!({ "approval_id": approval, "choice": "deny" }));
    bench.reaches(&failed, &["failed"]);
    let (completed, approval) = bench.asking();
    bench.allow(&approval);
    bench.reaches(&completed, &["completed"]);
    let ask = Model::new(vec![call("ask", &json!({ "question": "which?", "choices": [] }))], true);
    let asks = in_folder(&bench, "asks", &ask);
    let speaker = Model::new(vec![vec!["once ".to_owned(), "upon ".to_owned(), "a time".to_owned()]], false);
    let speaks = in_folder(&bench, "speaks", &speaker);
    let mut stream = bench.stream(&speaks, "", &[]);
    speaker.say(1);
    stream.find(|event| event.kind == "token.delta").expect("it speaks");
    drop(stream);
    let ends = [
        (&completed, "completed", "done"),
        (&failed, "failed", "error"),
        (&cancelled, "cancelled", "cancelled"),
        (&late, "expired", "error"),
    ];
    for left in [false, true] {
        if left {
            bench.close();
            bench.open();
        }
        assert_eq!(
            stands(&bench, &asks, "awaiting_clarify"),
            open(),
            "it waits for a person, under every host"
        );
        // No stream is there any more, and nobody has followed any of them: how each stands is no matter of that.
        assert_eq!(stands(&bench, &speaks, "running"), (left, Value::Null, Value::Null));
        for (run, state, event) in ends {
            assert_eq!(stands(&bench, run, state), over(state, event));
        }
    }
}

/// Runs that a host works on at the same time.
const PLACES: usize = 8;

#[conforms("RA-1.3-2")]
#[test]
fn what_waits_for_a_place_is_queued_and_what_is_to_end_there_is_being_cancelled() {
    let bench = Bench::new();
    let ask = Model::new(vec![call("ask", &json!({ "question": "which?", "choices": [] }))], true);
    let asks = in_folder(&bench, "asks", &ask);
    bench.reaches(&asks, &["awaiting_clarify"]);
    let id = asks.parse().expect("a name");
    assert_eq!(api::Host::stands(&**bench.local(), id, PATIENCE).expect("known"), api::Stands::AtRest);
    let speakers: Vec<(Model, String)> = (0..PLACES)
        .map(|n| {
            let model = Model::new(vec![vec!["well".to_owned()]], false);
            let run = in_folder(&bench, &format!("speaks-{n}"), &model);
            bench.reaches(&run, &["running"]);
            (model, run)
        })
        .collect();
    let last = Model::new(vec![vec!["well".to_owned()]], true);
    let waits = in_folder(&bench, "waits", &last);
    let open = (false, Value::Null, Value::Null);
    assert_eq!(stands(&bench, &waits, "queued"), open);
    assert_eq!(bench.control(&asks, "cancel", &json!({}))["status"], "accepted");
    assert_eq!(stands(&bench, &asks, "cancelling"), open, "it has not ended yet");
    assert_eq!(bench.control(&asks, "cancel", &json!({}))["status"], "not-active");
    assert_eq!(bench.get(&format!("/v1/runs/{waits}"))["status"], "queued", "there is no place for it");
    for (model, run) in &speakers {
        model.say(1);
        bench.reaches(run, &["completed"]);
    }
    bench.reaches(&waits, &["completed"]);
    bench.reaches(&asks, &["cancelled"]);
}

#[conforms(
    "RA-1.1-1",
    "RA-1.1-2",
    part = "RA-1.1-3",
    part = "RA-4.1-1",
    "RA-4.1-2",
    "RA-5.1-1",
    part = "RA-1.2-1",
    part = "RA-1.2-8",
    part = "RA-1.2-9"
)]
#[test]
fn the_events_of_a_run_have_the_envelope_and_follow_each_other() {
    let bench = Bench::new();
    let begun = now_ms();
    let (run, approval) = bench.asking();
    bench.allow(&approval);
    let status = bench.reaches(&run, &["completed"]);
    let events = bench.events(&run);
    let fields = ["event_id", "seq", "run_id", "session_id", "type", "created_at", "terminal", "payload"];
    let mut last = 0;
    for event in &events {
        assert_eq!(event.as_object().expect("an object").len(), fields.len());
        fields.iter().for_each(|field| assert!(event.get(*field).is_some(), "{field}: {event}"));
        let seq = event["seq"].as_u64().expect("a number");
        assert!(seq > last, "{event}");
        last = seq;
        assert_eq!(event["event_id"], format!("{run}:{seq}"));
        assert_eq!((&event["run_id"], &event["session_id"]), (&json!(run), &status["session_id"]));
        assert!(event["type"].as_str().expect("a word").parse::<Family>().is_ok(), "{event}");
        #[allow(clippy::cast_possible_truncation, reason = "a time of this millennium")]
        let at = (event["created_at"].as_f64().expect("seconds") * 1000.0).round() as i64;
        assert!((begun - 1..=now_ms() + 1).contains(&at), "{event}");
        assert_eq!(event["terminal"], json!(seq == events.len() as u64), "its last one and no other");
        assert!(event["payload"].is_object());
    }
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().expect("a word")).collect();
    let at = |kind: &str| {
        kinds.iter().position(|k| *k == kind).unwrap_or_else(|| panic!("no {kind} in {kinds:?}"))
    };
    for (before, after) in [
        ("run.started", "token.delta"),
        ("token.delta", "approval.requested"),
        ("approval.requested", "approval.resolved"),
        ("approval.resolved", "usage.final"),
        ("usage.final", "done"),
    ] {
        assert!(at(before) < at(after), "{before} comes before {after}: {kinds:?}");
    }
    assert_eq!(kinds.iter().filter(|kind| **kind == "done").count(), 1);
    let end = events.last().expect("events");
    assert_eq!((end["terminal"].as_bool(), &end["payload"]["last_seq"]), (Some(true), &end["seq"]));
    assert_eq!(status["terminal_event"], *end);
    assert_eq!(status["terminal_state"], status["status"], "a word, for clients that look for one");
    assert_eq!(status["last_event_id"], end["event_id"]);
    assert_eq!(status["active_controls"], json!(["observe", "status"]));
}

#[conforms("RA-4.2-14", "RA-1.4-1", "RA-4.2-3")]
#[test]
fn pages_join_without_a_gap_and_a_bad_cursor_starts_over_and_says_so() {
    let bench = Bench::new();
    let (run, approval) = bench.asking();
    let (other, _) = bench.start("inventory");
    bench.control(&run, "approval", &json!({ "approval_id": approval, "choice": "deny" }));
    bench.reaches(&run, &["failed"]);
    let all = bench.events(&run);
    let (mut joined, mut query): (Vec<Value>, String) = (Vec::new(), String::new());
    loop {
        let page = bench.get(&format!("/v1/runs/{run}/events?limit=7{query}"));
        let events = page["events"].as_array().expect("events");
        assert!(events.len() <= 7);
        joined.extend(events.iter().cloned());
        if page["more"] == false {
            break;
        }
        assert_eq!(page["last_event_id"], joined.last().expect("events")["event_id"]);
        query = format!("&cursor={}", page["cursor"].as_str().expect("a cursor"));
    }
    assert_eq!(joined, all);
    let behind = bench.get(&format!("/v1/runs/{run}/events?after_seq=5&limit=500"));
    assert_eq!(behind["events"].as_array().expect("events")[..], all[5..]);
    // Clients of others know one word for a place, whatever they have of it.
    for cursor in [all[4]["event_id"].as_str().expect("a name"), "5"] {
        let page = bench.get(&format!("/v1/runs/{run}/events?cursor={cursor}&limit=500"));
        assert_eq!(page["resumed"], "continued", "{cursor}");
        assert_eq!(page["events"].as_array().expect("events")[..], all[5..], "{cursor}");
    }
    let foreign =
        bench.get(&format!("/v1/runs/{other}/events"))["cursor"].as_str().expect("a cursor").to_owned();
    for (query, said) in [
        (format!("?cursor={foreign}"), "foreign"),
        ("?cursor=garbage".to_owned(), "malformed"),
        ("?after_seq=many".to_owned(), "malformed"),
        ("?after_seq=999999".to_owned(), "ahead"),
        (String::new(), "from_start"),
    ] {
        let sign = if query.is_empty() { '?' } else { '&' };
        let page = bench.get(&format!("/v1/runs/{run}/events{query}{sign}limit=500"));
        assert_eq!(page["resumed"], said, "{query}");
        assert_eq!(page["events"].as_array().expect("events")[..], all[..], "{query}");
    }
}

#[conforms("RA-2-14", "RA-1.3-2", "RA-G-1", part = "RA-4.4d-3")]
#[test]
fn the_capabilities_leave_nothing_to_guess_and_hold_what_they_promise() {
    let bench = Bench::new();
    let told = bench.get("/v1/capabilities");
    let statuses = [
        "queued",
        "running",
        "awaiting_approval",
        "awaiting_clarify",
        "paused",
        "cancelling",
        "cancelled",
        "failed",
        "completed",
        "expired",
    ];
    assert_eq!(told["statuses"], json!(statuses));
    assert_eq!(
        told["control_statuses"],
        json!(["accepted", "not-active", "unsupported", "conflict", "expired"])
    );
    assert_eq!(told["message_modes"], json!(["queue", "steer", "stop_and_send"]));
    assert_eq!(told["goal_actions"], json!(["set", "pause", "resume", "clear", "status", "edit"]));
    assert_eq!(told["approval_choices"], json!(["deny"]));
    let families: Vec<&str> = Family::ALL.iter().map(|family| family.as_str()).collect();
    assert_eq!(told["event_families"], json!(families));
    assert!(told["playbooks"].as_array().expect("a list").contains(&json!("tidy")));
    let commands = told["commands"].as_array().expect("a list");
    assert_eq!(commands.len(), 14, "every row of run-api.md, and one server of tools");
    for command in commands {
        let (method, path) = command.as_str().expect("a text").split_once(' ').expect("two words");
        let names = ["{run_id}", "{clarify_id}", "{session_id}", "{name}"];
        let path = names.iter().fold(path.to_owned(), |path, name| path.replace(name, "x"));
        let (status, answer) = bench.ask(method, &path, &[], if method == "POST" { "{}" } else { "" });
        assert_ne!(answer["code"], "unknown_command", "{command} is {status}");
        assert_ne!(status, 405, "{command}");
    }
    // What is not among them is known to nobody: it is refused as unknown, and no other control answers for it.
    for path in ["/v1/runs/x/teleport", "/v1/sessions/x/undo", "/v1/steer"] {
        assert!(!commands.iter().any(|command| command.as_str().expect("a text").ends_with(path)));
        let (status, answer) = bench.ask("POST", path, &[], "{}");
        assert_eq!((status, &answer["code"]), (404, &json!("unknown_command")), "{path}: {answer}");
    }
}
