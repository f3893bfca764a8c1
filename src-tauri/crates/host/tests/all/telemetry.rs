//! A collector of telemetry that a person named is told of tasks that ended, without a word of what they were about; nobody else is.

use crate::bench::{Bench, PATIENCE};
use crate::model::{Model, call};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use testkit::{Answers, Server};
use wire::host::Level;

/// Words of a person, their files and their model; none of them is for a collector.
const PLANTED: [&str; 4] = ["planted-goal", "planted-name", "planted-content", "planted-summary"];
/// Long enough for what must not come.
const QUIET: Duration = Duration::from_millis(700);

/// A collector that takes everything, while it is not down.
fn collector(is_down: &Arc<AtomicBool>) -> Server {
    let is_down = Arc::clone(is_down);
    Server::begin(move |_| match is_down.load(Ordering::SeqCst) {
        true => Answers::With(503, vec![], String::new()),
        false => Answers::With(200, vec![], "{}".to_owned()),
    })
}

fn settings(bench: &Bench, settings: &Value) {
    std::fs::write(bench.path("store").join("config.json"), settings.to_string()).expect("settings");
}

fn until(what: &str, mut so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < until, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Names a collector, and waits until it is known what was before; the run that waits meanwhile, and its approval.
fn turned_on(bench: &Bench, server: &Server) -> (String, String) {
    settings(bench, &json!({ "telemetry": { "otlp": server.url("") } }));
    let waits = bench.asking();
    until("telemetry is on", || bench.path("store").join("telemetry.json").exists());
    waits
}

fn spans(server: &Server) -> Vec<Value> {
    let heard = server.heard().into_iter().filter(|one| one.line == "POST /v1/traces");
    let bodies = heard.map(|one| serde_json::from_str::<Value>(&one.body).expect("JSON"));
    let spans = bodies.flat_map(|body| {
        body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans").clone()
    });
    spans.collect()
}

/// What a span says of itself, each as text.
fn said(span: &Value) -> BTreeMap<String, String> {
    let pairs = span["attributes"].as_array().expect("attributes").iter().map(|one| {
        let (_, value) = one["value"].as_object().expect("a value").iter().next().expect("one");
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        (one["key"].as_str().expect("a key").to_owned(), text)
    });
    pairs.collect()
}

/// A task whose goal, file, content and answer hold planted words.
fn planted(bench: &Bench) -> (String, Model) {
    std::fs::write(bench.path("work").join("planted-name.txt"), "planted-content\n").expect("a file");
    let look = call("read", &json!({ "path": "planted-name.txt" }));
    let model = Model::new(vec![look, call("done", &json!({ "summary": "planted-summary" }))], true);
    let asked = json!({ "message": "planted-goal", "workspace": bench.path("work"), "model": model.address });
    let run = bench.post("/v1/runs", &asked)["run_id"].as_str().expect("a name").to_owned();
    bench.reaches(&run, &["completed"]);
    (run, model)
}

#[test]
fn a_collector_receives_the_spans_of_a_task_and_no_word_of_it() {
    let bench = Bench::new();
    let server = collector(&Arc::default());
    let (waiting, _) = turned_on(&bench, &server);
    let (run, model) = planted(&bench);
    until("the task is told", || !spans(&server).is_empty());
    let spans = spans(&server);
    let named = |name: &str| spans.iter().filter(|span| span["name"] == name).collect::<Vec<_>>();
    let [task] = named("task")[..] else { panic!("one task has ended: {spans:#?}") };
    let of_task = said(task);
    assert_eq!(
        (of_task["hermit.task.id"].as_str(), of_task["hermit.task.status"].as_str()),
        (&*run, "completed")
    );
    assert!(task.get("parentSpanId").is_none());
    // Task, step, attempt, action and model: each within the one before.
    for (inner, outer) in [("step", "task"), ("attempt", "step"), ("action", "attempt"), ("model", "attempt")]
    {
        let outer = named(outer);
        assert!(!named(inner).is_empty(), "no {inner} in {spans:#?}");
        for span in named(inner) {
            assert!(outer.iter().any(|outer| outer["spanId"] == span["parentSpanId"]), "{span}");
        }
    }
    let digits = |value: &Value| value.as_str().expect("digits").to_owned();
    for span in &spans {
        assert_eq!(span["traceId"], task["traceId"]);
        assert_eq!((digits(&span["traceId"]).len(), digits(&span["spanId"]).len()), (32, 16));
        let at = |name: &str| digits(&span[name]).parse::<u64>().expect("a time");
        assert!(at("startTimeUnixNano") > 0 && at("endTimeUnixNano") >= at("startTimeUnixNano"), "{span}");
    }
    let actions: Vec<_> = named("action").into_iter().map(said).collect();
    assert!(actions.iter().any(|one| one["hermit.action.class"] == "read_local"), "{actions:?}");
    until("it is counted", || {
        server
            .heard()
            .iter()
            .any(|one| one.body.contains("hermit.tasks.ended") && one.body.contains("completed"))
    });
    let whole: String = server.heard().iter().map(|one| format!("{one:?}")).collect();
    let folder = bench.path("work").to_str().expect("a path").to_owned();
    let own = [folder.as_str(), "000.txt", "number 0", model.address.as_str(), "tidy", waiting.as_str()];
    for word in PLANTED.into_iter().chain(own) {
        assert!(!whole.contains(word), "`{word}` was told");
    }
    until("how far it came is kept", || bench.local().facts().telemetry.is_some_and(|told| told.sent > 0));
    let facts = bench.local().facts();
    let telemetry = facts.telemetry.expect("it is on");
    assert_eq!(telemetry.failing, None);
    assert_eq!(telemetry.otlp, server.url(""));
    let told = facts.facts.into_iter().find(|fact| fact.name == "telemetry").expect("a fact");
    assert!(told.level == Level::Fine && told.value.contains("without contents"), "{told:?}");
}

#[test]
fn nothing_is_sent_until_a_person_names_a_collector_nor_when_they_have_taken_it_away() {
    let bench = Bench::new();
    let server = collector(&Arc::default());
    planted(&bench);
    let told = bench.local().facts();
    assert_eq!(told.telemetry, None);
    let facts = told.facts;
    assert!(facts.iter().all(|fact| fact.name != "telemetry"), "{facts:?}");
    assert!(!bench.path("store").join("telemetry.json").exists());
    turned_on(&bench, &server);
    // What ended before is not told.
    std::thread::sleep(QUIET);
    assert!(spans(&server).is_empty());
    settings(&bench, &json!({}));
    planted(&bench);
    until("it is off", || !bench.path("store").join("telemetry.json").exists());
    let before = server.heard().len();
    planted(&bench);
    std::thread::sleep(QUIET);
    assert_eq!(server.heard().len(), before);
    let refused = json!({ "telemetry": { "otlp": "http://name:password@otel.example/" } });
    settings(&bench, &refused);
    let facts = bench.local().facts().facts;
    let settings = facts.iter().find(|fact| fact.name == "settings").expect("a fact");
    assert!(settings.level == Level::Trouble && !settings.value.contains("password@"), "{settings:?}");
}

#[test]
fn a_collector_that_is_down_holds_up_no_work_is_told_of_and_receives_it_from_the_next_host() {
    let mut bench = Bench::new();
    let is_down = Arc::new(AtomicBool::new(true));
    let server = collector(&is_down);
    turned_on(&bench, &server);
    let (run, _) = planted(&bench);
    let fact = |bench: &Bench| {
        let facts = bench.local().facts().facts;
        facts.into_iter().find(|fact| fact.name == "telemetry").expect("a fact")
    };
    until("it was tried", || !spans(&server).is_empty());
    until("it is told", || fact(&bench).level == Level::Note);
    assert!(fact(&bench).value.contains("it answers 503"), "{:?}", fact(&bench));
    bench.close();
    is_down.store(false, Ordering::SeqCst);
    let before = spans(&server).len();
    bench.open();
    until("the next host tells it", || spans(&server).len() > before);
    let tasks: Vec<Value> =
        spans(&server).split_off(before).into_iter().filter(|one| one["name"] == "task").collect();
    assert_eq!(tasks.iter().map(|one| said(one)["hermit.task.id"].clone()).collect::<Vec<_>>(), [run]);
    until("all is well", || fact(&bench).level == Level::Fine);
}

#[test]
fn what_ended_while_it_was_off_is_not_told_although_a_collector_was_down_before_and_after() {
    let bench = Bench::new();
    let is_down = Arc::new(AtomicBool::new(true));
    let server = collector(&is_down);
    turned_on(&bench, &server);
    planted(&bench);
    // Counts were not taken, and a trace three times: then it is waited for a minute.
    until("it is tried again and again", || {
        let record = std::fs::read(bench.path("store").join("telemetry.json")).unwrap_or_default();
        let record: Value = serde_json::from_slice(&record).unwrap_or_default();
        record["failures"].as_u64().is_some_and(|failures| failures >= 4)
    });
    let on = json!({ "telemetry": { "otlp": server.url("") } });
    settings(&bench, &json!({}));
    let (off, _) = planted(&bench);
    settings(&bench, &on);
    is_down.store(false, Ordering::SeqCst);
    let before = spans(&server).len();
    planted(&bench);
    until("telemetry is on again", || bench.path("store").join("telemetry.json").exists());
    // What ends within moments of the settings' writing is left out as well: the disk's clock may lag.
    let written =
        std::fs::metadata(bench.path("store").join("config.json")).and_then(|found| found.modified());
    let written = written.expect("settings");
    until("a moment has passed", || written.elapsed().is_ok_and(|since| since > Duration::from_millis(500)));
    let (last, _) = planted(&bench);
    let tasks = || {
        let told = spans(&server).split_off(before).into_iter().filter(|one| one["name"] == "task");
        told.map(|one| said(&one)["hermit.task.id"].clone()).collect::<Vec<_>>()
    };
    let is_told = || tasks().contains(&last);
    let begun = Instant::now();
    while !is_told() {
        assert!(begun.elapsed() < PATIENCE * 2, "never: what ended last is told");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!tasks().contains(&off), "it ended while no collector was named");
}
