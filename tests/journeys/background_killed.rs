//! `kill -9` of the built program in each step that it takes by itself: the historian's look, the dreamer's draft, roots of state,
//! the summary of a context. Nothing is doubled, and nothing is half there (memory.md 7).

use super::compacting::{FACT, GOAL, laid_out};
use super::dreamed::{begin, drafts};
use super::server;
use super::stage::Stage;
use super::tool_servers::{work, yes};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Kills at times that nobody chose, in the suite; `HERMIT_BACKGROUND_KILLS` says another number.
const KILLS: u32 = 4;

fn kills() -> u32 {
    let asked = std::env::var("HERMIT_BACKGROUND_KILLS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(KILLS).max(KILLS)
}

/// Kills a program with SIGKILL after a while; whether it was at work still.
fn killed_after(command: &mut Command, time: Duration) -> bool {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(time);
    child.kill().expect("killed");
    child.wait().expect("a child").code().is_none()
}

/// Runs a command that dies at a durable boundary; whether it did.
fn dies_at(stage: &Stage, words: &[&str], fault: &str) -> bool {
    let ran = Stage::ran(stage.command(words).env("HERMIT_FAULT", format!("{fault}:abort")));
    ran.code == -1
}

/// How long a program takes that does nothing but open the store and close it.
fn calm(stage: &Stage) -> Duration {
    let began = Instant::now();
    stage.hermit(&["memory", "review"]).ends(0);
    began.elapsed()
}

const REVIEW: [&str; 3] = ["--json", "memory", "review"];
const CLAIM: &str = "Always write dates as year, month, day";

#[test]
fn a_host_killed_while_it_looks_drafts_and_roots_has_done_each_once() {
    let stage = Stage::new();
    let calm = calm(&stage);
    for part in ["alpha", "beta", "gamma"] {
        begin(&stage, part, None);
    }
    let model = server::script(&[json!({ "tool": "done", "arguments": { "summary": "done" } })]);
    stage.hermit(&["run", "--goal", CLAIM, "--workspace", &work(&stage), "--model", &model]).ends(0);
    // At each boundary that the look passes, before it and behind it, one process after the other.
    let boundaries = ["ingress.receive", "ingress.bind", "knowledge.change"];
    let faults = boundaries.iter().flat_map(|point| [format!("{point}:before"), format!("{point}:after")]);
    let died: Vec<String> = faults.filter(|fault| dies_at(&stage, &REVIEW, fault)).collect();
    assert!(died.len() >= 4, "it died at {died:?} alone");
    let all = kills();
    let killed =
        (1..=all).filter(|n| killed_after(&mut stage.command(&REVIEW), calm * (n * 2) / all)).count();
    println!("killed at {died:?}, and {killed} times of {all} within {:?}", calm * 2);
    // The next one finishes what is left.
    stage.hermit(&REVIEW[1..]).ends(0);
    stage.hermit(&["resume"]);
    let again = stage.hermit(&REVIEW[1..]).ends(0).json();
    assert_eq!(
        (&again["lines"], &again["tasks"], &again["drafts"]),
        (&json!(0), &json!(0), &json!(0)),
        "{again}"
    );
    let [draft] = &drafts(&stage)[..] else { panic!("drafted once: {:?}", drafts(&stage)) };
    assert_eq!((&draft["state"], &draft["same"], &draft["of"]), (&json!("draft"), &json!(3), &json!(3)));
    let rows = stage.hermit(&["memory", "suggestions"]).ends(0).json()["rows"].clone();
    let [row] = &rows.as_array().expect("rows")[..] else { panic!("proposed once: {rows}") };
    assert_eq!(row["claim"], CLAIM);
    assert_eq!(stage.waiting().len(), 1, "and one card asks");
    yes(&stage, row["approval_id"].as_str().expect("a card"));
    let listed = stage.hermit(&["memory", "list"]).ends(0).json()["rows"].clone();
    assert_eq!(
        listed.as_array().expect("rows").iter().filter(|row| row["claim"] == CLAIM).count(),
        1,
        "{listed}"
    );
    // Ledger, lists and the roots that proofs carry hold.
    stage.is_sound();
    let tasks = stage.hermit(&["task", "list"]).ends(0).json()["rows"].clone();
    let rows = tasks.as_array().expect("rows");
    let first = rows.iter().find(|row| row.to_string().contains("Begin the part alpha"));
    stage.prove(first.unwrap_or_else(|| panic!("{tasks}"))["task_id"].as_str().expect("a task"));
}

#[test]
fn a_host_killed_while_it_sums_up_a_context_has_summed_up_once_and_goes_on() {
    let stage = Stage::new();
    let calm = calm(&stage);
    let chat = laid_out(&stage);
    let folder = work(&stage);
    let run = ["--json", "run", "--goal", GOAL, "--workspace", &folder, "--model", &chat.address()];
    assert!(dies_at(&stage, &run, "knowledge.change:before"), "it is full before it asks");
    let tasks = stage.hermit(&["task", "list"]).ends(0).json();
    let task = tasks["rows"][0]["task_id"].as_str().expect("a task").to_owned();
    assert_eq!(stage.count(&task, "attempt.context_compacted"), 0, "nothing of it is there");
    let resume = ["--json", "resume"];
    let died = dies_at(&stage, &resume, "knowledge.change:after");
    let all = kills();
    let killed =
        (1..=all).filter(|n| killed_after(&mut stage.command(&resume), calm * (n * 2) / all)).count();
    println!("killed behind the commit: {died}, and {killed} times of {all} within {:?}", calm * 2);
    stage.hermit(&["resume"]);
    let asked = stage.waiting();
    yes(&stage, asked[0]["approval_id"].as_str().expect("it asks whether to write"));
    stage.hermit(&["task", "resume", &task]);
    assert_eq!(std::fs::read_to_string(stage.work().join("out.txt")).expect("written"), "8443\n");
    // Each summary goes on from the one before, and each result was folded once.
    let events = stage.events(&task);
    let of = |event_type: &str, field: &str| -> Vec<Value> {
        let all = events.iter().filter(|event| event["event_type"] == event_type);
        all.map(|event| event["body"][field].clone()).collect()
    };
    let through: Vec<u64> =
        of("attempt.context_compacted", "through").iter().filter_map(Value::as_u64).collect();
    assert!(!through.is_empty() && through.is_sorted_by(|one, next| one < next), "{through:?}");
    let folded = of("artifact.compacted", "artifact_id");
    let once: BTreeSet<String> = folded.iter().map(Value::to_string).collect();
    assert_eq!((once.len(), once.is_empty()), (folded.len(), false), "{folded:?}");
    let summary = stage.hermit(&["task", "summary", &task]).ends(0).json();
    assert!(summary["lines"].to_string().contains(FACT), "{summary}");
    assert!(summary["results"].as_u64() >= Some(2), "{summary}");
    stage.is_sound();
}
