//! The contract of the run API as a whole: the same whatever executes a run, nothing kept by whoever serves it, and
//! every control bounded.

use crate::bench::{Bench, Heard, PATIENCE};
use crate::model::{Model, call};
use crate::served::Shown;
use conforms::conforms;
use runstream::Family;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::net::TcpListener;
use std::path::PathBuf;

pub fn run_of(started: &Value) -> String {
    started["run_id"].as_str().expect("a name").to_owned()
}

/// A run of a model in the folder, in a session or in the standing one.
fn asks(bench: &Bench, model: &Model, words: &str, session: Option<&str>) -> String {
    let asked = json!({
        "message": words, "workspace": bench.path("work"), "model": model.address, "session_id": session,
    });
    run_of(&bench.post("/v1/runs", &asked))
}

#[conforms(
    "RA-1-1",
    "RA-4.4d-2",
    "RA-4.4f-4",
    part = "RA-2-7",
    part = "RA-1.2-14",
    part = "RA-G-1",
    part = "RA-G-3"
)]
#[test]
fn whatever_executes_a_run_its_events_are_the_same_contract() {
    let bench = Bench::new();
    let (playbook, approval) = bench.asking();
    bench.allow(&approval);
    bench.reaches(&playbook, &["completed"]);
    let undo = {
        let receipts = bench.post("/api/receipts.list", &json!({ "task": playbook }));
        let rows = receipts["rows"].as_array().expect("rows");
        let done = rows.iter().find(|row| row["class"] == "tool_execution").expect("a receipt");
        let undone = bench.post("/api/receipts.rollback", &json!({ "receipt": done["receipt_id"] }));
        undone["task_id"].as_str().expect("a name").to_owned()
    };
    bench.reaches(&undo, &["awaiting_approval"]);
    let look = call("look", &json!({ "path": "000.txt" }));
    let model = Model::new(vec![look, call("done", &json!({ "summary": "looked" }))], true);
    let thinking = asks(&bench, &model, "look", None);
    bench.reaches(&thinking, &["completed", "failed"]);
    let (refused, asked) = bench.asking();
    bench.control(&refused, "approval", &json!({ "approval_id": asked, "choice": "deny" }));
    bench.reaches(&refused, &["failed"]);
    let families: Vec<&str> = Family::ALL.iter().map(|family| family.as_str()).collect();
    for run in [&playbook, &undo, &thinking, &refused] {
        let events = bench.events(run);
        for event in &events {
            let kind = event["type"].as_str().expect("a word");
            assert!(families.contains(&kind), "{event}");
            let family: Family = kind.parse().expect("a family");
            for key in family.promises() {
                assert!(event["payload"].get(key).is_some(), "`{key}` is promised: {event}");
            }
        }
        let open = events.iter().filter(|event| event["type"] == "tool.started");
        for started in open {
            let id = &started["payload"]["tool_call_id"];
            let ends =
                events.iter().filter(|e| e["type"] == "tool.done" && e["payload"]["tool_call_id"] == *id);
            assert_eq!(ends.count(), 1, "what starts is done once: {started}");
        }
    }
    let end = bench.events(&refused).pop().expect("events");
    let told = &end["payload"];
    assert_eq!(
        (&end["type"], &told["code"], &told["terminal"]),
        (&json!("error"), &json!("denied"), &json!(true))
    );
    assert!(told["message"].as_str().is_some_and(|m| !m.is_empty()) && told["diagnostics"].is_object());
    let said = end.to_string();
    assert!(!said.contains(bench.dir.path().to_str().expect("UTF-8")), "no path of this machine: {said}");
}

/// The variables and the folder of this process.
fn environment() -> (Vec<(OsString, OsString)>, PathBuf) {
    (std::env::vars_os().collect(), std::env::current_dir().expect("a folder"))
}

