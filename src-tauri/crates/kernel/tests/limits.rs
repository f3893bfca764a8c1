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
use serde_json::json;
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
