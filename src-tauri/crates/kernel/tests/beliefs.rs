//! Beliefs as an agent holds, revises, replaces and takes them back, as time ends them, and as a person does.

use crate::story::{card, completed, events, state};
use kernel::command::belief::Correction;
use kernel::{DriveOutcome, Waiting};
use model::artifact::{Selector, TrustTier};
use model::context::Section;
use model::ingress::Channel;
use model::knowledge::BeliefStatus::{Active, Contradicted, Expired, Revoked, Superseded};
use model::knowledge::{Belief, BeliefStatus};
use model::proposal::Answer;
use model::{Body, TaskId};
use projections::query::Ask;
use seal::Digest;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use testkit::{World, done, look, say, write};

fn believe(claim: &str, confidence: u16, more: Value) -> Answer {
    let mut arguments = json!({ "claim": claim, "confidence": confidence, "evidence": ["a.txt"] });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    say("believe", arguments)
}

fn held(world: &World, task: TaskId, claim: &str) -> Belief {
    let found = state(world, task).beliefs.into_values().find(|b| b.claim.shown().unwrap() == claim);
    found.unwrap_or_else(|| panic!("no belief `{claim}`"))
}

fn told(world: &World, task: TaskId) -> Vec<String> {
    let errors = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::IterationCompleted(b) => b.record.error.and_then(|e| e.shown().cloned()),
        _ => None,
    });
    errors.collect()
}

#[conforms::conforms(
    "HK-15.3-1",
    "HK-15.3-2",
    "HK-15.3-3",
    "HK-15.3-4",
    "HK-15.3-6",
    "HK-8.6-1",
    "HK-8.6-4",
    part = "HK-8.6-3",
    "HK-11.2-1",
    part = "HK-3-5"
)]
#[test]
fn an_agent_revises_replaces_contradicts_and_takes_back_what_it_holds_and_all_stays_on_record() {
    let world = World::new(3_201);
    world.file("a.txt", "port 80");
    let answers = vec![
        look("a.txt"),
        believe("it listens at 80", 400, json!({})),
        believe("more of it was read", 450, json!({ "revises": "it listens at 80" })),
        believe("it listens at 81", 450, json!({ "supersedes": "it listens at 80" })),
        believe("it listens at 82", 300, json!({ "contradicts": "it listens at 81" })),
        believe("it is written in C", 300, json!({})),
        say("retract", json!({ "belief": "it is written in C", "reason": "it is Rust" })),
        believe("the log is short", 300, json!({ "days": 1 })),
        say("retract", json!({ "belief": "nobody said this", "reason": "why not" })),
        believe("both", 300, json!({ "revises": "it listens at 81", "supersedes": "it listens at 82" })),
        say("believe", json!({ "claim": "it rests on nothing", "confidence": 300, "evidence": [] })),
        say("ask", json!({ "question": "go on?" })),
        done("well"),
    ];
    let task = world.script("hold", answers);
    let kernel::DriveOutcome::Waiting(kernel::Waiting::Answer(question)) = world.drive(task) else {
        panic!("it asks")
    };
    let first = held(&world, task, "it listens at 80");
    assert_eq!((first.revision, first.confidence, first.status), (2, 450, Superseded));
    assert_eq!(held(&world, task, "it listens at 81").status, Active);
    assert_eq!(held(&world, task, "it listens at 82").status, Contradicted);
    assert_eq!(held(&world, task, "it is written in C").status, Revoked);
    // Each says where it comes from, what it replaced, what it stands against and until when it holds.
    let [new, other] = ["it listens at 81", "it listens at 82"].map(|claim| held(&world, task, claim));
    assert_eq!((new.supersedes, other.contradicts), (Some(first.belief_id), vec![new.belief_id]));
    assert!(new.step_id.is_some() && new.attempt_id == state(&world, task).current);
    assert!(held(&world, task, "the log is short").expires_at.is_some() && new.expires_at.is_none());
    let remarks = told(&world, task).join("; ");
    for words in ["no belief of this task claims `nobody said this`", "name one belief"] {
        assert!(remarks.contains(words), "{remarks}");
    }
    // A day later, what was to hold for a day has ended before the model is asked again.
    world.clock.advance(25 * 60 * 60 * 1000);
    world.kernel().answer(task, question, "yes", model::ingress::Channel::App).unwrap();
    assert_eq!(world.drive(task), completed());
    let query = world.kernel().query().unwrap();
    let rows = query.beliefs(Some(task), None, Ask::ALL).unwrap().rows;
    let status = |claim: &str| rows.iter().find(|r| r.claim.shown().unwrap() == claim).unwrap().status;
    let all: Vec<BeliefStatus> = [
        "it listens at 80",
        "it listens at 81",
        "it listens at 82",
        "it is written in C",
        "the log is short",
    ]
    .map(status)
    .into();
    assert_eq!(all, [Superseded, Active, Contradicted, Revoked, Expired], "each stays, as what it is");
    assert_eq!(rows.len(), 5, "what rests on nothing is not believed");
    assert!(query.memories(None, Ask::ALL).unwrap().rows.is_empty(), "and nothing of it is memory");
    let revisions = query.belief_revisions(first.belief_id, Ask::ALL).unwrap().rows;
    assert_eq!(
        revisions.iter().map(|r| (r.revision, r.confidence)).collect::<Vec<_>>(),
        [(2, 450), (1, 400)]
    );
}