#[conforms("RA-4.4f-1", "RA-4.2-17", "RA-4.4a-1", "RA-4.4a-6", "RA-3-10", "RA-4.4b-1", "RA-3-16", "RA-2-17")]
#[test]
fn another_backend_in_the_same_session_leaves_what_was_there_as_it_was() {
    let mut bench = Bench::new();
    bench.files(3);
    std::fs::write(bench.path("notes.md"), "# notes\n").expect("a file");
    let asked = json!({
        "message": "", "workspace": bench.path("work"), "provider": "playbook", "model": "inventory",
        "profile": "readonly_analysis", "attachments": [bench.path("notes.md")], "toolsets": ["standard"],
        "source": "webhook", "metadata": { "title": "first" }, "session_id": "garden",
    });
    let as_it_was = environment();
    let started = bench.post("/v1/runs", &asked);
    assert_eq!(started["toolsets"], asked["toolsets"]);
    assert_eq!(started["session_id"], asked["session_id"], "the session that was asked for");
    let (first, session) = (run_of(&started), started["session_id"].as_str().expect("a name").to_owned());
    bench.reaches(&first, &["completed", "failed", "awaiting_approval"]);
    let task = bench.post("/api/task.show", &json!({ "task": first }));
    assert_eq!(task["channel"], "webhook");
    assert_eq!(
        (&task["row"]["profile"], &task["row"]["title"]),
        (&json!("readonly_analysis"), &json!("first"))
    );
    assert_eq!(task["workspace"], bench.path("work").canonicalize().expect("there").to_str().expect("UTF-8"));
    assert_eq!(task["reasoner"], "playbook:inventory");
    let files = bench.post("/api/artifacts.list", &json!({ "task": first, "limit": 500 }));
    assert!(files.to_string().contains("notes.md"), "what was handed over is at hand");
    let before = bench.events(&first);
    assert!(before[0]["payload"]["toolset"].as_array().is_some_and(|tools| !tools.is_empty()), "{before:?}");
    let models: Vec<Model> =
        ["one", "two"].map(|said| Model::new(vec![call("done", &json!({ "summary": said }))], true)).into();
    for model in &models {
        let run = asks(&bench, model, "say it", Some(&session));
        bench.reaches(&run, &["completed"]);
        let task = bench.post("/api/task.show", &json!({ "task": run }));
        assert_eq!(task["reasoner"], model.address, "each its own");
        let begun = bench.events(&run).remove(0);
        assert_eq!(
            (&begun["session_id"], &begun["payload"]["model"]),
            (&json!(session), &json!(model.address))
        );
    }
    // And back again, in the same session: a run of its own, and what was there stays.
    let back = run_of(&bench.post("/v1/runs", &asked));
    assert_ne!(back, first);
    bench.reaches(&back, &["completed", "failed", "awaiting_approval"]);
    let task = bench.post("/api/task.show", &json!({ "task": back }));
    assert_eq!(task["reasoner"], "playbook:inventory");
    assert_eq!(bench.events(&first), before);
    // A host that starts anew, and a stream that is told again: the project stands on every replay.
    bench.close();
    std::fs::remove_file(bench.path("store").join("journal.db")).expect("a stream");
    bench.open();
    let again = bench.events(&first);
    for (then, now) in [(&before, &again)] {
        for name in ["workspace", "profile", "model", "toolset"] {
            assert_eq!(then[0]["payload"][name], now[0]["payload"][name], "{name}");
            assert!(!now[0]["payload"][name].is_null());
        }
        assert_eq!(Shown::of(then).tools, Shown::of(now).tools);
        assert_eq!(Shown::of(then).ended, Shown::of(now).ended);
    }
    let runs = bench.get(&format!("/v1/sessions/{session}/runs"));
    assert_eq!(runs["runs"].as_array().expect("runs").len(), 4);
    assert_eq!(environment(), as_it_was, "each start says it all, and the process is not told");
}

#[conforms("RA-4.4e-1")]
#[test]
fn a_backend_that_is_not_there_is_said_and_nothing_else_does_its_work() {
    let bench = Bench::new();
    let work = bench.path("work");
    let before = bench.stats();
    for asked in [
        json!({ "message": "x", "workspace": work }),
        json!({ "message": "x", "workspace": work, "provider": "openai" }),
        json!({ "message": "x", "workspace": work, "provider": "runner", "model": "x" }),
    ] {
        let (status, answer) = bench.ask("POST", "/v1/runs", &[], &asked.to_string());
        assert_eq!((status, &answer["code"]), (400, &json!("usage")), "{answer}");
    }
    assert_eq!(bench.stats(), before);
    let gone = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let asked = json!({ "message": "x", "workspace": work, "provider": "openai", "model": format!("http://{gone}/v1#m") });
    let run = run_of(&bench.post("/v1/runs", &asked));
    bench.reaches(&run, &["paused", "failed"]);
    let events = bench.events(&run);
    let error = events.iter().find(|event| event["type"] == "error").expect("it is said");
    assert_eq!((&error["terminal"], &error["payload"]["terminal"]), (&json!(false), &json!(false)));
    assert!(!events.iter().any(|event| event["type"] == "token.delta"), "nobody else spoke");
    assert_eq!(
        bench.post("/api/task.show", &json!({ "task": run }))["reasoner"],
        format!("openai:http://{gone}/v1#m")
    );
}

