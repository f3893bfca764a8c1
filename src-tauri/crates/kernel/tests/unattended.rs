//! Runs of a schedule that nobody attends: a standing grant answers there that names the schedule as it is, and no other.

use crate::schedules::{DAY, keep, of, record};
use crate::story::{completed, log};
use kernel::{DriveOutcome, Waiting};
use model::ingress::Channel;
use model::schedule::Schedule;
use model::standing::{Cover, PathAct, StandingGrant, StandingScope};
use model::{Body, TaskId};
use projections::Ask;
use testkit::World;

fn filing() -> Cover {
    Cover::Paths { glob: "**".to_owned(), acts: vec![PathAct::Create, PathAct::Delete] }
}

/// A standing grant for all that tidying does, for two months.
fn given(world: &World, scope: StandingScope) -> StandingGrant {
    let grant = world.person.standing(world.kernel(), filing(), scope, None);
    let grant = StandingGrant { expires_at: grant.issued_at.plus_ms(60 * DAY), max_uses: 100, ..grant };
    world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap();
    grant
}

fn morning(version: u32) -> StandingScope {
    StandingScope::Schedule { name: "morning".to_owned(), version }
}

/// The next run of the schedule with a new file, driven as far as it comes.
fn next_run(world: &World, file: &str) -> DriveOutcome {
    world.file(file, "words");
    world.clock.advance(DAY);
    let [run] = world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
    world.drive(run)
}

fn asks(stands: &DriveOutcome) -> bool {
    matches!(stands, DriveOutcome::Waiting(Waiting::Approval(_)))
}

/// Questions to a person, and receipts.
fn counted(world: &World) -> (usize, usize) {
    let log = log(world.kernel());
    let asked = log.iter().filter(|(_, body)| matches!(body, Body::ApprovalRequested(_))).count();
    (asked, log.iter().filter(|(_, body)| matches!(body, Body::ReceiptIssued(_))).count())
}

#[test]
fn for_a_month_files_are_filed_while_nobody_is_there_each_with_its_receipt_until_the_schedule_changes() {
    let mut world = World::new(6_201);
    keep(&world, of(&world, "every day at 8", "tidy"), "keep");
    let grant = given(&world, morning(1));
    let (asked, receipts) = counted(&world);
    for day in 0..30 {
        if day % 7 == 3 {
            world.reopen();
        }
        let stands = next_run(&world, &format!("scan-{day}.txt"));
        assert_eq!(stands, completed(), "day {day}");
        assert!(world.folder.path().join(format!("Documents/scan-{day}.txt")).exists(), "day {day}");
    }
    let (now_asked, now_receipts) = counted(&world);
    assert_eq!(now_asked, asked, "nobody was asked");
    assert!(now_receipts >= receipts + 30, "each act has its receipt");
    assert_eq!(world.kernel().reader().grant_uses(grant.grant_id).unwrap(), 30);
    // What a person agreed to is another thing now.
    keep(&world, of(&world, "every day at 9", "tidy"), "change");
    assert!(asks(&next_run(&world, "later.txt")));
    assert!(world.folder.path().join("later.txt").exists());
}

#[test]
fn in_a_run_of_a_schedule_no_other_standing_grant_answers_and_this_one_nowhere_else() {
    let world = World::new(6_202);
    keep(&world, of(&world, "every day at 8", "tidy"), "keep");
    let workspace_id = world.kernel().workspace(&world.folder.path().canonicalize().unwrap()).unwrap();
    let evening = StandingScope::Schedule { name: "evening".to_owned(), version: 1 };
    let others = [StandingScope::User, StandingScope::Project { workspace_id }, morning(2), evening];
    let others = others.map(|scope| given(&world, scope).grant_id);
    assert!(asks(&next_run(&world, "a.txt")), "none of these names the schedule as it is");
    for other in others {
        world.kernel().revoke_standing(other, "done").unwrap();
    }
    let own = given(&world, morning(1));
    let by_hand = world.kernel().run_schedule("morning", Channel::Cli, "now".to_owned()).unwrap().task_id;
    assert!(asks(&world.drive(by_hand)), "a task of a person is no run of the schedule");
    assert_eq!(next_run(&world, "b.txt"), completed());
    assert_eq!(world.kernel().reader().grant_uses(own.grant_id).unwrap(), 1);
    world.kernel().remove_schedule("morning", "done", Channel::Cli).unwrap();
}

/// Lines of a task that its conversation has, and those that it has itself.
fn told(world: &World, task: TaskId) -> (usize, usize) {
    let query = world.kernel().query().unwrap();
    let conversation = query.task(task).unwrap().unwrap().conversation_id;
    let all = query.messages(conversation, None, Ask::ALL).unwrap().rows;
    let own = query.messages(conversation, Some(task), Ask::ALL).unwrap().rows;
    (all.iter().filter(|line| line.task_id == Some(task)).count(), own.len())
}

/// The run of the next day, with a new file where one is named, driven as far as it comes.
fn run_of_next_day(world: &World, file: Option<&str>) -> (TaskId, DriveOutcome) {
    file.into_iter().for_each(|file| world.file(file, "words"));
    world.clock.advance(DAY);
    let [run] = world.kernel().fire_due().unwrap()[..] else { panic!("one run") };
    (run, world.drive(run))
}

#[test]
fn a_quiet_schedule_stands_in_its_conversation_only_where_a_run_has_something_to_say() {
    let world = World::new(6_203);
    keep(&world, Schedule { quiet: true, ..of(&world, "every day at 8", "tidy") }, "keep");
    let (nothing, stands) = run_of_next_day(&world, None);
    assert_eq!(stands, completed());
    let (shown, own) = told(&world, nothing);
    assert!(shown == 0 && own > 0, "it is on record, and no line of the conversation: {shown} of {own}");
    assert_eq!(record(&world).slots.fired, 1);
    let all_of = |run: TaskId| {
        let (shown, own) = told(&world, run);
        shown == own && own > 0
    };
    let (question, stands) = run_of_next_day(&world, Some("a.txt"));
    assert!(asks(&stands) && all_of(question), "what waits for a person is told, with all that led there");
    given(&world, morning(1));
    let (effect, stands) = run_of_next_day(&world, Some("b.txt"));
    assert!(stands == completed() && all_of(effect), "and what changed something unasked");
    assert_eq!(told(&world, nothing).0, 0, "what had nothing to say stays unsaid");
    keep(&world, of(&world, "every day at 9", "tidy"), "loud");
    let (nothing, stands) = run_of_next_day(&world, None);
    assert!(stands == completed() && all_of(nothing), "unless it is asked for, each run is told");
}
