//! Whole months of work that nobody attends, with hosts that come, go and die (schedule.md 5): what changed, each morning; and scans
//! that are filed as they land, with a report each evening.

use crate::schedules::{DAY, HOUR, due, keep, now, of, record, slots};
use crate::story::{completed, log, state};
use model::fault::Point;
use model::receipt::{ReceiptClass, ResultCode};
use model::schedule::{Schedule, ScheduleProposer};
use model::standing::{Cover, PathAct, StandingGrant, StandingScope};
use model::{Body, GrantId, TaskId};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::{Edge, Mode, World};

/// How long a file is left alone before its landing counts.
const QUIET: i64 = 2_000;
const DAYS: i64 = 30;
const SCANS: &str = "scans";
const EVENING: &str = "evening";
/// Where a host dies, one after the other.
const POINTS: [Point; 4] =
    [Point::ScheduleSettle, Point::IngressReceive, Point::IngressBind, Point::ScheduleFire];

/// A standing grant for the runs of one schedule, for two months.
fn given(world: &World, schedule: &str, glob: &str, acts: Vec<PathAct>) -> GrantId {
    let cover = Cover::Paths { glob: glob.to_owned(), acts };
    let scope = StandingScope::Schedule { name: schedule.to_owned(), version: 1 };
    let grant = world.person.standing(world.kernel(), cover, scope, None);
    let grant = StandingGrant { expires_at: grant.issued_at.plus_ms(60 * DAY), max_uses: 100, ..grant };
    world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap();
    grant.grant_id
}

/// Runs that the newest slots began, and that have not ended.
fn open(world: &World) -> Vec<TaskId> {
    let registry = world.kernel().schedule_registry();
    let runs = registry.0.values().flat_map(|one| one.slots.runs.iter().map(|run| run.task_id));
    runs.filter(|run| !state(world, *run).task.status.is_terminal()).collect()
}

/// Does whatever is due until nothing is.
fn works(world: &World) {
    for _ in 0..20 {
        world.kernel().want_look(SCANS, now(world));
        let mut moved = !world.kernel().look_due().unwrap().is_empty();
        moved |= !world.kernel().fire_due().unwrap().is_empty();
        for run in open(world) {
            assert_eq!(world.drive(run), completed(), "nobody is asked");
            world.kernel().run_rested(run).unwrap();
            moved = true;
        }
        if !moved {
            return;
        }
    }
    panic!("it never comes to rest");
}

/// The same, and again when what landed has been left alone.
fn works_on(world: &World) {
    works(world);
    world.clock.advance(QUIET);
    works(world);
}

/// The same by a host that dies there, where it comes there, and by the next one, which looks anew. What dies within a commit
/// comes back as an error of it.
fn works_and_dies(world: &mut World, point: Point, edge: Edge) {
    world.faults.plan(point, edge, Mode::Abort, 1);
    let died = catch_unwind(AssertUnwindSafe(|| works(world)));
    assert!(died.is_ok() || world.faults.fired(), "{point}: it dies of nothing else");
    world.faults.clear();
    world.reopen();
    works_on(world);
}

/// Receipts of what a run did.
fn receipts(world: &World, run: TaskId) -> usize {
    let receipts = state(world, run).receipts;
    let of_acts = receipts.iter().filter(|one| one.receipt_class == ReceiptClass::ToolExecution);
    of_acts.filter(|one| one.result_code == ResultCode::Succeeded).count()
}

fn asked(world: &World) -> usize {
    log(world.kernel()).iter().filter(|(_, body)| matches!(body, Body::ApprovalRequested(_))).count()
}

/// Runs of a schedule, each with its slot.
fn fired(world: &World, name: &str) -> Vec<(i64, TaskId)> {
    let fired = log(world.kernel()).into_iter().filter_map(|(_, body)| match body {
        Body::ScheduleFired(b) if b.name == name => Some((b.slot_at.0, b.about_task_id)),
        _ => None,
    });
    fired.collect()
}

fn text(world: &World, path: &str) -> String {
    std::fs::read_to_string(world.path(path)).unwrap_or_default()
}

