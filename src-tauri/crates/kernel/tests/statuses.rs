//! Where tasks, steps and attempts may stand in a kernel, how they get there, and that there is no other way.

use crate::story::{count, die, events, log, state};
use kernel::command::ingress::Saying;
use kernel::{DriveOutcome, Error, Waiting};
use model::attempt::AttemptStatus;
use model::fault::Point;
use model::ingress::{Channel, IngressResolution};
use model::receipt::ReceiptClass;
use model::task::TaskStatus;
use model::{AttemptId, Body, TaskId};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use testkit::{Edge, World, done, look, say, write};

use TaskStatus::{Blocked, Cancelled, Completed, Created, Failed, Paused, Ready, RolledBack, Running};

/// HK-12.1-2, written out once more.
const MAY: [(TaskStatus, TaskStatus); 14] = [
    (Created, Ready),
    (Ready, Running),
    (Running, Blocked),
    (Blocked, Running),
    (Running, Paused),
    (Paused, Ready),
    (Running, Completed),
    (Running, Failed),
    (Ready, Cancelled),
    (Running, Cancelled),
    (Blocked, Cancelled),
    (Paused, Cancelled),
    (Completed, RolledBack),
    (Failed, RolledBack),
];

/// How the task went from status to status.
fn walked(world: &World, task: TaskId) -> Vec<(TaskStatus, TaskStatus)> {
    let mut at = Created;
    let mut found = Vec::new();
    for (_, body) in events(world.kernel(), task) {
        match body {
            Body::TaskCreated(b) => assert_eq!(b.task.status, Created),
            Body::TaskStatusChanged(b) => {
                assert_eq!(b.from, at, "a transition begins where the last one ended");
                assert!(MAY.contains(&(b.from, b.to)), "{} to {}", b.from, b.to);
                found.push((b.from, b.to));
                at = b.to;
            }
            _ => {}
        }
    }
    assert_eq!(state(world, task).task.status, at);
    found
}

/// A task that stands there, after it has written a file unless it is ready.
fn standing(world: &World, status: TaskStatus) -> TaskId {
    let name = status.as_str();
    let file = format!("{name}.txt");
    let last = if status == Failed { write("never.txt", "x") } else { write("more.txt", "x") };
    let task = world.script(name, vec![write(&file, name), last, done("over")]);
    if status == Ready {
        return task;
    }
    let first = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, first).unwrap();
    let second = world.drive_to_approval(task);
    match status {
        Paused => {
            world.kernel().pause(task).unwrap();
            world.drive(task);
        }
        Cancelled => {
            world.kernel().cancel(task, "enough").unwrap();
            world.drive(task);
        }
        Failed => {
            world.person.deny(world.kernel(), task, second, "no").unwrap();
            world.drive(task);
        }
        Completed | RolledBack => {
            world.person.allow(world.kernel(), task, second).unwrap();
            world.drive(task);
        }
        _ => {}
    }
    if status == RolledBack {
        undo(world, task).unwrap();
    }
    assert_eq!(state(world, task).task.status, status);
    task
}

/// Takes everything back that the task did.
fn undo(world: &World, task: TaskId) -> Result<(), Error> {
    let done = |r: &&kernel::state::ReceiptRecord| r.receipt_class == ReceiptClass::ToolExecution;
    let receipts: Vec<_> =
        state(world, task).receipts.iter().rev().filter(done).map(|r| r.receipt_id).collect();
    let key = format!("undo {task}");
    let undo = world.kernel().rollback_many(&receipts, Some(task), "undo".to_owned(), Channel::Cli, key)?;
    world.drive_allowing(undo.task_id);
    Ok(())
}

#[conforms::conforms("HK-12.1-1", "HK-12.1-2")]
#[test]
fn a_task_stands_in_every_state_there_is_and_moves_only_as_the_table_says() {
    let every = [Ready, Blocked, Paused, Completed, Failed, Cancelled, RolledBack];
    type Try = fn(&World, TaskId) -> Result<(), Error>;
    let tries: [(&str, Try); 6] = [
        ("pause", |w, t| w.kernel().pause(t)),
        ("resume", |w, t| w.kernel().resume(t)),
        ("cancel", |w, t| {
            w.kernel().cancel(t, "enough")?;
            w.kernel().drive(t).map(drop)
        }),
        ("retry", |w, t| w.kernel().retry(t, format!("again {t}")).map(drop)),
        ("undo", undo),
        ("drive", |w, t| w.kernel().drive(t).map(drop)),
    ];
    let mut seen = BTreeSet::from([Created]);
    let (mut went, mut refused) = (BTreeSet::new(), Vec::new());
    for status in every {
        for (name, tried) in tries {
            let world = World::new(1_751);
            let task = standing(&world, status);
            let before = walked(&world, task);
            let answer = tried(&world, task);
            let now = walked(&world, task);
            seen.extend(now.iter().flat_map(|(from, to)| [*from, *to]));
            went.extend(now.iter().copied());
            if matches!(status, Completed | Failed | Cancelled | RolledBack) && name != "undo" {
                assert_eq!(now, before, "{status} {name}: what has ended is not gone back to");
            }
            if answer.is_err() {
                assert_eq!(now, before, "{status} {name}: what is refused changes nothing");
                refused.push((status, name));
            }
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), TaskStatus::ALL, "all nine");
    // One at work whose host has died is cancelled where it stands.
    let mut world = World::new(1_755);
    world.file("a.txt", "text");
    let task = world.script("at work", vec![look("a.txt"), done("over")]);
    die(&mut world, task, Point::ContextCompile, Edge::After);
    assert_eq!(state(&world, task).task.status, Running);
    world.kernel().cancel(task, "enough").unwrap();
    world.drive(task);
    went.extend(walked(&world, task));
    assert_eq!(went, BTreeSet::from(MAY), "each way that is allowed was gone");
    for (status, name) in [
        (Ready, "resume"),
        (Completed, "pause"),
        (Completed, "resume"),
        (Completed, "cancel"),
        (Failed, "resume"),
        (Failed, "cancel"),
        (Cancelled, "pause"),
        (Cancelled, "resume"),
        (Cancelled, "cancel"),
        (RolledBack, "resume"),
        (RolledBack, "cancel"),
    ] {
        assert!(refused.contains(&(status, name)), "`{name}` of a task that is {status} was not refused");
    }
}

