//! A person's own rules of policy through the built programs: each change by a card, and by no program.

use super::stage::Stage;
use serde_json::Value;

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
