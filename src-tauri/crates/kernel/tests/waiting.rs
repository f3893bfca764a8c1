//! How long a schedule that waits for no time is looked at: until nothing can come any more, and no more often than a run may begin.

use crate::schedules::{HOUR, MINUTE, begun, keep, now, of, record};
use crate::story::completed;
use kernel::ports::Surroundings;
use model::TaskId;
use model::schedule::{Bounds, CatchUp, Condition, Overlap, PassedOver, Schedule, ScheduleState};
use testkit::World;

/// A schedule of the world's folder that waits for what is said.
pub fn waits(world: &World, said: &str) -> Schedule {
    let (rule, on) = schedule::said(said, "UTC", now(world)).unwrap();
    let mut schedule = of(world, "every day at 8", "tidy");
    schedule.said = said.to_owned();
    (schedule.when.rule, schedule.on) = (rule, on);
    schedule
}

/// What begins when it is looked now.
pub fn looks(world: &World) -> Vec<TaskId> {
    world.kernel().look_due().unwrap();
    world.kernel().fire_due().unwrap()
}

/// A run is cancelled and has rested.
pub fn over(world: &World, run: TaskId) {
    world.kernel().cancel(run, "enough").unwrap();
    world.drive(run);
    world.kernel().run_rested(run).unwrap();
}

#[test]
fn one_that_waits_for_a_task_is_over_when_that_has_ended_whichever_way() {
    for (said, is_done) in [("is done", true), ("is done", false), ("fails", true)] {
        let mut world = World::new(6_821);
        let task = world.script("look", vec![testkit::done("looked")]);
        keep(&world, waits(&world, &format!("when {task} {said}")), "keep");
        assert_eq!((looks(&world), record(&world).state()), (vec![], ScheduleState::Active));
        if is_done {
            assert_eq!(world.drive(task), completed());
        } else {
            world.kernel().cancel(task, "enough").unwrap();
            world.drive(task);
        }
        world.kernel().run_rested(task).unwrap();
        let runs = usize::from(said == "is done" && is_done);
        assert_eq!(looks(&world).len(), runs, "{said} {is_done}");
        for _ in 0..2 {
            assert_eq!((record(&world).state(), world.kernel().next_look()), (ScheduleState::Over, None));
            assert_eq!((looks(&world), begun(&world).len()), (vec![], runs));
            world.reopen();
        }
    }
}

#[test]
fn one_that_may_begin_no_run_is_looked_at_when_it_may_and_not_each_minute() {
    let world = World::new(6_822);
    let bounds = Bounds { per_hour_max: Some(1), ..Bounds::default() };
    keep(&world, Schedule { bounds, ..waits(&world, "when a file lands here") }, "keep");
    assert_eq!(looks(&world), []);
    world.file("a.txt", "a");
    let looked = |world: &World| {
        world.kernel().want_look("morning", now(world));
        looks(world)
    };
    assert_eq!(looked(&world), []);
    world.clock.advance(2_000);
    let [run] = looked(&world)[..] else { panic!("one task") };
    world.kernel().cancel(run, "enough").unwrap();
    world.drive(run);
    world.kernel().run_rested(run).unwrap();
    world.file("b.txt", "b");
    assert_eq!(looked(&world), []);
    let next = world.kernel().next_look().unwrap();
    assert!(next > now(&world).plus_ms(30 * MINUTE) && next <= now(&world).plus_ms(HOUR), "{next:?}");
    world.clock.advance(next.0 - now(&world).0);
    let mut runs = Vec::new();
    for _ in 0..4 {
        runs.extend(looks(&world));
        world.clock.advance(2_000);
    }
    assert_eq!(runs.len(), 1, "nothing was lost");
}