#[conforms::conforms(part = "HK-14.5-3")]
#[test]
fn a_claim_rests_on_the_lines_that_are_named_and_on_none_that_were_not_read() {
    let world = World::new(3_208);
    world.file("a.txt", "one\nport 80\nport 81\nfour");
    let on = |claim: &str, evidence: &str| believe(claim, 300, json!({ "evidence": [evidence] }));
    let of_line =
        json!({ "claim": "there is a port", "scope": "*", "reason": "asked", "evidence": ["a.txt:2"] });
    let answers = vec![
        look("a.txt"),
        on("it has two ports", "a.txt:2-3"),
        on("it has a fifth line", "a.txt:4-5"),
        on("it has a last line", "a.txt:4"),
        on("it starts at nothing", "a.txt:0"),
        // What is read again shows fewer lines: the others were seen before.
        say("read", json!({ "path": "a.txt", "from": 3, "to": 4 })),
        on("it ends with two lines", "a.txt:3-4"),
        on("two ports were seen", "a.txt:2-3"),
        on("it is a file", "a.txt"),
        say("remember", of_line),
        done("well"),
    ];
    let task = world.script("hold", answers);
    assert_eq!(world.drive_allowing(task), (completed(), 1));
    let now = state(&world, task);
    let (mut looks, mut held_by) = (BTreeSet::new(), BTreeMap::new());
    for (claim, lines, words) in [
        ("it has two ports", (2, 3), "port 80\nport 81\n"),
        ("it has a last line", (4, 4), "four"),
        ("it ends with two lines", (3, 4), "port 81\nfour"),
        ("two ports were seen", (2, 3), "port 80\nport 81\n"),
    ] {
        let belief = held(&world, task, claim);
        let [one] = &belief.evidence_refs[..] else { panic!("{belief:?}") };
        let Selector::Lines { start, end, of: Some(pointer) } = &one.selector else { panic!("{one:?}") };
        assert_eq!((*start, *end), lines, "{claim}");
        assert_eq!(one.excerpt_hash, Digest::of(words.as_bytes()), "{claim}: the digest is of these lines");
        // Who has the artifact finds them in it.
        let seen = world.kernel().artifacts().read(&now.digest_of(one.artifact_id).unwrap()).unwrap();
        let seen: Value = serde_json::from_slice(&seen).unwrap();
        let seen = seen.pointer(pointer).unwrap();
        assert!(seen["path"] == "a.txt" && seen["text"].as_str().unwrap().contains(words), "{seen}");
        looks.insert(one.artifact_id);
        held_by.insert(claim, one.artifact_id);
    }
    assert_eq!(looks.len(), 2);
    assert_eq!(held_by["it has two ports"], held_by["two ports were seen"], "the look that shows them all");
    let whole = &held(&world, task, "it is a file").evidence_refs[0];
    assert_eq!(whole.selector, Selector::Whole);
    let remarks = told(&world, task).join("; ");
    for words in ["`a.txt:4-5` names lines that this run has not read", "`a.txt:0` is no evidence"] {
        assert!(remarks.contains(words), "{remarks}");
    }
    assert_eq!(now.beliefs.len(), 5, "what names a line that nobody read is not believed");
    // The card says so before it is remembered, and so does what is remembered.
    let card = card(&world, task);
    assert!(card.contains("evidence: \"a.txt\", line 2, as it was seen; "), "{card}");
    let [memory] = &world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows[..] else {
        panic!("one is remembered")
    };
    assert!(matches!(memory.evidence[0].selector, Selector::Lines { start: 2, end: 2, .. }));
}

