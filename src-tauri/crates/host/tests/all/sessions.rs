//! One owner, and whoever attaches to it.

use crate::bench::{Bench, PATIENCE};
use host::{Need, Session, Stands, ToldBy, Unlock};
use serde_json::json;
use std::time::{Duration, Instant};

fn note(task: &str, text: &str) -> wire::task::Note {
    wire::task::Note { task: task.to_owned(), text: text.to_owned(), ..wire::task::Note::default() }
}

#[test]
fn whoever_needs_to_write_attaches_and_reads_by_itself() {
    let bench = Bench::new();
    let (run, _) = bench.asking();
    let session = Session::open(&bench.home(), Need::Write, &Unlock::Environment).expect("attached");
    assert!(session.is_attached() && !session.is_owner());
    let shown = session.call(&wire::task::Show { task: run.clone() }).expect("read");
    assert_eq!(shown.row.task_id, run);
    assert_eq!(session.stands(&run, PATIENCE), Stands::AtRest);
    session.call(&note(&run, "hello")).expect("written through the owner");
    let forbidden = session.call(&wire::ledger::Rebuild {}).expect_err("the owner's alone");
    assert_eq!(forbidden.code, wire::Code::Forbidden);
    // Its end changes nothing.
    drop(session);
    assert_eq!(bench.get(&format!("/v1/runs/{run}"))["interrupted"], false);
}

#[test]
fn whoever_only_reads_asks_the_owner_for_what_only_it_knows_and_is_told_by_whom() {
    let mut bench = Bench::new();
    let session = Session::open(&bench.home(), Need::Read, &Unlock::Environment).expect("it reads");
    assert!(!session.is_attached() && !session.is_owner());
    let open = || {
        let (listed, by) = session.told(&wire::keys::List::default()).expect("listed");
        let log = listed.keys.iter().find(|key| key.purpose == model::body::KeyPurpose::Log).expect("a key");
        (log.open, by)
    };
    assert_eq!(open(), (Some(true), ToldBy::Owner));
    bench.local().lock("a test").expect("locked");
    assert_eq!(open(), (Some(false), ToldBy::Owner));
    // It is asked for nothing that it does not let a reader have.
    let refused = session.call(&wire::gate::Halt::default()).expect_err("it only reads");
    assert_eq!(refused.code, wire::Code::NoHost);
    bench.close();
    assert_eq!(open(), (None, ToldBy::Store));
}

#[test]
fn keys_that_were_opened_for_a_while_are_locked_again_by_themselves() {
    let bench = Bench::new();
    let local = bench.local();
    assert!(local.keys().keys().is_some());
    local.lock("a test").expect("locked");
    assert!(local.keys().keys().is_none() && local.keys().why_locked().contains("a test"));
    let wrong = local.unlock_for(Some(b"another passphrase".to_vec().into()), Duration::from_secs(60));
    assert!(wrong.is_err() && local.keys().keys().is_none());
    let words = || Some(crate::bench::VAULT.to_vec().into());
    local.unlock_for(words(), Duration::from_millis(200)).expect("open");
    // Opened once more for longer, the first time does not count any more.
    let begun = Instant::now();
    local.unlock_for(words(), Duration::from_millis(900)).expect("open");
    while local.keys().keys().is_some() {
        assert!(begun.elapsed() < PATIENCE, "never locked");
        std::thread::yield_now();
    }
    assert!(local.keys().why_locked().contains("hermit unlock"), "whoever finds them locked finds why");
    assert!(begun.elapsed() >= Duration::from_millis(900), "the longer time holds");
}

/// How many threads of this process wait to wipe what is known of secrets; none where the system does not tell.
fn that_wipe() -> Option<usize> {
    let all = std::fs::read_dir("/proc/self/task").ok()?.flatten();
    let names = all.filter_map(|one| std::fs::read_to_string(one.path().join("comm")).ok());
    Some(names.filter(|name| name.trim() == "wipe").count())
}

