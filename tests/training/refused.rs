//! A dataset of nothing, a base of another licence, and a checkpoint that was cut in half, as a person meets them.

use crate::journeys::stage::{Ran, Stage};
use crate::journeys::trained::{counts, header, walk, work};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Speaks as `hermit-train` does. Whatever it is asked to learn, the last of its checkpoints is one that was cut in half; where it
/// measures, it leaves that one out and takes the one before it, as the real one does.
const STAND_IN: &str = r#"#!/bin/sh
set -e
dir=$(dirname "$2")
whole="$dir/checkpoint-00000002.safetensors"
half="$dir/checkpoint-00000003.safetensors"
case "$1" in
run)
  printf 'all of its numbers' > "$whole"
  printf 'all of' > "$half"
  echo '{"said":"progress","step":3,"loss":3.5,"examples_per_s":1.5,"memory":1000}'
  echo '{"said":"ended","step":3}' ;;
prove)
  test "$(cat "$half")" = 'all of'
  printf '{"said":"skipped","what":"%s","words":"it is no whole checkpoint: it was cut"}\n' "$half"
  printf '{"said":"measured","before":{"examples":5,"next_act_exact":0.4,"schema_valid":1.0,"perplexity":4.5},'
  printf '"after":{"examples":5,"next_act_exact":0.6,"schema_valid":1.0,"perplexity":2.5},'
  printf '"baseline":{"answer":"x","next_act_exact":0.1},"offered":true,"words":"as it was measured"}\n' ;;
esac
"#;

/// The program that stands in for the one that trains.
fn stand_in(stage: &Stage) -> PathBuf {
    let program = stage.at("hermit-train");
    std::fs::write(&program, STAND_IN).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can run");
    program
}

fn train(stage: &Stage, program: &Path, words: &[&str]) -> Ran {
    let all: Vec<&str> = ["--json", "train"].into_iter().chain(words.iter().copied()).collect();
    Stage::ran(stage.command(&all).env("HERMIT_TRAINER", program))
}

/// Datasets, runs and recalls, as they are on record.
fn listed(stage: &Stage, program: &Path) -> Value {
    train(stage, program, &["list"]).ends(0).json()
}

/// A model in the box that says nothing of its licence.
fn has_base(stage: &Stage) {
    let weights = stage.at("tiny.gguf");
    std::fs::write(&weights, header()).expect("weights");
    stage.hermit(&["models", "get", "tiny", "--from", weights.to_str().expect("UTF-8")]).ends(0);
}

/// Work in two folders, and a dataset of it that is kept.
fn has_dataset(stage: &Stage, program: &Path) {
    let other = stage.at("another project");
    std::fs::create_dir_all(&other).expect("a folder");
    for (folder, name) in [(stage.work(), "one"), (stage.work(), "two"), (other, "three")] {
        work(stage, &folder, name);
    }
    let shown = train(stage, program, &["curate"]).ends(0).json();
    assert_eq!(counts(&shown), [6, 2], "{shown}");
    train(stage, program, &["curate", "--keep", shown["sha256"].as_str().expect("a digest")]).ends(0);
}

#[test]
fn a_dataset_of_nothing_is_shown_with_what_to_do_and_neither_kept_nor_learned_from() {
    let stage = Stage::new();
    let program = stand_in(&stage);
    has_base(&stage);
    let shown = train(&stage, &program, &["curate"]).ends(0).json();
    let trouble = shown["trouble"].as_str().unwrap_or_else(|| panic!("it says nothing: {shown}"));
    assert!(trouble.contains("no example") && trouble.contains("complete a task"), "{trouble}");
    assert_eq!(counts(&shown), [0, 0], "{shown}");
    let digest = shown["sha256"].as_str().expect("a digest");
    train(&stage, &program, &["curate", "--keep", digest]).complains(&["no example", "complete a task"]);
    train(&stage, &program, &["run", "--base", "tiny", "--licence", "Apache-2.0"])
        .complains(&["there is no dataset yet", "hermit train curate"]);
    assert_eq!(listed(&stage, &program), json!({ "datasets": [], "runs": [], "recalls": [] }));
    stage.is_sound();
}

#[test]
fn a_base_of_another_licence_is_not_trained_and_says_which_may_be() {
    let stage = Stage::new();
    let program = stand_in(&stage);
    has_base(&stage);
    has_dataset(&stage, &program);
    let run = ["run", "--base", "tiny", "--always", "--licence"];
    for licence in ["CC-BY-NC-4.0", "llama3.2", "Apache-2.0 WITH a promise"] {
        train(&stage, &program, &[&run[..], &[licence]].concat()).complains(&[
            licence,
            "changed models are known to be allowed",
            "Apache-2.0, MIT",
        ]);
    }
    let listed = listed(&stage, &program);
    assert_eq!((&listed["runs"], counts(&listed["datasets"][0])), (&json!([]), [6, 2]), "{listed}");
    assert_eq!(walk(&stage.home().join("training")), Vec::<String>::new(), "no run was begun");
    stage.is_sound();
}

#[conforms::conforms(part = "HV-3.8-1")]
#[test]
fn of_a_checkpoint_that_was_cut_in_half_nothing_stands_on_record_and_the_one_before_does() {
    if !Path::new("/usr/bin/bwrap").exists() {
        return conforms::lacks_walls("bubblewrap");
    }
    let stage = Stage::new();
    let program = stand_in(&stage);
    has_base(&stage);
    has_dataset(&stage, &program);
    let run = ["run", "--base", "tiny", "--licence", "Apache-2.0", "--always", "--steps", "3"];
    let came = train(&stage, &program, &run).ends(0).json();
    assert_eq!(came["run"]["state"], "done", "{came}");
    let words = came["run"]["words"].as_str().unwrap_or_else(|| panic!("it says nothing: {came}"));
    assert!(words.contains("not whole was left out, and the one before it was measured"), "{words}");
    // What is kept as what it learned is what was measured.
    let listed = listed(&stage, &program);
    assert_eq!(listed["runs"][0]["offered"], true, "{listed}");
    let (adapter, bytes) = (listed["runs"][0]["adapter_id"].as_str().expect("an id"), stage.at("adapter"));
    stage.hermit(&["artifacts", "show", adapter, "-o", bytes.to_str().expect("UTF-8")]).ends(0);
    assert_eq!(std::fs::read_to_string(&bytes).expect("it was written"), "all of its numbers");
    stage.is_sound();
}