#[conforms("RA-1.4-2")]
#[test]
fn who_cannot_stream_asks_how_it_stands() {
    let bench = Bench::new();
    let (run, approval) = bench.asking();
    let places = bench.get("/v1/capabilities")["streams_max"].as_u64().expect("a number");
    let open: Vec<_> = (0..places).map(|_| bench.stream(&run, "", &[])).collect();
    assert_eq!(
        bench.ask("GET", &format!("/v1/runs/{run}/events"), &[("accept", "text/event-stream")], "").0,
        429
    );
    bench.allow(&approval);
    let status = bench.reaches(&run, &["completed"]);
    assert_eq!(status["terminal_event"]["type"], "done");
    drop(open);
}

#[conforms(part = "RA-3-7", part = "RA-4.2-6", part = "RA-P-4")]
#[test]
fn a_question_of_yes_or_no_outlives_its_watchers_and_its_host_and_is_told_again() {
    let mut bench = Bench::new();
    let (run, approval) = bench.asking();
    for _ in 0..2 {
        let mut watcher = bench.stream(&run, "", &[]);
        watcher.find(|event| event.kind == "approval.requested").expect("it is told");
    }
    bench.close();
    bench.open();
    assert_eq!(bench.get(&format!("/v1/runs/{run}"))["pending_approval_id"], approval);
    let answer = json!({ "approval_id": approval, "choice": "deny" });
    assert_eq!(bench.control(&run, "approval", &answer)["status"], "accepted");
    bench.reaches(&run, &["failed"]);
    let told = |events: Vec<Heard>| -> Vec<Value> {
        let about = events.into_iter().filter(|event| event.kind.starts_with("approval."));
        about.map(|event| event.data).collect()
    };
    let first = told(bench.stream(&run, "", &[]).collect());
    let again = told(bench.stream(&run, "", &[]).collect());
    assert_eq!(first, again);
    let kinds: Vec<&Value> = first.iter().map(|event| &event["type"]).collect();
    assert_eq!(kinds, ["approval.requested", "approval.resolved"]);
    assert_eq!(
        (&first[1]["payload"]["choice"], &first[1]["payload"]["status"]),
        (&json!("deny"), &json!("denied"))
    );
}

#[conforms("RA-4.4a-5", "RA-4.4b-3", "RA-4.4c-2", "RA-4.4d-4", "RA-4.4d-5", "RA-4.2-1", "RA-4.4a-8")]
#[test]
fn every_control_of_every_kind_of_run_is_bounded_and_of_one_shape() {
    let bench = Bench::new();
    let (ended, approval) = bench.asking();
    bench.control(&ended, "approval", &json!({ "approval_id": approval, "choice": "deny" }));
    let session = bench.reaches(&ended, &["failed"])["session_id"].as_str().expect("a name").to_owned();
    let nobody = "task_00000000000000000000000000000000";
    // What the end of a run leaves behind it is written before it is at rest.
    let id = ended.parse().expect("a name");
    assert_eq!(api::Host::stands(&**bench.local(), id, PATIENCE).expect("known"), api::Stands::AtRest);
    let before = bench.stats();
    let mut asked = Vec::new();
    for run in [ended.as_str(), nobody, "task_x", "../x"] {
        for (verb, body) in [
            ("cancel", json!({})),
            ("approval", json!({ "approval_id": approval, "choice": "deny" })),
            ("approval", json!({ "approval_id": approval, "choice": "once" })),
            ("clarifications/clr_x/respond", json!({ "response": "x" })),
            ("messages", json!({ "message": "x", "mode": "queue" })),
            ("messages", json!({ "message": "x", "mode": "steer" })),
            ("messages", json!({ "message": "x", "mode": "stop_and_send" })),
        ] {
            asked.push((format!("/v1/runs/{}/{verb}", run.replace('/', "%2F")), body));
        }
    }
    for session in [session.as_str(), "cnv_00000000000000000000000000000000", "x"] {
        for action in ["set", "pause", "resume", "clear", "status", "edit"] {
            asked.push((format!("/v1/sessions/{session}/goal"), json!({ "action": action, "text": "x" })));
        }
    }
    for (path, body) in asked {
        let answer = bench.post(&path, &body);
        let mut fields: Vec<&String> = answer.as_object().expect("an object").keys().collect();
        fields.sort_unstable();
        assert_eq!(fields, ["accepted", "event_id", "message", "ok", "safe_message", "status"], "{path}");
        let status = answer["status"].as_str().expect("a word");
        assert!(
            matches!(status, "not-active" | "unsupported" | "conflict" | "expired"),
            "{path} {body}: {answer}"
        );
        let said = answer["safe_message"].as_str().expect("a text");
        assert!(!said.is_empty() && !said.contains("rror(") && !said.contains("::"), "{said}");
    }
    assert_eq!(bench.stats(), before, "none of them left a trace");
    let told = bench.get("/v1/capabilities");
    let paths: Vec<&str> =
        told["commands"].as_array().expect("paths").iter().filter_map(Value::as_str).collect();
    for (method, path) in paths.iter().map(|path| path.split_once(' ').expect("a method")) {
        let path =
            path.replace("{run_id}", &ended).replace("{session_id}", &session).replace("{clarify_id}", "x");
        let (status, answer) = bench.ask(method, &path, &[], if method == "POST" { "{}" } else { "" });
        // A door that is there knows what it was asked for, also where there is none of that name.
        let knows = method != "POST"
            && answer["message"].as_str().is_some_and(|text| text.contains("no server of tools"));
        assert!(matches!(status, 200 | 400) || knows, "{method} {path} is there: {answer}");
    }
    assert_eq!(paths.len(), 14);
}

