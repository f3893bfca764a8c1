//! A task of several steps: each waits for those it depends on, and one after the other is worked on.

use crate::story::{completed, count, die, ended, events, object, packs, rebuilt, shows, state};
use kernel::command::ingest::Incoming;
use kernel::command::plan::Part;
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Error, Waiting};
use model::action::ActionClass;
use model::attempt::{AttemptStatus, TerminationReason};
use model::decision::DecisionClass;
use model::fault::Point;
use model::ingress::Channel;
use model::task::{BuildsOn, StepContract, StepKind, StepStatus, TaskStatus};
use model::{Body, StepId, TaskId};
use std::collections::BTreeMap;
use testkit::{Edge, World, done, look, write};

fn part(name: &str, after: &[&str]) -> Part {
    Part {
        name: name.to_owned(),
        objective: format!("the part {name}"),
        after: after.iter().map(|name| (*name).to_owned()).collect(),
        reasoning: Some(Reasoning::Scripted { name: name.to_owned() }),
        ..Part::default()
    }
}

/// Each part writes a file of its name, and says so.
fn script(world: &World, name: &str) {
    world
        .reasoners
        .script(name, vec![write(&format!("{name}.txt"), name), done(&format!("{name} is written"))]);
}

fn submit(world: &World, parts: Vec<Part>) -> TaskId {
    submit_goal(world, "all of it", parts)
}

fn submit_goal(world: &World, goal: &str, parts: Vec<Part>) -> TaskId {
    for part in &parts {
        script(world, &part.name);
    }
    let mut submission = world.submission(goal, Reasoning::Scripted { name: "nobody".to_owned() });
    submission.steps = parts;
    world.kernel().submit(&submission).unwrap().task_id
}

fn statuses(world: &World, task: TaskId) -> Vec<(String, StepStatus)> {
    let now = state(world, task);
    let named = |id: &StepId| {
        let step = &now.steps[id];
        (step.title.shown().unwrap().clone(), step.status)
    };
    now.step_order.iter().map(named).collect()
}

/// The names of steps in the order in which they were first attempted.
fn attempted(world: &World, task: TaskId) -> Vec<String> {
    let now = state(world, task);
    let mut names: Vec<String> = Vec::new();
    for (_, body) in events(world.kernel(), task) {
        if let Body::AttemptCreated(b) = body {
            names.push(now.steps[&b.attempt.step_id].title.shown().unwrap().clone());
        }
    }
    names
}

#[conforms::conforms("HK-9-1", "HK-10.2-1", "HK-10.2-2", "HK-10.2-3", "HK-10.2-4")]
#[test]
fn a_task_works_through_its_steps_each_after_those_it_waits_for() {
    let world = World::new(901);
    let parts = vec![part("a", &[]), part("c", &[]), part("b", &["a"]), part("d", &["b", "c"])];
    let task = submit(&world, parts);
    let (ready, planned) = (StepStatus::Ready, StepStatus::Planned);
    let named = |names: &[(&str, StepStatus)]| -> Vec<(String, StepStatus)> {
        names.iter().map(|(name, status)| ((*name).to_owned(), *status)).collect()
    };
    assert_eq!(statuses(&world, task), named(&[("a", ready), ("c", ready), ("b", planned), ("d", planned)]));
    let (standing, asked) = world.drive_allowing(task);
    assert_eq!((standing, asked), (completed(), 4), "each part asks for its own act");
    assert!(statuses(&world, task).iter().all(|(_, status)| *status == StepStatus::Succeeded));
    assert_eq!(attempted(&world, task), ["a", "c", "b", "d"]);
    let now = state(&world, task);
    assert!(now.attempts.values().all(|a| a.attempt.attempt_no == 1));
    for name in ["a", "b", "c", "d"] {
        assert_eq!(world.files()[&format!("{name}.txt")], name.as_bytes());
    }
    // No step begins before all it waits for have succeeded.
    let mut succeeded: Vec<StepId> = Vec::new();
    for (_, body) in events(world.kernel(), task) {
        match body {
            Body::AttemptCreated(b) => {
                let step = &now.steps[&b.attempt.step_id];
                assert!(step.depends_on.iter().all(|id| succeeded.contains(id)));
            }
            Body::StepStatusChanged(b) if b.to == StepStatus::Succeeded => succeeded.push(b.about_step_id),
            _ => {}
        }
    }
    assert_eq!(succeeded.len(), 4);
}

