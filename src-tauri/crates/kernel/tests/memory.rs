//! What is known: working state for a task, beliefs with evidence, memory that outlives both.

use crate::story::{completed, count, events, object, packs, shows, state};
use kernel::Error;
use model::Body;
use model::artifact::ArtifactKind;
use model::context::{ContextItem, Section};
use model::knowledge::{MemoryStatus, WorkingState};
use model::limits;
use model::proposal::Answer;
use model::receipt::{ReceiptClass, ResultCode};
use projections::query::Ask;
use projections::rows::MemoryRow;
use serde_json::json;
use testkit::{World, done, look, say};

fn remember(claim: &str, evidence: &[&str]) -> Answer {
    say(
        "remember",
        json!({ "claim": claim, "scope": "*", "reason": "it will be needed", "evidence": evidence }),
    )
}

fn believe(claim: &str, confidence: u16) -> Answer {
    say("believe", json!({ "claim": claim, "confidence": confidence, "evidence": ["a.txt"] }))
}

fn memories(world: &World) -> Vec<MemoryRow> {
    world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows
}

/// Why the last turn came to nothing, as the model was told.
#[conforms::conforms("HK-6.3-1", part = "HK-9-5", "HK-15.5-3", "HK-27-10", "HK-26-1")]
#[test]
fn only_what_rests_on_evidence_is_remembered_and_that_has_a_receipt() {
    let world = World::new(701);
    world.file("a.txt", "the gate is green");
    let task = world.script(
        "learn",
        vec![
            remember("the gate is red", &[]),
            remember("the gate is blue", &["never-read.txt"]),
            look("a.txt"),
            remember("the gate is green", &["a.txt"]),
            done("learnt"),
        ],
    );
    assert_eq!(world.drive_allowing(task), (completed(), 1), "nobody is asked about what nothing supports");
    let [memory] = &memories(&world)[..] else { panic!("one record: {:?}", memories(&world)) };
    assert_eq!(memory.claim.shown().unwrap(), "the gate is green");
    let now = state(&world, task);
    let [evidence] = &memory.evidence[..] else { panic!("what it rests on is named") };
    assert_eq!(now.digest_of(evidence.artifact_id), Some(evidence.excerpt_hash), "an artifact, not words");
    let bytes = world.kernel().artifacts().read(&evidence.excerpt_hash).unwrap();
    assert!(String::from_utf8_lossy(&bytes).contains("the gate is green"));
    // What a file says proves nothing by itself: it is kept as that, and it is the person's word that the record stands on.
    assert_eq!(evidence.trust_tier, model::artifact::TrustTier::Untrusted);
    assert!(!memory.reason.shown().unwrap().is_empty());
    assert_eq!(memory.trust_tier, model::artifact::TrustTier::UserAsserted, "a person stood behind it");
    assert_eq!(memory.task_id, task);
    let receipts: Vec<_> = now
        .receipts
        .iter()
        .filter(|r| r.receipt_class == ReceiptClass::MemoryPromotion)
        .map(|r| r.result_code)
        .collect();
    assert_eq!(receipts, [ResultCode::Succeeded]);
    let said: Vec<String> = events(world.kernel(), task)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::IterationCompleted(b) => b.record.error.and_then(|e| e.shown().cloned()),
            _ => None,
        })
        .collect();
    assert_eq!(said.len(), 2, "both refusals were told: {said:?}");
    assert!(said.iter().all(|said| said.contains("among the uncertainties of this task")), "{said:?}");
    let (working, _) = now.working_state.clone().expect("what nothing supports is kept while the task lasts");
    let working: WorkingState = object(world.kernel(), &now, working.artifact_id);
    assert_eq!(working.uncertainties, ["unsupported: the gate is red", "unsupported: the gate is blue"]);
    let next = world.script("what colour is the gate", vec![done("ok")]);
    assert_eq!(world.drive(next), completed());
    let pack = packs(world.kernel(), next).remove(0);
    assert!(
        shows(&pack, "the gate is green")
            && !shows(&pack, "the gate is red")
            && !shows(&pack, "the gate is blue")
    );
    // What is told of it says how far it may be relied on.
    let is_it =
        |item: &&ContextItem| item.section == Section::Memory && item.text.contains("the gate is green");
    let told = pack.items.iter().find(is_it).map(|item| item.trust_tier);
    assert_eq!(told, Some(model::artifact::TrustTier::UserAsserted));
}

