//! A task that has used what it may waits for a person, with all that it has; it goes on with what they allow or ends.

use crate::costs::priced;
use crate::story::{completed, count, ended, events, place, state, types};
use crate::told::Wire;
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Waiting};
use model::attempt::TerminationReason;
use model::ingress::{Channel, ClarificationStatus};
use model::task::{Budget, Limit, TaskStatus};
use model::{Body, ClarificationId, TaskId, limits};
use serde_json::{Value, json};
use std::sync::Arc;
use testkit::World;

/// A task whose model reads a file, then is done; it may use so much.
fn begun(seed: u64, budget: impl Fn(&mut Budget), asks_at_limit: bool) -> (World, Arc<Wire>, TaskId) {
    let world = World::new(seed);
    std::fs::write(world.folder.path().join("a.txt"), "a").unwrap();
    let wire = Wire::new(vec![
        ("read", json!({ "path": "a.txt" })),
        ("read", json!({ "path": "a.txt" })),
        ("done", json!({ "summary": "nothing" })),
    ]);
    world.reasoners.put("m", priced(Arc::clone(&wire) as _));
    let mut submission = Submission {
        asks_at_limit,
        ..world.submission("look", Reasoning::Scripted { name: "m".to_owned() })
    };
    budget(&mut submission.budget);
    let task = world.kernel().submit(&submission).unwrap().task_id;
    (world, wire, task)
}

fn asked(world: &World, task: TaskId) -> ClarificationId {
    match world.drive(task) {
        DriveOutcome::Waiting(Waiting::Answer(id)) => id,
        other => panic!("expected a question, got {other:?}"),
    }
}

fn question(world: &World, task: TaskId, id: ClarificationId) -> String {
    state(world, task).clarifications[&id].question.shown().unwrap().clone()
}

/// What the first call of such a task sets aside: its tokens, and what they may cost.
fn first_reserve() -> (u64, u64) {
    let (world, _, task) = begun(4_400, |_| {}, false);
    world.drive(task);
    let all = events(world.kernel(), task);
    let reserved = all.into_iter().find_map(|(_, body)| match body {
        Body::BudgetReserved(b) => Some((b.tokens, b.cost_micros)),
        _ => None,
    });
    reserved.unwrap()
}

fn raised(world: &World, task: TaskId) -> Vec<(Limit, u64, u64)> {
    let all = events(world.kernel(), task);
    let raised = all.into_iter().filter_map(|(_, body)| match body {
        Body::LimitRaised(b) => Some((b.limit, b.was, b.allowed)),
        _ => None,
    });
    raised.collect()
}

#[test]
fn a_task_at_any_limit_asks_and_goes_on_with_what_a_person_allows() {
    let (tokens, cost) = first_reserve();
    let cases: [(&str, &dyn Fn(&mut Budget), Limit, u64); 3] = [
        ("100000", &|b| b.tokens_max = tokens, Limit::Tokens, tokens + 100_000),
        ("$1.00", &|b| b.cost_micros_max = cost, Limit::Cost, cost + 1_000_000),
        ("10", &|b| b.iterations_max = 1, Limit::Turns, 11),
    ];
    for (at, (answer, budget, limit, allowed)) in cases.into_iter().enumerate() {
        let (mut world, wire, task) = begun(4_410 + at as u64, budget, true);
        let id = asked(&world, task);
        assert_eq!(wire.sent().len(), 1, "{limit}: the call that would not fit is not made");
        let words = question(&world, task, id);
        assert!(words.contains("end` here?"), "{words}");
        assert_eq!(state(&world, task).task.status, TaskStatus::Blocked);
        let kernel = world.kernel();
        let nonsense = kernel.answer(task, id, "go on", Channel::Cli).unwrap_err().to_string();
        assert!(nonsense.contains("say how many more"), "{nonsense}");
        let by_program = kernel.answer(task, id, answer, Channel::RunApi).unwrap_err().to_string();
        assert!(by_program.contains("only a person raises a limit"), "{by_program}");
        assert_eq!(raised(&world, task), []);
        // The question outlives the host, and so does what a person said.
        world.reopen();
        assert_eq!(asked(&world, task), id);
        world.kernel().answer(task, id, answer, Channel::Cli).unwrap();
        world.reopen();
        assert_eq!(world.drive(task), completed(), "{limit}");
        assert_eq!(wire.sent().len(), 3);
        let [(of, _, now)] = raised(&world, task)[..] else { panic!("one raise") };
        assert_eq!((of, now), (limit, allowed));
        assert!(
            wire.sent().iter().all(|sent| !sent.contains("US dollars")),
            "what is said is not for the model"
        );
        let types = types(world.kernel(), task);
        assert!(place(&types, "task.limit_reached") < place(&types, "task.limit_raised"));
        assert_eq!(count(world.kernel(), task, "attempt.created"), 1, "the same attempt goes on");
    }
}

