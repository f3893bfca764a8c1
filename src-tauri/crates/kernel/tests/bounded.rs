//! What bounds the runs of a schedule: a schedule that fails pauses itself and asks, runs that overlap, a run that lasts too long,
//! and how many begin, use what, and when.

use crate::schedules::{DAY, HOUR, MINUTE, begun, keep, now, of, record, slots};
use crate::story::{completed, count, events, log, object, state};
use conforms::conforms;
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Error, Waiting};
use model::approval::ApprovalStatus;
use model::attempt::TerminationReason;
use model::ingress::Channel;
use model::receipt::ResultCode;
use model::schedule::{
    Bounds, CatchUp, DayBudget, Hours, Overlap, PassedOver, Schedule, ScheduleProposer, ScheduleState,
};
use model::task::{Budget, ModelApi, TaskContract, TaskStatus};
use model::{Body, TaskId};
use projections::RunStatus;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use testkit::{World, done, write};

/// A schedule of the world's folder with bounds.
fn bounded(world: &World, said: &str, bounds: Bounds) -> Schedule {
    Schedule { bounds, ..of(world, said, "tidy") }
}

fn row(world: &World, task: TaskId) -> projections::rows::TaskRow {
    world.kernel().query().unwrap().task(task).unwrap().unwrap()
}

/// How often the store says that a slot was passed over for this reason.
fn passed(world: &World, why: PassedOver) -> usize {
    slots(world).values().filter(|what| **what == why.to_string()).count()
}

/// What the receipts of a task's acts say, without those of a person's yes.
fn of_acts(world: &World, task: TaskId) -> Vec<ResultCode> {
    let receipts = state(world, task).receipts.into_iter().map(|receipt| receipt.result_code);
    receipts.filter(|code| *code != ResultCode::Granted).collect()
}

/// Why the run of a task says that it ended.
fn said_at_end(world: &World, task: TaskId) -> String {
    let ended = events(world.kernel(), task).into_iter().rev().find_map(|(_, body)| match body {
        Body::RunTerminated(b) => b.summary.shown().cloned(),
        _ => None,
    });
    ended.expect("it ended")
}

#[test]
fn runs_that_wait_are_known_after_a_hundred_more_times_and_a_new_host() {
    let mut world = World::new(6_401);
    world.file("a.txt", "one");
    keep(&world, of(&world, "every 1 hours", "tidy"), "keep");
    for _ in 0..125 {
        world.clock.advance(HOUR);
        for task in world.kernel().fire_due().unwrap() {
            world.drive_to_approval(task);
        }
    }
    let before = record(&world);
    assert_eq!((before.slots.runs.len(), before.slots.fired), (5, 5));
    world.reopen();
    assert_eq!(record(&world), before, "what is read of its stream is what was folded");
    world.clock.advance(HOUR);
    assert_eq!(world.kernel().fire_due().unwrap(), [], "five wait still");
    assert_eq!(record(&world).slots.last_passed_over.unwrap().1, PassedOver::TooManyWait);
}