#[conforms::conforms("HK-6.1-3", "HK-8.7-5", part = "HK-13.6-8")]
#[test]
fn what_was_known_is_corrected_and_never_written_over() {
    let world = World::new(702);
    world.file("a.txt", "text");
    let revised = json!({ "claim": "more was read", "confidence": 450, "evidence": ["a.txt"], "revises": "a is short" });
    let task = world.script(
        "learn",
        vec![
            look("a.txt"),
            believe("a is short", 400),
            // Said again it is no other belief, and writes nothing over.
            believe("a is short", 300),
            say("believe", revised),
            remember("a is text", &["a.txt"]),
            done("learnt"),
        ],
    );
    assert_eq!(world.drive_allowing(task).0, completed());
    let asserted: Vec<_> = events(world.kernel(), task)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::BeliefAsserted(b) => Some((b.belief.belief_id, b.belief.revision, b.belief.confidence)),
            Body::BeliefRevised(b) => Some((b.belief.belief_id, b.belief.revision, b.belief.confidence)),
            _ => None,
        })
        .collect();
    let held = state(&world, task).beliefs;
    let [belief] = &held.values().collect::<Vec<_>>()[..] else { panic!("one belief: {held:?}") };
    assert_eq!((belief.revision, belief.confidence), (2, 450));
    let of = belief.belief_id;
    assert_eq!(asserted, [(of, 1, 400), (of, 2, 450)], "each is still as it was said");
    let [row] = &world.kernel().query().unwrap().beliefs(Some(task), None, Ask::ALL).unwrap().rows[..] else {
        panic!("one belief")
    };
    assert_eq!((row.belief_id, row.revision, row.confidence), (of, 2, 450), "the view has the latest");
    let first = memories(&world).remove(0);
    world.kernel().invalidate_memory(first.memory_id, "a has changed").unwrap();
    let again = world.kernel().invalidate_memory(first.memory_id, "twice");
    assert!(matches!(again, Err(Error::Conflict(_))));
    let ended = memories(&world).remove(0);
    assert_eq!((ended.memory_id, ended.status), (first.memory_id, MemoryStatus::Invalidated));
    assert_eq!(ended.claim, first.claim, "what was believed can still be read");
    let next =
        world.script("learn again", vec![look("a.txt"), remember("a is text", &["a.txt"]), done("learnt")]);
    assert_eq!(world.drive_allowing(next).0, completed());
    let both = memories(&world);
    assert_eq!(both.len(), 2, "a new record beside the old one");
    assert_eq!(both.iter().filter(|m| m.status == MemoryStatus::Active).count(), 1);
}

/// Something that can be got at, by its number.
fn handle(n: usize) -> String {
    format!("handle {n}")
}

/// What is expected in the end, from this number on: long texts, more than a working state has room for.
fn outputs(from: usize) -> Vec<String> {
    let long = "z".repeat(limits::WORKING_STATE_ITEM_BYTES_MAX - 16);
    (from..17).map(|n| format!("{n} {long}")).collect()
}

/// Notes that are taken, that do not fit, and that are made shorter.
fn notes() -> Vec<Answer> {
    let long = "x".repeat(limits::WORKING_STATE_ITEM_BYTES_MAX + 1);
    let mut answers = vec![
        say("note", json!({ "plan": "first look" })),
        say("note", json!({ "mood": "fine" })),
        say("note", json!({ "objectives": [long] })),
    ];
    for n in 0..12 {
        let item = |m: usize| format!("{n} {m} {}", "y".repeat(limits::WORKING_STATE_ITEM_BYTES_MAX - 16));
        answers.push(say("note", json!({ "uncertainties": (0..2).map(item).collect::<Vec<_>>() })));
    }
    let many: Vec<String> = (0..=limits::WORKING_STATE_ITEMS_MAX).map(|n| n.to_string()).collect();
    answers.push(say("note", json!({ "constraints": many })));
    // What may be dropped is made shorter: what is said twice stands once, and of too much the oldest goes.
    let handles = (0..limits::WORKING_STATE_ITEMS_MAX + 6).chain([20]).map(handle);
    answers.push(say("note", json!({ "resource_handles": handles.collect::<Vec<_>>() })));
    answers.push(say("note", json!({ "expected_outputs": outputs(0) })));
    answers.push(done("ok"));
    answers
}