#[conforms("RA-4.4b-3", "RA-4.2-1", part = "RA-1.4-7", part = "RA-4.2-9", "RA-4.4a-5", "RA-4.4d-4")]
#[test]
fn a_control_of_a_run_at_work_comes_to_what_it_is_and_is_told_in_the_same_shape() {
    let bench = Bench::new();
    let (run, approval) = bench.asking();
    let session = bench.get(&format!("/v1/runs/{run}"))["session_id"].as_str().expect("a name").to_owned();
    std::fs::create_dir(bench.path("two")).expect("a folder");
    let ask = call("ask", &json!({ "question": "which?", "choices": [] }));
    let model = Model::new(vec![ask, call("done", &json!({ "summary": "that" }))], true);
    let asked = json!({ "message": "decide", "workspace": bench.path("two"), "model": model.address,
        "session_id": "another" });
    let other = run_of(&bench.post("/v1/runs", &asked));
    let question = bench.reaches(&other, &["awaiting_clarify"])["pending_clarify_id"].clone();
    let comes_to = |path: &str, body: &Value, status: &str| {
        let answer = bench.post(path, body);
        let mut fields: Vec<&String> = answer.as_object().expect("an object").keys().collect();
        fields.sort_unstable();
        assert_eq!(fields, ["accepted", "event_id", "message", "ok", "safe_message", "status"], "{path}");
        let taken = json!(status == "accepted");
        assert_eq!(answer["status"], status, "{path} {body}: {answer}");
        assert_eq!((&answer["accepted"], &answer["ok"]), (&taken, &taken), "{answer}");
        assert!(answer["event_id"].is_string(), "the run that it is about is there: {answer}");
    };
    let of = |run: &str, verb: &str| format!("/v1/runs/{run}/{verb}");
    let deny = json!({ "approval_id": approval, "choice": "deny" });
    comes_to(&of(&run, "approval"), &json!({ "approval_id": approval, "choice": "once" }), "unsupported");
    comes_to(&of(&other, "approval"), &deny, "not-active");
    let set = json!({ "action": "set", "text": "else" });
    comes_to(&format!("/v1/sessions/{session}/goal"), &set, "conflict");
    // Set to what it is already a goal is set; with another one open, it is edited or cleared first.
    for (action, text, status) in [
        ("set", "decide", "accepted"),
        ("edit", "the left ones", "accepted"),
        ("edit", "the left ones", "accepted"),
        ("set", "decide", "conflict"),
        ("set", "the left ones", "accepted"),
        ("status", "", "accepted"),
    ] {
        comes_to("/v1/sessions/another/goal", &json!({ "action": action, "text": text }), status);
    }
    let (message, answer) = (json!({ "message": "then the summary" }), json!({ "response": "those" }));
    comes_to(&of(&other, "messages"), &message, "accepted");
    let respond = of(&other, &format!("clarifications/{}/respond", question.as_str().expect("a name")));
    comes_to(&respond, &answer, "accepted");
    bench.reaches(&other, &["completed"]);
    comes_to(&respond, &answer, "not-active");
    comes_to(&of(&other, "messages"), &message, "not-active");
    comes_to(&of(&other, "cancel"), &json!({}), "not-active");
    comes_to(&of(&run, "approval"), &deny, "accepted");
    bench.reaches(&run, &["failed"]);
    comes_to(&of(&run, "approval"), &deny, "not-active");
    let (third, _) = bench.asking();
    comes_to(&of(&third, "cancel"), &json!({}), "accepted");
    bench.reaches(&third, &["cancelled"]);
    comes_to(&of(&third, "cancel"), &json!({}), "not-active");
    // Looked at and told, each has the end that was asked for, once.
    for (run, end) in [(&run, "error"), (&other, "done"), (&third, "cancelled")] {
        let events = bench.events(run);
        let ends: Vec<&Value> = events.iter().filter(|event| event["terminal"] == true).collect();
        assert_eq!(ends.iter().map(|event| &event["type"]).collect::<Vec<_>>(), [end]);
    }
}

