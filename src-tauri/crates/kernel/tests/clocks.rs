//! Clocks that are set: ahead by mistake, back to what is right, while something is under way or waits.

use crate::story::{completed, count, die, events, state};
use kernel::DriveOutcome;
use model::Body;
use model::attempt::AttemptStatus;
use model::fault::Point;
use model::receipt::ResultCode;
use model::task::TaskStatus;
use seal::Signer as _;
use serde_json::json;
use testkit::{Edge, World, change, done, write};

const HOUR: i64 = 3_600_000;
/// A machine that booted once with another year.
const YEARS: i64 = 10 * 365 * 24 * HOUR;

/// A world whose host died an hour, or years, ahead, with one of two files made; the clock is right again.
fn broken_off_ahead(ahead: i64) -> (World, model::TaskId) {
    let mut world = World::new(601);
    let items = json!([
        { "op": "write", "path": "a.txt", "content": "a" },
        { "op": "write", "path": "b.txt", "content": "b" },
    ]);
    let task = world.script("write", vec![change(items), done("ok")]);
    world.clock.advance(ahead);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    die(&mut world, task, Point::ItemRename, Edge::After);
    assert_eq!(world.files().len(), 1, "one of two");
    world.clock.advance(-ahead - HOUR);
    (world, task)
}

#[test]
fn an_act_that_broke_off_under_a_clock_that_was_ahead_is_concluded_by_looking() {
    for ahead in [HOUR, YEARS] {
        let (world, task) = broken_off_ahead(ahead);
        assert_eq!(world.drive(task), completed());
        assert_eq!(world.files().len(), 1, "what nobody can tell to be allowed still is not done");
        assert_eq!(count(world.kernel(), task, "effect.dispatched"), 1);
        let partial = state(&world, task).receipts.iter().any(|r| r.result_code == ResultCode::Partial);
        assert!(partial, "a receipt says what was done and what was not");
        let times: Vec<i64> = events(world.kernel(), task).iter().map(|(e, _)| e.occurred_at.0).collect();
        assert!(times.is_sorted(), "no task tells that it was done before it was asked for");
    }
}

#[test]
fn a_cancel_ends_a_task_whose_act_broke_off_under_a_clock_that_was_ahead() {
    let (world, task) = broken_off_ahead(YEARS);
    world.kernel().cancel(task, "enough").unwrap();
    assert!(matches!(world.drive(task), DriveOutcome::Ended { status: TaskStatus::Cancelled, .. }));
    assert!(state(&world, task).receipts.iter().any(|r| r.result_code == ResultCode::Partial));
}

#[test]
fn a_yes_that_was_given_ahead_is_used() {
    for ahead in [HOUR, YEARS] {
        let mut world = World::new(602);
        let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
        world.clock.advance(ahead);
        let approval = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, approval).unwrap();
        die(&mut world, task, Point::EffectDispatch, Edge::Before);
        world.clock.advance(-ahead);
        assert_eq!(world.drive(task), completed());
        assert_eq!(world.files()["a.txt"], b"a");
    }
}

#[test]
fn a_question_that_was_put_ahead_is_answered_with_yes_or_no_or_by_a_cancel() {
    for answer in ["yes", "no", "cancel"] {
        let mut world = World::new(603);
        let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
        world.clock.advance(YEARS);
        let approval = world.drive_to_approval(task);
        world.clock.advance(-YEARS);
        world.reopen();
        assert!(matches!(world.drive(task), DriveOutcome::Waiting(_)));
        match answer {
            "yes" => {
                world.person.allow(world.kernel(), task, approval).unwrap();
                assert_eq!(world.drive(task), completed());
                assert_eq!(world.files()["a.txt"], b"a");
            }
            "no" => {
                world.person.deny(world.kernel(), task, approval, "no").unwrap();
                world.drive(task);
                assert!(world.files().is_empty());
                let denied = |(_, body): &(_, Body)| matches!(body, Body::ApprovalDenied(_));
                assert!(events(world.kernel(), task).iter().any(denied));
            }
            _ => {
                world.kernel().cancel(task, "enough").unwrap();
                assert!(matches!(
                    world.drive(task),
                    DriveOutcome::Ended { status: TaskStatus::Cancelled, .. }
                ));
            }
        }
    }
}

#[test]
fn what_was_observed_ahead_and_not_receipted_gets_its_receipt() {
    let world = World::new(604);
    let script = vec![write("a.txt", "a"), write("b.txt", "b"), done("ok")];
    let task = world.script("write", script);
    // The first outcome is recorded ahead, the second behind it by the clock: both wait for the key.
    for (ahead, file) in [(YEARS, "a.txt"), (-YEARS, "b.txt")] {
        world.clock.advance(ahead);
        let approval = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, approval).unwrap();
        world.keys.lock(true);
        assert_eq!(world.drive(task), DriveOutcome::KeyLocked);
        assert_eq!(state(&world, task).attempt().unwrap().attempt.status, AttemptStatus::ReceiptPending);
        world.keys.lock(false);
        if file == "b.txt" {
            assert_eq!(world.drive(task), completed());
        }
    }
    // Each act has its receipt.
    let told: Vec<String> = state(&world, task)
        .receipts
        .iter()
        .map(|r| {
            let envelope = world.kernel().artifacts().read(&r.envelope.sha256).unwrap();
            let envelope = seal::dsse::Envelope::parse(&envelope).unwrap();
            let payload = seal::dsse::verify(&envelope, &world.keys.receipt_signer().public()).unwrap();
            String::from_utf8(payload).unwrap()
        })
        .filter(|receipt| receipt.contains("\"receipt_class\":\"tool_execution\""))
        .collect();
    assert_eq!(told.len(), 2);
    assert_eq!(world.files().len(), 2);
}

