//! What was remembered at a checkpoint or at a time: listed as it was, with the root that proves it.

use crate::home::Home;
use kernel::command::submit::{Reasoning, Submission};
use model::{ConversationId, Digest, MemoryId, TaskId};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;
use testkit::{done, look, say};

fn learnt(home: &Home, goal: &str, claim: &str) -> TaskId {
    home.world.file("a.txt", "rates");
    let remember =
        json!({ "claim": claim, "scope": "project", "reason": "it will be needed", "evidence": ["a.txt"] });
    let task = home.world.script(goal, vec![look("a.txt"), say("remember", remember), done("ok")]);
    home.world.drive_allowing(task);
    task
}

fn claims(answer: &Value, list: &str) -> Vec<String> {
    answer[list]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["claim"].as_str().unwrap_or("?").to_owned())
        .collect()
}

fn then(home: &Home, of: Value) -> Value {
    home.must("knowledge.memory_then", of)
}

fn refused(home: &Home, name: &str, params: Value) -> (String, String) {
    let error = home.ask(name, params).expect_err("it is refused");
    (error.message.clone(), error.hint.clone())
}

#[test]
fn memory_is_listed_as_it_was_at_any_checkpoint_and_says_what_proves_it() {
    let home = Home::new(41);
    let none = refused(&home, "knowledge.memory_then", json!({}));
    assert!(none.0.contains("no root of memory"), "{none:?}");
    learnt(&home, "one", "rates live in rates.toml");
    home.must("ledger.checkpoint", json!({}));
    let first = home.must("ledger.head", json!({}));
    home.world.clock.advance(60_000);
    let between = home.world.kernel().ports().clock.now().0;
    home.world.clock.advance(60_000);
    learnt(&home, "two", "the logo is blue");
    let row = home.must("knowledge.memories", json!({}))["rows"][1].clone();
    let id: MemoryId = row["memory_id"].as_str().unwrap().parse().unwrap();
    home.world.kernel().revoke_memory(id, "it was wrong").unwrap();
    home.must("ledger.checkpoint", json!({}));
    let points = home.must("knowledge.memory_points", json!({}));
    let points = points["rows"].as_array().unwrap().clone();
    assert_eq!(points.len(), 2, "{points:?}");
    let size = first["size"].as_u64().unwrap();
    let covering = points[1]["checkpoint"].as_u64().unwrap();
    assert!(covering <= size, "the first that covers it: {covering} of {size}");

    let asked = [
        json!({ "checkpoint": size.to_string() }),
        json!({ "checkpoint": first["note"] }),
        json!({ "at": between }),
        json!({ "number": 0 }),
    ];
    for of in asked {
        let past = then(&home, of.clone());
        assert_eq!(claims(&past, "rows"), ["rates live in rates.toml"], "{of}");
        assert_eq!(claims(&past, "added"), ["the logo is blue"], "{of}");
        assert_eq!(past["rows"][0]["status"], "revoked", "what became of it stands in it");
        assert_eq!(past["standing"], "proven", "{past}");
        assert_eq!(past["roots"][0]["matches"], true);
    }
    let now = then(&home, json!({}));
    assert_eq!((claims(&now, "rows"), claims(&now, "added")), (vec!["the logo is blue".to_owned()], vec![]));
    // What changed since is not said to be proven.
    learnt(&home, "three", "answers are short");
    assert_eq!(claims(&then(&home, json!({})), "added"), ["answers are short"]);
    home.world.kernel().state_roots().unwrap();
    assert_eq!(claims(&then(&home, json!({})), "rows").len(), 2);
}

