//! Tools of many servers: a model is offered those that fit, finds more by a search, and calls what it found.

use crate::story::{completed, count, events, packs, state};
use crate::told::{Wire, give, settings};
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Waiting};
use model::artifact::{ArtifactKind, TrustTier};
use model::body::Body;
use model::ingress::Channel;
use model::limits::{FOUND_TOOLS_MAX, OFFERED_BYTES_MAX, OFFERED_TOOLS_MAX};
use model::tool_server::ToolTerms;
use model::{Digest, ResourceId, TaskId, action::ActionClass};
use reasoning::{Prices, Settings, ToolMode};
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

pub fn terms(class: ActionClass, hosts: &[&str]) -> ToolTerms {
    let hosts = hosts.iter().map(|at| (*at).to_owned()).collect();
    ToolTerms { hosts, ..ToolTerms::of(class) }
}

/// A person says what a tool of the first server may do.
pub fn say_of(world: &World, tool: &str, terms: ToolTerms, key: &str) {
    let by = (Channel::Cli, key.to_owned());
    let asked =
        world.kernel().propose_terms(("s00", tool), terms, false, world.folder.path(), by).unwrap().task_id;
    let approval = world.drive_to_approval(asked);
    world.person.allow(world.kernel(), asked, approval).unwrap();
    assert_eq!(world.drive(asked), completed());
    world.clock.advance(1_000);
}

#[test]
fn a_stricter_word_about_a_tool_counts_for_who_is_at_work_and_a_looser_one_does_not() {
    let (reads, acts) = (ActionClass::NetworkRead, ActionClass::ExternalEffect);
    for (first, then, counts) in [(reads, acts, acts), (reads, reads, reads), (acts, reads, acts)] {
        let world = world(4_110, 1);
        say_of(&world, "entry_00", terms(first, &[]), "first");
        let call = || ("s00__entry_00", json!({}));
        let write = ("write", json!({ "path": "b.txt", "content": "b" }));
        let wire = Wire::new(vec![write, call(), ("done", json!({ "summary": "looked up" }))]);
        let task = give(&world, &wire, "Look up entry 0 of ledger number 0", large());
        let approval = world.drive_to_approval(task);
        world.clock.advance(1_000);
        say_of(&world, "entry_00", terms(then, &[]), "then");
        world.person.allow(world.kernel(), task, approval).unwrap();
        world.drive(task);
        let classes = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
            Body::ActionRequested(b) => Some(b.action_class),
            _ => None,
        });
        assert_eq!(classes.collect::<Vec<_>>(), [ActionClass::WriteLocal, counts], "{first}, then {then}");
    }
}

#[test]
fn hosts_in_the_arguments_of_a_call_are_among_what_it_touches_and_on_its_card() {
    let world = world(4_111, 1);
    say_of(&world, "entry_00", terms(ActionClass::ExternalEffect, &["/to"]), "hosts");
    let call = |to: &str| ("s00__entry_00", json!({ "to": to }));
    let wire = Wire::new(vec![
        call("not a host"),
        call("https://Shop.Example/order?n=1"),
        ("done", json!({ "summary": "ordered" })),
    ]);
    let task = give(&world, &wire, "Look up entry 0 of ledger number 0", large());
    let approval = world.drive_to_approval(task);
    assert!(wire.sent()[1].contains("which is no host and no address of one"), "{}", wire.sent()[1]);
    let now = state(&world, task);
    let packet: acts::ApprovalPacket =
        crate::story::object(world.kernel(), &now, now.approvals[&approval].approval.approval_packet_ref);
    let touched = &packet.action_request.target_resources;
    assert!(touched.contains(&ResourceId::Host("shop.example".to_owned(), 443)), "{touched:?}");
    let lines = packet.action_request.action.as_tool().lines(&packet.action_request);
    assert!(lines.iter().any(|line| line.text.contains("shop.example:443")), "{lines:?}");
}

