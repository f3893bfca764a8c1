//! An agent outside proposes call by call: each call is a turn of its task, known again by its key, before and after a
//! crash, and no rule of a loop ends what it leads.

use crate::story::{count, die, events, object, state};
use kernel::command::submit::Reasoning;
use kernel::state::RefusedBy;
use kernel::{CallResult, CallStanding, DriveOutcome, Proposed, Taken, Waiting};
use model::ingress::Channel;
use model::task::{Proposer, TaskContract};
use model::{ApprovalId, Body, TaskId};
use serde_json::{Value, json};
use testkit::{Edge, World};

fn session(world: &World) -> TaskId {
    let reasoning = Reasoning::Session { client: "claude-code".to_owned(), version: "2.1".to_owned() };
    let mut submission = world.submission("do what claude-code asks for", reasoning);
    submission.channel = Channel::Mcp;
    let task = world.kernel().submit(&submission).unwrap().task_id;
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Proposer));
    task
}

fn take(
    world: &World,
    task: TaskId,
    key: Option<&str>,
    tool: &str,
    arguments: &Value,
    seen: &[String],
) -> Taken {
    world.kernel().propose(task, &Proposed { key, tool, arguments, seen }).unwrap()
}

/// The key under which a call is known.
fn made(world: &World, task: TaskId, tool: &str, arguments: &Value, seen: &[String]) -> String {
    match take(world, task, None, tool, arguments, seen) {
        Taken::As(key) => key,
        behind => panic!("{behind:?}"),
    }
}

fn over(world: &World, task: TaskId, key: &str) -> CallResult {
    match world.kernel().standing_of_call(task, key).unwrap() {
        CallStanding::Over(came) => *came,
        other => panic!("{other:?}"),
    }
}

fn asked(world: &World, task: TaskId, key: &str) -> ApprovalId {
    match world.kernel().standing_of_call(task, key).unwrap() {
        CallStanding::Approval { approval_id, .. } => approval_id,
        other => panic!("{other:?}"),
    }
}

fn a_file() -> Value {
    json!({ "path": "a.txt", "content": "made by an agent outside\n" })
}

#[test]
fn an_idle_session_waits_and_costs_nothing() {
    let mut world = World::new(901);
    let task = session(&world);
    let seq = state(&world, task).seq;
    for _ in 0..3 {
        assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Proposer));
    }
    world.reopen();
    assert!(world.kernel().resumable().unwrap().is_empty(), "there is nothing to take up");
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Proposer));
    assert_eq!(state(&world, task).seq, seq, "waiting writes nothing");
    let contract: TaskContract =
        object(world.kernel(), &state(&world, task), state(&world, task).task.task_contract_ref);
    assert_eq!(
        serde_json::to_value(&contract.model).unwrap(),
        json!({ "kind": "session", "client": "claude-code", "version": "2.1" }),
        "as it is stored from now on"
    );
    assert_eq!(state(&world, task).attempt().unwrap().attempt.proposer, Some(Proposer::Session));
}

#[test]
fn a_look_is_told_in_plain_lines_and_looked_at_anew_each_time() {
    let world = World::new(902);
    world.file("notes.txt", "one\n");
    let task = session(&world);
    let read = json!({ "path": "notes.txt" });
    let first = made(&world, task, "read", &read, &[]);
    world.drive(task);
    let came = over(&world, task, &first);
    assert!(!came.is_error && came.receipt_id.is_none(), "{came:?}");
    assert!(came.texts.concat().contains("one"), "{came:?}");
    world.file("notes.txt", "two\n");
    let second = made(&world, task, "read", &read, &[]);
    assert_ne!(first, second, "a look that is over is no answer to a later one");
    world.drive(task);
    assert!(over(&world, task, &second).texts.concat().contains("two"));
    assert!(over(&world, task, &first).texts.concat().contains("one"), "and what came of the first stays");
}