#[conforms::conforms("HK-6.3-2", "HK-15.2-1", "HK-15.2-3", part = "HK-3-5", part = "HK-13.6-7")]
#[test]
fn working_state_is_typed_bounded_recorded_and_can_be_made_shorter() {
    let world = World::new(703);
    let task = world.script("note", notes());
    world.drive(task);
    let updates: Vec<_> = events(world.kernel(), task)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::WorkingStateUpdated(b) => Some((b.revision, b.byte_size, b.state)),
            _ => None,
        })
        .collect();
    assert_eq!(updates.len(), 15, "what was noted is on record");
    for (at, (revision, byte_size, _)) in updates.iter().enumerate() {
        assert_eq!(*revision as usize, at + 1, "every change is a revision");
        assert!(*byte_size <= limits::WORKING_STATE_BYTES_MAX as u64, "{byte_size} bytes");
    }
    assert_eq!(
        count(world.kernel(), task, "attempt.output_rejected"),
        1,
        "a field there is no place for is refused"
    );
    let now = state(&world, task);
    let after = |n: usize| -> WorkingState { object(world.kernel(), &now, updates[n - 1].2.artifact_id) };
    let kept = after(13);
    assert_eq!(kept.plan.as_deref(), Some("first look"), "what was not said again stays");
    assert!(kept.objectives.is_empty(), "what was too long was refused");
    assert!(kept.constraints.is_empty(), "what was too many was refused");
    let said: Vec<&str> = kept.uncertainties.iter().filter_map(|item| item.get(..5)).collect();
    assert_eq!(said, ["11 0 ", "11 1 "], "what is said anew takes the place of what was said before");
    assert!(
        updates[12].1 < 3 * limits::WORKING_STATE_ITEM_BYTES_MAX as u64,
        "twelve notes are as long as one"
    );
    let [row] = &world.kernel().query().unwrap().working_states(task, Ask::ALL).unwrap().rows[..] else {
        panic!("one holder")
    };
    assert_eq!(
        (row.revision, row.byte_size, row.artifact_id),
        (15, updates[14].1, updates[14].2.artifact_id)
    );
    let newest = (6..limits::WORKING_STATE_ITEMS_MAX + 6).filter(|n| *n != 20).chain([20]).map(handle);
    assert_eq!(after(14).resource_handles, newest.collect::<Vec<_>>());
    assert_eq!(after(14).uncertainties, kept.uncertainties, "and nothing else");
    let last = after(15);
    assert!(last.resource_handles.is_empty(), "handles go first");
    assert_eq!(last.plan, kept.plan);
    let from = 17 - last.expected_outputs.len();
    assert!(from > 0 && last.expected_outputs == outputs(from), "and then the oldest of the rest");
    let other = world.script("other", vec![done("ok")]);
    world.drive(other);
    assert!(state(&world, other).working_state.is_none(), "it belongs to its task");
}

#[conforms::conforms(
    "HK-8.7-1",
    "HK-15.4-2",
    "HK-25.1-4",
    "HK-25.1-5",
    "HK-27-5",
    "HK-3-5",
    "HK-10.5-4",
    part = "HK-15.6-2"
)]
#[test]
fn a_pack_is_compiled_from_what_is_known_and_each_kind_keeps_its_place() {
    let world = World::new(704);
    world.file("a.txt", "seen-in-a-file");
    world.file("b.txt", "nobody has read it");
    let many: Vec<String> = (0..=limits::WORKING_STATE_ITEMS_MAX).map(|n| n.to_string()).collect();
    let revised = json!({ "claim": "less sure", "confidence": 650, "evidence": ["b.txt"], "revises": "believed-claim" });
    let first = world.script(
        "first a claim",
        vec![
            look("a.txt"),
            believe("hearsay", 700),
            say("note", json!({ "plan": "noted-plan" })),
            say("note", json!({ "constraints": many })),
            say("hash", json!({ "path": "b.txt" })),
            say("believe", json!({ "claim": "believed-claim", "confidence": 700, "evidence": ["b.txt"] })),
            say("believe", revised),
            remember("remembered-claim", &["b.txt"]),
            done("ok"),
        ],
    );
    assert_eq!(world.drive_allowing(first).0, completed());
    let last = packs(world.kernel(), first).pop().unwrap();
    let sections = [
        (Section::TaskContract, "first a claim"),
        (Section::WorkingState, "noted-plan"),
        (Section::Beliefs, "believed-claim"),
        (Section::Memory, "remembered-claim"),
        (Section::Artifacts, "seen-in-a-file"),
    ];
    for (section, text) in sections {
        let there = last.items.iter().any(|item| item.section == section && item.text.contains(text));
        assert!(there, "`{text}` is not in {section}: {:#?}", last.items);
    }
    assert!(!shows(&last, "hearsay"), "what rests on untrusted text alone steers nothing");
    assert!(last.omissions.iter().any(|o| o.section == Section::Beliefs), "and that it was left out is said");
    let now = state(&world, first);
    assert!(!last.inputs.is_empty());
    for input in &last.inputs {
        assert!(now.artifacts.contains_key(input), "what a pack is made of are artifacts");
    }
    let next = world.script("look after the remembered claim", vec![done("ok")]);
    assert_eq!(world.drive(next), completed());
    let pack = packs(world.kernel(), next).remove(0);
    assert!(shows(&pack, "remembered-claim"), "memory outlives its task");
    for gone in ["noted-plan", "believed-claim", "hearsay", "seen-in-a-file"] {
        assert!(!shows(&pack, gone), "`{gone}` belongs to another task");
    }
    let query = world.kernel().query().unwrap();
    let of = |task| {
        let states = query.working_states(task, Ask::ALL).unwrap().rows.len();
        (states > 0, query.beliefs(Some(task), None, Ask::ALL).unwrap().rows.len())
    };
    assert_eq!(of(first), (true, 2));
    assert_eq!(of(next), (false, 0));
    // What is noted has its bounds, what is believed is revised, and what is remembered stands as it was said.
    let [noted] = &query.working_states(first, Ask::ALL).unwrap().rows[..] else { panic!("one holder") };
    assert_eq!(noted.revision, 1, "what was too much was not noted");
    let revised: Vec<_> =
        now.beliefs.values().filter(|b| b.revision > 1).map(|b| (b.revision, b.confidence)).collect();
    assert_eq!(revised, [(2, 650)]);
    assert_eq!(query.memories(None, Ask::ALL).unwrap().rows.len(), 1);
}

