//! Whoever serves a run may die: the run goes on, and is found again by whoever serves next.

use crate::bench::{Bench, PATIENCE};
use crate::contract::run_of;
use crate::model::Model;
use conforms::conforms;
use gateway::{Options, Server, Token};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Instant;

/// What a client shows of a run: pieces of text joined, tools by their call, the standing. Told twice it is the same.
#[derive(Debug, Default, PartialEq)]
pub struct Shown {
    pub seen: u64,
    pub text: String,
    pub tools: BTreeMap<String, String>,
    asked: BTreeMap<String, String>,
    status: String,
    pub ended: Option<String>,
}

impl Shown {
    pub fn take(&mut self, event: &Value) {
        let seq = event["seq"].as_u64().expect("a number");
        if seq <= self.seen {
            return;
        }
        self.seen = seq;
        let (kind, payload) = (event["type"].as_str().expect("a word"), &event["payload"]);
        let word = |name: &str| payload[name].as_str().unwrap_or_default().to_owned();
        match kind {
            "token.delta" => self.text += &word("delta"),
            "run.started" | "status" => self.status = word("status"),
            "approval.requested" => drop(self.asked.insert(word("approval_id"), "pending".into())),
            "approval.resolved" => drop(self.asked.insert(word("approval_id"), word("status"))),
            _ if kind.starts_with("tool.") => drop(self.tools.insert(word("tool_call_id"), kind.to_owned())),
            _ => {}
        }
        if event["terminal"] == true {
            self.ended = Some(kind.to_owned());
        }
    }

    pub fn of<'e>(events: impl IntoIterator<Item = &'e Value>) -> Self {
        let mut shown = Self::default();
        events.into_iter().for_each(|event| shown.take(event));
        shown
    }
}

/// A further gateway over the same host, with a token of its own.
fn another(bench: &Bench) -> (Server, String) {
    let token = Token::new([9; 32]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let draw: gateway::Draw = Arc::new(|| [3; 32]);
    let options = Options {
        token: token.clone(),
        draw,
        pages: None,
        keeper: Arc::clone(bench.local()) as _,
        origin: None,
    };
    let host: Arc<dyn api::Host> = Arc::clone(bench.local()) as _;
    (gateway::serve(host, listener, options).expect("served"), format!("Bearer {}", token.reveal()))
}

#[conforms(
    part = "RA-5.2-1",
    part = "RA-5.2-2",
    "RA-4.4a-2",
    part = "RA-4.4a-7",
    part = "RA-4.4b-2",
    "RA-4.4b-4",
    "RA-4.4c-1",
    "RA-4.4d-1",
    "RA-4.4-1",
    "RA-4.4f-5",
    "RA-S-1",
    "RA-S-3",
    part = "RA-P-1",
    "RA-P-2",
    part = "RA-4.1-5",
    part = "RA-4.4f-2"
)]
#[test]
fn whoever_serves_dies_and_the_run_goes_on_and_is_found_again() {
    let bench = Bench::new();
    let model = Model::new(vec![(0..40).map(|n| format!("word{n} ")).collect()], false);
    let (server, bearer) = another(&bench);
    let at = |server: &Server, bearer: &str| Front {
        address: server.address().to_string(),
        bearer: bearer.to_owned(),
    };
    let front = at(&server, &bearer);
    let asked = json!({ "message": "a story", "workspace": bench.path("work"), "model": model.address });
    let started = front.ask("POST", "/v1/runs", &asked.to_string());
    let (run, session) = (run_of(&started), started["session_id"].as_str().expect("a name").to_owned());
    let mut shown = Shown::default();
    let mut stream = bench.stream(&run, "", &[]);
    model.say(10);
    let mut heard = 0;
    for event in &mut stream {
        if event.kind == "resumed" {
            continue;
        }
        shown.take(&event.data);
        heard += event.data["payload"]["delta"].as_str().map_or(0, |text| text.matches("word").count());
        if heard >= 10 {
            break;
        }
    }
    // The client dies, and the gateway it came through with it.
    drop(stream);
    server.stop();
    assert!(std::net::TcpStream::connect(&front.address).is_err(), "nobody answers there any more");
    model.say(10);
    let (server, bearer) = another(&bench);
    let front = at(&server, &bearer);
    let runs = front.ask("GET", &format!("/v1/sessions/{session}/runs"), "");
    assert_eq!(runs["active_run_id"], run, "found again: {runs}");
    let status = front.ask("GET", &format!("/v1/runs/{run}"), "");
    assert_eq!((&status["status"], &status["interrupted"]), (&json!("running"), &json!(false)), "{status}");
    let until = Instant::now() + PATIENCE;
    while shown.text.matches("word").count() < 20 {
        let page = front.ask("GET", &format!("/v1/runs/{run}/events?after_seq={}&limit=500", shown.seen), "");
        page["events"].as_array().expect("events").iter().for_each(|event| shown.take(event));
        assert!(Instant::now() < until, "it did not go on: {shown:?}");
    }
    let words: String = (0..20).map(|n| format!("word{n} ")).collect();
    assert_eq!(shown.text, words, "what came while nobody served, once");
    let cancelled = front.ask("POST", &format!("/v1/runs/{run}/cancel"), "{}");
    assert_eq!(cancelled["status"], "accepted", "it can still be ended: {cancelled}");
    bench.reaches(&run, &["cancelled"]);
    let all = bench.events(&run);
    let status = front.ask("GET", &format!("/v1/runs/{run}"), "");
    assert_eq!((&status["status"], Some(&status["terminal_event"])), (&json!("cancelled"), all.last()));
    let fresh = Shown::of(&all);
    all.iter().for_each(|event| shown.take(event));
    assert_eq!(shown, fresh, "pieced together and told at once it looks the same");
    assert_eq!(all.iter().filter(|event| event["terminal"] == true).count(), 1);
}

