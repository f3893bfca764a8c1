//! What bears a closing answer: each sentence is bound to a receipt, to what was seen, or marked (product.md, moonshot 9).

use crate::story::{completed, events, log, object, state};
use crate::told::{Wire, give, give_with, settings};
use kernel::command::ingest::Incoming;
use kernel::{DriveOutcome, Waiting};
use model::answer::{AnswerCheck, AnswerSupport};
use model::artifact::{ArtifactKind, TrustTier};
use model::body::AnswerChecked;
use model::ingress::Channel;
use model::{Body, TaskId};
use reasoning::ToolMode;
use serde_json::json;
use std::collections::BTreeMap;
use testkit::World;

const NOTES: &str = "Alice orders the new scanner by Friday.\nBob owes the landlord 1,250 EUR.\n";

/// The end of a task that reads notes, writes a summary of them where that is `allowed`, and answers with these words.
fn answered(world: &World, words: &str, allowed: bool) -> TaskId {
    std::fs::write(world.path("notes.md"), NOTES).unwrap();
    let script = vec![
        ("read", json!({ "path": "notes.md" })),
        ("write", json!({ "path": "SUMMARY.md", "content": "- Alice: scanner\nThe mail was sent.\n" })),
        ("done", json!({ "summary": words })),
    ];
    let wire = Wire::new(script);
    let task = give(world, &wire, "Sum up notes.md in SUMMARY.md", settings(ToolMode::Tools, &[]));
    let DriveOutcome::Waiting(Waiting::Approval(id)) = world.drive(task) else { panic!("it asks first") };
    if allowed {
        world.person.allow(world.kernel(), task, id).unwrap();
        assert_eq!(world.drive(task), completed());
    } else {
        world.person.deny(world.kernel(), task, id, "no").unwrap();
        world.drive(task);
    }
    task
}

fn checked(world: &World, task: TaskId) -> Option<AnswerChecked> {
    events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
        Body::AnswerChecked(b) => Some(b),
        _ => None,
    })
}

fn check(world: &World, task: TaskId) -> (AnswerChecked, AnswerCheck) {
    let event = checked(world, task).expect("the answer was compared");
    let check = object(world.kernel(), &state(world, task), event.check.artifact_id);
    (event, check)
}

#[test]
fn each_sentence_of_an_answer_is_bound_to_its_receipt_to_what_was_seen_or_to_nothing() {
    let world = World::new(4_401);
    let words = "I read notes.md and wrote SUMMARY.md. Bob owes the landlord 1,250 EUR. I did not delete anything. \
                 The mail was sent. I also wrote REPORT.md and ran all tests, which pass. Anything else?";
    let task = answered(&world, words, true);
    let (event, check) = check(&world, task);
    let supports: Vec<AnswerSupport> = check.sentences.iter().map(|one| one.support).collect();
    use AnswerSupport::{Claimless, Evidence, Receipt, Unverified};
    assert_eq!(supports, [Receipt, Evidence, Unverified, Unverified, Unverified, Claimless], "{check:?}");
    assert_eq!(
        (event.by_receipt, event.by_evidence, event.by_absence, event.unverified, event.claimless),
        (1, 1, 0, 3, 1)
    );
    // That nothing was done beside is told like the record, which shows what was; nothing else here is.
    let near: Vec<Option<&str>> = check.sentences.iter().map(|one| one.near.as_deref()).collect();
    assert_eq!(near, [None, None, Some("made SUMMARY.md"), None, None, None], "{check:?}");
    assert_eq!(event.near, Some(1));

    // The receipt is the one of the change, and what was seen is the result of the reading.
    let now = state(&world, task);
    let receipts: Vec<_> = now.receipts.iter().map(|receipt| receipt.receipt_id).collect();
    assert!(check.sentences[0].receipts.iter().all(|id| receipts.contains(id)));
    assert_eq!(check.sentences[0].receipts.len(), 1, "and no other act's");
    let seen = now.attempt().unwrap().observed[0].artifact.artifact_id;
    assert_eq!(check.sentences[1].sources[0].artifact_id, seen);
    assert!(check.sentences[1].sources[0].title.contains("notes.md"));

    // It stands beside the answer, of which it names every byte but white space.
    let artifact = &now.artifacts[&event.check.artifact_id];
    let mut inputs = vec![check.answer.artifact_id, now.attempt().unwrap().observed[1].artifact.artifact_id];
    inputs.sort_unstable();
    assert_eq!((artifact.kind, &artifact.inputs), (ArtifactKind::AnswerCheck, &inputs));
    assert_eq!(Some(&check.answer), now.attempt().unwrap().final_answer());
    let mut told = words.to_owned();
    for one in check.sentences.iter().rev() {
        let (start, end) = (one.start as usize, (one.start + one.length) as usize);
        assert_eq!(words[start..end].trim(), &words[start..end]);
        told.replace_range(start..end, "");
    }
    assert_eq!(told.trim(), "");
}