#[test]
fn keys_that_are_locked_again_and_again_while_work_goes_on_are_wiped_by_one_thread() {
    if that_wipe().is_none() {
        return;
    }
    let bench = Bench::new();
    let model = crate::model::Model::new(vec![vec!["once".to_owned(), " more".to_owned()]], false);
    let asked = json!({ "message": "a story", "workspace": bench.path("work"), "model": model.address });
    bench.post("/v1/runs", &asked);
    let until = Instant::now() + PATIENCE;
    while model.heard().is_empty() {
        assert!(Instant::now() < until, "it is not asked");
        std::thread::yield_now();
    }
    for _ in 0..100 {
        bench.local().lock("a test").expect("locked");
    }
    // A thread has its name once it runs. Other tests lock keys as well.
    let until = Instant::now() + PATIENCE;
    let waiting = loop {
        let waiting = that_wipe().expect("it is told");
        if waiting > 0 {
            break waiting;
        }
        assert!(Instant::now() < until, "nothing waits to wipe them");
        std::thread::yield_now();
    };
    assert!(waiting < 20, "{waiting}");
    // With the work they end.
    model.say(50);
    let until = Instant::now() + PATIENCE * 5;
    while that_wipe() != Some(0) {
        assert!(Instant::now() < until, "they wait for ever");
        // Those of other tests go with their work, for which this one leaves time.
        std::thread::sleep(Duration::from_millis(5));
    }
    bench.local().unlock(crate::bench::VAULT.to_vec().into()).expect("open");
    bench.local().lock("a test").expect("locked once more");
    assert!(bench.local().keys().keys().is_none());
}

#[test]
fn when_the_owner_ends_whoever_was_attached_takes_its_place_and_the_work_goes_on() {
    let mut bench = Bench::new();
    let (run, approval) = bench.asking();
    let session = Session::open(&bench.home(), Need::Write, &Unlock::Environment).expect("attached");
    let heard = session.listen().expect("a stream of notices");
    bench.close();
    // Its stream of notices has ended with it.
    while heard.recv_timeout(PATIENCE).is_ok() {}
    session.call(&note(&run, "are you there?")).expect("taken over");
    assert!(session.is_owner());
    assert!(session.address().is_some(), "and others can attach to it");
    let until = Instant::now() + PATIENCE;
    loop {
        let task = session.call(&wire::task::Show { task: run.clone() }).expect("read");
        let waits = task.waits_for.and_then(|waits| waits.id);
        // New words are heard, so it asks anew.
        if waits.is_some_and(|id| id != approval) {
            break;
        }
        assert!(Instant::now() < until, "it does not go on");
        std::thread::yield_now();
    }
    session.close();
}

#[test]
fn an_address_of_a_process_that_is_gone_is_believed_by_nobody() {
    let mut bench = Bench::new();
    bench.close();
    let lock = bench.path("store").join("ledger.lock");
    let mut text: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&lock).expect("a file")).expect("JSON");
    text.as_object_mut().expect("an object").remove("sum");
    // A process that nobody has: the highest there can be.
    text["holder"] = json!({
        "pid": 4_194_303, "since": 1, "session": "x", "address": "127.0.0.1:9", "started_ticks": 1, "boot": "another",
    });
    std::fs::write(&lock, text.to_string()).expect("a file");
    let begun = Instant::now();
    let session = Session::open(&bench.home(), Need::Write, &Unlock::Environment).expect("taken over");
    assert!(session.is_owner());
    assert!(begun.elapsed() < Duration::from_secs(9), "nobody was waited for");
    session.close();
}

