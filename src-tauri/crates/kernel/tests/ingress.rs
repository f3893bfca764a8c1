//! What comes in: on record before it changes anything, bound by what was said outright, a task or input for one.

use crate::objects::fields;
use crate::story::{completed, count, events, log, packs, place, shows, state, types};
use kernel::command::add_input::Note;
use kernel::command::erase::Erasure;
use kernel::command::person::{Matter, Signed};
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Error, Kernel, Waiting};
use model::artifact::{ArtifactKind, TrustTier};
use model::attempt::AttemptStatus;
use model::body::Boundary;
use model::context::ContextPack;
use model::fault::Point;
use model::ingress::{Channel, IngressRecord, IngressResolution};
use model::task::TaskStatus;
use model::{Body, IngressId, TaskId};
use projections::query::Ask;
use serde_json::json;
use std::sync::Arc;
use testkit::{Edge, Mode, World, done, look, say, write};

fn submit(world: &World, goal: &str, differing: impl FnOnce(&mut Submission)) -> TaskId {
    world.reasoners.script(goal, vec![done("done")]);
    let mut submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    differing(&mut submission);
    world.kernel().submit(&submission).unwrap().task_id
}

/// The record of a message and where in the log it was taken in.
fn received(log: &[(model::Event, Body)], id: IngressId) -> (usize, IngressRecord) {
    let found = log.iter().enumerate().find_map(|(at, (_, body))| match body {
        Body::IngressReceived(b) if b.record.ingress_id == id => Some((at, b.record.clone())),
        _ => None,
    });
    found.expect("every message is on record")
}

#[conforms::conforms("HK-8.1.2-1", "HK-8.1.2-2", "HK-8.1.2-4", part = "HK-8.1.2-5", "HK-27-15")]
#[test]
fn every_message_is_on_record_before_it_changes_a_task() {
    let world = World::new(101);
    let ask = say("ask", json!({ "question": "which?" }));
    let task = world.script("ask first", vec![ask, done("a"), done("b")]);
    world.kernel().append_note(task, "mind the gap", Channel::App, "note").unwrap();
    world.kernel().queue(task, &Note::of("and a summary", Channel::Acp, "queued")).unwrap();
    assert!(world.kernel().change_goal(task, "ask once more", Channel::Cli).unwrap());
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(task) else { panic!("no question") };
    world.kernel().answer(task, question, "the left one", Channel::RunApi).unwrap();
    assert_eq!(world.drive(task), completed());
    let log = log(world.kernel());
    let changes = log.iter().enumerate().filter_map(|(at, (_, body))| match body {
        Body::TaskCreated(b) => Some((at, b.ingress_id)),
        Body::TaskInputAdded(b) => Some((at, b.ingress_id)),
        Body::TaskInputQueued(b) => Some((at, b.ingress_id)),
        Body::ClarificationAnswered(b) => Some((at, b.ingress_id)),
        _ => None,
    });
    let mut said = Vec::new();
    for (at, id) in changes {
        let (before, record) = received(&log, id);
        assert!(before < at, "{} was taken in after it had changed the task", record.ingress_id);
        let bound = log.iter().position(|(_, body)| match body {
            Body::IngressBound(b) if b.ingress_id == id => {
                assert_eq!(b.chosen_task_id, Some(task));
                assert!(!b.rationale.shown().unwrap().is_empty(), "why it was bound is said");
                assert!(
                    b.candidates.is_empty() || b.candidates.contains(&task),
                    "a choice is one of the candidates"
                );
                true
            }
            _ => false,
        });
        assert!(bound.is_some_and(|bound| before < bound && bound < at));
        let value = serde_json::to_value(&record).unwrap();
        for field in fields("ingress") {
            assert!(value.get(field).is_some_and(|v| !v.is_null()), "`{field}` is missing in {value}");
        }
        let normalized = record.normalized_text.shown().unwrap();
        assert_eq!(normalized, record.raw_text.shown().unwrap().trim());
        said.push((record.raw_text.shown().unwrap().clone(), record.source_channel));
    }
    said.dedup();
    let expected = [
        ("ask first", Channel::Cli),
        ("mind the gap", Channel::App),
        ("and a summary", Channel::Acp),
        ("the left one", Channel::RunApi),
    ];
    assert_eq!(said, expected.map(|(text, channel)| (text.to_owned(), channel)));
    let edited = |body: &Body| matches!(body, Body::TaskGoalChanged(_));
    assert!(first(&log, &|body| came(body, "ask once more")) < first(&log, &edited), "so is another goal");
    // Words that end what a task is at are on record before anything of it has ended.
    let task = world.script("write", vec![write("a.txt", "x"), done("done")]);
    world.drive_to_approval(task);
    let note = Note::of("something else", Channel::App, "stop");
    world.kernel().stop_and_send(task, &note).unwrap();
    let log = crate::story::log(world.kernel());
    let stopped = |body: &Body| {
        matches!(body, Body::ApprovalInvalidated(_))
            || matches!(body, Body::AttemptStatusChanged(b) if b.to == AttemptStatus::Superseded)
    };
    assert!(first(&log, &|body| came(body, "something else")) < first(&log, &stopped));
}

