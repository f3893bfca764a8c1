//! A client of `hermit mcp` that only looks: what it handed over goes on when the host at work on it was killed, without a
//! call that changes anything.

use super::agents::Agent;
use super::attached::Served;
use super::stage::Stage;
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use testkit::{Chat, Large};

const PATIENCE: Duration = Duration::from_secs(60);

/// A model that answers `done` when it is let: who hears that it was asked, and who lets it answer.
fn held() -> (Chat, Receiver<()>, Sender<()>) {
    let (was_asked, asked) = channel();
    let (lets, answer) = channel::<()>();
    let chat = Chat::begin(Large::STRONG, move |_| {
        let _ = was_asked.send(());
        let _ = answer.recv_timeout(PATIENCE);
        json!({ "tool": "done", "arguments": { "summary": "done" } })
    });
    (chat, asked, lets)
}

/// Hands a goal over, and says so when its model was asked.
fn hands_over(stage: &Stage, agent: &mut Agent, chat: &Chat, asked: &Receiver<()>) -> String {
    stage.hermit(&["models", "use", &chat.address()]).ends(0);
    let begun = agent.call("hermit_begin", &json!({ "goal": "think about it" }));
    let task = begun["structuredContent"]["task_id"].as_str().unwrap_or_else(|| panic!("no task: {begun}"));
    asked.recv_timeout(PATIENCE).expect("its model is asked");
    task.to_owned()
}

/// Looks until the task is over, and does nothing else.
fn comes_to_its_end(agent: &mut Agent, task: &str) {
    let until = Instant::now() + PATIENCE;
    loop {
        let seen = agent.call("hermit_task", &json!({ "task": task }))["structuredContent"].clone();
        if seen["row"]["run_status"] == "completed" {
            return;
        }
        assert!(Instant::now() < until, "it stands: {}, interrupted {}", seen["row"], seen["interrupted"]);
    }
}

#[test]
fn a_client_that_only_looks_takes_the_place_of_a_host_that_was_killed() {
    let stage = Stage::new();
    let host = Served::by(&stage);
    let (chat, asked, lets) = held();
    let mut agent = Agent::start(&stage, &[]);
    let task = hands_over(&stage, &mut agent, &chat, &asked);
    // Killed, with the question at its model.
    drop(host);
    lets.send(()).and_then(|()| lets.send(())).expect("the model answers");
    comes_to_its_end(&mut agent, &task);
    asked.recv_timeout(PATIENCE).expect("it was asked again");
    agent.close();
    stage.is_sound();
}

#[test]
fn a_client_that_is_started_anew_goes_on_with_what_the_one_that_was_killed_had_begun() {
    let stage = Stage::new();
    let (chat, asked, lets) = held();
    let mut agent = Agent::start(&stage, &[]);
    let task = hands_over(&stage, &mut agent, &chat, &asked);
    agent.kill();
    lets.send(()).and_then(|()| lets.send(())).expect("the model answers");
    let mut agent = Agent::start(&stage, &[]);
    asked.recv_timeout(PATIENCE).expect("it was asked again, before anything was said");
    // The same goal is the same task.
    let again = agent.call("hermit_begin", &json!({ "goal": "think about it" }));
    assert_eq!(again["structuredContent"]["task_id"], Value::from(task.clone()), "{again}");
    comes_to_its_end(&mut agent, &task);
    agent.close();
    stage.is_sound();
}
