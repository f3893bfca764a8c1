//! A chain of models: when one does not answer, the next one is asked, which is on record and said; nothing leaves this
//! machine by it unless a person said so.

use super::stage::Stage;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::{Answers, Chat, Large, Server};

fn model_answers() -> Vec<Value> {
    let read = json!({ "tool": "read", "arguments": { "path": "a.txt" } });
    vec![read, json!({ "tool": "done", "arguments": { "summary": "nothing is to be done" } })]
}

fn stage() -> Stage {
    let stage = Stage::new();
    std::fs::write(stage.work().join("a.txt"), "a").expect("a file");
    stage
}

/// Runs a goal with a chain; the words that follow `run`.
fn run<'a>(work: &'a str, chain: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let (first, others) = chain.split_first().expect("a model");
    let mut words = vec!["run", "--goal", "look", "--workspace", work, "--model", first];
    for other in others {
        words.extend(["--fallback", other]);
    }
    words.extend(more);
    words
}

/// A server that answers all but the first `well` requests for an answer with an error.
fn failing(status: u16, more: Vec<(&'static str, String)>, well: usize) -> Server {
    let asked = AtomicUsize::new(0);
    Server::begin(move |heard| {
        if heard.line != "POST /v1/chat/completions" {
            return Answers::With(404, Vec::new(), String::new());
        }
        if asked.fetch_add(1, Ordering::SeqCst) >= well {
            return Answers::With(status, more.clone(), "no".to_owned());
        }
        let arguments = json!({ "path": "a.txt" }).to_string();
        let call = json!({ "index": 0, "id": "c", "type": "function", "function": { "name": "read", "arguments": arguments } });
        let words = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] });
        let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }], "usage": { "prompt_tokens": 9, "completion_tokens": 9 } });
        let body = format!("data: {words}\n\ndata: {end}\n\ndata: [DONE]\n\n");
        Answers::With(200, vec![("Content-Type", "text/event-stream".to_owned())], body)
    })
}

fn address(server: &Server, name: &str) -> String {
    format!("openai:{}#{name}", server.url("/v1"))
}