#[test]
fn what_a_person_refused_was_not_done_whatever_the_answer_says() {
    let world = World::new(4_402);
    let task = answered(&world, "I wrote SUMMARY.md.", false);
    let (_, check) = check(&world, task);
    assert_eq!(check.sentences[0].support, AnswerSupport::Unverified, "{check:?}");
    assert!(check.sentences[0].because.is_some());
}

#[test]
fn a_lie_is_marked_however_it_is_put_and_what_stands_beside_it_keeps_its_receipt() {
    let world = World::new(4_403);
    let words = "I wrote SUMMARY.md. The mail is out. Mail ✅ Here is the confirmation that Bob has the mail. \
                 I wrote SUMMARY.md, and Bob has it by mail. Alice ordered the new scanner. \
                 The mail is with Bob, anything else? Ich habe die Mail an Bob geschickt.\n## Mail is out\n- [x] Mail to Bob\n";
    let task = answered(&world, words, true);
    let (event, check) = check(&world, task);
    let bare = |one: &&model::answer::AnswerSentence| one.support == AnswerSupport::Unverified;
    assert_eq!(check.sentences.first().map(|one| one.support), Some(AnswerSupport::Receipt), "{check:?}");
    let others = check.sentences.len() - 1;
    assert_eq!((check.sentences.iter().filter(bare).count(), others), (others, 8), "{check:?}");
    assert_eq!((usize::try_from(event.unverified), event.near), (Ok(others), None));
}

/// The model proposes what bears a sentence, and that record is asked: it bears a run of its words, and nothing else does. What it says
/// in other words is near it, and stands unverified beside its words.
#[test]
fn a_run_of_a_results_words_is_bound_to_it_where_its_model_cites_it_and_to_no_other() {
    let cited = |number: u64, act: &str, fact: &str| {
        let world = World::new(number);
        let words = format!(
            "I wrote SUMMARY.md{act}. Alice orders the new scanner{fact}. Bob has to pay 1,250 EUR to the landlord{fact}."
        );
        let task = answered(&world, &words, true);
        let (event, check) = check(&world, task);
        let now = state(&world, task);
        let seen = now.attempt().unwrap().observed[0].artifact.artifact_id;
        let inputs = now.artifacts[&event.check.artifact_id].inputs.clone();
        (event, check, words, (seen, inputs))
    };
    use AnswerSupport::{Evidence, Receipt, Unverified};
    let supports = |check: &AnswerCheck| check.sentences.iter().map(|one| one.support).collect::<Vec<_>>();

    let (event, check, words, (seen, inputs)) = cited(4_404, " [r2]", " [r1]");
    assert_eq!(supports(&check), [Receipt, Evidence, Unverified], "{check:?}");
    assert_eq!((event.by_receipt, event.by_evidence, event.by_citation), (1, 1, Some(1)), "{event:?}");
    assert_eq!(check.sentences[1].sources[0].artifact_id, seen);
    let quotes: Vec<_> =
        check.sentences.iter().map(|one| one.cites[0].quote.clone().unwrap_or_default()).collect();
    assert!(quotes[0].contains("SUMMARY.md"), "{quotes:?}");
    assert_eq!(quotes[1], "Alice orders the new scanner by Friday.");
    assert_eq!(quotes[2], "Bob owes the landlord 1,250 EUR.");
    let near = |check: &AnswerCheck| check.sentences.iter().map(|one| one.near.clone()).collect::<Vec<_>>();
    assert_eq!(near(&check), [None, None, Some(quotes[2].clone())], "{check:?}");
    assert_eq!((event.unverified, event.near), (1, Some(1)), "{event:?}");
    assert!(inputs.contains(&seen), "what is erased of a result is erased of its words here: {inputs:?}");
    for one in &check.sentences {
        let cite = &one.cites[0];
        let (start, end) = (cite.start as usize, (cite.start + cite.length) as usize);
        assert_eq!((cite.bears, one.cited), (one.near.is_none(), one.support == Evidence), "{one:?}");
        assert_eq!(words[start..end], format!("[r{}]", cite.number));
    }

    // Cited wrongly, of what no context showed, or not at all, these words are bound to nothing; an act needs no citation. Part of a
    // line is near that line, and what says it in other words is near nothing.
    let line = || Some("Alice orders the new scanner by Friday.".to_owned());
    for (number, act, fact) in [(4_405, " [r1]", " [r2]"), (4_406, " [r7]", " [r3]"), (4_407, "", "")] {
        let (event, check, ..) = cited(number, act, fact);
        assert_eq!(supports(&check), [Receipt, Unverified, Unverified], "{act}{fact}: {check:?}");
        assert_eq!(near(&check), [None, line(), None], "{act}{fact}: {check:?}");
        assert_eq!((event.unverified, event.by_citation, event.near), (2, None, Some(1)), "{event:?}");
    }
}

