//! A task that a schedule began has a change of Hermit tried (successor.md 1): by its person's yes, like every act. However good the verdict
//! is, nothing is adopted, and nobody is asked to.

use super::has_walls;
use super::proposed::{allowed, done, trials, writes};
use crate::journeys::attached::Served;
use crate::journeys::stage::Stage;
use crate::journeys::tool_servers::yes;
use conforms::conforms;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{Chat, Large};

const NAME: &str = "each-minute";

/// Waits for what a schedule brings about: it begins at the next full minute, and a trial takes its time.
#[track_caller]
fn waited<T>(what: &str, mut looked: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = looked() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(300), "not so: {what}");
        std::thread::sleep(Duration::from_millis(250));
    }
}

/// What another Hermit would be: rules, and who it is.
fn stands(stage: &Stage) -> (Value, Value, Value) {
    let who = stage.hermit(&["identity", "show"]).ends(0).json();
    let adopted = stage.hermit(&["successor", "adopted"]).ends(0).json();
    (stage.hermit(&["policy", "own"]).ends(0).json(), who["soul"].clone(), adopted)
}

#[conforms(part = "HV-3.2-5")]
#[test]
fn a_scheduled_task_has_a_change_tried_by_its_persons_yes_and_adopts_nothing() {
    if !has_walls() {
        return;
    }
    let stage = Stage::new();
    let before = Chat::saying(Large::STRONG, vec![writes("a.md"), done("written")]);
    allowed(&stage, "write the first note", &before.address());
    let stood = stands(&stage);

    let change = json!({ "kind": "policy", "rules": "allow FileEdit(a.md)\n" });
    let patch = json!({ "says": "it asks less", "sources": ["thought of in this task"], "change": change });
    let about = "it asks less and breaks nothing";
    let arguments = json!({ "patch": patch.to_string(), "about": about, "draw": 1 });
    let tries = json!({ "tool": "try_change", "arguments": arguments });
    let chat = Chat::saying(Large::STRONG, vec![tries, done("tried")]);
    let (folder, model) = (stage.work(), chat.address());
    let at = folder.to_str().expect("UTF-8");
    let add = ["schedule", "add", "* * * * *", "make Hermit ask less", "--name", NAME, "--model", &model];
    let asked = stage.hermit(&[&add[..], &["--workspace", at]].concat()).ends(4).json();
    yes(&stage, asked["waits_for"]["id"].as_str().expect("an approval"));

    // It asks as about a command, and nothing is tried before the yes.
    let served = Served::by(&stage);
    let task = waited("it begins by itself, and asks", || {
        let shown = stage.hermit(&["schedule", "show", NAME]).ends(0).json();
        let asks = shown["runs"][0]["status"] == "blocked";
        asks.then(|| shown["runs"][0]["task_id"].as_str().expect("a task").to_owned())
    });
    stage.hermit(&["schedule", "pause", NAME]).ends(0);
    assert_eq!(stage.hermit(&["task", "show", &task]).ends(0).json()["row"]["origin"], "scheduler");
    assert_eq!(trials(&stage), Vec::<Value>::new());
    let waits = stage.waiting();
    let waits = waits.iter().find(|one| one["task_id"] == task.as_str()).expect("its card");
    yes(&stage, waits["approval_id"].as_str().expect("an approval"));
    let trial = waited("the trial has its verdict", || {
        trials(&stage).first().filter(|one| one["state"] != "running").cloned()
    });
    assert_eq!((&trial["state"], &trial["proposed_by"]), (&json!("judged"), &json!(task)), "{trial}");
    let outcome = trial["outcome"].as_str().expect("an outcome");
    assert!(["better", "same"].contains(&outcome), "{trial}");
    waited("the task has ended", || {
        let shown = stage.hermit(&["task", "show", &task]).ends(0).json();
        (shown["row"]["status"] == "completed").then_some(())
    });
    let told = chat.requests().last().expect("it was told").to_string();
    for words in [outcome, "a person alone adopts a change"] {
        assert!(told.contains(words), "`{words}` was not told: {told}");
    }
    // It is played over what a person had done, and not over what no person began.
    let shown =
        stage.hermit(&["successor", "show", trial["trial_id"].as_str().expect("an id")]).ends(0).json();
    let played = shown["tasks"].as_array().expect("tasks");
    assert!(played.len() == 1 && played[0] != task.as_str(), "{shown}");

    // What was a proposal is one still: no card asks to adopt it, and Hermit is what it was.
    assert_eq!(stage.waiting(), Vec::<Value>::new());
    assert_eq!(stands(&stage), stood);
    drop(served);
    stage.is_sound();
    stage.prove(&task);
}
