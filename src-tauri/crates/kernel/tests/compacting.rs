//! Compaction: a summary takes the place of the oldest turns of a full context, beside the loop (HV-3.2-4, memory.md 3).

use crate::story::{completed, count, events, log, object, packs, shows, state};
use crate::told::{Wire, give, settings};
use kernel::command::compact::Made;
use kernel::command::partial_approval::Chosen;
use kernel::{DriveOutcome, Waiting};
use model::approval::Surface;
use model::artifact::{ArtifactKind, ArtifactRef, TrustTier};
use model::context::{ContextSummary, Section, SummaryLineKind};
use model::fault::Point;
use model::ingress::Channel;
use model::limits::COLLECT_AFTER_MS;
use model::{Body, TaskId};
use projections::ArtifactState;
use reasoning::{Settings, ToolMode};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testkit::{Edge, ManyTools, Mode, World};

pub const GOAL: &str = "Find the staging port and write it into out.txt";
/// The port stands in the first file that is read, between lines that say nothing.
pub const FACT: &str = "The staging port of the old machine is 8443.";

/// A folder of long files, the fact in the first of them.
pub fn world(seed: u64) -> World {
    let world = World::new(seed);
    for n in 0..40 {
        let filler: String =
            (0..40).map(|line| format!("entry {line} of ledger {n} says nothing new\n")).collect();
        let fact = if n == 0 { format!("{FACT}\n") } else { String::new() };
        std::fs::write(world.path(&format!("f{n:02}.txt")), format!("{filler}{fact}{filler}")).unwrap();
    }
    world
}

pub fn small() -> Settings {
    Settings { context_tokens: 12_000, answer_tokens: 1_000, ..settings(ToolMode::Tools, &[]) }
}

fn reads(files: std::ops::Range<usize>) -> impl Iterator<Item = (&'static str, Value)> {
    files.map(|n| ("read", json!({ "path": format!("f{n:02}.txt") })))
}

pub fn write(path: &str, text: &str) -> (&'static str, Value) {
    ("write", json!({ "path": path, "content": text }))
}