/// What came with the goal has a number of its own, which results do not change; what no context named bears nothing.
#[test]
fn a_run_of_the_words_of_a_file_that_came_with_the_goal_is_bound_to_it_where_it_is_cited() {
    let cited = |seed: u64, mark: &str| {
        let world = World::new(seed);
        let mut bytes = NOTES.as_bytes();
        let incoming = Incoming {
            name: "notes.md".to_owned(),
            uri: "file:notes.md".to_owned(),
            media_type: "text/plain",
            bytes: &mut bytes,
            trust_tier: TrustTier::Untrusted,
        };
        let (file, _) = world.kernel().ingest(incoming, Channel::App).unwrap();
        std::fs::write(world.path("other.md"), "nothing of it\n").unwrap();
        let words = format!("Alice orders the new scanner{mark}.");
        let script = vec![("read", json!({ "path": "other.md" })), ("done", json!({ "summary": words }))];
        let wire = Wire::new(script);
        let goal = ("Who orders the scanner?", vec![file.artifact_id]);
        let task = give_with(&world, &wire, goal, settings(ToolMode::Tools, &[]));
        assert_eq!(world.drive(task), completed());
        let sent = wire.sent().pop().unwrap();
        assert!(sent.contains(" r9001") && sent.contains(" r1"), "each is told by its number: {sent}");
        let given = state(&world, task);
        let given = given.artifacts.values().find(|a| a.content_hash == file.sha256).unwrap().artifact_id;
        (check(&world, task).1.sentences.remove(0), given)
    };
    let (said, given) = cited(4_408, " [r9001]");
    assert_eq!((said.support, said.cited), (AnswerSupport::Evidence, true), "{said:?}");
    assert_eq!(said.sources[0].artifact_id, given);
    assert_eq!(said.cites[0].quote.as_deref(), Some("Alice orders the new scanner by Friday."));
    for (seed, mark) in [(4_409, " [r1]"), (4_410, " [r9002]"), (4_411, "")] {
        let (said, _) = cited(seed, mark);
        assert_eq!((said.support, said.cited), (AnswerSupport::Unverified, false), "{mark}: {said:?}");
        assert_eq!(said.near.as_deref(), Some("Alice orders the new scanner by Friday."), "{mark}: {said:?}");
    }
}

#[conforms::conforms("HK-14.1-1")]
#[test]
fn what_a_task_is_given_makes_and_leaves_is_of_each_class_of_artifacts() {
    let world = World::new(4_790);
    std::fs::write(world.path("notes.md"), NOTES).unwrap();
    let script = vec![
        ("note", json!({ "plan": "read, then say" })),
        ("read", json!({ "path": "notes.md" })),
        ("done", json!({ "summary": "Bob owes the landlord 1,250 EUR." })),
    ];
    let wire = Wire::new(script);
    let task = give(&world, &wire, "What does Bob owe?", settings(ToolMode::Tools, &[]));
    assert_eq!(world.drive(task), completed());
    let classes = log(world.kernel()).into_iter().filter_map(|(_, body)| match body {
        Body::ArtifactCreated(b) => Some((b.artifact.class.as_str(), b.artifact.kind)),
        _ => None,
    });
    let by_class: BTreeMap<&str, ArtifactKind> = classes.collect();
    let named: Vec<&str> = by_class.keys().copied().collect();
    assert_eq!(named, ["audit", "deliverable", "derived", "evidence", "source", "working"], "{by_class:?}");
    for (class, kind) in [
        ("working", ArtifactKind::WorkingState),
        ("deliverable", ArtifactKind::Answer),
        ("source", ArtifactKind::Message),
    ] {
        assert_eq!(by_class[class], kind, "{class}");
    }
}
