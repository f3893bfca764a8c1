//! The ground of a kernel: what is in its log stays as it is, in order and once, whoever works on it and however often.

use crate::records::busy;
use crate::story::{completed, count, log, rebuilt, state, types};
use kernel::ports::Notice;
use kernel::{DriveOutcome, Error};
use model::fault::Point;
use model::ingress::Channel;
use model::standing::{Cover, PathAct, StandingScope};
use model::{Body, TaskId};
use rusqlite::Connection;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::{Edge, Listener, Mode, World, done, look, say, write};

/// The bytes of every event, in the order of the log.
fn bytes(world: &World) -> Vec<Vec<u8>> {
    world.kernel().reader().log(0, 100_000).unwrap().into_iter().map(|stored| stored.bytes).collect()
}

#[conforms::conforms("HK-8.4-1", "HK-13.1-1", "HK-25.1-3")]
#[test]
fn what_is_in_the_log_stays_whatever_comes_later_and_whoever_asks() {
    let (mut world, task) = busy(1_761);
    let first = bytes(&world);
    // Everything that takes something back, corrects it or begins anew adds to the log.
    let receipt = state(&world, task).receipts.last().unwrap().receipt_id;
    let undo = world.kernel().rollback(receipt, Channel::Cli, "undo".to_owned()).unwrap().task_id;
    assert_eq!(world.drive_allowing(undo).0, completed());
    let memory = world.kernel().query().unwrap().memories(None, projections::query::Ask::ALL).unwrap().rows;
    world.kernel().invalidate_memory(memory[0].memory_id, "it has changed").unwrap();
    world.kernel().retry(task, "again".to_owned()).unwrap();
    let waits = world.script("waits", vec![write("c.txt", "c"), done("ok")]);
    world.drive_to_approval(waits);
    world.kernel().change_goal(waits, "another goal", Channel::App).unwrap();
    world.kernel().cancel(waits, "enough").unwrap();
    world.drive(waits);
    // What is shown is made of it: the views are lost, and the log gives all of them again.
    let (shown, again) = rebuilt(&mut world);
    assert_eq!(shown, again);
    let told = types(world.kernel(), task);
    for said in ["task.status_changed", "attempt.status_changed", "effect.observed", "witness.validated"] {
        assert!(told.iter().any(|kind| kind == said), "neither a transition nor an observation: no `{said}`");
    }
    let now = bytes(&world);
    assert!(now.len() > first.len() + 20);
    assert!(now[..first.len()] == first[..], "what was recorded has changed");
    // Nor can anybody change a row who opens the file, as long as the store is as it was made.
    let raw = Connection::open(world.store.path().join(ledger::FILE)).unwrap();
    for table in ["events", "entries", "epochs", "store", "grant_uses"] {
        let column = if table == "store" { "log_id" } else { "rowid" };
        let column = if table == "grant_uses" { "max_uses" } else { column };
        let update = raw.execute(&format!("UPDATE {table} SET {column} = {column}"), []);
        assert!(update.unwrap_err().to_string().contains("append-only"), "{table}");
        let delete = raw.execute(&format!("DELETE FROM {table}"), []);
        assert!(delete.unwrap_err().to_string().contains("append-only"), "{table}");
    }
    assert!(bytes(&world) == now);
}

#[conforms::conforms("HK-13.2-1", "HK-20.1-1")]
#[test]
fn tasks_that_are_driven_at_once_each_count_without_gaps_and_one_path_writes_each() {
    let world = World::new(1_762);
    let tasks: Vec<TaskId> = (0..4)
        .map(|n| {
            world.file(&format!("{n}.txt"), "text");
            world.script(
                &format!("task {n}"),
                vec![look(&format!("{n}.txt")), say("note", json!({ "plan": "on" })), done("ok")],
            )
        })
        .collect();
    std::thread::scope(|scope| {
        let world = &world;
        let all: Vec<_> = tasks.iter().map(|task| scope.spawn(move || world.kernel().drive(*task))).collect();
        for one in all {
            assert_eq!(one.join().unwrap().unwrap(), completed());
        }
    });
    let mut last: BTreeMap<TaskId, u64> = BTreeMap::new();
    let mut order = Vec::new();
    for (event, _) in log(world.kernel()) {
        let seq = last.insert(event.task_id, event.task_seq).unwrap_or(0);
        assert_eq!(event.task_seq, seq + 1, "of `{}`", event.task_id);
        order.push(event.task_id);
    }
    assert!(tasks.iter().all(|task| last[task] > 20));
    // While one path drives a task nobody else takes it, in this process or in another.
    let (halted, at) = testkit::stop();
    let slow = reasoning::Scripted::with(move |_| {
        halted.waits();
        Ok(done("ok"))
    });
    world.reasoners.put("slow", std::sync::Arc::new(slow));
    let reasoning = kernel::command::submit::Reasoning::Scripted { name: "slow".to_owned() };
    let task = world.kernel().submit(&world.submission("slow", reasoning)).unwrap().task_id;
    std::thread::scope(|scope| {
        let driving = scope.spawn(|| world.kernel().drive(task));
        at.is_reached();
        assert!(matches!(world.kernel().drive(task), Err(Error::Conflict(_))), "a second path");
        assert!(world.try_open().is_err(), "a second host");
        at.goes_on();
        assert_eq!(driving.join().unwrap().unwrap(), completed());
    });
}