#[conforms::conforms("HK-12.1-2")]
#[test]
fn what_a_cancelled_task_did_is_taken_back_and_it_stays_cancelled() {
    let world = World::new(1_752);
    let task = standing(&world, Cancelled);
    assert!(world.files().contains_key("cancelled.txt"));
    undo(&world, task).unwrap();
    assert!(!world.files().contains_key("cancelled.txt"), "it is taken back");
    assert_eq!(state(&world, task).task.status, Cancelled, "only what completed or failed is rolled back");
    walked(&world, task);
}

#[conforms::conforms("HK-8.1.1-2")]
#[test]
fn what_has_completed_failed_or_was_cancelled_takes_no_more_and_what_is_open_does() {
    for status in [Ready, Blocked, Paused, Completed, Failed, Cancelled] {
        let world = World::new(1_753);
        let task = standing(&world, status);
        let is_over = matches!(status, Completed | Failed | Cancelled);
        let note = world.kernel().append_note(task, "and this", Channel::App, "note");
        assert_eq!(matches!(note, Err(Error::Conflict(_))), is_over, "{status}: {note:?}");
        let saying = Saying { task: Some(task), ..Saying::of("and that", Channel::App, "said") };
        let bound = world.kernel().say(&saying).unwrap();
        let to = bound.task_id.expect("a task");
        assert_eq!(to != task, is_over, "{status}: a follow-up is a task of its own");
        if is_over {
            let anchor = state(&world, to).task.continuation_anchor.expect("an anchor");
            assert_eq!((anchor.anchor_task_id, anchor.outcome_status), (task, status));
        } else {
            assert_eq!(bound.resolution, IngressResolution::AppendNote);
        }
        let row = world.kernel().query().unwrap().task(task).unwrap().unwrap();
        assert_eq!(row.ended_at.is_some(), is_over, "{status}");
    }
}

/// HK-12.3-1 in the order of HK-11.1: what an attempt may go on to from each status, ends apart.
fn goes_on(from: AttemptStatus, to: AttemptStatus) -> bool {
    use AttemptStatus::*;
    let may: &[AttemptStatus] = match from {
        Created => &[Leased],
        Leased => &[CompilingContext],
        CompilingContext => &[Reasoning],
        Reasoning => &[AwaitingPolicy, AwaitingInput, CompilingContext, Succeeded],
        AwaitingPolicy => &[AwaitingApproval, Authorized, CompilingContext],
        AwaitingApproval => &[Authorized, AwaitingPolicy, CompilingContext],
        AwaitingInput => &[CompilingContext],
        Authorized => &[Executing],
        Executing => &[Observing],
        Observing => &[ReceiptPending, CompilingContext],
        ReceiptPending => &[Observing, CompilingContext, Succeeded],
        Succeeded | Failed | Cancelled | Superseded => &[],
    };
    let stops = matches!(to, Failed | Cancelled | Superseded);
    may.contains(&to) || (stops && !from.is_ended() && from != Executing)
}

#[conforms::conforms("HK-12.3-1", "HK-12.3-3")]
#[test]
fn an_attempt_stands_in_every_state_there_is_and_in_their_order() {
    let mut world = World::new(1_754);
    world.file("a.txt", "text");
    let ask = say("ask", json!({ "question": "which?" }));
    let whole =
        world.script("whole", vec![look("a.txt"), ask, write("b.txt", "b"), write("b.txt", "b"), done("ok")]);
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(whole) else { panic!("no question") };
    world.kernel().answer(whole, question, "b", Channel::App).unwrap();
    let approval = world.drive_to_approval(whole);
    world.kernel().retry(whole, "again".to_owned()).unwrap();
    assert_ne!(world.drive_to_approval(whole), approval);
    let approval = world.drive_to_approval(whole);
    world.person.allow(world.kernel(), whole, approval).unwrap();
    die(&mut world, whole, Point::EffectDispatch, Edge::After);
    world.drive_allowing(whole);
    for status in [Failed, Cancelled] {
        standing(&world, status);
    }
    let mut at: BTreeMap<AttemptId, AttemptStatus> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (_, body) in log(world.kernel()) {
        match body {
            Body::AttemptCreated(b) => drop(at.insert(b.attempt.attempt_id, b.attempt.status)),
            Body::AttemptStatusChanged(b) => {
                assert_eq!(at.insert(b.about_attempt_id, b.to), Some(b.from));
                assert!(goes_on(b.from, b.to), "{} to {}", b.from, b.to);
                seen.extend([b.from, b.to]);
            }
            _ => {}
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), AttemptStatus::ALL, "all of them");
    for (id, status) in at {
        let row = world.kernel().query().unwrap().attempt(id).unwrap().unwrap();
        assert_eq!(row.status, status, "and the view says the same");
    }
    assert_eq!(count(world.kernel(), whole, "attempt.created"), 2);
}
