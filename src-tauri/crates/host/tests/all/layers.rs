//! The layers of knowledge through a host (HK-15.1): what a model reasons is told while the host lives that heard it and is in no
//! file, and what it notes, holds and remembers lives as long and needs as much as its layer says.

use crate::bench::{Bench, PATIENCE};
use crate::contract::run_of;
use crate::model::{Model, THINKS, call};
use conforms::conforms;
use serde_json::{Value, json};
use std::path::Path;

/// What the model reasons with every answer.
const THOUGHT: &str = "scratchpad-4471: perhaps the cellar";

/// An answer that is reasoned about, and calls a tool.
fn thinks(tool: &str, arguments: &Value) -> Vec<String> {
    [vec![format!("{THINKS}{THOUGHT}")], call(tool, arguments)].concat()
}

/// A run of a model in the folder, in a conversation of its own.
fn begin(bench: &Bench, session: &str, message: &str, model: &Model) -> String {
    let asked = json!({
        "message": message, "workspace": bench.path("work"), "model": model.address, "session_id": session,
    });
    run_of(&bench.post("/v1/runs", &asked))
}

/// Whether any file below a folder holds these words.
fn lies_in(folder: &Path, words: &str) -> bool {
    std::fs::read_dir(folder).expect("a folder").flatten().any(|entry| {
        let kind = entry.file_type().expect("a kind");
        let kept = if kind.is_file() { std::fs::read(entry.path()).unwrap_or_default() } else { Vec::new() };
        let here = kept.windows(words.len()).any(|window| window == words.as_bytes());
        here || (kind.is_dir() && lies_in(&entry.path(), words))
    })
}

/// No file of the store, of the folder or beside them holds a word of what was reasoned, and one of the store does of what was asked with it.
fn nothing_is_kept(bench: &Bench, when: &str) {
    assert!(
        lies_in(&bench.path("store"), "asked-4471"),
        "{when}: what was asked in one of the answers is kept"
    );
    assert!(!lies_in(bench.dir.path(), "scratchpad-4471"), "{when}: a file holds what was reasoned");
}

/// What these events say of something.
fn texts(events: &[Value], kind: &str, key: &str) -> Vec<String> {
    let all = events.iter().filter(|event| event["type"] == kind);
    all.map(|event| event["payload"][key].as_str().expect("a text").to_owned()).collect()
}

fn is_reasoned(event: &Value) -> bool {
    event["type"].as_str().expect("a word").starts_with("reasoning.")
}

fn rows(bench: &Bench, command: &str, asked: Value) -> Vec<Value> {
    let answer = api::call(&**bench.local(), command, asked).expect("answered");
    answer["rows"].as_array().expect("rows").clone()
}

/// Notes, beliefs and memories, what each refuses among them.
fn script() -> Vec<Vec<String>> {
    let believe =
        |claim: &str, evidence: Value| json!({ "claim": claim, "confidence": 400, "evidence": evidence });
    let remember = |evidence: Value| json!({ "claim": "wine is kept in the cellar", "scope": "project", "reason": "it will be needed", "evidence": evidence });
    let again = json!({
        "claim": "read again", "confidence": 500, "evidence": ["rooms.txt"], "revises": "belief-dry: the cellar is dry",
    });
    vec![
        thinks("read", &json!({ "path": "rooms.txt" })),
        thinks("note", &json!({ "plan": "note-first: look at the attic" })),
        thinks("note", &json!({ "plan": "note-second: look at the cellar" })),
        thinks("note", &json!({ "mood": "bright" })),
        thinks("believe", &believe("belief-wet: nothing shows it", json!([]))),
        thinks("believe", &believe("belief-dry: the cellar is dry", json!(["rooms.txt"]))),
        thinks("believe", &again),
        thinks("remember", &remember(json!([]))),
        thinks("remember", &remember(json!(["rooms.txt"]))),
        thinks("ask", &json!({ "question": "asked-4471: go on?", "choices": [] })),
        thinks("done", &json!({ "summary": "it is known" })),
    ]
}

