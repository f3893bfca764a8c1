//! Version control over real git: what would move was on the card, the receipt tells from where to where, and an undo
//! moves it back only while it is where we left it.

use super::server;
use super::stage::Stage;
use conforms::conforms;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// What git says in the folder, without its last line break; empty when it fails.
fn git(stage: &Stage, words: &[&str]) -> String {
    let done = Command::new("git")
        .current_dir(stage.work())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "A Person")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "A Person")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .args(words)
        .stdin(Stdio::null())
        .output()
        .expect("git");
    String::from_utf8_lossy(&done.stdout).trim_end().to_owned()
}

/// A folder with a repository of one commit, an edit that is not committed, and another that is nobody's business.
fn furnish(stage: &Stage) {
    let put = |name: &str, text: &str| std::fs::write(stage.work().join(name), text).expect("a file");
    put("notes.txt", "one\n");
    put("own.txt", "mine\n");
    git(stage, &["init", "-q", "-b", "main"]);
    git(stage, &["add", "."]);
    git(stage, &["commit", "-q", "-m", "first"]);
    put("notes.txt", "one\ntwo\n");
    put("own.txt", "mine, and more\n");
}

fn id(value: &Value) -> String {
    value.as_str().expect("an identifier").to_owned()
}

fn say(tool: &str, arguments: Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

/// Lets a model say these in turn; the task, at its first question.
fn asks(stage: &Stage, says: &[Value]) -> String {
    let model = server::script(&[says, &[say("done", json!({ "summary": "done" }))]].concat());
    let work = stage.work();
    let words = ["run", "--goal", "commit the notes", "--workspace", work.to_str().expect("UTF-8")];
    let words = [&words[..], &["--model", &model, "--profile", "repo_mutation_gated"]].concat();
    id(&stage.hermit(&words).ends(4).json()["row"]["task_id"])
}

/// Allows the one thing that is asked, and returns what its card showed. What is asked next at the same terminal waits.
fn allow(stage: &Stage, then: Then) -> String {
    let [waits] = <[Value; 1]>::try_from(stage.waiting()).expect("one question");
    let approval = id(&waits["approval_id"]);
    let card = stage.hermit(&["approvals", "show", &approval]).ends(0).json().to_string();
    let mut pty = stage.allow(&approval, &[]);
    if then == Then::AsksAgain {
        pty.expect("Approve?").send("later\r");
    }
    let (code, screen) = pty.end();
    assert_eq!(code, if then == Then::AsksAgain { 4 } else { 0 }, "{screen}");
    card
}

/// What follows on a yes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    AsksAgain,
    Ends,
}

/// The receipts of a task's effects, in order, with everything they say.
fn receipts(stage: &Stage, task: &str) -> Vec<(String, String)> {
    let listed = stage.hermit(&["receipts", "list", "--task", task]).ends(0).json();
    let mut rows: Vec<Value> = listed["rows"].as_array().expect("rows").clone();
    rows.retain(|row| row["class"] != "approval_resolution");
    rows.sort_by_key(|row| row["issued_at"].as_u64());
    let whole = |row: &Value| {
        let receipt = id(&row["receipt_id"]);
        let said = stage.hermit(&["receipts", "show", &receipt]).ends(0).json().to_string();
        (receipt, said)
    };
    rows.iter().map(whole).collect()
}

fn commit() -> Value {
    say("commit", json!({ "paths": ["notes.txt"], "message": "say two\n\nas it was asked" }))
}

#[conforms(part = "HK-7-1", "HK-18.2-1")]
#[test]
fn a_commit_a_branch_and_a_tag_are_shown_made_told_and_taken_back() {
    let stage = Stage::new();
    furnish(&stage);
    let first = git(&stage, &["rev-parse", "main"]);
    let task = asks(
        &stage,
        &[commit(), say("branch", json!({ "name": "topic/x" })), say("tag", json!({ "name": "v1" }))],
    );
    assert_eq!(git(&stage, &["rev-parse", "main"]), first, "nothing before the yes");
    let card = allow(&stage, Then::AsksAgain);
    for word in ["refs/heads/main", &first, "notes.txt", "sha256", "| say two", "| as it was asked"] {
        assert!(card.contains(word), "`{word}` is not on the card: {card}");
    }
    let second = git(&stage, &["rev-parse", "main"]);
    assert_eq!(git(&stage, &["rev-parse", "main^"]), first);
    assert_eq!(
        git(&stage, &["show", "--format=%B", "--name-only", "main"]),
        "say two\n\nas it was asked\n\nnotes.txt"
    );
    assert_eq!(git(&stage, &["status", "--porcelain"]), " M own.txt", "what was not named stays as it was");
    assert!(allow(&stage, Then::AsksAgain).contains("refs/heads/topic/x"));
    assert!(allow(&stage, Then::Ends).contains("refs/tags/v1"));
    for name in ["topic/x", "v1"] {
        assert_eq!(git(&stage, &["rev-parse", name]), second, "{name}");
    }
    let told = receipts(&stage, &task);
    let moves =
        [("refs/heads/main", first.as_str()), ("refs/heads/topic/x", "nothing"), ("refs/tags/v1", "nothing")];
    assert_eq!(told.len(), moves.len(), "{told:#?}");
    for ((name, before), (_, said)) in moves.iter().zip(&told) {
        let words = format!("`{name}`: {before} before, {second} after");
        assert!(said.contains(&words), "`{words}` is not in {said}");
        assert!(said.contains("vcs_mutation"), "{said}");
    }
    stage.is_sound();
    stage.prove_receipts(&task);
    // The newest first, as they would be undone by hand.
    for (receipt, _) in told.iter().rev() {
        stage.hermit(&["rollback", receipt]).ends(4);
        allow(&stage, Then::Ends);
    }
    assert_eq!(
        git(&stage, &["for-each-ref", "--format=%(refname) %(objectname)"]),
        format!("refs/heads/main {first}")
    );
    assert_eq!(git(&stage, &["diff", "--name-only", "main"]), "notes.txt\nown.txt", "no file was touched");
    stage.is_sound();
}