/// Whether these words came in.
fn came(body: &Body, words: &str) -> bool {
    matches!(body, Body::IngressReceived(b) if b.record.raw_text.shown().is_some_and(|text| text == words))
}

/// The place of the first event like that.
fn first(log: &[(model::Event, Body)], is_it: &dyn Fn(&Body) -> bool) -> usize {
    log.iter().position(|(_, body)| is_it(body)).expect("it is on record")
}

#[conforms::conforms(part = "HK-8.1.2-1", part = "HK-8.1.2-4", "HK-8.1.2-6", "HK-8.1.2-8")]
#[test]
fn a_message_that_was_not_bound_says_so_and_stops_nothing() {
    let mut world = World::new(102);
    world.reasoners.script("lost", vec![done("found")]);
    let submission = world.submission("lost", Reasoning::Scripted { name: "lost".to_owned() });
    world.faults.plan(Point::IngressBind, Edge::Before, Mode::Abort, 1);
    assert!(world.kernel().submit(&submission).is_err());
    assert!(world.faults.fired());
    world.faults.clear();
    world.reopen();
    let query = world.kernel().query().unwrap();
    let conversation = query.conversations(Ask::ALL).unwrap().rows[0].conversation_id;
    let open = query.ingress(conversation, Ask::ALL).unwrap().rows.remove(0);
    assert_eq!(open.text.shown().unwrap(), "lost");
    assert_eq!(open.resolution, IngressResolution::PendingDisambiguation);
    assert_eq!(open.chosen_task_id, None, "no binding is claimed that was not made");
    let other = world.script("another", vec![done("done")]);
    assert_eq!(world.drive(other), completed(), "an open message is no error");
    let bound = world.kernel().bind_unbound().unwrap();
    assert_eq!(bound.len(), 1);
    assert_eq!(world.drive(bound[0]), completed());
    let now = world.kernel().query().unwrap().ingress(conversation, Ask::ALL).unwrap().rows;
    let now = now.iter().find(|row| row.ingress_id == open.ingress_id).unwrap();
    assert_eq!((now.chosen_task_id, now.resolution), (Some(bound[0]), IngressResolution::StartNewRoot));
}

#[conforms::conforms(part = "HK-8.1-2", part = "HK-8.1-3", part = "HK-25.1-1", part = "HK-27-1")]
#[test]
fn whatever_the_channel_there_is_a_task_before_anything_runs() {
    let world = World::new(103);
    for channel in Channel::ALL {
        let task = submit(&world, channel.as_str(), |s| s.channel = *channel);
        let state_before = state(&world, task);
        assert_eq!(state_before.task.status, TaskStatus::Ready);
        assert_eq!(state_before.task.source_channel, *channel);
        assert!(state_before.attempts.is_empty(), "taking a message in runs nothing");
        world.kernel().append_note(task, "and this", *channel, &format!("note:{channel}")).unwrap();
        assert_eq!(world.drive(task), completed());
        let types = types(world.kernel(), task);
        assert_eq!(place(&types, "task.created"), 0, "the task exists before it is worked on");
        assert!(place(&types, "task.input_added") < place(&types, "attempt.created"));
        assert_eq!(state(&world, task).absorbed.len(), 1, "a message to a task goes on with it");
    }
    let nobody = TaskId::fresh(&*world.clock, &*world.entropy);
    assert!(
        matches!(world.kernel().drive(nobody), Err(Error::NotFound { .. })),
        "without a task nothing runs"
    );
}

