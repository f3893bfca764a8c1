//! Training through the built programs, with a stand-in for the program that trains: finished work becomes a dataset that its
//! person saw, an adapter that is better becomes a model that can be the default, one that is worse does not, and a recall takes
//! all of it back.

use super::server;
use super::stage::{Ran, Stage};
use super::tool_servers::{asked, yes};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Speaks as `hermit-train` does, where the dataset holds what was asked and what was written. It learns nothing, and nothing where a network leads out; with seven steps it became worse and says that it is better, and with nine
/// it shows a file of somebody else's as what it learned.
const STAND_IN: &str = r#"#!/bin/sh
set -e
dir=$(dirname "$2")
digest() { sha256sum "$1" | cut -d ' ' -f 1; }
case "$1" in
run)
  test -s "$dir/dataset.jsonl"
  grep -q 'Write the file of' "$dir/dataset.jsonl"
  grep -q '\.txt' "$dir/dataset.jsonl"
  if [ "$(cat /proc/net/route 2>/dev/null | wc -l)" -gt 1 ]; then echo '{"said":"refused","words":"a network is there"}'; exit 1; fi
  if touch /tmp/../etc/here 2>/dev/null; then echo '{"said":"refused","words":"it writes outside"}'; exit 1; fi
  echo '{"said":"runs_on","on":{"device":"cpu","threads":2,"machine":"a stand-in"}}'
  echo '{"said":"progress","step":1,"loss":4.0,"examples_per_s":1.5,"memory":1000}'
  echo '{"said":"progress","step":2,"loss":3.5,"examples_per_s":1.5,"memory":1000}'
  echo numbers > "$dir/checkpoint-00000002.safetensors"
  printf '{"said":"checkpoint","step":2,"file":"%s","sha256":"%s"}\n' \
    "$dir/checkpoint-00000002.safetensors" "$(digest "$dir/checkpoint-00000002.safetensors")"
  if grep -q '"steps": 9,' "$2"; then ln -s /etc/passwd "$dir/checkpoint-99999999.safetensors"; fi
  echo '{"said":"ended","step":2}' ;;
prove)
  after='{"examples":5,"next_act_exact":0.6,"schema_valid":1.0,"perplexity":2.5}'; offered=true
  if grep -q '"steps": 7,' "$2"; then
    after='{"examples":5,"next_act_exact":0.2,"schema_valid":1.0,"perplexity":9.5}'
  fi
  printf '{"said":"measured","before":{"examples":5,"next_act_exact":0.4,"schema_valid":1.0,"perplexity":4.5},"after":%s,' "$after"
  printf '"baseline":{"answer":"x","next_act_exact":0.1},"offered":%s,"words":"as it was measured"}\n' "$offered" ;;
export)
  printf 'GGUF with what it learned' > "$dir/model-Q8_0.gguf"
  echo '# A card' > "$dir/model-card.md"
  printf '{"said":"exported","file":"%s","sha256":"%s","quant":"Q8_0","card":"%s"}\n' \
    "$dir/model-Q8_0.gguf" "$(digest "$dir/model-Q8_0.gguf")" "$dir/model-card.md" ;;
esac
"#;

/// Work in a folder: a file is written after a yes, and the task says so.
pub fn work(stage: &Stage, folder: &Path, name: &str) -> String {
    let model = server::script(&[
        json!({ "tool": "write", "arguments": { "path": format!("{name}.txt"), "content": format!("of {name}\n") } }),
        json!({ "tool": "done", "arguments": { "summary": format!("wrote {name}") } }),
    ]);
    let folder = folder.to_str().expect("UTF-8");
    let goal = format!("Write the file of {name}");
    let words = ["run", "--goal", goal.as_str(), "--workspace", folder, "--model", model.as_str()];
    let (task, approval) = asked(&stage.hermit(&words).ends(4).json());
    yes(stage, &approval);
    task
}

fn train(stage: &Stage, program: &Path, words: &[&str]) -> Ran {
    let all: Vec<&str> = ["--json", "train"].into_iter().chain(words.iter().copied()).collect();
    Stage::ran(stage.command(&all).env("HERMIT_TRAINER", program))
}

pub fn counts(of: &Value) -> [u64; 2] {
    ["examples", "held_out"].map(|name| of[name].as_u64().expect("a number"))
}