#[conforms::conforms("HK-15.6-3", "HK-15.6-4", "HK-15.6-6", "HK-10.5-5")]
#[test]
fn a_pack_stays_small_says_what_it_left_out_and_each_item_leads_to_what_it_is_made_of() {
    let world = World::new(706);
    world.file("a.txt", "seen-in-a-file");
    world.file("b.txt", "nobody has read it");
    world.file("long.txt", &"a line of a long file, which is longer than any model reads\n".repeat(4_000));
    let task = world.script(
        "read a claim",
        vec![
            look("a.txt"),
            say("hash", json!({ "path": "b.txt" })),
            say("believe", json!({ "claim": "believed-claim", "confidence": 700, "evidence": ["b.txt"] })),
            remember("remembered-claim", &["b.txt"]),
            say("note", json!({ "plan": "noted-plan" })),
            look("long.txt"),
            done("ok"),
        ],
    );
    world.kernel().append_note(task, "said-meanwhile", model::ingress::Channel::App, "note").unwrap();
    assert_eq!(world.drive_allowing(task).0, completed());
    let (now, all) = (state(&world, task), packs(world.kernel(), task));
    let held = memories(&world);
    let leads = |item: &ContextItem| match item.section {
        Section::Artifacts | Section::WorkingState => {
            item.source.parse().is_ok_and(|id| now.artifacts.contains_key(&id))
        }
        Section::Beliefs => item.source.parse().is_ok_and(|id| now.beliefs.contains_key(&id)),
        Section::Memory => held.iter().any(|memory| memory.memory_id.to_string() == item.source),
        _ => !item.source.is_empty(),
    };
    for pack in &all {
        let tokens: u32 = pack.items.iter().map(|item| item.tokens).sum();
        assert!(tokens <= limits::CONTEXT_TOKENS_DEFAULT, "{tokens} tokens");
        let bytes: usize = pack.items.iter().map(|item| item.text.len()).sum();
        assert!(bytes <= 8 * limits::CONTEXT_TOKENS_DEFAULT as usize, "{bytes} bytes in {tokens} tokens");
        for item in &pack.items {
            assert!(leads(item), "`{}` of {} is nothing there is", item.source, item.section);
        }
    }
    // Each is kept, as an artifact of its kind.
    let kept = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ContextCompiled(b) => Some(b.pack.artifact_id),
        _ => None,
    });
    let kinds: Vec<ArtifactKind> = kept.map(|id| now.artifacts[&id].kind).collect();
    assert_eq!(kinds, vec![ArtifactKind::ContextPack; all.len()]);
    let last = all.last().unwrap();
    assert!(last.items.iter().any(|item| item.cut), "the long file is cut");
    for section in [Section::Artifacts, Section::Beliefs, Section::Memory, Section::WorkingState] {
        let here = all.iter().any(|pack| pack.items.iter().any(|item| item.section == section));
        assert!(here, "nothing of {section} was looked at");
    }
}

#[conforms::conforms("HK-6.3-3", "HK-17.3-2")]
#[test]
fn a_secret_in_a_file_does_not_reach_the_model() {
    let world = World::new(705);
    let secret = ["sk-ant-", "api03-abcdefghijklmnopqrstuv"].concat();
    world.file("notes.txt", &format!("a shopping list\nexport ANTHROPIC_API_KEY={secret}\nmilk"));
    let task = world.script("read", vec![look("notes.txt"), done("ok")]);
    assert_eq!(world.drive(task), completed());
    let last = packs(world.kernel(), task).pop().unwrap();
    assert!(shows(&last, "milk"), "the rest is read");
    assert!(!shows(&last, &secret));
    let requests = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ModelRequested(b) => Some(b.request.sha256),
        _ => None,
    });
    for request in requests {
        let bytes = world.kernel().artifacts().read(&request).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(&secret), "the very bytes that are sent");
    }
}
