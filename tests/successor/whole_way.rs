//! The whole way of a change that behaves: tried as a person tries it, called as good as what is there or better, and adopted by that
//! person's card and by nothing else.

use super::as_typed::{
    HONEST, Parent, adds, is_sound, mark, nothing_runs, tried, tried_diffs, tried_sources, worked,
};
use super::{has_walls, soon};
use crate::journeys::attached::Served;
use crate::journeys::hermit;
use crate::journeys::stage::{APPROVAL, Stage};
use crate::journeys::tool_servers::{asked, put, yes};
use conforms::conforms;
use model::Digest;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

/// Says which program is Hermit, where it is not the one that was installed.
const CURRENT: &str = "programs/current.json";

#[conforms("HV-5-3", "HV-5-7", part = "HV-1-1", part = "HV-5-2", part = "HV-7-1")]
#[test]
fn a_change_of_the_source_plays_in_a_store_of_its_own_and_is_hermit_by_a_persons_card_alone() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    let at = as_it_is(&stage);
    // What was done is done again only where somebody plays it: in the clone.
    std::fs::remove_file(stage.work().join("a.md")).expect("it was written");
    let before = Parent::of(&stage, &task);
    let all = tried_sources(&stage, &task, &[HONEST]);
    let [one] = all.as_slice() else { panic!("one trial: {all:?}") };

    is_sound(one);
    assert_eq!(one["trial"]["outcome"], "same", "{one}");
    assert_eq!(one["verdict"]["differences"], json!([]), "{one}");
    let measures = one["trial"]["measures"].as_array().expect("measures");
    for (name, most) in [("questions", 1), ("turns", 2)] {
        let of = measures.iter().find(|one| one["name"] == name).expect("it is measured");
        let both = (&of["parent"], &of["successor"], &of["measured_by"]);
        assert_eq!(both, (&json!(most), &json!(most), &json!("successor")), "{one}");
    }
    let used = &one["verdict"]["used"];
    assert!(used["disk_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "its store had a size: {used}");
    nothing_runs(&stage, &mark(3));
    // A program that may be adopted is kept, and nothing else.
    before.is_as_it_was(&stage, &task, &["programs"]);
    is_somebody(&stage);
    is_adopted_by_a_card_alone(&stage, one["trial"]["trial_id"].as_str().expect("an id"));
    // The next command is that program's, once it has said that it is healthy.
    stage.hermit(&["identity", "show"]).ends(0).json();
    let current = std::fs::read(stage.home().join(CURRENT)).expect("it is pointed at");
    let current: Value = serde_json::from_slice(&current).expect("JSON");
    let built = Digest::of(&std::fs::read(&at).expect("the program")).to_string();
    assert_eq!((&current["healthy"], &current["sha256"]), (&json!(true), &json!(built)), "{current}");
    both_keys_sign_for(&stage, &built);
    keeps_the_gate(&stage, &task, &built);
    stage.is_sound();
}

/// What comes out where nothing in the source is another program: Hermit as it is.
pub(super) fn as_it_is(stage: &Stage) -> PathBuf {
    let at = stage.at("toolchain/hermit");
    // What is only of use to whoever looks for faults in it is half of its size.
    let stripped = Command::new("strip").arg("-s").arg("-o").args([at.as_path(), hermit()]).status();
    if !stripped.is_ok_and(|status| status.success()) {
        std::fs::copy(hermit(), &at).expect("a copy");
    }
    at
}

/// A person says who this instance is: from then on it has a key that can hand over.
fn is_somebody(stage: &Stage) {
    put(stage, "SOUL.md", "# Ada\nI keep the letters of the harbour in order.\n");
    let mut edit = stage.command(&["--json", "identity", "edit", "SOUL.md"]);
    let (_, approval) = asked(&Stage::ran(edit.current_dir(stage.work())).ends(4).json());
    yes(stage, &approval);
}

/// The adopted program at work: the key of the instance from before and a new one have signed one hand-over that names it, and the chain
/// holds for whoever follows it.
fn both_keys_sign_for(stage: &Stage, program: &str) {
    let key = || stage.hermit(&["identity", "show"]).ends(0).json()["instance_pubkey"].clone();
    let before = key();
    let served = Served::by(stage);
    soon("its key is another one", || key() != before);
    served.signal("-TERM");
    assert_eq!(served.end(), Some(0));
    let graph = stage.hermit(&["identity", "verify"]).ends(0).json();
    let last = graph["links"].as_array().and_then(|links| links.last()).expect("links").clone();
    assert_eq!(
        (&graph["unbroken"], &last["kind"], &last["reason"], &last["signed_by"]),
        (&json!(true), &json!("handover"), &json!("successor"), &json!([before, key()])),
        "{graph}"
    );
    let chain = stage.at("chain");
    stage.hermit(&["identity", "export", chain.to_str().expect("UTF-8")]).ends(0);
    let chain = std::fs::read_to_string(chain).expect("a chain");
    assert!(chain.lines().last().is_some_and(|link| link.contains(program)), "{chain}");
}

/// The adopted program keeps the gate: in its turn it tries a change in clones of its own, and neither its verdict nor its card changes
/// anything.
fn keeps_the_gate(stage: &Stage, task: &str, program: &str) {
    let file = stage.at("next.rules");
    std::fs::write(&file, "allow FileEdit(**)\n").expect("a file");
    let rules = file.to_str().expect("UTF-8");
    let all = tried(stage, task, &["--policy", rules, "--source", "my own idea"], 0);
    let [one] = all.as_slice() else { panic!("one trial: {all:?}") };
    is_sound(one);
    assert_eq!(
        (&one["trial"]["outcome"], &one["verdict"]["evaluator_sha256"]),
        (&json!("better"), &json!(program)),
        "{one}"
    );
    let trial = one["trial"]["trial_id"].as_str().expect("an id");
    asked(&stage.hermit(&["successor", "adopt", trial]).ends(4).json());
    assert_eq!(stage.hermit(&["policy", "own"]).ends(0).json()["rows"], json!([]), "a card is no yes");
}

/// Reviews of the same file by two, a file each.
pub(super) fn reviews(stage: &Stage) -> [String; 2] {
    ["ada", "bob"].map(|by| {
        let path = stage.at(&format!("{by}.jsonl"));
        let line = json!({ "file": "trial/build.sh", "line": 1, "says": "sound", "by": by });
        std::fs::write(&path, format!("{line}\n")).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    })
}

/// A verdict, reviews and a card change nothing: the program is Hermit once a person has said yes.
fn is_adopted_by_a_card_alone(stage: &Stage, trial: &str) {
    let [ada, bob] = reviews(stage);
    let adopt = |more: &[&str]| stage.hermit(&[&["successor", "adopt", trial][..], more].concat());
    adopt(&["--review", &ada, "--review", &bob]).complains(&["--although-same"]);
    adopt(&["--although-same", "--review", &ada]).complains(&["2 distinct"]);
    let ran = adopt(&["--although-same", "--review", &ada, "--review", &bob]).ends(4);
    let (task, approval) = asked(&ran.json());
    assert!(!stage.home().join(CURRENT).exists(), "a card is no yes");
    yes(stage, &approval);
    let listed = stage.hermit(&["successor", "adopted"]).ends(0).json();
    let adopted = &listed["adoptions"][0];
    assert_eq!(
        (&adopted["trial_id"], &adopted["task_id"], &adopted["at_work"]),
        (&json!(trial), &json!(task), &json!(true)),
        "{listed}"
    );
}

#[conforms(part = "HV-5-7", part = "HV-7-1")]
#[test]
fn rules_that_a_trial_calls_better_are_in_force_by_a_persons_card_alone() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    let file = stage.at("own.rules");
    std::fs::write(&file, "allow FileEdit(**)\n").expect("a file");
    let rules = file.to_str().expect("UTF-8");
    let all = tried(&stage, &task, &["--policy", rules, "--source", "my own idea"], 0);
    let [one] = all.as_slice() else { panic!("one trial: {all:?}") };
    is_sound(one);
    assert_eq!(one["trial"]["outcome"], "better", "{one}");

    let in_force = || stage.hermit(&["policy", "own"]).ends(0).json()["rows"].clone();
    assert_eq!(in_force(), json!([]), "a verdict changes nothing");
    let trial = one["trial"]["trial_id"].as_str().expect("an id");
    let (_, approval) = asked(&stage.hermit(&["successor", "adopt", trial]).ends(4).json());
    assert_eq!(in_force(), json!([]), "a card is no yes");
    yes(&stage, &approval);
    assert_eq!(in_force()[0]["text"], "allow FileEdit(**)");
    stage.is_sound();
}

