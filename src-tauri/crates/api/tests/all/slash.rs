//! Commands behind a slash, the same for a conversation, a note and the run API: recorded, done by the command each stands for,
//! once; an unknown one changes nothing; and words that begin with a slash can be said.

use crate::home::Home;
use api::runs;
use model::task::TaskStatus;
use serde_json::{Value, json};
use testkit::{done, say, write};

fn stats(home: &Home) -> Value {
    home.must("ledger.stats", json!({}))["events"].clone()
}

fn lines(home: &Home, conversation: &Value) -> Vec<(String, Value)> {
    let found = home.must("conversations.lines", json!({ "conversation": conversation }));
    let rows = found["rows"].as_array().unwrap().iter();
    let said = rows.filter(|row| row["kind"] == "message");
    said.map(|row| (row["text"].as_str().unwrap_or_default().to_owned(), row["heard"]["resolution"].clone()))
        .collect()
}

#[conforms::conforms(part = "RA-3-9")]
#[test]
fn each_command_does_what_it_stands_for_on_every_surface_and_is_on_record_as_a_control() {
    let home = Home::new(3_601);
    let asks =
        || (0..9).flat_map(|_| [say("ask", json!({ "question": "which?" }))]).chain([done("ok")]).collect();
    let task = home.world.script("sort them", asks());
    home.world.drive(task);
    let conversation = home.must("task.show", json!({ "task": task.to_string() }))["conversation_id"].clone();
    let tell = |text: &str| {
        home.must(
            "conversations.say",
            json!({ "conversation": conversation, "text": text, "channel": "app" }),
        )
    };
    let help = tell("/help");
    let listed = home.must("conversations.commands", json!({}))["commands"].as_array().unwrap().clone();
    assert!(listed.len() >= 10);
    for command in &listed {
        let named = format!("`/{}`", command["name"].as_str().unwrap());
        assert!(
            help["told"].as_array().unwrap().iter().any(|line| line.as_str().unwrap().starts_with(&named)),
            "{named}"
        );
    }
    let told = tell("/explain")["told"].to_string();
    assert!(told.contains("sort them") && told.contains("waits for you: 1 question"), "{told}");
    tell("/goal sort them by year");
    assert_eq!(home.world.kernel().task(task).unwrap().goal_text(), "sort them by year");
    // By a note of the task, and over the run API.
    home.must("task.note", json!({ "task": task.to_string(), "text": "/pause", "channel": "cli" }));
    home.world.drive(task);
    assert_eq!(home.world.kernel().task(task).unwrap().task.status, TaskStatus::Paused);
    let run = |text: &str| {
        runs::message(&home, &task.to_string(), json!({ "message": text, "mode": "steer" }), None).unwrap()
    };
    assert!(run("/resume").accepted);
    assert_ne!(home.world.kernel().task(task).unwrap().task.status, TaskStatus::Paused);
    assert!(run("/stop").accepted);
    home.world.drive(task);
    assert_eq!(home.world.kernel().task(task).unwrap().task.status, TaskStatus::Cancelled);
    assert_eq!(run("/pause").status, "conflict", "what cannot be done is said as a control says it");
    let again = tell("/retry")["task_id"].as_str().unwrap().to_owned();
    assert_ne!(again, task.to_string(), "an ended task is not reopened");
    let branched = tell("/branch try it by month");
    assert_ne!(branched["conversation_id"], conversation);
    let beside = home.must("task.show", json!({ "task": branched["task_id"] }));
    assert_eq!(
        (&beside["goal"], &beside["conversation_id"]),
        (&json!("try it by month"), &branched["conversation_id"])
    );
    let controls = lines(&home, &conversation);
    for text in [
        "/help",
        "/explain",
        "/goal sort them by year",
        "/pause",
        "/resume",
        "/stop",
        "/retry",
        "/branch try it by month",
    ] {
        assert!(controls.contains(&(text.to_owned(), json!("control"))), "{text}: {controls:?}");
    }
}

#[test]
fn an_undo_behind_a_slash_is_a_task_that_asks_and_is_made_once() {
    let home = Home::new(3_602);
    let task = home.world.script("write it", vec![write("a.md", "new"), done("ok")]);
    let asked = home.world.drive_to_approval(task);
    home.world.person.allow(home.world.kernel(), task, asked).unwrap();
    home.world.drive(task);
    let tell = || {
        home.must(
            "conversations.say",
            json!({ "text": "/undo", "task": task.to_string(), "channel": "app", "idempotency_key": "once" }),
        )
    };
    let made = tell()["task_id"].as_str().unwrap().to_owned();
    assert_ne!(made, task.to_string());
    let shown = home.must("task.show", json!({ "task": made }));
    assert_eq!(shown["waits_for"]["kind"], "approval", "it is asked about as every undo");
    let before = stats(&home);
    tell();
    assert_eq!(stats(&home), before, "the same message does it once");
}