#[conforms::conforms("HK-27-3", part = "HK-10.3-7")]
#[test]
fn a_host_that_dies_in_a_later_step_leaves_the_earlier_one_as_it_is_and_goes_on_in_the_same_attempt() {
    let mut world = World::new(1_434);
    let task = submit(&world, vec![part("a", &[]), part("b", &["a"])]);
    let first = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, first).unwrap();
    let second = world.drive_to_approval(task);
    let attempt = state(&world, task).current;
    world.reopen();
    assert_eq!(statuses(&world, task)[0].1, StepStatus::Succeeded);
    world.person.allow(world.kernel(), task, second).unwrap();
    die(&mut world, task, Point::EffectObserve, Edge::After);
    assert_eq!(world.drive(task), completed());
    assert_eq!(attempted(&world, task), ["a", "b"], "one attempt of each");
    assert_eq!(state(&world, task).current, attempt);
    let asked = count(world.kernel(), task, "attempt.model_requested");
    assert_eq!(asked, 4, "two turns of each step, and none of them twice");
    assert!(world.oracle.performed().values().all(|times| *times == 1), "nor any act");
    assert_eq!(world.files().into_keys().collect::<Vec<_>>(), ["a.txt", "b.txt"]);
}

#[test]
fn a_later_step_is_told_what_the_earlier_one_ended_with_and_does_not_believe_it() {
    let world = World::new(902);
    let task = submit(&world, vec![part("a", &[]), part("b", &["a"])]);
    world.drive_allowing(task);
    let last = packs(world.kernel(), task).pop().unwrap();
    assert!(shows(&last, "a is written"));
    let told = last.items.iter().find(|item| item.text.contains("a is written")).unwrap();
    assert_eq!(told.trust_tier, model::artifact::TrustTier::Untrusted);
    assert!(shows(&last, "the part b") && !shows(&last, "the part a"));
}

#[test]
fn a_step_that_fails_ends_the_task_and_what_waited_for_it_is_never_begun() {
    let world = World::new(903);
    let task = submit(&world, vec![part("a", &[]), part("b", &["a"]), part("c", &[])]);
    let approval = world.drive_to_approval(task);
    world.person.deny(world.kernel(), task, approval, "no").unwrap();
    assert_eq!(world.drive(task), ended(TaskStatus::Failed, TerminationReason::ApprovalDenied));
    let how: BTreeMap<_, _> = statuses(&world, task).into_iter().collect();
    assert_eq!(
        (how["a"], how["b"], how["c"]),
        (StepStatus::Failed, StepStatus::Cancelled, StepStatus::Cancelled)
    );
    assert_eq!(attempted(&world, task), ["a"]);
    assert!(world.files().is_empty());
    // Tried again, it is a task with the same steps.
    let again = world.kernel().retry(task, "again".to_owned()).unwrap().task_id;
    for name in ["a", "b", "c"] {
        script(&world, name);
    }
    assert_eq!(world.drive_allowing(again).0, completed());
    assert_eq!(attempted(&world, again), ["a", "b", "c"]);
}

#[test]
fn cancelled_between_its_steps_a_task_begins_no_other_and_paused_it_goes_on_there() {
    for cancel in [true, false] {
        let mut world = World::new(904);
        let task = submit(&world, vec![part("a", &[]), part("b", &["a"])]);
        let approval = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, approval).unwrap();
        // The host dies as the first step ends, and a person speaks before the next host works.
        die(&mut world, task, Point::TaskEnd, Edge::After);
        assert_eq!(state(&world, task).attempt().unwrap().attempt.status, AttemptStatus::Succeeded);
        if cancel {
            world.kernel().cancel(task, "enough").unwrap();
            assert_eq!(world.drive(task), ended(TaskStatus::Cancelled, TerminationReason::Done));
            assert_eq!(statuses(&world, task)[1].1, StepStatus::Cancelled);
        } else {
            world.kernel().pause(task).unwrap();
            assert_eq!(world.drive(task), DriveOutcome::Waiting(kernel::Waiting::Resume));
            world.kernel().resume(task).unwrap();
            script(&world, "b");
            assert_eq!(world.drive_allowing(task).0, completed());
        }
        assert_eq!(count(world.kernel(), task, "attempt.created"), if cancel { 1 } else { 2 });
    }
}