#[conforms::conforms("RA-3-3", part = "RA-5.1-5", part = "RA-GS-1")]
#[test]
fn a_host_that_is_told_to_end_leaves_a_model_in_mid_sentence_and_the_next_one_asks_again() {
    let mut bench = Bench::new();
    let model = crate::model::Model::new(vec![vec!["once".to_owned(), " more".to_owned()]], false);
    let asked = json!({ "message": "a story", "workspace": bench.path("work"), "model": model.address });
    let run = bench.post("/v1/runs", &asked)["run_id"].as_str().expect("a name").to_owned();
    let mut stream = bench.stream(&run, "", &[]);
    model.say(1);
    stream.find(|event| event.kind == "token.delta").expect("it speaks");
    // Another process that shows it, such as a window, is told what the host hears.
    let attached = Session::open(&bench.home(), Need::Write, &Unlock::Environment).expect("attached");
    let shown = attached.call(&wire::task::Show { task: run.clone() }).expect("it is told");
    let begins = shown.writing.is_some_and(|words| "once".starts_with(&words));
    assert!(begins && attached.is_attached() && shown.interrupted == Some(false));
    drop(attached);
    let begun = Instant::now();
    bench.close();
    println!("ended after {:?}", begun.elapsed());
    assert!(!bench.path("store").join(gateway::TOKEN_FILE).exists());
    assert_eq!(ledger::holder(bench.home().dir()).expect("readable"), None, "the address is withdrawn");
    bench.open();
    let status = bench.get(&format!("/v1/runs/{run}"));
    assert_eq!(status["interrupted"], true, "nobody works on it yet");
    // What a page shows: the last that is known, and that it is no more than that.
    let task = bench.post("/api/task.show", &json!({ "task": run }));
    assert_eq!((&task["interrupted"], &task["row"]["run_status"]), (&json!(true), &status["status"]));
    assert_eq!(task["writing"], "once", "it is told as what was broken off");
    let told = bench.events(&run).pop().expect("events");
    assert_eq!((&told["event_id"], &told["terminal"]), (&status["last_event_id"], &json!(false)));
    bench.post("/api/host.resume", &json!({}));
    model.say(50);
    bench.reaches(&run, &["completed"]);
    // Words of two askings are never one text: each has its segment, and counts from its own beginning.
    let mut segments = std::collections::BTreeMap::<u64, (String, String)>::new();
    for event in bench.events(&run).iter().filter(|event| event["type"] == "token.delta") {
        let text = |name: &str| event["payload"][name].as_str().expect("a text").to_owned();
        let asking = event["payload"]["asking"].as_u64().expect("a number");
        let (segment, words) = segments.entry(asking).or_insert((text("segment_id"), String::new()));
        assert_eq!((&text("segment_id"), &event["payload"]["from"]), (&*segment, &json!(words.len())));
        words.push_str(&text("delta"));
    }
    let told: Vec<(String, String)> = segments.into_values().collect();
    let words: Vec<&str> = told.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(words, ["once", "once more"]);
    assert_ne!(told[0].0, told[1].0);
    let reader = bench.reader();
    assert!(reader.task_head(run.parse().expect("an id")).expect("readable").is_some());
}

#[test]
fn a_deadline_passes_with_nobody_calling() {
    let bench = Bench::new();
    bench.files(3);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_millis();
    let deadline = i64::try_from(now).expect("a time") + 3_000;
    let asked = json!({
        "workspace": bench.path("work"), "reasoner": { "kind": "playbook", "name": "tidy" }, "deadline_at": deadline,
    });
    let heard = api::Host::listen(&**bench.local()).expect("notices");
    let submitted = bench.post("/api/task.submit", &asked);
    let run = submitted["task_id"].as_str().expect("a name").to_owned();
    // From here on nothing is asked of the host: it is only listened to.
    let (mut waited, until) = (false, Instant::now() + PATIENCE);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match heard.recv_timeout(left).expect("it goes on by itself") {
            wire::Notice::Event { event_type, .. } if event_type == "approval.requested" => waited = true,
            wire::Notice::Event { event_type, .. } if event_type == "attempt.terminated" => break,
            _ => {}
        }
    }
    assert!(waited, "a person was waited for");
    bench.reaches(&run, &["expired"]);
    assert!(Instant::now() < until);
}