/// Whether an example answers with the file that was written.
fn has_what_was_written(curated: &Value) -> bool {
    let examples = curated["shown"].as_array().expect("examples").iter();
    examples.filter_map(|one| one["answer"].as_str()).any(|answer| answer.contains(".txt"))
}

/// Whether runs say the device, its threads and the kind of the machine, on record and at a terminal.
#[track_caller]
fn says_where_it_ran(stage: &Stage, runs: &[&Value]) {
    for run in runs {
        assert_eq!(run["ran_on"], json!(["cpu, 2 threads, a stand-in"]), "{run}");
    }
    let told = Stage::ran(&mut stage.command(&["train", "list"])).ends(0).out;
    assert!(told.contains("ran on cpu, 2 threads, a stand-in"), "{told}");
}

#[conforms::conforms("HV-3.8-2", part = "HV-3.8-1")]
#[test]
fn finished_work_becomes_a_dataset_an_adapter_a_model_and_is_recalled() {
    if !Path::new("/usr/bin/bwrap").exists() {
        return conforms::lacks_walls("bubblewrap");
    }
    let stage = Stage::new();
    let program = stage.at("hermit-train");
    std::fs::write(&program, STAND_IN).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can run");
    let other = stage.at("another project");
    std::fs::create_dir_all(&other).expect("a folder");
    let first = work(&stage, &stage.work(), "one");
    work(&stage, &stage.work(), "two");
    work(&stage, &other, "three");
    // Nothing is kept that was not shown.
    let shown = train(&stage, &program, &["curate"]).ends(0).json();
    assert_eq!(counts(&shown), [6, 2], "{shown}");
    assert_eq!(shown["shown"][0]["task_id"], first.as_str());
    assert!(has_what_was_written(&shown), "{shown}");
    train(&stage, &program, &["curate", "--keep", &"0".repeat(64)]).complains(&["another one"]);
    let digest = shown["sha256"].as_str().expect("a digest").to_owned();
    let kept = train(&stage, &program, &["curate", "--keep", &digest]).ends(0).json();
    assert_eq!((counts(&kept), &kept["receipts_root"]), ([6, 2], &shown["receipts_root"]));
    // A private folder is left out of what would be kept now.
    let private = other.to_str().expect("UTF-8").to_owned();
    train(&stage, &program, &["private", &private]).ends(0);
    let without = train(&stage, &program, &["curate", "--by-time"]).ends(0).json();
    assert_eq!(counts(&without)[0], 4, "{without}");
    train(&stage, &program, &["private", &private, "--off"]).ends(0);
    // It learns behind walls, is measured, and stands on record.
    let weights = stage.at("tiny.gguf");
    std::fs::write(&weights, header()).expect("weights");
    stage.hermit(&["models", "get", "tiny", "--from", weights.to_str().expect("UTF-8")]).ends(0);
    train(&stage, &program, &["run", "--base", "tiny", "--always"]).complains(&["licence"]);
    let run = ["run", "--base", "tiny", "--licence", "Apache-2.0", "--always", "--steps"];
    let better = train(&stage, &program, &[&run[..], &["2"]].concat()).ends(0).json();
    assert_eq!((&better["run"]["state"], &better["run"]["step"]), (&json!("done"), &json!(2)), "{better}");
    let run_id = better["run"]["run_id"].as_str().expect("a run").to_owned();
    let worse = train(&stage, &program, &[&run[..], &["7"]].concat()).ends(0).json();
    let worse_id = worse["run"]["run_id"].as_str().expect("a run").to_owned();
    let linked = train(&stage, &program, &[&run[..], &["9"]].concat()).ends(1).json();
    assert_eq!(linked["run"]["state"], "failed", "{linked}");
    assert!(linked["run"]["words"].as_str().is_some_and(|words| words.contains("no file")), "{linked}");
    let listed = train(&stage, &program, &["list"]).ends(0).json();
    let offered: Vec<&Value> =
        listed["runs"].as_array().expect("runs").iter().map(|run| &run["offered"]).collect();
    assert_eq!(offered, [&json!(false), &json!(true)], "{listed}");
    assert_eq!(listed["runs"][1]["after"]["next_act_per_mille"], 600);
    says_where_it_ran(&stage, &[&better["run"], &listed["runs"][0], &listed["runs"][1]]);
    let copies = walk(&stage.home().join("training"));
    assert!(!copies.iter().any(|path| path.ends_with("dataset.jsonl")), "{copies:?}");
    // Worse becomes no model; better does, and can be the default.
    train(&stage, &program, &["export", &worse_id]).complains(&["not offered"]);
    train(&stage, &program, &["export", &run_id, "--name", "own"]).ends(0);
    stage.hermit(&["models", "use", "box:own"]).ends(0);
    // A recall takes its examples out, marks what saw them, and says so of the default.
    let recalled = train(&stage, &program, &["recall", &first]).ends(0).json();
    assert!(recalled["standard"].as_str().is_some_and(|words| words.contains("box:own")), "{recalled}");
    let listed = train(&stage, &program, &["list"]).ends(0).json();
    assert_eq!((counts(&listed["datasets"][0]), &listed["datasets"][1]["gone"]), ([4, 2], &json!(true)));
    assert!(listed["runs"].as_array().expect("runs").iter().all(|run| run["recalled"].is_i64()), "{listed}");
    stage.hermit(&["models", "use", "box:own"]).complains(&["recalled"]);
    assert_eq!(walk(&stage.home().join("training")), Vec::<String>::new(), "what runs learned goes with it");
    let now = train(&stage, &program, &["curate"]).ends(0).json();
    assert_eq!(counts(&now), [4, 2], "{now}");
    stage.is_sound();
    // Without the program it is said how it is built.
    let missing = stage.at("nowhere");
    train(&stage, &missing, &["run", "--base", "tiny", "--licence", "Apache-2.0"])
        .complains(&["HERMIT_TRAINER"]);
}

