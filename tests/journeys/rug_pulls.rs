//! A server that offers something else while it is used: what changed is seen at once where it tells of it, and before its
//! next call whatever it says of how long its words hold.

use super::stage::Stage;
use super::tool_servers::{classify, furnished, put, register, work};
use serde_json::{Value, json};
use testkit::{Chat, Large};

/// The toy server in a mode, registered, its tool of a class that asks nobody.
fn pulling(mode: &str) -> Stage {
    let stage = furnished();
    put(&stage, "mode.txt", mode);
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    stage
}

/// A run whose model calls the tool so often: its task, and all that the model was told.
fn runs(stage: &Stage, times: usize) -> (String, Vec<Value>) {
    let call = |n: usize| json!({ "tool": "toy__echo", "arguments": { "text": format!("call {n}") } });
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    let chat = Chat::saying(Large::STRONG, (0..times).map(call).chain([done]).collect());
    let (work, model) = (work(stage), chat.address());
    let run = ["run", "--goal", "say it", "--workspace", &work, "--model", &model];
    let task = stage.hermit(&run).ends(0).json()["row"]["task_id"].as_str().expect("a task").to_owned();
    (task, chat.requests())
}

fn state(stage: &Stage) -> Value {
    stage.hermit(&["tools", "list"]).ends(0).json()["servers"][0]["state"].clone()
}

#[test]
fn a_server_that_tells_of_a_change_during_a_call_is_looked_at_with_that_call() {
    let stage = pulling("pulls_and_tells");
    let (task, _) = runs(&stage, 1);
    assert_eq!(stage.receipt(&task)["result"], "succeeded", "the call itself was of what a person had seen");
    assert_eq!(state(&stage), "changed", "nobody had to call it again");
    let (_, told) = runs(&stage, 1);
    let told = told.last().expect("a request").to_string();
    assert!(told.contains("tools add toy --again"), "{told}");
    stage.is_sound();
}

#[test]
fn a_server_that_says_that_its_list_holds_for_an_hour_is_asked_before_each_call_all_the_same() {
    let stage = pulling("new_wire_pulls");
    let (task, told) = runs(&stage, 2);
    let told = told.last().expect("a request").to_string();
    assert!(told.contains("call 0") && told.contains("tools add toy --again"), "{told}");
    let rows = stage.hermit(&["receipts", "list", "--task", &task]).ends(0).json();
    let results: Vec<&Value> =
        rows["rows"].as_array().expect("rows").iter().map(|row| &row["result"]).collect();
    assert!(results.contains(&&json!("failed")), "the second call was not made: {rows}");
    assert_eq!(state(&stage), "changed");
    stage.is_sound();
}

#[test]
fn a_schema_that_changes_stops_its_tool_and_a_tool_that_is_added_is_nobodys_until_a_person_has_seen_it() {
    let stage = pulling("good");
    runs(&stage, 1);
    put(&stage, "mode.txt", "added");
    let (task, told) = runs(&stage, 1);
    assert_eq!(stage.receipt(&task)["result"], "succeeded", "what did not change is called as before");
    assert!(!told.last().expect("a request").to_string().contains("toy__send"), "{told:?}");
    assert_eq!(state(&stage), "changed", "and that there is more is told");
    put(&stage, "mode.txt", "schema_pulled");
    let (task, told) = runs(&stage, 1);
    assert_eq!(stage.receipt(&task)["result"], "failed", "what changed is not called");
    let told = told.last().expect("a request").to_string();
    assert!(told.contains("tools add toy --again"), "{told}");
    let shown = register(&stage, &["--again"]);
    assert!(shown.contains("CHANGED") && shown.contains("where your answer is sent"), "{shown}");
    stage.is_sound();
}
