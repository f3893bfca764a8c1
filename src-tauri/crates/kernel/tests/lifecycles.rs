//! What becomes of the objects of a store: each begins, moves and ends by events, and content stays what it was.

use crate::records::busy;
use crate::story::{completed, log, state};
use model::approval::ApprovalStatus;
use model::knowledge::{BeliefStatus, MemoryStatus};
use model::{Body, TaskId};
use projections::query::{ArtifactFilter, Ask};
use projections::{GrantState, Query};
use seal::Digest;
use std::collections::{BTreeMap, BTreeSet};
use testkit::{World, done, look, write};

/// Every event of the log by the object that it is about.
fn by_object(world: &World) -> BTreeMap<String, Vec<Body>> {
    let mut found: BTreeMap<String, Vec<Body>> = BTreeMap::new();
    for (event, body) in log(world.kernel()) {
        found.entry(event.entity_id).or_default().push(body);
    }
    found
}

/// Where events leave an approval.
fn stands(of: &[Body]) -> ApprovalStatus {
    of.iter().fold(ApprovalStatus::Pending, |before, body| match body {
        Body::ApprovalGranted(_) => ApprovalStatus::Granted,
        Body::ApprovalDenied(_) => ApprovalStatus::Denied,
        Body::ApprovalExpired(_) => ApprovalStatus::Expired,
        Body::ApprovalCancelled(_) => ApprovalStatus::Cancelled,
        Body::ApprovalInvalidated(_) => ApprovalStatus::Invalidated,
        _ => before,
    })
}

#[conforms::conforms("HK-9-3")]
#[test]
fn every_object_begins_moves_and_ends_by_events_of_its_own() {
    let (world, task) = busy(807);
    let refused = world.script("refused", vec![write("c.txt", "c"), done("not done")]);
    let approval = world.drive_to_approval(refused);
    world.person.deny(world.kernel(), refused, approval, "no").unwrap();
    world.drive(refused);
    let dropped = world.script("dropped", vec![write("d.txt", "d"), done("not done")]);
    world.drive_to_approval(dropped);
    world.kernel().cancel(dropped, "enough").unwrap();
    world.drive(dropped);
    take_back(&world, task);
    let (of, query) = (by_object(&world), world.kernel().query().unwrap());
    let about = |id: String| of.get(&id).unwrap_or_else(|| panic!("no event is about `{id}`"));
    for id in [task, refused, dropped] {
        let mut moves = about(id.to_string()).iter().rev();
        let last = moves.find_map(|b| if let Body::TaskStatusChanged(b) = b { Some(b.to) } else { None });
        assert_eq!(query.task(id).unwrap().map(|row| row.status), last);
        for row in query.steps(Some(id), None, Ask::ALL).unwrap().rows {
            let all = about(row.step_id.to_string());
            assert!(matches!(all[0], Body::StepCreated(_)));
            let last = all
                .iter()
                .rev()
                .find_map(|b| if let Body::StepStatusChanged(b) = b { Some(b.to) } else { None });
            assert_eq!(Some(row.status), last);
        }
        for row in query.attempts(id, Ask::ALL).unwrap().rows {
            let all = about(row.attempt_id.to_string());
            assert!(matches!(all[0], Body::AttemptCreated(_)));
            let last = all
                .iter()
                .rev()
                .find_map(|b| if let Body::AttemptStatusChanged(b) = b { Some(b.to) } else { None });
            assert_eq!(Some(row.status), last);
        }
        for row in query.leases(Some(id), Ask::ALL).unwrap().rows {
            let all = about(row.lease_id.to_string());
            assert!(matches!(all[0], Body::LeaseAcquired(_)));
            let ended = all.iter().any(|b| matches!(b, Body::LeaseReleased(_) | Body::LeaseLost(_)));
            assert_eq!((row.ended_at.is_some(), ended), (true, true), "given back with the end");
        }
        for row in query.approvals(Some(id), None, Ask::ALL).unwrap().rows {
            let all = about(row.approval_id.to_string());
            assert!(matches!(all[0], Body::ApprovalRequested(_)));
            assert_eq!(row.status, stands(all));
        }
        for row in query.grants(id, Ask::ALL).unwrap().rows {
            assert!(matches!(about(row.grant_id.to_string())[0], Body::GrantIssued(_)));
            let used = |b: &Body| matches!(b, Body::EffectDispatched(b) if b.grant_id == row.grant_id);
            let uses = of.values().flatten().filter(|b| used(b)).count();
            assert_eq!((row.state, uses), (GrantState::Consumed, 1));
        }
        for row in query.receipts(Some(id), None, Ask::ALL).unwrap().rows {
            assert!(matches!(about(row.receipt_id.to_string())[0], Body::ReceiptIssued(_)));
        }
        for row in query.decisions(Some(id), Ask::ALL).unwrap().rows {
            assert!(matches!(about(row.decision_id.to_string())[0], Body::DecisionRecorded(_)));
        }
    }
    kept_known_and_acting(&query, &of, task);
    a_grant_taken_back_ends_by_an_event();
}