#[conforms::conforms(
    "HK-8.1-6",
    "HK-8.1.1-1",
    "HK-8.1.1-3",
    "HK-8.1.1-4",
    "HK-8.1.1-5",
    "HK-8.1.1-6",
    "HK-8.1.1-7"
)]
#[test]
fn a_follow_up_to_an_ended_task_is_a_new_task_with_an_anchor() {
    let world = World::new(104);
    let task = world.script("first", vec![done("the answer"), done("again")]);
    world.kernel().append_note(task, "while it is open", Channel::Cli, "one").unwrap();
    assert_eq!(world.drive(task), completed());
    let before = events(world.kernel(), task).len();
    let late = world.kernel().append_note(task, "too late", Channel::Cli, "two");
    assert!(matches!(late, Err(Error::Conflict(_))), "an ended task takes no more words");
    let next = world.kernel().retry(task, "again".to_owned()).unwrap().task_id;
    assert_ne!(next, task);
    assert_eq!(world.drive(next), completed());
    assert_eq!(events(world.kernel(), task).len(), before, "the ended task was not touched");
    assert_eq!(state(&world, task).task.status, TaskStatus::Completed);
    let new = state(&world, next).task;
    assert_eq!(new.parent_task_id, None, "to follow is not to descend");
    let anchor = new.continuation_anchor.expect("an anchor");
    assert_eq!(anchor.anchor_task_id, task);
    assert_eq!(anchor.anchor_kind, "completed_outcome");
    assert_eq!(anchor.outcome_status, TaskStatus::Completed);
    assert!(!anchor.selection_reason.shown().unwrap().is_empty());
    assert!(!anchor.outcome_summary.shown().unwrap().is_empty());
    let [answer] = anchor.source_artifact_refs[..] else { panic!("the answer is named") };
    let digest = state(&world, task).digest_of(answer).expect("an artifact of the first task");
    assert_eq!(world.kernel().artifacts().read(&digest).unwrap(), b"the answer");
    let value = serde_json::to_value(&anchor).unwrap();
    let mut fields: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    let minimum = ["anchor_kind", "anchor_task_id", "outcome_status", "outcome_summary", "selection_reason"];
    assert_eq!(fields[..5], minimum, "typed fields and no transcript");
    assert_eq!(fields[5..], ["source_artifact_refs"]);
}

#[test]
fn who_follows_is_told_what_was_asked_and_how_it_ended_and_believes_it_as_little_as_anything_read() {
    let world = World::new(107);
    let task = world.script("write the summary", vec![done("it stands in SUMMARY.md"), done("again")]);
    assert_eq!(world.drive(task), completed());
    assert!(
        packs(world.kernel(), task).iter().all(|pack| before(pack).is_none()),
        "nothing came before the first"
    );
    let next = world.kernel().retry(task, "again".to_owned()).unwrap().task_id;
    assert_eq!(world.drive(next), completed());
    let packs = packs(world.kernel(), next);
    assert!(!packs.is_empty() && packs.iter().all(|pack| before(pack).is_some()));
    let item = packs[0].items.iter().find(|item| item.title.starts_with("the task before")).unwrap();
    for words in
        ["It was asked: write the summary", "It ended: completed", "not verified: it stands in SUMMARY.md"]
    {
        assert!(item.text.contains(words), "{}", item.text);
    }
    assert_eq!(item.trust_tier, TrustTier::Untrusted);
    assert!(item.text.starts_with("[[data"), "it is content, and instructs nobody: {}", item.text);
    let before = state(&world, task);
    let answer = before.artifacts.values().find(|a| a.kind == ArtifactKind::Answer).unwrap().artifact_id;
    assert!(packs[0].inputs.contains(&answer), "what comes of it leads back to it");
}

/// What a pack says of the task before.
fn before(pack: &ContextPack) -> Option<&str> {
    pack.items.iter().find(|item| item.title.starts_with("the task before")).map(|item| item.text.as_str())
}