#[test]
fn each_morning_of_a_month_says_once_what_changed_in_the_repositories() {
    let mut world = World::new(6_301);
    for repository in ["alpha", "beta"] {
        world.file(&format!("{repository}/README.md"), repository);
    }
    keep(&world, of(&world, "every weekday at 8", "changes"), "keep");
    let grant = given(&world, "morning", "CHANGES.md", vec![PathAct::Create, PathAct::Overwrite]);
    let (since, questions, mut mornings) = (record(&world).settled(), asked(&world), 0);
    for day in 0..DAYS {
        let repository = if day % 2 == 0 { "alpha" } else { "beta" };
        let changed = format!("{repository}/day-{day}.md");
        world.file(&changed, &format!("what was done on day {day}"));
        world.clock.advance(DAY);
        // Nobody is there for some days, and a slot that is missed then is on record and not made up for.
        if (10..13).contains(&day) {
            continue;
        }
        let before = record(&world).slots.fired;
        match day % 5 {
            3 => works_and_dies(&mut world, POINTS[usize::try_from(day).unwrap() / 5 % 4], Edge::After),
            4 => {
                world.reopen();
                works(&world);
            }
            _ => works(&world),
        }
        let runs = record(&world).slots.fired - before;
        assert!(runs <= 1, "day {day}: one report at most");
        if runs == 1 {
            mornings += 1;
            assert!(
                text(&world, "CHANGES.md").contains(&changed),
                "day {day}: {}",
                text(&world, "CHANGES.md")
            );
        }
    }
    assert!((16..=22).contains(&mornings), "{mornings} weekdays on which somebody was there");
    let told = slots(&world);
    assert_eq!(told.keys().copied().collect::<Vec<_>>(), due(&world, since), "no slot is silent");
    assert_eq!(told.values().filter(|what| *what == "fires").count(), mornings);
    let runs = fired(&world, "morning");
    assert_eq!(runs.len(), mornings);
    assert!(
        runs.iter().all(|(_, run)| receipts(&world, *run) == 1),
        "each report is an act with its receipt"
    );
    assert_eq!(world.kernel().reader().grant_uses(grant).unwrap() as usize, mornings);
    assert_eq!(asked(&world), questions, "nobody was asked");
}

/// Another schedule of the world, from words.
fn named(world: &World, name: &str, said: &str, playbook: &str) -> Schedule {
    let (rule, on) = schedule::said(said, "UTC", now(world)).unwrap();
    let mut schedule =
        Schedule { name: name.to_owned(), said: said.to_owned(), ..of(world, "every day at 8", playbook) };
    (schedule.when.rule, schedule.on) = (rule, on);
    schedule
}

#[test]
fn for_a_month_scans_are_filed_as_they_land_each_with_its_receipt_and_one_report_a_day() {
    let mut world = World::new(6_302);
    keep(&world, named(&world, SCANS, "when a file matching *.txt lands here", "tidy"), SCANS);
    let mut evening = named(&world, EVENING, "every day at 20", "changes");
    if let ScheduleProposer::Playbook { parameters, .. } = &mut evening.proposer {
        parameters.insert("folder".to_owned(), "Documents".to_owned());
    }
    keep(&world, evening, EVENING);
    let filing = given(&world, SCANS, "**", vec![PathAct::Create, PathAct::Delete]);
    let report = vec![PathAct::Create, PathAct::Overwrite];
    let reporting = given(&world, EVENING, "Documents/CHANGES.md", report);
    let questions = asked(&world);
    // What is there at the first look is no news.
    works(&world);
    let mut landed = Vec::new();
    for day in 0..DAYS {
        for nth in 0..=day % 3 {
            let name = format!("scan-{day}-{nth}.txt");
            world.file(&name, &format!("page {nth} of day {day}"));
            landed.push(name);
        }
        works(&world);
        if day % 7 == 2 {
            // It landed while a host was there, and comes to rest when that is gone.
            world.reopen();
        }
        world.clock.advance(QUIET);
        match day % 6 {
            5 => works_and_dies(&mut world, POINTS[usize::try_from(day).unwrap() / 6 % 4], Edge::Before),
            _ => works_on(&world),
        }
        for name in &landed {
            assert!(world.path(&format!("Documents/{name}")).exists(), "day {day}: {name} is filed");
            assert!(!world.path(name).exists(), "day {day}: {name} is there once");
        }
        world.clock.advance(DAY - HOUR);
        match day % 8 {
            6 => works_and_dies(&mut world, POINTS[usize::try_from(day).unwrap() / 8 % 4], Edge::After),
            _ => works(&world),
        }
        world.clock.advance(HOUR);
        works(&world);
    }
    let (filed, evenings) = (fired(&world, SCANS), fired(&world, EVENING));
    let of_days = evenings.iter().map(|(slot, _)| slot.div_euclid(DAY)).collect::<BTreeSet<_>>();
    let reports = evenings.len();
    assert_eq!(of_days.len(), reports, "one report a day");
    assert!((DAYS - 1..=DAYS + 1).contains(&i64::try_from(reports).unwrap()), "and on each day: {reports}");
    assert_eq!(filed.len(), usize::try_from(DAYS).unwrap(), "what lands together is filed together");
    for (slot, run) in filed.iter().chain(&evenings) {
        assert_eq!(receipts(&world, *run), 1, "slot {slot}: each act has its receipt");
    }
    let uses = |grant| world.kernel().reader().grant_uses(grant).unwrap() as usize;
    assert_eq!((uses(filing), uses(reporting)), (filed.len(), reports));
    let report = text(&world, "Documents/CHANGES.md");
    assert!(report.contains("scan-29-2.txt"), "{report}");
    assert_eq!(asked(&world), questions, "nobody was asked");
}