#[test]
fn a_budget_of_money_is_held_against_the_whole_request_and_its_dearest_price() {
    let run = |cost_micros_max: Option<u64>| {
        let world = world(4_112, 2);
        let prices =
            Prices { input: 1_000_000, output: 2_000_000, cached: None, cache_written: Some(3_000_000) };
        let wire = Wire::new(vec![("done", json!({ "summary": "nothing" }))]);
        let address: reasoning::Address = "openai:http://127.0.0.1:1/v1#m".parse().unwrap();
        let settings = Settings { prices, ..large() };
        let model = reasoning::ModelServer::new(&address, settings, Arc::clone(&wire) as _).unwrap();
        world.reasoners.put("dear", Arc::new(model));
        let mut submission = world.submission("dear", Reasoning::Scripted { name: "dear".to_owned() });
        if let Some(max) = cost_micros_max {
            submission.budget.cost_micros_max = max;
        }
        let task = world.kernel().submit(&submission).unwrap().task_id;
        let ended = world.drive(task);
        let reserved = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
            Body::BudgetReserved(b) => Some((b.tokens, b.cost_micros)),
            _ => None,
        });
        (ended, reserved, wire.sent())
    };
    let (ended, reserved, sent) = run(None);
    assert_eq!(ended, completed());
    let (tokens, cost) = reserved.expect("so much is set aside");
    let read = u64::from(knowledge::count_tokens(&sent[0]));
    assert!(tokens >= read + 8_000, "{tokens} for {read}");
    assert!(cost >= read * 3 + 8_000 * 2, "{cost} for {read}");
    let (_, _, sent) = run(Some(cost));
    assert_eq!(sent.len(), 1, "what is enough is enough");
    let (ended, _, sent) = run(Some(cost - 1));
    assert!(sent.is_empty(), "the model is not asked: {ended:?}");
}

#[test]
fn an_answer_stands_in_the_next_context_as_far_as_a_person_said_that_it_is_trusted() {
    let expected = [
        (Some(true), TrustTier::Observed),
        (Some(false), TrustTier::Untrusted),
        (None, TrustTier::Untrusted),
    ];
    for (said, tier) in expected {
        let world = world(4_113, 1);
        if let Some(trusted) = said {
            let terms = ToolTerms { trusted, ..terms(ActionClass::NetworkRead, &[]) };
            say_of(&world, "entry_00", terms, "trusted");
        }
        let wire = Wire::new(vec![("s00__entry_00", json!({})), ("done", json!({ "summary": "looked up" }))]);
        let task = give(&world, &wire, "Look up entry 0 of ledger number 0", large());
        assert_eq!(world.drive_allowing(task).0, completed());
        let all = packs(world.kernel(), task);
        assert!(!knowledge::pack::holds_untrusted(&all[0]), "nothing of it was there before: {:?}", all[0]);
        let last = all.last().unwrap();
        let answers: Vec<_> =
            last.items.iter().filter(|item| item.text.contains("entry_00 was called")).collect();
        assert!(!answers.is_empty(), "it is told: {last:?}");
        for item in answers {
            assert_eq!(item.trust_tier, tier, "{said:?}: {item:?}");
        }
        let taints = knowledge::pack::holds_untrusted(last);
        assert_eq!(taints, tier == TrustTier::Untrusted, "{said:?}: {last:?}");
        // What is kept of it says the same.
        let now = state(&world, task);
        let holds = |digest: &Digest| {
            let bytes = world.kernel().artifacts().read(digest).unwrap();
            String::from_utf8_lossy(&bytes).contains("entry_00 was called")
        };
        let results = now.artifacts.values().filter(|one| one.kind == ArtifactKind::ActionResult);
        let kept = results.filter(|one| holds(&one.content_hash));
        let tiers: Vec<TrustTier> = kept.map(|one| one.trust_tier).collect();
        assert_eq!(tiers, [tier], "{said:?}");
    }
}

#[test]
fn of_two_words_about_a_tool_its_answer_is_trusted_only_where_both_trust_it() {
    for (first, then, tier) in [
        (true, false, TrustTier::Untrusted),
        (false, true, TrustTier::Untrusted),
        (true, true, TrustTier::Observed),
    ] {
        let world = world(4_114, 1);
        let said = |trusted: bool| ToolTerms { trusted, ..terms(ActionClass::NetworkRead, &[]) };
        say_of(&world, "entry_00", said(first), "first");
        let write = ("write", json!({ "path": "b.txt", "content": "b" }));
        let done = ("done", json!({ "summary": "looked up" }));
        let wire = Wire::new(vec![write, ("s00__entry_00", json!({})), done]);
        let task = give(&world, &wire, "Look up entry 0 of ledger number 0", large());
        let approval = world.drive_to_approval(task);
        // A looser word does not count for who is at work; a stricter one does.
        world.clock.advance(1_000);
        say_of(&world, "entry_00", said(then), "then");
        world.person.allow(world.kernel(), task, approval).unwrap();
        assert_eq!(world.drive_allowing(task).0, completed());
        let all = packs(world.kernel(), task);
        let last = all.last().unwrap();
        let answer = last.items.iter().find(|item| item.text.contains("entry_00 was called"));
        let answer = answer.unwrap_or_else(|| panic!("it is told: {last:?}"));
        assert_eq!(answer.trust_tier, tier, "{first}, then {then}");
    }
}