/// A task that reads these many files and then wants to write: it waits for a person there.
pub fn reading(world: &World, files: usize, more: Vec<(&'static str, Value)>) -> (Arc<Wire>, TaskId) {
    let script = reads(0..files).chain(more).collect();
    let wire = Wire::new(script);
    let task = give(world, &wire, GOAL, small());
    (wire, task)
}

pub fn approval(outcome: DriveOutcome) -> model::ApprovalId {
    let DriveOutcome::Waiting(Waiting::Approval(id)) = outcome else { panic!("{outcome:?}") };
    id
}

pub fn made(world: &World, task: TaskId) -> Made {
    world.kernel().compact(task, false).unwrap().expect("the context is full")
}

/// The summary in force, and its artifact.
pub fn summary(world: &World, task: TaskId) -> Option<(ArtifactRef, ContextSummary)> {
    let state = state(world, task);
    let at = state.attempt()?.compacted.as_ref()?.summary.clone();
    let summary = object(world.kernel(), &state, at.artifact_id);
    Some((at, summary))
}

#[conforms::conforms(part = "HV-3.2-4")]
#[test]
fn the_oldest_turns_of_a_full_context_stand_in_a_summary_that_unfolds() {
    let mut world = world(4_301);
    let after = vec![
        write("out.txt", "8443\n"),
        ("read", json!({ "path": "f12.txt" })),
        ("done", json!({ "summary": "8443" })),
    ];
    let (wire, task) = reading(&world, 12, after);
    let waits = approval(world.drive(task));
    let last = packs(world.kernel(), task).pop().unwrap();
    assert!(!shows(&last, FACT), "what was read first has found no room any more");
    let kept = made(&world, task);
    assert!(world.kernel().compact(task, false).unwrap().is_none(), "once is enough until more was seen");

    // It is an artifact of its own, each line of which names events of this task.
    let (at, summary) = summary(&world, task).unwrap();
    assert_eq!((at.clone(), summary.through), (kept.summary, kept.through));
    let log: BTreeSet<_> =
        events(world.kernel(), task).into_iter().map(|(event, _)| event.event_id).collect();
    assert!(!summary.lines.is_empty());
    for line in &summary.lines {
        assert!(!line.events.is_empty() && line.events.iter().all(|event| log.contains(event)), "{line:?}");
    }
    let quote = summary.lines.iter().find(|line| line.text.contains(FACT)).expect("the fact is quoted");
    assert_eq!((quote.kind, quote.iteration), (SummaryLineKind::Quote, 1));
    let now = state(&world, task);
    let artifact = &now.artifacts[&at.artifact_id];
    assert_eq!(artifact.kind, ArtifactKind::ContextSummary);
    let results = usize::try_from(summary.results).unwrap();
    assert!(results >= 6, "{results}");
    for seen in &now.attempt().unwrap().observed[..results] {
        assert!(artifact.inputs.contains(&seen.artifact.artifact_id), "what it was made of is on record");
    }
    let folded = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ArtifactCompacted(b) => Some((b.artifact_id, b.into)),
        _ => None,
    });
    let folded: Vec<_> = folded.collect();
    assert_eq!(folded.len(), results);
    assert!(folded.iter().all(|(_, into)| *into == at.artifact_id));

    // The next host goes on with it; what it stands for is not sent a second time.
    world.reopen();
    world.person.allow(world.kernel(), task, waits).unwrap();
    assert_eq!(world.drive(task), completed());
    let next = packs(world.kernel(), task)[13].clone();
    let items: Vec<_> = next.items.iter().filter(|item| item.section == Section::Artifacts).collect();
    let own =
        items.iter().find(|item| item.source == at.artifact_id.to_string()).expect("the summary is sent");
    assert!(
        own.text.contains(FACT) && own.title == format!("Summary of turns 1 to {}", kept.through),
        "{own:?}"
    );
    for (artifact, _) in &folded {
        assert!(!items.iter().any(|item| item.source == artifact.to_string()), "{artifact}");
    }
    assert!(items.iter().any(|item| item.title.contains("f11.txt")), "the newest stay as they were");
    let sent = wire.sent();
    let request = &sent[13];
    let (summary_at, newest) = (request.find(FACT).unwrap(), request.find("f11.txt").unwrap());
    assert!(summary_at < newest, "a summary is told before what came after it");
    assert!(next.tokens <= next.tokens_max);
}

#[test]
fn rules_contract_and_what_a_person_said_are_in_every_context_whatever_is_summed_up() {
    let world = world(4_302);
    let mut script = Vec::new();
    for round in 0..8 {
        script.extend(reads(round * 4..round * 4 + 4));
        script.push(write(&format!("note{round}.txt"), "a line\n"));
    }
    script.push(("done", json!({ "summary": "8443" })));
    let wire = Wire::new(script);
    let task = give(&world, &wire, GOAL, small());
    let mut waits = world.drive(task);
    let mut rounds = 0;
    world
        .kernel()
        .append_note(task, "Never write to the attic folder, use the cellar", Channel::Cli, "one")
        .unwrap();
    while let DriveOutcome::Waiting(Waiting::Approval(id)) = waits {
        rounds += usize::from(world.kernel().compact(task, true).unwrap().is_some());
        if rounds == 2 {
            world.person.deny(world.kernel(), task, id, "call it memo.txt from now on").unwrap();
        } else {
            world.person.allow(world.kernel(), task, id).unwrap();
        }
        waits = world.drive(task);
    }
    assert_eq!(waits, completed());
    assert!(rounds >= 6, "{rounds}");
    let sent = wire.sent();
    let last = sent.last().unwrap();
    for words in [
        GOAL,
        "Never write to the attic folder",
        "call it memo.txt from now on",
        "create note2.txt (succeeded)",
    ] {
        assert!(last.contains(words), "`{words}` is lost after {rounds} summaries");
    }
    // Each context names its rules, and none lacks one that another had.
    let pinned = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ContextCompiled(b) => b.pinned,
        _ => None,
    });
    let pinned: BTreeSet<_> = pinned.collect();
    assert_eq!(pinned.len(), 1, "the same in every turn");
    assert!(pinned.first().unwrap().len() >= 3, "{pinned:?}");
    assert_eq!(count(world.kernel(), task, "attempt.context_compacted"), rounds);
}

