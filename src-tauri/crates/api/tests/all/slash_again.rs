//! Commands behind a slash that come again, and those that name no task: what was not done is done once, and nobody guesses.

use crate::home::Home;
use api::runs;
use model::fault::Point;
use model::task::TaskStatus;
use model::{ConversationId, TaskId};
use serde_json::{Value, json};
use testkit::{Edge, Mode, done, say};

/// A task that asks again and again, driven to its first question.
fn asks(home: &Home, goal: &str) -> TaskId {
    let answers = (0..6).map(|_| say("ask", json!({ "question": "which?" }))).chain([done("ok")]);
    let task = home.world.script(goal, answers.collect());
    home.world.drive(task);
    task
}

fn status(home: &Home, task: TaskId) -> TaskStatus {
    home.world.kernel().task(task).unwrap().task.status
}

fn under(home: &Home, task: TaskId, text: &str, key: &str) -> Result<Value, wire::Error> {
    let params = json!({ "text": text, "task": task.to_string(), "channel": "app", "idempotency_key": key });
    home.ask("conversations.say", params)
}

fn conversation(home: &Home, task: TaskId) -> ConversationId {
    home.world.kernel().task(task).unwrap().task.conversation_id
}

fn events(home: &Home) -> Value {
    home.must("ledger.stats", json!({}))["events"].clone()
}

fn titled(home: &Home, title: &str) -> usize {
    let found = home.must("conversations.list", json!({}));
    found["rows"].as_array().unwrap().iter().filter(|row| row["title"] == title).count()
}

#[test]
fn a_command_that_was_refused_is_done_when_it_comes_again_under_its_key_and_then_no_more() {
    let home = Home::new(3_611);
    let task = asks(&home, "sort them");
    let refused = under(&home, task, "/resume", "go").unwrap_err();
    assert_eq!(refused.code, wire::Code::Conflict, "{refused:?}");
    let pause = || {
        home.must("task.pause", json!({ "task": task.to_string() }));
        home.world.drive(task);
        assert_eq!(status(&home, task), TaskStatus::Paused);
    };
    pause();
    under(&home, task, "/resume", "go").unwrap();
    assert_ne!(status(&home, task), TaskStatus::Paused, "what was refused is done now");
    home.world.drive(task);
    pause();
    let before = events(&home);
    under(&home, task, "/resume", "go").unwrap();
    assert_eq!(
        (status(&home, task), events(&home)),
        (TaskStatus::Paused, before),
        "it was done, and is not again"
    );
    assert_eq!(under(&home, task, "/stop", "go").unwrap_err().code, wire::Code::Conflict, "another's key");
    let first = under(&home, task, "/explain", "tell").unwrap()["told"].clone();
    assert!(first.to_string().contains("sort them"));
    assert_eq!(under(&home, task, "/explain", "tell").unwrap()["told"], first, "an answer is told again");
}

#[test]
fn a_command_whose_host_died_behind_its_record_is_done_once_when_it_comes_again() {
    let mut home = Home::new(3_612);
    let task = asks(&home, "sort them");
    home.world.faults.plan(Point::TaskCancel, Edge::Before, Mode::Abort, 1);
    assert!(under(&home, task, "/stop", "end").is_err() && home.world.faults.fired());
    home.world.faults.clear();
    home.world.reopen();
    assert!(home.world.kernel().task(task).unwrap().cancel_requested.is_none());
    under(&home, task, "/stop", "end").unwrap();
    assert!(home.world.kernel().task(task).unwrap().cancel_requested.is_some());
    home.world.drive(task);
    assert_eq!(status(&home, task), TaskStatus::Cancelled);
    let before = events(&home);
    under(&home, task, "/stop", "end").unwrap();
    assert_eq!(events(&home), before, "it was done once");

    // The record and the conversation stand, the work does not: no second conversation is opened for it.
    home.world.faults.plan(Point::IngressReceive, Edge::Before, Mode::Abort, 2);
    assert!(under(&home, task, "/branch by month", "side").is_err() && home.world.faults.fired());
    home.world.faults.clear();
    home.world.reopen();
    assert_eq!(titled(&home, "by month"), 1);
    let made = under(&home, task, "/branch by month", "side").unwrap();
    assert_eq!(titled(&home, "by month"), 1);
    let shown = home.must("task.show", json!({ "task": made["task_id"] }));
    assert_eq!((&shown["goal"], &shown["conversation_id"]), (&json!("by month"), &made["conversation_id"]));
    let again = under(&home, task, "/branch by month", "side").unwrap();
    assert_eq!((&again["task_id"], &again["conversation_id"]), (&made["task_id"], &made["conversation_id"]));
}

