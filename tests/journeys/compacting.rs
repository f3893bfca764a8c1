//! A task that reads more than its model can hold: its oldest turns are summed up beside its loop, and each line of the
//! summary unfolds to what it stands for.

use super::stage::{Stage, verified};
use super::tool_servers::{asked, put, work, yes};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::{Chat, Large};

pub const FACT: &str = "The staging port of the old machine is 8443.";
pub const GOAL: &str = "Find the staging port and write it into out.txt";
pub const FILES: usize = 14;

/// Long files, the fact in the first, and a model of a small context that reads one after the other before it writes.
pub fn laid_out(stage: &Stage) -> Chat {
    let filler: String = (0..60).map(|line| format!("entry {line} says nothing new\n")).collect();
    for n in 0..FILES {
        let fact = if n == 0 { format!("{FACT}\n") } else { String::new() };
        put(stage, &format!("f{n:02}.txt"), &format!("{filler}{fact}{filler}"));
    }
    let call = |tool: &str, arguments: Value| json!({ "tool": tool, "arguments": arguments });
    let reads = AtomicUsize::new(0);
    let out = stage.work().join("out.txt");
    let chat = Chat::begin(Large::STRONG, move |_| match reads.fetch_add(1, Ordering::SeqCst) {
        n if n < FILES => call("read", json!({ "path": format!("f{n:02}.txt") })),
        _ if out.exists() => call("done", json!({ "summary": "the port is in out.txt" })),
        _ => call("write", json!({ "path": "out.txt", "content": "8443\n" })),
    });
    stage.hermit(&["models", "set", &chat.address(), "--context", "14000", "--output", "1000"]).ends(0);
    chat
}

fn begun(stage: &Stage) -> (Chat, String) {
    let chat = laid_out(stage);
    let ran = stage.hermit(&["run", "--goal", GOAL, "--workspace", &work(stage), "--model", &chat.address()]);
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
    is_shown_in_a_proof(&stage, &task);
}

/// Where a bundle has the bytes of the summary that an event names.
fn summary_of(event: &Value, folder: &Path) -> PathBuf {
    let digest = event["payload"]["summary"]["sha256"].as_str().expect("a digest");
    let digest = digest.strip_prefix("sha256:").unwrap_or(digest);
    folder.join("artifacts/sha256").join(&digest[..2]).join(digest)
}

/// Whoever has nothing but the bundle sees which summary stood for which events: each is under the root that was signed, and the
/// summary's bytes are those that its event names.
fn is_shown_in_a_proof(stage: &Stage, task: &str) {
    let folder = stage.at("summaries.proof");
    let to = folder.to_str().expect("UTF-8");
    stage.hermit(&["proof", "export", task, "-o", to, "--artifacts", "all"]).ends(0);
    verified(&folder, &["--trust", &stage.key("log")]).ends(0);
    let events = std::fs::read_to_string(folder.join("task/events.jsonl")).expect("events");
    let events: Vec<Value> =
        events.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let made = |event: &(usize, &Value)| event.1["event_type"] == "attempt.context_compacted";
    let mut shown = 0;
    for (at, event) in events.iter().enumerate().filter(made) {
        let bytes = std::fs::read(summary_of(event, &folder)).expect("its bytes");
        let summary: Value = serde_json::from_slice(&bytes).expect("a summary");
        assert_eq!(summary["through"], event["payload"]["through"], "{summary}");
        let lines = summary["lines"].as_array().expect("lines");
        let cited: Vec<&Value> =
            lines.iter().flat_map(|line| line["events"].as_array().expect("events")).collect();
        assert!(
            lines.iter().all(|line| line["events"].as_array().is_some_and(|of| !of.is_empty())),
            "{summary}"
        );
        for one in &cited {
            assert!(events[..at].iter().any(|event| event["event_id"] == **one), "{one} came before it");
        }
        shown += cited.len();
    }
    assert!(shown > FILES / 2, "{shown} events are stood for");
    // A summary of which a byte is another is not the one that stood there.
    let changed =
        events.iter().find(|event| event["event_type"] == "attempt.context_compacted").expect("one");
    let file = summary_of(changed, &folder);
    let text = std::fs::read_to_string(&file).expect("its bytes");
    std::fs::remove_file(&file).expect("it lies there");
    std::fs::write(&file, text.replace("8443", "9999")).expect("written");
    verified(&folder, &["--trust", &stage.key("log")]).ends(5);
}