#[test]
fn a_time_whose_condition_does_not_hold_is_skipped_with_its_reason_or_waits_as_long_as_it_may_be_late() {
    let world = World::new(6_823);
    let mains = |is| {
        *world.surroundings.lock().unwrap() = Surroundings { on_mains: Some(is), ..Surroundings::default() };
    };
    let over = |run| over(&world, run);
    let last = || record(&world).slots.last_passed_over.map(|(_, why)| why);
    let only = Bounds { only: vec![Condition::Mains, Condition::Network], ..Bounds::default() };
    let hourly = || Schedule { bounds: only.clone(), ..of(&world, "every 1 hours", "tidy") };
    keep(&world, hourly(), "keep");
    world.clock.advance(HOUR);
    let [run] = looks(&world)[..] else { panic!("what nobody can tell holds nothing back") };
    over(run);
    mains(false);
    world.clock.advance(HOUR);
    assert_eq!((looks(&world), last()), (vec![], Some(PassedOver::OnBattery)));
    mains(true);
    assert_eq!(looks(&world), [], "it was skipped");
    world.clock.advance(HOUR);
    let [run] = looks(&world)[..] else { panic!("one run") };
    over(run);

    let mut late = hourly();
    late.when.grace_ms = Some(30 * 60_000);
    keep(&world, late, "change");
    let passed_over = record(&world).slots.passed_over;
    mains(false);
    world.clock.advance(HOUR);
    assert_eq!(looks(&world), []);
    assert!(world.kernel().next_slot().unwrap() > now(&world), "it is not asked all the time");
    assert_eq!(record(&world).slots.passed_over, passed_over, "it may still begin");
    world.clock.advance(10 * MINUTE);
    mains(true);
    let [run] = looks(&world)[..] else { panic!("it is on mains power within the grace") };
    over(run);
    mains(false);
    world.clock.advance(50 * MINUTE);
    assert_eq!(looks(&world), []);
    world.clock.advance(31 * MINUTE);
    mains(true);
    assert_eq!((looks(&world), last()), (vec![], Some(PassedOver::TooLate)));

    late_behind_another(&world, hourly);
}

/// The same of one that waits for the run before it, and of one that is skipped where it is missed: it was seen in time.
fn late_behind_another(world: &World, hourly: impl Fn() -> Schedule) {
    let mains = |is| {
        *world.surroundings.lock().unwrap() = Surroundings { on_mains: Some(is), ..Surroundings::default() };
    };
    let mut queued = hourly();
    (queued.bounds.overlap, queued.when.grace_ms) = (Some(Overlap::Queue), Some(90 * 60_000));
    keep(world, queued, "queue");
    world.clock.advance(HOUR);
    let [first] = looks(world)[..] else { panic!("one run") };
    world.clock.advance(HOUR);
    assert_eq!((looks(world), record(world).slots.unmade.len()), (vec![], 1));
    let passed_over = record(world).slots.passed_over;
    mains(false);
    over(world, first);
    assert_eq!((looks(world), record(world).slots.unmade.len()), (vec![], 1));
    assert!(world.kernel().next_slot().unwrap() > now(world), "it is not asked all the time");
    world.clock.advance(10 * MINUTE);
    assert_eq!((looks(world), record(world).slots.passed_over), (vec![], passed_over));
    mains(true);
    world.clock.advance(10 * MINUTE);
    let [second] = looks(world)[..] else { panic!("it is on mains power within the grace") };
    over(world, second);

    let mut skips = hourly();
    (skips.when.grace_ms, skips.when.catch_up) = (Some(30 * 60_000), CatchUp::Skip);
    keep(world, skips, "skip");
    mains(false);
    world.clock.advance(HOUR);
    assert_eq!(looks(world), []);
    world.clock.advance(20 * MINUTE);
    mains(true);
    assert_eq!(looks(world).len(), 1, "{:?}", record(world).slots.last_passed_over);
}

#[test]
fn a_run_is_held_back_by_a_low_battery_by_who_is_at_the_computer_and_by_a_metered_network() {
    let none = Surroundings::default;
    let only = |one| Bounds { only: vec![one], ..Bounds::default() };
    let above = Bounds { battery_above: Some(30), ..Bounds::default() };
    let battery = |percent| Surroundings { battery_percent: Some(percent), ..none() };
    let idle = |is| Surroundings { is_idle: Some(is), ..none() };
    let unmetered = |is| Surroundings { is_unmetered: Some(is), ..none() };
    for (seed, bounds, held, free, why) in [
        (6_841, above.clone(), battery(30), battery(31), PassedOver::BatteryLow),
        (6_842, above, battery(1), none(), PassedOver::BatteryLow),
        (6_843, only(Condition::Idle), idle(false), idle(true), PassedOver::InUse),
        (6_844, only(Condition::Unmetered), unmetered(false), unmetered(true), PassedOver::Metered),
    ] {
        let world = World::new(seed);
        keep(&world, Schedule { bounds, ..of(&world, "every 1 hours", "tidy") }, "keep");
        *world.surroundings.lock().unwrap() = held;
        world.clock.advance(HOUR);
        let last = || record(&world).slots.last_passed_over.map(|(_, why)| why);
        assert_eq!((looks(&world), last()), (vec![], Some(why)));
        *world.surroundings.lock().unwrap() = free;
        world.clock.advance(HOUR);
        assert_eq!(looks(&world).len(), 1, "{why}");
    }
}
