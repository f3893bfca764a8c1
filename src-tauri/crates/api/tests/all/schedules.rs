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

#[test]
fn a_schedule_that_paused_itself_is_counted_among_what_waits_until_a_person_has_said() {
    let home = Home::new(184);
    home.world.file("a.txt", "words");
    keep(&home, json!({ "said": "every 1 hours" }));
    let waits = |home: &Home| home.must("host.status", json!({}))["waiting"]["paused_schedules"].clone();
    for failures in 0..3 {
        assert_eq!(waits(&home), 0, "{failures}");
        home.world.clock.advance(60 * MINUTE);
        let [run] = home.world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
        let approval = home.world.drive_to_approval(run);
        home.world.person.deny(home.world.kernel(), run, approval, "no").unwrap();
        home.world.drive(run);
        home.world.kernel().run_rested(run).unwrap();
    }
    assert_eq!(waits(&home), 1);
    let shown = home.must("schedules.show", json!({ "name": "tidy" }));
    assert_eq!((&shown["state"], &shown["by_itself"]), (&json!("paused"), &json!(true)));
    assert_eq!(shown["runs"][0]["run_status"], "failed");
    home.must("schedules.resume", json!({ "name": "tidy" }));
    assert_eq!(waits(&home), 0);
    home.must("schedules.pause", json!({ "name": "tidy" }));
    assert_eq!(waits(&home), 0, "who pauses it by hand is not asked");
    assert_eq!(waits(&home.into_reader()), 0);
}

#[test]
fn what_bounds_the_runs_of_a_schedule_is_kept_as_it_was_said_and_told_again() {
    let home = Home::new(185);
    let limits = json!({
        "overlap": "end_older", "jitter_minutes": 5, "per_hour_max": 2, "ends_after_minutes": 30, "hours": "8-18",
        "day_runs_max": 9, "day_iterations_max": 50, "day_tokens_max": 100_000, "day_cost_micros_max": 1_500_000,
        "day_minutes_max": 60,
    });
    keep(&home, json!({ "limits": limits }));
    let mut told = limits.clone();
    told["hours"] = json!("08:00-18:00");
    assert_eq!(home.must("schedules.show", json!({ "name": "tidy" }))["limits"], told);
    // What is told can be said again, and is the same.
    let again =
        home.ask("schedules.keep", wanted(&home, json!({ "name": "tidy", "limits": told }))).unwrap_err();
    assert!(again.message.contains("so already"), "{again:?}");
    keep(&home, json!({ "name": "tidy" }));
    let none = home.must("schedules.show", json!({ "name": "tidy" }))["limits"].clone();
    assert!(none.as_object().unwrap().values().all(Value::is_null), "{none}");
    for (limits, word) in [
        (json!({ "hours": "25-3" }), "8-18"),
        (json!({ "per_hour_max": 0 }), "within an hour"),
        (json!({ "jitter_minutes": 61 }), "an hour later"),
        (json!({ "day_runs_max": 0 }), "more than 0"),
        (json!({ "ends_after_minutes": 99_999 }), "seven days"),
    ] {
        let asked = wanted(&home, json!({ "name": "other", "limits": limits }));
        let refused = home.ask("schedules.keep", asked).unwrap_err();
        assert!(refused.code == Code::Usage && refused.message.contains(word), "{refused:?}");
    }
    let unknown = wanted(&home, json!({ "limits": { "per_week_max": 1 } }));
    assert_eq!(home.ask("schedules.keep", unknown).unwrap_err().code, Code::UnknownField);
}
