//! Approvals: what a person is asked, what waits meanwhile, and what an old yes is worth.

use crate::story::{completed, count, events, object, packs, place, shows, state, types};
use acts::ApprovalPacket;
use governance::PolicyEngine;
use kernel::command::approve::Answered;
use kernel::{DriveOutcome, Kernel, Ports, Waiting};
use model::action::ActionClass;
use model::approval::ApprovalStatus;
use model::artifact::ArtifactKind;
use model::attempt::AttemptStatus;
use model::body::Boundary;
use model::ingress::Channel;
use model::policy::{PolicyResult, Verdict};
use model::task::{StepStatus, TaskStatus};
use model::witness::StateWitness;
use model::{Body, TaskId};
use serde_json::json;
use std::sync::Arc;
use testkit::{World, change, done, look, say, write};

const WEEK_AND_A_DAY: i64 = 8 * 24 * 3600 * 1000;

/// Whether some event of the task dispatched an effect that is no look.
fn acted(world: &World, task: TaskId) -> bool {
    let state = state(world, task);
    let dispatched = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::EffectDispatched(b) => Some(b.grant_id),
        _ => None,
    });
    dispatched.into_iter().any(|id| {
        let grant: model::grant::CapabilityGrant =
            object(world.kernel(), &state, state.grants[&id].artifact.artifact_id);
        grant.action_class != ActionClass::ReadLocal
    })
}

#[conforms::conforms(
    "HK-8.9-1",
    "HK-8.9-2",
    "HK-12.4-1",
    "HK-12.4-2",
    "HK-12.4-3",
    "HK-12.4-4",
    "HK-12.4-5",
    "HK-16.8-1",
    "HK-26-4"
)]
#[test]
fn while_a_person_is_asked_everything_waits_on_disk() {
    let mut world = World::new(301);
    world.file("a.txt", "text");
    let gone = say("delete", json!({ "path": "a.txt" }));
    let task = world.script("delete it", vec![look("a.txt"), gone, done("ok")]);
    let approval = world.drive_to_approval(task);
    let before = state(&world, task);
    let record = &before.approvals[&approval];
    let policy: PolicyResult = object(world.kernel(), &before, record.approval.policy_result_ref);
    assert_eq!(policy.verdict, Verdict::RequireApproval);
    assert_eq!(before.attempt().unwrap().attempt.status, AttemptStatus::AwaitingApproval);
    assert_eq!(
        (before.task.status, before.step().unwrap().status),
        (TaskStatus::Blocked, StepStatus::Blocked)
    );
    assert!(
        before.attempt().unwrap().attempt.context_pack_ref.value().is_some(),
        "the attempt is checkpointed"
    );
    let order = types(world.kernel(), task);
    let asked = place(&order, "approval.requested");
    assert!(place(&order, "policy.evaluated") < asked && place(&order, "witness.captured") < asked);
    assert!(!acted(&world, task), "nothing that has an effect was dispatched");
    let packet: ApprovalPacket = object(world.kernel(), &before, record.approval.approval_packet_ref);
    let witness = packet.state_witness.expect("what it is about was looked at");
    assert_eq!(witness.fingerprints.len(), 1);
    let kinds = before.artifacts.values().filter(|a| a.kind == ArtifactKind::StateWitness).count();
    assert_eq!(kinds, 1, "the witness is an artifact");
    // Without any surface, after a restart, it is still there and still blocks.
    world.reopen();
    let seq = state(&world, task).seq;
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Approval(approval)));
    assert_eq!(state(&world, task).seq, seq, "asking again changes nothing");
    let row = world.kernel().query().unwrap().approval(approval).unwrap().expect("it is in the inbox");
    assert_eq!((row.status, row.attempt_id), (ApprovalStatus::Pending, record.approval.attempt_id));
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    assert!(world.files().is_empty());
    let now = state(&world, task);
    assert_eq!(now.attempts.len(), 1, "the same attempt went on");
}

#[conforms::conforms("HK-12.4-5")]
#[test]
fn after_a_no_the_same_attempt_goes_on_without_the_act() {
    let world = World::new(302);
    let task = world.script("write", vec![write("a.txt", "a"), write("b.txt", "b"), done("ok")]);
    let first = world.drive_to_approval(task);
    let attempt = state(&world, task).current;
    world.person.deny(world.kernel(), task, first, "use b.txt").unwrap();
    let second = world.drive_to_approval(task);
    assert!(shows(packs(world.kernel(), task).last().unwrap(), "use b.txt"), "the words reach the model");
    world.person.allow(world.kernel(), task, second).unwrap();
    assert_eq!(world.drive(task), completed());
    assert_eq!(state(&world, task).current, attempt);
    assert_eq!(world.files().keys().collect::<Vec<_>>(), ["b.txt"]);
}

