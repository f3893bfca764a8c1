//! Telemetry through the built programs: a host tells nobody until a person names a collector, and then numbers, kinds and identifiers of
//! what ended from then on, and no word of it.

use super::attached::{Served, lying};
use super::stage::Stage;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use testkit::{Answers, Server};

/// How long anything expected may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// The file that is tidied, and what is in it: neither is for a collector.
const NAME: &str = "planted-name.txt";
const CONTENT: &str = "planted-content";

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A file is tidied away, with a person's yes; the task.
fn tidied(stage: &Stage) -> String {
    std::fs::write(stage.work().join(NAME), CONTENT).expect("a file");
    let (task, approval) = stage.asks("tidy");
    let (code, screen) = stage.approve(&approval);
    assert_eq!((code, lying(stage, "Documents")), (0, 1), "{screen}");
    // The next one is tidied into an empty folder again.
    std::fs::remove_dir_all(stage.work().join("Documents")).expect("it goes");
    task
}

/// The tasks whose trace a collector was told.
fn told(server: &Server) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for one in server.heard().iter().filter(|one| one.line == "POST /v1/traces") {
        let body: Value = serde_json::from_str(&one.body).expect("JSON");
        let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans").clone();
        for span in spans.iter().filter(|span| span["name"] == "task") {
            let said = span["attributes"].as_array().expect("attributes").iter();
            let mut of_task = said.filter(|one| one["key"] == "hermit.task.id");
            let id = of_task.next().and_then(|one| one["value"]["stringValue"].as_str()).expect("a task");
            found.insert(id.to_owned());
        }
    }
    found
}

#[test]
fn a_host_tells_no_collector_until_one_is_named_and_then_no_word_of_the_work() {
    let stage = Stage::new();
    let server = Server::begin(|_| Answers::With(200, vec![], "{}".to_owned()));
    let host = Served::by(&stage);
    let untold = tidied(&stage);
    assert_eq!(stage.hermit(&["doctor"]).json()["telemetry"], Value::Null, "it is off until it is turned on");
    let (known, settings) = (stage.home().join("telemetry.json"), stage.home().join("config.json"));
    assert!(!known.exists());

    // Turned on in the file, while the host runs.
    let before = std::fs::read(&settings).unwrap_or_else(|_| b"{}".to_vec());
    let mut named: Value = serde_json::from_slice(&before).expect("settings");
    named["telemetry"] = json!({ "otlp": server.url("") });
    std::fs::write(&settings, named.to_string()).expect("settings");
    // Whatever happens in the store has the host look; what ended before its look stays untold.
    std::fs::write(stage.work().join(NAME), CONTENT).expect("a file");
    let (waiting, approval) = stage.asks("tidy");
    until("the host knows that a collector is named", || known.exists());
    assert_eq!(stage.approve(&approval).0, 0);
    until("the task that ended since is told", || told(&server).contains(&waiting));
    assert_eq!(told(&server), BTreeSet::from([waiting]), "not what ended before: {untold}");
    let sent = || stage.hermit(&["doctor"]).json()["telemetry"]["sent"].as_u64();
    until("the host says how much it has told", || sent().is_some_and(|sent| sent > 0));
    let work = stage.work().to_str().expect("UTF-8").to_owned();
    let store = stage.home().to_str().expect("UTF-8").to_owned();
    for one in server.heard() {
        for word in [NAME, CONTENT, "Documents", &work, &store] {
            assert!(!one.body.to_lowercase().contains(&word.to_lowercase()), "`{word}` in {}", one.body);
        }
    }

    // Taken away again: nothing more is told.
    std::fs::remove_dir_all(stage.work().join("Documents")).expect("it goes");
    std::fs::write(&settings, &before).expect("settings");
    tidied(&stage);
    until("the host has forgotten the collector", || !known.exists());
    let count = server.heard().len();
    tidied(&stage);
    assert_eq!(stage.hermit(&["doctor"]).json()["telemetry"], Value::Null);
    assert_eq!(server.heard().len(), count);
    drop(host);
}
