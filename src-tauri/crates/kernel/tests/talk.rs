//! What a person says while a task is at work: steered, queued, or in place of what it is at; a goal that is edited;
//! and words of which nobody can tell yet what they are about.

use crate::story::{completed, count, die, events, log, packs, shows, state};
use kernel::command::add_input::Note;
use kernel::command::bind::About;
use kernel::command::ingress::{Bound, Saying};
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Error, Waiting};
use model::approval::ApprovalStatus;
use model::attempt::AttemptStatus;
use model::fault::Point;
use model::ingress::{Channel, IngressResolution};
use model::task::TaskStatus;
use model::{Body, ConversationId, TaskId};
use projections::MessageKind;
use projections::query::Ask;
use serde_json::json;
use testkit::{Edge, Mode, World, done, say, write};

fn saying<'s>(text: &'s str, key: &'s str) -> Saying<'s> {
    Saying::of(text, Channel::App, key)
}

fn conversation(world: &World) -> ConversationId {
    world.kernel().query().unwrap().conversations(Ask::ALL.oldest_first()).unwrap().rows[0].conversation_id
}

fn focus(world: &World) -> Option<TaskId> {
    let query = world.kernel().query().unwrap();
    query.conversation(conversation(world)).unwrap().unwrap().focus_task_id
}

#[conforms::conforms("RA-1.4-4", "RA-4.3c-3", "RA-4.3c-1", "RA-4.3c-7")]
#[test]
fn queued_words_are_heard_one_at_a_time_when_the_run_would_be_done() {
    let world = World::new(201);
    // The same answer each time: what is new is what it was told.
    let task =
        world.script("tell", vec![done("well"), done("well"), done("well"), done("well"), done("well")]);
    for (words, key) in [("then the second", "a"), ("then the third", "b"), ("then the second", "a")] {
        world.kernel().queue(task, &Note::of(words, Channel::App, key)).unwrap();
    }
    for n in 0..2 {
        world
            .kernel()
            .queue(task, &Note::of(&format!("and more {n}"), Channel::App, &format!("c{n}")))
            .unwrap();
    }
    assert_eq!(state(&world, task).queued.len(), 4, "the same words with the same key are the same words");
    assert_eq!(world.drive(task), completed());
    let told: Vec<[bool; 3]> = packs(world.kernel(), task)
        .iter()
        .map(|pack| ["then the second", "then the third", "and more 1"].map(|words| shows(pack, words)))
        .collect();
    let expected = [
        [false, false, false],
        [true, false, false],
        [true, true, false],
        [true, true, false],
        [true, true, true],
    ];
    assert_eq!(told, expected);
    assert_eq!(count(world.kernel(), task, "attempt.created"), 1, "one attempt heard them all");
    assert_eq!(count(world.kernel(), task, "attempt.terminated"), 1);
    assert!(state(&world, task).queued.is_empty());
}

#[conforms::conforms("RA-1.4-4", "RA-4.3c-3")]
#[test]
fn what_is_queued_leaves_a_question_alone_and_what_is_steered_has_it_asked_anew() {
    let world = World::new(202);
    let task =
        world.script("write", vec![write("a.txt", "x"), write("a.txt", "y"), done("done"), done("done")]);
    let first = world.drive_to_approval(task);
    world.kernel().queue(task, &Note::of("and a summary", Channel::App, "queued")).unwrap();
    assert!(matches!(world.drive(task), DriveOutcome::Waiting(Waiting::Approval(id)) if id == first));
    world.kernel().append_note(task, "in capitals", Channel::App, "steered").unwrap();
    let DriveOutcome::Waiting(Waiting::Approval(second)) = world.drive(task) else { panic!("it asks again") };
    let now = state(&world, task);
    assert_eq!(now.approvals[&first].approval.status, ApprovalStatus::Invalidated);
    assert_eq!((now.inputs.len(), now.queued.len()), (0, 1));
    assert_ne!(first, second);
    assert_eq!(world.drive_allowing(task).0, completed());
    let last = packs(world.kernel(), task).pop().expect("a pack");
    assert!(shows(&last, "and a summary") && shows(&last, "in capitals"));
}