#[test]
fn a_person_takes_a_belief_back_and_no_later_context_shows_it() {
    let world = World::new(3_202);
    world.file("a.txt", "port 80");
    let task =
        world.script("hold", vec![look("a.txt"), believe("it listens at 80", 400, json!({})), done("well")]);
    assert_eq!(world.drive(task), completed());
    let belief = held(&world, task, "it listens at 80");
    world.kernel().revoke_belief(task, belief.belief_id, "it does not").unwrap();
    assert_eq!(held(&world, task, "it listens at 80").status, Revoked);
    let row = world.kernel().query().unwrap().belief(belief.belief_id).unwrap().unwrap();
    assert_eq!((row.status, row.reason.unwrap().shown().unwrap().as_str()), (Revoked, "it does not"));
    let again = world.kernel().revoke_belief(task, belief.belief_id, "once more");
    assert!(matches!(again, Err(kernel::Error::Conflict(_))), "{again:?}");
}

/// The line of a belief in the last context of a task.
fn line(world: &World, task: TaskId, claim: &str) -> Option<String> {
    let pack = crate::story::packs(world.kernel(), task).pop().unwrap();
    let mut found = pack.items.into_iter().filter(|item| item.section == Section::Beliefs);
    found.find(|item| item.text.contains(claim)).map(|item| item.title)
}

#[test]
fn both_sides_of_a_contradiction_are_told_as_contested_until_one_of_them_is_taken_back() {
    let world = World::new(3_207);
    world.file("a.txt", "port 80");
    let answers = vec![
        say("hash", json!({ "path": "a.txt" })),
        believe("it listens at 81", 450, json!({})),
        believe("it listens at 82", 300, json!({ "contradicts": "it listens at 81" })),
        say("ask", json!({ "question": "which?" })),
    ];
    let task = world.script("hold", answers);
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(task) else { panic!("it asks") };
    for claim in ["it listens at 81", "it listens at 82"] {
        let line = line(&world, task, claim).unwrap();
        assert!(line.contains("contested"), "{claim}: {line}");
    }
    world.kernel().answer(task, question, "81", model::ingress::Channel::App).unwrap();
    let rest = vec![
        say("retract", json!({ "belief": "it listens at 82", "reason": "a person said so" })),
        say("ask", json!({ "question": "go on?" })),
    ];
    world.reasoners.script("hold", rest);
    assert!(matches!(world.drive(task), DriveOutcome::Waiting(Waiting::Answer(_))));
    let left = line(&world, task, "it listens at 81").unwrap();
    assert!(!left.contains("contested"), "{left}");
    assert!(line(&world, task, "it listens at 82").is_none());
}