#[conforms::conforms("HK-13.3-2")]
#[test]
fn what_is_sent_twice_is_the_first_and_nothing_is_done_twice() {
    let mut world = World::new(1_763);
    world.reasoners.script("once", vec![write("a.txt", "a"), done("ok")]);
    let reasoning = kernel::command::submit::Reasoning::Scripted { name: "once".to_owned() };
    let submission = world.submission("once", reasoning);
    let task = world.kernel().submit(&submission).unwrap().task_id;
    assert_eq!(world.kernel().submit(&submission).unwrap().task_id, task, "the same submission");
    let mut other = world.submission("once", submission.reasoning.clone());
    other.goal = "something else".to_owned();
    let refused = world.kernel().submit(&other);
    assert!(matches!(refused, Err(Error::Conflict(_))), "another goal under its key: {refused:?}");
    let approval = world.drive_to_approval(task);
    let envelope = world.person.sign(world.kernel(), task, approval, model::approval::Choice::Once, None);
    for _ in 0..3 {
        let _ = world.kernel().decide_approval(task, approval, &envelope);
    }
    assert_eq!(count(world.kernel(), task, "approval.granted"), 1, "the same yes");
    assert_eq!(world.drive(task), completed());
    let (receipt, performed) =
        (state(&world, task).receipts.last().unwrap().receipt_id, world.oracle.performed());
    assert!(performed.values().all(|times| *times == 1));
    for _ in 0..2 {
        let _ = world.kernel().decide_approval(task, approval, &envelope);
        assert_eq!(world.kernel().submit(&submission).unwrap().task_id, task, "also after a restart");
        assert!(matches!(world.drive(task), DriveOutcome::Ended { .. }));
        world.reopen();
    }
    assert_eq!((world.oracle.performed(), count(world.kernel(), task, "effect.dispatched")), (performed, 1));
    let undo = || world.kernel().rollback(receipt, Channel::Cli, "undo it".to_owned()).unwrap().task_id;
    assert_eq!(undo(), undo(), "the same undo");
    let created = log(world.kernel()).iter().filter(|(_, body)| matches!(body, Body::TaskCreated(_))).count();
    assert_eq!(created, 2, "the task and its undo");
}

#[conforms::conforms("HK-6.1-1")]
#[test]
fn a_change_that_is_not_in_the_log_is_in_no_view_either() {
    for point in [
        Point::IngressBind,
        Point::TaskStart,
        Point::ContextCompile,
        Point::ApprovalRequest,
        Point::EffectDispatch,
    ] {
        for mode in [Mode::Error, Mode::Full, Mode::Abort] {
            let mut world = World::new(1_764);
            world.reasoners.script("write", vec![write("a.txt", "a"), done("ok")]);
            world.faults.plan(point, Edge::Before, mode, 1);
            let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let reasoning = kernel::command::submit::Reasoning::Scripted { name: "write".to_owned() };
                let task = world.kernel().submit(&world.submission("write", reasoning))?.task_id;
                world.kernel().drive(task)?;
                let approval = *world.kernel().task(task)?.approvals.keys().next().unwrap();
                world.person.allow(world.kernel(), task, approval)?;
                world.kernel().drive(task)
            }));
            assert!(world.faults.fired() && !matches!(lived, Ok(Ok(_))), "{point} {mode:?}: {lived:?}");
            world.faults.clear();
            world.reopen();
            let (views, from_the_log) = rebuilt_or_empty(&mut world);
            assert_eq!(views, from_the_log, "{point} {mode:?}");
        }
    }
}

