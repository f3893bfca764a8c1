//! A whole task is erased by the program: whatever was said, read, written or answered in it is in no byte of the store,
//! and other tasks keep all of theirs.

use super::allow;
use crate::bench::{Bench, holding, text};
use crate::forgetting::{call, model};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Words that stand for what a person may want gone, and where each was said.
const PLANTED: [&str; 15] = [
    "quokkagoal",
    "quokkaconstraint",
    "quokkatitle",
    "quokkaattached",
    "quokkanote",
    "quokkathought",
    "quokkaplan",
    "quokkaquestion",
    "quokkaanswer",
    "quokkawritten",
    "quokkalarge",
    "quokkaname",
    "quokkaprinted",
    "quokkaread",
    "quokkasummary",
];

/// The planted words that are anywhere below a folder.
fn left(folder: &Path) -> Vec<(&'static str, Vec<PathBuf>)> {
    let found = PLANTED.iter().map(|word| (*word, holding(folder, word.as_bytes())));
    found.filter(|(_, places)| !places.is_empty()).collect()
}

/// Runs a task to its end: every card is allowed at a terminal.
fn to_its_end(bench: &Bench, task: &str) {
    for _ in 0..8 {
        let waiting = bench.run(&["approvals", "list", "--task", task, "--json"]).ends_with(0).json();
        let rows = waiting["rows"].as_array().unwrap();
        let Some(row) = rows.iter().find(|row| row["status"] == "pending") else { break };
        let mut terminal = bench.terminal(&["approvals", "approve", &text(&row["approval_id"])]);
        allow(&mut terminal);
        terminal.end();
    }
    let shown = bench.run(&["task", "show", task, "--json"]).ends_with(0).json();
    assert_eq!(shown["row"]["status"], "completed", "{shown}");
}

/// A task in which every planted word was said, read, written or answered.
fn everything(bench: &Bench) -> String {
    std::fs::write(bench.home().join("config.json"), "{\"context_tokens\": 32000}").unwrap();
    std::fs::write(bench.folder().join("a.txt"), "it says quokkaread here").unwrap();
    std::fs::write(bench.path("handed.txt"), "quokkaattached").unwrap();
    let large: String = (0..9_000).map(|n| format!("{n} quokkalarge\n")).collect();
    let address = model(vec![
        call("note", &json!({ "plan": "quokkaplan first" })),
        Value::from(
            "quokkathought, and then:\n```json\n{\"tool\":\"read\",\"arguments\":{\"path\":\"a.txt\"}}\n```\n",
        ),
        call("ask", &json!({ "question": "what of quokkaquestion?" })),
        call("command", &json!({ "argv": ["echo", "quokkaprinted"] })),
        call(
            "change",
            &json!({ "items": [
                { "op": "write", "path": "quokkaname.txt", "content": "quokkawritten" },
                { "op": "write", "path": "large.txt", "content": large },
            ] }),
        ),
        call("done", &json!({ "summary": "quokkasummary" })),
    ]);
    let (folder, handed) = (bench.folder(), bench.path("handed.txt"));
    let ran = bench
        .run(&[
            "run",
            "--goal",
            "see to quokkagoal",
            "--title",
            "about quokkatitle",
            "--constraint",
            "never quokkaconstraint",
            "--attach",
            handed.to_str().unwrap(),
            "--model",
            &address,
            "--workspace",
            folder.to_str().unwrap(),
            "--json",
        ])
        .ends_with(4)
        .json();
    let task = text(&ran["row"]["task_id"]);
    assert_eq!(ran["waits_for"]["kind"], "answer", "{ran}");
    bench.run(&["task", "note", &task, "mind quokkanote"]).ends_with(0);
    bench.run(&["task", "answer", &task, "quokkaanswer it is"]).ends_with(4);
    to_its_end(bench, &task);
    task
}

fn exported(bench: &Bench, task: &str, name: &str) -> PathBuf {
    let path = bench.path(name);
    bench.run(&["proof", "export", task, "-o", path.to_str().unwrap()]).ends_with(0);
    path
}

fn verifies(bench: &Bench, proof: &Path) {
    let keys = bench.run(&["keys", "list", "--json"]).ends_with(0).json();
    let manifest = keys["keys"].as_array().unwrap().iter().find(|k| k["purpose"] == "manifest").unwrap();
    bench
        .run(&["proof", "verify", proof.to_str().unwrap(), "--trust", &text(&manifest["keyid"])])
        .ends_with(0);
}

#[test]
fn nothing_that_was_said_read_written_or_answered_in_an_erased_task_is_left_in_any_byte_of_the_store() {
    let bench = Bench::new();
    let task = everything(&bench);
    let there = left(&bench.home());
    let words: Vec<&str> = there.iter().map(|(word, _)| *word).collect();
    assert_eq!(words, PLANTED, "all of them are there before");
    let before = exported(&bench, &task, "before.zip");
    let plan = bench.run(&["erase", "--task", &task, "--preview"]).ends_with(0).out;
    for class in [
        "message",
        "model.answer",
        "model.response",
        "working.state",
        "clarification.requested",
        "ingress.received",
    ] {
        assert!(plan.contains(class), "{class} in:\n{plan}");
    }

    bench.erase(&["--task", &task], crate::bench::APPROVAL).ends_with(0);
    assert_eq!(left(&bench.home()), [], "after the erasure");
    for word in PLANTED {
        let hits = bench.run(&["search", word]).ends_with(0).out;
        assert!(!hits.contains("task_") && !hits.contains(word), "{hits}");
    }
    let again = bench.run(&["erase", "--task", &task, "--preview"]).ends_with(0).out;
    assert!(again.contains("nothing left to erase"), "{again}");

    // Everything that was proven is, and the store goes on.
    bench.run(&["ledger", "verify", "--content"]).ends_with(0);
    verifies(&bench, &before);
    verifies(&bench, &exported(&bench, &task, "after"));
    assert_eq!(left(&bench.path("after")), [], "what is given away now");
    for words in [&["task", "show", &task][..], &["explain", &task], &["policy", "suggest"], &["doctor"]] {
        let ran = bench.run(words);
        assert!(!ran.err.contains("panicked"), "{words:?}: {}", ran.err);
    }
    bench.run(&["ledger", "rebuild"]).ends_with(0);
    bench.run(&["backup", bench.path("copy").to_str().unwrap()]).ends_with(0);
    bench.run(&["artifacts", "gc", "--older-than", "0s"]).ends_with(0);
    assert_eq!(left(&bench.home()), [], "after a rebuild and a collection");
    assert_eq!(left(&bench.path("copy")), [], "in a backup made after");
}
