//! The classes of receipts and of decisions that the documents name: each by what a kernel did, and what a decision names.

use crate::classes::{everything, through, world};
use crate::story::{completed, events, object};
use kernel::command::plan::Part;
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Kernel, Waiting};
use model::decision::{Decision, DecisionClass};
use model::ingress::Channel;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::receipt::{ReceiptClass, ResultCode};
use model::task::TaskContract;
use model::{Body, TaskId};
use serde_json::json;
use std::collections::BTreeSet;
use testkit::{World, done, look, say, write};

#[conforms::conforms("HK-18.1-1")]
#[test]
fn every_class_of_receipt_is_issued() {
    let mut world = world(1_752);
    let (kernel, tasks) = everything(&mut world);
    let mut issued: BTreeSet<ReceiptClass> =
        tasks.iter().flat_map(|task| kernel.task(*task).unwrap().receipts).map(|r| r.receipt_class).collect();
    let told = |world: &World, task: TaskId| {
        let receipts = world.kernel().task(task).unwrap().receipts;
        receipts.into_iter().map(|r| r.receipt_class).collect::<Vec<_>>()
    };
    let (published, task) = published();
    issued.extend(told(&published, task));
    let (settled, task) = settled();
    issued.extend(told(&settled, task));
    let all = [
        ReceiptClass::ToolExecution,
        ReceiptClass::CommandExecution,
        ReceiptClass::Publish,
        ReceiptClass::MemoryPromotion,
        ReceiptClass::ApprovalResolution,
        ReceiptClass::Rollback,
        ReceiptClass::ObservationResolution,
    ];
    assert_eq!(issued, BTreeSet::from(all));
}

/// A world that published who it is, with the task that did.
fn published() -> (World, TaskId) {
    let (world, _) = crate::publishing::world(1_753);
    crate::identity::written(&world, crate::identity::FIRST, 0);
    let task = crate::publishing::proposed(&world, &[crate::publishing::ONE]).unwrap();
    assert_eq!(world.drive_allowing(task).0, completed());
    (world, task)
}

/// A world where a person settled what nobody could tell, with the task that waited for it.
fn settled() -> (World, TaskId) {
    let (world, task) = crate::recovery::dispatched_and_dead(1_754);
    world.file("a.txt", "neither before nor after");
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::UnknownOutcome));
    world.kernel().resolve_outcome(task, ResultCode::Failed, "somebody else wrote this file").unwrap();
    world.drive(task);
    (world, task)
}

fn decisions(kernel: &Kernel, task: TaskId) -> Vec<Decision> {
    let all = events(kernel, task).into_iter().filter_map(|(_, body)| match body {
        Body::DecisionRecorded(b) => Some(b.decision),
        _ => None,
    });
    all.collect()
}

/// The goal of a task of several parts is edited, and those that nobody has begun give way.
fn planned_anew() -> Vec<Decision> {
    let world = World::new(1_755);
    let part = |name: &str, after: &[&str]| Part {
        name: name.to_owned(),
        objective: format!("the part {name}"),
        after: after.iter().map(|name| (*name).to_owned()).collect(),
        reasoning: Some(Reasoning::Scripted { name: name.to_owned() }),
        ..Part::default()
    };
    world.reasoners.script("one", vec![write("a.txt", "a"), write("a.txt", "a"), done("ok")]);
    let mut submission = world.submission("parts", Reasoning::Scripted { name: "nobody".to_owned() });
    submission.steps = vec![part("one", &[]), part("two", &["one"]), part("three", &["two"])];
    let task = world.kernel().submit(&submission).unwrap().task_id;
    world.drive_to_approval(task);
    assert_eq!(decisions(world.kernel(), task), [], "nothing was decided yet");
    assert!(world.kernel().change_goal(task, "something else", Channel::Cli).unwrap());
    let made = decisions(world.kernel(), task);
    let [planned] = &made[..] else { panic!("one decision: {made:?}") };
    let user = world.kernel().store_state().principal(PrincipalType::User).unwrap();
    assert_eq!((planned.decision_type, planned.decided_by), (DecisionClass::Planning, user));
    let words = planned.summary.shown().unwrap();
    assert!(words.contains("`something else` takes the place of 2 steps"), "{words}");
    let others: Vec<&str> =
        planned.alternatives_considered.iter().map(|one| one.shown().unwrap().as_str()).collect();
    assert_eq!(others, ["go on with the step `two`", "go on with the step `three`"]);
    assert!(planned.reversible && planned.attempt_id.is_some());
    // What it rests on is the step that takes their place.
    let now = world.kernel().task(task).unwrap();
    let step = now.in_order().last().unwrap();
    assert_eq!(planned.evidence_refs[0].artifact_id, step.contract_ref);
    assert_eq!(planned.constraints_ref, Some(now.task.task_contract_ref));
    made
}

