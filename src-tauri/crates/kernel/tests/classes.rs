//! The classes of acts that the documents name: each by what a kernel did.

use crate::offered::{say_of, terms};
use crate::receipts::Walled;
use crate::story::{completed, count, events};
use crate::told::{Wire, settings};
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Error, Kernel, Ports, Waiting};
use model::action::{ActionClass, Reversibility};
use model::decision::DecisionClass;
use model::ingress::Channel;
use model::policy::{Profile, Verdict};
use model::receipt::{ReceiptClass, ResultCode};
use model::standing::{Cover, StandingGrant, StandingScope};
use model::{ActionRequestId, Body, TaskId};
use reasoning::{Address, ModelServer, ToolMode};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use testkit::{ManyTools, World, command, done, look, say, write};

/// Tools of a server, and what a person says that a call of each is.
const SAID: [(&str, ActionClass); 5] = [
    ("entry_00", ActionClass::NetworkRead),
    ("entry_01", ActionClass::NetworkWrite),
    ("entry_02", ActionClass::CredentialedApiCall),
    ("entry_03", ActionClass::Publication),
    ("entry_04", ActionClass::Payment),
];

/// A world with that server, and a file.
pub fn world(seed: u64) -> World {
    let mut world = World::new(seed);
    world.servers = Arc::new(ManyTools);
    world.reopen();
    world.register_many(1);
    for (tool, class) in SAID {
        say_of(&world, tool, terms(class, &[]), tool);
    }
    world.file("a.txt", "text");
    world
}

/// The act that policy denied first in a task.
fn denied(kernel: &Kernel, task: TaskId) -> Option<ActionRequestId> {
    events(kernel, task).into_iter().find_map(|(_, body)| match body {
        Body::PolicyEvaluated(b) if b.verdict == Verdict::Deny => Some(b.action_request_id),
        _ => None,
    })
}

/// A person overrides policy for an act that it denied.
fn override_policy(world: &World, kernel: &Kernel, task: TaskId, about: ActionRequestId) {
    let act = kernel.judged_act(&kernel.task(task).unwrap(), about).unwrap();
    let action = &act.request.action;
    let cover = Cover::Act {
        action_sha256: seal::Digest::of(&seal::canon::to_canonical(action).unwrap()),
        summary: action.as_tool().title(),
    };
    let plain = world.person.standing(kernel, cover, StandingScope::Task { task_id: task }, None);
    let grant = StandingGrant {
        override_reason: Some("this one is meant".to_owned()),
        expires_at: plain.issued_at.plus_ms(3_600_000),
        max_uses: 1,
        ..plain
    };
    kernel.override_policy(task, about, &world.person.sign_standing(&grant)).unwrap();
}

/// Drives to the end. What is asked is allowed; what policy had denied by the first question is overridden then.
pub fn through(world: &World, kernel: &Kernel, task: TaskId) {
    let mut is_overridden = false;
    loop {
        let id = match kernel.drive(task).unwrap() {
            DriveOutcome::Waiting(Waiting::Approval(id)) => id,
            standing => return assert_eq!(standing, completed()),
        };
        if let (false, Some(about)) = (is_overridden, denied(kernel, task)) {
            override_policy(world, kernel, task, about);
            is_overridden = true;
        }
        world.person.allow(kernel, task, id).unwrap();
    }
}

/// As [`through`], with the key of receipts locked whenever a person has said yes. Gives the classes of what they said yes to.
fn through_locked(world: &World, kernel: &Kernel, task: TaskId) -> BTreeSet<ActionClass> {
    let (mut is_overridden, mut waited) = (false, BTreeSet::new());
    let recorded = || {
        let told = ["receipt.issued", "approval.granted", "attempt.iteration_completed", "memory.promoted"];
        told.map(|kind| count(kernel, task, kind))
    };
    loop {
        let id = match kernel.drive(task).unwrap() {
            DriveOutcome::Waiting(Waiting::Approval(id)) => id,
            standing => {
                assert_eq!(standing, completed());
                return waited;
            }
        };
        if let (false, Some(about)) = (is_overridden, denied(kernel, task)) {
            override_policy(world, kernel, task, about);
            is_overridden = true;
        }
        let class = kernel.task(task).unwrap().approvals[&id].approval.approval_type;
        let asked = recorded();
        world.keys.lock(true);
        let yes = world.person.allow(kernel, task, id);
        assert!(matches!(yes, Err(Error::KeyLocked("receipt"))), "{class}: {yes:?}");
        assert_eq!(recorded(), asked, "{class}: a yes without its receipt is none");
        world.keys.lock(false);
        world.person.allow(kernel, task, id).unwrap();
        let allowed = recorded();
        world.keys.lock(true);
        let standing = kernel.drive(task);
        let waits = matches!(standing, Ok(DriveOutcome::KeyLocked) | Err(Error::KeyLocked("receipt")));
        assert!(waits, "{class} waits for its receipt: {standing:?}");
        assert_eq!(recorded(), allowed, "{class}: nothing is remembered, and its turn is not over");
        world.keys.lock(false);
        waited.insert(class);
    }
}