#[conforms(part = "HV-5-7", part = "HV-7-1")]
#[test]
fn a_change_of_what_judges_acts_waits_for_a_day_whatever_its_trial_calls_it() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    as_it_is(&stage);
    let weaker = adds("src-tauri/crates/governance/src/weaker.rs", "// Nobody is asked any more.");
    let all = tried_diffs(&stage, &task, &[HONEST.diff() + &weaker]);
    let [one] = all.as_slice() else { panic!("one trial: {all:?}") };
    is_sound(one);
    // What was played shows no difference; where it stands in the source is told all the same.
    assert_eq!(one["trial"]["outcome"], "same", "{one}");
    assert_eq!(one["verdict"]["constitutional"], json!(["policy"]), "{one}");

    let trial = one["trial"]["trial_id"].as_str().expect("an id");
    let [ada, bob] = reviews(&stage);
    let words: [&str; 8] =
        ["successor", "adopt", trial, "--although-same", "--review", &ada, "--review", &bob];
    stage.hermit(&words).complains(&["keeps Hermit in check", "at a terminal"]);
    // Also with the passphrase of its person, typed for that room.
    let mut pty = stage.terminal(&words, &[]).without_hurry();
    let passphrase = format!("{APPROVAL}\r");
    while pty.expect_one_or_end(&["Approval passphrase"]).is_some() {
        pty.send(&passphrase);
    }
    let (code, screen) = pty.end();
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(code != 0 && screen.contains("and waits"), "{screen}");
    assert!(stage.waiting().is_empty(), "nobody is asked for a card");
    assert!(!stage.home().join(CURRENT).exists());
    stage.is_sound();
}
