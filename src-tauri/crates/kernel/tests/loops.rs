//! The loop of a task in a kernel: what it keeps, what it does with what a model says, and how it goes on after a crash.

use crate::story::{completed, count, ended, events, object, packs, rebuilt, shows, state};
use acts::ActionRequest;
use iteration::LoopState;
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Waiting};
use model::attempt::{IterationRecord, TerminationReason};
use model::fault::Point;
use model::ingress::Channel;
use model::proposal::{Answer, Usage};
use model::task::TaskStatus;
use model::{Body, TaskId};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::{Edge, Mode, World, change, done, look, say, write};

/// An answer in words alone.
fn words(text: &str) -> Answer {
    let usage = Usage { tokens_in: 10, tokens_out: 5, ..Usage::default() };
    Answer { text: text.to_owned(), usage, finish_reason: "stop".to_owned(), ..Answer::default() }
}

/// The records of a task's turns, in order.
fn turns(world: &World, task: TaskId) -> Vec<IterationRecord> {
    let of = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::IterationCompleted(b) => Some(b.record),
        _ => None,
    });
    of.collect()
}

fn kept(world: &World, task: TaskId) -> LoopState {
    state(world, task).attempt().unwrap().loop_state.clone()
}

#[conforms::conforms("RX-1-1", "RX-1-2", "RX-5-1", "RX-7-1")]
#[test]
fn the_loop_takes_a_goal_keeps_where_it_stands_and_stops_at_done() {
    let world = World::new(1_741);
    world.file("a.txt", "text");
    let answers = vec![look("a.txt"), write("b.txt", "b"), done("both"), write("late.txt", "late")];
    let task = world.script("look and write", answers);
    let approval = world.drive_to_approval(task);
    assert!(shows(&packs(world.kernel(), task)[0], "look and write"), "the goal is what it works on");
    let midway = kept(&world, task);
    assert_eq!((midway.goal.as_str(), midway.iteration, midway.termination), ("look and write", 1, None));
    let first = turns(&world, task).remove(0);
    assert_eq!(midway.last_tool_result, first.tool_output, "what the last tool gave back");
    let seen: Value = object(world.kernel(), &state(&world, task), midway.last_tool_result.unwrap());
    assert!(seen.to_string().contains("text"), "{seen}");
    let told = events(world.kernel(), task);
    let history = told.iter().position(|(event, _)| Some(event.event_id) == midway.history_ref);
    assert!(history.is_some(), "it says where its history stands");
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    let last = kept(&world, task);
    assert_eq!((last.iteration, last.termination), (3, Some(TerminationReason::Done)));
    assert_ne!(last.last_tool_result, midway.last_tool_result);
    let told = events(world.kernel(), task);
    let later = told.iter().position(|(event, _)| Some(event.event_id) == last.history_ref);
    assert!(later > history, "and the history has gone on");
    // `done` was its last word: nothing that the model had still to say was asked for.
    assert_eq!(count(world.kernel(), task, "attempt.model_requested"), 3);
    assert_eq!(world.drive(task), completed());
    assert!(!world.files().contains_key("late.txt"));
}

