//! What models cost: kept by day and by model, held by a budget of a task and by a ceiling of a day, which stop before the
//! call. The server tells what each answer used; its prices are those that a person set.

use super::stage::Stage;
use serde_json::{Value, json};
use testkit::{Chat, Large};

/// A model that reads a file again and again, whose millionth token costs so many dollars.
fn dear(stage: &Stage, dollars: &str) -> Chat {
    std::fs::write(stage.work().join("a.txt"), "a").expect("a file");
    let read = json!({ "tool": "read", "arguments": { "path": "a.txt" } });
    let done = json!({ "tool": "done", "arguments": { "summary": "nothing is to be done" } });
    let chat = Chat::saying(Large::STRONG, vec![read, done]);
    let address = chat.address();
    stage.hermit(&["models", "set", &address, "--price-in", dollars, "--price-out", dollars]).ends(0);
    chat
}

fn run<'a>(work: &'a str, address: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--goal", "look", "--workspace", work, "--model", address], more].concat()
}

/// What a server told of its answers, in micro-units, at one price for all.
fn used(chat: &Chat, events: &[Value]) -> u64 {
    assert!(!chat.requests().is_empty());
    let settled = events.iter().filter(|event| event["event_type"] == "budget.settled");
    settled.map(|event| event["body"]["cost_micros"].as_u64().unwrap_or_default()).sum()
}

#[test]
fn what_a_model_cost_stands_by_day_and_by_model_and_a_ceiling_of_the_day_stops_before_the_next_call() {
    let stage = Stage::new();
    let chat = dear(&stage, "10");
    let (work, address) = (stage.work(), chat.address());
    let work = work.to_str().expect("UTF-8");
    let done = stage.hermit(&run(work, &address, &[])).ends(0).json();
    let task = done["row"]["task_id"].as_str().expect("a task").to_owned();
    let spent = used(&chat, &stage.events(&task));
    assert!(spent > 0, "the server told what it used, and its price is known");
    let costs = stage.hermit(&["models", "costs"]).ends(0).json();
    assert_eq!(costs["spent_micros"], spent, "{costs}");
    assert_eq!(costs["models"][0]["model"], "words");
    assert_eq!(costs["models"][0]["cost_micros"], spent);
    assert_eq!(costs["days"][0]["cost_micros"], spent);
    assert_eq!(costs["aside_micros"], 0, "nothing is under way");

    // What is left is not enough for another call: it is not made.
    let ceiling = format!("{}.{:06}", (spent + 1) / 1_000_000, (spent + 1) % 1_000_000);
    stage.hermit(&["models", "ceiling", &ceiling]).ends(0);
    let asked = chat.requests().len();
    let refused = stage.hermit(&run(work, &address, &[])).ends(2);
    assert_eq!(chat.requests().len(), asked, "the model is not asked: {}", refused.err);
    for words in ["models may cost", "is spent", "The day ends at", "hermit models ceiling"] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    let tasks = stage.hermit(&["task", "list"]).ends(0).json();
    let paused = tasks["rows"].as_array().expect("rows").iter().find(|row| row["status"] == "paused");
    let paused =
        paused.expect("it waits, and nothing is lost")["task_id"].as_str().expect("an id").to_owned();
    let shown = stage.hermit(&["task", "show", &paused]).ends(0).json();
    assert!(shown["row"]["because"].to_string().contains("may cost today"), "{shown}");

    stage.hermit(&["models", "ceiling", "none"]).ends(0);
    stage.hermit(&["task", "resume", &paused]).ends(0);
    assert!(chat.requests().len() > asked, "it goes on where it stood");
}

#[test]
fn a_budget_of_money_of_a_task_stops_before_the_call_at_the_price_that_a_person_set() {
    let stage = Stage::new();
    let chat = dear(&stage, "100");
    let (work, address) = (stage.work(), chat.address());
    let work = work.to_str().expect("UTF-8");
    let ended = stage.hermit(&run(work, &address, &["--cost", "0.05"])).ends(1).json();
    assert_eq!(ended["termination"], "budget_spent", "{ended}");
    assert!(chat.requests().is_empty(), "what it may cost at most would not fit, so it is not asked");
    let wrong = stage.hermit(&["models", "set", &address, "--price-in", "2,50"]).ends(2);
    assert!(wrong.err.contains("US dollars for a million tokens"), "{}", wrong.err);
    for wrong in ["-1", "10001", "1e3"] {
        let refused = stage.hermit(&["models", "ceiling", "--", wrong]).ends(2);
        assert!(refused.err.contains("no sum of money"), "{}", refused.err);
    }
    assert!(stage.hermit(&["models", "costs", "--days", "0"]).ends(2).err.contains("1 to 366 days"));
}