#[test]
fn the_third_failure_pauses_it_at_once_and_a_person_is_asked_until_they_say() {
    let mut world = World::new(6_402);
    world.file("a.txt", "one");
    keep(&world, of(&world, "every 1 hours", "tidy"), "keep");
    for failures in 1..=3 {
        world.clock.advance(HOUR);
        let [task] = world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
        let approval = world.drive_to_approval(task);
        world.kernel().run_rested(task).unwrap();
        assert_eq!(record(&world).state(), ScheduleState::Active, "one that waits has not failed");
        world.person.deny(world.kernel(), task, approval, "no").unwrap();
        assert!(matches!(world.drive(task), DriveOutcome::Ended { status: TaskStatus::Failed, .. }));
        world.kernel().run_rested(task).unwrap();
        world.kernel().run_rested(task).unwrap();
        assert_eq!(record(&world).asks(), failures == 3, "{failures}");
    }
    // No time has come since.
    let known = record(&world);
    assert_eq!((known.state(), world.kernel().next_slot()), (ScheduleState::Paused, None));
    assert!(known.why.as_deref().is_some_and(|why| why.contains("failed")), "{:?}", known.why);
    let paused = log(world.kernel()).into_iter().filter(|(_, body)| matches!(body, Body::SchedulePaused(_)));
    assert_eq!(paused.count(), 1, "it is said once");
    world.reopen();
    assert_eq!(world.kernel().schedule_registry().asking(), 1);
    let by_nobody = world.kernel().resume_schedule("morning", Channel::Webhook);
    assert!(matches!(by_nobody, Err(Error::Refused(_))), "{by_nobody:?}");
    world.kernel().resume_schedule("morning", Channel::App).unwrap();
    assert_eq!(world.kernel().schedule_registry().asking(), 0);
    // What failed before counts no more, and who pauses it by hand is not asked.
    let last = record(&world).slots.runs.back().unwrap().task_id;
    world.kernel().run_rested(last).unwrap();
    assert_eq!(record(&world).state(), ScheduleState::Active);
    world.kernel().pause_schedule("morning", "holiday", Channel::Cli).unwrap();
    assert!(!record(&world).asks());
    // A task that no schedule began is of no interest.
    let other = world.script("other", vec![done("ok")]);
    world.drive(other);
    world.kernel().run_rested(other).unwrap();
}

#[test]
fn the_queued_one_begins_when_the_run_before_rests_and_only_one() {
    let world = World::new(6_403);
    let queue = Bounds { overlap: Some(Overlap::Queue), ..Bounds::default() };
    let mut schedule = bounded(&world, "every 1 hours", queue);
    schedule.when.catch_up = CatchUp::Newer(3);
    keep(&world, schedule, "keep");
    let begins = record(&world).next().unwrap().unwrap();
    world.clock.advance(HOUR);
    let [first] = world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
    for _ in 0..4 {
        world.clock.advance(HOUR);
        assert_eq!(world.kernel().fire_due().unwrap(), [], "the first is at work");
        assert_eq!(record(&world).slots.unmade.len(), 1, "one waits for it");
        assert_eq!(world.kernel().next_slot(), None, "and nobody looks before it rests");
    }
    assert_eq!(world.drive(first), completed());
    let [second] = world.kernel().fire_due().unwrap()[..] else { panic!("the one that waited") };
    assert_eq!(state(&world, second).task.scheduled_by.unwrap().slot_at, begins.plus_ms(HOUR));
    // Of those that came meanwhile the newest waits now.
    assert_eq!(world.kernel().fire_due().unwrap(), []);
    assert_eq!(record(&world).slots.unmade, [begins.plus_ms(4 * HOUR)]);
    assert_eq!(passed(&world, PassedOver::StillRunning), 2);
    assert_eq!(world.drive(second), completed());
    let [third] = world.kernel().fire_due().unwrap()[..] else { panic!("the newest") };
    assert_eq!(world.drive(third), completed());
    assert_eq!(begun(&world).len(), 3);
}

#[test]
fn the_older_run_is_ended_for_the_newer_and_its_card_is_withdrawn() {
    let world = World::new(6_404);
    world.file("a.txt", "one");
    let end_older = Bounds { overlap: Some(Overlap::EndOlder), ..Bounds::default() };
    keep(&world, bounded(&world, "every 1 hours", end_older), "keep");
    world.clock.advance(HOUR);
    let [first] = world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
    let approval = world.drive_to_approval(first);
    world.clock.advance(HOUR);
    let [ended, second] = world.kernel().fire_due().unwrap()[..] else { panic!("the older and the newer") };
    assert_eq!(ended, first);
    assert!(matches!(world.drive(first), DriveOutcome::Ended { status: TaskStatus::Cancelled, .. }));
    assert_eq!(state(&world, first).approvals[&approval].approval.status, ApprovalStatus::Cancelled);
    assert_eq!(said_at_end(&world, first), "Stopped: a newer run of its schedule takes its place.");
    // One that is at work is over before the next begins.
    world.clock.advance(HOUR);
    assert_eq!(world.kernel().fire_due().unwrap(), [second]);
    assert_eq!((record(&world).slots.unmade.len(), begun(&world).len()), (1, 2));
    world.drive(second);
    let [third] = world.kernel().fire_due().unwrap()[..] else { panic!("the newest") };
    world.drive_to_approval(third);
    assert_eq!(world.files().len(), 1, "nothing without a yes");
    assert_eq!(
        (passed(&world, PassedOver::StillRunning), row(&world, second).run_status),
        (0, RunStatus::Cancelled)
    );
}