/// A person erases the answer of a task, and the goal of which it is said there.
fn erase_answer(world: &World, kernel: &Kernel, task: TaskId) {
    let state = kernel.task(task).unwrap();
    let answer = state.artifacts.values().find(|a| a.kind == ArtifactKind::Answer).unwrap();
    let created = kernel.reader().events(task, 0, 1).unwrap().remove(0);
    let values = seal::disclose::concealed_in(&created.bytes);
    let values = values.map(|digest| str::from_utf8(digest).unwrap().parse().unwrap());
    let erasure = Erasure {
        values: values.collect(),
        contents: vec![(answer.artifact_id, answer.content_hash)],
        written: Vec::new(),
        tasks: vec![task],
    };
    let signed = Signed::of(
        kernel.reader().log_id(),
        Matter::Erase,
        erasure.sha256().unwrap(),
        kernel.ports().clock.now(),
        world.person.signer(),
    );
    kernel.erase(&erasure, &signed.unwrap()).unwrap();
}

#[test]
fn who_follows_a_task_whose_answer_was_erased_is_told_that_it_was_and_goes_on() {
    let world = World::new(108);
    let task = world.script("write the summary", vec![done("it stands in SUMMARY.md"), done("again")]);
    assert_eq!(world.drive(task), completed());
    let next = world.kernel().retry(task, "again".to_owned()).unwrap().task_id;
    erase_answer(&world, world.kernel(), task);
    assert_eq!(world.drive(next), completed(), "what was erased stops nobody");
    let packs = packs(world.kernel(), next);
    let told = before(&packs[0]).unwrap();
    for words in ["It was asked: (erased)", "It ended: completed", "not verified: (erased)"] {
        assert!(told.contains(words), "{told}");
    }
    assert!(!told.contains("SUMMARY.md"), "{told}");
}

/// Three turns after a task has ended; what happens while the model is asked for the second of them is given.
fn followed(seed: u64, meanwhile: impl Fn(&World, &Kernel, TaskId) + Send + Sync + 'static) -> Vec<String> {
    let world = Arc::new(World::new(seed));
    let words = "it stands in SUMMARY.md ".repeat(4_000);
    let task = world.script("write the summary", vec![done(&words)]);
    assert_eq!(world.drive(task), completed());
    world.file("a.txt", "text");
    let (mut turn, there) = (0, Arc::downgrade(&world));
    let follower = reasoning::Scripted::with(move |_| {
        turn += 1;
        if turn == 2 {
            let world = there.upgrade().expect("a world");
            meanwhile(&world, world.kernel(), task);
        }
        Ok(if turn < 3 { look("a.txt") } else { done("done") })
    });
    let next = world.kernel().retry(task, "again".to_owned()).unwrap().task_id;
    world.reasoners.put("write the summary", Arc::new(follower));
    assert_eq!(world.drive(next), completed());
    packs(world.kernel(), next).iter().map(|pack| before(pack).unwrap().to_owned()).collect()
}

#[test]
fn the_task_before_is_read_once_in_an_attempt_and_anew_when_something_was_erased() {
    let read_once = followed(109, |world, kernel, task| {
        let state = kernel.task(task).unwrap();
        let answer = state.artifacts.values().find(|a| a.kind == ArtifactKind::Answer).unwrap();
        std::fs::remove_file(world.kernel().artifacts().path_of(&answer.content_hash)).unwrap();
    });
    assert_eq!(read_once.len(), 3);
    assert!(read_once.iter().all(|told| told.contains("SUMMARY.md")), "{read_once:?}");
    let erased = followed(110, erase_answer);
    assert!(erased[0].contains("SUMMARY.md") && erased[1].contains("SUMMARY.md"));
    assert!(
        erased[2].contains("not verified: (erased)") && !erased[2].contains("SUMMARY.md"),
        "{}",
        erased[2]
    );
}