#[test]
fn what_cannot_be_shown_says_what_to_do() {
    let home = Home::new(42);
    learnt(&home, "one", "rates live in rates.toml");
    let before = home.world.kernel().ports().clock.now().0;
    home.world.clock.advance(60_000);
    home.must("ledger.checkpoint", json!({}));
    let (words, hint) = refused(&home, "knowledge.memory_then", json!({ "at": before }));
    assert!(
        words.contains("before the first root") && hint.contains("the oldest is checkpoint"),
        "{words} {hint}"
    );
    let (words, hint) = refused(&home, "knowledge.memory_then", json!({ "checkpoint": "9999" }));
    assert!(words.contains("9999 notes") && hint.contains("the newest has"), "{words} {hint}");
    let note = home.must("ledger.head", json!({}))["note"].as_str().unwrap().to_owned();
    let own = note.lines().next().unwrap().to_owned();
    let other = note.replacen(&own, "hermit.local/somewhere-else", 1);
    let (words, hint) = refused(&home, "knowledge.memory_then", json!({ "checkpoint": other }));
    assert!(words.contains("somewhere-else") && hint.contains("--store"), "{words} {hint}");
    let root = note.lines().nth(2).unwrap().to_owned();
    let forged = note.replacen(&root, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", 1);
    let (words, _) = refused(&home, "knowledge.memory_then", json!({ "checkpoint": forged }));
    assert!(words.contains("no such checkpoint"), "{words}");
    let (words, hint) = refused(&home, "knowledge.memory_then", json!({ "checkpoint": "tuesday" }));
    assert!(words.contains("is no checkpoint") && hint.contains("number of its notes"), "{words} {hint}");
    let (words, _) = refused(&home, "knowledge.memory_then", json!({ "checkpoint": "1", "at": 1 }));
    assert!(words.contains("at once"), "{words}");
    refused(&home, "knowledge.memory_then", json!({ "number": 7 }));
}

/// Something said and remembered in another conversation and in another project.
fn elsewhere(home: &Home, folder: &Path) -> (ConversationId, Digest) {
    let kernel = home.world.kernel();
    let root = folder.canonicalize().unwrap();
    std::fs::write(root.join("a.txt"), "rates").unwrap();
    let workspace_id = kernel.workspace(&root).unwrap();
    let conversation = kernel.open_conversation("elsewhere", None).unwrap();
    let remember =
        json!({ "claim": "nobody is told", "scope": "project", "reason": "it is so", "evidence": ["a.txt"] });
    home.world.reasoners.script("other", vec![look("a.txt"), say("remember", remember), done("ok")]);
    let submission = home.world.submission("other", Reasoning::Scripted { name: "other".to_owned() });
    let submission = Submission { workspace_id, conversation_id: Some(conversation), ..submission };
    home.world.drive_allowing(kernel.submit(&submission).unwrap().task_id);
    let project = kernel.store_state().projects[&workspace_id].0;
    (conversation, project)
}

fn gather(root: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, found);
        } else {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            found.insert(path.to_string_lossy().into_owned(), text);
        }
    }
}

#[test]
fn a_proof_names_no_other_conversation_and_no_other_project() {
    let home = Home::new(43);
    let task = learnt(&home, "one", "rates live in rates.toml");
    let (folder, out) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (conversation, project) = elsewhere(&home, folder.path());
    let path = out.path().join("proof");
    home.must("proof.export", json!({ "task": task.to_string(), "path": path }));
    let stated = home.world.kernel().store_state().rooted.roots.clone();
    let subjects: Vec<&str> = stated.keys().map(String::as_str).collect();
    let others = [conversation.to_string(), project.to_string()];
    let is_other = |subject: &&str| others.iter().any(|other| subject.contains(other.as_str()));
    assert_eq!(subjects.iter().filter(|subject| is_other(subject)).count(), 2, "{subjects:?}");
    let mut files = BTreeMap::new();
    gather(&path, &mut files);
    assert!(files.keys().any(|name| name.ends_with("state/rooted.json")), "{:?}", files.keys());
    for (name, text) in &files {
        assert!(!others.iter().any(|other| text.contains(other.as_str())), "{name} names another: {text}");
    }
    let own: Vec<&&str> = subjects.iter().filter(|subject| !is_other(subject)).collect();
    let told = files.iter().find(|(name, _)| name.ends_with("state/subjects.jsonl")).unwrap().1;
    assert!(own.len() == 2 && own.iter().all(|subject| told.contains(**subject)), "{own:?} {told}");
    // Not even the proof of the stream in which they are stated opens the list.
    let path = out.path().join("stream");
    let system = home.world.kernel().store_state().system_task().unwrap();
    home.must("proof.export", json!({ "task": system.to_string(), "path": path }));
    let mut files = BTreeMap::new();
    gather(&path, &mut files);
    let opened = files.iter().find(|(name, text)| name.contains("disclosures/") && text.contains("memory:"));
    assert_eq!(opened, None);
}

