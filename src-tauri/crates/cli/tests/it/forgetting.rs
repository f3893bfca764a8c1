//! A whole task is erased by the program: whatever was said, read, written or answered in it is in no byte of the store,
//! and other tasks keep all of theirs.

use crate::bench::{Bench, holding, text};
use serde_json::{Value, json};
use std::path::PathBuf;
use testkit::{Chat, Large};

/// A model that says these things one after the other, and then that it is done.
pub fn model(says: Vec<Value>) -> String {
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    Chat::saying(Large::STRONG, says.into_iter().chain([done]).collect()).address()
}

pub fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

/// A task of a model that only says that it is done; one that asks stays open.
fn short(bench: &Bench, goal: &str, says: Value) -> String {
    let address = model(vec![says]);
    let folder = bench.folder();
    let ran = bench.run(&[
        "run",
        "--goal",
        goal,
        "--model",
        &address,
        "--workspace",
        folder.to_str().unwrap(),
        "--json",
    ]);
    text(&ran.json()["row"]["task_id"])
}

#[test]
fn an_erasure_takes_nothing_of_other_tasks_and_is_not_stopped_by_them() {
    let bench = Bench::new();
    std::fs::write(bench.home().join("config.json"), "{\"context_tokens\": 32000}").unwrap();
    let done = || call("done", &json!({ "summary": "the shared answer" }));
    let first = short(&bench, "the same goal", done());
    let second = short(&bench, "the same goal", done());
    let open = short(&bench, "another goal", call("ask", &json!({ "question": "which one?" })));
    let contents = |task: &str| {
        let rows = bench.sqlite(&format!(
            "SELECT content_hash FROM view_artifacts WHERE task_id = '{task}' AND state <> 'expired'"
        ));
        rows.as_array().unwrap().iter().map(|row| text(&row[0])).collect::<Vec<String>>()
    };
    let (theirs, of_open) = (contents(&second), contents(&open));
    let plan = bench.run(&["erase", "--task", &first, "--preview", "--json"]).ends_with(0).json();
    assert_eq!(plan["tasks"], json!([first]), "{plan}");
    for content in plan["contents"].as_array().unwrap() {
        assert!(content["task_id"] != second.as_str() && content["task_id"] != open.as_str(), "{content}");
    }
    assert!(!plan["kept"].as_array().unwrap().is_empty(), "what both have is named: {plan}");

    // The open task shares what the machine looked like, and stops nobody.
    bench.erase(&["--task", &first], crate::bench::APPROVAL).ends_with(0);
    bench.run(&["ledger", "verify", "--content"]).ends_with(0);
    assert_eq!((contents(&second), contents(&open)), (theirs, of_open));
    let shown = bench.run(&["task", "show", &second]).ends_with(0).out;
    assert!(shown.contains("the shared answer") && shown.contains("the same goal"), "{shown}");
    bench.run(&["task", "answer", &open, "this one"]).ends_with(0);

    // The last task that has it takes it along.
    bench.run(&["erase", "--task", &first, "--preview"]).ends_with(0);
    bench.erase(&["--task", &second], crate::bench::APPROVAL).ends_with(0);
    assert_eq!(holding(&bench.home(), b"the shared answer"), Vec::<PathBuf>::new());
    assert_eq!(holding(&bench.home(), b"the same goal"), Vec::<PathBuf>::new());
    for task in [&first, &second] {
        let again = bench.run(&["erase", "--task", task, "--preview"]).ends_with(0).out;
        assert!(again.contains("nothing left to erase"), "{again}");
    }
}
