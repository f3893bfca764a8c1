//! Tools of servers that change files: each call is tried in a copy of the folder, its difference is the card, and after a
//! yes exactly that difference is in the folder, with a receipt and a way back.

use super::attached::Served;
use super::programs::root;
use super::server;
use super::stage::{Stage, until};
use super::tool_servers::{alive, asked, calls, card, classify, furnished, put, register, work, yes};
use super::tree;
use serde_json::{Value, json};
use std::process::Stdio;

const CLASS: &str = "write_local";

#[test]
fn a_tool_that_changes_files_is_tried_in_a_copy_and_its_difference_is_what_a_person_allows() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "touch", CLASS, &[]);
    let before = tree::of(&stage.work());
    let (task, approval) = asked(&calls(&stage, "toy__touch", &json!({ "path": "made.txt" }), 4));
    let shown = card(&stage, &approval);
    for word in [
        "ALREADY RUN",
        "create \\\"made.txt\\\"",
        "exactly this one change",
        "it answered",
        "server.py",
        "+made",
    ] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    let served = Served::by(&stage);
    let (_, changes) = served.ask(&stage, "POST", "/api/changes.show", &json!({ "of": approval }));
    let ahead = changes["files"][0].clone();
    assert_eq!(ahead["after"]["text"], "made\n", "a page cannot show it: {ahead}");
    drop(served);
    assert_eq!(tree::of(&stage.work()), before, "it is in the folder before anybody said yes");
    assert_eq!(alive(&stage), 0, "the server of a trial is still there");
    yes(&stage, &approval);
    assert_eq!(std::fs::read_to_string(stage.work().join("made.txt")).expect("a file"), "made\n");
    let receipt = stage.receipt(&task);
    assert_eq!((&receipt["result"], &receipt["action_class"]), (&json!("succeeded"), &json!(CLASS)));
    assert_eq!(receipt["reversibility"], "reversible", "{receipt}");
    stage.prove(&task);
    undo(&stage, &task);
    assert_eq!(tree::of(&stage.work()), before, "what a tool did is undone, byte for byte");
    stage.is_sound();
}

#[test]
fn a_tool_that_changes_files_is_called_by_hand_on_the_path_of_an_agent() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "touch", CLASS, &[]);
    let work = work(&stage);
    let words = ["tools", "try", "toy", "touch", r#"{"path":"made.txt"}"#, "--workspace", &work];
    let (task, approval) = asked(&stage.hermit(&words).ends(4).json());
    let shown = card(&stage, &approval);
    for word in ["ALREADY RUN", "create \\\"made.txt\\\""] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    assert!(!stage.work().join("made.txt").exists());
    yes(&stage, &approval);
    assert_eq!(std::fs::read_to_string(stage.work().join("made.txt")).expect("a file"), "made\n");
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    stage.is_sound();
}

/// Undoes a task with a person's yes.
fn undo(stage: &Stage, task: &str) {
    let (_, approval) = asked(&stage.hermit(&["rollback", task]).ends(4).json());
    yes(stage, &approval);
}

#[test]
fn what_a_tool_does_outside_of_its_copy_is_contained_and_what_policy_denies_never_runs() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "touch", CLASS, &[]);
    let before = tree::of(&stage.work());
    // Nothing is left there, so there is nothing to ask a person about, and the model hears what the tool says.
    let outside = stage.at("outside.txt");
    for path in ["/usr/made.txt", outside.to_str().expect("UTF-8")] {
        let done = calls(&stage, "toy__touch", &json!({ "path": path }), 0);
        let task = done["row"]["task_id"].as_str().expect("a task").to_owned();
        assert!(!std::path::Path::new(path).exists(), "it wrote to {path}");
        assert_eq!(stage.waiting().len(), 0);
        assert_eq!(stage.count(&task, "effect.dispatched"), 1, "{:?}", stage.events(&task));
        let receipt = stage.receipt(&task);
        assert!(receipt.to_string().contains("nothing was to be committed"), "{receipt}");
    }
    let model = server::script(&[
        json!({ "tool": "toy__touch", "arguments": { "path": "made.txt" } }),
        json!({ "tool": "done", "arguments": { "summary": "done" } }),
    ]);
    let work = work(&stage);
    let words = [
        "run",
        "--goal",
        "say it",
        "--workspace",
        &work,
        "--model",
        &model,
        "--profile",
        "readonly_analysis",
    ];
    let done = stage.hermit(&words).ends(0).json();
    let task = done["row"]["task_id"].as_str().expect("a task").to_owned();
    assert_eq!(stage.count(&task, "trial.started"), 0, "policy denies it, and it ran");
    assert_eq!(stage.count(&task, "effect.dispatched"), 0);
    assert_eq!(tree::of(&stage.work()), before);
    stage.is_sound();
}