#[conforms("HV-3.5-2")]
#[test]
fn a_run_past_its_time_ends_as_expired_with_its_receipts_and_reports() {
    let mut world = World::new(6_405);
    let ends = Bounds { ends_after_ms: Some(2 * 3_600_000), ..Bounds::default() };
    world.reasoners.script("small", vec![write("a.txt", "a"), write("b.txt", "b"), done("both")]);
    let model = ScheduleProposer::Model {
        api: ModelApi::Openai,
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        model: "small".to_owned(),
        secret: None,
    };
    keep(&world, Schedule { proposer: model, ..bounded(&world, "every day at 8", ends) }, "keep");
    world.clock.advance(DAY);
    let [run] = world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
    let first = world.drive_to_approval(run);
    world.person.allow(world.kernel(), run, first).unwrap();
    let second = world.drive_to_approval(run);
    let deadline = state(&world, run).task.deadline_at.unwrap();
    assert!(deadline <= now(&world).plus_ms(2 * HOUR) && deadline > now(&world).plus_ms(HOUR));
    world.reopen();
    assert_eq!(
        world.kernel().next_instant(now(&world)).unwrap(),
        Some(deadline.plus_ms(1)),
        "its host wakes then"
    );
    assert_eq!(world.kernel().resumable().unwrap(), []);
    world.clock.advance(2 * HOUR);
    assert_eq!(world.kernel().resumable().unwrap(), [run]);
    let DriveOutcome::Ended { status, reason, .. } = world.drive(run) else { panic!("it ends") };
    assert_eq!((status, reason), (TaskStatus::Failed, Some(TerminationReason::Expired)));
    assert_eq!(row(&world, run).run_status, RunStatus::Expired);
    let of_it = state(&world, run);
    assert_eq!(of_it.approvals[&second].approval.status, ApprovalStatus::Cancelled);
    assert_eq!(
        world.files().keys().collect::<Vec<_>>(),
        ["a.txt"],
        "what was done stays, and no more is done"
    );
    assert_eq!(of_acts(&world, run), [ResultCode::Succeeded]);
    let said = said_at_end(&world, run);
    assert!(said.contains("its time was up") && said.contains("receipt"), "{said}");
    let talk = of_it.task.conversation_id;
    let lines = world.kernel().query().unwrap().messages(talk, Some(run), projections::query::Ask::default());
    let told = lines.unwrap().rows.into_iter().any(|line| {
        line.text
            .as_ref()
            .and_then(|text| text.shown().cloned())
            .is_some_and(|text| text.contains("its time was up"))
    });
    assert!(told, "the conversation says so");
}

#[test]
fn a_run_that_is_paused_expires_too_and_one_without_an_end_stays_paused() {
    let world = World::new(6_415);
    let with = allowed_with_deadline(&world);
    let without = world.script("paused", vec![write("c.txt", "c"), done("ok")]);
    world.drive_to_approval(without);
    for task in [with, without] {
        world.kernel().pause(task).unwrap();
        assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Resume));
    }
    let deadline = state(&world, with).task.deadline_at.unwrap();
    assert_eq!(world.kernel().next_instant(now(&world)).unwrap(), Some(deadline.plus_ms(1)));
    assert_eq!(world.kernel().resumable().unwrap(), []);
    world.clock.advance(HOUR + MINUTE);
    assert_eq!(world.kernel().resumable().unwrap(), [with]);
    let DriveOutcome::Ended { reason, .. } = world.drive(with) else { panic!("it ends") };
    assert_eq!(reason, Some(TerminationReason::Expired));
    assert_eq!(row(&world, with).run_status, RunStatus::Expired);
    assert!(world.files().is_empty(), "nothing was begun for that");
    assert_eq!(state(&world, without).task.status, TaskStatus::Paused);
}

