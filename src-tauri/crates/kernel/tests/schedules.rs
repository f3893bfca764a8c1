//! Schedules: kept by a person's yes, each slot settled once and on record, each that fires made into one task, wherever a host
//! dies and however long none was there.

use crate::story::{completed, count, log, rebuilt, state};
use conforms::conforms;
use kernel::schedule_registry::ScheduleRecord;
use kernel::sender::Sender;
use kernel::{DriveOutcome, Error, Waiting};
use model::fault::Point;
use model::ingress::Channel;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::schedule::{
    Bounds, CatchUp, PassedOver, Schedule, ScheduleProposer, ScheduleState, Settled, When,
};
use model::task::{Budget, Origin, TaskStatus};
use model::{Body, ConversationId, TaskId, UnixMs};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::{Edge, Mode, World};

pub const MINUTE: i64 = 60_000;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

pub fn now(world: &World) -> UnixMs {
    world.kernel().ports().clock.now()
}

/// A schedule of a shipped playbook in the folder of the world.
pub fn of(world: &World, said: &str, playbook: &str) -> Schedule {
    let root = world.folder.path().canonicalize().unwrap();
    let text = reasoning::Playbook::shipped().into_iter().find(|p| p.name() == playbook).unwrap();
    Schedule {
        name: "morning".to_owned(),
        said: said.to_owned(),
        when: When {
            rule: schedule::parse(said, "Europe/Berlin", now(world)).unwrap(),
            catch_up: CatchUp::Newest,
            grace_ms: None,
            jitter_ms: None,
        },
        goal: format!("Run the playbook {playbook}"),
        workspace_id: world.kernel().workspace(&root).unwrap(),
        folder: root.display().to_string(),
        proposer: ScheduleProposer::Playbook {
            name: playbook.to_owned(),
            text: text.text().to_owned(),
            parameters: BTreeMap::new(),
        },
        profile: Profile::LocalEditAllowed,
        budget: Budget::default(),
        conversation_id: None,
        bounds: Bounds::default(),
        on: None,
        quiet: false,
    }
}

fn asked(world: &World, schedule: Schedule, key: &str) -> TaskId {
    let by = (Channel::App, key.to_owned());
    world.kernel().propose_schedule(schedule, "Europe/Berlin", by).unwrap().task_id
}

pub fn keep(world: &World, schedule: Schedule, key: &str) {
    let task = asked(world, schedule, key);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
}

pub fn record(world: &World) -> ScheduleRecord {
    world.kernel().schedule_registry().0["morning"].clone()
}

/// Every slot that the store says something of, with what; a slot that stands twice fails the test.
pub fn slots(world: &World) -> BTreeMap<i64, String> {
    let mut told = BTreeMap::new();
    let mut settled = i64::MIN;
    for (_, body) in log(world.kernel()) {
        if let Body::ScheduleNotBegun(b) = &body {
            let before = told.insert(b.slot_at.0, b.why.to_string());
            assert_eq!(before.as_deref(), Some("fires"), "only what was to fire is not begun");
        }
        let Body::ScheduleSettled(b) = body else { continue };
        assert!(b.since.0 >= settled && b.until.0 >= b.since.0, "spans do not overlap");
        settled = b.until.0;
        for one in b.settled {
            let said: Vec<(i64, String)> = match one {
                Settled::Fires(slot) => vec![(slot.at.0, "fires".to_owned())],
                Settled::PassedOver { first, until, slots, why } => {
                    let all = schedule::slots(&record(world).when.rule, UnixMs(first.0 - 1)).unwrap();
                    let all: Vec<i64> = all.map(|slot| slot.at.0).take_while(|at| *at <= until.0).collect();
                    assert_eq!(slots, Some(all.len() as u64));
                    all.into_iter().map(|at| (at, why.to_string())).collect()
                }
            };
            for (at, what) in said {
                assert_eq!(told.insert(at, what), None, "slot {at} is told of twice");
            }
        }
    }
    told
}