#[test]
fn words_said_while_the_last_turn_is_thought_are_heard_before_the_end() {
    let world = World::new(203);
    let (halted, at) = testkit::stop();
    let mut turn = 0;
    let slow = reasoning::Scripted::with(move |_| {
        turn += 1;
        if turn == 1 {
            halted.waits();
        }
        Ok(done("done"))
    });
    world.reasoners.put("slow", std::sync::Arc::new(slow));
    let submission = world.submission("slow", Reasoning::Scripted { name: "slow".to_owned() });
    let task = world.kernel().submit(&submission).unwrap().task_id;
    std::thread::scope(|scope| {
        let driving = scope.spawn(|| world.drive(task));
        at.is_reached();
        world.kernel().append_note(task, "one more thing", Channel::App, "note").unwrap();
        at.goes_on();
        assert_eq!(driving.join().unwrap(), completed());
    });
    let heard: Vec<bool> = packs(world.kernel(), task).iter().map(|p| shows(p, "one more thing")).collect();
    assert_eq!(heard, [false, true]);
}

#[conforms::conforms("RA-1.4-4", "RA-4.3c-6")]
#[test]
fn to_stop_and_to_send_is_one_thing_whenever_the_host_dies() {
    for edge in [Edge::Before, Edge::After] {
        let mut world = World::new(204);
        let task = world.script("write", vec![write("a.txt", "x"), done("done")]);
        let first = world.drive_to_approval(task);
        world.faults.plan(Point::AttemptSupersede, edge, Mode::Abort, 1);
        let sent = world.kernel().stop_and_send(task, &Note::of("something else", Channel::App, "stop"));
        assert!(sent.is_err() && world.faults.fired());
        world.faults.clear();
        world.reopen();
        let now = state(&world, task);
        let stopped = now.attempt().unwrap().attempt.status == AttemptStatus::Superseded;
        let said = now.inputs.iter().any(|input| input.text == "something else");
        assert_eq!((stopped, said), (edge == Edge::After, edge == Edge::After), "both or neither");
        world.kernel().stop_and_send(task, &Note::of("something else", Channel::App, "stop")).unwrap();
        let now = state(&world, task);
        assert_eq!(now.approvals[&first].approval.status, ApprovalStatus::Invalidated);
        assert_eq!(now.inputs.len(), 1, "said again it is the same");
        assert_eq!(world.drive(task), completed());
        assert_eq!(count(world.kernel(), task, "attempt.created"), 2);
        assert!(shows(&packs(world.kernel(), task).pop().unwrap(), "something else"));
    }
}

#[conforms::conforms("RA-4.3c-2", "RA-4.2-10", "RA-3-14")]
#[test]
fn an_edited_goal_is_the_goal_and_the_loop_says_what_follows() {
    let world = World::new(205);
    let task = world.script("the red ones", vec![write("a.txt", "x"), write("a.txt", "y"), done("done")]);
    let first = world.drive_to_approval(task);
    let attempts = count(world.kernel(), task, "attempt.created");
    assert!(world.kernel().change_goal(task, "the blue ones", Channel::App).unwrap());
    assert!(
        !world.kernel().change_goal(task, "the blue ones", Channel::App).unwrap(),
        "it is the goal already"
    );
    let now = state(&world, task);
    assert_eq!(now.goal_text(), "the blue ones");
    assert_eq!(
        now.attempt().unwrap().attempt.status,
        AttemptStatus::AwaitingApproval,
        "nothing else is decided"
    );
    let DriveOutcome::Waiting(Waiting::Approval(second)) = world.drive(task) else { panic!("it asks again") };
    assert_ne!(first, second);
    assert_eq!(count(world.kernel(), task, "attempt.created"), attempts, "the same attempt goes on");
    let packs = packs(world.kernel(), task);
    assert!(shows(&packs[0], "the red ones") && !shows(&packs[0], "the blue ones"));
    assert!(shows(&packs[1], "the blue ones") && !shows(&packs[1], "the red ones"), "{:?}", packs[1].items);
    for (goal, edits) in [("the red ones", 2), ("the blue ones", 3)] {
        assert!(world.kernel().change_goal(task, goal, Channel::App).unwrap(), "back and forth are edits");
        assert_eq!(state(&world, task).goal_edits, edits);
    }
    let bound: Vec<_> = log(world.kernel())
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::IngressBound(b) => Some(b.resolution),
            _ => None,
        })
        .collect();
    assert_eq!(bound[1..], [IngressResolution::Control; 3], "an edit is on record as what came in");
    world.kernel().cancel(task, "enough").unwrap();
    world.drive(task);
    assert!(matches!(world.kernel().change_goal(task, "late", Channel::App), Err(Error::Conflict(_))));
}

