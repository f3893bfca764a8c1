//! The toy tool of `cargo xtask toy`, by the real programs: proposed, judged, asked, done, receipted, proven to both
//! verifiers, killed in the middle and settled, undone.

use super::server;
use super::stage::Stage;
use serde_json::{Value, json};

fn id(value: &Value) -> String {
    value.as_str().expect("an identifier").to_owned()
}

/// Lets a model ask for the folder `made` and be done; the task, at its question.
fn asks(stage: &Stage, more: &[(&str, &str)]) -> String {
    let folder = json!({ "tool": "folder", "arguments": { "path": "made" } });
    let model = server::script(&[folder, json!({ "tool": "done", "arguments": { "summary": "made" } })]);
    let work = stage.work();
    let words = ["--json", "run", "--goal", "make a folder", "--workspace", work.to_str().expect("UTF-8")];
    let words = [&words[..], &["--model", &model, "--profile", "local_edit_allowed"]].concat();
    let ran = Stage::ran(stage.command(&words).envs(more.iter().copied())).ends(4);
    assert!(!work.join("made").exists(), "nothing before the yes");
    id(&ran.json()["row"]["task_id"])
}

/// The one approval that waits.
fn waiting(stage: &Stage) -> String {
    let [waits] = <[Value; 1]>::try_from(stage.waiting()).expect("one question");
    id(&waits["approval_id"])
}

#[test]
fn a_tool_of_three_files_goes_the_whole_way() {
    let stage = Stage::new();
    let task = asks(&stage, &[]);
    let approval = waiting(&stage);
    let card = stage.hermit(&["approvals", "show", &approval]).ends(0).json();
    assert_eq!(card["title"], "make the folder \"made\"", "{card}");
    let (code, screen) = stage.approve(&approval);
    assert!(code == 0 && screen.contains("make the folder \"made\""), "{screen}");
    assert!(stage.work().join("made").is_dir());
    let receipt = stage.receipt(&task);
    assert_eq!(
        (&receipt["result"], &receipt["reversibility"]),
        (&json!("succeeded"), &json!("reversible")),
        "{receipt}"
    );
    stage.is_sound();
    stage.prove_receipts(&task);
    stage.hermit(&["rollback", &id(&receipt["receipt_id"])]).ends(4);
    let (code, screen) = stage.approve(&waiting(&stage));
    assert_eq!(code, 0, "{screen}");
    assert!(!stage.work().join("made").exists(), "undone");
    stage.is_sound();
}

#[test]
fn a_process_that_dies_in_the_middle_leaves_one_folder_and_one_receipt() {
    let stage = Stage::new();
    let task = asks(&stage, &[]);
    let died = stage.allow(&waiting(&stage), &[("HERMIT_FAULT", "effect.dispatch:after:abort")]).end();
    assert_ne!(died.0, 0, "{}", died.1);
    stage.hermit(&["resume"]).ends(0);
    assert!(stage.work().join("made").is_dir());
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    assert_eq!(stage.count(&task, "effect.dispatched"), 1);
}