#[test]
fn a_server_that_says_something_else_in_a_trial_is_not_called_any_more() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", CLASS, &[]);
    put(&stage, "mode.txt", "pulled");
    let done = calls(&stage, "toy__echo", &json!({ "text": "hello" }), 0);
    let task = done["row"]["task_id"].as_str().expect("a task").to_owned();
    assert_eq!((stage.count(&task, "trial.started"), stage.count(&task, "effect.dispatched")), (1, 0));
    let listed = stage.hermit(&["tools", "list"]).ends(0).json();
    assert_eq!(listed["servers"][0]["state"], "changed", "{listed}");
    stage.is_sound();
}

#[test]
fn a_tool_that_hangs_in_its_copy_is_ended_with_its_host_and_leaves_nothing() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "touch", CLASS, &[]);
    put(&stage, "mode.txt", "hangs");
    let model = server::script(&[json!({ "tool": "toy__touch", "arguments": { "path": "made.txt" } })]);
    let work = work(&stage);
    let words = ["--json", "run", "--goal", "touch", "--workspace", &work, "--model", &model];
    let mut host = stage.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a host");
    until("the tool is at work", || views(&stage) > 0 && alive(&stage) > 1);
    let pid = rustix::process::Pid::from_child(&host);
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
    host.wait().expect("its end");
    until("the server is gone", || alive(&stage) == 0);
    let task = stage.hermit(&["task", "list"]).ends(0).json()["rows"][0]["task_id"].to_string();
    stage.hermit(&["task", "cancel", task.trim_matches('"')]).ends(0);
    until("its copy is gone", || views(&stage) == 0);
    assert!(!stage.work().join("made.txt").exists());
    stage.is_sound();
}

/// Staged views in the store.
fn views(stage: &Stage) -> usize {
    let entries = std::fs::read_dir(stage.home().join("spool")).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("stage-")).count()
}

/// The official server of files, which tests fetch; none where it is not here.
fn official() -> Option<String> {
    let at = root().join("tests/servers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    let node = std::path::Path::new("/usr/bin/node");
    if !at.is_file() || !node.is_file() {
        conforms::lacks("the official server of files, which `npm test` fetches,");
        return None;
    }
    Some(at.to_str().expect("UTF-8").to_owned())
}

/// One act of a model, with a yes to a card that says all of this; its task.
fn allowed(stage: &Stage, tool: &str, arguments: &Value, words: &[&str]) -> String {
    let (task, approval) = asked(&calls(stage, tool, arguments, 4));
    let shown = card(stage, &approval);
    for word in words {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    yes(stage, &approval);
    task
}

#[test]
fn the_official_server_of_files_writes_edits_and_moves_by_cards_that_show_it() {
    let Some(server) = official() else { return };
    let stage = Stage::new();
    put(&stage, "notes.txt", "one\ntwo\nthree\n");
    let before = tree::of(&stage.work());
    let reads = root().join("tests/servers/node_modules");
    let (work, reads) = (work(&stage), reads.to_str().expect("UTF-8").to_owned());
    let mut words = vec!["tools", "add", "files", "--workspace", &work, "--read", &reads];
    words.extend(["--class", "write_file=write_local", "--class", "edit_file=write_local"]);
    words.extend(["--class", "move_file=write_local", "--class", "read_text_file=read_local"]);
    words.extend(["--", "/usr/bin/node", &server, "."]);
    let (_, approval) = asked(&stage.hermit(&words).ends(4).json());
    yes(&stage, &approval);
    let edit = json!({ "path": "notes.txt", "edits": [{ "oldText": "two", "newText": "2" }] });
    let tasks = [
        allowed(
            &stage,
            "files__write_file",
            &json!({ "path": "new.txt", "content": "fresh\n" }),
            &["create \\\"new.txt\\\"", "+fresh"],
        ),
        allowed(&stage, "files__edit_file", &edit, &["OVERWRITE \\\"notes.txt\\\"", "-two", "+2"]),
        allowed(
            &stage,
            "files__move_file",
            &json!({ "source": "new.txt", "destination": "moved.txt" }),
            &["RENAME \\\"new.txt\\\" to \\\"moved.txt\\\""],
        ),
    ];
    let at = |name: &str| std::fs::read_to_string(stage.work().join(name)).ok();
    assert_eq!(at("notes.txt").as_deref(), Some("one\n2\nthree\n"));
    assert_eq!((at("moved.txt").as_deref(), at("new.txt")), (Some("fresh\n"), None));
    // What only would be changed is nothing to ask about.
    let dry = json!({ "path": "notes.txt", "edits": [{ "oldText": "one", "newText": "1" }], "dryRun": true });
    calls(&stage, "files__edit_file", &dry, 0);
    let read = calls(&stage, "files__read_text_file", &json!({ "path": "moved.txt" }), 0);
    let receipt = stage.receipt(read["row"]["task_id"].as_str().expect("a task"));
    assert_eq!((&receipt["result"], &receipt["action_class"]), (&json!("succeeded"), &json!("read_local")));
    stage.prove(&tasks[1]);
    tasks.iter().rev().for_each(|task| undo(&stage, task));
    assert_eq!(tree::of(&stage.work()), before);
    assert_eq!(alive(&stage), 0);
    stage.is_sound();
}