#[test]
fn an_approval_outlives_the_host_and_the_same_call_goes_on_once() {
    let mut world = World::new(903);
    let task = session(&world);
    let key = made(&world, task, "write", &a_file(), &[]);
    world.drive(task);
    let approval = asked(&world, task, &key);
    let attempt = state(&world, task).current;
    assert!(world.files().is_empty(), "nothing before the yes");
    world.reopen();
    assert_eq!(made(&world, task, "write", &a_file(), &[]), key, "the same call is the one that waits");
    assert_eq!(asked(&world, task, &key), approval);
    world.person.allow(world.kernel(), task, approval).unwrap();
    world.reopen();
    world.drive(task);
    assert_eq!(
        made(&world, task, "write", &a_file(), &[]),
        key,
        "and the one whose result nobody has received"
    );
    let came = over(&world, task, &key);
    let receipt = came.receipt_id.expect("a receipt");
    assert!(!came.is_error && came.refused.is_none(), "{came:?}");
    assert_eq!(world.files()["a.txt"], b"made by an agent outside\n");
    assert_eq!(state(&world, task).current, attempt, "the same attempt went on");
    let acts = events(world.kernel(), task)
        .into_iter()
        .filter(|(_, body)| matches!(body, Body::EffectDispatched(_)));
    assert_eq!(acts.count(), 1, "it was done once");
    assert_eq!(count(world.kernel(), task, "approval.requested"), 1, "and asked once");
    // Received, the same words are a new call; that too is known after another start.
    let again = made(&world, task, "write", &a_file(), std::slice::from_ref(&key));
    assert_ne!(again, key);
    world.drive(task);
    world.reopen();
    assert_ne!(made(&world, task, "write", &a_file(), &[]), key, "what was received is in the log");
    assert_eq!(over(&world, task, &key).receipt_id, Some(receipt));
}

#[test]
fn a_host_that_dies_between_call_and_answer_makes_one_act_of_it() {
    use model::fault::Point;
    for (seed, point) in [(1_u64, Point::ModelRespond), (2, Point::ApprovalRequest)] {
        for edge in [Edge::Before, Edge::After] {
            let mut world = World::new(910 + seed);
            let task = session(&world);
            let key = made(&world, task, "write", &a_file(), &[]);
            die(&mut world, task, point, edge);
            let again = made(&world, task, "write", &a_file(), &[]);
            assert_eq!(key, again, "{point:?} {edge:?}");
            world.drive(task);
            let approval = asked(&world, task, &key);
            world.person.allow(world.kernel(), task, approval).unwrap();
            world.drive(task);
            assert!(over(&world, task, &key).receipt_id.is_some());
            assert_eq!(count(world.kernel(), task, "attempt.model_responded"), 1, "{point:?} {edge:?}");
            assert_eq!(count(world.kernel(), task, "effect.dispatched"), 1, "{point:?} {edge:?}");
        }
    }
}

#[test]
fn a_key_of_the_agents_own_names_one_call() {
    let mut world = World::new(904);
    world.file("notes.txt", "one\n");
    let task = session(&world);
    let read = json!({ "path": "notes.txt" });
    assert_eq!(take(&world, task, Some("k-1"), "read", &read, &[]), Taken::As("k-1".to_owned()));
    world.drive(task);
    world.file("notes.txt", "two\n");
    world.reopen();
    let seen = ["k-1".to_owned()];
    assert_eq!(take(&world, task, Some("k-1"), "read", &read, &seen), Taken::As("k-1".to_owned()));
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Proposer));
    assert!(over(&world, task, "k-1").texts.concat().contains("one"), "the same key is the same answer");
    let other = json!({ "path": "other.txt" });
    let call = Proposed { key: Some("k-1"), tool: "read", arguments: &other, seen: &[] };
    let error = world.kernel().propose(task, &call).unwrap_err();
    assert!(error.to_string().contains("used for another call"), "{error}");
    assert!(matches!(world.kernel().standing_of_call(task, "k-2").unwrap(), CallStanding::Unknown));
    let response = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
        Body::ModelResponded(b) => Some(b.response.artifact_id),
        _ => None,
    });
    let said: Value = object(world.kernel(), &state(&world, task), response.unwrap());
    let sha256 = said["sha256"].clone();
    assert_eq!(
        said,
        json!({ "key": "k-1", "named": true, "tool": "read", "sha256": sha256, "seen": [] }),
        "as it is stored from now on"
    );
}

#[test]
fn one_call_at_a_time_and_a_second_is_told_to_wait() {
    let world = World::new(905);
    let task = session(&world);
    let key = made(&world, task, "write", &a_file(), &[]);
    let behind = Taken::Behind { tool: "write".to_owned(), key: key.clone() };
    let look = json!({ "path": "." });
    assert_eq!(take(&world, task, None, "list", &look, &[]), behind);
    world.drive(task);
    let approval = asked(&world, task, &key);
    assert_eq!(take(&world, task, None, "list", &look, &[]), behind, "nor while a person is asked");
    world.person.deny(world.kernel(), task, approval, "not in this folder").unwrap();
    world.drive(task);
    let came = over(&world, task, &key);
    assert_eq!(came.refused, Some(RefusedBy::Person));
    assert!(came.is_error && came.texts.concat().contains("not in this folder"), "{came:?}");
    assert!(world.files().is_empty());
    assert_eq!(
        made(&world, task, "write", &a_file(), &[]),
        key,
        "a no that nobody has received is told again"
    );
    let next = made(&world, task, "list", &look, &[key]);
    world.drive(task);
    assert!(!over(&world, task, &next).is_error, "after a no the session goes on");
}

