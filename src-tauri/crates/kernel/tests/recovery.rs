//! Hosts that die, time that runs out, outcomes nobody saw: looked at, never repeated, never assumed.

use crate::story::{completed, count, die, ended, events, state, types};
use kernel::{DriveOutcome, Error, Waiting};
use model::attempt::{AttemptStatus, TerminationReason};
use model::fault::Point;
use model::ingress::Channel;
use model::receipt::{ReceiptClass, ResultCode};
use model::task::TaskStatus;
use model::{Body, GrantId, TaskId};
use serde_json::json;
use testkit::{Edge, World, change, done, look, write};

/// The grants of a task in order.
fn grants(world: &World, task: TaskId) -> Vec<GrantId> {
    let of = |body| match body {
        Body::GrantIssued(b) => Some(b.grant_id),
        _ => None,
    };
    events(world.kernel(), task).into_iter().filter_map(|(_, body)| of(body)).collect()
}

/// A world whose host has died after a write was dispatched and before anything was done.
pub fn dispatched_and_dead(seed: u64) -> (World, TaskId) {
    let mut world = World::new(seed);
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    die(&mut world, task, Point::EffectDispatch, Edge::After);
    assert!(world.files().is_empty());
    (world, task)
}

#[conforms::conforms("HK-19.1-1")]
#[test]
fn what_was_not_committed_did_not_happen() {
    for point in [Point::ContextCompile, Point::ModelRespond, Point::ApprovalRequest] {
        let mut world = World::new(501);
        world.reasoners.script("write", vec![write("a.txt", "a"), write("a.txt", "a"), done("ok")]);
        let task = world.script("write", vec![write("a.txt", "a"), write("a.txt", "a"), done("ok")]);
        die(&mut world, task, point, Edge::Before);
        let told = types(world.kernel(), task);
        let never = match point {
            Point::ContextCompile => "attempt.context_compiled",
            Point::ModelRespond => "attempt.model_responded",
            _ => "approval.requested",
        };
        assert!(!told.iter().any(|t| t == never), "{point}: {told:?}");
        assert!(state(&world, task).approvals.is_empty());
        assert_eq!(world.drive_allowing(task).0, completed(), "{point}");
        assert_eq!(state(&world, task).attempts.len(), 1, "the same attempt went on");
        assert_eq!(world.files()["a.txt"], b"a");
    }
}

#[conforms::conforms("HK-19.2-1")]
#[test]
fn an_act_that_was_authorised_and_never_begun_is_done_once_under_its_grant() {
    let (world, task) = dispatched_and_dead(502);
    let granted = grants(&world, task);
    assert_eq!(granted.len(), 1);
    assert_eq!(world.drive(task), completed());
    assert_eq!(grants(&world, task), granted, "no second grant");
    assert_eq!(count(world.kernel(), task, "effect.dispatched"), 1);
    assert_eq!(count(world.kernel(), task, "approval.requested"), 1, "nobody is asked again");
    assert_eq!(world.files()["a.txt"], b"a");
    assert_eq!(state(&world, task).attempts.len(), 1);
    // Allowed and not yet dispatched: the yes is used, once.
    let mut world = World::new(503);
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    die(&mut world, task, Point::EffectDispatch, Edge::Before);
    assert_eq!(grants(&world, task), []);
    assert_eq!(world.drive(task), completed());
    assert_eq!(grants(&world, task).len(), 1);
}

#[conforms::conforms("HK-6.4-2", "HK-12.3-5", "HK-19.3-1", "HK-19.5-2")]
#[test]
fn an_act_that_may_have_happened_is_looked_at_and_not_repeated() {
    for (point, edge) in [(Point::ItemRename, Edge::After), (Point::EffectObserve, Edge::Before)] {
        let mut world = World::new(504);
        let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
        let approval = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, approval).unwrap();
        die(&mut world, task, point, edge);
        assert_eq!(world.files()["a.txt"], b"a", "it had happened");
        assert_eq!(state(&world, task).attempt().unwrap().attempt.status, AttemptStatus::Executing);
        assert_eq!(world.drive(task), completed());
        assert!(world.oracle.performed().values().all(|times| *times == 1), "{:?}", world.oracle.performed());
        assert_eq!(count(world.kernel(), task, "effect.dispatched"), 1);
        let now = state(&world, task);
        let mut walked = Vec::new();
        let mut recovered = false;
        for (_, body) in events(world.kernel(), task) {
            match body {
                Body::AttemptStatusChanged(b) => walked.push(b.to),
                Body::EffectObserved(b) => recovered = b.recovered,
                _ => {}
            }
        }
        let executing = walked.iter().position(|s| *s == AttemptStatus::Executing).unwrap();
        assert_eq!(walked[executing + 1], AttemptStatus::Observing, "first of all it is looked at");
        assert!(recovered, "that it was found and not seen is on record");
        assert_eq!(now.receipts.len(), 2);
    }
}