/// [`everything_by`], where what is asked is allowed.
pub fn everything(world: &mut World) -> (Kernel, [TaskId; 3]) {
    everything_by(world, &mut through)
}

/// Looks, changes, commands and remembers in the folder; then calls each tool of [`SAID`], the last of which is denied until a person
/// overrides that; then one deletion is undone. Gives the kernel that did it, and the three tasks.
fn everything_by(world: &mut World, drive: &mut dyn FnMut(&World, &Kernel, TaskId)) -> (Kernel, [TaskId; 3]) {
    let remember = json!({ "claim": "a is text", "scope": "*", "reason": "asked", "evidence": ["a.txt"] });
    let here = vec![
        look("a.txt"),
        write("b.txt", "b"),
        say("delete", json!({ "path": "a.txt" })),
        command(&["echo", "hello"]),
        command(&["git", "commit", "-m", "x"]),
        say("remember", remember),
        done("ok"),
    ];
    world.reasoners.script("here", here);
    let call = |name: &'static str| (name, json!({ "minutes": 1 }));
    let wire = Wire::new(vec![
        call("s00__entry_00"),
        call("s00__entry_01"),
        call("s00__entry_02"),
        call("s00__entry_03"),
        call("s00__entry_04"),
        ("write", json!({ "path": "c.txt", "content": "c" })),
        call("s00__entry_04"),
        ("done", json!({ "summary": "ok" })),
    ]);
    let address: Address = "openai:http://127.0.0.1:1/v1#m".parse().unwrap();
    let model = ModelServer::new(&address, settings(ToolMode::Tools, &[]), wire).unwrap();
    world.reasoners.put("elsewhere", Arc::new(model));
    let [here, elsewhere] = ["here", "elsewhere"].map(|name| {
        let mut submission = world.submission(name, Reasoning::Scripted { name: name.to_owned() });
        submission.profile = Profile::ExternalPublishGated;
        submission
    });
    world.crash();
    let ports = world.ports();
    let executors = Arc::new(Walled(Arc::clone(&ports.executors)));
    let kernel = Kernel::open(world.store.path(), Ports { executors, ..ports }).unwrap();
    let [here, elsewhere] = [here, elsewhere].map(|submission| {
        let task = kernel.submit(&submission).unwrap().task_id;
        drive(world, &kernel, task);
        task
    });
    let receipts = kernel.task(here).unwrap().receipts;
    let deleted = receipts.iter().find(|r| r.action_class == ActionClass::DeleteLocal).unwrap().receipt_id;
    let undo = kernel.rollback(deleted, Channel::Cli, "undo".to_owned()).unwrap().task_id;
    drive(world, &kernel, undo);
    (kernel, [here, elsewhere, undo])
}

#[conforms::conforms("HK-7-1", "HK-16.4-1", "HK-25.2-2", "HK-3-9", "HK-25.1-7", "HK-27-11", "HK-10.4-2")]
#[test]
fn an_act_of_every_class_is_asked_for_and_every_important_one_that_is_done_leaves_its_receipt() {
    let mut world = world(1_751);
    let (kernel, tasks) = everything(&mut world);
    let asked: BTreeSet<ActionClass> = tasks
        .iter()
        .flat_map(|task| events(&kernel, *task))
        .filter_map(|(_, body)| match body {
            Body::ActionRequested(b) => Some(b.action_class),
            _ => None,
        })
        .collect();
    let classes = [
        ActionClass::ReadLocal,
        ActionClass::WriteLocal,
        ActionClass::DeleteLocal,
        ActionClass::ExecuteCommand,
        ActionClass::NetworkRead,
        ActionClass::NetworkWrite,
        ActionClass::CredentialedApiCall,
        ActionClass::VcsMutation,
        ActionClass::Publication,
        ActionClass::Payment,
        ActionClass::DurableMemoryWrite,
        ActionClass::Rollback,
    ];
    assert_eq!(asked, BTreeSet::from(classes), "each is asked for, by what it does");
    let receipts = tasks.map(|task| kernel.task(task).unwrap().receipts).concat();
    let done = |class: ActionClass, code: ResultCode| {
        receipts.iter().filter(|r| (r.action_class, r.result_code) == (class, code)).count()
    };
    for class in classes {
        let is_free = matches!(class, ActionClass::ReadLocal | ActionClass::NetworkRead);
        assert!(is_free || done(class, ResultCode::Succeeded) > 0, "no receipt for {class}: {receipts:#?}");
    }
    // What a person decides leaves one as well.
    assert!(done(ActionClass::ApprovalResolution, ResultCode::Granted) > 0);
    assert_eq!(done(ActionClass::PolicyOverride, ResultCode::Granted), 1);
    assert_eq!(done(ActionClass::ReadLocal, ResultCode::Succeeded), 0, "a look is not important");
    assert_eq!(done(ActionClass::Payment, ResultCode::Succeeded), 1, "what was denied was not done");
}