pub fn due(world: &World, since: UnixMs) -> Vec<i64> {
    let all = schedule::slots(&record(world).when.rule, since).unwrap();
    all.map(|slot| slot.at.0).take_while(|at| *at <= now(world).0).collect()
}

/// Tasks that the scheduler began.
pub fn begun(world: &World) -> Vec<TaskId> {
    let created = log(world.kernel()).into_iter().filter_map(|(_, body)| match body {
        Body::TaskCreated(b) if b.task.origin() == Origin::Scheduler => Some(b.task.task_id),
        _ => None,
    });
    created.collect()
}

#[conforms(part = "HK-22-3")]
#[conforms(part = "HK-10.1-1")]
#[test]
fn nothing_is_scheduled_before_a_yes_and_then_each_slot_is_one_task_that_asks_as_always() {
    let world = World::new(6_101);
    world.file("a.txt", "one");
    let task = asked(&world, of(&world, "every day at 8", "tidy"), "keep");
    let approval = world.drive_to_approval(task);
    world.clock.advance(3 * DAY);
    assert_eq!(world.kernel().fire_due().unwrap(), []);
    assert!(world.kernel().schedule_registry().0.is_empty(), "nothing before the yes");
    world.person.deny(world.kernel(), task, approval, "no").unwrap();
    world.drive(task);
    assert!(world.kernel().schedule_registry().0.is_empty());

    keep(&world, of(&world, "every day at 8", "tidy"), "again");
    let since = record(&world).settled();
    assert_eq!(world.kernel().fire_due().unwrap(), [], "its first time is still to come");
    world.clock.advance(record(&world).next().unwrap().unwrap().0 - now(&world).0);
    let [first] = world.kernel().fire_due().unwrap()[..] else { panic!("one task") };
    assert_eq!(world.kernel().fire_due().unwrap(), [], "a slot fires once");
    let of_it = state(&world, first);
    assert_eq!(
        (of_it.task.origin(), of_it.task.policy_profile_ref),
        (Origin::Scheduler, Profile::LocalEditAllowed)
    );
    // It asks, and the next time is not held up by that.
    world.drive_to_approval(first);
    assert_eq!(world.files().len(), 1, "nothing without a yes");
    world.clock.advance(DAY);
    let second = world.kernel().fire_due().unwrap();
    assert_eq!(second.len(), 1);
    assert_eq!(
        record(&world).slots.runs.iter().map(|run| run.task_id).collect::<Vec<_>>(),
        [first, second[0]]
    );
    assert_eq!(slots(&world).into_keys().collect::<Vec<_>>(), due(&world, since));
}

#[test]
fn a_schedule_that_is_never_due_or_over_or_the_same_is_refused_with_words() {
    let world = World::new(6_102);
    let wrong = |mut schedule: Schedule, change: fn(&mut Schedule)| {
        change(&mut schedule);
        let by = (Channel::App, "wrong".to_owned());
        world.kernel().propose_schedule(schedule, "UTC", by).unwrap_err().to_string()
    };
    let once = of(&world, "in 1 hour", "tidy");
    world.clock.advance(2 * HOUR);
    assert!(wrong(once, |_| {}).contains("gone by"));
    let daily = || of(&world, "every day at 8", "tidy");
    assert!(wrong(daily(), |s| s.goal = String::new()).contains("goal"));
    assert!(wrong(daily(), |s| s.name = "Each Morning".to_owned()).contains("name"));
    assert!(wrong(daily(), |s| s.when.catch_up = CatchUp::Newer(0)).contains("at least one"));
    keep(&world, daily(), "keep");
    assert!(wrong(daily(), |_| {}).contains("so already"));
    assert!(matches!(
        world.kernel().pause_schedule("evening", "", Channel::Cli),
        Err(Error::NotFound { .. })
    ));
}

