//! Many at once: one commit for all, each batch whole or not at all.

use crate::world::{World, assert_sound, batch, keyed, plain, task};
use ledger::{Batch, Error};
use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

#[conforms::conforms("HK-13.2-1", "HK-20.1-1")]
#[test]
fn sixteen_threads_leave_every_task_without_gaps() {
    const THREADS: usize = 16;
    const ROUNDS: usize = 25;
    let world = World::new();
    let writer = world.writer();
    let shared = task();
    let start = Barrier::new(THREADS);
    let own: Vec<_> = thread::scope(|scope| {
        let run = |_| {
            scope.spawn(|| {
                let own = task();
                start.wait();
                for _ in 0..ROUNDS {
                    let committed = writer.commit(batch(vec![plain(own), plain(shared)])).unwrap();
                    assert_eq!(committed.placed.len(), 2);
                }
                own
            })
        };
        let threads: Vec<_> = (0..THREADS).map(run).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let reader = writer.reader();
    for id in own {
        let seqs: Vec<u64> = reader.events(id, 0, 1000).unwrap().iter().map(|s| s.task_seq).collect();
        assert_eq!(seqs, (1..=ROUNDS as u64).collect::<Vec<_>>());
    }
    assert_eq!(reader.task_head(shared).unwrap().unwrap().0, (THREADS * ROUNDS) as u64);
    assert_sound(&world.verify());
}

#[test]
fn of_many_who_saw_the_same_end_exactly_one_goes_on() {
    const THREADS: usize = 16;
    let world = World::new();
    let writer = world.writer();
    let id = task();
    let start = Barrier::new(THREADS);
    let won: usize = thread::scope(|scope| {
        let run = |_| {
            scope.spawn(|| {
                start.wait();
                let looking = Batch { expect: vec![(id, 0)], ..batch(vec![plain(id)]) };
                match writer.commit(looking) {
                    Ok(_) => 1,
                    Err(Error::Moved { expected: 0, found: 1, .. }) => 0,
                    Err(other) => panic!("{other:?}"),
                }
            })
        };
        let threads: Vec<_> = (0..THREADS).map(run).collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(won, 1);
}

#[conforms::conforms("HK-13.3-2")]
#[test]
fn refused_batches_of_a_group_take_nobody_with_them() {
    const THREADS: usize = 32;
    let world = World::new();
    let writer = world.writer();
    let start = Barrier::new(THREADS);
    // Every key is used by four threads: one of them gets in, the others are told its event.
    let events: Vec<(usize, Result<model::EventId, model::EventId>)> = thread::scope(|scope| {
        let run = |n: usize| {
            let (writer, start) = (&writer, &start);
            scope.spawn(move || {
                start.wait();
                let key = n / 4;
                match writer.commit(batch(vec![plain(task()), keyed(task(), &format!("key {key}"))])) {
                    Ok(committed) => (key, Ok(committed.placed[1].event.event_id)),
                    Err(Error::Duplicate { event_id }) => (key, Err(event_id)),
                    Err(other) => panic!("{other:?}"),
                }
            })
        };
        let threads: Vec<_> = (0..THREADS).map(run).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    for key in 0..THREADS / 4 {
        let of_key = events.iter().filter(|(k, _)| *k == key).map(|(_, e)| *e);
        let ids: BTreeSet<_> = of_key.clone().map(|e| e.unwrap_or_else(|id| id)).collect();
        assert_eq!(ids.len(), 1, "all are told the same event");
        assert_eq!(of_key.filter(Result::is_ok).count(), 1);
    }
    assert_eq!(world.reader().stats().unwrap().events, 2 * (THREADS as u64) / 4);
    assert_sound(&world.verify());
}
