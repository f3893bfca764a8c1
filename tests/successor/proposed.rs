//! A model at work on a task has a change of Hermit tried: an act like every other, from its card to its receipt, played by clones that
//! are real programs. The verdict comes back to it, nothing changes by that, and the trial ends with its task.

use super::{has_walls, soon};
use crate::journeys::attached::Served;
use crate::journeys::stage::{APPROVAL, Stage};
use crate::journeys::tool_servers::asked;
use conforms::conforms;
use serde_json::{Value, json};
use testkit::{Chat, Large};

pub(super) fn writes(path: &str) -> Value {
    json!({ "tool": "write", "arguments": { "path": path, "content": "text\n" } })
}

pub(super) fn done(summary: &str) -> Value {
    json!({ "tool": "done", "arguments": { "summary": summary } })
}

/// A SOUL.md that says the same in many words, which stand in every context.
fn wordy() -> Value {
    let text = "# Hermit\n".to_owned() + &"I do what its person asks, and say so in many words.\n".repeat(40);
    json!({
        "says": "a longer SOUL.md", "sources": ["thought of in this task"],
        "change": { "kind": "words", "items": [{ "what": "soul", "name": "SOUL.md", "text": text }] },
    })
}

fn tries(patch: &Value) -> Value {
    let arguments =
        json!({ "patch": patch.to_string(), "about": "it explains more and breaks nothing", "draw": 1 });
    json!({ "tool": "try_change", "arguments": arguments })
}

/// Has a model work at a terminal whose person allows everything; what the terminal showed.
pub(super) fn allowed(stage: &Stage, goal: &str, model: &str) -> String {
    let folder = stage.work();
    let words =
        ["run", "--log", "--goal", goal, "--model", model, "--workspace", folder.to_str().expect("UTF-8")];
    let mut pty = stage.terminal(&words, &[]).without_hurry();
    let passphrase = format!("{APPROVAL}\r");
    let asks = [("Approve?", "y\r"), ("Type `high`", "high\r"), ("Approval passphrase", passphrase.as_str())];
    while let Some(which) = pty.expect_one_or_end(&asks.map(|(words, _)| words)) {
        pty.send(asks[which].1);
    }
    let (code, screen) = pty.end();
    assert_eq!(code, 0, "{screen}");
    screen
}