#[test]
fn a_summary_is_trusted_no_more_than_the_least_of_what_it_was_made_of() {
    let mut world = world(4_303);
    world.servers = Arc::new(ManyTools);
    world.reopen();
    world.register_many(1);
    let mut script: Vec<_> = vec![("s00__entry_00", json!({ "minutes": 1 }))];
    script.extend(reads(0..8));
    script.extend([write("out.txt", "8443\n"), ("done", json!({ "summary": "done" }))]);
    let wire = Wire::new(script);
    let task = give(&world, &wire, GOAL, small());
    let called = approval(world.drive(task));
    world.person.allow(world.kernel(), task, called).unwrap();
    let waits = approval(world.drive(task));
    made(&world, task);
    let (at, summary) = summary(&world, task).unwrap();
    assert_eq!(summary.trust_tier, TrustTier::Untrusted);
    assert_eq!(state(&world, task).artifacts[&at.artifact_id].trust_tier, TrustTier::Untrusted);
    world.person.allow(world.kernel(), task, waits).unwrap();
    assert_eq!(world.drive(task), completed());
    let next = packs(world.kernel(), task).pop().unwrap();
    let own = next.items.iter().find(|item| item.source == at.artifact_id.to_string()).unwrap();
    assert_eq!(own.trust_tier, TrustTier::Untrusted);
    assert!(own.text.contains("[[data"), "and it stands inside a fence: {}", own.text);
}

#[test]
fn a_host_that_dies_while_it_sums_up_has_summed_up_once_or_not_at_all() {
    for (edge, there) in [(Edge::Before, 0), (Edge::After, 1)] {
        let mut world = world(4_304);
        let (_, task) =
            reading(&world, 12, vec![write("out.txt", "8443\n"), ("done", json!({ "summary": "8443" }))]);
        let waits = approval(world.drive(task));
        world.faults.plan(Point::KnowledgeChange, edge, Mode::Abort, 1);
        let died = catch_unwind(AssertUnwindSafe(|| world.kernel().compact(task, false)));
        assert!(world.faults.fired(), "{died:?}");
        world.faults.clear();
        world.reopen();
        assert_eq!(count(world.kernel(), task, "attempt.context_compacted"), there, "{edge:?}");
        let again = world.kernel().compact(task, false).unwrap();
        assert_eq!(again.is_some(), there == 0);
        assert_eq!(count(world.kernel(), task, "attempt.context_compacted"), 1);
        world.person.allow(world.kernel(), task, waits).unwrap();
        assert_eq!(world.drive(task), completed());
        assert!(shows(&packs(world.kernel(), task).pop().unwrap(), FACT));
    }
}

#[test]
fn it_is_made_beside_a_loop_that_goes_on() {
    let world = world(4_305);
    let script = reads(0..30).chain([("done", json!({ "summary": "8443" }))]).collect();
    let wire = Wire::new(script);
    let task = give(&world, &wire, GOAL, small());
    let over = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                world.kernel().compact(task, false).unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        // Also where the drive panics, the other comes to its end.
        let outcome = scope.spawn(|| world.drive(task)).join();
        over.store(true, Ordering::SeqCst);
        outcome.unwrap()
    });
    assert_eq!(outcome, completed());
    let made = count(world.kernel(), task, "attempt.context_compacted");
    assert!(made >= 2, "{made}");
    assert_eq!(count(world.kernel(), task, "attempt.iteration_completed"), 31, "no turn was lost to it");
    assert!(shows(&packs(world.kernel(), task).pop().unwrap(), FACT));
}

