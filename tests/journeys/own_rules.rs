//! A person's own rules of policy through the built programs: each change by a card, and by no program.

use super::server;
use super::stage::Stage;
use serde_json::{Value, json};

fn own(stage: &Stage) -> Vec<Value> {
    let listed = stage.hermit(&["policy", "own"]).ends(0).json();
    listed["rows"].as_array().expect("rows").clone()
}

/// Asks for a change of rules, which changes nothing, and gives its task and its approval.
fn asked(stage: &Stage, words: &[&str]) -> (String, String) {
    let before = own(stage);
    let ran = stage.hermit(words).ends(4).json();
    assert_eq!(ran["waits_for"]["kind"], "approval", "{ran}");
    assert_eq!(own(stage), before, "no rule changes before the yes");
    let id = |value: &Value| value.as_str().expect("an id").to_owned();
    (id(&ran["row"]["task_id"]), id(&ran["waits_for"]["id"]))
}

#[test]
fn a_person_adds_changes_and_removes_a_rule_of_their_own_by_cards_and_proves_it() {
    let stage = Stage::new();
    let work = stage.work();
    std::fs::write(work.join("a.txt"), "a").expect("a file");
    stage.asks("tidy");
    let edit = ["policy", "test", "--write", "secret.txt"];
    stage.hermit(&edit).ends(4);
    let add = ["policy", "add", "deny FileEdit(secret.txt)", "--because", "it is mine"];
    let (task, approval) = asked(&stage, &add);
    let card = stage.hermit(&["approvals", "show", &approval]).ends(0).json().to_string();
    for words in ["from now on: Never allow: creating or changing files that match", "because it is mine"] {
        assert!(card.contains(words), "`{words}` is not on the card: {card}");
    }
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(own(&stage)[0]["words"], "Never allow: creating or changing files that match `secret.txt`");
    stage.hermit(&edit).ends(3);
    assert_eq!(stage.receipt(&task)["action_class"], "capability_change");
    stage.prove(&task);
    stage.hermit(&["policy", "change", "1", "ask FileEdit(/)"]).complains(&["line 1"]);
    let (_, approval) = asked(&stage, &["policy", "change", "1", "ask FileEdit(secret.txt)"]);
    assert_eq!(stage.approve(&approval).0, 0);
    stage.hermit(&edit).ends(4);
    let (_, approval) = asked(&stage, &["policy", "rm", "1"]);
    assert_eq!(stage.approve(&approval).0, 0);
    assert_eq!(own(&stage), Vec::<Value>::new());
    stage.is_sound();
}

#[conforms::conforms("HV-3.3-3")]
#[test]
fn wildcards_of_commands_and_files_hold_for_a_person_everywhere_and_for_a_project_in_its_folder() {
    let stage = Stage::new();
    let with = |words: &[&str]| {
        let walls = ["policy", "test", "--walls", "namespaces_landlock", "--command"];
        stage.hermit(&[&walls[..], words].concat()).code
    };
    let (git, other) = (with(&["git", "status"]), with(&["make", "test"]));
    assert!(git != 3 && other != 3, "neither is denied yet: {git}, {other}");
    for rule in ["deny Bash(git:*)", "allow FileEdit(*.md)"] {
        let (_, approval) = asked(&stage, &["policy", "add", rule, "--because", "it is my way"]);
        let (code, screen) = stage.approve(&approval);
        assert_eq!(code, 0, "{screen}");
    }
    assert_eq!((with(&["git", "status"]), with(&["make", "test"])), (3, other));
    // A project tightens what its person allows, in its own folder and nowhere else.
    let (ours, theirs) = (stage.work(), stage.at("another project"));
    for folder in [ours.join(".hermit"), theirs.clone()] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    std::fs::write(ours.join(".hermit/policy.rules"), "deny FileEdit(own*)\n").expect("a file");
    for (folder, is_there) in [(&ours, false), (&theirs, true)] {
        let write = |path: &str| json!({ "tool": "write", "arguments": { "path": path, "content": "x\n" } });
        let done = json!({ "tool": "done", "arguments": { "summary": "written" } });
        let model = server::script(&[write("a.md"), write("own.md"), done]);
        let at = folder.to_str().expect("UTF-8");
        stage.hermit(&["run", "--goal", "write notes", "--model", &model, "--workspace", at]).ends(0);
        let there = (folder.join("a.md").exists(), folder.join("own.md").exists());
        assert_eq!(there, (true, is_there), "nobody was asked, in `{at}`");
    }
    stage.is_sound();
}