#[test]
fn a_person_corrects_what_is_held_by_their_own_words_and_the_task_goes_on_with_it() {
    let mut world = World::new(3_213);
    world.file("a.txt", "port 80");
    let claims = ["it listens at 80", "it is written in C", "the log is short", "it runs at night"];
    let mut answers = vec![say("hash", json!({ "path": "a.txt" }))];
    answers.extend(claims.iter().map(|claim| believe(claim, 400, json!({}))));
    answers.push(say("ask", json!({ "question": "go on?" })));
    let task = world.script("hold", answers);
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(task) else { panic!("it asks") };
    let correct = |claim: &str, correction: Correction, by: Channel| {
        let belief = held(&world, task, claim).belief_id;
        world.kernel().correct_belief((task, belief), &correction, "I have seen it", by)
    };
    let program = correct(claims[0], Correction::Over, Channel::Mcp);
    assert!(matches!(program, Err(kernel::Error::Refused(_))), "{program:?}");
    correct(claims[0], Correction::Confidence(200), Channel::App).unwrap();
    let by =
        correct(claims[1], Correction::Instead("it is written in Rust".to_owned()), Channel::App).unwrap();
    correct(claims[2], Correction::Against("the log is long".to_owned()), Channel::Cli).unwrap();
    correct(claims[3], Correction::Over, Channel::App).unwrap();
    let over = correct(claims[3], Correction::Confidence(900), Channel::App);
    assert!(matches!(over, Err(kernel::Error::Conflict(_))), "{over:?}");
    world.reopen();
    let first = held(&world, task, claims[0]);
    assert_eq!((first.revision, first.confidence, first.status), (2, 200, Active));
    assert_eq!(first.trust_tier, TrustTier::Observed, "their word for its confidence lifts no trust");
    assert_eq!(
        claims[1..].iter().map(|claim| held(&world, task, claim).status).collect::<Vec<_>>(),
        [Superseded, Contradicted, Expired]
    );
    let new = held(&world, task, "it is written in Rust");
    assert_eq!((Some(new.belief_id), new.trust_tier, new.status), (by, TrustTier::UserAsserted, Active));
    let words = world.kernel().artifacts().read(&new.evidence_refs[0].excerpt_hash).unwrap();
    assert!(
        String::from_utf8_lossy(&words).contains("it is written in Rust"),
        "their words are its evidence"
    );
    assert_eq!(held(&world, task, "the log is long").status, Active, "neither of the two is dropped");
    let rows = world.kernel().query().unwrap().belief_revisions(first.belief_id, Ask::ALL).unwrap().rows;
    assert_eq!(rows[0].reason.as_ref().unwrap().shown().unwrap(), "I have seen it");
    // The next context is told what the person said, and not what they said otherwise of.
    world.kernel().answer(task, question, "yes", Channel::App).unwrap();
    world.reasoners.script("hold", vec![done("ok")]);
    assert_eq!(world.drive(task), completed());
    assert!(line(&world, task, "it is written in Rust").is_some());
    assert!(line(&world, task, "it is written in C").is_none() && line(&world, task, claims[3]).is_none());
    for contested in [claims[2], "the log is long"] {
        assert!(line(&world, task, contested).unwrap().contains("contested"), "{contested}");
    }
}

/// A contradiction of a contradiction: the one in the middle stands against both, and none of the three is lost.
#[test]
fn a_contradiction_of_a_contradiction_is_kept_whole_and_nothing_contradicts_itself() {
    let world = World::new(3_209);
    world.file("a.txt", "port 80");
    let answers = vec![
        say("hash", json!({ "path": "a.txt" })),
        believe("it listens at 81", 450, json!({})),
        believe("it listens at 82", 300, json!({ "contradicts": "it listens at 81" })),
        believe("it listens at 83", 400, json!({ "contradicts": "it listens at 82" })),
        believe("it listens at 82", 300, json!({ "contradicts": "it listens at 82" })),
        say("ask", json!({ "question": "which?" })),
    ];
    let task = world.script("hold", answers);
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(task) else { panic!("it asks") };
    let [first, second, third] =
        ["it listens at 81", "it listens at 82", "it listens at 83"].map(|claim| held(&world, task, claim));
    assert_eq!([first.status, second.status, third.status], [Active, Contradicted, Active]);
    let marks = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::BeliefContradicted(b) => Some((b.belief_id, b.by)),
        _ => None,
    });
    assert_eq!(
        marks.collect::<Vec<_>>(),
        [(second.belief_id, first.belief_id), (second.belief_id, third.belief_id)],
        "each is an event, and no belief stands against itself"
    );
    for claim in ["it listens at 81", "it listens at 82", "it listens at 83"] {
        assert!(line(&world, task, claim).unwrap().contains("contested"), "{claim}");
    }
    // The one in the middle goes: nothing stands against the others any more, and each contradiction stays on record.
    world.kernel().answer(task, question, "not 82", model::ingress::Channel::App).unwrap();
    let rest = vec![
        say("retract", json!({ "belief": "it listens at 82", "reason": "a person said so" })),
        say("ask", json!({ "question": "go on?" })),
    ];
    world.reasoners.script("hold", rest);
    assert!(matches!(world.drive(task), DriveOutcome::Waiting(Waiting::Answer(_))));
    for claim in ["it listens at 81", "it listens at 83"] {
        assert!(!line(&world, task, claim).unwrap().contains("contested"), "{claim}");
    }
    assert_eq!(world.kernel().query().unwrap().beliefs(Some(task), None, Ask::ALL).unwrap().rows.len(), 3);
}