/// A task of a person that has a deadline an hour from now, and whose first act a person allowed.
fn allowed_with_deadline(world: &World) -> TaskId {
    world.reasoners.script("write", vec![write("a.txt", "a"), write("b.txt", "b"), done("ok")]);
    let mut submission: Submission =
        world.submission("write", Reasoning::Scripted { name: "write".to_owned() });
    submission.deadline_at = Some(now(world).plus_ms(HOUR));
    let task = world.kernel().submit(&submission).unwrap().task_id;
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    task
}

#[conforms(part = "HV-3.5-2")]
#[test]
fn a_command_under_way_is_stopped_at_the_deadline() {
    let world = World::new(6_406);
    let task = allowed_with_deadline(&world);
    world.oracle.tells(|stop, _| {
        let since = Instant::now();
        while !stop() {
            assert!(since.elapsed() < Duration::from_secs(300), "nobody stops it");
            std::thread::yield_now();
        }
    });
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let since = Instant::now();
            while count(world.kernel(), task, "effect.dispatched") == 0 {
                assert!(since.elapsed() < Duration::from_secs(300), "it never begins");
                std::thread::yield_now();
            }
            let deadline = state(&world, task).task.deadline_at.unwrap();
            let wakes = world.kernel().next_instant(now(&world)).unwrap();
            assert_eq!(wakes, Some(deadline.plus_ms(1)), "the clock of its host is woken then");
            world.kernel().resumable().unwrap();
            world.clock.advance(HOUR + MINUTE);
            assert_eq!(world.kernel().next_instant(now(&world)).unwrap(), None, "and once");
            world.kernel().resumable().unwrap();
        });
        let DriveOutcome::Ended { reason, .. } = world.drive(task) else { panic!("it ends") };
        assert_eq!(reason, Some(TerminationReason::Expired));
    });
    assert_eq!(row(&world, task).run_status, RunStatus::Expired);
    let [result] = of_acts(&world, task)[..] else { panic!("what was under way has its receipt") };
    assert_ne!(result, ResultCode::UnknownOutcome);
    assert!(!world.files().contains_key("b.txt"), "nothing further was begun");
}

#[test]
fn no_more_than_so_many_begin_in_an_hour_however_many_are_made_up_for() {
    let world = World::new(6_407);
    let two = Bounds { per_hour_max: Some(2), ..Bounds::default() };
    let mut schedule = bounded(&world, "every 10 minutes", two);
    schedule.when.catch_up = CatchUp::Newer(5);
    keep(&world, schedule, "keep");
    let all = |world: &World| {
        for _ in 0..10 {
            for task in world.kernel().fire_due().unwrap() {
                assert_eq!(world.drive(task), completed());
            }
        }
    };
    world.clock.advance(5 * HOUR);
    all(&world);
    assert_eq!((begun(&world).len(), record(&world).slots.unmade.len()), (2, 0));
    assert_eq!(passed(&world, PassedOver::TooOften), 3, "each is on record");
    world.clock.advance(10 * MINUTE);
    all(&world);
    assert_eq!(begun(&world).len(), 2);
    world.clock.advance(HOUR);
    all(&world);
    assert_eq!(begun(&world).len(), 4, "an hour later they begin again");
}

#[test]
fn a_day_that_is_spent_passes_the_rest_over_and_the_next_day_goes_on() {
    let mut world = World::new(6_408);
    let day = DayBudget { runs_max: Some(3), iterations_max: Some(24), ..DayBudget::default() };
    keep(&world, bounded(&world, "every 1 hours", Bounds { day: Some(day), ..Bounds::default() }), "keep");
    let mut by_day: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    for hour in 0..72 {
        world.clock.advance(HOUR);
        if hour % 10 == 0 {
            world.reopen();
        }
        for task in world.kernel().fire_due().unwrap() {
            let of_it = state(&world, task);
            let contract: TaskContract = object(world.kernel(), &of_it, of_it.task.task_contract_ref);
            assert_eq!(world.drive(task), completed());
            let at = row(&world, task).created_at.0.div_euclid(DAY);
            by_day.entry(at).or_default().push(contract.budget.iterations_max);
        }
    }
    let whole: Vec<&Vec<u32>> = by_day.values().skip(1).take(2).collect();
    assert_eq!(whole.iter().map(|runs| runs.len()).collect::<Vec<_>>(), [3, 3], "{by_day:?}");
    assert!(by_day.values().all(|runs| runs.len() <= 3), "{by_day:?}");
    assert!(passed(&world, PassedOver::DaySpent) > 30, "{by_day:?}");
    // Each run may use what the day leaves, and no more than its own.
    for runs in whole {
        assert_eq!(runs[0], Budget::default().iterations_max);
        assert!(runs[1] < runs[0] && runs[2] < runs[1], "{by_day:?}");
    }
}

