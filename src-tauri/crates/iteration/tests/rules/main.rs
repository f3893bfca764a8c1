//! The loop core from outside.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "what a test's own functions expect is part of the test"
)]

mod answers;
mod arguments;
mod runs;
mod texts;

use iteration::{Malformed, Proposal, parse};
use model::proposal::{Answer, ToolCall};
use serde_json::{Value, json};

pub(crate) fn text(text: &str) -> Answer {
    Answer { text: text.to_owned(), finish_reason: "stop".to_owned(), ..Answer::default() }
}

pub(crate) fn calls(calls: &[(&str, Value)]) -> Answer {
    let calls = calls
        .iter()
        .map(|(name, arguments)| ToolCall { name: (*name).to_owned(), arguments: arguments.clone() });
    Answer { calls: calls.collect(), finish_reason: "tool_calls".to_owned(), ..text("") }
}

pub(crate) fn one(tool: &str, arguments: Value) -> Result<Proposal, Malformed> {
    let mut proposals = parse(&calls(&[(tool, arguments)]))?;
    assert_eq!(proposals.len(), 1);
    Ok(proposals.remove(0))
}

pub(crate) fn refused(answer: &Answer) -> String {
    parse(answer).expect_err("it is malformed").to_string()
}

pub(crate) fn done(summary: &str) -> Vec<Proposal> {
    vec![Proposal::Done { summary: summary.to_owned() }]
}

/// One good call of every tool.
pub(crate) fn samples() -> Vec<(&'static str, Value)> {
    vec![
        ("list", json!({ "path": "src", "recursive": true })),
        ("read", json!({ "path": "src/a.rs", "from": 3, "to": 9 })),
        ("search", json!({ "path": "src", "pattern": "fn \\w+", "glob": "*.rs" })),
        ("hash", json!({ "path": "src", "own_files": true })),
        ("edit", json!({ "path": "a.txt", "edits": [{ "old": "here", "new": "there" }] })),
        ("write", json!({ "path": "a.txt", "content": "text" })),
        ("delete", json!({ "path": "a.txt" })),
        ("move", json!({ "from": "a.txt", "to": "b/a.txt" })),
        (
            "change",
            json!({ "items": [
            { "op": "write", "path": "a", "content": "" },
            { "op": "edit", "path": "e", "edits": [{ "old": "x", "new": "" }] },
            { "op": "delete", "path": "b" },
            { "op": "move", "from": "c", "to": "d" },
        ] }),
        ),
        (
            "command",
            json!({ "argv": ["ls", "-l"], "cwd": "src", "network": false, "hosts": [], "secrets": [], "timeout_ms": 1000 }),
        ),
        (
            "fetch",
            json!({
                "method": "POST", "url": "https://example.org/a", "body": "b", "timeout_ms": 1000,
                "headers": [{ "name": "Authorization", "value": "Bearer ", "secret": "api" }],
            }),
        ),
        (
            "try_change",
            json!({ "patch": "{\"says\":\"less\"}", "about": "it asks less", "draw": 2, "wall_seconds": 60 }),
        ),
        ("commit", json!({ "paths": ["a.txt", "b/c.txt"], "message": "m" })),
        ("branch", json!({ "name": "topic" })),
        ("tag", json!({ "name": "v1" })),
        ("move_ref", json!({ "name": "refs/heads/old", "to": "refs/heads/main", "force": true })),
        ("delete_ref", json!({ "name": "refs/tags/v1" })),
        (
            "note",
            json!({
                "objectives": ["o"], "constraints": ["c"], "plan": "p", "pending_questions": ["q"],
                "resource_handles": ["r"], "expected_outputs": ["e"], "uncertainties": ["u"],
            }),
        ),
        (
            "believe",
            json!({ "claim": "c", "scope": "s", "confidence": 900, "evidence": ["src/a.rs"],
            "revises": "a", "supersedes": "b", "contradicts": "c", "days": 2 }),
        ),
        ("retract", json!({ "belief": "c", "reason": "r" })),
        ("find_tools", json!({ "query": "create an issue" })),
        ("use_skill", json!({ "name": "deploy", "file": "scripts/run.sh" })),
        ("read_resource", json!({ "server": "notes", "uri": "note://7" })),
        (
            "remember",
            json!({
                "claim": "c", "scope": "s", "reason": "r", "evidence": ["src/a.rs"],
                "belief_id": "blf_0190a1b2c3d47e8f9a0b1c2d3e4f5a6b", "kind": "decision", "replaces": "c0", "days": 9,
            }),
        ),
        ("ask", json!({ "question": "q", "choices": ["a", "b"] })),
        ("delegate", json!({ "tasks": [{ "goal": "g", "title": "t", "tokens": 9000 }] })),
        ("done", json!({ "summary": "s" })),
    ]
}