#[test]
fn a_call_that_is_given_up_before_it_is_taken_up_does_nothing_and_the_same_again_does_it() {
    let mut world = World::new(917);
    let task = session(&world);
    let key = made(&world, task, "write", &a_file(), &[]);
    world.kernel().stop_call(task, &key).unwrap();
    assert!(matches!(world.kernel().standing_of_call(task, &key).unwrap(), CallStanding::Unknown));
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Proposer));
    assert_eq!(count(world.kernel(), task, "action.requested"), 0, "nothing of it was proposed");
    world.reopen();
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Proposer));
    let read = json!({ "path": "notes.txt" });
    world.file("notes.txt", "one\n");
    let other = made(&world, task, "read", &read, &[]);
    world.drive(task);
    assert!(over(&world, task, &other).texts.concat().contains("one"), "the next call is taken at once");
    let again = made(&world, task, "write", &a_file(), &[]);
    world.drive(task);
    asked(&world, task, &again);
}

#[test]
fn no_rule_of_a_loop_ends_what_an_agent_outside_leads() {
    let world = World::new(906);
    let task = session(&world);
    for turn in 0..70 {
        let (tool, arguments) = match turn % 3 {
            0 => ("read", json!({ "path": "nothing.txt" })),
            1 => ("no_such_tool", json!({})),
            _ => ("read", json!({ "wrong": turn })),
        };
        let key = made(&world, task, tool, &arguments, &[]);
        assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Proposer), "turn {turn}");
        let came = over(&world, task, &key);
        assert!(turn % 3 == 0 || came.is_error, "{came:?}");
        assert!(turn % 3 != 1 || came.texts.concat().contains("there is no tool `no_such_tool`"), "{came:?}");
    }
    world.kernel().cancel(task, "enough").unwrap();
    assert!(matches!(world.drive(task), DriveOutcome::Ended { .. }), "a person's stop does");
    let arguments = json!({ "path": "." });
    let call = Proposed { key: None, tool: "list", arguments: &arguments, seen: &[] };
    assert!(world.kernel().propose(task, &call).is_err());
}

#[test]
fn a_question_is_answered_with_the_persons_words_and_what_else_they_said_comes_with_it() {
    let world = World::new(907);
    let task = session(&world);
    let ask = json!({ "question": "Which folder?", "choices": ["a", "b"] });
    let key = made(&world, task, "ask", &ask, &[]);
    world.drive(task);
    let CallStanding::Question(question) = world.kernel().standing_of_call(task, &key).unwrap() else {
        panic!("a question")
    };
    world.kernel().answer(task, question, "the second", Channel::Cli).unwrap();
    world.drive(task);
    assert_eq!(over(&world, task, &key).texts, ["the second"]);
    world.kernel().append_note(task, "leave b alone", Channel::Cli, "n-1").unwrap();
    world.drive(task);
    let next = made(&world, task, "list", &json!({ "path": "." }), &[]);
    world.drive(task);
    assert_eq!(over(&world, task, &next).said, ["leave b alone"]);
}

#[test]
fn what_no_call_can_be_is_refused_before_anything_is_kept() {
    let world = World::new(908);
    let task = session(&world);
    let seq = state(&world, task).seq;
    let refused = |key: Option<&str>, tool: &str, arguments: Value| {
        let call = Proposed { key, tool, arguments: &arguments, seen: &[] };
        world.kernel().propose(task, &call).unwrap_err().to_string()
    };
    assert!(refused(None, "read", json!("a.txt")).contains("one JSON object"));
    assert!(refused(None, "", json!({})).contains("a line of"));
    assert!(refused(Some("a\nb"), "read", json!({})).contains("a line of"));
    let long = "x".repeat(model::limits::MODEL_ANSWER_BYTES_MAX);
    assert!(refused(None, "write", json!({ "path": "a", "content": long })).contains("in parts"));
    let other = world.script("another", vec![]);
    let arguments = json!({});
    let call = Proposed { key: None, tool: "list", arguments: &arguments, seen: &[] };
    let error = world.kernel().propose(other, &call).unwrap_err();
    assert!(error.to_string().contains("no agent outside leads"), "{error}");
    assert_eq!(state(&world, task).seq, seq);
}