#[conforms("RA-4.3c-9", "RA-4.3c-10", "RA-4.3c-3", "RA-4.3c-2", "RA-4.3c-6", "RA-4.2-10")]
#[test]
fn what_is_queued_and_what_the_goal_is_outlive_the_host() {
    let mut bench = Bench::new();
    let ask = call("ask", &json!({ "question": "which?", "choices": [] }));
    let end = || call("done", &json!({ "summary": "well" }));
    let model = Model::new(vec![ask, end(), end(), end()], true);
    let run = asks(&bench, &model, "the red ones", None);
    let status = bench.reaches(&run, &["awaiting_clarify"]);
    let (question, session) = (status["pending_clarify_id"].clone(), status["session_id"].clone());
    let goal = |bench: &Bench, action: &str, text: Option<&str>| {
        let path = format!("/v1/sessions/{}/goal", session.as_str().expect("a name"));
        bench.post(&path, &json!({ "action": action, "text": text }))
    };
    let queue = json!({ "message": "then the summary", "mode": "queue" });
    for _ in 0..3 {
        assert_eq!(bench.control(&run, "messages", &queue)["status"], "accepted");
        assert_eq!(goal(&bench, "edit", Some("the blue ones"))["status"], "accepted");
    }
    assert_eq!(goal(&bench, "set", Some("the green ones"))["status"], "conflict", "a goal is open");
    // A mode or an action that there is not is refused as a request, and comes to no run.
    for (path, body) in [
        (format!("/v1/runs/{run}/messages"), json!({ "message": "x", "mode": "inject" })),
        (format!("/v1/sessions/{}/goal", session.as_str().expect("a name")), json!({ "action": "swap" })),
    ] {
        assert_eq!(bench.ask("POST", &path, &[], &body.to_string()).0, 400, "{body}");
    }
    bench.close();
    bench.open();
    let told = goal(&bench, "status", None);
    assert!(told["safe_message"].as_str().expect("text").contains("the blue ones"), "{told}");
    assert_eq!(
        bench.get(&format!("/v1/runs/{run}"))["status"],
        "awaiting_clarify",
        "an edit decides nothing"
    );
    let respond = format!("/v1/runs/{run}/clarifications/{}/respond", question.as_str().expect("a name"));
    assert_eq!(bench.post(&respond, &json!({ "response": "those" }))["status"], "accepted");
    bench.reaches(&run, &["completed"]);
    assert!(model.heard().iter().any(|request| request.contains("then the summary")), "nobody was told");
    for _ in 0..2 {
        assert_eq!(bench.control(&run, "messages", &queue)["status"], "not-active");
        assert_eq!(goal(&bench, "edit", Some("the grey ones"))["status"], "not-active");
    }
    let phases: Vec<Value> =
        bench.events(&run).iter().map(|event| event["payload"]["phase"].clone()).collect();
    let times = |phase: &str| phases.iter().filter(|at| **at == phase).count();
    assert_eq!(
        (times("input_queued"), times("goal_changed"), times("input_absorbed")),
        (1, 1, 2),
        "{phases:?}"
    );
}