#[test]
fn a_task_that_has_not_begun_begins_with_the_goal_as_it_was_edited_and_both_stay_on_record() {
    let mut world = World::new(208);
    let task = world.script("the red ones", vec![done("done")]);
    assert!(world.kernel().change_goal(task, "the blue ones", Channel::App).unwrap());
    assert!(matches!(world.kernel().change_goal(task, "theirs", Channel::Webhook), Err(Error::Refused(_))));
    world.reopen();
    assert!(state(&world, task).current.is_none(), "nothing has begun");
    assert_eq!(world.drive(task), completed());
    let packs = packs(world.kernel(), task);
    assert!(packs.iter().all(|pack| shows(pack, "the blue ones") && !shows(pack, "the red ones")));
    let kernel = world.kernel();
    let conversation = state(&world, task).task.conversation_id;
    let said =
        kernel.query().unwrap().messages(conversation, Some(task), Ask::ALL.oldest_first()).unwrap().rows;
    let said = said.into_iter().filter(|line| line.kind == MessageKind::Message);
    let said: Vec<_> = said.map(|line| line.text.unwrap().shown().cloned().unwrap()).collect();
    assert_eq!(said, ["the red ones", "the blue ones"], "both are told");
    let mut why = log(kernel).into_iter().filter_map(|(_, body)| match body {
        Body::IngressBound(b) => b.rationale.shown().cloned(),
        _ => None,
    });
    assert!(why.next_back().unwrap().contains("has not begun"));
    let again = kernel.retry(task, "again".to_owned()).unwrap().task_id;
    let title = state(&world, again).task.title;
    assert_eq!(title.shown().unwrap(), "the blue ones", "it is called by what it is to do");
}

#[conforms::conforms(
    "HK-8.1.2-5",
    "HK-8.1.2-6",
    "HK-8.1.2-8",
    part = "HK-8.1.3-1",
    part = "HK-8.1.3-2",
    "HK-8.1.3-3"
)]
#[test]
fn words_are_bound_by_what_they_name_then_by_focus_then_by_being_the_only_ones() {
    let world = World::new(206);
    let asks = || vec![say("ask", json!({ "question": "which?" })), done("done")];
    let talk = |text: &str, key: &str| world.kernel().say(&saying(text, key)).unwrap();
    let nothing = talk("hello", "0");
    assert_eq!((nothing.resolution, nothing.task_id), (IngressResolution::PendingDisambiguation, None));
    let (one, two) = (world.script("one", vec![done("1")]), world.script("two", asks()));
    // The newest task is in focus, because a person has just made it.
    assert_eq!(focus(&world), Some(two));
    let by_focus = talk("mind the gap", "1");
    assert_eq!((by_focus.task_id, by_focus.resolution), (Some(two), IngressResolution::AppendNote));
    assert!(by_focus.rationale.contains("focus"), "{by_focus:?}");
    let by_name = talk(&format!("tell {one} to wait"), "2");
    assert_eq!(by_name.task_id, Some(one), "{by_name:?}");
    assert_eq!(focus(&world), Some(one), "a person turned to it by naming it");
    let named = world.kernel().say(&Saying { task: Some(two), ..saying("outright", "3") }).unwrap();
    assert_eq!(named.task_id, Some(two));
    world.kernel().turn_to(conversation(&world), None).unwrap();
    let open = talk("which one do I mean?", "4");
    assert_eq!(open.resolution, IngressResolution::PendingDisambiguation);
    let mut candidates = open.candidates.clone();
    candidates.sort_unstable();
    let mut both = vec![one, two];
    both.sort_unstable();
    assert_eq!((candidates, open.task_id), (both, None), "nobody guesses");
    assert_eq!(talk("which one do I mean?", "4"), open, "the same message is the same message");
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(two) else { panic!("no question") };
    let answer = world.kernel().say(&Saying { reply_to: Some(&question.to_string()), ..saying("left", "5") });
    assert_eq!(answer.unwrap().task_id, Some(two));
    assert_eq!(world.drive(two), completed());
    world.kernel().turn_to(conversation(&world), None).unwrap();
    let only = talk("hurry", "6");
    assert_eq!(only.task_id, Some(one), "one is open and no other");
    // The log says of each why it was bound as it was, and what else it might have been about.
    let bound = [&by_focus, &by_name, &named, &open, &only].map(|bound| {
        let recorded = log(world.kernel()).into_iter().rev().find_map(|(_, body)| match body {
            Body::IngressBound(b) if b.ingress_id == bound.ingress_id => Some(b),
            _ => None,
        });
        let recorded = recorded.expect("it is on record");
        assert_eq!((recorded.chosen_task_id, &recorded.candidates), (bound.task_id, &bound.candidates));
        assert_eq!(recorded.rationale.shown(), Some(&bound.rationale));
        bound.rationale.clone()
    });
    // What focus bound, or being the only one, named no task, and does not count as if it had.
    let named = [&by_focus, &by_name, &named, &open, &only].map(|bound| {
        let record = crate::conversing::record(&world, bound.ingress_id);
        (record.explicit_task_ref, record.chosen_task_id)
    });
    let names = |task| (Some(task), Some(task));
    assert_eq!(named, [(None, Some(two)), names(one), names(two), (None, None), (None, Some(one))]);
    let reasons: std::collections::BTreeSet<&String> = bound.iter().collect();
    assert_eq!(reasons.len(), bound.len(), "each has its own reason: {bound:?}");
    let missing = world.kernel().say(&Saying { reply_to: Some("task_x"), ..saying("x", "7") });
    assert!(matches!(missing, Err(Error::NotFound { .. })));
    assert!(world.kernel().say(&saying(" ", "8")).is_err());
}