#[test]
fn a_simulated_month_with_hosts_that_come_and_go_tells_of_each_slot_once() {
    let mut world = World::new(6_103);
    keep(&world, of(&world, "30 2,8 * * *", "tidy"), "keep");
    let since = record(&world).settled();
    let mut fired = BTreeSet::new();
    for look in 0_i64..60 {
        // Half a day, or a week-end off, or a clock that was set back by two hours.
        world.clock.advance(match look % 9 {
            4 => 3 * DAY,
            7 => -2 * HOUR,
            _ => 13 * HOUR,
        });
        if look % 5 == 0 {
            world.reopen();
        }
        for task in world.kernel().fire_due().unwrap() {
            assert!(fired.insert(task), "{task} began twice");
            world.drive(task);
        }
    }
    world.clock.advance(2 * HOUR);
    fired.extend(world.kernel().fire_due().unwrap());
    let told = slots(&world);
    assert_eq!(told.keys().copied().collect::<Vec<_>>(), due(&world, since), "no slot is silent");
    assert_eq!(told.values().filter(|what| *what == "fires").count(), fired.len());
    assert!(told.values().any(|what| what == "newer"), "{told:?}");
    assert_eq!(begun(&world).len(), fired.len());
    let (before, after) = rebuilt(&mut world);
    assert_eq!(before, after);
}

#[test]
fn wherever_a_host_dies_between_slot_and_task_the_slot_is_neither_lost_nor_doubled() {
    let points = [
        Point::ScheduleSettle,
        Point::IngressReceive,
        Point::IngressBind,
        Point::TaskStart,
        Point::ScheduleFire,
    ];
    let mut reached = 0;
    for point in points {
        for edge in [Edge::Before, Edge::After] {
            for mode in [Mode::Abort, Mode::Error] {
                let mut world = World::new(6_104);
                keep(&world, of(&world, "every day at 8", "tidy"), "keep");
                world.clock.advance(DAY);
                world.faults.plan(point, edge, mode, 1);
                let died = catch_unwind(AssertUnwindSafe(|| world.kernel().fire_due()));
                if !world.faults.fired() {
                    assert_eq!(point, Point::TaskStart, "{point} was not passed: {died:?}");
                    continue;
                }
                reached += 1;
                world.faults.clear();
                world.reopen();
                world.clock.advance(MINUTE);
                world.kernel().fire_due().unwrap();
                assert_eq!(world.kernel().fire_due().unwrap(), []);
                assert_eq!(begun(&world).len(), 1, "{point} {edge:?} {mode:?}");
                let known = record(&world);
                assert_eq!(
                    (known.slots.fired, known.slots.runs.len(), known.slots.unmade.len()),
                    (1, 1, 0),
                    "{point} {edge:?}"
                );
                assert_eq!(known.slots.runs[0].task_id, begun(&world)[0]);
            }
        }
    }
    assert!(reached >= 16, "{reached}");
}

#[test]
fn what_a_person_pauses_passes_on_record_and_what_they_change_or_remove_fires_no_more() {
    let mut world = World::new(6_105);
    keep(&world, of(&world, "every 1 hours", "tidy"), "keep");
    let since = record(&world).settled();
    world.clock.advance(HOUR);
    let [first] = world.kernel().fire_due().unwrap()[..] else { panic!("one task") };
    world.drive(first);
    world.kernel().pause_schedule("morning", "holiday", Channel::Cli).unwrap();
    assert!(matches!(world.kernel().pause_schedule("morning", "", Channel::Cli), Err(Error::Conflict(_))));
    world.clock.advance(5 * HOUR);
    assert_eq!(world.kernel().fire_due().unwrap(), []);
    let before = record(&world);
    world.reopen();
    assert_eq!(record(&world), before, "what is read from the end of its stream is what was folded");
    assert_eq!(record(&world).why.as_deref(), Some("holiday"));
    let by_nobody = world.kernel().resume_schedule("morning", Channel::Webhook);
    assert!(matches!(by_nobody, Err(Error::Refused(_))), "{by_nobody:?}");
    world.kernel().resume_schedule("morning", Channel::Cli).unwrap();
    world.clock.advance(HOUR);
    assert_eq!(world.kernel().fire_due().unwrap().len(), 1);
    let told = slots(&world);
    assert_eq!(told.keys().copied().collect::<Vec<_>>(), due(&world, since));
    assert_eq!(told.values().filter(|what| *what == "paused").count(), 5, "{told:?}");

    // Changed: the version counts on, and the old time is gone.
    keep(&world, of(&world, "every day at 8", "tidy"), "change");
    assert_eq!((record(&world).version, record(&world).slots.fired), (2, 2));
    world.kernel().remove_schedule("morning", "done with it", Channel::Cli).unwrap();
    world.clock.advance(9 * DAY);
    assert_eq!(world.kernel().fire_due().unwrap(), []);
    assert_eq!(record(&world).state(), ScheduleState::Removed);
    assert!(world.kernel().schedule_registry().standing("morning").is_none());
    keep(&world, of(&world, "every day at 9", "tidy"), "anew");
    assert_eq!(record(&world).version, 3, "a name that is used again goes on counting");
}