#[conforms::conforms(
    "HK-6.2-5",
    "HK-12.4-6",
    part = "HK-16.6-1",
    "HK-16.8-4",
    "HK-25.2-5",
    "HK-26-6",
    "HK-27-8",
    "HK-10.4-7"
)]
#[test]
fn a_delayed_act_is_done_only_on_the_world_that_was_approved() {
    let world = World::new(303);
    world.file("a.txt", "one");
    let gone = || say("delete", json!({ "path": "a.txt" }));
    let task = world.script("delete it", vec![gone(), gone(), done("ok")]);
    let first = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, first).unwrap();
    world.file("a.txt", "two");
    let second = world.drive_to_approval(task);
    assert_eq!(count(world.kernel(), task, "witness.drifted"), 1);
    assert_eq!(count(world.kernel(), task, "effect.dispatched"), 0, "the yes was for another file");
    assert_eq!(count(world.kernel(), task, "grant.issued"), 0, "and gives no authority over this one");
    assert_eq!(world.files()["a.txt"], b"two");
    world.clock.advance(3_600_000);
    world.person.allow(world.kernel(), task, second).unwrap();
    assert_eq!(world.drive(task), completed());
    assert!(world.files().is_empty());
    let order = types(world.kernel(), task);
    let validated = place(&order, "witness.validated");
    assert!(validated < place(&order, "grant.issued") && validated < place(&order, "effect.dispatched"));
    let state = state(&world, task);
    let observed = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
        Body::WitnessValidated(b) => Some(b.observed.artifact_id),
        _ => None,
    });
    let observed: StateWitness = object(world.kernel(), &state, observed.unwrap());
    let asked = state.approvals[&second].approval.requested_at;
    assert!(observed.observed_at.0 > asked.0 + 3_600_000, "it was looked at again after the wait");
}

/// After drift nothing has run, the old answer is void, and the new question is another.
fn asked_anew(world: &World, task: TaskId, first: model::ApprovalId) -> model::ApprovalId {
    let second = world.drive_to_approval(task);
    assert_ne!(first, second);
    assert_eq!(state(world, task).approvals[&first].approval.status, ApprovalStatus::Invalidated);
    assert!(!acted(world, task));
    let late = world.person.allow(world.kernel(), task, first);
    assert!(matches!(late, Ok(Answered::NotActive { .. })), "{late:?}");
    assert_eq!(count(world.kernel(), task, "attempt.created"), 1);
    second
}

#[conforms::conforms(
    "HK-8.3-11",
    "HK-11.5-3",
    "HK-11.5-6",
    "HK-16.7-3",
    "HK-16.8-4",
    "HK-16.8-5",
    "HK-19.6-1"
)]
#[test]
fn new_input_a_changed_world_and_an_old_packet_all_lead_back_through_policy() {
    let mut world = World::new(304);
    world.file("a.txt", "one");
    let moved = || change(json!([{ "op": "move", "from": "a.txt", "to": "b.txt" }]));
    let task = world.script("move it", vec![moved(), moved(), moved(), done("ok")]);
    let first = world.drive_to_approval(task);
    // New input.
    world.kernel().append_note(task, "but carefully", Channel::App, "note").unwrap();
    // What leads back is on disk: each time it is another host that finds it.
    world.reopen();
    let second = asked_anew(&world, task, first);
    assert!(shows(packs(world.kernel(), task).last().unwrap(), "but carefully"));
    // Another world.
    world.person.allow(world.kernel(), task, second).unwrap();
    world.file("a.txt", "two");
    world.reopen();
    let third = asked_anew(&world, task, second);
    // A packet whose time has run out: the same request goes before policy again.
    let turns = packs(world.kernel(), task).len();
    world.person.allow(world.kernel(), task, third).unwrap();
    world.clock.advance(WEEK_AND_A_DAY);
    world.reopen();
    let fourth = asked_anew(&world, task, third);
    assert_eq!(packs(world.kernel(), task).len(), turns, "no new thought, a new verdict");
    // Other rules, though they say the same of this act: so does this one.
    world.person.allow(world.kernel(), task, fourth).unwrap();
    world.file(".hermit/policy.rules", "deny FileEdit(never/**)\n");
    world.reopen();
    let fifth = asked_anew(&world, task, fourth);
    assert_eq!(packs(world.kernel(), task).len(), turns, "nor a new thought for other rules");
    let evaluated = count(world.kernel(), task, "policy.evaluated");
    assert_eq!(evaluated, 5, "every time policy spoke anew");
    assert_eq!(count(world.kernel(), task, "grant.issued"), 0, "and no old yes gave any authority");
    world.person.allow(world.kernel(), task, fifth).unwrap();
    assert_eq!(world.drive(task), completed());
    assert_eq!(world.files()["b.txt"], b"two");
    assert_eq!(count(world.kernel(), task, "effect.dispatched"), 1);
}