/// What a person is asked about, with the choices.
fn asked(world: &World, task: TaskId) -> Vec<(String, Vec<String>)> {
    let questions = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ClarificationRequested(b) => {
            let choices = b.clarification.choices.iter().map(|one| one.shown().unwrap().clone()).collect();
            Some((b.clarification.question.shown().unwrap().clone(), choices))
        }
        _ => None,
    });
    questions.collect()
}

#[conforms::conforms("HK-15.4-5")]
#[test]
fn a_person_reviews_a_contradiction_where_the_tiers_call_for_it_and_no_other() {
    let world = World::new(3_209);
    world.file("a.txt", "port 80");
    world.file("b.txt", "port 81");
    let of = |claim: &str, path: &str, more: Value| {
        let mut arguments = json!({ "claim": claim, "confidence": 400, "evidence": [path] });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        say("believe", arguments)
    };
    let hash = |path: &str| say("hash", json!({ "path": path }));
    let against = |claim: &str| json!({ "contradicts": claim });
    // Both are as trusted as each other: nobody is asked.
    let alike = vec![
        hash("a.txt"),
        hash("b.txt"),
        of("it listens at 80", "a.txt", json!({})),
        of("it listens at 81", "b.txt", against("it listens at 80")),
        done("held"),
    ];
    let task = world.script("alike", alike);
    assert_eq!(world.drive(task), completed());
    assert!(asked(&world, task).is_empty(), "both stand as contested");
    assert!(held(&world, task, "it listens at 81").status == Contradicted);
    // What was read in a file stands against what Hermit saw for itself: a person looks first, and nothing is done until then.
    let second = vec![of("it listens at 81", "b.txt", against("it listens at 80")), write("out.txt", "81")];
    let uneven = vec![
        hash("a.txt"),
        look("b.txt"),
        of("it listens at 80", "a.txt", json!({})),
        crate::several::together(second),
    ];
    let task = world.script("uneven", uneven);
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(task) else {
        panic!("a person is asked")
    };
    let [(words, choices)] = &asked(&world, task)[..] else { panic!("once") };
    for said in
        ["\"it listens at 80\" (observed)", "\"it listens at 81\" (untrusted)", "Which of them holds?"]
    {
        assert!(words.contains(said), "{said}: {words}");
    }
    assert_eq!(choices.len(), 3);
    assert!(!world.path("out.txt").exists(), "what else the answer asked for waits for it");
    assert!(
        told(&world, task).iter().any(|said| said.contains("was not done: a person is asked first")),
        "{:?}",
        told(&world, task)
    );
    assert_eq!(held(&world, task, "it listens at 81").status, Contradicted, "and neither is dropped");
    assert_eq!(held(&world, task, "it listens at 80").status, Active);
    // The answer is the person's word, and the task goes on with it.
    world.kernel().answer(task, question, "it listens at 80", model::ingress::Channel::App).unwrap();
    let rest = vec![
        say("retract", json!({ "belief": "it listens at 81", "reason": "a person said so" })),
        done("held"),
    ];
    world.reasoners.script("uneven", rest);
    assert_eq!(world.drive(task), completed());
    assert_eq!(held(&world, task, "it listens at 81").status, Revoked);
    assert_eq!(asked(&world, task).len(), 1);
}