#[conforms::conforms(
    "HK-8.1.1-1",
    "HK-8.1.1-3",
    "HK-8.1.1-4",
    "HK-8.1.1-5",
    "HK-8.1.2-7",
    part = "HK-8.1.3-1",
    "HK-8.1.3-4",
    "HK-8.1.3-5"
)]
#[test]
fn a_person_says_what_an_open_message_is_about_and_says_it_once() {
    let mut world = World::new(207);
    let first = world.script("first", vec![done("the answer")]);
    assert_eq!(world.drive(first), completed());
    let open = |world: &World, key: &str| -> Bound {
        let bound = world.kernel().say(&saying("and the others?", key)).unwrap();
        assert_eq!(bound.resolution, IngressResolution::PendingDisambiguation, "{bound:?}");
        assert_eq!(bound.candidates, [first], "the last one may be meant, or something new");
        bound
    };
    let mut waiting: Vec<Bound> = ["a", "b", "c"].iter().map(|key| open(&world, key)).collect();
    let query = world.kernel().query().unwrap();
    assert_eq!(
        query
            .ingress_by_status(model::ingress::IngressStatus::PendingDisambiguation, Ask::ALL)
            .unwrap()
            .rows
            .len(),
        3
    );
    drop(query);
    world.reopen();
    assert!(world.kernel().bind_unbound().unwrap().is_empty(), "a host that starts decides nothing");
    world.reasoners.script("first", vec![done("1"), done("2"), done("3"), done("4"), done("5"), done("6")]);
    let follow = waiting.remove(0);
    let followed = world.kernel().bind_message(follow.ingress_id, About::Task(first)).unwrap();
    let follower = followed.task_id.expect("a task");
    assert_ne!(follower, first, "an ended task is never reopened");
    let anchor = state(&world, follower).task.continuation_anchor.expect("an anchor");
    assert_eq!((anchor.anchor_task_id, anchor.outcome_status), (first, TaskStatus::Completed));
    assert_eq!(state(&world, follower).goal_text(), "and the others?");
    let again = world.kernel().bind_message(follow.ingress_id, About::Talk);
    assert!(matches!(again, Err(Error::Conflict(_))), "it is bound once");
    let apart = world.kernel().bind_message(waiting.remove(0).ingress_id, About::New(first)).unwrap();
    let apart = state(&world, apart.task_id.expect("a task")).task;
    assert_eq!((apart.parent_task_id, apart.continuation_anchor.is_none()), (None, true));
    let talk = world.kernel().bind_message(waiting.remove(0).ingress_id, About::Talk).unwrap();
    assert_eq!((talk.resolution, talk.task_id), (IngressResolution::ChatOnly, None));
    let child = world.kernel().say(&Saying { conversation_id: None, ..saying("a part of it", "d") }).unwrap();
    // Something is in focus now, so this one is bound; a child is made of one that is open.
    assert_eq!(child.resolution, IngressResolution::AppendNote);
    world.kernel().turn_to(conversation(&world), None).unwrap();
    let part = world.kernel().say(&saying("a part of it", "e")).unwrap();
    let part = world.kernel().bind_message(part.ingress_id, About::Child(follower)).unwrap();
    assert_eq!(part.resolution, IngressResolution::ForkChild);
    let part = state(&world, part.task_id.expect("a task"));
    assert_eq!(part.task.parent_task_id, Some(follower));
    assert!(part.working_state.is_none() && part.task.continuation_anchor.is_none());
    let rows = world
        .kernel()
        .query()
        .unwrap()
        .ingress_by_status(model::ingress::IngressStatus::PendingDisambiguation, Ask::ALL)
        .unwrap()
        .rows;
    assert!(rows.is_empty(), "{rows:?}");
    assert_eq!(
        events(world.kernel(), first).len(),
        count_before(&world, first),
        "the ended task is as it was"
    );
}

