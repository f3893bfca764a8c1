//! The playbook `tidy` on a real folder: proposed, stopped, kept waiting, allowed, done, proven, undone.

use super::stage::{Stage, say_yes, verified};
use super::tree;
use serde_json::Value;
use std::path::Path;

/// A stage with a folder of mixed files in it; how many of them lie loose.
fn mixed() -> (Stage, usize) {
    let stage = Stage::new();
    let outside = stage.at("outside");
    std::fs::create_dir(&outside).expect("a folder");
    let loose = tree::mixed(&stage.work(), &outside);
    (stage, loose)
}

fn attempt(stage: &Stage, task: &str) -> Value {
    let shown = stage.hermit(&["task", "show", task]).ends(0).json();
    assert_eq!(shown["attempts"].as_array().map(Vec::len), Some(1), "one attempt: {}", shown["attempts"]);
    shown["attempts"][0]["attempt_id"].clone()
}

#[test]
fn tidy_waits_across_processes_acts_once_allowed_and_is_undone_byte_for_byte() {
    let (stage, loose) = mixed();
    let before = tree::of(&stage.work());

    // One process proposes, is stopped by policy, and ends.
    let (task, approval) = stage.asks("tidy");
    assert_eq!(tree::of(&stage.work()), before, "nothing happens before a yes");
    let asked_in = attempt(&stage, &task);

    // Another one finds the question, and may show it, and may not answer it.
    let waiting = stage.waiting();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0]["approval_id"], approval.as_str());
    let card = stage.hermit(&["approvals", "show", &approval]).ends(0).json().to_string();
    assert!(card.contains("letter.txt"), "the card names the files");
    assert!(!card.contains('\u{202e}'), "what turns text around is shown escaped");
    stage.hermit(&["approvals", "approve", &approval]).ends(3).complains(&["terminal"]);
    stage.hermit(&["resume"]).ends(0);
    assert_eq!(
        tree::of(&stage.work()),
        before,
        "a process that goes on with everything does not answer either"
    );

    // A third one, at a terminal, with the passphrase.
    let mut pty = stage.terminal(&["approvals", "approve", &approval], &[]);
    pty.expect("Approve?").send("\r").expect("Enter alone decides nothing");
    let risk = waiting[0]["risk"].as_str().expect("a risk");
    say_yes(&mut pty, risk);
    let (code, screen) = pty.end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(attempt(&stage, &task), asked_in, "the same attempt went on");

    let after = tree::of(&stage.work());
    moved(&before, &after, loose);
    receipted(&stage, &task);
    stage.is_sound();
    stage.prove(&task);

    let undo = undone(&stage, &task);
    let again = tree::of(&stage.work());
    assert_eq!(
        again.keys().collect::<Vec<_>>(),
        before.keys().collect::<Vec<_>>(),
        "the same names as before"
    );
    assert!(again == before, "the same bytes as before");
    stage.is_sound();
    stage.prove(&undo);
}

/// Loose files lie in folders now, with their bytes; everything else is where it was.
fn moved(before: &tree::Tree, after: &tree::Tree, loose: usize) {
    let is_loose = |path: &Path, thing: &tree::Thing| {
        matches!(thing, tree::Thing::File(..))
            && path.components().count() == 1
            && !path.starts_with(".hidden")
    };
    let count = |tree: &tree::Tree| tree.iter().filter(|(path, thing)| is_loose(path, thing)).count();
    assert_eq!(count(before), loose);
    assert_eq!(tree::contents(before), tree::contents(after), "no byte is lost and none is new");
    for (path, thing) in before.iter().filter(|(path, thing)| !is_loose(path, thing)) {
        assert_eq!(after.get(path), Some(thing), "`{}` stays", path.display());
    }
    assert_eq!(
        after.get(&Path::new("Documents").join(tree::odd_name())),
        before.get(Path::new(tree::odd_name()))
    );
    // What nobody may read is left where it is: nothing could be put back.
    assert!(count(after) <= 1, "{} files lie loose still", count(after));
}

fn receipted(stage: &Stage, task: &str) {
    let receipt = stage.receipt(task);
    assert_eq!(receipt["result"], "succeeded", "{receipt}");
    let id = receipt["receipt_id"].as_str().expect("an id");
    let shown = stage.hermit(&["receipts", "show", id]).ends(0).json();
    assert_eq!(shown["signature"], "holds");
    let why = stage.hermit(&["explain", id]).ends(0).json();
    let chain = &why["chains"][0];
    assert_eq!(chain["approvals"].as_array().map(Vec::len), Some(1), "{chain}");
    assert!(!chain["changes"].as_array().expect("changes").is_empty());
    assert_eq!(stage.count(task, "effect.dispatched"), stage.count(task, "effect.observed"));
}