#[conforms::conforms("HK-8.3-10", "HK-11.5-4", "HK-11.5-5", "HK-16.8-5")]
#[test]
fn words_that_come_while_an_executor_is_at_work_change_nothing_of_what_it_does() {
    let world = World::new(306);
    let task = world.script("write", vec![write("a.txt", "one"), done("ok"), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    let (halted, at) = testkit::stop();
    world.oracle.tells(move |_, _| halted.waits());
    std::thread::scope(|scope| {
        let driving = scope.spawn(|| world.drive(task));
        at.is_reached();
        world.kernel().append_note(task, "write two instead", Channel::App, "note").unwrap();
        let now = state(&world, task);
        assert_eq!((now.inputs.len(), now.absorbed.len()), (1, 0), "they are input that waits");
        assert_eq!(now.attempt().unwrap().attempt.status, AttemptStatus::Executing, "and it goes on");
        at.goes_on();
        assert_eq!(driving.join().unwrap(), completed());
    });
    assert_eq!(world.files()["a.txt"], b"one", "what was allowed, and nothing else");
    let now = state(&world, task);
    assert_eq!(now.approvals[&approval].approval.status, ApprovalStatus::Granted, "it was used by then");
    assert_eq!(count(world.kernel(), task, "effect.dispatched"), 1);
    let heard: Vec<bool> =
        packs(world.kernel(), task).iter().map(|pack| shows(pack, "write two instead")).collect();
    assert_eq!(heard, [false, true], "the next turn hears them");
    let boundaries = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::TaskInputAbsorbed(b) => Some(b.boundary),
        _ => None,
    });
    assert_eq!(boundaries.collect::<Vec<_>>(), [Boundary::PreCompilation], "at a boundary that is on disk");
    let order = types(world.kernel(), task);
    let [dispatched, observed] = ["effect.dispatched", "effect.observed"].map(|at| place(&order, at));
    assert!(place(&order, "task.input_added") > dispatched && place(&order, "task.input_added") < observed);
    assert!(place(&order, "task.input_absorbed") > observed, "and not before the act was over");
}

/// A rule of today that was none when the question was put.
pub const STRICTER: &str = r#"
@id("house.keep")
@reason("nothing is deleted this week")
forbid (principal, action == Hermit::Action::"delete_local", resource);
"#;

#[conforms::conforms(part = "HK-8.3-11", part = "HK-11.5-3", "HK-19.6-1")]
#[test]
fn a_yes_given_under_other_rules_goes_before_the_rules_of_today() {
    let mut world = World::new(305);
    world.file("a.txt", "keep me");
    let gone = say("delete", json!({ "path": "a.txt" }));
    let task = world.script("delete it", vec![gone, done("not deleted")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    world.crash();
    let policy = Arc::new(PolicyEngine::shipped_with("house", STRICTER).unwrap());
    let kernel = Kernel::open(world.store.path(), Ports { policy, ..world.ports() }).unwrap();
    let standing = kernel.drive(task).unwrap();
    assert!(matches!(standing, DriveOutcome::Ended { .. }), "{standing:?}");
    assert_eq!(world.files()["a.txt"], b"keep me");
    assert_eq!(count(&kernel, task, "effect.dispatched"), 0);
    assert_eq!(count(&kernel, task, "grant.issued"), 0);
    let order = types(&kernel, task);
    let void = place(&order, "approval.invalidated");
    let again = order.iter().rposition(|t| t == "policy.evaluated").unwrap();
    assert!(void < again, "policy is entered again on the same request");
    let state = kernel.task(task).unwrap();
    let results: Vec<_> = events(&kernel, task)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::PolicyEvaluated(b) => Some((b.action_request_id, b.verdict, b.policy_set_sha256)),
            _ => None,
        })
        .collect();
    assert_eq!(results.iter().map(|r| r.1).collect::<Vec<_>>(), [Verdict::RequireApproval, Verdict::Deny]);
    assert_eq!(results[0].0, results[1].0);
    assert_ne!(results[0].2, results[1].2);
    assert_eq!(state.attempts.len(), 1);
}

#[test]
fn what_a_person_denied_is_not_asked_about_again_when_it_is_proposed_again() {
    let world = World::new(1399);
    let task = world.script("again", vec![write("a.txt", "x"), write("a.txt", "x"), done("left alone")]);
    let asked = world.drive_to_approval(task);
    world.person.deny(world.kernel(), task, asked, "no").unwrap();
    let ended = world.drive(task);
    assert!(matches!(ended, DriveOutcome::Ended { .. }), "{ended:?}");
    let asked = count(world.kernel(), task, "approval.requested");
    assert_eq!((count(world.kernel(), task, "action.requested"), asked), (2, 1));
    assert!(!world.files().contains_key("a.txt"));
}