#[test]
fn a_raise_that_is_not_enough_is_asked_about_again_and_turns_have_an_end() {
    let (tokens, _) = first_reserve();
    let (world, wire, task) = begun(4_420, |b| b.tokens_max = tokens, true);
    let first = asked(&world, task);
    world.kernel().answer(task, first, "1", Channel::Cli).unwrap();
    let second = asked(&world, task);
    assert_ne!(first, second);
    assert_eq!((wire.sent().len(), raised(&world, task)), (1, vec![(Limit::Tokens, tokens, tokens + 1)]));

    let (world, _, task) = begun(4_421, |b| b.iterations_max = 1, true);
    let id = asked(&world, task);
    world.kernel().answer(task, id, "64", Channel::Cli).unwrap();
    assert_eq!(raised(&world, task), [(Limit::Turns, 1, u64::from(limits::ITERATIONS_MAX))]);
}

#[test]
fn who_says_end_or_nothing_ends_it_as_where_nobody_is_asked() {
    let (tokens, _) = first_reserve();
    let spent = ended(TaskStatus::Failed, TerminationReason::BudgetSpent);
    let (world, _, task) = begun(4_430, |b| b.tokens_max = tokens, true);
    let id = asked(&world, task);
    // A program cannot raise a limit, and may say that it is over.
    world.kernel().answer(task, id, "end", Channel::RunApi).unwrap();
    assert_eq!(world.drive(task), spent);
    assert!(world.kernel().answer(task, id, "100000", Channel::Cli).is_err(), "it is over");

    let (world, _, task) = begun(4_431, |b| b.tokens_max = tokens, true);
    asked(&world, task);
    world.clock.advance(limits::APPROVAL_MS_MAX + 1);
    assert_eq!(world.drive(task), spent, "nobody answered");

    let (world, _, task) = begun(4_432, |b| b.tokens_max = tokens, false);
    assert_eq!(world.drive(task), spent, "nobody is to be asked");
    assert_eq!(count(world.kernel(), task, "task.limit_reached"), 0);
    let (world, _, task) = begun(4_433, |b| b.iterations_max = 1, false);
    assert_eq!(world.drive(task), ended(TaskStatus::Failed, TerminationReason::MaxIterations));
}

#[test]
fn a_task_tried_again_closes_its_question_about_a_limit() {
    let (tokens, _) = first_reserve();
    let (world, _, task) = begun(4_440, |b| b.tokens_max = tokens, true);
    let id = asked(&world, task);
    world.kernel().retry(task, "again".to_owned()).unwrap();
    assert_eq!(state(&world, task).clarifications[&id].status, ClarificationStatus::Cancelled);
    assert!(world.kernel().answer(task, id, "100000", Channel::Cli).is_err());
    assert_eq!(raised(&world, task), []);
    assert_ne!(asked(&world, task), id, "the new attempt asks for itself");
}