pub(super) fn task_of(stage: &Stage, goal: &str) -> String {
    let listed = stage.hermit(&["task", "list"]).ends(0).json();
    let rows = listed["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["title"] == goal).unwrap_or_else(|| panic!("{listed}"));
    row["task_id"].as_str().expect("an id").to_owned()
}

pub(super) fn trials(stage: &Stage) -> Vec<Value> {
    let listed = stage.hermit(&["successor", "list"]).ends(0).json();
    listed["trials"].as_array().expect("trials").clone()
}

#[conforms("HV-3.2-5", "HV-5-1")]
#[test]
fn a_task_has_a_change_tried_in_its_midst_and_its_model_is_told_the_verdict() {
    if !has_walls() {
        return;
    }
    let stage = Stage::new();
    let before = Chat::saying(Large::STRONG, vec![writes("a.md"), done("written")]);
    allowed(&stage, "write the first note", &before.address());
    let (rules, who) =
        (stage.hermit(&["policy", "own"]).ends(0).json(), stage.hermit(&["identity", "show"]).ends(0).json());

    // What can be no change is refused with words, and nobody is asked; then a real one.
    let no_change =
        json!({ "says": "nothing", "sources": ["own"], "change": { "kind": "words", "items": [] } });
    let says =
        vec![writes("b.md"), tries(&no_change), tries(&wordy()), writes("c.md"), done("tried, and went on")];
    let chat = Chat::saying(Large::STRONG, says);
    let screen = allowed(&stage, "write the second note", &chat.address());
    assert!(screen.contains("try a change of Hermit itself"), "a person is asked: {screen}");
    let requests: Vec<String> = chat.requests().iter().map(Value::to_string).collect();
    assert_eq!(requests.len(), 5, "the task goes on after what was refused");
    assert!(requests[0].contains("try_change"), "it is offered at the first turn");
    assert!(requests[2].contains("it changes nothing"), "{}", requests[2]);
    for words in ["worse", "costs_more", "a person alone adopts a change"] {
        assert!(requests[3].contains(words), "`{words}` was not told: {}", requests[3]);
    }

    let all = trials(&stage);
    let [trial] = all.as_slice() else { panic!("one trial: {all:?}") };
    assert_eq!((&trial["state"], &trial["outcome"]), (&json!("judged"), &json!("worse")), "{trial}");
    let id = trial["trial_id"].as_str().expect("an id");
    let shown = stage.hermit(&["successor", "show", id]).ends(0).json();
    let task = task_of(&stage, "write the second note");
    // Whoever lists trials, or opens one, is told which task proposed it.
    assert_eq!((&trial["proposed_by"], &shown["trial"]["proposed_by"]), (&json!(task), &json!(task)));
    let played = shown["tasks"].as_array().expect("tasks");
    assert_eq!(
        (played.len(), &played[0]),
        (2, &json!(task)),
        "the task as far as it came, and one beside it"
    );
    assert_eq!(shown["verdict"]["is_signed"], true, "{shown}");
    assert_eq!(shown["verdict"]["has_evidence"], true);
    let planted = shown["verdict"]["planted"].as_array().expect("planted changes");
    assert!(!planted.is_empty() && planted.iter().all(|one| one["refused"] == true), "{planted:?}");

    // Its way was that of every act, and nothing of Hermit is another than before.
    let ways: Vec<Value> = stage.events(&task);
    let asked =
        |event: &&Value| event["event_type"] == "action.requested" && event["body"]["tool"] == "try_change";
    assert_eq!(ways.iter().filter(asked).count(), 1, "what is no change became no request");
    assert_eq!(stage.hermit(&["policy", "own"]).ends(0).json(), rules);
    let now = stage.hermit(&["identity", "show"]).ends(0).json();
    assert_eq!((&now["version"], &now["soul"]), (&who["version"], &who["soul"]));
    for (file, is_there) in [("a.md", true), ("b.md", true), ("c.md", true), ("SOUL.md", false)] {
        assert_eq!(stage.work().join(file).exists(), is_there, "{file}");
    }
    stage.is_sound();
    stage.prove(&task);
}

#[conforms(part = "HV-3.2-5")]
#[test]
fn a_trial_ends_with_the_task_that_had_it_made() {
    if !has_walls() {
        return;
    }
    let stage = Stage::new();
    let served = Served::by(&stage);
    // Each clone reads it all again, so that there is time to stop it.
    let names: Vec<String> = (0..18).map(|at| format!("part-{at}.md")).collect();
    let read = |name: &String| {
        std::fs::write(stage.work().join(name), format!("what stands in {name}\n")).expect("a file");
        json!({ "tool": "read", "arguments": { "path": name } })
    };
    let says = names.iter().map(read).chain([tries(&wordy()), done("tried")]).collect();
    let chat = Chat::saying(Large::STRONG, says);
    let (folder, model) = (stage.work(), chat.address());
    let words = ["run", "--goal", "read it all", "--model", &model, "--workspace"];
    let words: Vec<&str> = words.into_iter().chain(folder.to_str()).collect();
    let (task, approval) = asked(&stage.hermit(&words).ends(4).json());
    let mut pty = stage.allow(&approval, &[]);
    soon("the trial runs", || trials(&stage).first().is_some_and(|one| one["state"] == "running"));
    stage.hermit(&["task", "cancel", &task]).ends(0);
    soon("the trial has ended", || trials(&stage).first().is_some_and(|one| one["state"] == "stopped"));
    let all = trials(&stage);
    assert!(all[0]["why"].to_string().contains("the task that proposed it was stopped"), "{all:?}");
    soon("the task is cancelled", || {
        let shown = stage.hermit(&["task", "show", &task]).ends(0).json();
        shown["row"]["status"] == "cancelled"
    });
    let _ = pty.ended();
    drop(served);
    stage.is_sound();
}