#[conforms::conforms("RX-4-1")]
#[test]
fn every_turn_is_recorded_with_its_seven_parts() {
    let world = World::new(1_742);
    world.file("a.txt", "text");
    let nothing = change(json!([{ "op": "move", "from": "none.txt", "to": "b.txt" }]));
    let task = world.script("three turns", vec![look("a.txt"), nothing, done("tried")]);
    assert_eq!(world.drive(task), completed());
    let (now, all) = (state(&world, task), turns(&world, task));
    assert_eq!(all.iter().map(|turn| turn.step_number).collect::<Vec<_>>(), [1, 2, 3]);
    for turn in &all {
        let value = serde_json::to_value(turn).unwrap();
        crate::objects::says(&value, &["step_number", "model_decision", "tool_invocation", "state_summary"]);
        crate::objects::has(&value, &["tool_input", "tool_output", "error"]);
        assert!(!turn.model_decision.shown().unwrap().is_empty());
        assert!(!turn.state_summary.shown().unwrap().is_empty());
    }
    let tools: Vec<Option<&str>> = all.iter().map(|turn| turn.tool_invocation.as_deref()).collect();
    assert_eq!(tools, [Some("observe"), Some("change"), Some("done")]);
    let input: ActionRequest = object(world.kernel(), &now, all[0].tool_input.unwrap());
    assert_eq!(input.action.tool(), "observe", "what the tool was given");
    let output: Value = object(world.kernel(), &now, all[0].tool_output.unwrap());
    assert!(output.to_string().contains("text"), "and what it gave back: {output}");
    let errors: Vec<bool> = all.iter().map(|turn| turn.error.is_some()).collect();
    assert_eq!(errors, [false, true, false]);
    assert!(all[1].error.as_ref().unwrap().shown().unwrap().contains("none.txt"));
}

