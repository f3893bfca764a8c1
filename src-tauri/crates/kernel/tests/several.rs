//! Several requests of one answer: done in their order, each with its own judgement, card and receipt, exactly once across
//! every crash; and left where one of them fails, is refused, or a person speaks.

use crate::story::{completed, count, die, events, object, packs, shows, state};
use acts::ActionRequest;
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Waiting};
use model::artifact::ArtifactKind;
use model::fault::Point;
use model::ingress::Channel;
use model::policy::Profile;
use model::proposal::Answer;
use model::{Body, TaskId};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::{Edge, Mode, Server, World, change, done, fetch, look, say, write};

/// Several calls in one answer.
pub fn together(answers: Vec<Answer>) -> Answer {
    let calls = answers.into_iter().flat_map(|answer| answer.calls).collect();
    Answer { calls, ..say("list", json!({ "path": "" })) }
}

fn begin(world: &World, answers: Vec<Answer>) -> TaskId {
    world.file("letter.txt", "write two notes");
    world.script("notes", answers)
}

/// Two looks and two changes, in turns.
fn notes() -> Vec<Answer> {
    let answer = vec![look("letter.txt"), write("1.md", "one"), look("letter.txt"), write("2.md", "two")];
    vec![together(answer), done("both are written")]
}

fn ours(world: &World) -> Vec<String> {
    world.files().into_keys().filter(|name| name.ends_with(".md")).collect()
}

/// The requests of a task in order.
fn requests(world: &World, task: TaskId) -> Vec<ActionRequest> {
    let now = state(world, task);
    let of = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ActionRequested(b) => Some(object(world.kernel(), &now, b.request.artifact_id)),
        _ => None,
    });
    of.collect()
}

#[test]
fn a_look_a_change_and_a_request_of_one_answer_are_done_in_order_each_by_itself() {
    let world = World::new(1_401);
    let server = Server::agreeing();
    world.file("letter.txt", "write a note");
    let answer = vec![
        look("letter.txt"),
        write("1.md", "one"),
        fetch("POST", &server.url("/n"), Some("x")),
        write("2.md", "two"),
    ];
    world.reasoners.script("notes", vec![together(answer), done("ok")]);
    let submission = world.submission("notes", Reasoning::Scripted { name: "notes".to_owned() });
    let submission = Submission { profile: Profile::ExternalPublishGated, ..submission };
    let task = world.kernel().submit(&submission).unwrap().task_id;
    let (ended, asked) = world.drive_allowing(task);
    assert_eq!(ended, completed());
    assert_eq!(ours(&world), ["1.md", "2.md"]);
    let kernel = world.kernel();
    assert_eq!(count(kernel, task, "attempt.model_requested"), 2, "it was not asked in between");
    assert_eq!(count(kernel, task, "attempt.answer_continued"), 3);
    let all = requests(&world, task);
    let tools: Vec<&str> = all.iter().map(|request| request.action.tool()).collect();
    assert_eq!(tools, ["observe", "change", "fetch", "change"]);
    // None of them rests on what came of another: the model had seen none of it.
    assert!(all.iter().all(|request| request.evidence_refs.is_empty()), "{all:?}");
    let now = state(&world, task);
    let policies = now.artifacts.values().filter(|a| a.kind == ArtifactKind::PolicyResult).count();
    assert_eq!(
        (policies, asked, now.grants.len()),
        (4, 3, 4),
        "each is judged and granted by itself, and all but the look asked about"
    );
    let receipts = events(kernel, task).into_iter().filter(|(_, body)| match body {
        Body::ReceiptIssued(b) => {
            b.action_request_id.is_some_and(|id| all.iter().any(|r| r.action_request_id == id))
        }
        _ => false,
    });
    assert_eq!(receipts.count(), 3, "and has its own receipt");
    let last = packs(kernel, task).pop().unwrap();
    assert!(shows(&last, "write a note"), "and the model sees what came of all of it");
}