#[conforms::conforms("HK-8.1.1-3")]
#[test]
fn words_to_a_task_that_has_ended_are_a_new_task_that_follows_it() {
    let world = World::new(209);
    let first = world.script("first", vec![done("the answer")]);
    assert_eq!(world.drive(first), completed());
    let before = events(world.kernel(), first).len();
    let said = world.kernel().say(&Saying { task: Some(first), ..saying("and the others?", "a") }).unwrap();
    let follower = said.task_id.expect("a task");
    assert_ne!(follower, first, "an ended task is never reopened");
    let anchor = state(&world, follower).task.continuation_anchor.expect("an anchor");
    assert_eq!((anchor.anchor_task_id, anchor.outcome_status), (first, TaskStatus::Completed));
    assert_eq!(state(&world, follower).goal_text(), "and the others?");
    assert_eq!(events(world.kernel(), first).len(), before, "the ended task is as it was");
}

fn count_before(world: &World, task: TaskId) -> usize {
    let ended = events(world.kernel(), task);
    let end =
        ended.iter().position(|(_, body)| matches!(body, Body::TaskStatusChanged(b) if b.to.is_terminal()));
    // Behind its end only its checkpoint may stand.
    let behind = ended[end.expect("it ended") + 1..].iter();
    assert!(behind.clone().all(|(event, _)| !event.event_type.starts_with("task.")), "nothing of it changed");
    ended.len()
}

#[conforms::conforms(part = "HK-13.6-17")]
#[test]
fn conversations_stand_apart_and_nothing_in_the_background_takes_the_focus() {
    let world = World::new(208);
    let here = world.script("here", vec![write("a.txt", "x"), done("done")]);
    let there = world.kernel().open_conversation("  the other one\nsecond line ", None).unwrap();
    assert!(world.kernel().open_conversation(" ", None).is_err());
    let row = world.kernel().query().unwrap().conversation(there).unwrap().unwrap();
    assert_eq!(row.title.shown().map(String::as_str), Some("the other one"));
    world.reasoners.script("there", vec![done("done")]);
    let mut submission = world.submission("there", Reasoning::Scripted { name: "there".to_owned() });
    submission.conversation_id = Some(there);
    let other = world.kernel().submit(&submission).unwrap().task_id;
    assert_eq!(focus(&world), Some(here), "work elsewhere does not take it");
    world.drive_to_approval(here);
    assert_eq!(focus(&world), Some(here), "nor does progress or a question");
    world.kernel().append_note(other, "for the other", Channel::App, "n").unwrap();
    let said = world.kernel().query().unwrap().ingress(there, Ask::ALL).unwrap().rows;
    assert!(
        said.iter().any(|row| row.text.shown().is_some_and(|t| t == "for the other")),
        "in its own conversation"
    );
    world.kernel().append_note(here, "by a program", Channel::Mcp, "m").unwrap();
    assert_eq!(focus(&world), Some(here));
    let wrong = world.kernel().turn_to(there, Some(here));
    assert!(matches!(wrong, Err(Error::Conflict(_))), "a task has one conversation");
    assert_eq!(world.drive(other), completed());
    let row = world.kernel().query().unwrap().conversation(there).unwrap().unwrap();
    assert_eq!((row.focus_task_id, row.last_focus), (None, Some(other)));
    let bound = world.kernel().say(&Saying { conversation_id: Some(there), ..saying("more", "9") }).unwrap();
    assert_eq!(bound.candidates, [other], "here only what is of here");
}

