//! The historian of a store of a million events: it reads what is new, and no more (memory.md 7). In the suite it is
//! smaller; `npm run bench -- history SIZE` runs it at another size.

use ledger::{Batch, OpenOptions, Writer};
use model::body::TaskPauseRequested;
use model::event::{Actor, Draft};
use model::fault::{NoFaults, Point};
use model::ingress::Channel;
use model::principal::PrincipalType;
use model::{Clock as _, EventId, PrincipalId, TaskId};
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;
use testkit::{FakeClock, SeededEntropy, World, done, say};

/// Events in the suite.
const EVENTS: usize = 4_000;
/// Events of one commit.
const COMMIT: usize = 1_000;
/// What a task of a few turns, a proposal and its no come to.
const FEW: u64 = 400;

/// A task that a person corrects while it waits for them.
fn corrected(world: &World, goal: &str, words: &str) -> TaskId {
    let task = world.script(goal, vec![say("ask", json!({ "question": format!("go on with {goal}?") }))]);
    let kernel::DriveOutcome::Waiting(kernel::Waiting::Answer(id)) = world.drive(task) else {
        panic!("it asks")
    };
    world.kernel().append_note(task, words, Channel::App, goal).expect("heard");
    world.reasoners.script(goal, vec![done("ok")]);
    if let kernel::DriveOutcome::Waiting(_) = world.drive(task) {
        world.kernel().answer(task, id, "yes", Channel::App).expect("answered");
        world.drive(task);
    }
    task
}

/// Looks on until nothing is left; how many events were read for it, and how many lines were proposed. What is proposed gets a no.
fn look(world: &World) -> (u64, usize) {
    let (mut events, mut lines) = (0, 0);
    for _ in 0..1_000 {
        let looked = world.kernel().read_history(0).expect("it looks");
        events += looked.events;
        lines += looked.lines;
        if let Some(task) = looked.task_id {
            let at = world.drive_to_approval(task);
            world.person.deny(world.kernel(), task, at, "no").expect("denied");
            world.drive(task);
        } else if !looked.more {
            return (events, lines);
        }
    }
    panic!("it looks for ever")
}

/// Appends events of tasks that nobody corrects.
fn grow(world: &mut World, events: usize, seed: u64) {
    world.crash();
    let (clock, entropy) = (FakeClock::new(), SeededEntropy::new(seed));
    let options = OpenOptions {
        hermit_version: "test".to_owned(),
        projector: Box::new(projections::Fold::new()),
        faults: Arc::new(NoFaults),
        entropy: Arc::new(SeededEntropy::new(seed + 1)),
        log_keys: Vec::new(),
    };
    let writer = Writer::open(world.store.path(), options).expect("the ledger opens");
    let actor_id = PrincipalId::fresh(&clock, &entropy);
    for _ in 0..events.div_ceil(COMMIT) {
        let task = TaskId::fresh(&clock, &entropy);
        let draft = || Draft {
            event_id: EventId::fresh(&clock, &entropy),
            task_id: task,
            step_id: None,
            attempt_id: None,
            occurred_at: clock.now(),
            actor: Actor { actor_type: PrincipalType::User, actor_id },
            body: TaskPauseRequested { about_task_id: task }.into(),
            causation_id: None,
            correlation_id: "corr".to_owned(),
            idempotency_key: None,
            workspace_id: None,
        };
        let drafts = (0..COMMIT).map(|_| draft()).collect();
        writer.commit(Batch { drafts, ..Batch::new(Point::TaskStart) }).expect("committed");
    }
    drop(writer);
    world.reopen();
}

#[test]
fn the_historian_of_many_events_reads_what_is_new_and_no_more() {
    let many = super::asked("HERMIT_SIMULATION_HISTORY", EVENTS);
    let mut world = World::new(9_401);
    corrected(&world, "First", "Always write dates as year, month, day");
    assert_eq!(look(&world).1, 1);
    let began = Instant::now();
    grow(&mut world, many, 9_402);
    let grown = began.elapsed();
    let all = many.div_ceil(COMMIT) as u64 * COMMIT as u64;
    let began = Instant::now();
    let (events, lines) = look(&world);
    let took = began.elapsed();
    println!("{all} events written in {grown:.1?}; the historian read {events} in {took:.1?}");
    assert!((all..all + FEW).contains(&events), "each once: {events} of {all}");
    assert_eq!(lines, 0);
    let (again, _) = look(&world);
    assert!(again <= 2, "it has read them: {again}");
    // The next process begins where the last look that is on record ended.
    world.reopen();
    let (next, _) = look(&world);
    assert!(next < 20_000 + FEW, "{next}");
    let (again, _) = look(&world);
    assert!(again <= 2, "{again}");
    // What is new is a task: its events are read twice, as those of the log and as its own.
    corrected(&world, "Second", "Do not touch the vendor folder");
    let (new, lines) = look(&world);
    assert_eq!(lines, 1);
    println!("after one more task it read {new}");
    assert!(new < FEW, "{new} events for one task");
}