/// Drives to the end, allowing all, through one death.
fn through(world: &mut World, task: TaskId) -> DriveOutcome {
    loop {
        let step = catch_unwind(AssertUnwindSafe(|| match world.kernel().drive(task).unwrap() {
            DriveOutcome::Waiting(Waiting::Approval(id)) => {
                world.person.allow(world.kernel(), task, id).unwrap();
                None
            }
            other => Some(other),
        }));
        match step {
            Ok(None) => {}
            Ok(Some(outcome)) => return outcome,
            Err(_) => {
                assert!(world.faults.fired(), "nothing else ends it");
                world.faults.clear();
                world.reopen();
                // An answer that was not kept is given again.
                let kept = count(world.kernel(), task, "attempt.model_responded");
                world.reasoners.script("notes", notes().into_iter().skip(kept).collect());
            }
        }
    }
}

#[test]
fn wherever_a_host_dies_each_of_them_is_done_once() {
    let world = World::new(1_402);
    let task = begin(&world, notes());
    world.faults.forget_hits();
    assert_eq!(world.drive_allowing(task).0, completed());
    let hits = world.faults.hits();
    drop(world);
    assert!(hits.contains_key(&(Point::EffectObserve, Edge::After)), "{hits:?}");
    // From the dispatch on, a look whose outcome nobody saw begins another attempt: what that comes to is not shown here yet.
    let before_dispatch = hits.into_iter().take_while(|((point, _), _)| *point != Point::EffectDispatch);
    for ((point, edge), times) in before_dispatch {
        for nth in 1..=times {
            let mut world = World::new(1_402);
            let task = begin(&world, notes());
            world.faults.plan(point, edge, Mode::Abort, nth);
            let at = format!("{point}, {edge:?}, {nth}");
            assert_eq!(through(&mut world, task), completed(), "{at}");
            assert!(world.oracle.performed().values().all(|times| *times == 1), "{at}");
            let done =
                requests(&world, task).into_iter().map(|request| request.action.tool()).collect::<Vec<_>>();
            assert_eq!(ours(&world), ["1.md", "2.md"], "{at}");
            assert_eq!(done, ["observe", "change", "observe", "change"], "{at}");
            assert_eq!(count(world.kernel(), task, "attempt.model_responded"), 2, "{at}");
        }
    }
}

#[test]
fn what_follows_a_failure_a_refusal_or_a_persons_words_is_left_and_the_model_is_told() {
    let left = "further requests of this answer: not done, because";
    // A failure.
    let world = World::new(1_403);
    let moved = change(json!([{ "op": "move", "from": "none.txt", "to": "b.txt" }]));
    let task =
        begin(&world, vec![together(vec![moved, look("letter.txt"), write("1.md", "one")]), done("gave up")]);
    assert_eq!(world.drive(task), completed());
    assert!(ours(&world).is_empty());
    assert!(shows(&packs(world.kernel(), task)[1], &format!("2 {left} of that")));
    // A refusal.
    let world = World::new(1_404);
    let answer = vec![write("1.md", "one"), look("letter.txt"), write("2.md", "two")];
    let task = begin(&world, vec![together(answer), done("gave up")]);
    let asked = world.drive_to_approval(task);
    world.person.deny(world.kernel(), task, asked, "no notes").unwrap();
    world.drive(task);
    assert!(ours(&world).is_empty());
    assert_eq!(count(world.kernel(), task, "action.requested"), 1);
    assert!(shows(&packs(world.kernel(), task)[1], &format!("2 {left} of that")));
    // Words that come when the first of them is done.
    let mut world = World::new(1_405);
    let task = begin(&world, notes());
    die(&mut world, task, Point::EffectObserve, Edge::After);
    assert_eq!(count(world.kernel(), task, "attempt.answer_continued"), 1, "it would have gone on");
    world.kernel().append_note(task, "stop, no notes", Channel::Cli, "n-1").unwrap();
    assert_eq!(world.drive(task), completed());
    assert!(ours(&world).is_empty());
    let next = packs(world.kernel(), task).remove(1);
    assert!(
        shows(&next, "stop, no notes")
            && shows(&next, &format!("3 {left} what was said meanwhile comes first"))
    );
}
