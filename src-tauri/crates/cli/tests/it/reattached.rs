//! Controls of runs through hosts that never saw the run begin, each killed as soon as it has answered: whatever a host
//! would keep of a run in its own memory is gone by then.

use crate::bench::{APPROVAL, Bench, VAULT, text};
use crate::client::{Served, reaches};
use conforms::conforms;
use serde_json::{Value, json};
use std::io::Write as _;
use std::net::TcpListener;
use testkit::{Chat, Large};

/// What a client said, which no answer to a control repeats.
const SAID: [&str; 3] = ["then the summary, quince", "the second one, quince", "quince"];
/// What the kernel calls the stages of its work; no contract has these words.
const INSIDE: [&str; 6] =
    ["compiling_context", "awaiting_policy", "receipt_pending", "authorized", "superseded", "leased"];

/// What the contract has each family carry.
const CARRIES: [(&str, &[&str]); 16] = [
    ("run.started", &["status", "controls", "session_id", "workspace", "profile", "model", "toolset"]),
    ("status", &["status", "controls", "session_id", "workspace", "profile", "model", "toolset"]),
    ("token.delta", &["segment_id", "delta", "content_type"]),
    ("progress", &["phase", "text"]),
    ("tool.started", &["tool_call_id", "name", "arguments", "started_at"]),
    ("tool.done", &["tool_call_id", "result", "status", "duration_ms", "error"]),
    ("approval.requested", &["approval_id", "summary", "risk", "choices"]),
    ("approval.resolved", &["approval_id", "choice", "status"]),
    ("clarify.requested", &["clarify_id", "question", "choices", "input_mode"]),
    ("clarify.resolved", &["clarify_id", "answer", "status"]),
    ("title.updated", &["title", "source", "confidence"]),
    ("usage.updated", &["tokens", "cost_micros", "provider", "model", "duration_ms"]),
    ("usage.final", &["tokens", "cost_micros", "provider", "model", "duration_ms"]),
    ("error", &["code", "message", "diagnostics", "terminal"]),
    ("cancelled", &["status", "usage", "result"]),
    ("done", &["status", "usage", "result"]),
];
/// The envelope of every event.
const ENVELOPE: [&str; 8] =
    ["created_at", "event_id", "payload", "run_id", "seq", "session_id", "terminal", "type"];

/// Hosts one after the other over one store, and every answer to a control that they gave.
struct Hosts<'a> {
    bench: &'a Bench,
    now: Option<Served>,
    answers: Vec<Value>,
}

impl Hosts<'_> {
    fn now(&self) -> &Served {
        self.now.as_ref().expect("one serves")
    }

    /// The host is killed where it stands, and the next takes the store.
    fn next(&mut self) {
        drop(self.now.take());
        self.now = Some(Served::new(self.bench));
    }

    fn begin(&self, folder: &str, model: &str, provider: Option<&str>) -> (String, String) {
        let workspace = self.bench.path(folder);
        std::fs::create_dir_all(&workspace).unwrap();
        let asked =
            json!({ "message": "decide", "workspace": workspace, "model": model, "provider": provider });
        let started = self.now().must("POST", "/v1/runs", &asked);
        (text(&started["run_id"]), text(&started["session_id"]))
    }

    #[track_caller]
    fn control(&mut self, path: &str, body: &Value, status: &str) {
        let answer = self.now().must("POST", path, body);
        assert_eq!(answer["status"], status, "{path}: {answer}");
        assert_eq!((&answer["accepted"], &answer["ok"]), (&json!(status == "accepted"), &answer["accepted"]));
        self.answers.push(answer);
    }

    fn times(&self, run: &str, is: impl Fn(&Value) -> bool) -> usize {
        let page = self.now().must("GET", &format!("/v1/runs/{run}/events?limit=500"), &Value::Null);
        let events = page["events"].as_array().unwrap().clone();
        let numbers: Vec<_> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "each once and in order: {numbers:?}");
        events.iter().filter(|event| is(event)).count()
    }
}

