//! Approvals, grants, receipts and principals as a kernel records them, and that nothing is done without a living grant.

use crate::objects::{has, recorded, says_all};
use crate::records::busy;
use crate::story::{completed, die, ended, events, object, state};
use kernel::{DriveOutcome, Waiting};
use model::action::ActionClass;
use model::approval::ApprovalStatus;
use model::attempt::TerminationReason;
use model::body::KeyPurpose;
use model::fault::Point;
use model::grant::{CapabilityGrant, FilesystemScope};
use model::limits;
use model::principal::PrincipalType;
use model::receipt::{ReceiptClass, Verifiability};
use model::task::TaskStatus;
use model::{ApprovalId, Body, TaskId};
use projections::query::Ask;
use serde_json::json;
use std::collections::BTreeSet;
use testkit::{Edge, World, change, done, look, say, write};

fn gone(path: &str) -> model::proposal::Answer {
    say("delete", json!({ "path": path }))
}

fn status(world: &World, task: TaskId, approval: ApprovalId) -> ApprovalStatus {
    let row = world.kernel().query().unwrap().approval(approval).unwrap().unwrap();
    assert_eq!(state(world, task).approvals[&approval].approval.status, row.status, "view and log agree");
    row.status
}

#[conforms::conforms("HK-8.9-3", "HK-8.9-5")]
#[test]
fn an_approval_is_recorded_with_every_field_and_reaches_every_status() {
    let world = World::new(1_711);
    let asks = |goal: &str| {
        let answers = vec![write("a.txt", goal), write("a.txt", goal), done("not done")];
        let task = world.script(goal, answers);
        (task, world.drive_to_approval(task))
    };
    let (task, approval) = asks("yes");
    let [asked] = &recorded(&world, task, "approval.requested", "approval")[..] else {
        panic!("one question")
    };
    says_all(asked, "approval", &["resolved_at", "resolved_by"]);
    has(asked, &["resolved_at", "resolved_by"]);
    let now = state(&world, task);
    let attempt = now.attempt().unwrap();
    assert_eq!((&asked["task_id"], &asked["attempt_id"]), (&json!(task), &json!(now.current)));
    assert_eq!(asked["step_id"], json!(attempt.attempt.step_id));
    let packet: acts::ApprovalPacket =
        object(world.kernel(), &now, serde_json::from_value(asked["approval_packet_ref"].clone()).unwrap());
    let request: acts::ActionRequest =
        object(world.kernel(), &now, serde_json::from_value(asked["requested_action_ref"].clone()).unwrap());
    assert_eq!(packet.action_request, request, "the packet is about the act that is asked for");
    assert_eq!(asked["approval_type"], json!(request.action_class));
    assert_eq!(status(&world, task, approval), ApprovalStatus::Pending);
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(status(&world, task, approval), ApprovalStatus::Granted);
    let row = world.kernel().query().unwrap().approval(approval).unwrap().unwrap();
    let user = world.kernel().store_state().principal(PrincipalType::User).unwrap();
    assert_eq!((row.resolved_by, row.resolved_at > Some(row.requested_at)), (Some(user), true));
    let (task, approval) = asks("no");
    world.person.deny(world.kernel(), task, approval, "no").unwrap();
    assert_eq!(status(&world, task, approval), ApprovalStatus::Denied);
    let (task, approval) = asks("stop");
    world.kernel().cancel(task, "enough").unwrap();
    assert_eq!(world.drive(task), ended(TaskStatus::Cancelled, TerminationReason::Cancelled));
    assert_eq!(status(&world, task, approval), ApprovalStatus::Cancelled);
    let (task, approval) = asks("again");
    world.kernel().retry(task, "again".to_owned()).unwrap();
    assert_eq!(status(&world, task, approval), ApprovalStatus::Invalidated);
    let (task, approval) = asks("too late");
    world.clock.advance(limits::APPROVAL_MS_MAX + 1);
    world.drive(task);
    assert_eq!(status(&world, task, approval), ApprovalStatus::Expired);
    assert_eq!(ApprovalStatus::ALL.len(), 6, "and there is no other");
}

