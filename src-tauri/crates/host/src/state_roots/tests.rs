#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use super::*;
use kernel::command::submit::Reasoning;
use ledger::CheckpointKind;
use model::body::Body;
use testkit::World;

/// An open store with its clock, and what a person submits there.
struct Open {
    world: World,
    kernel: Arc<Kernel>,
    roots: StateRoots,
    said: Vec<kernel::command::submit::Submission>,
}

impl Open {
    fn new(seed: u64) -> Self {
        let mut world = World::new(seed);
        let said = ["one", "two", "three"].map(|goal| {
            world.reasoners.script(goal, Vec::new());
            world.submission(goal, Reasoning::Scripted { name: goal.to_owned() })
        });
        world.crash();
        let kernel = Arc::new(world.open());
        let roots = StateRoots::new(Arc::clone(&kernel));
        Self { world, kernel, roots, said: said.to_vec() }
    }

    fn say(&self, n: usize) {
        self.kernel.submit(&self.said[n]).unwrap();
    }

    /// The clock looks at what is due, some time later.
    fn later(&self, ms: i64) {
        self.world.clock.advance(ms);
        let now = self.kernel.ports().clock.now().0;
        if self.roots.next_due(UnixMs(0)).is_some_and(|at| at.0 <= now) {
            self.roots.take_up();
        }
    }

    /// Events that state roots, and whether the newest is under a signed head of the log.
    fn stated(&self) -> (usize, bool) {
        let reader = self.kernel.reader();
        let events = reader.log(0, 10_000).unwrap();
        let rooted: Vec<_> = events
            .into_iter()
            .filter(|stored| matches!(stored.event().unwrap().body(&|_| None), Ok(Body::StateRooted(_))))
            .collect();
        let signed = rooted.last().is_some_and(|last| {
            reader.global_checkpoint_covering(last.task_id, last.task_seq).unwrap().is_some()
        });
        (rooted.len(), signed)
    }

    fn heads(&self) -> u64 {
        self.kernel
            .reader()
            .last_checkpoint(CheckpointKind::Global, None)
            .unwrap()
            .map_or(0, |head| head.size)
    }
}

#[test]
fn five_minutes_after_something_was_written_its_root_is_signed_and_nothing_new_gives_none() {
    let open = Open::new(9_301);
    open.later(0);
    open.say(0);
    open.later(1_000);
    assert_eq!(open.stated(), (0, false), "it is not time yet");
    open.later(EVERY_MS - 60_000);
    assert_eq!(open.stated(), (0, false), "it is not time yet");
    open.later(60_000);
    assert_eq!(open.stated(), (1, true));
    let heads = open.heads();
    for _ in 0..4 {
        open.later(EVERY_MS);
    }
    assert_eq!((open.stated(), open.heads()), ((1, true), heads), "nothing was written");
    assert_eq!(open.roots.next_due(UnixMs(0)), None, "and nothing is due any more");
    open.say(1);
    open.later(0);
    open.later(EVERY_MS);
    assert_eq!(open.stated(), (2, true));
}

#[test]
fn a_clock_that_is_set_back_begins_the_wait_anew() {
    let open = Open::new(9_302);
    open.say(0);
    open.later(0);
    open.later(-60 * EVERY_MS);
    assert_eq!(open.stated(), (0, false));
    open.later(EVERY_MS - 60_000);
    assert_eq!(open.stated(), (0, false));
    open.later(60_000);
    assert_eq!(open.stated(), (1, true), "it does not wait until the old time has come again");
}

#[test]
fn what_failed_is_tried_again_although_nothing_else_is_written() {
    let open = Open::new(9_303);
    open.say(0);
    open.later(0);
    let views = rusqlite::Connection::open(open.world.store.path().join(ledger::FILE)).unwrap();
    let change = |sql: &str| views.execute(sql, []).unwrap();
    change("UPDATE view_conversations SET edge = CAST(x'00' || edge AS BLOB)");
    open.later(EVERY_MS);
    assert_eq!(open.stated(), (0, false));
    change("UPDATE view_conversations SET edge = substr(edge, 2)");
    open.later(60_000);
    assert_eq!(open.stated(), (0, false), "not at once");
    open.later(EVERY_MS);
    assert_eq!(open.stated(), (1, true));
}