/// Something is remembered where nothing may be, because a person overrode that.
fn remembered() -> (World, TaskId) {
    let world = World::new(1_756);
    world.file("a.txt", "text");
    world.file(".env", "shown to nobody");
    let remember = json!({ "claim": "a is text", "scope": "*", "reason": "asked", "evidence": ["a.txt"] });
    let twice = || say("remember", remember.clone());
    world.reasoners.script("learn", vec![look("a.txt"), twice(), look(".env"), twice(), done("ok")]);
    let mut submission = world.submission("learn", Reasoning::Scripted { name: "learn".to_owned() });
    submission.profile = Profile::ReadonlyAnalysis;
    submission.constraints = vec!["leave the cellar alone".to_owned()];
    let task = world.kernel().submit(&submission).unwrap().task_id;
    through(&world, world.kernel(), task);
    (world, task)
}

#[conforms::conforms("HK-16.1-1")]
#[test]
fn a_decision_of_every_class_is_made_where_there_is_something_to_decide() {
    let mut world = world(1_757);
    let (kernel, tasks) = everything(&mut world);
    let mut made = tasks.iter().flat_map(|task| decisions(&kernel, *task)).collect::<Vec<_>>();
    let publishing = |d: &&Decision| d.decision_type == DecisionClass::Publishing;
    assert_eq!(made.iter().filter(publishing).count(), 1, "the call that publishes, and no other");
    made.extend(planned_anew());
    let (learned, task) = remembered();
    made.extend(decisions(learned.kernel(), task));
    let (published, task) = published();
    let of_it = decisions(published.kernel(), task);
    assert!(of_it.iter().any(|d| publishing(&d)), "{of_it:?}");
    let (settled, task) = settled();
    made.extend(decisions(settled.kernel(), task));
    let classes: BTreeSet<DecisionClass> = made.iter().map(|d| d.decision_type).collect();
    let all = [
        DecisionClass::Planning,
        DecisionClass::Execution,
        DecisionClass::Safety,
        DecisionClass::Memory,
        DecisionClass::Publishing,
        DecisionClass::Rollback,
        DecisionClass::UncertaintyResolution,
    ];
    assert_eq!(classes, BTreeSet::from(all));
}

#[conforms::conforms("HK-8.8-3")]
#[test]
fn a_decision_names_what_else_there_was_what_it_overrides_until_when_it_holds_and_what_bounds_it() {
    assert_eq!(planned_anew()[0].alternatives_considered.len(), 2);
    let (world, task) = remembered();
    let made = decisions(world.kernel(), task);
    let [overrides, acts] = &made[..] else { panic!("the override and the act: {made:?}") };
    assert!(overrides.effective_until > Some(overrides.created_at), "an override ends");
    assert_eq!(acts.policy_override_ref, Some(overrides.decision_id));
    let now = world.kernel().task(task).unwrap();
    assert!(made.iter().all(|one| one.constraints_ref == Some(now.task.task_contract_ref)), "{made:?}");
    let contract: TaskContract = object(world.kernel(), &now, now.task.task_contract_ref);
    assert_eq!(contract.constraints, ["leave the cellar alone"]);
}
