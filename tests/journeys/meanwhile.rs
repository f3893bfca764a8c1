//! Two tasks of Hermit that change one file meanwhile, each in a view of its own: who is allowed first is in the folder, the copy of
//! the other is a conflict with words, and nothing of either is lost.

use super::guests::begin;
use super::stage::Stage;
use super::tool_servers::asked;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use testkit::{Chat, Large};

const CHANGED: &str = "what was approved has changed since";

/// A store, and a folder with a file of three lines.
fn furnished() -> Stage {
    let stage = Stage::new();
    std::fs::write(stage.work().join("a.txt"), "one\ntwo\nthree\n").expect("a file");
    stage
}

fn read(stage: &Stage, name: &str) -> Option<String> {
    std::fs::read_to_string(stage.work().join(name)).ok()
}

/// A task whose model runs this so often, to its card: its task, its approval, and what it is told.
fn runs(stage: &Stage, goal: &str, line: &str, times: usize) -> (String, String, Chat) {
    let command = json!({ "tool": "command", "arguments": { "argv": ["sh", "-c", line] } });
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    let says: Vec<Value> = std::iter::repeat_n(command, times).chain([done]).collect();
    let chat = Chat::saying(Large::STRONG, says);
    let (work, model) = (stage.work(), chat.address());
    let words = ["run", "--goal", goal, "--workspace", work.to_str().expect("UTF-8"), "--model", &model];
    let (task, approval) = asked(&stage.hermit(&words).ends(4).json());
    (task, approval, chat)
}

#[test]
fn of_two_tasks_that_change_one_file_the_second_is_told_of_the_conflict_and_makes_its_change_anew() {
    let stage = furnished();
    let (first, allowed, _model) = runs(&stage, "first", "sed -i s/one/ONE/ a.txt; echo a > a.new", 1);
    let (second, late, chat) = runs(&stage, "second", "sed -i s/three/THREE/ a.txt; echo b > b.new", 2);
    assert_eq!(read(&stage, "a.txt").as_deref(), Some("one\ntwo\nthree\n"), "nothing before a yes");
    let (code, screen) = stage.approve(&allowed);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(read(&stage, "a.txt").as_deref(), Some("ONE\ntwo\nthree\n"));

    // The copy of the second was made of another file: a yes to it writes nothing, and asks again about a copy of this one.
    let mut pty = stage.allow(&late, &[]);
    pty.expect("Approve?").send("later\r");
    let (_, screen) = pty.end();
    assert_eq!(read(&stage, "a.txt").as_deref(), Some("ONE\ntwo\nthree\n"), "written over: {screen}");
    assert_eq!(read(&stage, "b.new"), None, "not in part either");
    let told = chat.requests().last().expect("a request").to_string();
    for words in [CHANGED, "look again and propose anew", "a.txt` was a file of 14 bytes"] {
        assert!(told.contains(words), "`{words}` was not told: {told}");
    }
    assert_eq!((stage.count(&second, "witness.drifted"), stage.count(&second, "effect.dispatched")), (1, 0));
    let waiting = stage.waiting();
    let again = waiting.iter().find(|row| row["task_id"] == second.as_str()).expect("it asks again");
    let again = again["approval_id"].as_str().expect("an id").to_owned();
    assert_ne!(again, late);
    let card = stage.hermit(&["approvals", "show", &again]).ends(0).json().to_string();
    assert!(card.contains(" ONE") && card.contains("+THREE"), "its card is of the file as it is: {card}");
    let (code, screen) = stage.approve(&again);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(read(&stage, "a.txt").as_deref(), Some("ONE\ntwo\nTHREE\n"), "both are there");
    assert_eq!((read(&stage, "a.new"), read(&stage, "b.new")), (Some("a\n".into()), Some("b\n".into())));

    // The first taken back, what the second wrote in another line of the same file stays: they are merged three ways.
    let receipt = stage.receipt(&first)["receipt_id"].as_str().expect("an id").to_owned();
    let (_, approval) = asked(&stage.hermit(&["rollback", &receipt]).ends(4).json());
    let card = stage.hermit(&["approvals", "show", &approval]).ends(0).json().to_string();
    assert!(card.contains("`a.txt` was edited since; the undo goes around that edit"), "{card}");
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(read(&stage, "a.txt").as_deref(), Some("one\ntwo\nTHREE\n"));
    assert_eq!((read(&stage, "a.new"), read(&stage, "b.new")), (None, Some("b\n".into())));
    stage.is_sound();
    stage.prove(&second);
}

/// A guest that does what this script says, to the card of what it changed: its task and that card.
fn guest(stage: &Stage, name: &str, script: &str) -> (String, String) {
    let folder = stage.at("bin");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its bits");
    let (task, first) = begin(stage, path.to_str().expect("UTF-8"), "go", &[]);
    let mut pty = stage.allow(&first, &[]);
    pty.expect("made this on its copy").expect("Approve?").send("later\r");
    pty.end();
    let waiting = stage.waiting();
    let card = waiting.iter().find(|row| row["task_id"] == task.as_str()).expect("its card");
    let card = card["approval_id"].as_str().expect("an id").to_owned();
    (task, card)
}

#[test]
fn of_two_guests_that_change_one_file_the_second_is_stopped_with_words_and_what_it_made_is_still_shown() {
    let stage = furnished();
    let (_, first) = guest(&stage, "one", "sed -i s/one/ONE/ a.txt; echo 1 > one.new");
    let (task, second) = guest(&stage, "two", "sed -i s/one/EINS/ a.txt; echo 2 > two.new");
    let (code, screen) = stage.approve(&first);
    assert_eq!(code, 0, "{screen}");
    let (code, screen) = stage.approve(&second);
    assert_eq!(code, 1, "{screen}");
    assert_eq!(read(&stage, "a.txt").as_deref(), Some("ONE\ntwo\nthree\n"), "the first one's stays");
    assert_eq!((read(&stage, "one.new").as_deref(), read(&stage, "two.new")), (Some("1\n"), None));
    let shown = stage.hermit(&["task", "show", &task]).ends(0).json();
    let why = shown["summary"].as_str().unwrap_or_else(|| panic!("{shown}"));
    for words in [CHANGED, "Nothing of it is in the folder", "run it again"] {
        assert!(why.contains(words), "`{words}` is not in {why}");
    }
    assert_eq!((&shown["row"]["status"], stage.count(&task, "witness.drifted")), (&json!("failed"), 1));
    // What it made is on record, line by line.
    let card = stage.hermit(&["approvals", "show", &second]).ends(0).json().to_string();
    assert!(card.contains("EINS") && card.contains("two.new"), "{card}");
    stage.is_sound();
    stage.prove(&task);
}
