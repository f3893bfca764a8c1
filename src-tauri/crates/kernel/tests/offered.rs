//! Tools of many servers: a model is offered those that fit, finds more by a search, and calls what it found.

use crate::story::{completed, count, events, state};
use crate::told::{Wire, give, settings};
use kernel::{DriveOutcome, Waiting};
use model::body::Body;
use model::limits::{FOUND_TOOLS_MAX, OFFERED_BYTES_MAX, OFFERED_TOOLS_MAX};
use model::{TaskId, action::ActionClass};
use reasoning::{Settings, ToolMode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::{ManyTools, World};

const SERVERS: usize = 20;

/// A world where a person registered these servers.
fn world(seed: u64, servers: usize) -> World {
    let mut world = World::new(seed);
    world.servers = Arc::new(ManyTools);
    world.reopen();
    world.register_many(servers);
    world
}

fn large() -> Settings {
    settings(ToolMode::Tools, &[])
}

/// Names of the tools of servers in a request, and the bytes of all that is said of them.
fn offered(request: &str) -> (Vec<String>, usize) {
    let request: Value = serde_json::from_str(request).unwrap();
    let tools = request["tools"].as_array().unwrap().iter().filter(|tool| name(tool).contains("__"));
    let bytes = tools.clone().map(|tool| tool["function"].to_string().len()).sum();
    (tools.map(|tool| name(tool).to_owned()).collect(), bytes)
}

fn name(tool: &Value) -> &str {
    tool["function"]["name"].as_str().unwrap()
}

fn has(request: &str, tool: &str) -> bool {
    let request: Value = serde_json::from_str(request).unwrap();
    request["tools"].as_array().unwrap().iter().any(|one| name(one) == tool)
}

fn found(world: &World, task: TaskId) -> Vec<Vec<String>> {
    let all = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ToolsFound(b) => Some(b.tools),
        _ => None,
    });
    all.collect()
}

#[test]
fn of_five_hundred_tools_those_that_fit_are_offered_and_a_model_finds_and_calls_another() {
    let mut world = world(4_101, SERVERS);
    let wanted = "s17__irrigate";
    let wire = Wire::new(vec![
        ("find_tools", json!({ "query": "water the plants" })),
        (wanted, json!({ "minutes": 3 })),
        ("done", json!({ "summary": "watered" })),
    ]);
    let begun = Instant::now();
    let task = give(&world, &wire, "Look up entry 4 of ledger number 12", large());
    let waits = world.drive(task);
    let DriveOutcome::Waiting(Waiting::Approval(approval)) = waits else { panic!("{waits:?}") };
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let sent = wire.sent();
    let (first, bytes) = offered(&sent[0]);
    assert!(first.len() <= OFFERED_TOOLS_MAX && bytes < OFFERED_BYTES_MAX * 2, "{} {bytes}", first.len());
    assert!(first.contains(&"s12__entry_04".to_owned()), "what fits the goal best is there: {first:?}");
    assert!(!first.contains(&wanted.to_owned()), "what fits nothing is not");
    assert!(has(&sent[0], "find_tools"), "and more can be asked for");
    let (second, _) = offered(&sent[1]);
    assert!(second.contains(&wanted.to_owned()), "what was found is offered: {second:?}");
    assert!(sent[1].contains("found for `water the plants`"), "and the turn says so");
    let all = found(&world, task);
    assert!(all.len() == 1 && all[0][0] == wanted && all[0].len() <= FOUND_TOOLS_MAX, "{all:?}");

    // An attempt that is built anew from its events offers the same.
    world.reopen();
    assert_eq!(state(&world, task).attempt().unwrap().found, all[0]);
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    let sent = wire.sent();
    assert_eq!(offered(&sent[2]).0, second, "in the next request as well");
    assert!(sent[2].contains("irrigate was called"), "{}", sent[2]);
    let receipts = state(&world, task).receipts;
    let receipt = receipts.iter().find(|one| one.action_class == ActionClass::ExternalEffect);
    assert!(receipt.is_some(), "it has its receipt: {receipts:?}");
}

#[test]
fn where_all_fit_all_are_offered_and_nothing_is_searched_for() {
    let world = world(4_102, 2);
    let wire = Wire::new(vec![("done", json!({ "summary": "nothing" }))]);
    let task = give(&world, &wire, "do nothing", large());
    assert_eq!(world.drive(task), completed());
    let (names, _) = offered(&wire.sent()[0]);
    assert_eq!(names.len(), 2 * ManyTools::EACH);
    assert!(!has(&wire.sent()[0], "find_tools"));
}

#[test]
fn a_small_context_is_offered_few_and_leaves_room_for_what_it_is_about() {
    let world = world(4_103, 4);
    let small = Settings { context_tokens: 16_000, answer_tokens: 2_000, ..large() };
    let wire = Wire::new(vec![("done", json!({ "summary": "nothing" }))]);
    let task = give(&world, &wire, "Water the plants", small.clone());
    assert_eq!(world.drive(task), completed());
    let (names, bytes) = offered(&wire.sent()[0]);
    assert!((1..40).contains(&names.len()) && bytes < 16_000, "{} {bytes}", names.len());
    assert!(has(&wire.sent()[0], "find_tools"));
    // One that is offered a few of Hermit's own tools gets none of servers, and no search for them.
    let few = Settings { small: true, ..small };
    let wire = Wire::new(vec![("done", json!({ "summary": "nothing" }))]);
    let task = give(&world, &wire, "Water the plants again", few);
    assert_eq!(world.drive(task), completed());
    assert!(offered(&wire.sent()[0]).0.is_empty() && !has(&wire.sent()[0], "find_tools"));
}

#[test]
fn a_search_that_finds_nothing_says_so_and_one_that_is_repeated_is_no_progress() {
    let world = world(4_104, 4);
    let search = |query: &str| ("find_tools", json!({ "query": query }));
    let nothing = (0..2).map(|_| search("zebra"));
    let same = (0..6).map(|_| search("ledger"));
    let wire = Wire::new(nothing.chain(same).collect());
    let task = give(&world, &wire, "search", large());
    world.drive(task);
    assert!(wire.sent()[1].contains("none of 100 tools of servers says anything of it"));
    assert!(wire.sent().len() < 8, "a loop of searches ends: {}", wire.sent().len());
    assert_eq!(count(world.kernel(), task, "attempt.terminated"), 1);
}