#[conforms::conforms("HK-8.2-3")]
#[test]
fn a_step_may_only_request_what_its_contract_allows() {
    let world = World::new(905);
    world.file("x.txt", "x");
    let mut reads = part("a", &[]);
    reads.may = vec![ActionClass::ReadLocal];
    let task = submit(&world, vec![reads, part("b", &["a"])]);
    world.reasoners.script("a", vec![look("x.txt"), write("a.txt", "a"), done("read")]);
    let (standing, asked) = world.drive_allowing(task);
    assert!(!world.files().contains_key("a.txt"), "the first step may only look");
    assert_eq!((standing, asked), (completed(), 1), "only the second asked for anything");
}

#[conforms::conforms("HK-8.2-2")]
#[test]
fn a_step_has_a_kind_which_says_what_it_may_do_and_one_that_awaits_an_approval_waits_for_a_person() {
    let examples = [
        StepKind::Plan,
        StepKind::Search,
        StepKind::Inspect,
        StepKind::Edit,
        StepKind::RunTests,
        StepKind::PreparePatch,
        StepKind::AwaitApproval,
        StepKind::PublishResult,
        StepKind::ObserveRemote,
    ];
    assert!(examples.iter().all(|kind| StepKind::PLANNED.contains(kind)));
    let kinds = [Some(StepKind::Inspect), Some(StepKind::AwaitApproval), Some(StepKind::Edit)];
    let plan = || {
        let mut parts = vec![part("a", &[]), part("b", &["a"]), part("c", &["b"])];
        for (part, kind) in parts.iter_mut().zip(kinds) {
            part.kind = kind;
        }
        parts[1].reasoning = None;
        parts
    };
    for goes_on in [true, false] {
        let world = World::new(907);
        world.file("x.txt", "x");
        let task = submit(&world, plan());
        world.reasoners.script("a", vec![look("x.txt"), write("a.txt", "a"), done("looked")]);
        let DriveOutcome::Waiting(Waiting::Answer(asked)) = world.drive(task) else {
            panic!("a step that inspects asks for nothing, and the next one for a word");
        };
        assert!(!world.files().contains_key("a.txt"), "to inspect is not to write");
        assert_eq!(attempted(&world, task), ["a", "b"], "what comes after it has not begun");
        let kernel = world.kernel();
        for nonsense in ["yes", "go on, please"] {
            assert!(matches!(kernel.answer(task, asked, nonsense, Channel::Cli), Err(Error::Input(_))));
        }
        assert!(matches!(kernel.answer(task, asked, "Go on", Channel::RunApi), Err(Error::Refused(_))));
        kernel.answer(task, asked, if goes_on { "Go on" } else { "Stop here" }, Channel::Cli).unwrap();
        let (standing, _) = world.drive_allowing(task);
        let written = world.files().contains_key("c.txt");
        match goes_on {
            true => assert_eq!((standing, written), (completed(), true)),
            false => {
                let ends = ended(TaskStatus::Failed, TerminationReason::ApprovalDenied);
                assert_eq!((standing, written), (ends, false));
            }
        }
        let made: Vec<_> = state(&world, task).in_order().map(|step| step.kind).collect();
        assert_eq!(made, kinds.map(Option::unwrap));
    }
    let world = World::new(908);
    each_kind_does_what_it_is_for_and_no_more(&world);
    // What a kind does not allow is not given to it, and nothing is planned that the kernel alone does.
    let mut submission = world.submission("kinds", Reasoning::Scripted { name: "nobody".to_owned() });
    let with = |kind, may: &[ActionClass]| Part { kind: Some(kind), may: may.to_vec(), ..part("a", &[]) };
    for (one, word) in [
        (with(StepKind::Inspect, &[ActionClass::WriteLocal]), "no such step may `write_local`"),
        (with(StepKind::Rollback, &[]), "cannot be planned as `rollback`"),
    ] {
        submission.steps = vec![one, part("b", &["a"])];
        let refused = world.kernel().submit(&submission).unwrap_err();
        assert!(matches!(&refused, Error::Input(words) if words.contains(word)), "{refused}");
    }
}

