//! Training with nothing that stands in for anything: recorded work of a few hundred receipts becomes a dataset, the real program
//! trains a real model with it, which is better on what was held out, is exported, read and run by llama.cpp, used as the standard
//! model, and recalled (successor.md 6, 7).
//!
//! It takes an hour or more on two cores, so it runs where `HERMIT_TRAINER_BASE` names the GGUF file of a small model (SmolLM2-135M-Instruct is
//! meant, whose licence it says) and `cargo xtask trainer` has built the program. `HERMIT_TRAINER_TASKS` (200) and
//! `HERMIT_TRAINER_STEPS` (100) are its size.

use super::stage::{Ran, Stage};
use super::summary;
use super::tool_servers::{asked, yes};
use super::trained::{counts, walk};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::{Chat, Large};

/// Whatever is waited for comes within this time or not at all.
const PATIENCE: Duration = Duration::from_secs(24 * 3_600);
/// Tokens of an example: the goal stands in the last ones of each prompt.
const TOKENS: &str = "384";
/// Tokens that the exported model is served with: a prompt has about a thousand.
const CONTEXT: u32 = 4_096;
/// Folders that are worked in, one after the other; the last two are held out.
const FOLDERS: usize = 10;
/// Each thing in each place is a goal of its own.
const THINGS: [&str; 20] = [
    "otter",
    "ladder",
    "kettle",
    "heron",
    "lantern",
    "piano",
    "barrel",
    "compass",
    "violin",
    "anchor",
    "sledge",
    "mirror",
    "basket",
    "hammer",
    "saddle",
    "turbine",
    "telescope",
    "bicycle",
    "wardrobe",
    "tractor",
];
const PLACES: [&str; 20] = [
    "harbour", "attic", "kitchen", "meadow", "tower", "cellar", "garden", "station", "library", "workshop",
    "stable", "chapel", "garage", "orchard", "school", "theatre", "valley", "market", "forest", "museum",
];

/// A size by its variable.
fn size(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|size| size.parse().ok()).unwrap_or(usual)
}

fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|named| !named.is_empty()).map(PathBuf::from)
}

/// A program that `cargo xtask` builds into the user's cache, or that a variable names.
fn program(variable: &str, cached: &str) -> Option<PathBuf> {
    let cached = || Some(summary::parts()?.parent()?.join(cached));
    named(variable).or_else(cached).filter(|program| program.is_file())
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// What the person asks for, the file in which they want it, and what they want to read there.
fn habit(number: usize) -> (String, String, String) {
    let thing = THINGS[number % THINGS.len()];
    let place = PLACES[(number / THINGS.len() + number) % PLACES.len()];
    let goal = format!("Keep in mind that the {thing} is in the {place}");
    (goal, format!("notes/{thing}-{place}.md"), format!("The {thing} is in the {place}.\n"))
}

/// Work as a strong model does it: a note of each thing, after a yes. The tasks, in order.
fn recorded(stage: &Stage, tasks: usize) -> Vec<String> {
    let answers: Arc<Mutex<VecDeque<Value>>> = Arc::default();
    let next = Arc::clone(&answers);
    let model = Chat::begin(Large::STRONG, move |_| {
        let done = json!({ "tool": "done", "arguments": { "summary": "there is nothing to do" } });
        next.lock().expect("no poison").pop_front().unwrap_or(done)
    });
    let address = model.address();
    let mut made = Vec::new();
    for number in 0..tasks {
        let folder = stage.at(&format!("project {}", number * FOLDERS / tasks));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (goal, path, content) = habit(number);
        let summary = format!("{path} says: {}", content.trim_end());
        answers.lock().expect("no poison").extend([
            json!({ "tool": "write", "arguments": { "path": path, "content": content } }),
            json!({ "tool": "done", "arguments": { "summary": summary } }),
        ]);
        let words = ["run", "--goal", &goal, "--workspace", text(&folder), "--model", &address];
        let (task, approval) = asked(&stage.hermit(&words).ends(4).json());
        yes(stage, &approval);
        made.push(task);
    }
    made
}

fn train(stage: &Stage, program: &Path, words: &[&str]) -> Ran {
    let all: Vec<&str> = ["--json", "train"].into_iter().chain(words.iter().copied()).collect();
    Stage::ran_within(stage.command(&all).env("HERMIT_TRAINER", program), PATIENCE)
}

/// A dataset of all that was recorded.
fn curated(stage: &Stage, program: &Path, tasks: usize) {
    let shown = train(stage, program, &["curate"]).ends(0).json();
    let [examples, held_out] = counts(&shown);
    assert_eq!(examples, 2 * tasks as u64, "each task is an act and its end: {shown}");
    assert!(held_out * 10 >= examples && held_out * 2 < examples, "{shown}");
    assert!(shown["receipts"].as_u64().is_some_and(|receipts| receipts >= tasks as u64), "{shown}");
    println!("trained: {examples} examples, {held_out} held out, {} receipts", shown["receipts"]);
    let digest = shown["sha256"].as_str().expect("a digest");
    train(stage, program, &["curate", "--keep", digest]).ends(0);
}

/// A run that comes to its end and is better than its base on what was held out; its name.
fn better(stage: &Stage, program: &Path, steps: usize) -> String {
    let (began, steps) = (Instant::now(), steps.to_string());
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).to_string();
    let base = ["run", "--base", "base", "--licence", "Apache-2.0", "--always", "--seconds", "86400"];
    let size = ["--tokens", TOKENS, "--rate", "0.001", "--steps", &steps, "--threads", &threads];
    let came = train(stage, program, &[&base[..], &size[..]].concat()).ends(0).json();
    assert_eq!(came["run"]["state"], "done", "{came}");
    let run = came["run"]["run_id"].as_str().expect("a run").to_owned();
    let listed = train(stage, program, &["list"]).ends(0).json();
    let row = &listed["runs"][0];
    println!("trained: {:?}; before {}, after {}", began.elapsed(), row["before"], row["after"]);
    assert_eq!(row["offered"], true, "{row}");
    let exact = |when: &str| row[when]["next_act_per_mille"].as_u64().expect("a share");
    assert!(exact("after") > exact("before"), "{row}");
    run
}