/// What is remembered in one home for every project is told there again; the other has nothing of it.
fn knows_of_the_kettle(one: &Bench, two: &Bench) {
    let claim = "the kettle is made of copper";
    let said = json!({ "claim": claim, "everywhere": true, "workspace": one.path("work") });
    let task = one.post("/api/knowledge.remember", &said)["task_id"].as_str().expect("a name").to_owned();
    let asked = one.reaches(&task, &["awaiting_approval"])["pending_approval_id"].clone();
    one.allow(asked.as_str().expect("a name"));
    one.reaches(&task, &["completed"]);
    for (bench, knows) in [(one, true), (two, false)] {
        let held = bench.post("/api/knowledge.memories", &json!({})).to_string();
        assert_eq!(held.contains(claim), knows, "{held}");
        let model = Model::new(vec![call("done", &json!({ "summary": "well" }))], true);
        let run = asks(bench, &model, "what is the kettle made of?", None);
        bench.reaches(&run, &["completed"]);
        let heard = model.heard();
        assert_eq!(heard.iter().any(|request| request.contains(claim)), knows, "{heard:?}");
    }
}

#[conforms("RA-3-12", "RA-2-10", "RA-4.4a-9")]
#[test]
fn two_homes_in_one_process_share_nothing_and_leave_the_environment_alone() {
    let before = environment();
    let (one, two) = (Bench::new(), Bench::new());
    let (first, _) = one.asking();
    let (second, session) = two.start("inventory");
    two.reaches(&second, &["completed", "failed", "awaiting_approval"]);
    assert_eq!(two.ask("GET", &format!("/v1/runs/{first}"), &[], "").0, 404, "the other home's run");
    assert_eq!(one.ask("GET", &format!("/v1/sessions/{session}/runs"), &[], "").0, 404);
    let shown =
        |bench: &Bench, run: &str| bench.post("/api/task.show", &json!({ "task": run }))["workspace"].clone();
    for (bench, run) in [(&one, &first), (&two, &second)] {
        let own = bench.path("work").canonicalize().expect("there");
        assert_eq!(shown(bench, run), own.to_str().expect("UTF-8"));
    }
    knows_of_the_kettle(&one, &two);
    let (status, _) =
        one.ask("POST", "/v1/runs", &[("authorization", &format!("Bearer {}", two.token()))], "{}");
    assert_eq!(status, 401, "a token opens its own home");
    assert_eq!(before, environment(), "variables and the folder of the process are everybody's");
}

#[test]
fn words_that_were_spoken_go_the_way_of_words_that_were_typed() {
    let bench = Bench::new();
    let shape = |metadata: Value| -> Vec<(Value, Vec<String>)> {
        let model = Model::new(vec![call("done", &json!({ "summary": "well" }))], true);
        let asked = json!({
            "message": "say well", "workspace": bench.path("work"), "model": model.address, "metadata": metadata,
        });
        let run = run_of(&bench.post("/v1/runs", &asked));
        bench.reaches(&run, &["completed"]);
        let keys = |event: &Value| event["payload"].as_object().expect("a payload").keys().cloned().collect();
        let told = bench.events(&run);
        // How a text falls into pieces is chance.
        let told = told.iter().filter(|event| event["type"] != "token.delta");
        told.map(|event| (event["type"].clone(), keys(event))).collect()
    };
    assert_eq!(shape(json!({})), shape(json!({ "input": "voice", "confidence": 0.93 })));
}

#[test]
fn a_goal_of_a_quarter_of_a_mebibyte_is_carried_out_by_a_playbook_and_refused_for_a_small_model() {
    let bench = Bench::new();
    bench.files(3);
    let goal = "tidy up, and mind the gap ".repeat(250 * 1024 / 26);
    let asked =
        json!({ "message": goal, "workspace": bench.path("work"), "provider": "playbook", "model": "tidy" });
    let run = run_of(&bench.post("/v1/runs", &asked));
    let status = bench.reaches(&run, &["awaiting_approval", "failed", "paused"]);
    assert_eq!(status["interrupted"], false, "{status}");
    let approval = status["pending_approval_id"].as_str().expect("it asks").to_owned();
    bench.allow(&approval);
    bench.reaches(&run, &["completed"]);
    let tasks = bench.stats()[2].clone();
    let model = Model::new(vec![call("done", &json!({ "summary": "well" }))], true);
    let asked = json!({ "message": goal, "workspace": bench.path("work"), "model": model.address });
    let (status, answer) = bench.ask("POST", "/v1/runs", &[], &asked.to_string());
    assert_eq!((status, &answer["code"]), (400, &json!("usage")), "{answer}");
    assert!(answer["message"].as_str().expect("text").contains("ingest"), "{answer}");
    assert_eq!(bench.stats()[2], tasks, "no task was made");
}