#[conforms("RA-4.4a-3")]
#[test]
fn a_run_that_nobody_looks_at_writes_its_events_in_order_to_its_end() {
    let bench = Bench::new();
    let words: Vec<String> = (0..40).map(|n| format!("word{n} ")).collect();
    let model = Model::new(vec![words.clone()], false);
    let (server, bearer) = another(&bench);
    let front = Front { address: server.address().to_string(), bearer };
    let asked = json!({ "message": "a story", "workspace": bench.path("work"), "model": model.address });
    let run = run_of(&front.ask("POST", "/v1/runs", &asked.to_string()));
    server.stop();
    // From here on nobody follows it, and nobody asks of it over any gateway, until it is over.
    model.say(words.len());
    let id = run.parse().expect("a name");
    let until = Instant::now() + PATIENCE;
    loop {
        let query = api::Host::query(&**bench.local()).expect("a store");
        if query.task(id).expect("readable").is_some_and(|row| row.status.is_terminal()) {
            break;
        }
        assert!(Instant::now() < until, "it waits for somebody who looks");
        std::thread::yield_now();
    }
    let all = bench.events(&run);
    let seqs: Vec<u64> = all.iter().map(|event| event["seq"].as_u64().expect("a number")).collect();
    assert!(seqs.iter().copied().eq(1..=all.len() as u64), "each once and in order: {seqs:?}");
    let title = all.iter().find(|event| event["type"] == "title.updated").expect("a title");
    assert_eq!(
        (&title["payload"]["title"], &title["payload"]["source"]),
        (&json!("a story"), &json!("goal")),
        "nobody has named it"
    );
    let shown = Shown::of(&all);
    assert_eq!((shown.text, shown.ended.as_deref()), (words.concat(), Some("done")));
    let terminal: Vec<&Value> = all.iter().filter(|event| event["terminal"] == true).collect();
    assert_eq!(terminal, [all.last().expect("events")]);
    let status = bench.get(&format!("/v1/runs/{run}"));
    assert_eq!((&status["status"], &status["terminal_event"]), (&json!("completed"), terminal[0]));
    // By a place in the journal the rest is had, as it was written.
    let behind = bench.get(&format!("/v1/runs/{run}/events?after_seq={}&limit=500", all.len() - 1));
    assert_eq!(behind["events"], json!([terminal[0]]));
}

/// A client of one gateway.
struct Front {
    address: String,
    bearer: String,
}

impl Front {
    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let config =
            ureq::Agent::config_builder().http_status_as_error(false).proxy(None).max_idle_connections(0);
        let config = config.timeout_global(Some(std::time::Duration::from_secs(120)));
        let agent = ureq::Agent::new_with_config(config.build());
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header("authorization", &self.bearer);
        let answer = match body {
            "" => agent.run(request.body(()).expect("a request")),
            body => agent.run(request.body(body.to_owned()).expect("a request")),
        };
        let mut answer = answer.expect("an answer");
        assert_eq!(answer.status(), 200, "{path}");
        serde_json::from_slice(&answer.body_mut().read_to_vec().expect("a body")).expect("JSON")
    }
}
