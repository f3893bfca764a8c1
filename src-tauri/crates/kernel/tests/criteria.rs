//! What a person says must hold at the end of a task is checked before it ends as done (HK-8.2-5).

use crate::observing::Walled;
use crate::story::{count, ended, events, object, packs, shows, state};
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Error, Kernel, Ports, Waiting};
use model::Body;
use model::TaskId;
use model::attempt::TerminationReason;
use model::proposal::Answer;
use model::task::{CriterionOutcome, StepContract, TaskContract, TaskStatus};
use serde_json::json;
use std::sync::Arc;
use testkit::{World, change, command, done, write};

fn asked(world: &World, name: &str, answers: Vec<Answer>, done_when: &[&str]) -> TaskId {
    world.reasoners.script(name, answers);
    let submission = world.submission(name, Reasoning::Scripted { name: name.to_owned() });
    let done_when = done_when.iter().map(|text| (*text).to_owned()).collect();
    world.kernel().submit(&Submission { done_when, ..submission }).unwrap().task_id
}

fn found(world: &World, task: TaskId) -> Vec<(CriterionOutcome, String)> {
    let checked = state(world, task).criteria;
    checked.into_iter().map(|one| (one.outcome, one.found.shown().unwrap().clone())).collect()
}

#[test]
fn a_model_that_says_it_is_done_is_sent_back_to_what_does_not_hold() {
    let world = World::new(3101);
    world.file("draft.txt", "old");
    world.file("Übersicht 2026.md", "there");
    let criteria = [
        "file: Übersicht 2026.md",
        "file: report.md",
        "no file: draft.txt",
        "text: report.md: Total: 7",
        "it reads well",
    ];
    let answers = vec![
        done("all is written"),
        write("report.md", "Total: 6"),
        done("now it is"),
        write("report.md", "Total: 7"),
        change(json!([{ "op": "delete", "path": "draft.txt" }])),
        done("and now"),
    ];
    let task = asked(&world, "report", answers, &criteria);
    assert_eq!(world.drive_allowing(task).0, ended(TaskStatus::Completed, TerminationReason::Done));
    assert_eq!(count(world.kernel(), task, "task.criteria_checked"), 3, "each time that it said it was done");
    use CriterionOutcome::{Met, Unchecked};
    let outcomes: Vec<_> = found(&world, task).into_iter().map(|(outcome, _)| outcome).collect();
    assert_eq!(outcomes, [Met, Met, Met, Met, Unchecked], "words are for a person to judge");
    // The model was told from the beginning, and each time what did not hold.
    let said = packs(world.kernel(), task);
    assert!(criteria.iter().all(|criterion| shows(&said[0], criterion)));
    assert!(shows(&said[1], "`file: report.md`: nothing is there"), "{:?}", said[1].items);
    assert!(shows(&said[3], "`text: report.md: Total: 7`: the words are not in it"));
}

#[test]
fn what_never_holds_ends_the_task_as_failed_and_what_was_done_stays() {
    let world = World::new(3102);
    let answers = vec![write("a.txt", "a"), done("done"), done("really"), done("truly")];
    let task = asked(&world, "lazy", answers, &["file: b.txt"]);
    assert_eq!(world.drive_allowing(task).0, ended(TaskStatus::Failed, TerminationReason::CriteriaUnmet));
    assert_eq!(found(&world, task), [(CriterionOutcome::Unmet, "nothing is there".to_owned())]);
    assert_eq!(world.files()["a.txt"], b"a");
    let told =
        world.kernel().query().unwrap().attempt(state(&world, task).current.unwrap()).unwrap().unwrap();
    let told = told.summary.unwrap().shown().unwrap().clone();
    assert!(told.contains("`file: b.txt`: nothing is there") && !told.contains("truly"), "{told}");
}

#[test]
fn a_command_counts_by_its_receipt_and_not_by_what_is_said_of_it() {
    let mut world = World::new(3103);
    let run = || command(&["sh", "-c", "exit 0"]);
    let answers = vec![
        done("the tests pass"),
        run(),
        write("late.txt", "after the tests"),
        done("the tests pass"),
        run(),
        done("the tests pass"),
    ];
    let task = asked(&world, "tests", answers, &["command: exit 0"]);
    world.crash();
    let ports = Ports { executors: Arc::new(Walled(world.ports().executors)), ..world.ports() };
    let kernel = Kernel::open(world.store.path(), ports).unwrap();
    let ending = loop {
        match kernel.drive(task).unwrap() {
            DriveOutcome::Waiting(Waiting::Approval(asked)) => {
                world.person.allow(&kernel, task, asked).unwrap();
            }
            other => break other,
        }
    };
    assert_eq!(ending, ended(TaskStatus::Completed, TerminationReason::Done));
    let checked: Vec<_> = events(&kernel, task)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::CriteriaChecked(b) => b.checked.into_iter().next(),
            _ => None,
        })
        .collect();
    let words: Vec<&str> = checked.iter().map(|one| one.found.shown().unwrap().as_str()).collect();
    assert_eq!(
        words,
        [
            "it did not run in the folder itself",
            "something was changed since it ran; run it again",
            "it ended with status 0"
        ]
    );
    assert_eq!(checked[0].receipt_id, None);
    let bears = checked[2].receipt_id.expect("the receipt that bears it");
    assert_ne!(Some(bears), checked[1].receipt_id, "the run after the change");
    let (_, receipt) = kernel.receipt(bears).unwrap();
    assert_eq!(receipt.ran.value().unwrap().exit_code, Some(0));
}

#[test]
fn criteria_that_cannot_be_read_are_refused_and_a_task_that_follows_keeps_those_it_had() {
    let world = World::new(3104);
    let many: Vec<String> = (0..=model::limits::CRITERIA_MAX).map(|n| format!("file: {n}")).collect();
    let bad: [&[&str]; 6] = [
        &[" "],
        &["file: ../outside"],
        &["file: ."],
        &["text: a.txt"],
        &["command: "],
        &many.iter().map(String::as_str).collect::<Vec<_>>(),
    ];
    for (at, criteria) in bad.into_iter().enumerate() {
        let submission = world.submission("bad", Reasoning::Scripted { name: "bad".to_owned() });
        let done_when = criteria.iter().map(|text| (*text).to_owned()).collect();
        let refused = world.kernel().submit(&Submission { done_when, ..submission });
        assert!(matches!(refused, Err(Error::Input(_))), "{at}: {refused:?}");
    }
    let task = asked(&world, "first", vec![done("ok")], &["it reads well"]);
    world.drive(task);
    let now = state(&world, task);
    let contract: TaskContract = object(world.kernel(), &now, now.task.task_contract_ref);
    assert_eq!(contract.success_criteria, ["it reads well"]);
    let step: StepContract = object(world.kernel(), &now, now.step().unwrap().contract_ref);
    assert!(!step.objective.is_empty() && !step.success_criteria.is_empty() && step.rollback_hint.is_some());
}