#[test]
fn a_run_that_is_still_at_work_holds_the_next_one_back_and_three_that_fail_pause_it() {
    let world = World::new(6_106);
    world.file("a.txt", "one");
    keep(&world, of(&world, "every 1 hours", "tidy"), "keep");
    world.clock.advance(HOUR);
    let [at_work] = world.kernel().fire_due().unwrap()[..] else { panic!("one task") };
    // Nobody drives it: it is at work when the next time comes.
    world.clock.advance(HOUR);
    assert_eq!(world.kernel().fire_due().unwrap(), []);
    assert_eq!(record(&world).slots.last_passed_over.unwrap().1, PassedOver::StillRunning);
    world.kernel().cancel(at_work, "too slow").unwrap();
    world.drive(at_work);

    let mut failed = 0;
    for _ in 0..9 {
        world.clock.advance(HOUR);
        for task in world.kernel().fire_due().unwrap() {
            let approval = world.drive_to_approval(task);
            world.person.deny(world.kernel(), task, approval, "no").unwrap();
            let ended = world.drive(task);
            failed += u32::from(matches!(ended, DriveOutcome::Ended { status: TaskStatus::Failed, .. }));
        }
    }
    let known = record(&world);
    assert_eq!((known.state(), failed), (ScheduleState::Paused, 3), "{known:?}");
    assert!(known.why.as_deref().is_some_and(|why| why.contains("failed")), "{:?}", known.why);
    world.kernel().resume_schedule("morning", Channel::Cli).unwrap();
    world.clock.advance(HOUR);
    assert_eq!(
        world.kernel().fire_due().unwrap().len(),
        1,
        "what failed before it was resumed counts no more"
    );
}

#[test]
fn runs_that_wait_for_a_person_do_not_pile_up_without_end() {
    let world = World::new(6_107);
    world.file("a.txt", "one");
    keep(&world, of(&world, "every 1 hours", "tidy"), "keep");
    for _ in 0..12 {
        world.clock.advance(HOUR);
        for task in world.kernel().fire_due().unwrap() {
            assert!(matches!(world.drive(task), DriveOutcome::Waiting(Waiting::Approval(_))));
        }
    }
    assert_eq!(begun(&world).len(), 5);
    assert_eq!(record(&world).slots.last_passed_over.unwrap().1, PassedOver::TooManyWait);
}

#[test]
fn while_everything_is_halted_nothing_begins_and_what_is_begun_by_hand_is_no_slot() {
    let world = World::new(6_108);
    keep(&world, of(&world, "every day at 8", "tidy"), "keep");
    let by_hand = world.kernel().run_schedule("morning", Channel::Cli, "now".to_owned()).unwrap().task_id;
    assert_eq!(state(&world, by_hand).task.origin(), Origin::Person);
    assert_eq!((record(&world).slots.fired, record(&world).slots.runs.len()), (0, 0));
    world.kernel().halt("stop").unwrap();
    world.clock.advance(DAY);
    assert!(matches!(world.kernel().fire_due(), Err(Error::Halted)));
    assert_eq!(
        count(world.kernel(), world.kernel().store_state().system_task_id.unwrap(), "schedule.settled"),
        0
    );
}