/// Who was asked in each turn, by name, as the log has it.
fn asked(stage: &Stage, task: &str) -> Vec<String> {
    let events = stage.events(task);
    let asked = events.iter().filter(|event| event["event_type"] == "attempt.model_requested");
    asked.map(|event| event["body"]["model"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn a_server_that_is_away_one_that_is_broken_and_one_that_is_busy_for_long_are_each_followed_by_the_next() {
    let refused = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("openai:http://{}/v1#away", listener.local_addr().expect("an address"))
    };
    let broken = failing(503, Vec::new(), 0);
    let busy = failing(429, vec![("Retry-After", "3600".to_owned())], 0);
    for (first, name) in
        [(refused, "away"), (address(&broken, "broken"), "broken"), (address(&busy, "busy"), "busy")]
    {
        let (stage, good) = (stage(), Chat::saying(Large::STRONG, model_answers()));
        let (work, second) = (stage.work(), good.address());
        let done = stage.hermit(&run(work.to_str().expect("UTF-8"), &[&first, &second], &[])).ends(0).json();
        let task = done["row"]["task_id"].as_str().expect("a task").to_owned();
        assert_eq!(
            asked(&stage, &task),
            [name, "words", "words"],
            "the next turn begins with whoever answered"
        );
        let events = stage.events(&task);
        let fell: Vec<&Value> =
            events.iter().filter(|event| event["event_type"] == "attempt.model_fell_back").collect();
        assert_eq!(fell.len(), 1, "{name}");
        let body = &fell[0]["body"];
        assert_eq!(
            (&body["from_model"], &body["to_model"], &body["remote"]),
            (&json!(name), &json!("words"), &json!(false))
        );
        stage.is_sound();
    }
}

#[test]
fn a_server_that_dies_in_the_middle_is_followed_and_what_was_seen_stays_and_its_successors_price_counts() {
    let (stage, dying) = (stage(), failing(500, Vec::new(), 1));
    let done = json!({ "tool": "done", "arguments": { "summary": "nothing is to be done" } });
    let good = Chat::saying(Large::STRONG, vec![done]);
    let (work, first, second) = (stage.work(), address(&dying, "dying"), good.address());
    stage.hermit(&["models", "set", &second, "--price-in", "10", "--price-out", "10"]).ends(0);
    let ended = stage.hermit(&run(work.to_str().expect("UTF-8"), &[&first, &second], &[])).ends(0).json();
    let task = ended["row"]["task_id"].as_str().expect("a task").to_owned();
    assert_eq!(asked(&stage, &task), ["dying", "dying", "words"]);
    let told = good.requests().iter().map(Value::to_string).collect::<String>();
    assert!(told.contains("a.txt"), "what the first has read is told to the second");
    let costs = stage.hermit(&["models", "costs"]).ends(0).json();
    assert_eq!(costs["models"][0]["model"], "words", "{costs}");
    assert!(costs["models"][0]["cost_micros"].as_u64() > Some(0), "{costs}");
    assert_eq!(costs["models"][1]["model"], "dying");
    assert_eq!(costs["models"][1]["cost_micros"], 0);
    stage.is_sound();
}

#[test]
fn behind_the_last_of_a_chain_the_task_pauses_and_begins_with_the_first_when_it_goes_on() {
    let (stage, one, two) = (stage(), failing(503, Vec::new(), 0), failing(503, Vec::new(), 0));
    let (work, first, second) = (stage.work(), address(&one, "one"), address(&two, "two"));
    let chain = [first.as_str(), second.as_str()];
    stage.hermit(&run(work.to_str().expect("UTF-8"), &chain, &[]));
    let tasks = stage.hermit(&["task", "list"]).ends(0).json();
    assert_eq!(tasks["rows"][0]["status"], "paused", "{tasks}");
    let task = tasks["rows"][0]["task_id"].as_str().expect("a task").to_owned();
    assert_eq!(asked(&stage, &task), ["one", "two"]);
    stage.hermit(&["task", "resume", &task]);
    assert_eq!(asked(&stage, &task), ["one", "two", "one", "two"]);
}

#[test]
fn a_chain_that_may_not_be_is_refused_in_words_and_no_task_is_made() {
    let stage = stage();
    let work = stage.work();
    let work = work.to_str().expect("UTF-8");
    let (here, away) = ("openai:http://127.0.0.1:1/v1#a", "openai:https://models.example.com/v1#b");
    let many: Vec<String> = (0..6).map(|n| format!("openai:http://127.0.0.1:1/v1#m{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let cases: [(&[&str], &str); 4] = [
        (&[here, away], "on another machine and would follow a model on this one"),
        (&[here, here], "named twice"),
        (&[here, "playbook:tidy"], "only a model follows a model"),
        (&many, "4 others to follow it"),
    ];
    for (chain, words) in cases {
        stage.hermit(&run(work, chain, &[])).ends(2).complains(&[words]);
    }
    let tasks = stage.hermit(&["task", "list"]).ends(0).json();
    assert_eq!(tasks["rows"], json!([]));
    // A person's word makes it one; it fails for want of the first server, and then of the second.
    stage.hermit(&run(work, &[here, away], &["--fallback-remote"]));
    let tasks = stage.hermit(&["task", "list"]).ends(0).json();
    let task = tasks["rows"][0]["task_id"].as_str().expect("a task").to_owned();
    assert_eq!(asked(&stage, &task), ["a", "b"]);
    let events = stage.events(&task);
    let fell =
        events.iter().find(|event| event["event_type"] == "attempt.model_fell_back").expect("it fell back");
    assert_eq!(fell["body"]["remote"], true);
    assert!(
        events.iter().any(|event| event["event_type"] == "decision.recorded"),
        "that context leaves is decided"
    );
}
