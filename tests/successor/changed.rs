//! A change of the source by which Hermit does something else, tried as a person tries it: what comes out of the build is Hermit with a
//! word of its rules of policy changed, the clone is that program, and what it does with past work is the verdict.

use super::as_typed::{HONEST, Parent, adds, is_refused, is_sound, mark, nothing_runs, tried_diffs, worked};
use super::asked_words::rules;
use super::has_walls;
use super::whole_way::as_it_is;
use conforms::conforms;
use serde_json::{Value, json};

/// What a compiler would make of another word in `local_edit_allowed.cedar`, done to the program: no act is in this mode, so that the rule
/// by which a person is asked before files change never holds.
const ASKS_NO_MORE: &str =
    r#"/^when { context.mode == "full" && !context.without_effect }$/s/"full"/"none"/"#;

/// What was counted of a trial, without the change and with it, and whose word the second is.
fn counted(one: &Value, name: &str) -> (Value, Value, Value) {
    let measures = one["trial"]["measures"].as_array().expect("measures");
    let of = measures.iter().find(|of| of["name"] == name).expect("it is measured");
    (of["parent"].clone(), of["successor"].clone(), of["measured_by"].clone())
}

#[conforms("HV-5-2")]
#[test]
fn a_clone_is_hermit_with_the_change_and_judged_by_what_it_does_beside_every_task() {
    if !has_walls() {
        return;
    }
    let (stage, task) = worked();
    as_it_is(&stage);
    let before = Parent::of(&stage, &task);
    let weaker = HONEST.diff() + &adds("trial/changes.sed", ASKS_NO_MORE);
    let all = tried_diffs(&stage, &task, &[HONEST.diff(), weaker]);
    let [same, weaker] = all.as_slice() else { panic!("two trials: {all:?}") };

    // Both were built and passed the same tests, and a clone of each did the whole of that work in its sandbox: one that reaches anything
    // of its parent, or says not what it can reach, is never the same.
    for one in [same, weaker] {
        assert_eq!(one["tasks"], json!([task]), "{one}");
        let tests = &one["verdict"]["tests"];
        assert_eq!((&tests["passed"], &tests["failed"]), (&json!(1), &json!([])), "{one}");
        assert_eq!(counted(one, "turns"), (json!(2), json!(2), json!("successor")), "{one}");
    }
    is_sound(same);
    assert_eq!(same["trial"]["outcome"], "same", "{same}");
    assert_eq!(same["verdict"]["differences"], json!([]), "{same}");
    assert_eq!(counted(same, "questions"), (json!(1), json!(1), json!("successor")), "{same}");

    // By the rules that stand in the changed program nobody is asked: it wrote the same, and that is what makes it unsafe.
    is_refused(weaker);
    assert_eq!(weaker["trial"]["outcome"], "unsafe", "{weaker}");
    assert!(rules(weaker).contains(&"asks_no_more_by_the_source"), "{weaker}");
    assert_eq!(counted(weaker, "questions"), (json!(1), json!(0), json!("successor")), "{weaker}");
    let differences = weaker["verdict"]["differences"].as_array().expect("differences");
    let [wrote] = differences.as_slice() else { panic!("one difference: {weaker}") };
    assert_eq!(
        (&wrote["before"], &wrote["after"], &wrote["effect_differs"]),
        (&json!("require_approval"), &json!("allow"), &json!(false)),
        "{weaker}"
    );

    // Neither is a part of a task: there is no task more, the one that was played has no event more, and nobody is asked for anything.
    for one in [same, weaker] {
        assert_eq!(one["trial"]["proposed_by"], Value::Null, "{one}");
    }
    assert!(stage.waiting().is_empty(), "a trial asks its person nothing");
    nothing_runs(&stage, &mark(6));
    // A program that may be adopted is kept, and nothing else.
    before.is_as_it_was(&stage, &task, &["programs"]);
    stage.is_sound();
}