/// Undoes the only effect of a task, with a yes of its own; the task that did it.
fn undone(stage: &Stage, task: &str) -> String {
    let receipt = stage.receipt(task)["receipt_id"].as_str().expect("an id").to_owned();
    let asked = stage.hermit(&["rollback", &receipt]).ends(4).json();
    let undo = asked["row"]["task_id"].as_str().expect("a task").to_owned();
    let (code, screen) = stage.approve(asked["waits_for"]["id"].as_str().expect("an approval"));
    assert_eq!(code, 0, "{screen}");
    let shown = stage.hermit(&["receipts", "show", &receipt]).ends(0).json();
    assert!(shown["row"]["undone_by"].is_string(), "{}", shown["row"]);
    undo
}

#[test]
fn a_file_that_changed_after_the_question_is_asked_about_again() {
    let (stage, _) = mixed();
    let (task, approval) = stage.asks("tidy");
    std::fs::write(stage.work().join("letter.txt"), "other words\n").expect("a file");
    let changed = tree::of(&stage.work());

    // The yes was to the old bytes: at the same terminal the new question comes up, and is left for later.
    let mut pty = stage.allow(&approval, &[]);
    pty.expect("Approve?").send("later\r");
    let (code, screen) = pty.end();
    assert_eq!(code, 4, "{screen}");
    assert_eq!(tree::of(&stage.work()), changed, "nothing was done on the old yes");
    let waiting = stage.waiting();
    assert_eq!(waiting.len(), 1);
    assert_ne!(waiting[0]["approval_id"], approval.as_str(), "it is another question");

    let (code, screen) = stage.approve(waiting[0]["approval_id"].as_str().expect("an id"));
    assert_eq!(code, 0, "{screen}");
    let letter = stage.work().join("Documents/letter.txt");
    assert_eq!(std::fs::read(letter).expect("moved"), b"other words\n");
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    stage.is_sound();
}

#[test]
fn a_file_that_changed_between_the_yes_and_the_act_is_asked_about_again_by_the_next_process() {
    let (stage, _) = mixed();
    let (task, approval) = stage.asks("tidy");
    // The process dies when the yes is on disk and nothing is done.
    let pty = stage.allow(&approval, &[("HERMIT_FAULT", "approval.grant:after:abort")]);
    let (code, _) = pty.end();
    assert_ne!(code, 0, "it died");
    assert_eq!(stage.count(&task, "approval.granted"), 1, "the yes is kept");
    std::fs::write(stage.work().join("file 01.txt"), "a person was here\n").expect("a file");
    let changed = tree::of(&stage.work());

    stage.hermit(&["resume"]).ends(4);
    assert_eq!(tree::of(&stage.work()), changed, "nothing was done on the old yes");
    let waiting = stage.waiting();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert_ne!(waiting[0]["approval_id"], approval.as_str());
    let (code, screen) = stage.approve(waiting[0]["approval_id"].as_str().expect("an id"));
    assert_eq!(code, 0, "{screen}");
    assert_eq!(
        std::fs::read(stage.work().join("Documents/file 01.txt")).expect("moved"),
        b"a person was here\n"
    );
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    stage.is_sound();
}

#[test]
fn a_proof_with_one_byte_changed_is_refused_by_everybody() {
    let stage = Stage::new();
    std::fs::write(stage.work().join("one.txt"), "one\n").expect("a file");
    let (task, approval) = stage.asks("tidy");
    assert_eq!(stage.approve(&approval).0, 0);
    let zip = stage.prove(&task);
    let folder = stage.at(&format!("{task}.proof"));
    let victim = folder.join("gate/entries.jsonl");
    let mut bytes = std::fs::read(&victim).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&victim, bytes).expect("writable");
    verified(&folder, &["--trust", &stage.key("manifest")]).ends(5);
    stage
        .hermit(&["proof", "verify", folder.to_str().expect("UTF-8"), "--trust", &stage.key("manifest")])
        .ends(5);
    let summed = std::process::Command::new("sha256sum")
        .args(["-c", "--strict", "SHA256SUMS"])
        .current_dir(&folder)
        .output();
    assert!(!summed.expect("sha256sum").status.success());
    verified(&zip, &["--trust", &stage.key("manifest")]).ends(0);
}