/// A model that says nothing of itself, takes every request and never answers one.
fn silent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut method = [0; 4];
            if stream.peek(&mut method).is_ok() && &method == b"GET " {
                let no = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                // Whoever has hung up needs no answer.
                let _ = stream.write_all(no.as_bytes());
            } else {
                held.push(stream);
            }
        }
    });
    format!("openai:http://{address}/v1#words")
}

/// Whichever process executed it, a run is told in the one contract: its envelope, its families, and what each carries.
fn of_one_contract(hosts: &Hosts<'_>, run: &str) {
    let page = hosts.now().must("GET", &format!("/v1/runs/{run}/events?limit=500"), &Value::Null);
    for event in page["events"].as_array().unwrap() {
        let mut fields: Vec<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ENVELOPE);
        let kind = event["type"].as_str().unwrap();
        let carries = CARRIES.iter().find(|(family, _)| *family == kind);
        let (_, keys) = carries.unwrap_or_else(|| panic!("no family of the contract: {event}"));
        for key in *keys {
            assert!(event["payload"].get(key).is_some(), "`{key}` is promised: {event}");
        }
    }
}

/// Nothing of the inside stands in an answer: one shape, the words of the contract, no name of anything within.
fn tells_nothing_of_the_inside(bench: &Bench, hosts: &Hosts<'_>) {
    assert!(hosts.answers.len() > 10);
    let home = bench.path("");
    for answer in &hosts.answers {
        let mut fields: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["accepted", "event_id", "message", "ok", "safe_message", "status"]);
        let status = answer["status"].as_str().unwrap();
        assert!(
            ["accepted", "not-active", "unsupported", "conflict", "expired"].contains(&status),
            "{answer}"
        );
        if let Some(event) = answer["event_id"].as_str() {
            let (run, number) = event.split_once(':').expect("run and number");
            assert!(run.starts_with("task_") && number.bytes().all(|b| b.is_ascii_digit()), "{event}");
        }
        for said in [&answer["message"], &answer["safe_message"]].map(text) {
            let token = hosts.now().token.as_str();
            let secrets = [home.to_str().unwrap(), token, VAULT, APPROVAL];
            let all = SAID.into_iter().chain(INSIDE).chain(secrets);
            let shown: Vec<&str> = all.filter(|word| said.contains(word)).collect();
            assert!(shown.is_empty(), "{said}: {shown:?}");
            let named = said
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .any(|word| word.rsplit_once('_').is_some_and(|(_, hex)| hex.len() == 32));
            assert!(!named, "the name of something within: {said}");
        }
    }
}

/// Whatever was asked again, and under how many hosts: each thing came about once.
fn each_thing_once(hosts: &Hosts<'_>, runs: [&String; 4]) {
    let [tidies, asks, thinks, _] = runs;
    let kind = |wanted: &'static str| move |event: &Value| event["type"] == wanted;
    assert_eq!(hosts.times(tidies, kind("approval.resolved")), 1);
    assert_eq!(hosts.times(asks, kind("clarify.requested")), 1);
    assert_eq!(hosts.times(asks, kind("clarify.resolved")), 1);
    assert_eq!(hosts.times(asks, |event| event["payload"]["phase"] == "input_queued"), 1);
    assert_eq!(hosts.times(thinks, kind("cancelled")), 1);
    for run in runs {
        assert_eq!(hosts.times(run, |event| event["terminal"] == true), 1, "one end");
        of_one_contract(hosts, run);
    }
}

