//! A command is approved by what it did: it has run in a staged view before anybody is asked.

use super::server;
use super::stage::Stage;
use super::tool_servers::put;
use super::tree;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{Chat, Large};

/// Files that the long commit makes.
const FILES: usize = 400;

/// A store whose model asks for one shell command and is done after it; task and approval.
fn asks(stage: &Stage, script: &str) -> (String, String) {
    let model = server::script(&[
        json!({ "tool": "command", "arguments": { "argv": ["sh", "-c", script] } }),
        json!({ "tool": "done", "arguments": { "summary": "done" } }),
    ]);
    let work = stage.work();
    let words = ["run", "--goal", "tidy", "--workspace", work.to_str().expect("UTF-8"), "--model", &model];
    let asked = stage.hermit(&words).ends(4).json();
    let waits = &asked["waits_for"];
    assert_eq!(waits["kind"], "approval", "{asked}");
    let id = |value: &Value| value.as_str().expect("an id").to_owned();
    (id(&asked["row"]["task_id"]), id(&waits["id"]))
}

fn get(stage: &Stage, name: &str) -> String {
    std::fs::read_to_string(stage.work().join(name)).expect("a file")
}

/// What staged runs have left in the store's folder.
fn left(stage: &Stage) -> usize {
    std::fs::read_dir(stage.home().join("spool")).map_or(0, Iterator::count)
}

const SCRIPT: &str =
    "rm old.txt; echo two >> notes.txt; echo made > new.txt; mv here.txt there.txt; echo said";

fn furnish(stage: &Stage) {
    for (name, text) in [("old.txt", "old\n"), ("notes.txt", "one\n"), ("here.txt", "moves\n")] {
        put(stage, name, text);
    }
}

#[test]
fn the_card_shows_what_the_command_did_and_a_yes_carries_exactly_that_over() {
    let stage = Stage::new();
    furnish(&stage);
    let before = tree::of(&stage.work());
    let (task, approval) = asks(&stage, SCRIPT);
    assert_eq!(tree::of(&stage.work()), before, "it has run, and the folder is untouched");
    let card = stage.hermit(&["approvals", "show", &approval]).ends(0).json().to_string();
    for word in ["ALREADY RUN", "DELETE", "old.txt", "+two", "RENAME", "| said", "sha256"] {
        assert!(card.contains(word), "`{word}` is not on the card: {card}");
    }
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(get(&stage, "notes.txt"), "one\ntwo\n");
    assert_eq!(
        (get(&stage, "new.txt"), get(&stage, "there.txt")),
        ("made\n".to_owned(), "moves\n".to_owned())
    );
    assert!(!stage.work().join("old.txt").exists());
    assert_eq!(left(&stage), 0, "what was carried over needs no copy");
    let receipt = stage.receipt(&task);
    assert_eq!(receipt["result"], "succeeded", "{receipt}");
    assert_eq!(receipt["class"], "command_execution", "{receipt}");
    stage.is_sound();
    stage.prove(&task);

    let asked = stage.hermit(&["rollback", receipt["receipt_id"].as_str().expect("an id")]).ends(4).json();
    let (code, screen) = stage.approve(asked["waits_for"]["id"].as_str().expect("an approval"));
    assert_eq!(code, 0, "{screen}");
    assert_eq!(tree::of(&stage.work()), before, "what a shell did is undone, byte for byte");
}

/// A store whose model asks for one shell command; how `hermit run` ended, and its answer.
fn runs(stage: &Stage, script: &str, code: i32) -> Value {
    let model = server::script(&[
        json!({ "tool": "command", "arguments": { "argv": ["sh", "-c", script] } }),
        json!({ "tool": "done", "arguments": { "summary": "done" } }),
    ]);
    let work = stage.work();
    let words = ["run", "--goal", "look", "--workspace", work.to_str().expect("UTF-8"), "--model", &model];
    stage.hermit(&words).ends(code).json()
}