#[conforms::conforms("HK-6.4-1", "HK-18.6-4")]
#[test]
fn no_act_of_any_class_is_over_and_no_yes_counts_before_its_receipt_is_there() {
    let mut world = world(1_760);
    let mut waited = BTreeSet::new();
    let (kernel, tasks) = everything_by(&mut world, &mut |world, kernel, task| {
        waited.extend(through_locked(world, kernel, task))
    });
    let important = [
        ActionClass::WriteLocal,
        ActionClass::DeleteLocal,
        ActionClass::ExecuteCommand,
        ActionClass::NetworkWrite,
        ActionClass::CredentialedApiCall,
        ActionClass::VcsMutation,
        ActionClass::Publication,
        ActionClass::Payment,
        ActionClass::DurableMemoryWrite,
        ActionClass::Rollback,
    ];
    let receipts = tasks.map(|task| kernel.task(task).unwrap().receipts).concat();
    for class in important {
        assert!(waited.contains(&class), "{class} was not asked about: {waited:?}");
        let of =
            receipts.iter().filter(|r| (r.action_class, r.result_code) == (class, ResultCode::Succeeded));
        assert!(of.count() > 0, "no receipt for {class}: {receipts:#?}");
    }
    let undone: Vec<_> = receipts.iter().filter(|r| r.receipt_class == ReceiptClass::Rollback).collect();
    let [undone] = &undone[..] else { panic!("one undo, one receipt: {undone:?}") };
    let deleted = receipts.iter().find(|r| r.action_class == ActionClass::DeleteLocal).unwrap().receipt_id;
    assert_eq!(undone.rolls_back, Some(deleted));
    let issued =
        tasks.into_iter().flat_map(|task| events(&kernel, task)).filter_map(|(_, body)| match body {
            Body::ReceiptIssued(b) => b.action_request_id,
            _ => None,
        });
    let issued: Vec<ActionRequestId> = issued.collect();
    assert_eq!(issued.iter().collect::<BTreeSet<_>>().len(), issued.len(), "and none has two");
}

/// What HK-16.8 has looked at again when a person's yes has come.
const LOOKED_AT_AGAIN: [ActionClass; 7] = [
    ActionClass::WriteLocal,
    ActionClass::DeleteLocal,
    ActionClass::VcsMutation,
    ActionClass::NetworkWrite,
    ActionClass::CredentialedApiCall,
    ActionClass::Publication,
    ActionClass::Rollback,
];

#[conforms::conforms("HK-16.6-1", "HK-16.8-3")]
#[test]
fn what_changes_something_is_looked_at_again_between_the_yes_and_its_grant() {
    let mut world = world(1_758);
    let (kernel, tasks) = everything(&mut world);
    let (mut granted, mut unasked) = (BTreeSet::new(), BTreeSet::new());
    for task in tasks {
        let (mut asked, mut validated) = (BTreeMap::new(), BTreeSet::new());
        let (mut allowed, mut agreed) = (BTreeSet::new(), BTreeSet::new());
        for (_, body) in events(&kernel, task) {
            match body {
                Body::PolicyEvaluated(b) if b.verdict == Verdict::Allow => {
                    allowed.insert(b.action_request_id);
                }
                Body::ApprovalRequested(b) => {
                    asked.insert(b.approval.approval_id, b.action_request_id);
                }
                // What was seen before a yes counts for nothing after it.
                Body::ApprovalGranted(b) => {
                    validated.clear();
                    agreed.insert(asked[&b.approval_id]);
                }
                Body::WitnessValidated(b) => drop(validated.insert(b.action_request_id)),
                Body::GrantIssued(b) => {
                    let (id, class) = (b.action_request_id, b.action_class);
                    assert!(
                        allowed.contains(&id) || agreed.contains(&id),
                        "{class} was granted without a yes"
                    );
                    if !agreed.contains(&id) {
                        unasked.insert(class);
                    }
                    if LOOKED_AT_AGAIN.contains(&class) {
                        assert!(validated.contains(&id), "{class} was granted unseen");
                        granted.insert(class);
                    }
                }
                _ => {}
            }
        }
    }
    assert_eq!(granted, BTreeSet::from(LOOKED_AT_AGAIN));
    assert!(unasked.contains(&ActionClass::ReadLocal), "policy alone allows a look: {unasked:?}");
}

