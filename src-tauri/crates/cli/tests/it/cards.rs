//! What a person reads before a yes, and what the terminal tells afterwards: the very bytes, counts that nothing can
//! push away, questions with their choices, and results in place.

use crate::bench::{Bench, text};
use serde_json::{Value, json};
use testkit::{Chat, Large};

/// A model that gives these answers in turn, and the last of them from then on; its address.
pub fn model(answers: &[Value]) -> String {
    Chat::saying(Large::STRONG, answers.to_vec()).address()
}

pub fn tool(name: &str, arguments: Value) -> Value {
    json!({ "tool": name, "arguments": arguments })
}

/// The same without a terminal.
pub fn asked(bench: &Bench, answers: &[Value]) -> Value {
    let (folder, model) = (bench.folder(), model(answers));
    let goal =
        ["run", "--goal", "do it", "--workspace", folder.to_str().unwrap(), "--model", &model, "--json"];
    bench.run(&goal).ends_with(4).json()
}

#[test]
fn a_new_file_is_shown_as_its_text_folded_above_a_screen_and_whole_on_demand() {
    let bench = Bench::new();
    let lines: String = (1..=200).map(|n| format!("line {n}\n")).collect();
    let write = tool("write", json!({ "path": "long.md", "content": lines }));
    let waits = asked(&bench, &[write, tool("done", json!({ "summary": "done" }))]);
    let approval = text(&waits["waits_for"]["id"]);
    let shown = bench.run(&["approvals", "show", &approval]).ends_with(0).out;
    assert!(shown.contains("+line 1\n") && shown.contains("more lines not shown here"), "{shown}");
    assert!(!shown.contains("+line 100\n") && shown.lines().count() < 50, "{shown}");
    let whole = bench.run(&["approvals", "show", &approval, "--whole"]).ends_with(0).out;
    assert!((1..=200).all(|n| whole.contains(&format!("+line {n}\n"))), "{whole}");
}

#[test]
fn a_belief_tells_what_it_was_and_a_person_takes_it_back() {
    let bench = Bench::new();
    let believe = |confidence: u16, revises: Option<&str>| {
        let said = json!({ "claim": "alpha is there", "confidence": confidence, "evidence": ["loose.txt"] });
        let mut said = said;
        said["revises"] = json!(revises);
        tool("believe", said)
    };
    std::fs::write(bench.folder().join("loose.txt"), "alpha").unwrap();
    let answers = [
        tool("read", json!({ "path": "loose.txt" })),
        believe(300, None),
        believe(400, Some("alpha is there")),
        tool("done", json!({ "summary": "held" })),
    ];
    let (folder, model) = (bench.folder(), model(&answers));
    let words = ["run", "hold it", "--workspace", folder.to_str().unwrap(), "--model", &model, "--json"];
    bench.run(&words).ends_with(0);
    let listed = bench.run(&["memory", "beliefs", "--json"]).ends_with(0).json();
    let belief = text(&listed["rows"][0]["belief_id"]);
    let history = bench.run(&["memory", "history", &belief]).ends_with(0).out;
    assert!(history.contains("300") && history.contains("400"), "{history}");
    let taken = bench.run(&["memory", "revoke", &belief, "--reason", "beta took its place"]);
    assert!(taken.ends_with(0).out.contains("is taken back"));
    let listed = bench.run(&["memory", "beliefs", "--json"]).ends_with(0).json();
    assert_eq!(
        (&listed["rows"][0]["status"], &listed["rows"][0]["reason"]),
        (&json!("revoked"), &json!("beta took its place")),
        "{listed}"
    );
    bench.run(&["memory", "revoke", &belief, "--reason", "again"]).ends_with(1);
}
