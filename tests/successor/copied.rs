//! Changes of the source that do not keep to the clean room, tried as a person tries them. What is built of each is Hermit as it is, so
//! that nothing but where it comes from keeps it from being as good.

use super::as_typed::{HONEST, STATEMENT, adds, base, is_refused, tried, worked};
use super::has_walls;
use super::whole_way::{as_it_is, reviews};
use crate::journeys::stage::Stage;
use conforms::conforms;
use serde_json::Value;

/// Tries a change of the source with these lines about where it comes from.
fn tried_from(stage: &Stage, task: &str, diff: &str, sources: &[&str]) -> Value {
    let (base, file) = (base(stage), stage.at("copied.diff"));
    std::fs::write(&file, diff).expect("a file");
    let mut words = vec!["--base", base.as_str(), "--diff", file.to_str().expect("UTF-8")];
    words.extend(sources.iter().flat_map(|line| ["--source", *line]));
    let all = tried(stage, task, &words, 0);
    let [one] = all.as_slice() else { panic!("one trial: {all:?}") };
    one.clone()
}

#[conforms(part = "HV-7-4")]
#[test]
fn a_change_that_is_copied_or_says_not_where_it_comes_from_is_not_as_good_and_not_adopted() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    as_it_is(&stage);
    let [ada, bob] = reviews(&stage);
    let notice = concat!("// Copy", "right (c) 2020 Somebody Else");
    let foreign = HONEST.diff() + &adds("src-tauri/crates/lineage/src/lamp.rs", notice);
    let [written, studied, _, more] = STATEMENT;
    let copied = [written, studied, "Copied: lamp.c", more];
    let honest = HONEST.diff();
    for (diff, sources, says) in [
        (&honest, &["my own idea"][..], "lacks a line `Written-from:`"),
        (&honest, &copied[..], "`lamp.c` is copied"),
        (&foreign, &STATEMENT[..], "notice of somebody else"),
    ] {
        let one = tried_from(&stage, &task, diff, sources);
        is_refused(&one);
        assert_eq!(one["trial"]["outcome"], "inconclusive", "{one}");
        let reasons = one["verdict"]["reasons"].as_array().expect("reasons");
        let told = reasons.iter().find(|reason| reason["rule"] == "clean_room");
        assert!(told.is_some_and(|told| told["says"].to_string().contains(says)), "{says}: {one}");
        let trial = one["trial"]["trial_id"].as_str().expect("an id");
        let words: [&str; 8] =
            ["successor", "adopt", trial, "--although-same", "--review", &ada, "--review", &bob];
        stage.hermit(&words).complains(&["only a change that is better is adopted"]);
    }
    stage.is_sound();
}