/// Steps of every kind try to write, and those that edit do; a step that undoes is made by undoing.
fn each_kind_does_what_it_is_for_and_no_more(world: &World) {
    let mut last = None;
    for kind in StepKind::PLANNED.into_iter().filter(|kind| *kind != StepKind::AwaitApproval) {
        let only = Part { kind: Some(kind), ..part("a", &[]) };
        let task = submit_goal(world, kind.as_str(), vec![only]);
        let name = format!("{kind}.txt");
        world.reasoners.script("a", vec![write(&name, "x"), done("tried")]);
        world.drive_allowing(task);
        let may = matches!(kind, StepKind::Pursue | StepKind::Edit | StepKind::PreparePatch);
        assert_eq!(world.files().contains_key(&name), may, "{kind}");
        let now = state(world, task);
        assert_eq!(now.in_order().map(|step| step.kind).collect::<Vec<_>>(), [kind]);
        if may {
            last = now.receipts.last().map(|receipt| (name, receipt.receipt_id));
        }
    }
    let (name, receipt) = last.expect("some wrote");
    let undo = world.kernel().rollback(receipt, Channel::Cli, "undo".to_owned()).unwrap().task_id;
    assert_eq!(state(world, undo).in_order().map(|step| step.kind).collect::<Vec<_>>(), [StepKind::Rollback]);
    assert_eq!(world.drive_allowing(undo).0, completed());
    assert!(!world.files().contains_key(&name), "`{name}` is undone");
}

/// A step counts on what came with the goal, and on what the steps before it end with; it is told so, also when it is tried again.
fn counts_on_what_came_and_on_what_is_before_it(world: &World) {
    let mut text: &[u8] = b"the rates of this year";
    let (name, uri) = ("rates.txt".to_owned(), "file:rates.txt".to_owned());
    let trust_tier = model::artifact::TrustTier::UserAsserted;
    let incoming = Incoming { name, uri, media_type: "text/plain", bytes: &mut text, trust_tier };
    let (rates, _) = world.kernel().ingest(incoming, Channel::App).unwrap();
    let mut submission = world.submission("with a file", Reasoning::Scripted { name: "nobody".to_owned() });
    submission.encloses.files = vec![rates.artifact_id];
    let first = Part { leaves: vec!["a table".to_owned()], ..part("c", &[]) };
    submission.steps = vec![first, part("d", &["c"])];
    let mut task = world.kernel().submit(&submission).unwrap().task_id;
    for again in [false, true] {
        let now = state(world, task);
        let given: Vec<_> = now.artifacts.values().filter(|a| a.content_hash == rates.sha256).collect();
        assert_eq!(given.len(), 1);
        let (ids, promised): (Vec<StepId>, Vec<StepContract>) = now
            .in_order()
            .map(|step| (step.step_id, object::<StepContract>(world.kernel(), &now, step.contract_ref)))
            .unzip();
        assert!(promised.iter().all(|step| step.expected_inputs == [given[0].artifact_id]), "{again}");
        let before = BuildsOn { step_id: ids[0], title: "c".to_owned(), outputs: vec!["a table".to_owned()] };
        assert_eq!((&promised[0].builds_on, &promised[1].builds_on), (&vec![], &vec![before]), "{again}");
        if again {
            break;
        }
        script(world, "c");
        script(world, "d");
        assert_eq!(world.drive_allowing(task).0, completed());
        let last = packs(world.kernel(), task).pop().unwrap();
        let wanted = ["what the step `c` ends with: a table", "what came with the goal: 1 file or passage"];
        assert!(wanted.iter().all(|words| shows(&last, words)));
        task = world.kernel().retry(task, "again".to_owned()).unwrap().task_id;
    }
}