#[conforms::conforms("HK-6.4-2", "HK-19.4-1", "HK-19.4-2", "HK-27-12")]
#[test]
fn an_outcome_nobody_can_tell_blocks_until_a_person_settles_it() {
    let (mut world, task) = dispatched_and_dead(505);
    world.file("a.txt", "neither before nor after");
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::UnknownOutcome));
    let unknown = state(&world, task);
    let receipt = unknown.receipts.last().unwrap();
    assert_eq!(receipt.result_code, ResultCode::UnknownOutcome, "a receipt says that it is not known");
    assert!(unknown.has_unknown_outcome());
    assert_eq!(unknown.task.status, TaskStatus::Blocked);
    let row = world.kernel().query().unwrap().task(task).unwrap().unwrap();
    assert_eq!(row.unknown_effects, 1, "it can be seen from outside");
    assert!(
        matches!(world.kernel().retry(task, "again".to_owned()), Err(Error::Conflict(_))),
        "no blind repetition"
    );
    world.kernel().cancel(task, "never mind").unwrap();
    world.reopen();
    assert_eq!(
        world.drive(task),
        DriveOutcome::Waiting(Waiting::UnknownOutcome),
        "a cancel does not settle it"
    );
    assert_eq!(world.files()["a.txt"], b"neither before nor after", "nothing ran again");
    world.kernel().resolve_outcome(task, ResultCode::Failed, "somebody else wrote this file").unwrap();
    assert_eq!(world.drive(task), ended(TaskStatus::Cancelled, TerminationReason::Cancelled));
    let settled = state(&world, task);
    assert_eq!(settled.receipts.last().unwrap().receipt_class, ReceiptClass::ObservationResolution);
    assert!(world.oracle.performed().is_empty());
}

#[test]
fn an_outcome_is_not_declared_unknown_while_its_receipt_cannot_be_signed() {
    let (world, task) = dispatched_and_dead(506);
    world.file("a.txt", "neither before nor after");
    world.keys.lock(true);
    assert!(matches!(world.kernel().drive(task), Err(Error::KeyLocked("receipt"))));
    assert_eq!(count(world.kernel(), task, "effect.uncertain"), 0);
    world.keys.lock(false);
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::UnknownOutcome));
    assert_eq!(state(&world, task).receipts.last().unwrap().result_code, ResultCode::UnknownOutcome);
}

#[conforms::conforms("HK-8.12-6", "HK-19.6-1", part = "HK-26-5")]
#[test]
fn a_grant_that_expired_or_was_revoked_completes_nothing_whatever_was_approved() {
    let (world, task) = dispatched_and_dead(507);
    world.clock.advance(model::limits::GRANT_MS_MAX + 1);
    world.drive(task);
    assert!(world.files().is_empty(), "the grant had run out");
    assert_eq!(state(&world, task).receipts.last().unwrap().result_code, ResultCode::Failed);
    let (world, task) = dispatched_and_dead(508);
    let [grant] = grants(&world, task)[..] else { panic!("one grant") };
    world.kernel().revoke_grant(task, grant, "I changed my mind").unwrap();
    let twice = world.kernel().revoke_grant(task, grant, "still");
    assert!(matches!(twice, Err(Error::Conflict(_))));
    world.drive(task);
    assert!(world.files().is_empty(), "the grant was taken back");
    assert_eq!(state(&world, task).receipts.last().unwrap().result_code, ResultCode::Failed);
    let world = World::new(509);
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    world.drive_allowing(task);
    let [grant] = grants(&world, task)[..] else { panic!("one grant") };
    let late = world.kernel().revoke_grant(task, grant, "too late");
    assert!(matches!(late, Err(Error::Conflict(_))), "what is established cannot be taken back");
}