#[test]
fn a_limit_of_a_paused_task_is_answered_once_it_goes_on() {
    let (tokens, _) = first_reserve();
    for (seed, answer) in [(4_441, "100000"), (4_442, "end")] {
        let (world, _, task) = begun(seed, |b| b.tokens_max = tokens, true);
        let id = asked(&world, task);
        world.kernel().pause(task).unwrap();
        assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Resume));
        let said = world.kernel().answer(task, id, answer, Channel::Cli).unwrap_err().to_string();
        assert!(said.contains(&format!("hermit task resume {task}")), "{said}");
        world.kernel().resume(task).unwrap();
        world.kernel().answer(task, id, answer, Channel::Cli).unwrap();
        let ends = if answer == "end" {
            ended(TaskStatus::Failed, TerminationReason::BudgetSpent)
        } else {
            completed()
        };
        assert_eq!(world.drive(task), ends);
    }
}

/// A task that gave away these parts and may use so many tokens; whether it asks at a limit, its parts do as well.
fn with_parts(
    seed: u64,
    (tokens_max, asks_at_limit): (u64, bool),
    parts: Value,
    then: Vec<(&'static str, Value)>,
) -> (World, Arc<Wire>, TaskId, Vec<TaskId>) {
    let world = World::new(seed);
    std::fs::write(world.folder.path().join("a.txt"), "a").unwrap();
    let mut script = vec![("delegate", json!({ "tasks": parts }))];
    script.extend(then);
    let wire = Wire::new(script);
    world.reasoners.put("m", priced(Arc::clone(&wire) as _));
    let mut submission = Submission {
        asks_at_limit,
        ..world.submission("look", Reasoning::Scripted { name: "m".to_owned() })
    };
    // Money is no matter here.
    submission.budget =
        Budget { tokens_max, iterations_max: 2, cost_micros_max: 1_000_000_000, ..submission.budget };
    let whole = world.kernel().submit(&submission).unwrap().task_id;
    assert_eq!(world.drive(whole), DriveOutcome::Waiting(Waiting::Dependency));
    let parts = state(&world, whole).children;
    (world, wire, whole, parts)
}

/// Tokens that a part begins with in these tests: too few for its first call.
const SHARE: u64 = limits::CHILD_TOKENS_MIN;
const PLENTY: u64 = 400_000;

fn part(goal: &str) -> Value {
    json!({ "goal": goal, "tokens": SHARE })
}

fn said_done() -> (&'static str, Value) {
    ("done", json!({ "summary": "nothing" }))
}

fn refused(world: &World, task: TaskId, id: ClarificationId, text: &str, channel: Channel) -> String {
    world.kernel().answer(task, id, text, channel).unwrap_err().to_string()
}

#[test]
fn a_part_at_its_limit_asks_as_its_whole_does_and_gets_no_more_than_that_has_left() {
    let then = vec![said_done(), said_done()];
    let (mut world, wire, whole, parts) = with_parts(4_450, (PLENTY, true), json!([part("a")]), then);
    let id = asked(&world, parts[0]);
    assert_eq!(wire.sent().len(), 1, "the call of the part that would not fit is not made");
    let left = PLENTY - state(&world, whole).tokens_spent - SHARE;
    let words = question(&world, parts[0], id);
    assert!(words.starts_with("This part of a task has used 0 of"), "{words}");
    assert!(words.contains(&format!("has {left} tokens left")), "{words}");
    assert_eq!(world.drive(whole), DriveOutcome::Waiting(Waiting::Dependency), "its whole waits with it");
    // A token too many is refused with what there is, and so is a program.
    let more = refused(&world, parts[0], id, &(left + 1).to_string(), Channel::Cli);
    assert!(more.contains(&format!("has {left} tokens left")), "{more}");
    let by_program = refused(&world, parts[0], id, "100000", Channel::RunApi);
    assert!(by_program.contains("only a person raises a limit"), "{by_program}");
    assert_eq!(raised(&world, parts[0]), []);
    world.reopen();
    assert_eq!(asked(&world, parts[0]), id);
    world.kernel().answer(parts[0], id, &left.to_string(), Channel::Cli).unwrap();
    assert_eq!(raised(&world, parts[0]), [(Limit::Tokens, SHARE, SHARE + left)]);
    world.reopen();
    assert_eq!(world.drive(parts[0]), completed());
    assert_eq!(world.drive(whole), completed());
    assert_eq!(wire.sent().len(), 3);
    let spent = state(&world, whole).tokens_spent;
    assert!(spent > state(&world, parts[0]).tokens_spent && spent <= PLENTY, "{spent}");
}

#[test]
fn what_one_part_was_given_another_cannot_have() {
    let then = vec![said_done(), said_done()];
    let both = json!([part("a"), part("b")]);
    let (world, _, whole, parts) = with_parts(4_451, (PLENTY, true), both, then);
    let ids: Vec<_> = parts.iter().map(|part| asked(&world, *part)).collect();
    let left = PLENTY - state(&world, whole).tokens_spent - 2 * SHARE;
    world.kernel().answer(parts[0], ids[0], &left.to_string(), Channel::Cli).unwrap();
    let nothing = refused(&world, parts[1], ids[1], "1", Channel::Cli);
    assert!(nothing.contains("has nothing left"), "{nothing}");
    assert_eq!(raised(&world, parts[1]), []);
    assert_eq!(asked(&world, parts[1]), ids[1], "it waits on");
    // What the first did not use is there again once it has ended.
    assert_eq!(world.drive(parts[0]), completed());
    world.kernel().answer(parts[1], ids[1], "50000", Channel::Cli).unwrap();
    assert_eq!(raised(&world, parts[1]), [(Limit::Tokens, SHARE, SHARE + 50_000)]);
}

#[test]
fn where_the_whole_has_too_little_left_its_parts_end_and_it_asks_for_itself() {
    let (tokens, _) = first_reserve();
    let both = json!([part("a"), part("b")]);
    let (world, wire, whole, parts) = with_parts(4_452, (tokens + 50, true), both, vec![said_done()]);
    for part in &parts {
        assert_eq!(world.drive(*part), ended(TaskStatus::Failed, TerminationReason::BudgetSpent));
        assert_eq!(count(world.kernel(), *part, "task.limit_reached"), 0);
    }
    let id = asked(&world, whole);
    let words = question(&world, whole, id);
    assert!(words.starts_with("The task has used"), "{words}");
    world.kernel().answer(whole, id, "100000", Channel::Cli).unwrap();
    assert_eq!(world.drive(whole), completed());
    assert_eq!(wire.sent().len(), 2);
}

#[test]
fn turns_are_a_parts_own_and_a_part_of_a_task_that_asks_nobody_ends_at_its_limit() {
    let read = || ("read", json!({ "path": "a.txt" }));
    let then = vec![read(), read(), said_done(), said_done()];
    let given = json!([{ "goal": "a", "tokens": 100_000 }]);
    let (world, _, whole, parts) = with_parts(4_453, (PLENTY, true), given.clone(), then.clone());
    let id = asked(&world, parts[0]);
    let words = question(&world, parts[0], id);
    assert!(words.starts_with("This part of a task has taken 2 of 2 turns"), "{words}");
    world.kernel().answer(parts[0], id, "10", Channel::Cli).unwrap();
    assert_eq!((world.drive(parts[0]), world.drive(whole)), (completed(), completed()));

    let (world, _, _, parts) = with_parts(4_454, (PLENTY, false), given, then);
    assert_eq!(world.drive(parts[0]), ended(TaskStatus::Failed, TerminationReason::MaxIterations));
    assert_eq!(count(world.kernel(), parts[0], "task.limit_reached"), 0);
}

#[test]
fn a_part_that_waits_at_its_limit_ends_with_its_whole() {
    let (world, _, whole, parts) = with_parts(4_455, (PLENTY, true), json!([part("a")]), Vec::new());
    let id = asked(&world, parts[0]);
    world.kernel().cancel(whole, "enough").unwrap();
    world.drive(whole);
    world.drive(parts[0]);
    assert_eq!(state(&world, parts[0]).task.status, TaskStatus::Cancelled);
    assert!(world.kernel().answer(parts[0], id, "1", Channel::Cli).is_err());
    assert_eq!(raised(&world, parts[0]), []);
}