#[conforms::conforms("HK-8.2-5")]
#[test]
fn a_step_says_what_it_leaves_and_how_it_is_undone_and_ends_when_what_must_hold_at_its_end_does() {
    let world = World::new(909);
    let mut first = part("a", &[]);
    first.leaves = vec!["a list".to_owned()];
    first.may = vec![ActionClass::WriteLocal];
    first.done_when = vec!["file: a.txt".to_owned()];
    first.undo = Some("delete a.txt".to_owned());
    let task = submit(&world, vec![first, part("b", &["a"])]);
    world.reasoners.script("a", vec![done("it is written"), write("a.txt", "a"), done("now it is")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    assert_eq!(
        count(world.kernel(), task, "task.criteria_checked"),
        2,
        "each time that the step said it was done"
    );
    let now = state(&world, task);
    let step = now.in_order().next().unwrap();
    let contract: StepContract = object(world.kernel(), &now, step.contract_ref);
    assert_eq!(
        (contract.objective.as_str(), contract.expected_outputs),
        ("the part a", vec!["a list".to_owned()])
    );
    assert!(contract.success_criteria.contains(&"file: a.txt".to_owned()));
    assert_eq!(contract.allowed_action_classes, [ActionClass::WriteLocal]);
    assert_eq!(contract.rollback_hint.as_deref(), Some("delete a.txt"));
    counts_on_what_came_and_on_what_is_before_it(&world);
    let said = packs(world.kernel(), task);
    assert!(shows(&said[0], "a list") && shows(&said[0], "file: a.txt"));
    assert!(shows(&said[1], "`file: a.txt`: nothing is there"));
    // What never holds ends the task, and what waited for the step is not begun.
    let mut never = part("a", &[]);
    never.done_when = vec!["file: never.txt".to_owned()];
    let task = submit_goal(&world, "what never holds", vec![never, part("b", &["a"])]);
    world.reasoners.script("a", vec![done("1"), done("2"), done("3"), done("4")]);
    let ends = ended(TaskStatus::Failed, TerminationReason::CriteriaUnmet);
    assert_eq!(world.drive_allowing(task).0, ends);
    assert_eq!(attempted(&world, task), ["a"]);
}

#[test]
fn steps_that_wait_for_later_ones_or_share_a_name_are_refused_with_words() {
    let world = World::new(906);
    let mut submission = world.submission("rings", Reasoning::Scripted { name: "nobody".to_owned() });
    for (parts, word) in [
        (vec![part("a", &["b"]), part("b", &["a"])], "waits for `b`"),
        (vec![part("a", &["a"])], "waits for `a`"),
        (vec![part("a", &[]), part("a", &[])], "two steps are called `a`"),
        (vec![part(" ", &[])], "needs a name"),
        ((0..33).map(|n| part(&format!("s{n}"), &[])).collect(), "at most 32"),
    ] {
        submission.steps = parts;
        let refused = world.kernel().submit(&submission).unwrap_err();
        assert!(matches!(&refused, Error::Input(words) if words.contains(word)), "{refused}");
    }
}

#[conforms::conforms(part = "HK-12.2-1")]
#[test]
fn an_edited_goal_supersedes_the_steps_that_nobody_has_begun_and_one_for_it_takes_their_place() {
    let mut world = World::new(1_431);
    let task = submit(&world, vec![part("a", &[]), part("b", &["a"]), part("c", &["b"])]);
    world.reasoners.script("nobody", vec![write("new.txt", "new"), done("the new goal is reached")]);
    let asked = world.drive_to_approval(task);
    assert!(world.kernel().change_goal(task, "something else", Channel::Cli).unwrap());
    let (running, planned, gone) = (StepStatus::Blocked, StepStatus::Planned, StepStatus::Superseded);
    let named = |all: &[(&str, StepStatus)]| -> Vec<(String, StepStatus)> {
        all.iter().map(|(name, status)| ((*name).to_owned(), *status)).collect()
    };
    let now = named(&[("a", running), ("b", gone), ("c", gone), ("something else", planned)]);
    assert_eq!(statuses(&world, task), now, "in the commit of the edit");
    world.reopen();
    assert_eq!(statuses(&world, task), now);
    assert!(state(&world, task).approvals[&asked].approval.status != model::approval::ApprovalStatus::Denied);
    // Edited again before it has begun, it gives way as well.
    assert!(world.kernel().change_goal(task, "yet something else", Channel::Cli).unwrap());
    assert_eq!(statuses(&world, task)[3].1, gone);
    world.reasoners.script("a", vec![write("a.txt", "a"), write("a.txt", "a"), done("a is written")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    assert_eq!(attempted(&world, task), ["a", "yet something else"]);
    assert_eq!(world.files().into_keys().collect::<Vec<_>>(), ["a.txt", "new.txt"]);
}

#[test]
fn a_title_that_is_how_the_goal_begins_follows_it_and_one_that_was_given_stays() {
    let mut world = World::new(1_435);
    let title = |world: &World, task: TaskId| {
        let row = world.kernel().query().unwrap().task(task).unwrap().unwrap();
        let title = state(world, task).task.title.shown().unwrap().clone();
        assert_eq!(row.title.shown(), Some(&title), "the views say the same");
        title
    };
    let edit = |world: &World, task: TaskId, goal: &str| {
        assert!(world.kernel().change_goal(task, goal, Channel::App).unwrap());
    };
    let plain = world.script("the red ones\nin this folder", vec![write("a.txt", "a"), done("ok")]);
    assert_eq!(title(&world, plain), "the red ones");
    edit(&world, plain, "the blue ones\nin this folder");
    assert_eq!(title(&world, plain), "the blue ones");
    edit(&world, plain, "the blue ones\neverywhere");
    edit(&world, plain, "the green ones");
    let scripted = Reasoning::Scripted { name: "the red ones".to_owned() };
    let submission = Submission { title: "Colours".to_owned(), ..world.submission("the red ones", scripted) };
    let named = world.kernel().submit(&submission).unwrap().task_id;
    edit(&world, named, "the blue ones");
    let (views, log) = rebuilt(&mut world);
    assert_eq!(views, log);
    assert_eq!(
        (title(&world, plain), title(&world, named)),
        ("the green ones".to_owned(), "Colours".to_owned())
    );
    let told: Vec<Option<String>> = events(world.kernel(), plain)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::TaskGoalChanged(b) => Some(b.title.and_then(|title| title.shown().cloned())),
            _ => None,
        })
        .collect();
    let said = |title: &str| Some(title.to_owned());
    assert_eq!(
        told,
        [said("the blue ones"), None, said("the green ones")],
        "a title is told where it changes"
    );
}

#[test]
fn an_edited_goal_waits_for_a_person_still_where_a_step_awaited_one() {
    let world = World::new(1_432);
    let gate = Part { kind: Some(StepKind::AwaitApproval), reasoning: None, ..part("b", &["a"]) };
    let task = submit(&world, vec![part("a", &[]), gate, part("c", &["b"])]);
    world.reasoners.script("nobody", vec![write("new.txt", "new"), done("the new goal is reached")]);
    world.drive_to_approval(task);
    assert!(world.kernel().change_goal(task, "something else", Channel::Cli).unwrap());
    // The step that waits for a person is none of those that were given up.
    let decided = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::DecisionRecorded(b) if b.decision.decision_type == DecisionClass::Planning => Some(b.decision),
        _ => None,
    });
    let decided: Vec<_> = decided.collect();
    let [planned] = &decided[..] else { panic!("one decision: {decided:?}") };
    let words = planned.summary.shown().unwrap();
    assert!(words.contains("takes the place of 1 step that"), "{words}");
    let others: Vec<&str> =
        planned.alternatives_considered.iter().map(|one| one.shown().unwrap().as_str()).collect();
    assert_eq!(others, ["go on with the step `c`"]);
    world.reasoners.script("a", vec![write("a.txt", "a"), write("a.txt", "a"), done("a is written")]);
    let (DriveOutcome::Waiting(Waiting::Answer(asked)), _) = world.drive_allowing(task) else {
        panic!("a person is asked before the new goal is begun");
    };
    assert_eq!(attempted(&world, task), ["a", "b"]);
    world.kernel().answer(task, asked, "Go on", Channel::Cli).unwrap();
    assert_eq!(world.drive_allowing(task).0, completed());
    assert_eq!(attempted(&world, task), ["a", "b", "something else"]);
}

#[test]
fn a_task_of_one_step_that_may_less_may_no_more_when_it_is_tried_again() {
    let world = World::new(1_433);
    let only = Part { kind: Some(StepKind::Inspect), ..part("a", &[]) };
    let task = submit(&world, vec![only]);
    world.reasoners.script("a", vec![done("looked")]);
    assert_eq!(world.drive(task), completed());
    let again = state(&world, world.kernel().retry(task, "again".to_owned()).unwrap().task_id);
    let step = again.in_order().next().unwrap();
    let contract: StepContract = object(world.kernel(), &again, step.contract_ref);
    assert_eq!(
        (step.kind, contract.allowed_action_classes),
        (StepKind::Inspect, vec![ActionClass::ReadLocal])
    );
}