#[conforms::conforms("HK-17.1-1", "HK-20.3-2")]
#[test]
fn nothing_runs_but_under_a_lease_that_lives() {
    let world = World::new(510);
    world.file("a.txt", "text");
    let task = world.script("write", vec![look("a.txt"), write("b.txt", "b"), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.clock.advance(model::limits::LEASE_MS_MAX + 1);
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    let mut lease = None;
    let mut lost = 0;
    let mut dispatched = 0;
    for (event, body) in events(world.kernel(), task) {
        match body {
            Body::LeaseAcquired(b) => {
                assert!(lease.is_none(), "one lease at a time");
                assert_eq!(Some(b.lease.attempt_id), event.attempt_id);
                lease = Some(b.lease);
            }
            Body::LeaseRenewed(b) => lease.as_mut().unwrap().expires_at = b.expires_at,
            Body::LeaseLost(b) => {
                assert_eq!(lease.take().unwrap().lease_id, b.lease_id);
                lost += 1;
            }
            Body::LeaseReleased(_) => lease = None,
            Body::EffectDispatched(_) => {
                let held = lease.as_ref().expect("no lease is held at a dispatch");
                assert!(event.occurred_at < held.expires_at, "the lease had run out at a dispatch");
                assert_eq!(Some(held.workspace_id), event.workspace_id);
                dispatched += 1;
            }
            _ => {}
        }
    }
    assert_eq!(
        (dispatched, lost),
        (2, 1),
        "the lease was lost in so many words, and taken anew before the write"
    );
    assert!(lease.is_none(), "given back at the end");
}

#[conforms::conforms("HK-20.1-3", "HK-20.4-1")]
#[test]
fn authority_is_read_from_events_and_from_no_view() {
    let mut world = World::new(511);
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.crash();
    let views = rusqlite::Connection::open(world.store.path().join("ledger.db")).unwrap();
    let forged = views
        .execute("UPDATE view_approvals SET status = 'granted', resolved_at = requested_at", [])
        .unwrap();
    assert_eq!(forged, 1);
    views
        .execute("UPDATE view_tasks SET open_approvals = 0, profile = 'external_publish_gated'", [])
        .unwrap();
    views.execute("UPDATE view_attempts SET status = 'authorized_pre_exec'", []).unwrap();
    let forged = views.execute(
        "INSERT INTO view_grants SELECT 'grt_forged', 1, task_id, NULL, action_request_id, 'write_local', 'p', 0, \
         9e15, 9, 0, 'active', approval_id, NULL, '{}', '', NULL, NULL FROM view_approvals",
        [],
    );
    assert_eq!(forged.unwrap(), 1);
    drop(views);
    world.take_up().unwrap();
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Approval(approval)));
    assert_eq!(grants(&world, task), []);
    assert!(world.files().is_empty());
}

#[test]
fn what_the_folder_can_tell_is_not_asked_of_a_person() {
    let mut world = World::new(512);
    world.file("a.txt", "a");
    world.file("b.txt", "b");
    let items =
        json!([{ "op": "move", "from": "a.txt", "to": "c.txt" }, { "op": "delete", "path": "b.txt" }]);
    let task = world.script("change", vec![change(items), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    die(&mut world, task, Point::ItemMove, Edge::After);
    assert_eq!(world.files().len(), 2, "half of it was done");
    assert_eq!(world.drive(task), completed(), "the rest follows from what is there");
    assert_eq!(world.files().keys().collect::<Vec<_>>(), ["c.txt"]);
    // Only what the target cannot tell goes to a person.
    let (world, task) = dispatched_and_dead(513);
    world.file("a.txt", "something else");
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::UnknownOutcome));
}

#[test]
fn folders_made_before_the_crash_are_taken_away_again_by_the_undo() {
    for (point, edge) in [(Point::ItemSync, Edge::After), (Point::EffectObserve, Edge::Before)] {
        let mut world = World::new(514);
        world.file("kept/x.txt", "x");
        let items = json!([
            { "op": "write", "path": "made/by/us/a.txt", "content": "a" },
            { "op": "write", "path": "kept/b.txt", "content": "b" },
            { "op": "write", "path": "also/c.txt", "content": "c" },
        ]);
        let task = world.script("change", vec![change(items), done("ok")]);
        let approval = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, approval).unwrap();
        die(&mut world, task, point, edge);
        assert!(world.path("made/by").is_dir(), "it had begun");
        assert_eq!(world.drive(task), completed());
        assert_eq!(world.files().len(), 4);
        let receipt = state(&world, task).receipts.last().unwrap().receipt_id;
        let undo = world.kernel().rollback(receipt, Channel::Cli, "undo".to_owned()).unwrap().task_id;
        assert_eq!(world.drive_allowing(undo).0, completed());
        assert!(
            !world.path("made").exists() && !world.path("also").exists(),
            "{point}: no empty folder stays"
        );
        assert_eq!(world.files().keys().collect::<Vec<_>>(), ["kept/x.txt"]);
        let spool = world.store.path().join("spool");
        let left = std::fs::read_dir(spool).map_or(0, Iterator::count);
        assert_eq!(left, 0, "what it was settled by is not kept for ever");
    }
}
