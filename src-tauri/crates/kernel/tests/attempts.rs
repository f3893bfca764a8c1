//! Attempts and steps: one at work at a time, the same one after a wait, a new number after a retry.

use crate::story::{completed, count, ended, events, object, packs, shows, state};
use kernel::command::plan::Part;
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Waiting};
use model::approval::ApprovalStatus;
use model::attempt::{AttemptStatus, TerminationReason};
use model::context::Section;
use model::grant::CapabilityGrant;
use model::ingress::Channel;
use model::task::{StepContract, StepStatus, TaskStatus};
use model::{AttemptId, Body};
use serde_json::json;
use std::collections::BTreeMap;
use testkit::{World, done, look, say, write};

/// Walks a task's events: each change of an attempt begins where the last one ended, and never are two attempts of
/// one step at work. Returns where each attempt stands at the end.
fn walk(world: &World, task: model::TaskId) -> BTreeMap<AttemptId, AttemptStatus> {
    let mut standing: BTreeMap<AttemptId, AttemptStatus> = BTreeMap::new();
    for (event, body) in events(world.kernel(), task) {
        match body {
            Body::AttemptCreated(b) => {
                assert_eq!(b.attempt.status, AttemptStatus::Created);
                standing.insert(b.attempt.attempt_id, AttemptStatus::Created);
            }
            Body::AttemptStatusChanged(b) => {
                let was = standing.insert(b.about_attempt_id, b.to);
                assert_eq!(was, Some(b.from), "event {} skips a transition", event.task_seq);
            }
            _ => {}
        }
        let alive = standing.values().filter(|status| !status.is_ended()).count();
        assert!(alive <= 1, "{alive} attempts are at work after event {}", event.task_seq);
    }
    standing
}

#[conforms::conforms(
    "HK-8.2-1",
    "HK-8.3-1",
    "HK-8.3-5",
    "HK-8.3-7",
    "HK-9-2",
    "HK-12.3-2",
    part = "HK-12.3-3",
    "HK-25.1-2",
    "HK-3-3",
    "HK-8.3-4"
)]
#[test]
fn a_retry_is_a_new_attempt_of_the_same_step() {
    let world = World::new(201);
    let task = world.script("write", vec![write("a.txt", "one"), write("a.txt", "two"), done("ok")]);
    let asked_first = world.drive_to_approval(task);
    world.kernel().retry(task, "again".to_owned()).unwrap();
    let (standing, asked) = world.drive_allowing(task);
    assert_eq!((standing, asked), (completed(), 1));
    assert_eq!(world.files()["a.txt"], b"two", "only the second attempt did anything");
    let now = state(&world, task);
    assert_eq!(now.approvals[&asked_first].approval.status, ApprovalStatus::Invalidated);
    assert_eq!(now.steps.len(), 1, "the step is the unit of work, its attempts are runs of it");
    let mut attempts: Vec<_> = now.attempts.values().map(|a| a.attempt.clone()).collect();
    attempts.sort_by_key(|a| a.attempt_no);
    let told: Vec<_> = attempts.iter().map(|a| (a.attempt_no, a.status)).collect();
    assert_eq!(told, [(1, AttemptStatus::Superseded), (2, AttemptStatus::Succeeded)]);
    assert_eq!(attempts[0].step_id, attempts[1].step_id);
    assert_eq!(attempts[1].resume_from_ref, Some(attempts[0].attempt_id));
    let walked = walk(&world, task);
    let stored: BTreeMap<_, _> = now.attempts.iter().map(|(id, a)| (*id, a.attempt.status)).collect();
    assert_eq!(walked, stored, "the events alone say where every attempt stands");
}