#[test]
fn a_summary_that_nobody_can_use_is_not_made() {
    let world = world(4_306);
    let (_, task) = reading(&world, 3, vec![write("out.txt", "x\n"), ("done", json!({ "summary": "x" }))]);
    let waits = approval(world.drive(task));
    assert!(world.kernel().compact(task, true).unwrap().is_none(), "three results are too few");
    assert!(summary(&world, task).is_none());
    world.person.allow(world.kernel(), task, waits).unwrap();
    assert_eq!(world.drive(task), completed());
    assert!(world.kernel().compact(task, true).unwrap().is_none(), "and one that has ended needs none");
    let summaries = events(world.kernel(), task)
        .into_iter()
        .filter(|(_, body)| matches!(body, Body::ContextCompacted(_)));
    assert_eq!(summaries.count(), 0);
}

#[conforms::conforms("HK-8.5-4", part = "HK-14.3-3", "HK-10.5-7")]
#[test]
fn an_artifact_is_created_referenced_sealed_promoted_compacted_and_expired_by_events() {
    let world = world(4_307);
    let after = vec![write("out.txt", "8443\n"), ("done", json!({ "summary": "8443" }))];
    let (_, task) = reading(&world, 12, after);
    let waits = approval(world.drive(task));
    made(&world, task);
    world.person.allow(world.kernel(), task, waits).unwrap();
    assert_eq!(world.drive(task), completed());
    let said = kernel::command::memory::Memorandum {
        claim: "ports stand in out.txt".to_owned(),
        scope: String::new(),
        everywhere: false,
        reason: "I say so".to_owned(),
        memory_type: None,
        pinned: false,
        days: None,
        replaces: None,
    };
    let root = world.folder.path().canonicalize().unwrap();
    let remember =
        world.kernel().propose_memory(said, &root, (Channel::Cli, "remember".to_owned())).unwrap().task_id;
    let asked = world.drive_to_approval(remember);
    world.person.allow(world.kernel(), remember, asked).unwrap();
    assert_eq!(world.drive(remember), completed());
    let kernel = world.kernel();
    let row = |id| kernel.query().unwrap().artifact(id).unwrap().unwrap();
    let one = |event_type: &str| -> Body {
        log(kernel)
            .into_iter()
            .find(|(event, _)| event.event_type == event_type)
            .unwrap_or_else(|| panic!("no `{event_type}`"))
            .1
    };
    // Each of them changes what is listed of the artifact that it names, and nothing else does.
    let Body::ArtifactSealed(sealed) = one("artifact.sealed") else { panic!() };
    assert_eq!(row(sealed.artifact_id).sealed_by.as_ref(), Some(&sealed.by));
    let receipt =
        state(&world, task).receipts.iter().map(|r| r.receipt_id.to_string()).find(|id| *id == sealed.by);
    assert!(receipt.is_some(), "it is a receipt that cites it: {}", sealed.by);
    let Body::ArtifactPromoted(promoted) = one("artifact.promoted") else { panic!() };
    let Body::MemoryPromoted(memory) = one("memory.promoted") else { panic!() };
    assert_eq!(promoted.memory_id, memory.record.memory_id);
    assert_eq!(row(promoted.artifact_id).memory_id, Some(promoted.memory_id));
    let Body::ArtifactCompacted(compacted) = one("artifact.compacted") else { panic!() };
    let listed = row(compacted.artifact_id);
    assert_eq!((listed.state, listed.compacted_into), (ArtifactState::Compacted, Some(compacted.into)));
    assert_eq!(row(compacted.into).kind, ArtifactKind::ContextSummary);
    // What is kept is referenced; what nothing leads to any more expires, its digest stays.
    world.clock.advance(COLLECT_AFTER_MS + 1);
    let garbage = kernel.garbage(COLLECT_AFTER_MS).unwrap().0.garbage;
    let (kept, gone) = (garbage[0].artifact_id, garbage[1].artifact_id);
    let uses = row(kept).uses;
    kernel.keep_artifact(kept, true).unwrap();
    assert_eq!(row(kept).uses, uses + 1);
    kernel.collect(COLLECT_AFTER_MS, None, &mut |_, _| {}).unwrap();
    assert_eq!((row(gone).state, row(kept).state), (ArtifactState::Expired, ArtifactState::Live));
    assert!(row(sealed.artifact_id).state != ArtifactState::Expired, "what a receipt cites stays");
    let types: BTreeSet<String> = log(kernel).into_iter().map(|(event, _)| event.event_type).collect();
    for life in ["created", "referenced", "sealed", "promoted", "compacted", "expired"] {
        assert!(types.contains(&format!("artifact.{life}")), "{life}");
    }
}