#[test]
fn roots_that_cannot_be_stated_stop_neither_a_proof_nor_a_checkpoint() {
    let home = Home::new(44);
    let task = learnt(&home, "one", "rates live in rates.toml");
    let out = TempDir::new().unwrap();
    // The views cannot be read any more: what they hold of a conversation is no edge of a tree.
    let views = rusqlite::Connection::open(home.world.store.path().join(ledger::FILE)).unwrap();
    let change = |sql: &str| views.execute(sql, []).unwrap();
    change("UPDATE view_conversations SET edge = CAST(x'00' || edge AS BLOB)");
    let made = home.must("ledger.checkpoint", json!({}));
    assert!(made["troubles"][0].as_str().unwrap().contains("no new roots"), "{made}");
    assert!(made["checkpoints"].as_array().unwrap().iter().any(|one| one["kind"] == "global"), "{made}");
    let path = out.path().join("proof.zip");
    let made = home.must("proof.export", json!({ "task": task.to_string(), "path": path }));
    assert!(made["left_out"].to_string().contains("no new roots"), "{made}");
    assert_eq!(home.must("proof.verify", json!({ "path": path }))["verdict"], "valid");
    change("UPDATE view_conversations SET edge = substr(edge, 2)");
    assert_eq!(home.must("ledger.checkpoint", json!({}))["troubles"], json!([]));
    assert_eq!(then(&home, json!({}))["standing"], "proven");
}

/// What the table of a project's memory has for each record (HV-3.4-2): its identifier and text, the project, the kind, the
/// conversation it comes from, when it was promoted, until when it holds, and how relevant it is to a question.
#[conforms::conforms("HV-3.4-2")]
#[test]
fn memory_of_a_project_is_listed_with_every_field_and_by_how_relevant_it_is_to_a_goal() {
    let home = Home::new(46);
    home.world.file("a.txt", "rates");
    let remember = json!({
        "claim": "tax rates live in rates.toml", "scope": "project", "reason": "it will be needed", "evidence": ["a.txt"],
        "kind": "decision", "days": 2,
    });
    let task = home.world.script("one", vec![look("a.txt"), say("remember", remember), done("ok")]);
    home.world.drive_allowing(task);
    learnt(&home, "two", "the logo is blue");
    learnt(&home, "three", "the tax office closes at noon");
    // Of so few records a word in two would say next to nothing.
    learnt(&home, "four", "coffee beans stand in the kitchen");
    learnt(&home, "five", "the dog is called Rex");
    let folder = home.world.folder.path().canonicalize().unwrap();
    let about = |text: &str| {
        home.must("knowledge.memories", json!({ "about": text, "folder": folder.to_str().unwrap() }))
    };
    let found = about("Update the tax rates of Malta");
    assert_eq!(claims(&found, "rows"), ["tax rates live in rates.toml", "the tax office closes at noon"]);
    let relevance = |row: &Value| row["relevance"].as_u64().unwrap();
    let (first, second) = (&found["rows"][0], &found["rows"][1]);
    assert!(relevance(first) > relevance(second) && relevance(second) > 0 && relevance(first) <= 1_000);
    assert!(first["memory_id"].as_str().unwrap().starts_with("mem_"));
    let kernel = home.world.kernel();
    let (_, project) = kernel.store_state().projects.into_iter().next().unwrap();
    assert_eq!(first["project"]["hash"], project.0.to_string());
    assert_eq!((&first["memory_type"], &second["memory_type"]), (&json!("decision"), &Value::Null));
    let conversation = kernel.task(task).unwrap().task.conversation_id.to_string();
    assert_eq!(
        (&first["conversation_id"], &first["task_id"]),
        (&json!(conversation), &json!(task.to_string()))
    );
    let since = first["created_at"].as_i64().unwrap();
    assert_eq!(first["expires_at"].as_i64().unwrap() - since, 2 * 24 * 60 * 60 * 1000);
    assert_eq!(second["expires_at"], Value::Null, "for good");
    // It belongs to the question: another finds others, and without one there is none.
    assert_eq!(claims(&about("Paint the logo"), "rows"), ["the logo is blue"]);
    assert!(claims(&about("What will the weather be"), "rows").is_empty());
    let all = home.must("knowledge.memories", json!({}));
    assert!(all["rows"].as_array().unwrap().iter().all(|row| row["relevance"].is_null()));
    for wrong in [
        json!({ "about": "tax" }),
        json!({ "about": "tax", "folder": folder.to_str().unwrap(), "status": "any" }),
    ] {
        assert!(refused(&home, "knowledge.memories", wrong).0.contains("name a folder of it"));
    }
    // What has run out is relevant to nothing.
    home.world.clock.advance(3 * 24 * 60 * 60 * 1000);
    assert_eq!(claims(&about("Update the tax rates of Malta"), "rows"), ["the tax office closes at noon"]);
}