#[conforms::conforms("HK-8.10-2", "HK-25.3-3")]
#[test]
fn a_receipt_is_recorded_with_every_field() {
    let (world, task) = busy(1_712);
    let now = state(&world, task);
    assert!(now.receipts.len() > 2);
    for record in &now.receipts {
        let (about, receipt) = world.kernel().receipt(record.receipt_id).unwrap();
        let value = serde_json::to_value(&receipt).unwrap();
        says_all(&value, "receipt", &[]);
        assert_eq!((about, receipt.task_id, receipt.attempt_id), (task, task, now.current.unwrap()));
        assert_eq!(receipt.step_id, now.attempt().unwrap().attempt.step_id);
        // Each reference leads to what it names.
        let request: acts::ActionRequest =
            object(world.kernel(), &now, receipt.action_request_ref.value().unwrap().artifact_id);
        // What a person answered has a receipt of its own, about the act that was asked for.
        let about_the_answer = receipt.receipt_class == ReceiptClass::ApprovalResolution;
        assert!(about_the_answer || request.action_class == receipt.action_class, "{receipt:?}");
        let grant = receipt.capability_grant_ref.value();
        assert!(about_the_answer || grant.is_some_and(|grant| now.grants.contains_key(grant)));
        for artifact in receipt.input_refs.iter().chain(&receipt.output_refs) {
            assert_eq!(now.digest_of(artifact.artifact_id), Some(artifact.sha256));
        }
        let policy = receipt.policy_result_ref.value().unwrap();
        assert_eq!(now.digest_of(policy.artifact_id), Some(policy.sha256));
        assert!(about_the_answer || receipt.environment_ref.value().is_some());
        // How far it can be checked is said in it, and the view says the same.
        assert_eq!(receipt.verifiability, Verifiability::Signed, "this store has keys");
        let row = world.kernel().query().unwrap().receipt(record.receipt_id).unwrap().unwrap();
        assert_eq!(row.verifiability, receipt.verifiability);
        assert!(!receipt.result_summary.shown().unwrap().is_empty());
    }
}

#[conforms::conforms("HK-8.11-2")]
#[test]
fn whoever_acts_is_recorded_with_every_field() {
    let (world, task) = busy(1_713);
    let system = world.kernel().store_state().system_task_id.unwrap();
    let all = recorded(&world, system, "principal.registered", "principal");
    let mut names = BTreeSet::new();
    for principal in &all {
        says_all(principal, "principal", &[]);
        let typed: model::principal::Principal = serde_json::from_value(principal.clone()).unwrap();
        assert!(names.insert(typed.display_name.shown().unwrap().clone()), "one name, one principal");
    }
    for (event, _) in events(world.kernel(), task) {
        let (id, kind) = (json!(event.actor_id), json!(event.actor_type));
        let is_known = all.iter().any(|p| p["principal_id"] == id && p["principal_type"] == kind);
        assert!(is_known, "{} was done by nobody on record", event.event_type);
    }
    let rows = world.kernel().query().unwrap().principals(Ask::ALL).unwrap().rows;
    assert_eq!(rows.len(), all.len());
}

/// Every grant of a task with the event that issued it.
fn grants(world: &World, task: TaskId) -> Vec<(model::Event, CapabilityGrant)> {
    let now = state(world, task);
    let of = events(world.kernel(), task).into_iter().filter_map(|(event, body)| match body {
        Body::GrantIssued(b) => Some((event, object(world.kernel(), &now, b.grant.artifact_id))),
        _ => None,
    });
    of.collect()
}

#[conforms::conforms("HK-8.12-1", "HK-8.12-3", "HK-8.12-4", "HK-16.6-2", "HK-3-8", "HK-26-5", "HK-10.4-5")]
#[test]
fn a_grant_gives_its_attempt_what_its_act_needs_once_and_nothing_else() {
    let world = World::new(1_714);
    world.file("a.txt", "text");
    world.file("beside.txt", "text");
    let moved = change(json!([{ "op": "move", "from": "a.txt", "to": "c.txt" }]));
    let task = world.script(
        "look and move",
        vec![look("a.txt"), moved.clone(), look("a.txt"), write("b.txt", "b"), moved, done("ok")],
    );
    world.drive_to_approval(task);
    world.kernel().retry(task, "again".to_owned()).unwrap();
    assert_eq!(world.drive_allowing(task).0, completed());
    let (now, all) = (state(&world, task), grants(&world, task));
    let mut given = Vec::new();
    for (event, grant) in &all {
        let value = serde_json::to_value(grant).unwrap();
        says_all(&value, "grant", &[]);
        let attempt = &now.attempts[&grant.attempt_id].attempt;
        assert_eq!((Some(grant.attempt_id), Some(grant.step_id)), (event.attempt_id, event.step_id));
        assert_eq!((grant.task_id, grant.step_id), (task, attempt.step_id));
        assert!(grant.expires_at > grant.issued_at);
        assert!(grant.expires_at <= grant.issued_at.plus_ms(limits::GRANT_MS_MAX));
        assert_eq!((grant.max_uses, &grant.standing), (1, &None));
        assert!(grant.network_scope.is_empty() && grant.secret_scope.is_empty());
        let people = world.kernel().store_state().principals;
        let kind = |id| people[id].principal_type;
        assert_eq!(kind(&grant.issued_to_principal_id), PrincipalType::Executor);
        assert_eq!(kind(&grant.issued_by_principal_id), PrincipalType::PolicyEngine);
        let names: Vec<&str> =
            grant.resource_scope.iter().filter_map(|r| r.rsplit([':', '/']).next()).collect();
        let (no, scope) = (attempt.attempt_no, grant.filesystem_scope.clone());
        given.push((no, grant.action_class, scope, names.join(" ")));
    }
    let at = |no: u32, class: ActionClass, scope: FilesystemScope, names: &str| {
        (no, class, scope, names.to_owned())
    };
    let expected = [
        at(1, ActionClass::ReadLocal, FilesystemScope::ReadLease, "a.txt"),
        at(2, ActionClass::ReadLocal, FilesystemScope::ReadLease, "a.txt"),
        at(2, ActionClass::WriteLocal, FilesystemScope::Named, "b.txt"),
        at(2, ActionClass::DeleteLocal, FilesystemScope::Named, "a.txt c.txt"),
    ];
    assert_eq!(given, expected, "nothing that the act does not name");
    // Each is used once, by the attempt that it was given to.
    let mut used = BTreeSet::new();
    for (event, body) in events(world.kernel(), task) {
        let Body::EffectDispatched(b) = body else { continue };
        let (_, grant) = all.iter().find(|(_, grant)| grant.grant_id == b.grant_id).expect("it was issued");
        assert_eq!(event.attempt_id, Some(grant.attempt_id));
        assert!(used.insert(b.grant_id), "used twice");
    }
    assert_eq!(used.len(), all.len());
}

