//! Collecting what nothing names, and finding what is damaged.

use crate::world::{World, content};
use artifacts::{Mode, Sweep};
use model::Digest;
use model::UnixMs;
use std::collections::BTreeSet;
use std::fs;

/// As a host that was opened anew does it: nothing is under way.
fn at_once(mode: Mode) -> Sweep {
    Sweep { mode, now: UnixMs(1_000), spare_since: None }
}

#[test]
fn a_dry_run_tells_and_a_real_one_removes_exactly_what_is_not_live() {
    let world = World::new();
    let store = world.store();
    let kept: Vec<Digest> = (0..6).map(|n| world.keep(&store, &content(n, 70_000))).collect();
    let store = world.store();
    let live: BTreeSet<Digest> = kept[..4].iter().copied().collect();
    let mut garbage: Vec<Digest> = kept[4..].to_vec();
    garbage.sort();
    let told = store.collect(&live, at_once(Mode::DryRun)).unwrap();
    assert_eq!((told.digests.clone(), told.bytes, told.kept), (garbage.clone(), 140_000, 4));
    assert_eq!(world.files().len(), 6, "a dry run removed something");
    assert_eq!(store.collect(&live, at_once(Mode::Remove)).unwrap(), told);
    for digest in &kept {
        assert_eq!(store.contains(digest).unwrap(), live.contains(digest));
    }
    assert_eq!(store.collect(&live, at_once(Mode::Remove)).unwrap().digests, []);
}

#[test]
fn files_under_names_of_their_own_are_left_alone_and_told() {
    let world = World::new();
    let store = world.store();
    let digest = world.keep(&store, &content(1, 70_000));
    let store = world.store();
    let folder = store.path_of(&digest).parent().unwrap().to_owned();
    let misplaced = folder.join(Digest::of(b"elsewhere").to_string());
    for stranger in [folder.join("notes.txt"), misplaced, folder.parent().unwrap().join("README")] {
        fs::write(stranger, b"x").unwrap();
    }
    let collected = store.collect(&BTreeSet::new(), at_once(Mode::Remove)).unwrap();
    assert_eq!((collected.digests, collected.strangers.len()), (vec![digest], 3));
    assert_eq!(world.files().len(), 3);
}

#[test]
fn verification_names_every_live_artifact_that_is_damaged_or_missing() {
    let world = World::new();
    let store = world.store();
    let good = world.keep(&store, &content(1, 70_000));
    let damaged = world.keep(&store, &content(2, 70_000));
    let inline = world.keep(&store, b"small");
    let missing = Digest::of(b"never kept");
    fs::write(store.path_of(&damaged), content(3, 70_000)).unwrap();
    let live = BTreeSet::from([good, damaged, inline, missing]);
    let found = store.verify(&live, &mut |_| true).unwrap();
    assert_eq!((found.checked, found.bytes, found.broken_off), (4, 70_005, false));
    assert_eq!(found.missing, [missing]);
    assert_eq!(found.damaged.iter().map(|(digest, _)| *digest).collect::<Vec<_>>(), [damaged]);
    let some = store.verify(&live, &mut |so_far| so_far.checked < 2).unwrap();
    assert_eq!((some.checked, some.broken_off), (2, true));
}