#[test]
fn a_slot_whose_task_waits_begins_nothing_once_a_person_has_paused_changed_or_removed_its_schedule() {
    for (nth, narrow) in ["pause", "remove", "change"].into_iter().enumerate() {
        let world = World::new(6_109 + nth as u64);
        keep(&world, of(&world, "every day at 8", "tidy"), "keep");
        world.clock.advance(DAY);
        world.faults.plan(Point::IngressReceive, Edge::Before, Mode::Full, 1);
        assert_eq!(world.kernel().fire_due().unwrap(), [], "the disk took no task");
        assert!(world.faults.fired());
        world.faults.clear();
        assert_eq!(record(&world).slots.unmade.len(), 1);
        match narrow {
            "pause" => world.kernel().pause_schedule("morning", "no", Channel::Cli).unwrap(),
            "remove" => world.kernel().remove_schedule("morning", "no", Channel::Cli).unwrap(),
            _ => keep(&world, of(&world, "every day at 9", "tidy"), "change"),
        }
        world.clock.advance(2 * MINUTE);
        assert_eq!(world.kernel().fire_due().unwrap(), [], "{narrow}");
        assert_eq!((begun(&world).len(), record(&world).slots.unmade.len()), (0, 0), "{narrow}");
        let whys: Vec<String> = log(world.kernel())
            .into_iter()
            .filter_map(|(_, body)| match body {
                Body::ScheduleNotBegun(b) => Some(b.why.to_string()),
                _ => None,
            })
            .collect();
        assert_eq!(whys, [if narrow == "pause" { "paused" } else { "changed" }], "one record");
        if narrow == "pause" {
            world.kernel().resume_schedule("morning", Channel::Cli).unwrap();
            assert_eq!(world.kernel().fire_due().unwrap(), [], "nor once it is resumed");
        }
    }
}

#[test]
fn what_cannot_be_begun_now_is_tried_again_after_a_minute_and_holds_no_other_up() {
    let world = World::new(6_112);
    keep(&world, of(&world, "every day at 8", "tidy"), "keep");
    keep(&world, Schedule { name: "evening".to_owned(), ..of(&world, "every day at 8", "tidy") }, "other");
    world.clock.advance(DAY);
    world.faults.plan(Point::ScheduleSettle, Edge::Before, Mode::Full, 1);
    assert_eq!(world.kernel().fire_due().unwrap().len(), 1, "one of the two");
    world.faults.clear();
    let again = world.kernel().next_slot().unwrap();
    assert!(
        again > now(&world) && again <= now(&world).plus_ms(MINUTE),
        "the other is left alone for a minute"
    );
    assert_eq!(world.kernel().fire_due().unwrap(), []);
    world.clock.advance(MINUTE);
    assert_eq!(world.kernel().fire_due().unwrap().len(), 1);
    assert!(world.kernel().next_slot().unwrap() > now(&world).plus_ms(HOUR), "nothing is due now");
}

#[test]
fn a_schedule_whose_task_can_never_begin_pauses_itself_and_says_so() {
    let world = World::new(6_113);
    // There is no such conversation.
    let conversation_id = Some(ConversationId::fresh(&*world.clock, &*world.kernel().ports().entropy));
    keep(&world, Schedule { conversation_id, ..of(&world, "every day at 8", "tidy") }, "keep");
    world.clock.advance(DAY);
    assert_eq!(world.kernel().fire_due().unwrap(), []);
    let known = record(&world);
    assert_eq!((known.state(), known.slots.unmade.len()), (ScheduleState::Paused, 0));
    assert!(known.why.is_some_and(|why| why.contains("cannot begin")));
    assert_eq!(world.kernel().next_slot(), None, "it is not tried again and again");
}

