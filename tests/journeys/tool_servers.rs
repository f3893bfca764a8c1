//! A person registers a server of tools and uses it: each call classified, behind walls, and with a receipt.

use super::server;
use super::stage::Stage;
use super::tree;
use serde_json::{Value, json};

/// The toy server, which is as wrong as `mode.txt` in the folder says.
const SERVER: &str = include_str!("data/tool_server.py");

/// A store with the toy server in its folder.
fn furnished() -> Stage {
    let stage = Stage::new();
    put(&stage, "server.py", SERVER);
    put(&stage, "mode.txt", "good");
    stage
}

fn put(stage: &Stage, name: &str, text: &str) {
    std::fs::write(stage.work().join(name), text).expect("a file");
}

fn work(stage: &Stage) -> String {
    stage.work().to_str().expect("UTF-8").to_owned()
}

/// What `hermit tools …` asks a person: its task and its approval.
fn asked(answer: &Value) -> (String, String) {
    assert_eq!(answer["waits_for"]["kind"], "approval", "{answer}");
    let id = |value: &Value| value.as_str().expect("an id").to_owned();
    (id(&answer["row"]["task_id"]), id(&answer["waits_for"]["id"]))
}

fn card(stage: &Stage, approval: &str) -> String {
    stage.hermit(&["approvals", "show", approval]).ends(0).json().to_string()
}

fn yes(stage: &Stage, approval: &str) {
    let (code, screen) = stage.approve(approval);
    assert_eq!(code, 0, "{screen}");
}

/// Registers the toy server with a person's yes.
fn register(stage: &Stage, more: &[&str]) -> String {
    let work = work(stage);
    let mut words = vec!["tools", "add", "toy", "--workspace", &work];
    words.extend(more);
    if more.is_empty() {
        words.extend(["--", "/usr/bin/python3", "server.py"]);
    }
    let (_, approval) = asked(&stage.hermit(&words).ends(4).json());
    let shown = card(stage, &approval);
    yes(stage, &approval);
    shown
}

fn classify(stage: &Stage, class: &str, more: &[&str]) {
    let work = work(stage);
    let mut words = vec!["tools", "classify", "toy", "echo", "--class", class, "--workspace", &work];
    words.extend(more);
    let (_, approval) = asked(&stage.hermit(&words).ends(4).json());
    yes(stage, &approval);
}

/// A task whose model calls a tool and is done after it.
fn calls(stage: &Stage, tool: &str, arguments: &Value, code: i32) -> Value {
    let model = server::script(&[
        json!({ "tool": tool, "arguments": arguments }),
        json!({ "tool": "done", "arguments": { "summary": "done" } }),
    ]);
    let work = work(stage);
    stage.hermit(&["run", "--goal", "say it", "--workspace", &work, "--model", &model]).ends(code).json()
}

fn state(stage: &Stage) -> String {
    let listed = stage.hermit(&["tools", "list"]).ends(0).json();
    listed["servers"][0]["state"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn a_server_is_registered_by_a_person_and_each_call_is_asked_about_and_receipted() {
    let stage = furnished();
    let shown = register(&stage, &[]);
    for word in
        ["Gives back what it is given.", "additionalProperties", "read-only", "sha256", "no network", "touch"]
    {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    assert_eq!(state(&stage), "ready");
    let before = tree::of(&stage.work());
    let (task, approval) = asked(&calls(&stage, "toy__echo", &json!({ "text": "hello", "share": 0.25 }), 4));
    let shown = card(&stage, &approval);
    for word in ["NOBODY has said", "hello", "0.25", "server.py", "untrusted"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    yes(&stage, &approval);
    let receipt = stage.receipt(&task);
    assert_eq!(
        (&receipt["result"], &receipt["action_class"]),
        (&json!("succeeded"), &json!("external_effect"))
    );
    let (task, approval) = asked(&calls(&stage, "toy__touch", &json!({ "path": "made.txt" }), 4));
    yes(&stage, &approval);
    assert_eq!(stage.receipt(&task)["result"], "failed", "a server changes nothing in the folder");
    assert_eq!(tree::of(&stage.work()), before);
    let shown = stage.hermit(&["tools", "show", "toy"]).ends(0).json().to_string();
    assert!(shown.contains("echo") && shown.contains("touch"), "{shown}");
    stage.is_sound();
    stage.prove(&task);
}

#[test]
fn what_a_person_said_of_a_tool_holds_until_its_server_says_something_else() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "read_local", &[]);
    let done = calls(&stage, "toy__echo", &json!({ "text": "hello" }), 0);
    let task = done["row"]["task_id"].as_str().expect("a task").to_owned();
    let receipt = stage.receipt(&task);
    assert_eq!((&receipt["result"], &receipt["action_class"]), (&json!("succeeded"), &json!("read_local")));

    put(&stage, "mode.txt", "pulled");
    let done = calls(&stage, "toy__echo", &json!({ "text": "hello" }), 0);
    let task = done["row"]["task_id"].as_str().expect("a task").to_owned();
    assert_eq!(stage.receipt(&task)["result"], "failed", "what changed is not called");
    assert_eq!(state(&stage), "changed");

    let shown = register(&stage, &["--again"]);
    assert!(shown.contains("CHANGED") && shown.contains("Also read ~/.ssh."), "{shown}");
    assert_eq!(state(&stage), "ready");
    // What was said was said of other words.
    asked(&calls(&stage, "toy__echo", &json!({ "text": "hello" }), 4));

    stage.hermit(&["tools", "rm", "toy"]).ends(0);
    assert_eq!(state(&stage), "none");
    stage.is_sound();
}

#[test]
fn a_server_that_misbehaves_is_contained_with_words() {
    let stage = furnished();
    let work = work(&stage);
    put(&stage, "mode.txt", "many");
    let words = ["tools", "add", "toy", "--workspace", &work, "--", "/usr/bin/python3", "server.py"];
    let (code, said, _) = stage.hermit(&words).ends(2).complaint();
    assert!(code == "usage" && said.contains("more than 256 tools"), "{said}");
    put(&stage, "mode.txt", "good");
    register(&stage, &[]);
    classify(&stage, "read_local", &[]);
    for (mode, result, word) in [
        ("wrong", "failed", "its answer is not what the tool says its results are"),
        ("huge", "unknown_outcome", "it sent more than"),
        ("floods", "unknown_outcome", "it sent more than"),
        ("dies", "unknown_outcome", "it ended before it answered"),
    ] {
        put(&stage, "mode.txt", mode);
        let code = if result == "failed" { 0 } else { 4 };
        let done = calls(&stage, "toy__echo", &json!({ "text": "hello" }), code);
        let task = done["row"]["task_id"].as_str().expect("a task").to_owned();
        let receipt = stage.receipt(&task);
        assert_eq!(receipt["result"], result, "{mode}: {receipt}");
        assert!(receipt.to_string().contains(word), "{mode}: {receipt}");
    }
    let left = std::process::Command::new("pgrep").args(["-f", &work]).output().expect("pgrep");
    assert!(left.stdout.is_empty(), "a process of a server is still there");
    stage.is_sound();
}
