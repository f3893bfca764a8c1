//! What records say beyond their least fields.

use crate::objects::{recorded, says};
use crate::records::busy;
use crate::story::{completed, die, events, log, object, packs, place, state, types};
use acts::ApprovalPacket;
use model::action::ActionClass;
use model::artifact::ArtifactKind;
use model::attempt::{LeaseMode, WorkspaceLease};
use model::fault::Point;
use model::grant::CapabilityGrant;
use model::ingress::Channel;
use model::limits;
use model::principal::{Principal, PrincipalType};
use model::receipt::{ReceiptClass, ResultCode};
use model::task::TaskStatus;
use model::witness::{Found, StateWitness};
use model::{ActionRequestId, Body, TaskId, WitnessId};
use projections::query::{ArtifactFilter, Ask};
use seal::{Digest, Signer as _, dsse};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use testkit::{Edge, World, done, look, say, write};

#[conforms::conforms("HK-8.10-3", "HK-17.2-2")]
#[test]
fn a_receipt_says_what_decided_it_how_it_is_undone_and_checked_and_leads_to_its_signed_bundle() {
    let (world, task) = busy(1_781);
    let (kernel, now) = (world.kernel(), state(&world, task));
    let key = world.keys.receipt_signer().public();
    let (mut decided, mut captured) = (0, 0);
    for record in &now.receipts {
        let (_, receipt) = kernel.receipt(record.receipt_id).unwrap();
        let value = serde_json::to_value(&receipt).unwrap();
        says(&value, &["decision_ref", "rollback", "replay_class", "verifiability", "signer_ref"]);
        assert_eq!(receipt.signer_ref.value(), Some(&key.keyid()));
        if let Some(decision) = receipt.decision_ref.value() {
            assert!(now.decisions.iter().any(|one| one.decision_id == *decision), "{decision}");
            decided += 1;
        }
        if let Some(at) = receipt.environment_ref.value() {
            assert_eq!(now.artifacts[&at.artifact_id].kind, ArtifactKind::EnvironmentSnapshot);
            captured += 1;
        }
        // What its record leads to is the bundle, and the signature in it is of just this receipt.
        let bundle = &now.artifacts[&record.envelope.artifact_id];
        assert_eq!((bundle.kind, bundle.content_hash), (ArtifactKind::ReceiptBundle, record.envelope.sha256));
        let envelope =
            dsse::Envelope::parse(&kernel.artifacts().read(&bundle.content_hash).unwrap()).unwrap();
        let signed: Value = serde_json::from_slice(&dsse::verify(&envelope, &key).unwrap()).unwrap();
        assert_eq!(signed["predicate"]["receipt_id"], json!(receipt.receipt_id));
        for said in ["replay_class", "verifiability", "signer_ref", "decision_ref"] {
            assert_eq!(signed["predicate"][said], value[said], "{said}");
        }
    }
    assert!(decided >= 1 && captured >= 3, "to delete was decided, and each act was done somewhere");
}

#[conforms::conforms("HK-18.6-3", "HK-26-8")]
#[test]
fn a_receipt_of_what_can_be_undone_says_how_on_what_with_what_and_that_it_was() {
    let (world, task) = busy(1_782);
    let kernel = world.kernel();
    let now = state(&world, task);
    let deleted =
        now.receipts.iter().find(|r| r.action_class == ActionClass::DeleteLocal).unwrap().receipt_id;
    let (_, receipt) = kernel.receipt(deleted).unwrap();
    assert_eq!(receipt.rollback.method, acts::RESTORE_BEFORE_IMAGES);
    assert!(receipt.rollback.prerequisites.iter().all(|one| !one.is_empty()));
    assert!(!receipt.rollback.prerequisites.is_empty());
    let [image] = &receipt.rollback.artifact_refs[..] else { panic!("{:?}", receipt.rollback) };
    assert_eq!(kernel.artifacts().read(&image.sha256).unwrap(), b"text");
    let row = |id| kernel.query().unwrap().receipt(id).unwrap().unwrap();
    assert_eq!(row(deleted).undone_by, None, "nobody has undone it");
    let undo = kernel.rollback(deleted, Channel::Cli, "undo".to_owned()).unwrap().task_id;
    assert_eq!(world.drive_allowing(undo).0, completed());
    assert_eq!(world.files()["a.txt"], b"text");
    let undone = state(&world, undo);
    let by = undone.receipts.iter().find(|r| r.receipt_class == ReceiptClass::Rollback).unwrap();
    let (_, told) = kernel.receipt(by.receipt_id).unwrap();
    assert_eq!((told.result_code, told.rollback.rolls_back), (ResultCode::Succeeded, Some(deleted)));
    assert_eq!(row(deleted).undone_by, Some(by.receipt_id), "its result, where the receipt is read");
    // What cannot be undone promises nothing.
    let read = now.receipts.iter().find(|r| r.receipt_class == ReceiptClass::ApprovalResolution).unwrap();
    let (_, answered) = kernel.receipt(read.receipt_id).unwrap();
    assert!(answered.rollback.method == "none" && answered.rollback.artifact_refs.is_empty());
}