#[test]
fn a_command_that_names_no_task_is_about_the_one_in_focus_or_the_only_open_one_and_else_is_refused() {
    let home = Home::new(3_613);
    let (first, second) = (asks(&home, "sort them"), asks(&home, "count them"));
    let here = conversation(&home, first);
    let tell = |text: &str| {
        let params = json!({ "conversation": here.to_string(), "text": text, "channel": "app" });
        home.ask("conversations.say", params)
    };
    let stops = |task| home.world.kernel().task(task).unwrap().cancel_requested.is_some();
    home.world.kernel().turn_to(here, Some(second)).unwrap();
    home.world.kernel().turn_to(here, None).unwrap();
    let before = events(&home);
    for text in ["/stop", "/retry", "/goal another", "/pause"] {
        let refused = tell(text).unwrap_err();
        assert_eq!(refused.code, wire::Code::Ambiguous, "{refused:?}");
        for (task, title) in [(first, "sort them"), (second, "count them")] {
            let id = task.to_string();
            assert!(refused.message.contains(&id[id.len() - 8..]), "{refused:?}");
            assert!(refused.message.contains(title), "{refused:?}");
        }
    }
    assert_eq!(events(&home), before, "nothing was recorded, and nothing ended");
    home.world.kernel().turn_to(here, Some(second)).unwrap();
    assert_eq!(tell("/stop").unwrap()["task_id"], second.to_string());
    home.world.drive(second);
    assert!(!stops(first));
    // The one that was in focus last has ended: the only open one is meant.
    assert_eq!(tell("/stop").unwrap()["task_id"], first.to_string());
    home.world.drive(first);
    assert_eq!(status(&home, first), TaskStatus::Cancelled);
    let none = tell("/pause").unwrap_err();
    assert!(none.message.contains("none is open"), "{none:?}");
    assert_eq!(tell("/explain").unwrap()["task_id"], first.to_string(), "the one that ended last");
}

#[test]
fn a_command_over_the_run_api_that_is_sent_twice_without_a_key_makes_one_thing() {
    let home = Home::new(3_614);
    let task = asks(&home, "sort them");
    let send = |text: &str| {
        runs::message(&home, &task.to_string(), json!({ "message": text, "mode": "steer" }), None).unwrap()
    };
    let first = send("/branch by month").message;
    assert_eq!((send("/branch by month").message, titled(&home, "by month")), (first, 1));
    assert!(send("/pause").accepted);
    home.world.drive(task);
    assert!(send("/resume").accepted);
    home.world.drive(task);
    assert!(send("/pause").accepted);
    home.world.drive(task);
    assert_eq!(status(&home, task), TaskStatus::Paused, "a state may be wanted again");
    assert!(send("/stop").accepted);
    home.world.drive(task);
    let made = send("/retry").message;
    assert!(made.contains("run task_"), "{made}");
    assert_eq!(send("/retry").message, made, "one task follows it");
}

#[test]
fn a_note_that_is_a_command_answers_with_what_it_told_and_made() {
    let home = Home::new(3_615);
    let task = asks(&home, "sort them");
    let note = |text: &str| {
        home.must("task.note", json!({ "task": task.to_string(), "text": text, "channel": "cli" }))
    };
    let told = note("/explain");
    assert_eq!(told["resolution"], "control");
    assert!(told["told"].to_string().contains("waits for you: 1 question"), "{told}");
    let made = note("/branch by month")["made"].as_str().unwrap().to_owned();
    assert_eq!(home.must("task.show", json!({ "task": made }))["goal"], "by month");
    let words = note("mind the gap");
    assert!(words["told"].is_null() && words["made"].is_null(), "{words}");
}
