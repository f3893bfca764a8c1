//! Other models tried on past work: each is asked by the process that holds the store, in the place of a clone that has no network,
//! and what it does is compared with what was done. The models are servers of this machine that say what a test has them say.

use super::has_walls;
use super::proposed::{allowed, done, task_of, writes};
use crate::journeys::stage::Stage;
use conforms::conforms;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::{Chat, Large};

const GOAL: &str = "write the plan down";

fn reads(path: &str) -> Value {
    json!({ "tool": "read", "arguments": { "path": path } })
}

/// What the model that did the work says at its end: more than there is to say.
fn wordy() -> Value {
    done(&"it is written, as was asked, word for word; ".repeat(30))
}

/// A store in which a model has read a file and written another; its task.
fn worked() -> (Stage, String) {
    let stage = Stage::new();
    std::fs::write(stage.work().join("plan.md"), "one\ntwo\n").expect("a file");
    let before = Chat::saying(Large::STRONG, vec![reads("plan.md"), writes("a.md"), wordy()]);
    allowed(&stage, GOAL, &before.address());
    let task = task_of(&stage, GOAL);
    (stage, task)
}

/// A model that answers so each time it is given the work.
fn each_time(answers: Vec<Value>) -> Chat {
    let turn = AtomicUsize::new(0);
    Chat::begin(Large::STRONG, move |_| answers[turn.fetch_add(1, Ordering::SeqCst) % answers.len()].clone())
}

/// Tries models on this task alone; what came of it.
fn tried(stage: &Stage, task: &str, models: &[&str], more: &[&str], code: i32) -> Value {
    let mut words = vec!["successor", "try", "--source", "my own idea", "--on", task, "--tasks", "1"];
    words.extend(["--task", "it costs less and breaks nothing"]);
    for model in models {
        words.extend(["--model", *model]);
    }
    words.extend(more);
    stage.hermit(&words).ends(code).json()
}

fn rules(shown: &Value) -> Vec<&str> {
    let reasons = shown["verdict"]["reasons"].as_array().expect("reasons");
    reasons.iter().filter_map(|reason| reason["rule"].as_str()).collect()
}

#[conforms(part = "HV-5-2")]
#[test]
fn models_race_over_past_work_and_what_each_does_is_its_verdict() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    let terse = each_time(vec![reads("plan.md"), writes("a.md"), done("written")]);
    let wasteful =
        Chat::saying(Large::STRONG, vec![reads("plan.md"), reads("plan.md"), writes("a.md"), wordy()]);
    let command = json!({ "tool": "command", "arguments": { "argv": ["rm", "-rf", "."] } });
    let harmful = Chat::saying(Large::STRONG, vec![reads("plan.md"), command, writes("a.md"), wordy()]);
    let addresses = [terse.address(), wasteful.address(), harmful.address()];
    let models: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let raced = tried(&stage, &task, &models, &[], 0);
    let rows = raced["trials"].as_array().expect("trials");
    let shown: Vec<Value> = rows
        .iter()
        .map(|row| {
            stage.hermit(&["successor", "show", row["trial_id"].as_str().expect("an id")]).ends(0).json()
        })
        .collect();
    let [better, worse, bad] = shown.as_slice() else { panic!("three trials: {raced}") };

    assert_eq!(better["trial"]["outcome"], "better", "{better}");
    for rule in ["costs_less", "did_the_same_again"] {
        assert!(rules(better).contains(&rule), "no {rule}: {better}");
    }
    assert_eq!(better["verdict"]["evidence_sha256"].as_array().map(Vec::len), Some(3), "{better}");
    assert_eq!(worse["trial"]["outcome"], "worse", "{worse}");
    assert!(rules(worse).contains(&"costs_more"), "{worse}");
    let outcome = bad["trial"]["outcome"].as_str().expect("an outcome");
    assert!(["worse", "unsafe"].contains(&outcome), "{bad}");

    // One that would be better is asked once more.
    for (one, (model, times)) in shown.iter().zip([(&terse, 2), (&wasteful, 1), (&harmful, 1)]) {
        assert_eq!(one["trial"]["kind"], "model");
        assert_eq!(one["rivals"].as_array().map(Vec::len), Some(2), "the others stand beside it: {one}");
        assert_eq!(one["verdict"]["is_signed"], true, "{one}");
        let planted = one["verdict"]["planted"].as_array().expect("planted changes");
        assert!(!planted.is_empty() && planted.iter().all(|bad| bad["refused"] == true), "{planted:?}");
        // The host has asked the model itself, and says what that cost.
        let measures = one["trial"]["measures"].as_array().expect("measures");
        let of = |name: &str| measures.iter().find(|one| one["name"] == name).expect("it is measured");
        assert_eq!(
            (&of("tokens")["measured_by"], &of("turns")["measured_by"]),
            (&json!("host"), &json!("host"))
        );
        assert_eq!(of("turns")["successor"], json!(model.requests().len() / times), "{one}");
    }
    // What they did was done in their clones.
    assert!(stage.work().join("plan.md").exists() && stage.work().join("a.md").exists());
    stage.is_sound();
}

