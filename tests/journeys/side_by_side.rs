//! Calls of one answer that only look run at the same time, through the built program: those of two servers beside each other,
//! those of one server one after the other, as many at once as `config.json` says.

use super::attached::Served;
use super::stage::{Stage, until};
use super::tool_servers::{alive, asked, classify, furnished, put, register, work, yes};
use serde_json::{Value, json};
use testkit::{Chat, Large};

/// When a call began and ended, as its server says.
fn span(told: &str, text: &str) -> (f64, f64) {
    let (_, behind) =
        told.split_once(&format!("{text} was made from ")).unwrap_or_else(|| panic!("{text}: {told}"));
    let mut words = behind.split(|c: char| !c.is_ascii_digit() && c != '.').filter(|word| word.contains('.'));
    let mut number = || words.next().expect("a time").trim_end_matches('.').parse().expect("a number");
    (number(), number())
}

fn overlap(one: (f64, f64), other: (f64, f64)) -> bool {
    one.0 < other.1 && other.0 < one.1
}

/// A run whose model makes these calls in one answer: all that it was told of them.
fn run(stage: &Stage) -> String {
    let call = |server: &str, text: &str| json!({ "tool": format!("{server}__echo"), "arguments": { "text": text } });
    let calls = json!([call("toy", "first"), call("other", "second"), call("toy", "third")]);
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    let chat = Chat::saying(Large::STRONG, vec![calls, done]);
    let (work, model) = (work(stage), chat.address());
    let ran =
        stage.hermit(&["run", "--goal", "say it", "--workspace", &work, "--model", &model]).ends(0).json();
    let task = ran["row"]["task_id"].as_str().expect("a task").to_owned();
    let receipts = stage.hermit(&["receipts", "list", "--task", &task]).ends(0).json();
    let of_calls =
        receipts["rows"].as_array().expect("rows").iter().filter(|row| row["result"] == "succeeded");
    assert!(of_calls.count() >= 3, "each has its own receipt: {receipts}");
    chat.requests().last().map(Value::to_string).unwrap_or_default()
}

#[test]
fn calls_that_only_look_run_beside_each_other_and_those_of_one_server_in_turn() {
    let stage = furnished();
    put(&stage, "mode.txt", "slow");
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    let work = work(&stage);
    let add = [
        "tools",
        "add",
        "other",
        "--workspace",
        &work,
        "--class",
        "echo=read_local",
        "--",
        "/usr/bin/python3",
        "server.py",
    ];
    let (_, approval) = asked(&stage.hermit(&add).ends(4).json());
    yes(&stage, &approval);
    let told = run(&stage);
    let [first, second, third] = ["first", "second", "third"].map(|text| span(&told, text));
    assert!(overlap(first, second), "{first:?} {second:?}");
    assert!(!overlap(first, third) && first.1 <= third.0, "{first:?} {third:?}");
    std::fs::write(stage.home().join("config.json"), "{\"parallel_reads\":1}").expect("settings");
    let told = run(&stage);
    let [first, second, third] = ["first", "second", "third"].map(|text| span(&told, text));
    assert!(first.1 <= second.0 && second.1 <= third.0, "{first:?} {second:?} {third:?}");
    // Said to a host that is at work, it counts from the next answer on.
    let served = Served::by(&stage);
    for (at_once, beside) in [("2", true), ("1", false)] {
        stage.hermit(&["models", "reads", at_once]).ends(0);
        let told = run(&stage);
        let [first, second] = ["first", "second"].map(|text| span(&told, text));
        assert_eq!(overlap(first, second), beside, "{at_once}: {first:?} {second:?}");
    }
    drop(served);
    stage.is_sound();
}

#[test]
fn calls_that_are_left_over_when_a_person_stops_the_task_start_no_server() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    put(&stage, "mode.txt", "waits");
    let served = Served::by(&stage);
    let call = |text: &str| json!({ "tool": "toy__echo", "arguments": { "text": text } });
    let chat = Chat::saying(Large::STRONG, vec![json!([call("first"), call("second"), call("third")])]);
    let body = json!({
        "message": "say it", "workspace": work(&stage), "profile": "local_edit_allowed", "model": chat.address(),
    });
    let (status, told) = served.ask(&stage, "POST", "/v1/runs", &body);
    assert_eq!(status, 200, "{told}");
    let run = told["run_id"].as_str().expect("a run").to_owned();
    until("the first is called", || stage.count(&run, "effect.dispatched") == 3 && alive(&stage) > 0);
    stage.hermit(&["task", "cancel", &run]);
    let status = || stage.hermit(&["task", "show", &run]).ends(0).json()["row"]["status"].clone();
    until("the task has ended", || status() == "cancelled");
    assert_eq!(alive(&stage), 0, "a process of a server is still there");
    let listed = stage.hermit(&["receipts", "list", "--task", &run]).ends(0).json();
    let receipts = listed["rows"].as_array().expect("rows").iter().map(|row| {
        let id = row["receipt_id"].as_str().expect("an id");
        stage.hermit(&["receipts", "show", id]).ends(0).out
    });
    let receipts: Vec<String> = receipts.collect();
    let said = |words: &str| receipts.iter().filter(|receipt| receipt.contains(words)).count();
    assert_eq!(said("server: started for this call"), 1, "{receipts:#?}");
    assert_eq!(said("it was cancelled before it began, and nothing was done"), 2, "{receipts:#?}");
    drop(served);
    stage.is_sound();
}
