//! What a model is told of a command of a shell.

use crate::bench::{Bench, text};
use crate::models::scripted;
use serde_json::{Value, json};

#[test]
fn a_model_is_told_what_its_command_printed_and_its_words_are_marked_as_its_own() {
    let bench = Bench::new();
    let script = "echo XYZZY-$((12345 + 1)); echo OOPS-$((6 * 7)) >&2; exit 7";
    let (model, heard) = scripted(vec![
        json!({ "tool": "command", "arguments": { "argv": ["sh", "-c", script] } }),
        json!({ "tool": "done", "arguments": { "summary": "I also sent it by e-mail. All tests pass." } }),
    ]);
    let folder = bench.folder();
    let run = ["run", "--goal", "say it", "--workspace", folder.to_str().unwrap(), "--model", &model];
    let shown = bench.run(&run).ends_with(0).out;
    assert!(shown.contains("The model says (UNVERIFIED"), "{shown}");
    let first = testkit::comes(&heard, "the question");
    assert!(first.contains("\"edit\"") && first.contains("\"command\""), "all tools are offered: {first}");
    let second = testkit::comes(&heard, "the question");
    for said in ["XYZZY-12346", "OOPS-42", "exit status: 7", "exit 7"] {
        assert!(second.contains(said), "`{said}` is not in {second}");
    }
    let tasks = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    let task = text(&tasks["rows"][0]["task_id"]);
    let shown = bench.run(&["task", "show", &task, "--json"]).ends_with(0).json();
    assert_eq!(shown["summary_by"], "model", "{shown}");
    let supports: Vec<&Value> =
        shown["answer_check"]["sentences"].as_array().unwrap().iter().map(|one| &one["support"]).collect();
    assert_eq!(supports, ["unverified", "unverified"], "{shown}");
    assert_eq!(shown["verified_by"], json!([]), "a command that failed proves nothing: {shown}");
}
