//! Child tasks: parts that the agent of a task gives away, within its budget, and what they come to.

use crate::story::{completed, count, events, packs, shows, state};
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Waiting};
use model::artifact::TrustTier;
use model::fault::Point;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::proposal::Answer;
use model::task::{Budget, Origin, StepKind, TaskStatus};
use model::{Body, TaskId, limits};
use reasoning::{Input, Scripted};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use testkit::{Edge, Mode, World, done, say, write};

fn waits() -> DriveOutcome {
    DriveOutcome::Waiting(Waiting::Dependency)
}

fn delegate(parts: Value) -> Answer {
    say("delegate", json!({ "tasks": parts }))
}

/// A task whose agents answer by the goal that they are told; of the same goal, one answer after another.
fn agents(world: &World, goal: &str, says: Vec<(&'static str, Vec<Answer>)>) -> TaskId {
    agents_in(world, goal, says, Vec::new())
}

/// The same, in these steps.
fn agents_in(
    world: &World,
    goal: &str,
    says: Vec<(&'static str, Vec<Answer>)>,
    steps: Vec<kernel::command::plan::Part>,
) -> TaskId {
    let says: BTreeMap<&str, Vec<Answer>> = says.into_iter().collect();
    let answer = move |input: &Input<'_>| {
        // A parent's pack shows the goals of its parts as well: the goal of its own contract comes first.
        let own =
            input.pack.items.iter().find_map(|item| says.keys().find(|goal| item.text.contains(**goal)));
        let of_goal = own.and_then(|goal| says.get(goal)).expect("a known goal");
        let at = usize::try_from(input.iteration - 1).unwrap();
        Ok(of_goal.get(at).cloned().unwrap_or_else(|| done("nothing more")))
    };
    world.reasoners.put("agents", Arc::new(Scripted::with(answer)));
    let mut submission = world.submission(goal, Reasoning::Scripted { name: "agents".to_owned() });
    submission.steps = steps;
    world.kernel().submit(&submission).unwrap().task_id
}

fn children(world: &World, task: TaskId) -> Vec<TaskId> {
    state(world, task).children
}

fn two_parts() -> Vec<(&'static str, Vec<Answer>)> {
    let parts = json!([{ "goal": "PART-A: write a", "title": "a" }, { "goal": "PART-B: say b" }]);
    vec![
        ("WHOLE", vec![delegate(parts), done("both are done")]),
        ("PART-A", vec![write("a.txt", "a"), done("a is written")]),
        ("PART-B", vec![done("b is 42")]),
    ]
}

#[test]
fn parts_are_tasks_of_their_own_within_the_budget_and_their_last_words_come_back() {
    let world = World::new(3_101);
    let task = agents(&world, "WHOLE of it", two_parts());
    assert_eq!(world.drive(task), waits());
    let parts = children(&world, task);
    assert_eq!(parts.len(), 2);
    let own = state(&world, task);
    let share = (Budget::default().tokens_max - own.tokens_spent) / 3;
    for (part, goal) in parts.iter().zip(["PART-A: write a", "PART-B: say b"]) {
        let child = state(&world, *part);
        let contract = crate::story::object::<model::task::TaskContract>(
            world.kernel(),
            &child,
            child.task.task_contract_ref,
        );
        assert_eq!((child.task.parent_task_id, child.task.origin()), (Some(task), Origin::Agent));
        assert_eq!((contract.goal.as_str(), contract.budget.tokens_max), (goal, share));
        assert_eq!(child.task.policy_profile_ref, Profile::LocalEditAllowed);
        assert_eq!(child.goal_tier(), TrustTier::Untrusted, "a model wrote it");
    }
    // Nothing has ended: it waits on, and says so to whoever starts next.
    assert_eq!(world.drive(task), waits());
    assert!(!world.kernel().resumable().unwrap().contains(&task));
    assert_eq!(world.drive(parts[1]), completed());
    assert_eq!(world.kernel().kin(parts[1]).unwrap(), [task], "it is heard by whoever gave it away");
    assert!(world.kernel().resumable().unwrap().contains(&task));
    assert_eq!(world.drive(task), waits(), "the other is still at work");
    assert_eq!(world.kernel().kin(task).unwrap(), [parts[0]]);
    let (outcome, asked) = world.drive_allowing(parts[0]);
    assert_eq!((outcome, asked), (completed(), 1), "a part asks for its own acts, as its goal is a model's");
    assert_eq!(world.drive(task), completed());
    let told = packs(world.kernel(), task).pop().unwrap();
    for words in ["a is written", "b is 42", "PART-A: write a", "Done, with a receipt"] {
        assert!(shows(&told, words), "{words}");
    }
    let came: Vec<_> = told.items.iter().filter(|item| item.text.contains("b is 42")).collect();
    assert!(came.iter().all(|item| item.trust_tier == TrustTier::Untrusted));
    let spent = |task: TaskId| state(&world, task).tokens_spent;
    assert_eq!(spent(task), 2 * 15 + spent(parts[0]) + spent(parts[1]), "what they spent is its own");
    let row = world.kernel().query().unwrap().task(task).unwrap().unwrap();
    assert_eq!(row.tokens_used, spent(task), "a person sees what the whole of it took");
    assert_eq!(world.files()["a.txt"], b"a");
}

#[test]
fn a_part_may_no_more_than_the_step_that_gave_it_away() {
    let world = World::new(3_131);
    let step = kernel::command::plan::Part {
        name: "look".to_owned(),
        objective: "WHOLE of it".to_owned(),
        kind: Some(StepKind::Inspect),
        ..Default::default()
    };
    let task = agents_in(&world, "WHOLE of it", two_parts(), vec![step]);
    assert_eq!(world.drive(task), waits());
    let part = children(&world, task)[0];
    assert_eq!(world.drive_allowing(part), (completed(), 0), "nobody is asked for what it may not");
    assert!(!world.files().contains_key("a.txt"));
}

#[test]
fn wherever_it_dies_each_part_is_begun_once_and_heard_once() {
    for (point, edge, nth) in [
        (Point::IterationComplete, Edge::Before, 1),
        (Point::IterationComplete, Edge::After, 1),
        (Point::IngressReceive, Edge::After, 1),
        (Point::IngressBind, Edge::Before, 1),
        (Point::IngressBind, Edge::After, 1),
        (Point::IngressReceive, Edge::After, 2),
        (Point::IngressBind, Edge::After, 2),
        (Point::IterationComplete, Edge::Before, 2),
        (Point::IterationComplete, Edge::After, 2),
    ] {
        let mut world = World::new(3_102);
        let task = agents(&world, "WHOLE of it", two_parts());
        world.faults.plan(point, edge, Mode::Abort, nth);
        let died = catch_unwind(AssertUnwindSafe(|| world.kernel().drive(task)));
        assert!(world.faults.fired(), "{point} {edge:?} {nth} was not reached: {died:?}");
        world.faults.clear();
        world.reopen();
        let mut rounds = 0;
        loop {
            world.kernel().bind_unbound().unwrap();
            for part in children(&world, task) {
                world.drive_allowing(part);
            }
            if world.drive(task) == completed() {
                break;
            }
            rounds += 1;
            assert!(rounds < 5, "{point} {edge:?} {nth}");
        }
        assert_eq!(children(&world, task).len(), 2, "{point} {edge:?} {nth}");
        assert_eq!(count(world.kernel(), task, "task.child_ended"), 2);
        let begun = crate::story::log(world.kernel())
            .into_iter()
            .filter(|(_, body)| matches!(body, Body::TaskCreated(b) if b.task.parent_task_id == Some(task)));
        assert_eq!(begun.count(), 2, "{point} {edge:?} {nth}");
    }
}

fn refusal(world: &World, task: TaskId) -> String {
    let mut records = events(world.kernel(), task).into_iter().rev().filter_map(|(_, body)| match body {
        Body::IterationCompleted(b) => b.record.error.and_then(|e| e.shown().cloned()),
        _ => None,
    });
    records.next().unwrap_or_default()
}

#[test]
fn parts_that_are_too_many_too_deep_or_too_dear_are_refused_in_words() {
    let part = |goal: &str, tokens: Value| json!({ "goal": goal, "tokens": tokens });
    let many: Vec<Value> = (0..=limits::CHILD_TASKS_MAX).map(|_| part("PART", Value::Null)).collect();
    let cases = [
        (Value::Array(many), "8 parts away at most"),
        (json!([part("PART", json!(500_000))]), "500000 tokens"),
        (json!([part("PART", json!(10))]), "too few for a part"),
        (json!([]), "at least one part"),
    ];
    for (parts, why) in cases {
        let world = World::new(3_103);
        let task = agents(&world, "WHOLE", vec![("WHOLE", vec![delegate(parts), done("alone")])]);
        assert_eq!(world.drive(task), completed(), "{why}");
        assert!(refusal(&world, task).contains(why), "{}", refusal(&world, task));
        assert_eq!(children(&world, task), []);
    }
    let world = World::new(3_104);
    let down = |goal: &str| delegate(json!([{ "goal": goal }]));
    let says = vec![
        ("FIRST", vec![down("SECOND"), done("1")]),
        ("SECOND", vec![down("THIRD"), done("2")]),
        ("THIRD", vec![down("FOURTH"), done("3")]),
    ];
    let first = agents(&world, "FIRST", says);
    assert_eq!(world.drive(first), waits());
    let second = children(&world, first)[0];
    assert_eq!(world.drive(second), waits());
    let third = children(&world, second)[0];
    assert_eq!(world.drive(third), completed());
    assert!(refusal(&world, third).contains("a part of a part"), "{}", refusal(&world, third));
    assert_eq!((world.drive(second), world.drive(first)), (completed(), completed()));
}

#[test]
fn who_stops_a_task_stops_its_parts() {
    for how in ["cancel", "retry"] {
        let world = World::new(3_105);
        let task = agents(&world, "WHOLE of it", two_parts());
        assert_eq!(world.drive(task), waits());
        let parts = children(&world, task);
        match how {
            "cancel" => {
                world.kernel().cancel(task, "enough").unwrap();
                world.drive(task);
            }
            _ => drop(world.kernel().retry(task, "again".to_owned()).unwrap()),
        }
        for part in &parts {
            world.drive(*part);
            assert_eq!(state(&world, *part).task.status, TaskStatus::Cancelled, "{how}");
            let asked = events(world.kernel(), *part);
            let (event, _) = asked.iter().find(|(_, b)| matches!(b, Body::TaskCancelRequested(_))).unwrap();
            assert_eq!(event.actor_type, PrincipalType::System, "no person asked for it");
        }
    }
}