/// As [`rebuilt`], also of a store in which no task was made yet.
fn rebuilt_or_empty(world: &mut World) -> (seal::Digest, seal::Digest) {
    let has_task = log(world.kernel()).iter().any(|(_, body)| matches!(body, Body::TaskCreated(_)));
    if !has_task {
        world.script("first", vec![done("ok")]);
    }
    rebuilt(world)
}

#[test]
fn a_leaf_that_cannot_be_read_is_an_error_and_is_not_taken_for_an_erased_one() {
    let (world, task) = busy(1_765);
    let receipt = state(&world, task).receipts.last().unwrap().receipt_id;
    let raw = Connection::open(world.store.path().join(ledger::FILE)).unwrap();
    raw.execute("ALTER TABLE disclosures RENAME TO disclosures_elsewhere", []).unwrap();
    assert!(world.kernel().receipt(receipt).is_err());
    assert!(world.kernel().query().unwrap().lineage(task).is_err(), "nor is a graph made without it");
    raw.execute("ALTER TABLE disclosures_elsewhere RENAME TO disclosures", []).unwrap();
    assert!(world.kernel().receipt(receipt).is_ok());
    assert!(world.kernel().query().unwrap().lineage(task).is_ok());
}

/// Whoever answers, a person or what one always allowed.
#[derive(Debug, Clone, Copy)]
enum By {
    Person,
    StandingGrant,
}

#[test]
fn a_folder_is_changed_by_one_task_at_a_time_and_looked_at_by_any() {
    for by in [By::Person, By::StandingGrant] {
        // The first act stops in the middle, until it may go on.
        let (halted, at) = testkit::stop();
        let first = Mutex::new(Some(halted));
        let mut world = World::bare(1_763);
        world.listener = Arc::new(Listener::aloud(move |notice| {
            let Notice::Progress { .. } = notice else { return };
            let stopped = first.lock().unwrap().take();
            if let Some(halted) = stopped {
                halted.waits();
            }
        }));
        world.take_up().unwrap();
        world.register_keys().unwrap();
        let give = |name: &str| {
            let task = world.script(name, vec![write(&format!("{name}.md"), name), done("ok")]);
            match by {
                By::Person => {
                    let approval = world.drive_to_approval(task);
                    world.person.allow(world.kernel(), task, approval).unwrap();
                }
                By::StandingGrant => {
                    let scope = StandingScope::Task { task_id: task };
                    let cover = Cover::Paths { glob: "*.md".to_owned(), acts: vec![PathAct::Create] };
                    let grant = world.person.standing(world.kernel(), cover, scope, None);
                    world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap();
                }
            }
            task
        };
        let [one, two, three] = ["one", "two", "three"].map(give);
        let looks = world.script("look", vec![say("list", json!({ "path": "" })), done("ok")]);
        let waits = |task: TaskId| {
            let until = Instant::now() + Duration::from_secs(60);
            while !world.kernel().waits_for_folder(task) {
                assert!(Instant::now() < until, "{by:?}: it does not wait for its turn");
                std::thread::yield_now();
            }
        };
        std::thread::scope(|scope| {
            let drive = |task: TaskId| {
                let kernel = world.kernel();
                scope.spawn(move || kernel.drive(task).unwrap())
            };
            let at_work = drive(one);
            at.is_reached();
            let [next, cancelled] = [two, three].map(drive);
            [two, three].into_iter().for_each(waits);
            assert_eq!(world.drive(looks), completed(), "whoever only looks waits for nobody");
            world.kernel().cancel(three, "enough").unwrap();
            assert!(
                matches!(cancelled.join().unwrap(), DriveOutcome::Ended { .. }),
                "who waits can be cancelled"
            );
            assert_eq!(count(world.kernel(), two, "effect.dispatched"), 0, "{by:?}");
            at.goes_on();
            assert_eq!([at_work, next].map(|driven| driven.join().unwrap()), [completed(), completed()]);
        });
        let files = world.files();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["one.md", "two.md"], "{by:?}");
        let place = |task: TaskId, event_type: &str| {
            let is = |event: &model::Event| event.task_id == task && event.event_type == event_type;
            log(world.kernel()).iter().position(|(event, _)| is(event)).expect("it is there")
        };
        assert!(place(one, "effect.observed") < place(two, "effect.dispatched"), "{by:?}");
        assert_eq!(count(world.kernel(), three, "effect.dispatched"), 0, "{by:?}");
    }
}