/// What the next host finds of the layers that last: state of the task, truth with its evidence and history, and one memory.
fn what_lasts(bench: &Bench, run: &str) {
    let noted = rows(bench, "task.working_state", json!({ "task": run }));
    let [noted] = noted.as_slice() else { panic!("one state: {noted:?}") };
    assert_eq!(noted["state"]["plan"], "note-second: look at the cellar", "revised, and nobody was asked");
    assert!(!noted.to_string().contains("bright"), "its schema has no mood: {noted}");
    let held = rows(bench, "knowledge.beliefs", json!({ "task": run }));
    let [belief] = held.as_slice() else { panic!("one belief, which has evidence: {held:?}") };
    assert!(belief["claim"].to_string().contains("belief-dry"), "{belief}");
    assert_eq!((&belief["revision"], &belief["confidence"]), (&json!(2), &json!(500)), "{belief}");
    assert!(!belief["evidence"].as_array().expect("a list").is_empty(), "{belief}");
    let history = rows(bench, "knowledge.history", json!({ "belief": belief["belief_id"] }));
    assert_eq!(history.len(), 2, "each version stays: {history:?}");
    let memories = rows(bench, "knowledge.memories", json!({}));
    let [memory] = memories.as_slice() else { panic!("one memory: {memories:?}") };
    assert!(memory["claim"].to_string().contains("wine is kept in the cellar"), "{memory}");
    assert!(!memory["evidence"].as_array().expect("a list").is_empty(), "{memory}");
    assert_eq!(memory["trust"], "user_asserted", "a person said yes");
}

#[conforms("HK-15.1-1")]
#[test]
fn what_is_reasoned_goes_with_its_host_and_the_other_layers_live_and_need_what_they_say() {
    let mut bench = Bench::new();
    std::fs::write(bench.path("work").join("rooms.txt"), "the cellar is dry\n").expect("a file");
    let answers = script();
    let turns = answers.len();
    let model = Model::new(answers, true);
    let run = begin(&bench, "looking", "Where is the wine kept?", &model);
    let approval = bench.reaches(&run, &["awaiting_approval"])["pending_approval_id"].clone();
    assert_eq!(rows(&bench, "knowledge.memories", json!({})).len(), 0, "not before the yes");
    bench.allow(approval.as_str().expect("a name"));
    let question = bench.reaches(&run, &["awaiting_clarify"])["pending_clarify_id"].clone();
    let id = run.parse().expect("a name");
    assert_eq!(api::Host::stands(&**bench.local(), id, PATIENCE).expect("known"), api::Stands::AtRest);

    // Whoever comes while the host lives is told what was reasoned, each as often as they come.
    let heard = bench.events(&run);
    assert_eq!(texts(&heard, "reasoning.done", "text"), vec![THOUGHT; turns - 1]);
    assert_eq!(texts(&heard, "reasoning.delta", "delta").concat(), THOUGHT.repeat(turns - 1));
    assert_eq!(bench.events(&run), heard, "the same again");
    nothing_is_kept(&bench, "while its host lives");
    bench.close();
    nothing_is_kept(&bench, "when its host has ended");
    bench.open();

    // The next host knows that something was reasoned, and not a word of it. Everything else is as it was.
    let after = bench.events(&run);
    assert_eq!(after.len(), heard.len());
    for (after, before) in after.iter().zip(&heard) {
        if is_reasoned(before) {
            let key = if before["type"] == "reasoning.done" { "text" } else { "delta" };
            assert_eq!(
                (&after["event_id"], &after["type"], &after["payload"][key], &after["payload"]["visibility"]),
                (&before["event_id"], &before["type"], &json!(""), &json!("let_go"))
            );
        } else {
            assert_eq!(after, before);
        }
    }
    what_lasts(&bench, &run);
    let respond = format!("/v1/runs/{run}/clarifications/{}/respond", question.as_str().expect("a name"));
    bench.post(&respond, &json!({ "response": "yes" }));
    bench.reaches(&run, &["completed"]);
    let sent = model.heard();
    assert_eq!(sent.len(), turns);
    let whole = sent.join("\n");
    for words in ["mood", "believe: no evidence", "`evidence` names nothing"] {
        assert!(whole.contains(words), "what was refused is told: `{words}`");
    }
    assert!(!whole.contains("scratchpad-4471"), "what it reasons is told to no model again");

    // Another task is told what is remembered, with its tier, and nothing of the other three.
    let other = Model::new(vec![call("done", &json!({ "summary": "in the cellar" }))], true);
    let next = begin(&bench, "fetching", "Fetch the wine that is kept somewhere", &other);
    bench.reaches(&next, &["completed"]);
    let told = other.heard().join("\n");
    assert!(told.contains("wine is kept in the cellar") && told.contains("user_asserted"), "{told}");
    for words in ["scratchpad-4471", "note-second", "belief-dry"] {
        assert!(!told.contains(words), "`{words}` belongs to its own task: {told}");
    }
    nothing_is_kept(&bench, "once it is done");
}