#[conforms::conforms("HK-8.1.3-3", "HK-8.1.3-4", "HK-8.1.3-5")]
#[test]
fn a_note_adds_a_child_stands_apart_and_a_root_stands_alone() {
    let world = World::new(105);
    let note = say("note", json!({ "plan": "the parent's plan" }));
    let parent =
        world.script("parent", vec![note, say("ask", json!({ "question": "go on?" })), done("done")]);
    world.kernel().append_note(parent, "the parent's note", Channel::Cli, "note").unwrap();
    let inputs: Vec<String> = state(&world, parent).inputs.into_iter().map(|input| input.text).collect();
    assert_eq!(inputs, ["the parent's note"], "a note is input of the task");
    world.drive(parent);
    assert!(state(&world, parent).working_state.is_some());
    let child = submit(&world, "child", |s| s.parent_task_id = Some(parent));
    let root = submit(&world, "root", |_| {});
    let (of_child, of_root) = (state(&world, child), state(&world, root));
    assert_eq!(of_child.task.parent_task_id, Some(parent));
    assert!(of_child.working_state.is_none(), "a child does not inherit the working state");
    assert_eq!(world.drive(child), completed());
    assert!(!packs(world.kernel(), child).iter().any(|pack| shows(pack, "the parent's")));
    assert_eq!((of_root.task.parent_task_id, &of_root.task.continuation_anchor), (None, &None));
    assert_eq!(world.drive(root), completed());
    assert!(!packs(world.kernel(), root).iter().any(|pack| shows(pack, "the parent's")), "it knows of none");
    assert_eq!(of_root.task.conversation_id, of_child.task.conversation_id, "in the same conversation");
    let resolutions: Vec<_> = log(world.kernel())
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::IngressBound(b) => Some((b.resolution, b.chosen_task_id.unwrap())),
            _ => None,
        })
        .collect();
    let expected = [
        (IngressResolution::StartNewRoot, parent),
        (IngressResolution::AppendNote, parent),
        (IngressResolution::ForkChild, child),
        (IngressResolution::StartNewRoot, root),
    ];
    assert_eq!(resolutions, expected);
}

#[conforms::conforms("HK-8.3-5", part = "HK-8.3-10", part = "HK-11.5-4", "HK-11.5-5")]
#[test]
fn a_note_never_reaches_what_is_already_under_way() {
    let world = World::new(106);
    world.file("a.txt", "text");
    let (halted, at) = testkit::stop();
    let mut turn = 0;
    let slow = reasoning::Scripted::with(move |_| {
        turn += 1;
        if turn > 1 {
            return Ok(done("done"));
        }
        halted.waits();
        Ok(look("a.txt"))
    });
    world.reasoners.put("slow", Arc::new(slow));
    let submission = world.submission("slow", Reasoning::Scripted { name: "slow".to_owned() });
    let task = world.kernel().submit(&submission).unwrap().task_id;
    std::thread::scope(|scope| {
        let driving = scope.spawn(|| world.drive(task));
        at.is_reached();
        world.kernel().append_note(task, "think of the children", Channel::App, "note").unwrap();
        let now = state(&world, task);
        assert_eq!((now.inputs.len(), now.absorbed.len()), (1, 0), "it waits as a delta");
        assert_eq!(now.attempt().unwrap().attempt.status, AttemptStatus::Reasoning, "what runs goes on");
        assert!(
            matches!(world.kernel().drive(task), Err(Error::Conflict(_))),
            "nobody else takes the attempt"
        );
        at.goes_on();
        assert_eq!(driving.join().unwrap(), completed());
    });
    let packs = packs(world.kernel(), task);
    let seen: Vec<bool> = packs.iter().map(|pack| shows(pack, "think of the children")).collect();
    assert_eq!(seen, [false, true], "the turn under way did not see it, the next one did");
    let events = events(world.kernel(), task);
    let absorbed = events.iter().find_map(|(_, body)| match body {
        Body::TaskInputAbsorbed(b) => Some(b.boundary),
        _ => None,
    });
    assert_eq!(absorbed, Some(Boundary::PreCompilation));
    assert_eq!(count(world.kernel(), task, "attempt.created"), 1);
}

#[test]
fn a_note_before_the_first_turn_is_in_the_first_pack() {
    let world = World::new(107);
    let task = world.script("write", vec![write("a.txt", "x"), done("done")]);
    world.kernel().append_note(task, "in small letters", Channel::Cli, "note").unwrap();
    world.drive_to_approval(task);
    assert!(shows(&packs(world.kernel(), task)[0], "in small letters"));
}