/// A world with every way in which an approval is resolved, and an effect of each kind.
fn resolved(seed: u64) -> World {
    let (world, _) = busy(seed);
    let asks = |goal: &str| {
        let task = world.script(goal, vec![write("c.txt", goal), done("not done")]);
        (task, world.drive_to_approval(task))
    };
    let (task, approval) = asks("no");
    world.person.deny(world.kernel(), task, approval, "no").unwrap();
    world.drive(task);
    let (task, _) = asks("stop");
    world.kernel().cancel(task, "enough").unwrap();
    world.drive(task);
    let (task, _) = asks("again");
    world.kernel().retry(task, "again".to_owned()).unwrap();
    let (task, _) = asks("too late");
    world.clock.advance(limits::APPROVAL_MS_MAX + 1);
    world.drive(task);
    world
}

#[conforms::conforms("HK-13.3-1", "HK-13.1-3", part = "HK-8.4-4")]
#[test]
fn what_is_told_of_effects_authority_answers_and_proof_carries_a_key_of_its_own() {
    let world = resolved(1_783);
    let needs = [
        "effect.dispatched",
        "effect.observed",
        "grant.issued",
        "approval.granted",
        "approval.denied",
        "approval.cancelled",
        "approval.expired",
        "approval.invalidated",
        "receipt.issued",
    ];
    let all = log(world.kernel());
    let dispatched: BTreeSet<ActionRequestId> = all
        .iter()
        .filter_map(|(_, body)| match body {
            Body::EffectDispatched(b) => Some(b.action_request_id),
            _ => None,
        })
        .collect();
    let (mut seen, mut keys) = (BTreeMap::new(), BTreeSet::new());
    let mut last: BTreeMap<TaskId, (u64, Digest)> = BTreeMap::new();
    for (event, body) in &all {
        let this = (event.task_seq, Digest::of(&event.to_bytes().unwrap()));
        let (seq, head) = last.insert(event.task_id, this).unwrap_or((0, Digest::ZERO));
        assert_eq!((event.task_seq, event.prev_event_hash), (seq + 1, head), "behind the one it names");
        if event.attempt_id.is_some() {
            assert!(event.workspace_id.is_some(), "{} names no workspace", event.event_type);
        }
        let Some(name) = needs.iter().find(|name| **name == event.event_type) else { continue };
        // What was denied had no effect.
        if matches!(body, Body::EffectObserved(b) if !dispatched.contains(&b.action_request_id)) {
            continue;
        }
        let key = event.idempotency_key.clone().unwrap_or_else(|| panic!("{} has no key", event.event_type));
        assert!(keys.insert(key.clone()), "`{key}` stands twice");
        *seen.entry(*name).or_insert(0_u32) += 1;
    }
    assert_eq!(seen.keys().copied().collect::<BTreeSet<_>>(), BTreeSet::from(needs), "{seen:?}");
}