/// Makes a model with what a run learned; where its weights are.
fn exported(stage: &Stage, program: &Path, run: &str) -> PathBuf {
    train(stage, program, &["export", run, "--name", "own"]).ends(0);
    let listed = train(stage, program, &["list"]).ends(0).json();
    let sha256 = listed["runs"][0]["exported"]["sha256"].as_str().expect("a digest").to_owned();
    stage.home().join("models").join(format!("{sha256}.gguf"))
}

/// Makes a model the standard one and gives a task to whichever is: its answers are taken as any model's.
fn as_standard(stage: &Stage, address: &str, goal: &str, box_program: Option<&Path>) {
    stage.hermit(&["models", "use", address]).ends(0);
    let mut run = stage.command(&["--json", "run", "--goal", goal, "--workspace", text(&stage.work())]);
    run.envs(box_program.map(|program| ("HERMIT_MODEL_BOX", program)));
    let ran = Stage::ran_within(&mut run, PATIENCE);
    let row = ran.json()["row"].clone();
    let task = row["task_id"].as_str().expect("a task");
    println!("trained: as the standard model {address} came to {} ({})", row["status"], ran.code);
    assert!(stage.count(task, "attempt.model_responded") > 0, "{} {}", ran.out, ran.err);
}

#[test]
fn a_real_model_learns_from_recorded_work_is_better_exported_used_and_recalled() {
    let Some(base) = named("HERMIT_TRAINER_BASE") else {
        return conforms::skip("HERMIT_TRAINER_BASE names no model that could be trained");
    };
    let Some(program) = program("HERMIT_TRAINER", "trainer/hermit-train") else {
        return conforms::skip("the program that trains is not here (`cargo xtask trainer`)");
    };
    if !Path::new("/usr/bin/bwrap").exists() {
        return conforms::lacks_walls("bubblewrap");
    }
    let most = THINGS.len() * PLACES.len();
    let tasks = size("HERMIT_TRAINER_TASKS", 200).clamp(2 * FOLDERS, most - 1);
    let stage = Stage::new();
    // Nobody else shall ask the model.
    std::fs::write(stage.home().join("config.json"), r#"{"historian":false}"#).expect("its settings");
    let made = recorded(&stage, tasks);
    curated(&stage, &program, tasks);
    stage.hermit(&["models", "get", "base", "--from", text(&base)]).ends(0);
    let run = better(&stage, &program, size("HERMIT_TRAINER_STEPS", 100));
    let weights = exported(&stage, &program, &run);
    // What nobody taught it.
    let (goal, ..) = habit(most - 1);
    match summary::served(&weights, CONTEXT, false) {
        Some((port, _server)) => {
            as_standard(&stage, &format!("openai:http://127.0.0.1:{port}/v1#own"), &goal, None);
        }
        None => conforms::skip("llama.cpp's server is not here (`cargo xtask parts`): nobody else read it"),
    }
    used_and_recalled(&stage, &program, &made[0], &goal);
}

/// It is the standard model in the box, and after a recall it cannot be any more.
fn used_and_recalled(stage: &Stage, trainer: &Path, task: &str, goal: &str) {
    match program("HERMIT_MODEL_BOX", "model-box/hermit-model-box") {
        Some(program) => as_standard(stage, "box:own", goal, Some(&program)),
        None => {
            stage.hermit(&["models", "use", "box:own"]).ends(0);
            conforms::skip("the program of the model in the box is not here (`cargo xtask model-box`)");
        }
    }
    let recalled = train(stage, trainer, &["recall", task]).ends(0).json();
    assert!(recalled["standard"].as_str().is_some_and(|words| words.contains("box:own")), "{recalled}");
    let listed = train(stage, trainer, &["list"]).ends(0).json();
    assert!(listed["runs"][0]["recalled"].is_i64(), "{listed}");
    stage.hermit(&["models", "use", "box:own"]).complains(&["recalled"]);
    assert_eq!(walk(&stage.home().join("training")), Vec::<String>::new(), "what runs learned goes with it");
    stage.is_sound();
}