#[conforms::conforms("HK-8.3-8", "HK-9-6")]
#[test]
fn what_was_judged_allowed_and_proved_belongs_to_one_attempt() {
    let world = World::new(202);
    world.file("a.txt", "text");
    let gone = say("delete", json!({ "path": "a.txt" }));
    let task = world.script("delete", vec![look("a.txt"), gone.clone(), gone, done("ok")]);
    world.drive_to_approval(task);
    world.kernel().retry(task, "again".to_owned()).unwrap();
    world.drive_allowing(task);
    let now = state(&world, task);
    let mut seen = Vec::new();
    for (event, body) in events(world.kernel(), task) {
        let (of, named) = match &body {
            Body::PolicyEvaluated(_) => (event.task_id, event.attempt_id),
            Body::ApprovalRequested(b) => (b.approval.task_id, Some(b.approval.attempt_id)),
            Body::DecisionRecorded(b) => (b.decision.task_id, b.decision.attempt_id),
            Body::GrantIssued(b) => {
                let grant: CapabilityGrant = object(world.kernel(), &now, b.grant.artifact_id);
                (grant.task_id, Some(grant.attempt_id))
            }
            Body::ReceiptIssued(b) => {
                let (about, receipt) = world.kernel().receipt(b.receipt_id).unwrap();
                assert_eq!(about, task);
                (receipt.task_id, Some(receipt.attempt_id))
            }
            _ => continue,
        };
        assert_eq!((of, event.task_id), (task, task), "{} is of another task", event.event_type);
        assert!(named.is_some() && named == event.attempt_id, "{} is of no attempt", event.event_type);
        assert!(now.attempts.contains_key(&named.unwrap()));
        seen.push((event.event_type, named.unwrap()));
    }
    let attempts_of = |kind: &str| {
        let mut of: Vec<AttemptId> = seen.iter().filter(|(k, _)| k == kind).map(|(_, id)| *id).collect();
        of.dedup();
        of.len()
    };
    assert_eq!(attempts_of("approval.requested"), 2, "each attempt asked for itself");
    assert_eq!(attempts_of("grant.issued"), 2, "the look of the first, the act of the second");
    for kind in ["decision.recorded", "receipt.issued"] {
        assert_eq!(attempts_of(kind), 1, "{kind}");
    }
}

#[conforms::conforms(
    "HK-8.3-1",
    "HK-8.3-6",
    "HK-10.3-7",
    "HK-11.5-1",
    "HK-11.5-2",
    "HK-12.3-4",
    "HK-25.2-3",
    "HK-27-3",
    "HK-27-7",
    "HK-10.3-6",
    "HK-10.4-6"
)]
#[test]
fn after_a_wait_and_two_restarts_the_same_attempt_goes_on_where_it_was() {
    let mut world = World::new(203);
    world.file("a.txt", "text");
    let ask = say("ask", json!({ "question": "which name?" }));
    let task = world.script("look and write", vec![look("a.txt"), ask, write("b.txt", "b"), done("ok")]);
    // It waits for an answer, over a restart, and goes on with it in the attempt that asked.
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(task) else { panic!("no question") };
    let asking = state(&world, task).current;
    world.reopen();
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Answer(question)));
    world.kernel().answer(task, question, "b", Channel::App).unwrap();
    world.reopen();
    let approval = world.drive_to_approval(task);
    let waiting = state(&world, task);
    let attempt = waiting.attempt().unwrap().attempt.clone();
    assert_eq!(Some(attempt.attempt_id), asking, "an answer begins nothing anew");
    assert_eq!(
        waiting.approvals[&approval].approval.attempt_id, attempt.attempt_id,
        "the pause is of this attempt"
    );
    assert_eq!(attempt.status, AttemptStatus::AwaitingApproval);
    world.reopen();
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Approval(approval)));
    world.person.allow(world.kernel(), task, approval).unwrap();
    world.reopen();
    assert_eq!(world.drive(task), completed());
    let now = state(&world, task);
    assert_eq!(now.attempts.len(), 1);
    assert_eq!(now.attempt().unwrap().attempt.attempt_id, attempt.attempt_id);
    assert_eq!(count(world.kernel(), task, "attempt.model_requested"), 4, "no turn was thought twice");
    assert_eq!(count(world.kernel(), task, "effect.dispatched"), 2, "one look, one write");
    walk(&world, task);
}