#[test]
fn one_excursion_of_the_clock_does_not_close_the_gate() {
    let world = World::new(605);
    for (name, jump) in [("a.txt", 20 * 60_000), ("b.txt", -20 * 60_000), ("c.txt", -YEARS), ("d.txt", YEARS)]
    {
        let task = world.script(name, vec![write(name, "x"), done("ok")]);
        world.clock.advance(jump);
        let approval = world.drive_to_approval(task);
        world.person.allow(world.kernel(), task, approval).unwrap();
        assert_eq!(world.drive(task), completed(), "{name}");
    }
    assert_eq!(world.files().len(), 4);
    let entries = world.kernel().reader().gate_entries(0, 10_000).unwrap();
    assert!(!entries.is_empty());
}

/// What goes on at this time, as a host would find it.
fn resumable_at(world: &World, at: i64) -> Vec<model::TaskId> {
    use model::Clock as _;
    world.clock.advance(at - world.clock.now().0);
    world.kernel().resumable().unwrap()
}

#[test]
fn the_next_instant_is_the_one_at_which_a_task_goes_on_by_time_alone() {
    let world = World::new(611);
    let kernel = world.kernel();
    let began = model::UnixMs(0);
    assert_eq!(kernel.next_instant(began).unwrap(), None, "nothing waits");
    let asks = world.script("asks", vec![testkit::say("ask", json!({ "question": "which?" })), done("ok")]);
    let writes = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    world.reasoners.script("late", vec![testkit::say("ask", json!({ "question": "how?" })), done("ok")]);
    let mut late =
        world.submission("late", kernel::command::submit::Reasoning::Scripted { name: "late".into() });
    let deadline = state(&world, writes).latest.plus_ms(HOUR);
    late.deadline_at = Some(deadline);
    let late = kernel.submit(&late).unwrap().task_id;
    for task in [asks, late] {
        assert!(matches!(world.drive(task), DriveOutcome::Waiting(_)));
    }
    let approval = world.drive_to_approval(writes);
    let lapses = state(&world, writes).approvals[&approval].approval.expires_at;
    let question = state(&world, asks).clarifications.values().next().unwrap().expires_at;
    assert!(deadline < question && question < lapses);
    // From each instant on one more goes on, and not a moment before.
    for (instant, task) in [(deadline, late), (question, asks), (lapses, writes)] {
        let next = kernel.next_instant(began).unwrap().unwrap();
        assert_eq!(next, instant.plus_ms(1));
        assert_eq!(kernel.next_instant(next.plus_ms(-1)).unwrap(), Some(next));
        assert_ne!(kernel.next_instant(next).unwrap(), Some(next), "what has come is not named again");
        assert!(resumable_at(&world, instant.0 - 1_000).is_empty());
        assert_eq!(resumable_at(&world, instant.0 + 1), [task]);
        assert!(matches!(world.drive(task), DriveOutcome::Ended { .. }), "it goes on to its end");
    }
    assert_eq!(kernel.next_instant(began).unwrap(), None, "what has ended waits for no time");
}

#[test]
fn a_question_that_nobody_answers_in_time_ends_the_run_and_the_model_is_not_asked_again() {
    let mut world = World::new(613);
    let task =
        world.script("asks", vec![testkit::say("ask", json!({ "question": "which?" })), done("guessed")]);
    world.drive(task);
    let asked = state(&world, task).clarifications.values().next().unwrap().expires_at;
    assert_eq!(resumable_at(&world, asked.0 + 1), [task]);
    let ended = world.drive(task);
    let expired = Some(model::attempt::TerminationReason::Expired);
    assert!(matches!(ended, DriveOutcome::Ended { reason, .. } if reason == expired), "{ended:?}");
    assert_eq!(count(world.kernel(), task, "attempt.model_requested"), 1, "nobody guesses for the person");
    let (views, fresh) = crate::story::rebuilt(&mut world);
    assert_eq!(views, fresh);
}

#[test]
fn a_task_that_is_paused_waits_for_no_instant() {
    let world = World::new(612);
    let kernel = world.kernel();
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    world.drive_to_approval(task);
    assert!(kernel.next_instant(model::UnixMs(0)).unwrap().is_some());
    kernel.pause(task).unwrap();
    world.drive(task);
    assert_eq!(kernel.next_instant(model::UnixMs(0)).unwrap(), None);
}