#[conforms::conforms("HK-6.2-2", "HK-25.2-6", "HK-27-9")]
#[test]
fn a_host_that_could_do_it_does_nothing_without_a_living_grant() {
    for end in ["revoked", "expired", "alive"] {
        let mut world = World::new(1_715);
        world.file("a.txt", "text");
        let task = world.script("delete", vec![gone("a.txt"), done("ok")]);
        let approval = world.drive_to_approval(task);
        assert_eq!(grants(&world, task).len(), 0, "a question is no grant");
        world.person.allow(world.kernel(), task, approval).unwrap();
        die(&mut world, task, Point::EffectDispatch, Edge::After);
        let [(_, grant)] = &grants(&world, task)[..] else { panic!("one grant") };
        assert_eq!(grant.resource_scope.len(), 1, "{:?}", grant.resource_scope);
        match end {
            "revoked" => world.kernel().revoke_grant(task, grant.grant_id, "no").unwrap(),
            "expired" => world.clock.advance(limits::GRANT_MS_MAX + 1),
            _ => {}
        }
        // The process may delete the file, a person has said yes, and the act is written down as begun.
        assert!(!std::fs::metadata(world.path("a.txt")).unwrap().permissions().readonly());
        let standing = world.drive(task);
        assert!(
            matches!(standing, DriveOutcome::Ended { .. } | DriveOutcome::Waiting(Waiting::Approval(_))),
            "{standing:?}"
        );
        assert_eq!(world.files().contains_key("a.txt"), end != "alive", "{end}");
    }
}

#[conforms::conforms("HK-18.3-2")]
#[test]
fn a_receipt_of_a_store_without_keys_says_that_hashes_alone_hold_it_and_they_do() {
    let mut world = World::bare(1_716);
    world.take_up().unwrap();
    world.keys.lock(true);
    world.kernel().register_keys(&[(KeyPurpose::Approval, world.person.public())], "test").unwrap();
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    let now = state(&world, task);
    let record = now.receipts.last().unwrap();
    let (_, receipt) = world.kernel().receipt(record.receipt_id).unwrap();
    assert_eq!(receipt.verifiability, Verifiability::HashChained);
    assert!(receipt.signer_ref.value().is_none(), "nobody signed it");
    let envelope = world.kernel().artifacts().read(&record.envelope.sha256).unwrap();
    assert_eq!(seal::Digest::of(&envelope), record.envelope.sha256, "the log names its very bytes");
    let found = ledger::verify(world.kernel().reader(), &[], None, &mut |_| true).unwrap();
    assert!(!matches!(found.verdict, ledger::Verdict::Invalid { .. }), "{:?}", found.verdict);
    // Who changes what is recorded of a receipt is found out by the hashes.
    world.crash();
    let raw = rusqlite::Connection::open(world.store.path().join(ledger::FILE)).unwrap();
    let keep = "SELECT sql FROM sqlite_schema WHERE name = 'events_keep'";
    let keep: String = raw.query_row(keep, [], |row| row.get(0)).unwrap();
    let changed = "UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), 'granted', 'grantee') AS BLOB) \
                   WHERE event_type = 'receipt.issued'";
    raw.execute_batch(&format!("DROP TRIGGER events_keep; {changed}; {keep};")).unwrap();
    drop(raw);
    let reader = ledger::Reader::open(world.store.path()).unwrap();
    let found = ledger::verify(&reader, &[], None, &mut |_| true).unwrap();
    assert!(matches!(found.verdict, ledger::Verdict::Invalid { .. }), "{:?}", found.verdict);
}
