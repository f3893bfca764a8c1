//! The ends of a run that the loop counts out: each comes about in a kernel, is on record, and asks the model no more.

use crate::story::{completed, ended, events, state};
use kernel::command::submit::Reasoning;
use model::attempt::TerminationReason;
use model::proposal::Answer;
use model::task::{Budget, TaskStatus};
use model::{Body, TaskId, limits};
use projections::query::Ask;
use reasoning::Scripted;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::{World, change, done, look, say, write};

/// What a model says on and on, by how often it was asked before.
type Says = fn(usize) -> Answer;

/// A task whose model never comes to an end, and how often that model is asked.
fn endless(
    world: &World,
    name: &str,
    budget: Budget,
    takes_ms: i64,
    says: Says,
) -> (TaskId, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let (count, clock) = (Arc::clone(&asked), Arc::clone(&world.clock));
    let model = Scripted::with(move |_| {
        clock.advance(takes_ms);
        Ok(says(count.fetch_add(1, Ordering::SeqCst)))
    });
    world.reasoners.put(name, Arc::new(model));
    let mut submission = world.submission(name, Reasoning::Scripted { name: name.to_owned() });
    submission.budget = budget;
    (world.kernel().submit(&submission).unwrap().task_id, asked)
}

fn look_elsewhere(at: usize) -> Answer {
    look(&format!("{at}.txt"))
}

fn look_again(_: usize) -> Answer {
    look("a.txt")
}

fn look_here_and_there(at: usize) -> Answer {
    look(["a.txt", "b.txt"][at % 2])
}

fn nonsense(at: usize) -> Answer {
    say("shell", json!({ "cmd": format!("touch {at}") }))
}

fn move_nothing(at: usize) -> Answer {
    change(json!([{ "op": "move", "from": format!("none-{at}"), "to": "b.txt" }]))
}

#[conforms::conforms(
    "RX-1-6", "RX-4-2", "RX-5-2", "RX-5-4", "RX-5-6", "RX-6-1", "RX-6-2", "RX-6-6", "RX-9-4", "RX-9-5",
    "RX-10-1", "RX-11-6"
)]
#[test]
fn a_model_that_never_ends_is_ended_and_the_log_says_why() {
    let usual = Budget::default();
    let few = Budget { iterations_max: 3, ..usual };
    let more_than_there_are = Budget { iterations_max: 1_000, ..usual };
    let short = Budget { wall_ms_max: 1_000, ..usual };
    let cap = limits::ITERATIONS_MAX as usize;
    let borne = |limit: u32| limit as usize + 1;
    let cases: [(&str, Budget, i64, Says, TerminationReason, usize); 7] = [
        ("few turns", few, 0, look_elsewhere, TerminationReason::MaxIterations, 3),
        ("every turn", more_than_there_are, 0, look_elsewhere, TerminationReason::MaxIterations, cap),
        ("one look", usual, 0, look_again, TerminationReason::NoProgress, 1 + borne(limits::NO_PROGRESS_MAX)),
        (
            "two looks",
            usual,
            0,
            look_here_and_there,
            TerminationReason::NoProgress,
            2 + borne(limits::NO_PROGRESS_MAX),
        ),
        ("nonsense", usual, 0, nonsense, TerminationReason::MalformedOutput, borne(limits::MALFORMED_MAX)),
        (
            "failures",
            usual,
            0,
            move_nothing,
            TerminationReason::RepeatedToolFailure,
            borne(limits::TOOL_FAILURES_MAX),
        ),
        ("slow", short, 1_001, look_elsewhere, TerminationReason::BudgetSpent, 1),
    ];
    let mut world = World::new(1_501);
    for at in 0..cap {
        world.file(&format!("{at}.txt"), &at.to_string());
    }
    world.file("a.txt", "a");
    world.file("b.txt", "b");
    for (name, budget, takes_ms, says, reason, times) in cases {
        let (task, asked) = endless(&world, name, budget, takes_ms, says);
        assert_eq!(world.drive(task), ended(TaskStatus::Failed, reason), "{name}");
        assert_eq!(asked.load(Ordering::SeqCst), times, "{name}: the model is asked so often");
        let live = state(&world, task);
        let turns = if reason == TerminationReason::MalformedOutput { 0 } else { times };
        let counted = &live.attempt().unwrap().loop_state;
        assert_eq!((counted.iteration as usize, counted.termination), (turns, Some(reason)), "{name}");
        assert_eq!(why(&world, task), [reason], "{name}: once, with its reason");
        let kept = world.kernel().query().unwrap().iterations(task, live.current, Ask::ALL).unwrap().rows;
        assert_eq!(kept.len(), times, "{name}: each turn is on record, whatever came of it");
        let row = world.kernel().query().unwrap().attempt(live.current.unwrap()).unwrap().unwrap();
        assert_eq!(row.termination, Some(reason), "{name}: it can be looked up");
        // The next host knows the run from the log alone, and leaves it ended.
        world.reopen();
        let again = state(&world, task);
        assert_eq!(&again.attempt().unwrap().loop_state, counted, "{name}");
        assert_eq!(world.drive(task), ended(TaskStatus::Failed, reason), "{name}");
        assert_eq!(asked.load(Ordering::SeqCst), times, "{name}: nobody is asked again");
    }
    other_ends(&world);
}

/// A run that comes to its end, one that a person stops and one that they refuse say why, too.
fn other_ends(world: &World) {
    let well = world.script("ends well", vec![done("ok")]);
    assert_eq!(world.drive(well), completed());
    let [stopped, refused] = ["stopped", "refused"].map(|name| {
        let task = world.script(name, vec![write(name, "x"), done("not done")]);
        (task, world.drive_to_approval(task))
    });
    world.kernel().cancel(stopped.0, "enough").unwrap();
    world.person.deny(world.kernel(), refused.0, refused.1, "no").unwrap();
    let ends = [
        (well, TerminationReason::Done),
        (stopped.0, TerminationReason::Cancelled),
        (refused.0, TerminationReason::ApprovalDenied),
    ];
    for (task, reason) in ends {
        world.drive(task);
        assert_eq!(why(world, task), [reason]);
    }
}

/// Why a run ended, as often as its log says so.
fn why(world: &World, task: TaskId) -> Vec<TerminationReason> {
    let told = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::RunTerminated(body) => Some(body.reason),
        _ => None,
    });
    told.collect()
}
