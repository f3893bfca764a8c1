//! A task that reads more than its model can hold: its oldest turns are summed up beside its loop, and each line of the
//! summary unfolds to what it stands for.

use super::stage::Stage;
use super::tool_servers::{asked, put, work, yes};
use serde_json::{Value, json};
use testkit::{Chat, Large};

const FACT: &str = "The staging port of the old machine is 8443.";
const FILES: usize = 14;

/// Long files, the fact in the first, and a model of a small context that reads one after the other before it writes.
fn begun(stage: &Stage) -> (Chat, String) {
    let filler: String = (0..60).map(|line| format!("entry {line} says nothing new\n")).collect();
    for n in 0..FILES {
        let fact = if n == 0 { format!("{FACT}\n") } else { String::new() };
        put(stage, &format!("f{n:02}.txt"), &format!("{filler}{fact}{filler}"));
    }
    let mut says: Vec<Value> = (0..FILES)
        .map(|n| json!({ "tool": "read", "arguments": { "path": format!("f{n:02}.txt") } }))
        .collect();
    says.push(json!({ "tool": "write", "arguments": { "path": "out.txt", "content": "8443\n" } }));
    says.push(json!({ "tool": "done", "arguments": { "summary": "the port is in out.txt" } }));
    let chat = Chat::saying(Large::STRONG, says);
    stage.hermit(&["models", "set", &chat.address(), "--context", "14000", "--output", "1000"]).ends(0);
    let goal = "Find the staging port and write it into out.txt";
    let ran = stage.hermit(&["run", "--goal", goal, "--workspace", &work(stage), "--model", &chat.address()]);
    let (task, approval) = asked(&ran.ends(4).json());
    yes(stage, &approval);
    stage.hermit(&["task", "resume", &task]);
    (chat, task)
}

#[conforms::conforms(part = "HV-3.2-4")]
#[test]
fn a_task_that_reads_more_than_its_model_holds_goes_on_with_a_summary_that_unfolds() {
    let stage = Stage::new();
    let (chat, task) = begun(&stage);
    assert_eq!(std::fs::read_to_string(stage.work().join("out.txt")).expect("written"), "8443\n");
    let summary = stage.hermit(&["task", "summary", &task]).ends(0).json();
    let lines = summary["lines"].as_array().expect("lines");
    assert!(summary["through"].as_u64() >= Some(4) && !lines.is_empty(), "{summary}");
    let fact = lines.iter().find(|line| line["text"].as_str().is_some_and(|text| text.contains(FACT)));
    let fact = fact.unwrap_or_else(|| panic!("the fact is lost: {summary}"));
    assert_eq!(fact["kind"], "quote");
    // Each line unfolds to events of this task, at the places where they stand.
    let events = stage.events(&task);
    for event in lines.iter().flat_map(|line| line["events"].as_array().expect("events")) {
        let there = events.iter().find(|one| one["event_id"] == event["event_id"]).expect("an event");
        assert_eq!((&there["seq"], &there["event_type"]), (&event["seq"], &event["event_type"]));
    }
    let told =
        Stage::ran(stage.command(&["task", "summary", &task, "--unfold"]).env("NO_COLOR", "1")).ends(0);
    assert!(told.out.contains(FACT) && told.out.contains("stands for:"), "{}", told.out);
    // The model was sent it in the place of what it stands for, and nothing of its loop was lost to it.
    let sent: Vec<String> = chat.requests().iter().map(Value::to_string).collect();
    let last = sent.last().expect("a request");
    assert!(last.contains("Summary of turns 1 to") && last.contains(FACT), "{last}");
    assert!(last.matches("entry 30 says nothing new").count() < FILES, "what is summed up is not sent whole");
    assert_eq!(stage.count(&task, "attempt.iteration_completed"), FILES + 2);
    stage.is_sound();
}
