//! Collecting beside writers: what was just kept is spared until its act had time to name it.

use crate::world::{World, files_below, noise};
use artifacts::{Mode, Store, Sweep};
use model::{Digest, UnixMs, limits};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

fn sweep(now: i64) -> Sweep {
    Sweep { mode: Mode::Remove, now: UnixMs(now), spare_since: None }
}

#[test]
fn what_was_just_kept_is_spared_for_a_day_from_the_first_collection_on() {
    let world = World::new();
    let store = world.store();
    let small = store.put_file(b"about to be overwritten").unwrap();
    let large = world.keep(&store, &noise(1, 2 * limits::WHOLE_ARTIFACT_BYTES_MAX));
    let day = limits::CONTENT_LEASE_MS;
    for now in [0, day - 1] {
        let collected = store.collect(&BTreeSet::new(), sweep(now)).unwrap();
        assert_eq!((collected.digests.len(), collected.chunks, collected.spared), (0, 0, 2));
    }
    assert!(store.read(&small).is_ok() && store.read(&large).is_ok());
    let collected = store.collect(&BTreeSet::new(), sweep(day)).unwrap();
    assert_eq!(collected.digests.len(), 2);
    assert!(files_below(&world, "chunks").is_empty());
}

#[test]
fn bytes_that_were_there_already_are_spared_when_they_are_kept_again() {
    let world = World::new();
    let bytes = noise(2, 100_000);
    let digest = world.keep(&world.store(), &bytes);
    let store = world.store();
    assert_eq!(world.keep(&store, &bytes), digest);
    assert_eq!(store.collect(&BTreeSet::new(), sweep(0)).unwrap().spared, 1);
    assert!(store.read(&digest).is_ok());
    // Another host knows nothing of that, but sees when the file was written.
    let young = Sweep { spare_since: Some(UnixMs(0)), ..sweep(0) };
    assert_eq!(world.store().collect(&BTreeSet::new(), young).unwrap().spared, 1);
    let old = Sweep { spare_since: Some(UnixMs(i64::MAX)), ..sweep(0) };
    assert_eq!(world.store().collect(&BTreeSet::new(), old).unwrap().digests, [digest]);
}

/// Writers keep content whole and in chunks, much of it the same, and name it a moment later, while one thread collects
/// what is not named, over and over.
#[test]
fn nothing_that_is_named_is_ever_lost_to_a_collection_beside_its_writers() {
    let world = World::new();
    let store = world.store();
    let (named, ended) = (Mutex::new(BTreeSet::new()), AtomicBool::new(false));
    let large = noise(3, limits::WHOLE_ARTIFACT_BYTES_MAX + 600_000);
    // Garbage of before that shares chunks and whole files with what is kept meanwhile.
    for n in 0..4 {
        world.keep(&world.store(), &changed(&large, n));
        world.keep(&world.store(), &noise(n as u64, 80_000));
    }
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3_usize)
            .map(|writer| {
                let (world, store, named, large) = (&world, &store, &named, &large);
                scope.spawn(move || {
                    for n in 0..8 {
                        let digests = [
                            world.keep(store, &changed(large, n + writer)),
                            world.keep(store, &noise(n as u64, 80_000)),
                        ];
                        std::thread::yield_now();
                        named.lock().unwrap().extend(digests);
                    }
                })
            })
            .collect();
        let (store, named, ended) = (&store, &named, &ended);
        let collector = scope.spawn(move || {
            let mut rounds = 0_i64;
            while !ended.load(Ordering::SeqCst) || rounds < 3 {
                let live: BTreeSet<Digest> = named.lock().unwrap().clone();
                store.collect(&live, sweep(rounds)).unwrap();
                rounds += 1;
            }
            rounds
        });
        // Also where a writer panics, the collector comes to its end.
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        ended.store(true, Ordering::SeqCst);
        assert!(collector.join().unwrap() >= 3);
        written.into_iter().for_each(|written| written.unwrap());
    });
    let named = named.into_inner().unwrap();
    assert!(named.len() >= 18, "{}", named.len());
    assert!(store.verify(&named, &mut |_| true).unwrap().is_whole());
    // What nobody named goes when nothing is under way any more.
    let next: Store = world.store();
    next.collect(&BTreeSet::new(), sweep(0)).unwrap();
    assert!(["sha256", "lists", "chunks"].iter().all(|folder| files_below(&world, folder).is_empty()));
}

fn changed(bytes: &[u8], n: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[n * 400_000] ^= 1;
    bytes
}
