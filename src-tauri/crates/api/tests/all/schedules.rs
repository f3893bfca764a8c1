//! Schedules through the commands: names of their own, one question for one key, and standing grants that name them.

use crate::home::Home;
use kernel::DriveOutcome;
use serde_json::{Value, json};
use wire::Code;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// What is asked for a schedule of tidying, with what is said besides.
fn wanted(home: &Home, more: Value) -> Value {
    let folder = home.world.folder.path().canonicalize().unwrap();
    let mut params = json!({
        "said": "every day at 8", "workspace": folder, "reasoner": { "kind": "playbook", "name": "tidy", "parameters": {} },
    });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

/// A schedule that a person was asked about and kept.
fn keep(home: &Home, more: Value) {
    let asked = home.must("schedules.keep", wanted(home, more));
    let task = asked["task_id"].as_str().unwrap().parse().unwrap();
    let approval = home.world.drive_to_approval(task);
    home.world.person.allow(home.world.kernel(), task, approval).unwrap();
    assert!(matches!(home.world.drive(task), DriveOutcome::Ended { .. }));
}

fn listed(home: &Home) -> Vec<(String, u64, String)> {
    let listed = home.must("schedules.list", json!({}));
    let row = |one: &Value| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        (text("name"), one["version"].as_u64().unwrap(), text("said"))
    };
    listed["schedules"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn a_schedule_without_a_name_gets_one_of_its_own_and_only_one_that_is_named_is_changed() {
    let home = Home::new(181);
    keep(&home, json!({}));
    keep(&home, json!({ "said": "every 2 hours" }));
    let of = |name: &str, version, said: &str| (name.to_owned(), version, said.to_owned());
    assert_eq!(listed(&home), [of("tidy", 1, "every day at 8"), of("tidy-2", 1, "every 2 hours")]);
    keep(&home, json!({ "name": "tidy", "said": "every day at 9" }));
    assert_eq!(listed(&home), [of("tidy", 2, "every day at 9"), of("tidy-2", 1, "every 2 hours")]);
    let shown = home.must("schedules.show", json!({ "name": "tidy-2" }));
    assert_eq!((&shown["rule"], &shown["worker"]), (&json!("every 2 hours"), &json!("playbook:tidy")));
    let gone = home.ask("schedules.show", json!({ "name": "tidy-3" })).unwrap_err();
    assert!(gone.code == Code::NotFound && gone.hint.contains("schedule list"));
}

#[test]
fn who_asks_again_with_a_key_gets_the_question_that_was_asked_first_however_late() {
    let home = Home::new(182);
    let wanted = wanted(&home, json!({ "said": "every 10 minutes", "idempotency_key": "once" }));
    let first = home.must("schedules.keep", wanted.clone());
    home.world.clock.advance(3 * MINUTE);
    let again = home.must("schedules.keep", wanted.clone());
    assert_eq!((&again["task_id"], &again["duplicate"]), (&first["task_id"], &json!(true)));
    let mut other = wanted;
    other["said"] = json!("every 20 minutes");
    assert_eq!(home.ask("schedules.keep", other).unwrap_err().code, Code::Conflict);
    for (said, word) in [("in 0 minutes", "gone by"), ("whenever", "for example")] {
        let refused = home.ask("schedules.preview", json!({ "said": said })).unwrap_err();
        assert!(refused.code == Code::Usage && refused.message.contains(word), "{refused:?}");
    }
}

#[test]
fn on_the_card_of_a_run_a_standing_grant_is_offered_for_the_runs_of_its_schedule_alone() {
    let home = Home::new(183);
    home.world.file("a.txt", "words");
    keep(&home, json!({ "reasoner": { "kind": "playbook", "name": "inventory", "parameters": {} } }));
    home.world.clock.advance(DAY);
    let [run] = home.world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
    let approval = home.world.drive_to_approval(run).to_string();
    let offered = home.must("grants.propose", json!({ "approval": approval }));
    let rows = offered["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!(row["draft"]["scope"], json!({ "kind": "schedule", "name": "inventory", "version": 1 }));
        assert!(row["words"].as_str().unwrap().contains("in each run of the schedule `inventory`"), "{row}");
        assert_eq!(row["rehearsed"]["answered"], 1, "of its runs: {row}");
    }
    let elsewhere =
        home.ask("grants.propose", json!({ "approval": approval, "scope": "project" })).unwrap_err();
    assert!(elsewhere.code == Code::Usage && elsewhere.message.contains("`schedule`"), "{elsewhere:?}");
    let (_, own) = home.with_a_question("delete held");
    let no_run = home.ask("grants.propose", json!({ "approval": own, "scope": "schedule" })).unwrap_err();
    assert!(no_run.message.contains("no schedule"), "{no_run:?}");
    let drafted = |more: Value| {
        let mut params = json!({ "paths": "**", "acts": ["create", "delete"], "after_untrusted": true });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        home.ask("grants.draft", params)
    };
    assert_eq!(drafted(json!({ "schedule": "inventory" })).unwrap()["draft"]["scope"]["version"], 1);
    assert_eq!(drafted(json!({ "schedule": "other" })).unwrap_err().code, Code::NotFound);
    assert_eq!(
        drafted(json!({ "schedule": "inventory", "task": run.to_string() })).unwrap_err().code,
        Code::Usage
    );
}
