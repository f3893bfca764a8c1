//! A card and a question are the same thing whether a client of the run API answers them or a person at their own surface.

use crate::bench::Bench;
use crate::contract::run_of;
use crate::model::Model;
use conforms::conforms;
use serde_json::{Value, json};

fn call(tool: &str, arguments: Value) -> Vec<String> {
    vec![format!("```json\n{}\n```", json!({ "tool": tool, "arguments": arguments }))]
}

/// Who answers: a client of the run API, or the commands of every other surface.
#[derive(Debug, Clone, Copy)]
enum By {
    RunApi,
    Commands,
}

/// A run that asks which one, wants to write, is refused, and ends; what its model was sent.
fn answered(bench: &Bench, by: By) -> (String, Vec<String>) {
    let write = |path: &str| call("write", json!({ "path": path, "content": "x" }));
    let ask = call("ask", json!({ "question": "which one?", "choices": ["left", "right"] }));
    let end = call("done", json!({ "summary": "as far as I may" }));
    let model = Model::new(vec![ask, write("a.md"), end], true);
    let asked = json!({ "message": "work", "workspace": bench.path("work"), "model": model.address });
    let run = run_of(&bench.post("/v1/runs", &asked));
    let question = bench.reaches(&run, &["awaiting_clarify"])["pending_clarify_id"].clone();
    let question = question.as_str().expect("a question").to_owned();
    match by {
        By::RunApi => {
            let path = format!("/v1/runs/{run}/clarifications/{question}/respond");
            assert_eq!(bench.post(&path, &json!({ "response": "the left one" }))["status"], "accepted");
        }
        By::Commands => {
            bench.post("/api/task.answer", &json!({ "task": run, "text": "the left one" }));
        }
    }
    let approval = bench.reaches(&run, &["awaiting_approval"])["pending_approval_id"].clone();
    match by {
        By::RunApi => {
            let deny = json!({ "approval_id": approval, "choice": "deny" });
            assert_eq!(bench.control(&run, "approval", &deny)["status"], "accepted");
        }
        By::Commands => {
            bench.post("/api/approvals.deny", &json!({ "approval": approval }));
        }
    }
    bench.reaches(&run, &["completed", "failed"]);
    (run, model.heard())
}

/// What the ledger says of a run, in order; reports of progress come as they may.
fn recorded(bench: &Bench, run: &str) -> Vec<String> {
    let id = run.parse().expect("a task");
    let stored = bench.reader().events(id, 0, 10_000).expect("events");
    let types = stored.iter().map(|one| one.event().expect("an event").event_type);
    types.filter(|kind| kind != "effect.progressed" && !kind.starts_with("checkpoint.")).collect()
}

#[conforms("RA-4.3b-2", "RA-4.3b-5")]
#[test]
fn a_card_and_a_question_come_to_the_same_whoever_answers_them() {
    let mut bench = Bench::new();
    let (ours, heard) = answered(&bench, By::RunApi);
    let (theirs, other) = answered(&bench, By::Commands);
    assert_eq!(recorded(&bench, &ours), recorded(&bench, &theirs), "the kernel has recorded the same");
    assert_eq!(heard.len(), other.len(), "the model was asked as often");
    for sent in [&heard, &other] {
        assert!(sent[1].contains("the left one"), "it is told the answer: {}", sent[1]);
        assert!(sent[2].contains("a.md") && sent[2].len() > sent[1].len(), "and what became of its write");
    }
    assert!(!bench.path("work").join("a.md").exists(), "what was refused was not done");
    // Both are told alike, in the journal and by the next host.
    let told = |bench: &Bench, run: &str| -> Vec<(String, Value, Value)> {
        let about = |event: &Value| {
            let kind = event["type"].as_str().expect("a word").to_owned();
            let payload = &event["payload"];
            let shown =
                ["status", "choice", "choices", "question", "summary"].map(|name| payload[name].clone());
            (kind, json!(shown), payload["risk"].clone())
        };
        let all = bench.events(run);
        let of = all.iter().filter(|e| {
            let kind = e["type"].as_str().expect("a word");
            kind.starts_with("approval.") || kind.starts_with("clarify.")
        });
        of.map(about).collect()
    };
    let (first, second) = (told(&bench, &ours), told(&bench, &theirs));
    assert_eq!(first, second);
    let kinds: Vec<&str> = first.iter().map(|(kind, ..)| kind.as_str()).collect();
    assert_eq!(kinds, ["clarify.requested", "clarify.resolved", "approval.requested", "approval.resolved"]);
    assert_eq!((&first[3].1[0], &first[3].1[1]), (&json!("denied"), &json!("deny")), "as it was answered");
    let standing = |bench: &Bench, run: &str| bench.get(&format!("/v1/runs/{run}"))["status"].clone();
    assert_eq!(standing(&bench, &ours), standing(&bench, &theirs));
    bench.close();
    bench.open();
    assert_eq!((told(&bench, &ours), told(&bench, &theirs)), (first, second), "the last safe state");
}