#[conforms::conforms(part = "HK-8.5-3", part = "HK-8.9-4", part = "HK-8.11-3", part = "HK-8.12-2")]
#[test]
fn records_say_when_they_were_sealed_until_when_they_count_and_what_they_rest_on() {
    let mut world = World::new(1_784);
    world.file("a.txt", "text");
    let task =
        world.script("delete", vec![look("a.txt"), say("delete", json!({ "path": "a.txt" })), done("ok")]);
    let id = world.drive_to_approval(task);
    let asked = state(&world, task).approvals[&id].approval.clone();
    // An approval: until when it counts, what was looked at, and what policy said.
    assert!(asked.expires_at > asked.requested_at);
    let now = state(&world, task);
    let witness: WitnessId = asked.state_witness_ref.expect("it is about what was looked at");
    let packet: ApprovalPacket = object(world.kernel(), &now, asked.approval_packet_ref);
    assert_eq!(packet.state_witness.map(|one| one.witness_id), Some(witness));
    let policy: model::policy::PolicyResult = object(world.kernel(), &now, asked.policy_result_ref);
    assert_eq!(policy.action_request_id, packet.action_request.action_request_id);
    world.person.allow(world.kernel(), task, id).unwrap();
    die(&mut world, task, Point::EffectDispatch, Edge::After);
    // A grant: what it rests on, when it was used, and when it was taken back.
    let now = state(&world, task);
    let grants: Vec<(model::Event, CapabilityGrant)> = events(world.kernel(), task)
        .into_iter()
        .filter_map(|(event, body)| match body {
            Body::GrantIssued(b) => Some((event, object(world.kernel(), &now, b.grant.artifact_id))),
            _ => None,
        })
        .collect();
    let (_, grant) = grants.iter().find(|(_, grant)| grant.action_class == ActionClass::DeleteLocal).unwrap();
    assert_eq!(grant.approval_ref.value(), Some(&id));
    let judged = now.artifacts.values().find(|a| a.content_hash == grant.policy_result_sha256).unwrap();
    assert_eq!(judged.kind, ArtifactKind::PolicyResult);
    world.kernel().revoke_grant(task, grant.grant_id, "no").unwrap();
    let told = events(world.kernel(), task);
    let used = told.iter().find_map(|(event, body)| match body {
        Body::EffectDispatched(b) if b.grant_id == grant.grant_id => Some(event.occurred_at),
        _ => None,
    });
    let revoked = told.iter().find_map(|(event, body)| match body {
        Body::GrantRevoked(b) if b.grant_id == grant.grant_id => Some(event.occurred_at),
        _ => None,
    });
    assert!(used.unwrap() >= grant.issued_at && revoked >= used, "{used:?} {revoked:?}");
    let row = world.kernel().query().unwrap().grant(grant.grant_id).unwrap().expect("it is in the view");
    assert_eq!((row.consumed_at, row.revoked_at), (used, revoked), "and its view says both");
    world.drive(task);
    // An artifact: when it was sealed and by what, of what it was made, and its name in the task.
    let (busy, task) = busy(1_785);
    let filter = ArtifactFilter { task: Some(task), ..ArtifactFilter::default() };
    let rows = busy.kernel().query().unwrap().artifacts(&filter, Ask::ALL).unwrap().rows;
    let sealed: Vec<_> = rows.iter().filter(|row| row.sealed_at.is_some()).collect();
    assert!(sealed.len() >= 3 && sealed.iter().all(|row| row.sealed_by.is_some()), "{sealed:?}");
    assert!(sealed.iter().all(|row| row.sealed_at.unwrap() >= row.created_at));
    assert!(rows.iter().any(|row| row.alias.is_some()));
    assert!(rows.iter().filter(|row| row.produced_by.is_some() && !row.inputs.is_empty()).count() > 5);
    // Whoever acts is told apart by labels.
    let system = busy.kernel().store_state().system_task_id.unwrap();
    let known: Vec<Principal> = recorded(&busy, system, "principal.registered", "principal")
        .into_iter()
        .map(|one| serde_json::from_value(one).unwrap())
        .collect();
    let services: Vec<_> = known.iter().filter(|one| one.principal_type == PrincipalType::Service).collect();
    assert!(services.len() > 1 && services.iter().any(|one| !one.labels.is_empty()), "{services:?}");
}

#[conforms::conforms("HK-17.1-2", "HK-20.3-1", "HK-10.3-1")]
#[test]
fn whoever_may_change_a_folder_has_a_lease_of_it_that_says_all_and_ends() {
    let (world, task) = busy(1_786);
    let root = world.folder.path().canonicalize().unwrap();
    let all = recorded(&world, task, "workspace.lease_acquired", "lease");
    let fields = [
        "lease_id",
        "task_id",
        "attempt_id",
        "workspace_id",
        "root_path",
        "holder_principal_id",
        "acquired_at",
        "expires_at",
        "mode",
        "resource_scope",
    ];
    let now = state(&world, task);
    for value in &all {
        says(value, &fields);
        let lease: WorkspaceLease = serde_json::from_value(value.clone()).unwrap();
        assert_eq!((lease.task_id, Some(lease.attempt_id)), (task, now.current));
        assert_eq!(lease.workspace_id, world.kernel().workspace(&root).unwrap());
        assert!(lease.acquired_at < lease.expires_at, "it has an end");
        assert!(lease.expires_at <= lease.acquired_at.plus_ms(limits::LEASE_MS_MAX));
        assert_eq!(
            lease.mode,
            LeaseMode::ExternalEffectsDisabled,
            "files may be changed, and nothing leaves"
        );
        assert_eq!(lease.resource_scope.len(), 1, "of the folder and nothing else");
        assert!(world.kernel().store_state().principals.contains_key(&lease.holder_principal_id));
    }
    // It is there before anything is asked of a model, and gone when the attempt is over.
    let order = types(world.kernel(), task);
    assert!(place(&order, "workspace.lease_acquired") < place(&order, "attempt.model_requested"));
    assert!(place(&order, "workspace.lease_acquired") < place(&order, "effect.dispatched"));
    let rows = world.kernel().query().unwrap().leases(Some(task), Ask::ALL).unwrap().rows;
    assert!(rows.len() == all.len() && rows.iter().all(|row| row.ended_at.is_some()), "{rows:?}");
}