#[test]
fn what_a_person_said_with_a_part_and_with_a_long_no_is_kept_whole_in_every_summary() {
    let world = world(4_311);
    let two = json!([
        { "op": "write", "path": "a.txt", "content": "a\n" }, { "op": "write", "path": "b.txt", "content": "b\n" },
    ]);
    let mut script: Vec<_> = reads(0..4).collect();
    script.push(("change", json!({ "items": two })));
    script.extend(reads(4..8));
    script.push(write("c.txt", "c\n"));
    for round in 2..7 {
        script.extend(reads(round * 4..round * 4 + 4));
        script.push(write(&format!("note{round}.txt"), "a line\n"));
    }
    script.push(("done", json!({ "summary": "8443" })));
    let wire = Wire::new(script);
    let task = give(&world, &wire, GOAL, small());
    let long =
        format!("not there. {}and the cellar is where such files go", "It is a long story, ".repeat(28));
    let part = approval(world.drive(task));
    let chosen = Chosen { items: BTreeSet::from([1]), ..Chosen::default() };
    world.kernel().choose_part(task, part, Surface::Test, &chosen, Some("names are plain here")).unwrap();
    let waits = approval(world.drive(task));
    world.person.allow(world.kernel(), task, waits).unwrap();
    let no = approval(world.drive(task));
    world.person.deny(world.kernel(), task, no, &long).unwrap();
    let (mut waits, mut rounds) = (world.drive(task), 0);
    while let DriveOutcome::Waiting(Waiting::Approval(id)) = waits {
        rounds += usize::from(world.kernel().compact(task, true).unwrap().is_some());
        world.person.allow(world.kernel(), task, id).unwrap();
        waits = world.drive(task);
    }
    assert_eq!((waits, rounds >= 4), (completed(), true));
    let (_, summary) = summary(&world, task).unwrap();
    let said: Vec<&str> = summary
        .lines
        .iter()
        .filter(|line| line.kind == SummaryLineKind::Correction)
        .map(|line| line.text.as_str())
        .collect();
    assert!(said.iter().any(|line| line.contains("names are plain here")), "{said:#?}");
    assert!(said.iter().any(|line| line.ends_with("the cellar is where such files go")), "{said:#?}");
    let sent = wire.sent();
    let last = sent.last().unwrap();
    assert!(last.contains("names are plain here") && last.contains("the cellar is where such files go"));
}

#[test]
fn what_a_person_said_stays_however_much_was_said_since() {
    let world = world(4_312);
    let (wire, task) = reading(
        &world,
        8,
        vec![write("out.txt", "x\n"), write("out.txt", "y\n"), ("done", json!({ "summary": "8443" }))],
    );
    let waits = approval(world.drive(task));
    for n in 0..24 {
        let words = format!("rule {n}: {}", "the folders are kept as they were found there ".repeat(11));
        world.kernel().append_note(task, &words, Channel::Cli, &format!("n{n}")).unwrap();
    }
    let again = approval(world.drive(task));
    assert_ne!(waits, again);
    let sent = wire.sent();
    for n in 0..24 {
        assert!(sent.last().unwrap().contains(&format!("rule {n}: ")), "rule {n} is lost");
    }
}
