//! Acts that last: what they tell while they are at work, how they are stopped, and what is left of one that broke off.

use crate::observing::Walled;
use crate::story::{completed, count, die, events, object, state};
use effects::Progress;
use kernel::{DriveOutcome, Kernel, Ports, Waiting};
use model::body::EffectProgressed;
use model::fault::Point;
use model::receipt::{Receipt, ResultCode};
use model::task::TaskStatus;
use model::{Body, Clock, TaskId, UnixMs, limits};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::{Edge, World, command, done, write};

/// What an act told, in its order.
fn told(kernel: &Kernel, task: TaskId) -> Vec<EffectProgressed> {
    let of = |(_, body)| match body {
        Body::EffectProgressed(b) => Some(b),
        _ => None,
    };
    events(kernel, task).into_iter().filter_map(of).collect()
}

fn note(b: &EffectProgressed) -> &str {
    b.note.shown().unwrap()
}

/// A world in which a person allowed an act that has not begun.
fn allowed(seed: u64) -> (World, TaskId) {
    let world = World::new(seed);
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    (world, task)
}

#[test]
fn an_act_reports_twice_a_minute_at_most_and_with_every_checkpoint() {
    let (world, task) = allowed(631);
    let clock = Arc::clone(&world.clock);
    world.oracle.tells(move |_, tell| {
        tell(Progress::Stdout(&[b'x'; 14_000]));
        clock.count(29_900);
        tell(Progress::AtWork);
        clock.count(200);
        tell(Progress::Items { done: 1, of: 3 });
        tell(Progress::AtWork);
        tell(Progress::Checkpoint { note: "one file", bytes: b"1" });
        clock.count(29_000);
        tell(Progress::AtWork);
        clock.count(1_200);
        tell(Progress::AtWork);
    });
    assert_eq!(world.drive(task), completed());
    let told = told(world.kernel(), task);
    let notes: Vec<_> = told.iter().map(|b| (b.sequence, note(b), b.checkpoint.is_some())).collect();
    assert_eq!(notes, [(1, "14 KB printed", false), (2, "one file", true), (3, "14 KB printed", false)]);
    assert_eq!((told[0].done, told[0].total), (Some(1), Some(3)));
    assert!(told[0].elapsed_ms >= 30_000 && told[2].elapsed_ms >= 60_000);
    let kept = told[1].checkpoint.clone().unwrap();
    assert_eq!(world.kernel().artifacts().read(&kept.sha256).unwrap(), b"1");
    // It settled nothing, and one that succeeds names no checkpoint.
    assert_eq!(state(&world, task).receipts.last().unwrap().result_code, ResultCode::Succeeded);
    assert!(!last_receipt(world.kernel(), task).contains("checkpoint"));
}

/// The words of the last receipt.
fn last_receipt(kernel: &Kernel, task: TaskId) -> String {
    let id = kernel.task(task).unwrap().receipts.last().unwrap().receipt_id;
    let (_, receipt): (_, Receipt) = kernel.receipt(id).unwrap();
    serde_json::to_string(&receipt).unwrap()
}

#[test]
fn what_an_act_tells_is_bounded_and_holds_no_secret() {
    let (mut world, task) = allowed(632);
    let clock = Arc::clone(&world.clock);
    world.oracle.tells(move |_, tell| {
        let long = "a".repeat(10_000);
        let large = vec![0; limits::CHECKPOINT_BYTES_MAX + 1];
        tell(Progress::Checkpoint { note: "too large", bytes: &large });
        for n in 0..limits::CHECKPOINTS_MAX + 50 {
            tell(Progress::Checkpoint { note: &long, bytes: &n.to_le_bytes() });
        }
        for _ in 0..limits::PROGRESS_REPORTS_MAX + 50 {
            clock.count(limits::PROGRESS_MS_MIN);
            tell(Progress::AtWork);
        }
    });
    assert_eq!(world.drive(task), completed());
    let all = told(world.kernel(), task);
    let checkpoints = all.iter().filter(|b| b.checkpoint.is_some()).count();
    assert_eq!(checkpoints, limits::CHECKPOINTS_MAX as usize);
    assert_eq!(all.len() - checkpoints, limits::PROGRESS_REPORTS_MAX as usize);
    assert!(all.iter().all(|b| note(b).chars().count() <= limits::PROGRESS_NOTE_CHARS_MAX));
    assert!(all.iter().map(|b| b.sequence).eq(1..=u32::try_from(all.len()).unwrap()));

    world = World::new(633);
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    let value = zeroize::Zeroizing::new(b"hunter2hunter2".to_vec());
    world.redactor.put(redact::Redactor::new([("github".to_owned(), value)]).unwrap());
    world.oracle.tells(|_, tell| {
        tell(Progress::Checkpoint { note: "logged in with hunter2hunter2", bytes: b"token hunter2hunter2" });
    });
    assert_eq!(world.drive(task), completed());
    let one = told(world.kernel(), task).remove(0);
    assert!(!note(&one).contains("hunter2"), "{}", note(&one));
    let kept = world.kernel().artifacts().read(&one.checkpoint.unwrap().sha256).unwrap();
    assert!(!String::from_utf8_lossy(&kept).contains("hunter2"));
}