#[test]
fn a_folder_that_is_not_there_passes_slots_over_and_holds_nothing_up_once_it_is_back() {
    let world = World::new(6_114);
    keep(&world, of(&world, "every day at 8", "tidy"), "keep");
    let folder = world.folder.path().canonicalize().unwrap();
    std::fs::rename(&folder, folder.with_extension("away")).unwrap();
    world.clock.advance(DAY);
    assert_eq!(world.kernel().fire_due().unwrap(), []);
    assert_eq!(record(&world).slots.last_passed_over.unwrap().1, PassedOver::FolderMissing);
    std::fs::rename(folder.with_extension("away"), &folder).unwrap();
    world.clock.advance(DAY);
    assert_eq!(world.kernel().fire_due().unwrap().len(), 1);
}

#[test]
fn missed_slots_that_are_made_up_for_run_one_after_the_other() {
    let world = World::new(6_115);
    let mut schedule = of(&world, "every day at 8", "tidy");
    schedule.when.catch_up = CatchUp::Newer(3);
    keep(&world, schedule, "keep");
    let since = record(&world).settled();
    world.clock.advance(9 * DAY);
    let mut slots_run = Vec::new();
    for left in [2, 1, 0] {
        let [run] = world.kernel().fire_due().unwrap()[..] else { panic!("one at a time") };
        assert_eq!(world.kernel().fire_due().unwrap(), [], "the one before is at work");
        assert_eq!(record(&world).slots.unmade.len(), left);
        slots_run.extend(state(&world, run).task.scheduled_by.map(|by| by.slot_at.0));
        assert_eq!(world.drive(run), completed());
        assert_eq!(
            world.kernel().next_slot().unwrap() <= now(&world),
            left > 0,
            "the next is due as it rests"
        );
    }
    let newest: Vec<i64> = due(&world, since).into_iter().rev().take(3).rev().collect();
    assert_eq!(slots_run, newest, "the oldest of them first, and each task says for which it is");
}

#[test]
fn a_clock_that_ran_years_ahead_silences_no_schedule_once_a_person_has_resumed_it() {
    let world = World::new(6_116);
    keep(&world, of(&world, "every day at 8", "tidy"), "keep");
    world.clock.advance(3_650 * DAY);
    let [ahead] = world.kernel().fire_due().unwrap()[..] else { panic!("the newest") };
    world.drive(ahead);
    world.clock.advance(-3_650 * DAY);
    world.clock.advance(2 * DAY);
    assert_eq!(world.kernel().fire_due().unwrap(), [], "its times until then are settled");
    world.kernel().pause_schedule("morning", "", Channel::Cli).unwrap();
    world.kernel().resume_schedule("morning", Channel::Cli).unwrap();
    world.clock.advance(DAY);
    let [again] = world.kernel().fire_due().unwrap()[..] else { panic!("it begins again") };
    world.drive(again);
    assert_eq!(begun(&world).len(), 2);
}

#[test]
fn a_clients_key_is_never_the_key_of_a_slot_and_who_runs_it_by_hand_is_on_record() {
    let world = World::new(6_117);
    keep(&world, of(&world, "every day at 8", "tidy"), "keep");
    let slot = record(&world).next().unwrap().unwrap().0;
    let key = format!("hermit:schedule:morning:{slot}");
    let taken = world.kernel().run_schedule("morning", Channel::Cli, key);
    assert!(matches!(taken, Err(Error::Input(_))), "{taken:?}");
    let by = Sender { by: Origin::Program, channel: Channel::Cli };
    let run = world.kernel().run_schedule("morning", by, "by-hand".to_owned()).unwrap().task_id;
    let of_it = state(&world, run);
    let user = world.kernel().store_state().principal(PrincipalType::User).unwrap();
    assert_ne!(of_it.task.owner_principal_id, user, "a program is not the person");
    assert_eq!(of_it.task.policy_profile_ref, Profile::LocalEditAllowed);
}