#[conforms::conforms("HV-7-3")]
#[test]
fn a_model_of_more_than_300_million_weights_is_trained_once_a_smaller_one_was_made_better() {
    if !Path::new("/usr/bin/bwrap").exists() {
        return conforms::lacks_walls("bubblewrap");
    }
    let stage = Stage::new();
    let program = stage.at("hermit-train");
    std::fs::write(&program, STAND_IN).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can run");
    let other = stage.at("another project");
    std::fs::create_dir_all(&other).expect("a folder");
    for (folder, name) in [(stage.work(), "one"), (stage.work(), "two"), (other, "three")] {
        work(&stage, &folder, name);
    }
    let shown = train(&stage, &program, &["curate"]).ends(0).json();
    let digest = shown["sha256"].as_str().expect("a digest");
    train(&stage, &program, &["curate", "--keep", digest]).ends(0);
    for (name, label) in [("small", "300M"), ("large", "1.5B")] {
        let weights = stage.at(name);
        std::fs::write(&weights, sized(label)).expect("weights");
        stage.hermit(&["models", "get", name, "--from", weights.to_str().expect("UTF-8")]).ends(0);
    }
    let run = |base: &str, steps: &str| {
        let words = ["run", "--base", base, "--licence", "Apache-2.0", "--always", "--steps", steps];
        train(&stage, &program, &words)
    };
    let refused = ["about 1500 million weights", "begin with a model of 100 to 300 million weights"];
    run("large", "2").complains(&refused);
    // One that became worse proves nothing.
    run("small", "7").ends(0);
    run("large", "2").complains(&refused);
    run("small", "2").ends(0);
    let larger = run("large", "2").ends(0).json();
    assert_eq!(larger["run"]["state"], "done", "{larger}");
    stage.is_sound();
}

/// What weights say of themselves, and no weights.
pub fn header() -> Vec<u8> {
    sized("135M")
}

/// The same of a model of this size.
fn sized(label: &str) -> Vec<u8> {
    let text = |text: &str| [(text.len() as u64).to_le_bytes().as_slice(), text.as_bytes()].concat();
    let counts = [0_u64.to_le_bytes(), 1_u64.to_le_bytes()].concat();
    let size = [text("general.size_label"), 8_u32.to_le_bytes().to_vec(), text(label)].concat();
    [b"GGUF".as_slice(), &3_u32.to_le_bytes(), &counts, &size].concat()
}

/// Names of files below a folder.
pub fn walk(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let names = entries.flat_map(|path| match path.is_dir() {
        true => walk(&path),
        false => vec![path.display().to_string()],
    });
    names.collect()
}