#[test]
fn a_person_who_cancels_is_heard_by_the_act_that_lasts() {
    let (world, task) = allowed(634);
    world.oracle.tells(|stop, tell| {
        tell(Progress::Checkpoint { note: "begun", bytes: b"1" });
        let begun = Instant::now();
        while !stop() {
            assert!(begun.elapsed() < Duration::from_secs(300), "nobody cancels it");
            std::thread::yield_now();
        }
        tell(Progress::Checkpoint { note: "put down", bytes: b"2" });
    });
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let begun = Instant::now();
            while count(world.kernel(), task, "effect.progressed") == 0 {
                assert!(begun.elapsed() < Duration::from_secs(300), "it never begins");
                std::thread::yield_now();
            }
            world.kernel().cancel(task, "enough").unwrap();
        });
        assert!(matches!(world.drive(task), DriveOutcome::Ended { status: TaskStatus::Cancelled, .. }));
    });
    assert_eq!(told(world.kernel(), task).len(), 2);
}

#[test]
fn an_act_that_breaks_off_is_never_repeated_and_names_its_last_checkpoint() {
    let (mut world, task) = allowed(635);
    world.oracle.tells(|_, tell| {
        tell(Progress::Checkpoint { note: "half of it", bytes: b"first" });
        tell(Progress::Checkpoint { note: "most of it", bytes: b"second" });
        std::panic::panic_any(testkit::Crash(Point::EffectObserve, Edge::Before));
    });
    assert!(catch_unwind(AssertUnwindSafe(|| world.kernel().drive(task))).is_err());
    world.reopen();
    // Nobody may complete it any more: it is concluded from what is there.
    world.clock.advance(limits::GRANT_MS_MAX + 1);
    let last = told(world.kernel(), task).pop().unwrap().checkpoint.unwrap();
    assert_eq!(world.drive(task), completed());
    assert!(world.oracle.performed().values().all(|times| *times == 1), "it was begun once");
    assert!(world.files().is_empty());
    let receipt = last_receipt(world.kernel(), task);
    assert!(receipt.contains(&last.artifact_id.to_string()) && receipt.contains("most of it"), "{receipt}");
    assert!(!receipt.contains("half of it"));
    // The proposer is told as well.
    let now = state(&world, task);
    let told = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
        Body::EffectObserved(b) => {
            Some(object::<serde_json::Value>(world.kernel(), &now, b.result.artifact_id))
        }
        _ => None,
    });
    assert!(told.unwrap()["observed"].to_string().contains(&last.artifact_id.to_string()));
}

#[test]
fn a_host_that_dies_at_a_report_loses_that_report_alone() {
    for edge in [Edge::Before, Edge::After] {
        let (mut world, task) = allowed(636);
        world.oracle.tells(|_, tell| tell(Progress::Checkpoint { note: "begun", bytes: b"1" }));
        die(&mut world, task, Point::EffectProgress, edge);
        assert_eq!(told(world.kernel(), task).len(), usize::from(edge == Edge::After));
        assert_eq!(world.drive(task), completed());
        assert!(world.oracle.performed().values().all(|times| *times == 1));
    }
}

/// A clock on which every look takes a while, so that a short command is a long one.
struct Slow(Arc<dyn Clock>, AtomicU64);

impl Clock for Slow {
    fn now(&self) -> UnixMs {
        self.0.now()
    }

    fn monotonic_ms(&self) -> u64 {
        self.1.fetch_add(limits::PROGRESS_MS_MIN / 2, Ordering::SeqCst)
    }
}

#[test]
fn a_command_that_runs_long_tells_how_long_and_how_much_it_printed() {
    let mut world = World::new(637);
    let words = ["sh", "-c", "printf 12345; sleep 0.5; printf 67890"];
    world.reasoners.script("run", vec![command(&words), done("ran")]);
    let reasoning = kernel::command::submit::Reasoning::Scripted { name: "run".to_owned() };
    let task = world.kernel().submit(&world.submission("run", reasoning)).unwrap().task_id;
    world.crash();
    let ports = world.ports();
    let executors = Arc::new(Walled(Arc::clone(&ports.executors)));
    let clock = Arc::new(Slow(Arc::clone(&ports.clock), AtomicU64::new(0)));
    let kernel = Kernel::open(world.store.path(), Ports { executors, clock, ..ports }).unwrap();
    let DriveOutcome::Waiting(Waiting::Approval(approval)) = kernel.drive(task).unwrap() else {
        panic!("a command is asked for")
    };
    world.person.allow(&kernel, task, approval).unwrap();
    assert_eq!(kernel.drive(task).unwrap(), completed());
    let told = told(&kernel, task);
    assert!(told.iter().any(|b| note(b) == "5 bytes printed"), "{told:?}");
    assert!(told.iter().all(|b| b.elapsed_ms >= i64::try_from(limits::PROGRESS_MS_MIN).unwrap()));
    assert!(told.iter().map(|b| b.elapsed_ms).is_sorted());
}