#[conforms::conforms("RX-5-3")]
#[test]
fn a_tool_that_fails_beyond_repair_stops_the_run_at_once() {
    let world = World::new(1_743);
    let task = world.script("write", vec![write("a.txt", "ours"), done("written")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    let receipt = state(&world, task).receipts.last().unwrap().receipt_id;
    // What is to be taken back was written over by a person: there is no other way to try.
    world.file("a.txt", "a person's");
    let undo = world.kernel().rollback(receipt, Channel::Cli, "undo".to_owned()).unwrap().task_id;
    let fatal = ended(TaskStatus::Failed, TerminationReason::FatalToolError);
    assert_eq!(world.drive_allowing(undo).0, fatal);
    let (told, before) = (events(world.kernel(), undo).len(), world.oracle.performed());
    let reasons: Vec<_> = events(world.kernel(), undo)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::RunTerminated(b) => Some(b.reason),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, [TerminationReason::FatalToolError]);
    assert_eq!(world.drive(undo), fatal, "and stays so");
    assert_eq!((events(world.kernel(), undo).len(), world.oracle.performed()), (told, before));
    assert_eq!(world.files()["a.txt"], b"a person's");
}

#[conforms::conforms("RX-6-3", "RX-9-3")]
#[test]
fn after_a_tool_has_failed_the_model_tries_another_way_or_the_same_again() {
    let world = World::new(1_744);
    let moved = || change(json!([{ "op": "move", "from": "a.txt", "to": "b.txt" }]));
    let task = world.script(
        "move it",
        vec![moved(), write("a.txt", "made first"), look("a.txt"), moved(), done("moved")],
    );
    assert_eq!(world.drive_allowing(task).0, completed());
    let how: Vec<(Option<String>, bool)> =
        turns(&world, task).into_iter().map(|turn| (turn.tool_invocation, turn.error.is_none())).collect();
    let named = |tool: &str, went_well: bool| (Some(tool.to_owned()), went_well);
    let expected = [
        named("change", false),
        named("change", true),
        named("observe", true),
        named("change", true),
        named("done", true),
    ];
    assert_eq!(how, expected, "a failure, another way, and the same again");
    assert_eq!(world.files().into_iter().collect::<Vec<_>>(), [("b.txt".to_owned(), b"made first".to_vec())]);
    assert_eq!(count(world.kernel(), task, "attempt.created"), 1, "no attempt was given up for it");
}

#[conforms::conforms("HK-11.2-3", "RX-8-1", "RX-8-2", "RX-8-4", "RX-8-5")]
#[test]
fn what_a_model_says_is_done_only_as_a_call_that_was_understood() {
    let world = World::new(1_745);
    let call = r#"{"tool": "write", "arguments": {"path": "b.txt", "content": "b"}}"#;
    // Whatever is not exactly a call of a known tool moves nothing, whatever it says.
    let never = [
        ("prose", words("I delete a.txt now: rm -f a.txt. Deleted."), true),
        ("a shell block", words("Run this:\n```sh\nrm -f a.txt\n```"), true),
        ("half a call", words(r#"{"tool": "delete", "arguments": {"path": "a.txt""#), false),
        ("a tool there is not", words(r#"{"tool": "shell", "arguments": {"cmd": "rm a.txt"}}"#), false),
        ("an argument too many", say("delete", json!({ "path": "a.txt", "force": true })), false),
        ("an argument too few", say("delete", json!({})), false),
        ("an argument of another kind", say("delete", json!({ "path": ["a.txt"] })), false),
        ("one good call beside a bad one", two(call), false),
    ];
    for (name, answer, is_final) in never {
        world.file("a.txt", "text");
        let task = world.script(name, vec![answer, done("over")]);
        let (standing, asked) = world.drive_allowing(task);
        assert_eq!((standing, asked), (completed(), 0), "{name}: nobody is asked for anything");
        assert_eq!(count(world.kernel(), task, "action.requested"), 0, "{name}");
        assert_eq!(count(world.kernel(), task, "effect.dispatched"), 0, "{name}");
        let rejected = count(world.kernel(), task, "attempt.output_rejected");
        assert_eq!(rejected, usize::from(!is_final), "{name}: what is malformed is sent back");
        assert_eq!(world.files().len(), 1, "{name}");
    }
    // The same call in words and as a call is the same typed request.
    let mut asked = Vec::new();
    let spoken = say("write", json!({ "path": "b.txt", "content": "b" }));
    for (name, answer) in [("as words", words(call)), ("as a call", spoken)] {
        let task = world.script(name, vec![answer, done("over")]);
        let approval = world.drive_to_approval(task);
        let now = state(&world, task);
        let wanted = now.approvals[&approval].approval.requested_action_ref;
        let request: ActionRequest = object(world.kernel(), &now, wanted);
        asked.push(request.action);
    }
    assert_eq!(asked[0], asked[1]);
}

/// A text with a call, and another call that names no path.
fn two(call: &str) -> Answer {
    words(&format!(r#"[{call}, {{"tool": "delete", "arguments": {{}}}}]"#))
}

/// A task of three turns: a look, a write that a person allows, and the end.
fn three_turns(seed: u64) -> (World, TaskId) {
    let world = World::new(seed);
    world.file("a.txt", "text");
    let model = testkit::Model::new(
        [look("a.txt"), write("b.txt", "b"), done("ok")].map(testkit::Say::Answer).to_vec(),
    );
    world.reasoners.put("three turns", model.reasoner());
    let submission = world.submission("three turns", Reasoning::Scripted { name: "three turns".to_owned() });
    let task = world.kernel().submit(&submission).unwrap().task_id;
    (world, task)
}

/// Drives to the end, allowing what is asked; an error is given back.
fn on(world: &World, task: TaskId) -> Result<DriveOutcome, kernel::Error> {
    loop {
        match world.kernel().drive(task)? {
            DriveOutcome::Waiting(Waiting::Approval(id)) => {
                world.person.allow(world.kernel(), task, id)?;
            }
            DriveOutcome::Waiting(Waiting::Resume) => {
                world.kernel().resume(task)?;
            }
            other => return Ok(other),
        }
    }
}

const PLACES: [Point; 8] = [
    Point::TaskStart,
    Point::ContextCompile,
    Point::ModelRespond,
    Point::ActionJudge,
    Point::ApprovalRequest,
    Point::ApprovalGrant,
    Point::EffectDispatch,
    Point::EffectObserve,
];

#[conforms::conforms("RX-10-2", "RX-10-3")]
#[test]
fn the_next_host_goes_on_behind_the_last_turn_that_was_completed() {
    let mut cut_at = BTreeMap::new();
    for (point, edge, nth) in PLACES
        .into_iter()
        .flat_map(|point| [(point, Edge::Before, 1), (point, Edge::After, 1), (point, Edge::Before, 2)])
    {
        let (mut world, task) = three_turns(1_746);
        world.faults.plan(point, edge, Mode::Abort, nth);
        let died = catch_unwind(AssertUnwindSafe(|| on(&world, task)));
        if !world.faults.fired() {
            assert!(nth > 1, "{point} was not reached: {died:?}");
            continue;
        }
        world.faults.clear();
        world.reopen();
        let before = turns(&world, task);
        *cut_at.entry(before.len()).or_insert(0) += 1;
        assert_eq!(on(&world, task).unwrap(), completed(), "{point} {edge:?} {nth}");
        let after = turns(&world, task);
        assert_eq!(after[..before.len()], before[..], "{point} {edge:?}: what was completed stays as it was");
        let numbers: Vec<u32> = after.iter().map(|turn| turn.step_number).collect();
        // A look that was cut off is thought of anew, and this model has then nothing more to look at.
        let looked = [(Point::EffectDispatch, Edge::After), (Point::EffectObserve, Edge::Before)];
        let cut_off_looking = nth == 1 && looked.contains(&(point, edge));
        let all: Vec<u32> = if cut_off_looking { vec![1, 2] } else { vec![1, 2, 3] };
        assert_eq!(numbers, all, "{point} {edge:?}: each turn is completed once");
        assert_eq!(count(world.kernel(), task, "attempt.created"), 1, "{point} {edge:?}");
        assert!(world.oracle.performed().values().all(|times| *times == 1), "{point} {edge:?}");
        // Read again from its events, by this host and by the next one, it is the same run; so are the views.
        let told = kept(&world, task);
        let (views, again) = rebuilt(&mut world);
        assert_eq!((kept(&world, task), views), (told, again), "{point} {edge:?}");
    }
    assert!(cut_at.len() >= 3, "it died before, between and behind its turns: {cut_at:?}");
}

#[conforms::conforms("RX-6-4")]
#[test]
fn what_can_be_recovered_from_is_said_and_never_a_panic() {
    let mut refused = 0;
    for point in PLACES {
        for mode in [Mode::Error, Mode::Full] {
            for nth in 1..=2 {
                let (mut world, task) = three_turns(1_747);
                world.faults.plan(point, Edge::Before, mode, nth);
                let driven = catch_unwind(AssertUnwindSafe(|| on(&world, task)));
                let driven = driven.unwrap_or_else(|_| panic!("{point} {mode:?} {nth}: the kernel panicked"));
                if !world.faults.fired() {
                    continue;
                }
                world.faults.clear();
                if let Err(error) = driven {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
                world.reopen();
                assert_eq!(on(&world, task).unwrap(), completed(), "{point} {mode:?} {nth}");
                assert_eq!(world.files()["b.txt"], b"b");
            }
        }
    }
    assert!(refused > 20, "{refused} errors were said");
    // A model that is down or speaks nonsense, a tool that fails, answers that are malformed.
    let world = World::new(1_748);
    let nothing = change(json!([{ "op": "move", "from": "none.txt", "to": "b.txt" }]));
    let says = [
        testkit::Say::Garbage,
        testkit::Say::Down,
        testkit::Say::Answer(say("shell", json!({}))),
        testkit::Say::Answer(nothing),
        testkit::Say::Answer(write("c.txt", "c")),
        testkit::Say::Answer(done("ok")),
    ];
    world.reasoners.put("troubled", testkit::Model::new(says.to_vec()).reasoner());
    let submission = world.submission("troubled", Reasoning::Scripted { name: "troubled".to_owned() });
    let task = world.kernel().submit(&submission).unwrap().task_id;
    let mut said = Vec::new();
    let standing = loop {
        match catch_unwind(AssertUnwindSafe(|| on(&world, task))).expect("no panic") {
            Ok(standing) => break standing,
            Err(error) => said.push(error.to_string()),
        }
        assert!(said.len() < 10, "it goes on: {said:?}");
    };
    assert_eq!((standing, said.len()), (completed(), 2), "{said:?}");
    assert_eq!(world.files()["c.txt"], b"c");
}