/// Authority that is taken back while its act is under way.
fn a_grant_taken_back_ends_by_an_event() {
    let (world, task) = crate::recovery::dispatched_and_dead(806);
    let query = world.kernel().query().unwrap();
    let [grant] = &query.grants(task, Ask::ALL).unwrap().rows[..] else { panic!("one grant") };
    world.kernel().revoke_grant(task, grant.grant_id, "no").unwrap();
    let of = by_object(&world);
    assert!(matches!(of[&grant.grant_id.to_string()][..], [Body::GrantIssued(_), .., Body::GrantRevoked(_)]));
    assert!(state(&world, task).grants[&grant.grant_id].revoked, "and stands as that event leaves it");
}

/// A person takes back the belief and the memory of a task.
fn take_back(world: &World, task: TaskId) {
    let memory = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows.remove(0).memory_id;
    world.kernel().invalidate_memory(memory, "it has changed").unwrap();
    let belief = *state(world, task).beliefs.keys().next().expect("something is believed");
    world.kernel().revoke_belief(task, belief, "it is not so").unwrap();
}

/// Artifacts, beliefs, memory and whoever acts: each began by an event, and stands where its events leave it.
fn kept_known_and_acting(query: &Query, of: &BTreeMap<String, Vec<Body>>, task: TaskId) {
    let mut sealed = 0;
    for row in query.artifacts(&ArtifactFilter::default(), Ask::ALL).unwrap().rows {
        let all = &of[&row.artifact_id.to_string()];
        assert!(matches!(all[0], Body::ArtifactCreated(_)));
        let told = all.iter().any(|b| matches!(b, Body::ArtifactSealed(_)));
        assert_eq!(row.sealed_by.is_some(), told, "{:?}", row.kind);
        sealed += usize::from(told);
    }
    assert!(sealed > 0, "what a receipt rests on is sealed");
    for row in query.memories(None, Ask::ALL).unwrap().rows {
        let all = &of[&row.memory_id.to_string()];
        assert!(matches!(all[..], [Body::MemoryPromoted(_), .., Body::MemoryInvalidated(_)]), "{all:?}");
        assert_eq!(row.status, MemoryStatus::Invalidated);
    }
    for row in query.beliefs(Some(task), None, Ask::ALL).unwrap().rows {
        let all = &of[&row.belief_id.to_string()];
        assert!(matches!(all[..], [Body::BeliefAsserted(_), .., Body::BeliefRevoked(_)]), "{all:?}");
        assert_eq!(row.status, BeliefStatus::Revoked);
    }
    let people = query.principals(Ask::ALL).unwrap().rows;
    assert!(people.len() > 3, "{people:?}");
    for row in people {
        assert!(matches!(of[&row.principal_id.to_string()][0], Body::PrincipalRegistered(_)));
    }
}

#[conforms::conforms("HK-8.3-9")]
#[test]
fn an_attempt_says_which_part_of_its_work_it_is_at() {
    let (world, task) = busy(808);
    let phases = log(world.kernel()).into_iter().filter_map(|(event, body)| match body {
        Body::AttemptStatusChanged(b) if event.task_id == task => Some(b.phase.as_str()),
        _ => None,
    });
    let seen: BTreeSet<&str> = phases.collect();
    let named = [
        "planning",
        "policy_pending",
        "awaiting_approval",
        "authorized_pre_exec",
        "executing",
        "observing",
        "settling",
    ];
    assert_eq!(seen, named.into_iter().collect::<BTreeSet<_>>());
}

#[conforms::conforms("HK-14.3-1")]
#[test]
fn what_an_artifact_holds_is_what_it_was_made_of_whatever_comes_after() {
    let mut world = World::new(809);
    let large = "a long line of text that is kept in a file of its own\n".repeat(4_000);
    let task = world.script("write", vec![write("a.txt", &large), look("a.txt"), done("ok")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    let made: Vec<_> = state(&world, task).artifacts.into_values().collect();
    let read = |world: &World, digest: &Digest| world.kernel().artifacts().read(digest);
    let before: Vec<_> = made.iter().map(|a| read(&world, &a.content_hash).unwrap()).collect();
    // The same names get other content, it is taken back, another host comes, and what nobody needs is collected.
    let again = world.script("again", vec![look("a.txt"), write("a.txt", "short\n"), done("ok")]);
    assert_eq!(world.drive_allowing(again).0, completed());
    let receipt = state(&world, again).receipts.last().unwrap().receipt_id;
    let undo =
        world.kernel().rollback(receipt, model::ingress::Channel::Cli, "undo".to_owned()).unwrap().task_id;
    assert_eq!(world.drive_allowing(undo).0, completed());
    world.reopen();
    for (artifact, bytes) in made.iter().zip(&before) {
        assert_eq!(&read(&world, &artifact.content_hash).unwrap(), bytes, "{:?}", artifact.kind);
    }
    let mut named = BTreeSet::new();
    for (_, body) in log(world.kernel()) {
        if let Body::ArtifactCreated(b) = body {
            assert!(named.insert(b.artifact.artifact_id), "an artifact is made once");
        }
    }
    // Other bytes under its name are no content of it: nobody is given them.
    let files = walk(&world.store.path().join("artifacts"));
    assert!(!files.is_empty(), "something is kept in files");
    for file in files {
        std::fs::write(&file, "other bytes").unwrap();
    }
    let mut refused = 0;
    for (artifact, bytes) in made.iter().zip(&before) {
        match read(&world, &artifact.content_hash) {
            Ok(given) => assert_eq!(&given, bytes),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0, "what was changed behind its back is told as such");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