#[conforms(
    "RA-1.4-9",
    "RA-4.2-16",
    "RA-4.3a-2",
    "RA-4.3b-1",
    "RA-4.3b-3",
    "RA-4.3c-1",
    "RA-4.3c-4",
    "RA-4.3c-7",
    "RA-4.4c-3",
    "RA-4.4f-3",
    part = "RA-1-1",
    part = "RA-4.4-1",
    part = "RA-4.4a-2",
    part = "RA-4.4b-4",
    part = "RA-5.2-2"
)]
#[test]
fn each_control_is_taken_by_a_host_that_never_saw_the_run_and_outlives_that_host() {
    let bench = Bench::new();
    let call = |tool: &str, arguments: Value| json!({ "tool": tool, "arguments": arguments });
    let ask = call("ask", json!({ "question": "which one?", "choices": [] }));
    let asking = Chat::saying(Large::STRONG, vec![ask, call("done", json!({ "summary": "that one" }))]);
    let silent = silent();
    let mut hosts = Hosts { bench: &bench, now: Some(Served::new(&bench)), answers: Vec::new() };
    let (tidies, _) = hosts.begin("folder", "tidy", Some("playbook"));
    let (asks, _) = hosts.begin("one", &asking.address(), None);
    let (thinks, _) = hosts.begin("two", &silent, None);
    let (rests, session) = hosts.begin("three", &silent, None);
    let approval = text(&reaches(hosts.now(), &tidies, "awaiting_approval")["pending_approval_id"]);
    let question = text(&reaches(hosts.now(), &asks, "awaiting_clarify")["pending_clarify_id"]);
    reaches(hosts.now(), &thinks, "running");
    reaches(hosts.now(), &rests, "running");
    let path = |run: &str, verb: &str| format!("/v1/runs/{run}/{verb}");
    let goal = format!("/v1/sessions/{session}/goal");
    let deny = json!({ "approval_id": approval, "choice": "deny" });
    let respond = path(&asks, &format!("clarifications/{question}/respond"));
    let queue = json!({ "message": SAID[0], "mode": "queue" });

    hosts.next();
    let status = hosts.now().must("GET", &format!("/v1/runs/{tidies}"), &Value::Null);
    assert_eq!(status["pending_approval_id"], json!(approval), "the same question waits: {status}");
    hosts.control(
        &path(&tidies, "approval"),
        &json!({ "approval_id": approval, "choice": "once" }),
        "unsupported",
    );
    hosts.control(&path(&tidies, "approval"), &deny, "accepted");
    hosts.control(&path(&asks, "messages"), &queue, "accepted");
    hosts.control(&path(&thinks, "cancel"), &json!({}), "accepted");
    hosts.control(&goal, &json!({ "action": "pause" }), "accepted");

    hosts.next();
    reaches(hosts.now(), &tidies, "failed");
    reaches(hosts.now(), &thinks, "cancelled");
    reaches(hosts.now(), &rests, "paused");
    hosts.control(&path(&tidies, "approval"), &deny, "not-active");
    hosts.control(&path(&thinks, "cancel"), &json!({}), "not-active");
    hosts.control(&path(&thinks, "messages"), &queue, "not-active");
    hosts.control(&respond, &json!({ "response": SAID[1] }), "accepted");
    hosts.control(&goal, &json!({ "action": "resume" }), "accepted");

    hosts.next();
    reaches(hosts.now(), &asks, "completed");
    reaches(hosts.now(), &rests, "running");
    hosts.control(&respond, &json!({ "response": SAID[1] }), "not-active");
    hosts.control(&goal, &json!({ "action": "clear" }), "accepted");
    hosts.next();
    reaches(hosts.now(), &rests, "cancelled");
    hosts.control(&goal, &json!({ "action": "pause" }), "not-active");

    let heard = asking.requests();
    for said in [SAID[0], SAID[1]] {
        let first = heard.iter().position(|request| request.to_string().contains(said));
        assert!(first.is_some_and(|at| at > 0), "`{said}` was said to one host and heard under the next");
    }
    each_thing_once(&hosts, [&tidies, &asks, &thinks, &rests]);
    tells_nothing_of_the_inside(&bench, &hosts);
}