#[conforms::conforms("HK-12.2-1", "HK-12.2-2")]
#[test]
fn a_step_stands_where_its_latest_attempt_has_led_it() {
    let world = World::new(204);
    let of_step = |task| state(&world, task).step().unwrap().status;
    let waits = world.script("waits", vec![write("a.txt", "a"), write("a.txt", "b"), done("ok")]);
    assert_eq!(of_step(waits), StepStatus::Ready, "before any attempt");
    world.drive_to_approval(waits);
    assert_eq!(of_step(waits), StepStatus::Blocked, "its attempt waits");
    world.kernel().retry(waits, "again".to_owned()).unwrap();
    assert_eq!(of_step(waits), StepStatus::Ready, "its attempt was superseded");
    world.drive_to_approval(waits);
    assert_eq!(of_step(waits), StepStatus::Blocked, "the new one waits");
    world.drive_allowing(waits);
    assert_eq!(of_step(waits), StepStatus::Succeeded);
    let fails = world.script("fails", vec![write("c.txt", "c"), done("not done")]);
    let approval = world.drive_to_approval(fails);
    world.person.deny(world.kernel(), fails, approval, "no").unwrap();
    assert_eq!(world.drive(fails), ended(TaskStatus::Failed, TerminationReason::ApprovalDenied));
    assert_eq!(of_step(fails), StepStatus::Failed);
    let stopped = world.script("stopped", vec![write("d.txt", "d")]);
    world.drive_to_approval(stopped);
    world.kernel().cancel(stopped, "enough").unwrap();
    assert_eq!(world.drive(stopped), ended(TaskStatus::Cancelled, TerminationReason::Cancelled));
    assert_eq!(of_step(stopped), StepStatus::Cancelled);
    // What comes later is not its attempts' to say: it waits for the steps before it, and gives way to another goal.
    let part = |name: &str, after: &[&str]| Part {
        name: name.to_owned(),
        objective: format!("the part {name}"),
        after: after.iter().map(|name| (*name).to_owned()).collect(),
        reasoning: Some(Reasoning::Scripted { name: name.to_owned() }),
        ..Part::default()
    };
    world.reasoners.script("first", vec![write("e.txt", "e"), write("e.txt", "f"), done("ok")]);
    for name in ["later", "parts"] {
        world.reasoners.script(name, vec![done("ok")]);
    }
    let mut submission = world.submission("parts", Reasoning::Scripted { name: "parts".to_owned() });
    submission.steps = vec![part("first", &[]), part("later", &["first"])];
    let parts = world.kernel().submit(&submission).unwrap().task_id;
    let of_parts = || -> Vec<StepStatus> {
        let now = state(&world, parts);
        now.step_order.iter().map(|id| now.steps[id].status).collect()
    };
    assert_eq!(of_parts(), [StepStatus::Ready, StepStatus::Planned], "neither has an attempt");
    world.drive_to_approval(parts);
    assert_eq!(of_parts(), [StepStatus::Blocked, StepStatus::Planned]);
    assert!(world.kernel().change_goal(parts, "something else", Channel::App).unwrap());
    assert_eq!(of_parts()[..2], [StepStatus::Blocked, StepStatus::Superseded], "without an attempt");
    let told: Vec<StepStatus> = [waits, fails, stopped, parts]
        .into_iter()
        .flat_map(|task| events(world.kernel(), task))
        .filter_map(|(_, body)| match body {
            Body::StepStatusChanged(b) => Some(b.to),
            _ => None,
        })
        .collect();
    // All there are: each begins as planned, and `planned` is where it stands before any event.
    for status in StepStatus::ALL.iter().filter(|status| **status != StepStatus::Planned) {
        assert!(told.contains(status), "no step was ever {status}: {told:?}");
    }
}