#[conforms::conforms("HK-16.8-2")]
#[test]
fn a_witness_says_what_was_found_where_when_by_whom_and_until_when_that_counts() {
    let world = World::new(1_787);
    world.file("a.txt", "text");
    let task =
        world.script("delete", vec![look("a.txt"), say("delete", json!({ "path": "a.txt" })), done("ok")]);
    world.drive_to_approval(task);
    let now = state(&world, task);
    let at = now.artifacts.values().find(|a| a.kind == ArtifactKind::StateWitness).unwrap();
    let value: Value = object(world.kernel(), &now, at.artifact_id);
    says(&value, &["fingerprints", "preconditions", "observed_at", "expires_at", "observed_by"]);
    let witness: StateWitness = serde_json::from_value(value).unwrap();
    let [found] = &witness.fingerprints[..] else { panic!("just what is touched: {witness:?}") };
    assert!(found.resource.to_string().ends_with("a.txt"), "{}", found.resource);
    assert!(
        matches!(&found.state, Found::File { sha256, byte_size: 4, .. } if *sha256 == Digest::of(b"text"))
    );
    assert!(!witness.preconditions.is_empty() && witness.preconditions.iter().all(|one| !one.is_empty()));
    assert!(witness.observed_at < witness.expires_at);
    assert!(world.kernel().store_state().principals.contains_key(&witness.observed_by));
}

#[conforms::conforms("HK-16.7-2")]
#[test]
fn what_a_person_was_shown_is_an_artifact_that_can_be_read_long_after() {
    let (mut world, task) = busy(1_788);
    world.clock.advance(100 * 24 * 3_600_000);
    world.reopen();
    let now = state(&world, task);
    assert_eq!((now.task.status, now.approvals.len()), (TaskStatus::Completed, 3));
    for record in now.approvals.values() {
        let of = &record.approval;
        let artifact = &now.artifacts[&of.approval_packet_ref];
        assert_eq!(
            (artifact.kind, artifact.content_hash),
            (ArtifactKind::ApprovalPacket, of.approval_packet_sha256)
        );
        let packet: ApprovalPacket = object(world.kernel(), &now, of.approval_packet_ref);
        let card = governance::approval::card(&packet);
        assert!(!card.lines.is_empty() && packet.action_request.action_class == of.approval_type);
        let row = world.kernel().query().unwrap().approval(of.approval_id).unwrap().unwrap();
        assert_eq!((row.packet_ref, row.packet_sha256), (of.approval_packet_ref, of.approval_packet_sha256));
    }
}

#[conforms::conforms("HK-24-1", "HK-10.5-1")]
#[test]
fn there_are_durable_records_of_everything_and_each_store_answers_for_its_own() {
    let (mut world, task) = busy(1_794);
    world.reopen();
    let query = world.kernel().query().unwrap();
    let now = state(&world, task);
    let artifacts = ArtifactFilter { task: Some(task), ..ArtifactFilter::default() };
    let found = [
        ("principals", query.principals(Ask::ALL).unwrap().rows.len()),
        ("steps", query.steps(Some(task), None, Ask::ALL).unwrap().rows.len()),
        ("attempts", query.attempts(task, Ask::ALL).unwrap().rows.len()),
        ("events", events(world.kernel(), task).len()),
        ("artifacts", query.artifacts(&artifacts, Ask::ALL).unwrap().rows.len()),
        ("working states", query.working_states(task, Ask::ALL).unwrap().rows.len()),
        ("beliefs", query.beliefs(Some(task), None, Ask::ALL).unwrap().rows.len()),
        ("memory records", query.memories(None, Ask::ALL).unwrap().rows.len()),
        ("decisions", query.decisions(Some(task), Ask::ALL).unwrap().rows.len()),
        ("grants", query.grants(task, Ask::ALL).unwrap().rows.len()),
        ("leases", query.leases(Some(task), Ask::ALL).unwrap().rows.len()),
        ("approvals", now.approvals.len()),
        ("receipts", now.receipts.len()),
        ("context packs", packs(world.kernel(), task).len()),
    ];
    for (of, many) in found {
        assert!(many > 0, "no {of}");
    }
    // What is projected of task and steps says what the records do.
    let row = query.task(task).unwrap().expect("the projection of the task");
    assert_eq!(row.status, now.task.status);
    for step in query.steps(Some(task), None, Ask::ALL).unwrap().rows {
        assert_eq!(step.status, now.steps[&step.step_id].status);
    }
    for id in now.approvals.keys() {
        assert!(query.approval(*id).unwrap().is_some());
    }
    for record in &now.receipts {
        assert!(query.receipt(record.receipt_id).unwrap().is_some());
    }
}