#[test]
fn an_unknown_command_changes_nothing_and_names_those_that_there_are() {
    let home = Home::new(3_603);
    let task = home
        .world
        .script("sort them", vec![say("ask", json!({ "question": "which?" })), done("1"), done("2")]);
    home.world.drive(task);
    let before = stats(&home);
    for (name, params) in [
        ("conversations.say", json!({ "text": "/rety", "channel": "app" })),
        ("task.note", json!({ "task": task.to_string(), "text": "/rety", "channel": "cli" })),
        ("conversations.say", json!({ "text": "/branch", "channel": "app" })),
    ] {
        let refused = home.ask(name, params.clone()).unwrap_err();
        assert_eq!(refused.code, wire::Code::Usage, "{refused:?}");
        let words = format!("{} {}", refused.message, refused.hint);
        assert!(
            words.contains("/retry") && words.contains("//") || words.contains("needs what to do"),
            "{words}"
        );
    }
    let over_api =
        runs::message(&home, &task.to_string(), json!({ "message": "/rety", "mode": "steer" }), None);
    assert!(over_api.unwrap_err().message.contains("/retry"));
    assert_eq!(stats(&home), before, "nothing was recorded");
    let said = home.must("conversations.say", json!({ "text": "//stop is the word", "channel": "app" }));
    assert_eq!(said["resolution"], "append_note");
    let words = &home.world.kernel().task(task).unwrap();
    let heard = words.absorbed.iter().chain(&words.inputs).any(|input| input.text == "/stop is the word");
    assert!(heard, "a message may begin with a slash");
    // Nobody confirms who sends through a webhook: what it says is words, whatever they look like.
    home.must(
        "conversations.say",
        json!({ "text": "/stop", "task": task.to_string(), "channel": "webhook" }),
    );
    assert!(
        !home.must("task.list", json!({ "status": ["cancelled"] }))["rows"]
            .to_string()
            .contains(&task.to_string())
    );
}

#[test]
fn lines_of_no_named_conversation_are_those_of_the_first_however_many_came_later() {
    let home = Home::new(3_605);
    for at in 0..3 {
        home.must("conversations.open", json!({ "title": format!("later {at}") }));
    }
    let first =
        home.must("conversations.say", json!({ "text": "hurry", "channel": "app" }))["conversation_id"]
            .clone();
    let told = home.must("conversations.lines", json!({}));
    assert_eq!(told, home.must("conversations.lines", json!({ "conversation": first })));
    assert_eq!(told["rows"][0]["text"], "hurry");
}

#[conforms::conforms("HK-21-2")]
#[test]
fn steps_of_all_tasks_are_listed_by_how_they_stand_and_how_urgent_a_task_is_can_be_changed() {
    let home = Home::new(3_604);
    let blocked = home.world.script("ask me", vec![say("ask", json!({ "question": "which?" })), done("ok")]);
    home.world.drive(blocked);
    let ready = home.world.script("later", vec![done("ok")]);
    let ended = home.world.script("done", vec![done("ok")]);
    home.world.drive(ended);
    let steps = |status: &str| -> Vec<String> {
        let found = home.must("task.steps", json!({ "status": status }));
        found["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["task_id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(steps("blocked"), [blocked.to_string()]);
    assert_eq!(steps("ready"), [ready.to_string()]);
    assert_eq!(steps("succeeded"), [ended.to_string()]);
    assert!(steps("running").is_empty());
    let (halted, at) = testkit::stop();
    let waits = testkit::Model::new(vec![testkit::Say::Answer(done("ok"))]).aloud(move |_| halted.waits());
    let running = home.world.script("at work", vec![done("ok")]);
    home.world.reasoners.put("at work", waits);
    std::thread::scope(|scope| {
        let kernel = home.world.kernel();
        let at_work = scope.spawn(move || kernel.drive(running));
        at.is_reached();
        assert_eq!(steps("running"), [running.to_string()], "its model is asked, and has not answered");
        at.goes_on();
        at_work.join().unwrap().unwrap();
    });
    assert!(steps("running").is_empty());
    let row = home.must("task.steps", json!({ "task": blocked.to_string() }))["rows"][0].clone();
    assert_eq!(
        (&row["task_title"], &row["priority"], &row["status"]),
        (&json!("ask me"), &json!("normal"), &json!("blocked"))
    );
    home.must("task.set_priority", json!({ "task": blocked.to_string(), "priority": "high" }));
    assert_eq!(home.must("task.steps", json!({ "status": "blocked" }))["rows"][0]["priority"], "high");
    let before = stats(&home);
    home.must("task.set_priority", json!({ "task": blocked.to_string(), "priority": "high" }));
    assert_eq!(stats(&home), before, "the same again changes nothing");
    assert!(
        home.ask("task.set_priority", json!({ "task": blocked.to_string(), "priority": "urgent" })).is_err()
    );
    assert!(home.ask("task.set_priority", json!({ "task": ended.to_string(), "priority": "low" })).is_err());
}