#[conforms::conforms("RX-5-5", "RA-3-5", "RA-P-3")]
#[test]
fn a_cancel_while_a_tool_is_at_work_ends_the_run_once_and_nothing_is_written_late() {
    for (point, edge) in [
        (Point::EffectDispatch, Edge::Before),
        (Point::EffectDispatch, Edge::After),
        (Point::EffectObserve, Edge::Before),
        (Point::EffectObserve, Edge::After),
    ] {
        let mut world = World::new(209);
        let task = world.script("write", vec![write("a.txt", "x"), write("b.txt", "y"), done("done")]);
        let asked = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, asked).unwrap();
        die(&mut world, task, point, edge);
        world.kernel().cancel(task, "enough").unwrap();
        world.kernel().cancel(task, "enough, again").unwrap();
        let at = world.drive(task);
        assert!(
            matches!(at, DriveOutcome::Ended { status: TaskStatus::Cancelled, .. }),
            "{point} {edge:?}: {at:?}"
        );
        let (told, files) = (events(world.kernel(), task), world.files());
        let place = |found: &dyn Fn(&Body) -> bool| told.iter().position(|(_, body)| found(body));
        let end = place(&|body| matches!(body, Body::TaskStatusChanged(b) if b.to == TaskStatus::Cancelled));
        let end = end.expect("it ended");
        let late = told[end + 1..].iter().filter(|(event, _)| !event.event_type.starts_with("checkpoint."));
        assert_eq!(late.count(), 0, "nothing of it comes behind its end");
        let ends = told.iter().filter(|(_, b)| matches!(b, Body::TaskStatusChanged(b) if b.to.is_terminal()));
        assert_eq!(ends.count(), 1);
        assert!(!files.contains_key("b.txt"));
        assert!(matches!(world.drive(task), DriveOutcome::Ended { .. }));
        assert_eq!(world.files(), files, "and nothing is written later");
        assert!(world.kernel().cancel(task, "late").is_err());
    }
}

#[conforms::conforms(part = "HK-8.1.2-3", part = "HK-8.1.3-2")]
#[test]
fn tasks_that_words_may_be_about_are_ranked_by_them_and_how_surely_is_on_record() {
    let world = World::new(3_401);
    let ask = || vec![say("ask", json!({ "question": "go on?" })), done("ok")];
    let tax = world.script("Update the tax rates of Malta", ask());
    let logo = world.script("Paint the logo blue", ask());
    for task in [tax, logo] {
        world.drive(task);
    }
    let conversation = state(&world, tax).task.conversation_id;
    world.kernel().turn_to(conversation, None).unwrap();
    let say_it = |text: &str, key: &str| {
        let bound = world.kernel().say(&saying(text, key)).unwrap();
        assert_eq!((bound.resolution, bound.task_id), (IngressResolution::PendingDisambiguation, None));
        let recorded = log(world.kernel()).into_iter().rev().find_map(|(_, body)| match body {
            Body::IngressBound(b) if b.ingress_id == bound.ingress_id => Some((b.confidence, b.margin)),
            _ => None,
        });
        (bound.candidates, recorded.unwrap())
    };
    // The one worked on last comes first, unless the words fit another better.
    assert_eq!(say_it("and please hurry", "one"), (vec![logo, tax], (Some(0), Some(0))));
    assert_eq!(say_it("use the new tax rate for it", "two"), (vec![tax, logo], (Some(666), Some(666))));
    assert_eq!(say_it("a darker blue for the logo, not tax", "three").0, [logo, tax]);
}