#[conforms(part = "HV-5-2")]
#[test]
fn a_model_that_saves_something_only_the_first_time_is_not_better() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    // The second time it looks twice.
    let (first, second) = (
        [reads("plan.md"), writes("a.md"), done("written")],
        [reads("plan.md"), reads("plan.md"), writes("a.md"), done("written")],
    );
    let turn = AtomicUsize::new(0);
    let all: Vec<Value> = first.into_iter().chain(second).collect();
    let moody = Chat::begin(Large::STRONG, move |_| {
        all[turn.fetch_add(1, Ordering::SeqCst).min(all.len() - 1)].clone()
    });
    let address = moody.address();
    let shown = tried(&stage, &task, &[address.as_str()], &[], 0);
    assert_eq!(shown["trial"]["outcome"], "inconclusive", "{shown}");
    assert!(rules(&shown).contains(&"did_something_else_again"), "{shown}");
    assert_eq!(moody.requests().len(), 3 + 4, "{shown}");
    stage.is_sound();
}

#[conforms(part = "HV-5-2")]
#[test]
fn what_another_model_alone_proposes_makes_it_no_better_though_nobody_lets_it() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    // It says less at its end, and would write another file beside.
    let other = each_time(vec![reads("plan.md"), writes("b.md"), writes("a.md"), done("written")]);
    let address = other.address();
    let shown = tried(&stage, &task, &[address.as_str()], &[], 0);
    assert!(rules(&shown).contains(&"proposes_something_else"), "{shown}");
    let outcome = shown["trial"]["outcome"].as_str().expect("an outcome");
    assert!(!["better", "same"].contains(&outcome), "{shown}");
    assert!(!stage.work().join("b.md").exists());
    stage.is_sound();
}

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn a_model_is_asked_no_more_once_its_tokens_are_used_up_and_nothing_is_better_by_it() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    let terse = Chat::saying(Large::STRONG, vec![reads("plan.md"), writes("a.md"), done("written")]);
    let address = terse.address();
    let shown = tried(&stage, &task, &[address.as_str()], &["--tokens", "1"], 0);
    assert_eq!(shown["verdict"]["ended_for"], "tokens", "{shown}");
    let outcome = shown["trial"]["outcome"].as_str().expect("an outcome");
    assert!(!["better", "same"].contains(&outcome), "{shown}");
    assert!(rules(&shown).contains(&"used_up_its_budget"), "{shown}");
    assert_eq!(terse.requests().len(), 0, "there was no room for a single question");
}

#[test]
fn a_model_that_cannot_be_asked_from_here_is_refused_with_words() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    let closed = {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        listener.local_addr().expect("its address").port()
    };
    let silent = format!("openai:http://127.0.0.1:{closed}/v1#words");
    for (model, says) in [
        (silent.as_str(), "nobody answers at 127.0.0.1"),
        ("openai:https://models.invalid/v1#large", "is on another machine"),
        ("playbook:tidy", "models at an address"),
    ] {
        let shown = tried(&stage, &task, &[model], &[], 1);
        assert_eq!(shown["trial"]["state"], "failed", "{shown}");
        let why = shown["trial"]["why"].as_str().expect("words");
        assert!(why.contains(says), "`{says}` is not in `{why}`");
        assert_eq!(shown["verdict"], Value::Null, "{shown}");
    }
}