#[conforms::conforms("HK-8.2-3")]
#[test]
fn a_step_has_a_contract_that_its_attempts_work_under() {
    let world = World::new(205);
    let task = world.script("do the thing", vec![done("ok")]);
    let before = state(&world, task);
    let step = before.step().unwrap();
    let contract: StepContract = object(world.kernel(), &before, step.contract_ref);
    assert_eq!(contract.objective, "do the thing");
    assert!(!contract.success_criteria.is_empty());
    world.drive(task);
    let packs = packs(world.kernel(), task);
    let told = packs[0]
        .items
        .iter()
        .find(|item| item.section == Section::StepContract)
        .expect("it is told its contract");
    assert!(told.text.contains("do the thing"));
}

#[conforms::conforms("HK-10.1-5")]
#[test]
fn without_a_reasoner_nothing_is_proposed() {
    let world = World::new(206);
    world.file("a.txt", "tidy me");
    let task = world.script("tidy up", Vec::new());
    let error = world.kernel().drive(task).unwrap_err();
    assert!(error.to_string().contains("hermit task resume"), "{error}");
    assert_eq!(state(&world, task).task.status, TaskStatus::Paused);
    assert_eq!(count(world.kernel(), task, "action.requested"), 0, "the kernel has no idea of its own");
    assert_eq!(count(world.kernel(), task, "attempt.model_requested"), 1);
    assert_eq!(world.files()["a.txt"], b"tidy me");
}

#[conforms::conforms(part = "RX-6-4")]
#[test]
fn a_model_that_is_down_pauses_the_task_and_nothing_is_lost() {
    let world = World::new(207);
    world.file("a.txt", "text");
    let task = world.script("look", vec![look("a.txt")]);
    assert!(world.kernel().drive(task).is_err());
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Resume));
    world.reasoners.script("look", vec![done("seen")]);
    world.kernel().resume(task).unwrap();
    assert_eq!(world.drive(task), completed());
    assert_eq!(count(world.kernel(), task, "attempt.model_failed"), 1, "the failure is on record");
    assert_eq!(count(world.kernel(), task, "attempt.created"), 1);
    assert!(shows(packs(world.kernel(), task).last().unwrap(), "text"), "what was seen before is still seen");
}

#[conforms::conforms("HK-19.5-3", part = "HK-19.5-2")]
#[test]
fn a_retry_takes_no_yes_over_whether_the_world_the_rules_or_nothing_has_changed() {
    for drift in ["nothing", "the world", "the rules"] {
        let mut world = World::new(207);
        world.file("a.txt", "one");
        let gone = || say("delete", json!({ "path": "a.txt" }));
        let task = world.script("delete it", vec![gone(), gone(), done("not deleted")]);
        let first = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, first).unwrap();
        if drift == "the world" {
            world.file("a.txt", "two");
        }
        world.kernel().retry(task, "again".to_owned()).unwrap();
        world.crash();
        let rules = if drift == "the rules" { crate::approvals::STRICTER } else { "" };
        let policy = std::sync::Arc::new(governance::PolicyEngine::shipped_with("house", rules).unwrap());
        let kernel =
            kernel::Kernel::open(world.store.path(), kernel::Ports { policy, ..world.ports() }).unwrap();
        let came = kernel.drive(task).unwrap();
        let witnessed = |kernel: &kernel::Kernel| -> Vec<_> {
            let all = events(kernel, task).into_iter();
            all.filter_map(|(_, body)| match body {
                Body::WitnessCaptured(b) => Some(b.witness.sha256),
                _ => None,
            })
            .collect()
        };
        if drift == "the rules" {
            assert!(matches!(came, DriveOutcome::Ended { .. }), "{came:?}");
        } else {
            let DriveOutcome::Waiting(Waiting::Approval(second)) = came else { panic!("{drift}: {came:?}") };
            assert_ne!(first, second, "{drift}: asked anew");
            let seen = witnessed(&kernel);
            assert_eq!(seen.len(), 2, "{drift}: looked at anew");
            let late = world.person.allow(&kernel, task, first);
            assert!(!matches!(late, Ok(kernel::command::approve::Answered::Accepted { .. })), "{late:?}");
        }
        assert_eq!(count(&kernel, task, "effect.dispatched"), 0, "{drift}: the old yes did nothing");
        assert!(world.files().contains_key("a.txt"));
    }
}