#[conforms(part = "HK-6.2-3")]
#[test]
fn a_branch_that_is_moved_by_force_and_a_tag_that_is_deleted_are_grave_on_the_card_and_come_back() {
    let stage = Stage::new();
    furnish(&stage);
    let first = git(&stage, &["rev-parse", "main"]);
    git(&stage, &["tag", "v1"]);
    git(&stage, &["checkout", "-q", "-b", "topic"]);
    git(&stage, &["commit", "-q", "--allow-empty", "-m", "only topic leads here"]);
    git(&stage, &["checkout", "-q", "main"]);
    let topic = git(&stage, &["rev-parse", "topic"]);
    let back = json!({ "name": "refs/heads/topic", "to": "refs/heads/main", "force": true });
    let task = asks(&stage, &[say("move_ref", back), say("delete_ref", json!({ "name": "refs/tags/v1" }))]);
    let card = allow(&stage, Then::AsksAgain);
    for word in ["refs/heads/topic", &first, &topic, "BY FORCE", "destructive"] {
        assert!(card.contains(word), "`{word}` is not on the card: {card}");
    }
    assert_eq!(git(&stage, &["rev-parse", "topic"]), first);
    let card = allow(&stage, Then::Ends);
    assert!(card.contains("DELETE") && card.contains("refs/tags/v1"), "{card}");
    assert_eq!(git(&stage, &["tag"]), "");
    let told = receipts(&stage, &task);
    let moves = [("refs/heads/topic", &topic, first.as_str()), ("refs/tags/v1", &first, "nothing")];
    assert_eq!(told.len(), moves.len(), "{told:#?}");
    for ((name, before, after), (_, said)) in moves.iter().zip(&told) {
        let words = format!("`{name}`: {before} before, {after} after");
        assert!(said.contains(&words), "`{words}` is not in {said}");
    }
    stage.prove(&task);
    for (receipt, _) in told.iter().rev() {
        stage.hermit(&["rollback", receipt]).ends(4);
        allow(&stage, Then::Ends);
    }
    assert_eq!(git(&stage, &["rev-parse", "topic"]), topic);
    assert_eq!(git(&stage, &["rev-parse", "v1"]), first);
    stage.is_sound();
}

#[test]
fn a_branch_that_somebody_moved_on_stays_where_they_moved_it() {
    let stage = Stage::new();
    furnish(&stage);
    let task = asks(&stage, &[commit()]);
    allow(&stage, Then::Ends);
    git(&stage, &["commit", "-q", "-a", "-m", "third, by a person"]);
    let third = git(&stage, &["rev-parse", "main"]);
    let [(receipt, _)] = <[_; 1]>::try_from(receipts(&stage, &task)).expect("one effect");
    let undone = stage.hermit(&["rollback", &receipt]);
    assert_eq!(git(&stage, &["rev-parse", "main"]), third, "{undone:?}");
    // Whatever is still asked, a yes does not move it either.
    if undone.code == 4 {
        allow(&stage, Then::Ends);
    }
    assert_eq!(git(&stage, &["rev-parse", "main"]), third, "{undone:?}");
    assert_eq!(git(&stage, &["status", "--porcelain"]), "");
    stage.is_sound();
}

#[test]
fn a_branch_that_moved_between_the_question_and_the_yes_is_looked_at_again() {
    let stage = Stage::new();
    furnish(&stage);
    let task = asks(&stage, &[commit(), commit()]);
    git(&stage, &["commit", "-q", "--allow-empty", "-m", "by a person"]);
    let theirs = git(&stage, &["rev-parse", "main"]);
    let card = allow(&stage, Then::AsksAgain);
    assert!(!card.contains(&theirs), "it was asked before");
    assert_eq!(git(&stage, &["rev-parse", "main"]), theirs, "the old yes did nothing");
    assert_eq!(stage.count(&task, "effect.dispatched"), 0);
    assert!(allow(&stage, Then::Ends).contains(&theirs), "and the new question is about where it is now");
    assert_eq!(git(&stage, &["rev-parse", "main^"]), theirs);
    stage.is_sound();
}
