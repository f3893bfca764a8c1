//! The run stream beside the ledger: caught up after a restart, told again when it is lost or damaged.

use crate::bench::Bench;
use conforms::conforms;
use serde_json::{Value, json};

fn without_deltas(events: &[Value]) -> Vec<(Value, Value)> {
    let whole = events.iter().filter(|event| event["payload"].get("ledger_event_id").is_some());
    whole.map(|event| (event["type"].clone(), event["payload"]["ledger_event_id"].clone())).collect()
}

#[conforms(part = "RA-3-4", "RA-4.1-4", part = "RA-4.4a-4", "RA-2-8", "RA-2-11", part = "RA-4.4f-1")]
#[test]
fn a_run_goes_on_under_the_next_host_and_its_stream_behind_the_last_event() {
    let mut bench = Bench::new();
    let (run, approval) = bench.asking();
    let first = bench.events(&run);
    let last = first.last().expect("events")["event_id"].as_str().expect("a name").to_owned();
    bench.close();
    bench.open();
    let again = bench.events(&run);
    assert_eq!(first, again, "told once");
    let status = bench.get(&format!("/v1/runs/{run}"));
    assert_eq!(status["pending_approval_id"], approval);
    let session = status["session_id"].as_str().expect("a name");
    let found = bench.get(&format!("/v1/sessions/{session}/runs"));
    assert_eq!((&found["active_run_id"], &found["runs"][0]["run_id"]), (&json!(run), &json!(run)));
    let stream = bench.stream(&run, "", &[("last-event-id", &last)]);
    bench.allow(&approval);
    let rest: Vec<Value> = stream.filter(|event| event.kind != "resumed").map(|event| event.data).collect();
    assert_eq!(rest.last().expect("events")["type"], "done");
    let all = bench.events(&run);
    assert_eq!([first, rest].concat(), all);
    // One that has ended is found by its session as well, and by the next host.
    let session = session.to_owned();
    bench.close();
    bench.open();
    let found = bench.get(&format!("/v1/sessions/{session}/runs"));
    assert_eq!(found["active_run_id"], Value::Null, "{found}");
    assert_eq!(
        (&found["runs"][0]["run_id"], &found["runs"][0]["status"]),
        (&json!(run), &json!("completed"))
    );
}

#[test]
fn work_of_a_host_that_kept_no_stream_is_told_by_the_next() {
    let mut bench = Bench::new();
    bench.files(2);
    bench.close();
    // A short command owns the store without serving it.
    let home = bench.home();
    let session =
        host::Session::open(&home, host::Need::Write, &host::Unlock::Environment).expect("nobody holds it");
    let submit = wire::task::Submit {
        workspace: bench.path("work").display().to_string(),
        reasoner: wire::task::Reasoner::Playbook {
            name: "inventory".to_owned(),
            text: None,
            parameters: std::collections::BTreeMap::new(),
        },
        ..Default::default()
    };
    let run = session.call(&submit).expect("submitted").task_id;
    while session.stands(&run, std::time::Duration::from_secs(1)) == host::Stands::AtWork {}
    session.close();
    drop(session);
    bench.open();
    bench.post("/api/host.resume", &serde_json::json!({}));
    bench.reaches(&run, &["awaiting_approval"]);
    let events = bench.events(&run);
    assert_eq!(events.first().expect("events")["type"], "run.started");
    assert!(events.iter().any(|event| event["type"] == "approval.requested"));
}

#[conforms("RA-5.1-4")]
#[test]
fn a_journal_that_is_lost_or_damaged_is_told_again_from_the_ledger() {
    let mut bench = Bench::new();
    let (run, approval) = bench.asking();
    bench.allow(&approval);
    bench.reaches(&run, &["completed"]);
    let first = bench.events(&run);
    let journal = bench.path("store").join(runstream::FILE);
    for damage in [None, Some(b"this is no database at all, whatever its name says".repeat(100))] {
        bench.close();
        for tail in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{tail}", journal.display()));
        }
        if let Some(bytes) = &damage {
            std::fs::write(&journal, bytes).expect("a file");
        }
        bench.open();
        let again = bench.events(&run);
        assert_eq!(without_deltas(&first), without_deltas(&again), "every event but the deltas");
        assert!(!again.iter().any(|event| event["type"] == "token.delta"));
        assert_eq!(again.last().expect("events")["type"], "done");
        assert_eq!(bench.path("store").join("journal.db.damaged-1").exists(), damage.is_some());
    }
}

#[test]
fn a_goal_longer_than_an_event_is_cut_in_the_stream_and_whole_in_the_ledger() {
    let bench = Bench::new();
    let goal = "g".repeat(model::limits::GOAL_BYTES_MAX);
    let asked = serde_json::json!({
        "message": goal, "workspace": bench.path("work"), "provider": "playbook", "model": "inventory",
    });
    let run = bench.post("/v1/runs", &asked)["run_id"].as_str().expect("a name").to_owned();
    let started = bench.events(&run).remove(0);
    assert_eq!(
        (&started["type"], &started["payload"]["cut"]),
        (&Value::from("run.started"), &Value::from(true))
    );
    let task = api::call(&**bench.local(), "task.show", serde_json::json!({ "task": run })).expect("shown");
    assert_eq!(task["goal"], goal);
}