#[conforms::conforms(part = "HK-7-1", "HK-18.2-1")]
#[test]
fn a_command_that_changes_nothing_asks_nobody_and_its_receipt_says_that_nothing_was_to_be_committed() {
    let stage = Stage::new();
    furnish(&stage);
    let before = tree::of(&stage.work());
    let script = "wc -l notes.txt; echo x > scratch; rm scratch; chmod 600 notes.txt; chmod 644 notes.txt";
    std::fs::set_permissions(
        stage.work().join("notes.txt"),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .expect("its own mode");
    let ran = runs(&stage, script, 0);
    let task = ran["row"]["task_id"].as_str().expect("an id").to_owned();
    assert_eq!(stage.count(&task, "approval.requested"), 0, "nobody is asked");
    assert_eq!(stage.count(&task, "effect.dispatched"), 1, "it went the governed way all the same");
    assert_eq!(tree::of(&stage.work()), before);
    let receipt = stage.receipt(&task);
    assert_eq!(
        (&receipt["result"], &receipt["class"]),
        (&json!("succeeded"), &json!("command_execution")),
        "{receipt}"
    );
    assert!(receipt.to_string().contains("nothing was to be committed"), "{receipt}");
    assert_eq!(left(&stage), 0);
    stage.is_sound();
    stage.prove(&task);
}

#[test]
fn a_command_that_changes_nothing_and_could_read_a_key_shows_first_what_it_printed() {
    let stage = Stage::new();
    put(&stage, ".env", "TOKEN=of-somebody\n");
    let ran = runs(&stage, "cat .env", 4);
    let approval = ran["waits_for"]["id"].as_str().expect("an approval");
    let card = stage.hermit(&["approvals", "show", approval]).ends(0).json().to_string();
    for word in ["LOOK at what it printed", "`.env`", "| TOKEN=of-somebody", "it changed nothing"] {
        assert!(card.contains(word), "`{word}` is not on the card: {card}");
    }
}

#[test]
fn a_no_leaves_nothing_of_a_staged_command() {
    let stage = Stage::new();
    furnish(&stage);
    let before = tree::of(&stage.work());
    let (_, approval) = asks(&stage, SCRIPT);
    assert_eq!(left(&stage), 1, "what it left waits");
    stage.hermit(&["approvals", "deny", &approval]).ends(0);
    stage.hermit(&["resume"]);
    assert_eq!(tree::of(&stage.work()), before);
    assert_eq!(left(&stage), 0, "nothing is left of it");
    stage.is_sound();
}

#[test]
fn an_edit_between_the_run_and_the_yes_is_a_conflict_and_stays() {
    let stage = Stage::new();
    furnish(&stage);
    let (task, approval) = asks(&stage, SCRIPT);
    put(&stage, "notes.txt", "mine\n");
    let (_, screen) = stage.approve(&approval);
    assert_eq!(get(&stage, "notes.txt"), "mine\n", "{screen}");
    assert!(stage.work().join("old.txt").exists(), "nothing else of it was done either");
    assert_eq!(stage.count(&task, "witness.drifted"), 1);
    assert_eq!(stage.count(&task, "effect.dispatched"), 0);
    assert_eq!(left(&stage), 0);
    stage.is_sound();
}

#[test]
fn a_host_killed_while_carrying_over_is_followed_by_one_that_finishes_it_once() {
    let stage = Stage::new();
    let script = format!("for n in $(seq {FILES}); do echo \"number $n\" > \"$n.txt\"; done");
    let (task, approval) = asks(&stage, &script);
    let there = || {
        std::fs::read_dir(stage.work())
            .map_or(0, |d| d.flatten().filter(|e| e.path().extension().is_some_and(|e| e == "txt")).count())
    };
    assert_eq!(there(), 0);
    // It stands still before the next one, however busy the machine is.
    let pty = stage.allow(&approval, &[("HERMIT_FAULT", "item.rename:before:wait:21")]);
    let until = Instant::now() + Duration::from_secs(60);
    while there() < 20 {
        assert!(Instant::now() < until, "it never began: {}", pty.shown());
        std::thread::yield_now();
    }
    // Letting go of the terminal kills what runs on it with SIGKILL.
    drop(pty);
    assert_eq!(there(), 20, "it was killed in the middle");
    stage.hermit(&["resume"]);
    assert_eq!(there(), FILES);
    assert_eq!(get(&stage, "7.txt"), "number 7\n");
    let receipt = stage.receipt(&task);
    assert_eq!(receipt["result"], "succeeded", "{receipt}");
    assert_eq!(stage.count(&task, "approval.requested"), 1, "nobody is asked twice");
    assert_eq!(stage.count(&task, "effect.dispatched"), 1);
    stage.is_sound();
    stage.prove(&task);
}

/// A command that takes away a rule of the project: tried in a view it is told by what it would do there, and where it
/// runs in the folder itself it cannot.
#[test]
fn a_command_changes_what_hermit_may_do_only_by_a_yes_to_exactly_that() {
    let stage = Stage::new();
    let rules = stage.work().join(".hermit/policy.rules");
    std::fs::create_dir_all(rules.parent().expect("a folder")).expect("made");
    std::fs::write(&rules, "ask FileEdit(secret.txt)\n").expect("a file");
    let (task, approval) = asks(&stage, "echo x > plain.txt; rm -r .hermit");
    let card = stage.hermit(&["approvals", "show", &approval]).ends(0).json();
    assert_eq!(card["row"]["action_class"], "capability_change", "{card}");
    assert!(rules.exists());
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert!(!rules.exists() && stage.work().join("plain.txt").exists());
    assert_eq!(stage.receipt(&task)["action_class"], "capability_change");
    stage.is_sound();
    stage.prove_receipts(&task);
    // With the network it is not tried beforehand, so what it would change is not known: there the folder is read-only.
    std::fs::create_dir_all(rules.parent().expect("a folder")).expect("made");
    std::fs::write(&rules, "ask FileEdit(secret.txt)\n").expect("a file");
    let script = "rm -f .hermit/policy.rules; mv .hermit away; echo x > .hermit/more; echo y > ran.txt";
    let arguments = json!({ "argv": ["sh", "-c", script], "network": true, "hosts": ["127.0.0.1:9"] });
    let model = server::script(&[
        json!({ "tool": "command", "arguments": arguments }),
        json!({ "tool": "done", "arguments": { "summary": "done" } }),
    ]);
    let work = stage.work();
    let words = ["run", "--goal", "again", "--workspace", work.to_str().expect("UTF-8"), "--model", &model];
    let words = [&words[..], &["--profile", "external_publish_gated"]].concat();
    let asked = stage.hermit(&words).ends(4).json();
    let approval = asked["waits_for"]["id"].as_str().expect("an approval").to_owned();
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert!(work.join("ran.txt").exists(), "it has run");
    assert!(rules.exists() && !work.join("away").exists() && !work.join(".hermit/more").exists());
}

/// Deleted, overwritten, and taken away by a shell in both ways: nobody is asked for what a yes could not carry out.
#[test]
fn a_file_too_large_to_be_kept_is_taken_by_no_act_and_nobody_is_asked_about_one() {
    let stage = Stage::new();
    put(&stage, "small.txt", "small\n");
    let (large, size) = (stage.work().join("large.bin"), (256 << 20) + 1);
    std::fs::File::create(&large).and_then(|file| file.set_len(size)).expect("a file");
    let shell = |script: &str| json!({ "tool": "command", "arguments": { "argv": ["sh", "-c", script] } });
    let answers = [
        json!({ "tool": "read", "arguments": { "path": "large.bin" } }),
        json!({ "tool": "delete", "arguments": { "path": "large.bin" } }),
        // A task whose actions keep failing ends; looks in between keep this one going.
        json!({ "tool": "list", "arguments": { "path": "" } }),
        json!({ "tool": "write", "arguments": { "path": "large.bin", "content": "new" } }),
        shell("rm large.bin"),
        json!({ "tool": "read", "arguments": { "path": "small.txt" } }),
        shell("echo new > large.bin"),
        shell("mv small.txt large.bin"),
        json!({ "tool": "done", "arguments": { "summary": "left it" } }),
    ];
    let chat = Chat::saying(Large::STRONG, answers.to_vec());
    let (model, work) = (chat.address(), stage.work());
    let words =
        ["run", "--goal", "clean up", "--workspace", work.to_str().expect("UTF-8"), "--model", &model];
    let ran = stage.hermit(&words).ends(0).json();
    let task = ran["row"]["task_id"].as_str().expect("a task");
    assert_eq!(
        (ran["row"]["status"].as_str(), stage.count(task, "approval.requested")),
        (Some("completed"), 0),
        "{ran}"
    );
    assert_eq!(std::fs::metadata(&large).expect("it is there").len(), size);
    assert_eq!(get(&stage, "small.txt"), "small\n");
    let heard: Vec<String> = chat.requests().iter().map(Value::to_string).collect();
    let last = heard.last().expect("a request");
    assert!(
        last.matches("268435456").count() >= 5,
        "the model is told each time how large is too large: {last}"
    );
    assert_eq!(left(&stage), 0);
    stage.is_sound();
}
