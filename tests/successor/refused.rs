//! What can be no change, and what is of another version, is refused with words that say what to do, and nothing is lost by it.

use super::as_typed::{HONEST, Parent, STATEMENT, base, worked};
use super::has_walls;
use super::proposed::trials;
use crate::journeys::stage::Stage;
use ::successor::Case;
use host::successor::{CLONE_VERB, Handed, ParentPlaces};
use serde_json::{Value, json};
use std::fs::File;
use words::successor::Arm;

/// A file beside the store.
fn file(stage: &Stage, name: &str, text: &str) -> String {
    let path = stage.at(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

/// Tries a change of this source, which comes to no verdict; why not.
fn of_source(stage: &Stage, task: &str, base: &str, diff: &str) -> String {
    let diff = file(stage, "change.diff", diff);
    let mut words = vec!["successor", "try", "--on", task, "--tasks", "1", "--task", "it breaks nothing"];
    words.extend(["--base", base, "--diff", &diff]);
    words.extend(STATEMENT.iter().flat_map(|line| ["--source", *line]));
    let shown = stage.hermit(&words).ends(1).json();
    assert_eq!((&shown["trial"]["state"], &shown["verdict"]), (&json!("failed"), &Value::Null), "{shown}");
    shown["trial"]["why"].as_str().unwrap_or_else(|| panic!("no words: {shown}")).to_owned()
}

#[test]
fn a_change_that_does_not_apply_or_is_of_another_version_has_no_verdict_and_says_why() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    let before = Parent::of(&stage, &task);
    let path = "src-tauri/crates/seal/src/lib.rs";
    let misses =
        format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-no line of this file says so\n+another\n");
    let why = of_source(&stage, &task, &base(&stage), &misses);
    assert!(why.contains("does not apply to this version's source") && why.contains(path), "{why}");
    let why = of_source(&stage, &task, &"0".repeat(64), &HONEST.diff());
    assert!(why.contains("is one of the source") && why.contains(&base(&stage)), "{why}");
    before.is_as_it_was(&stage, &task, &[]);
    stage.is_sound();
}

#[test]
fn a_change_of_ten_megabytes_and_one_of_a_kind_that_is_not_known_are_no_trial() {
    let (stage, task) = worked();
    let before = Parent::of(&stage, &task);
    let try_it = |more: &[&str]| {
        let words = ["successor", "try", "--on", &task, "--task", "it asks less", "--source", "mine"];
        stage.hermit(&[&words[..], more].concat()).ends(2)
    };
    // Of letters of two bytes, so that none of them is cut in two where somebody stops reading.
    let large = "é".repeat(5 * 1024 * 1024);
    let large = file(&stage, "large", &large);
    let soul = format!("soul={large}");
    let (none, says) = ("0".repeat(64), ["1048576 bytes at most", "10485760", "smaller changes"]);
    try_it(&["--diff", &large, "--base", &none]).complains(&says);
    try_it(&["--policy", &large]).complains(&says);
    try_it(&["--words", &soul]).complains(&says);
    try_it(&["--patch", &large]).complains(&says);
    // A kind of change, and a part of one, that a newer version may have.
    let change = json!({ "kind": "weights", "address": "box:own" });
    let newer = json!({ "says": "another", "sources": ["mine"], "change": change });
    let newer = file(&stage, "newer.json", &newer.to_string());
    try_it(&["--patch", &newer]).complains(&["this is no change", "weights"]);
    let change = json!({ "kind": "policy", "rules": "deny FileDelete(**)\n", "until": "tomorrow" });
    let newer = json!({ "says": "another", "sources": ["mine"], "change": change });
    let newer = file(&stage, "more.json", &newer.to_string());
    try_it(&["--patch", &newer]).complains(&["this is no change", "until"]);
    assert_eq!(trials(&stage), Vec::<Value>::new());
    before.is_as_it_was(&stage, &task, &[]);
    stage.is_sound();
}

/// A clone that reads this; its exit code, and what it complained of.
fn clone_of(stage: &Stage, name: &str, input: &str) -> (i32, String) {
    let path = file(stage, name, input);
    let home = stage.at(&format!("home of {name}"));
    std::fs::create_dir(&home).expect("a folder");
    let mut clone = stage.command(&[CLONE_VERB]);
    clone.env("HOME", &home).current_dir(&home).stdin(File::open(path).expect("it is there"));
    let ran = Stage::ran(&mut clone);
    (ran.code, ran.err)
}

#[test]
fn an_export_of_another_version_is_played_by_no_clone() {
    let stage = Stage::bare();
    let case = Case {
        trial_id: "trial".to_owned(),
        seed: 1,
        budget: super::AMPLE,
        patch: None,
        rules: String::new(),
        profile: "local_edit_allowed".to_owned(),
        tools: Vec::new(),
        tasks: Vec::new(),
    };
    let handed = Handed {
        case,
        arm: Arm::Parent,
        words: Vec::new(),
        skills: Vec::new(),
        terms: Vec::new(),
        file_rules: None,
        model: None,
        places: ParentPlaces::default(),
    };
    let whole = serde_json::to_value(&handed).expect("JSON");
    let (code, said) = clone_of(&stage, "this version", &whole.to_string());
    assert!(code == 0 && !said.contains("no case of a trial"), "{code}: {said}");
    let mut newer = whole.clone();
    newer["case"]["mood"] = json!("calm");
    let (code, said) = clone_of(&stage, "a newer version", &newer.to_string());
    assert_ne!(code, 0, "{said}");
    for words in ["this version of Hermit reads", "mood", "by the version that took it out"] {
        assert!(said.contains(words), "`{words}` is not in `{said}`");
    }
    let mut half = whole.to_string();
    half.truncate(half.len() / 2);
    let (code, said) = clone_of(&stage, "half of it", &half);
    assert!(code != 0 && said.contains("no case of a trial"), "{code}: {said}");
    assert!(!stage.home().exists(), "no store was made by it");
}