#[test]
fn a_run_begins_in_its_hours_and_by_its_delay_and_not_otherwise() {
    let world = World::new(6_409);
    let hours = Hours { from: 8 * 60, until: 10 * 60, zone: "UTC".to_owned() };
    let mut schedule =
        bounded(&world, "every 30 minutes", Bounds { hours: Some(hours), ..Bounds::default() });
    schedule.when.jitter_ms = Some(600_000);
    keep(&world, schedule, "keep");
    let delay = record(&world).delay_ms();
    assert!((1..600_000).contains(&delay), "{delay}");
    let mut begun_at = Vec::new();
    let end = now(&world).plus_ms(2 * DAY);
    while now(&world) < end {
        let (next, at) = (record(&world).next().unwrap().unwrap(), world.kernel().next_slot().unwrap());
        assert_eq!(at, next.plus_ms(delay));
        world.clock.advance(at.0 - now(&world).0 - MINUTE);
        assert_eq!(world.kernel().fire_due().unwrap(), [], "not before its delay");
        world.clock.advance(MINUTE);
        for task in world.kernel().fire_due().unwrap() {
            assert_eq!(
                state(&world, task).task.scheduled_by.unwrap().slot_at,
                next,
                "the slot is as the rule says"
            );
            assert_eq!(world.drive(task), completed());
            begun_at.push(at.0.rem_euclid(DAY));
        }
    }
    assert!((7..=9).contains(&begun_at.len()), "{begun_at:?}");
    assert!(begun_at.iter().all(|at| (8 * HOUR..10 * HOUR).contains(at)), "{begun_at:?}");
    assert!(passed(&world, PassedOver::OutsideHours) > 60);
}

#[test]
fn a_bound_that_cannot_be_meant_is_refused_with_words_and_nothing_is_asked() {
    let world = World::new(6_410);
    let refused = |bounds: Bounds, jitter_ms: Option<u64>| {
        let mut schedule = bounded(&world, "every 1 hours", bounds);
        schedule.when.jitter_ms = jitter_ms;
        let by = (Channel::App, "wrong".to_owned());
        world.kernel().propose_schedule(schedule, "UTC", by).unwrap_err().to_string()
    };
    let none = Bounds::default;
    let hours = |zone: &str| Some(Hours { from: 1, until: 2, zone: zone.to_owned() });
    assert!(refused(Bounds { per_hour_max: Some(21), ..none() }, None).contains("within an hour"));
    assert!(refused(Bounds { ends_after_ms: Some(1), ..none() }, None).contains("a minute to seven days"));
    assert!(refused(Bounds { hours: hours("Atlantis"), ..none() }, None).contains("Atlantis"));
    assert!(refused(none(), Some(3_600_001)).contains("an hour later"));
    assert!(refused(Bounds { day: Some(DayBudget::default()), ..none() }, None).contains("budget of a day"));
    assert_eq!(begun(&world), []);
    assert_eq!(world.kernel().next_slot(), None);
}

#[test]
fn a_run_that_waits_holds_no_later_one_up_where_a_time_that_overlaps_is_queued() {
    let world = World::new(6_411);
    world.file("a.txt", "one");
    let queue = Bounds { overlap: Some(Overlap::Queue), ..Bounds::default() };
    keep(&world, bounded(&world, "every 1 hours", queue), "keep");
    for _ in 0..2 {
        world.clock.advance(HOUR);
        let [run] = world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
        assert!(matches!(world.drive(run), DriveOutcome::Waiting(Waiting::Approval(_))));
    }
    assert_eq!(begun(&world).len(), 2);
}