/// What HK-6.2-3 has decided on record first, but for an override, which is a decision itself.
const OF_CONSEQUENCE: [ActionClass; 7] = [
    ActionClass::DeleteLocal,
    ActionClass::NetworkWrite,
    ActionClass::CredentialedApiCall,
    ActionClass::VcsMutation,
    ActionClass::Publication,
    ActionClass::Payment,
    ActionClass::Rollback,
];

#[conforms::conforms("HK-6.2-3")]
#[test]
fn what_is_of_consequence_is_decided_on_record_before_it_is_begun() {
    let mut world = world(1_760);
    let (kernel, tasks) = everything(&mut world);
    let (mut begun, mut overridden) = (BTreeSet::new(), 0);
    for task in tasks {
        let (mut requests, mut decided, mut grants) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (_, body) in events(&kernel, task) {
            match body {
                Body::ActionRequested(b) => drop(requests.insert(b.action_request_id, b.request)),
                Body::DecisionRecorded(b) => drop(decided.insert(b.decision.decision_id, b.decision)),
                Body::GrantIssued(b) => drop(grants.insert(b.grant_id, (b.action_class, b.decision_ref))),
                Body::EffectDispatched(b) => {
                    let (class, decision) = &grants[&b.grant_id];
                    if !OF_CONSEQUENCE.contains(class) {
                        continue;
                    }
                    let decision = decision.value().unwrap_or_else(|| panic!("{class} was not decided"));
                    // A decision is about one act, which it names.
                    let decision = decided.remove(decision);
                    let decision =
                        decision.unwrap_or_else(|| panic!("{class} was begun before it was decided"));
                    let request = requests[&b.action_request_id].artifact_id;
                    assert!(decision.evidence_refs.iter().any(|on| on.artifact_id == request), "{class}");
                    assert!(!decision.rationale.shown().unwrap().is_empty(), "{class}");
                    if let Some(rests_on) = decision.policy_override_ref {
                        assert_eq!(decided[&rests_on].decision_type, DecisionClass::Safety, "{class}");
                        overridden += 1;
                    }
                    begun.insert(*class);
                }
                _ => {}
            }
        }
    }
    assert_eq!(begun, BTreeSet::from(OF_CONSEQUENCE));
    assert_eq!(overridden, 1, "what policy denied was begun on a person's decision to override that");
}

#[conforms::conforms("HK-18.6-2")]
#[test]
fn a_receipt_of_what_has_left_the_machine_says_that_nothing_takes_it_back() {
    let mut world = world(1_759);
    let (kernel, tasks) = everything(&mut world);
    let gone = [
        ActionClass::NetworkWrite,
        ActionClass::CredentialedApiCall,
        ActionClass::Publication,
        ActionClass::Payment,
    ];
    let mut said = BTreeSet::new();
    for record in tasks.map(|task| kernel.task(task).unwrap().receipts).concat() {
        let (_, receipt) = kernel.receipt(record.receipt_id).unwrap();
        let class = receipt.action_class;
        let row = kernel.query().unwrap().receipt(record.receipt_id).unwrap().unwrap();
        assert_eq!(row.reversibility, receipt.rollback.reversibility, "the list says what the receipt says");
        if gone.contains(&class) {
            assert_eq!(receipt.rollback.reversibility, Reversibility::Irreversible, "{class}");
            assert_eq!(receipt.rollback.method, "none", "{class}");
            let undo = kernel.rollback(record.receipt_id, Channel::Cli, format!("undo {class}"));
            assert!(
                matches!(&undo, Err(Error::Conflict(why)) if why.contains("cannot be undone")),
                "{class}: {undo:?}"
            );
            said.insert(class);
        }
        if matches!(class, ActionClass::WriteLocal | ActionClass::DeleteLocal) {
            assert_ne!(receipt.rollback.method, "none", "{class} can be taken back");
        }
    }
    assert_eq!(said, BTreeSet::from(gone));
}
