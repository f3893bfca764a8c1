//! Undo: any change set taken back byte for byte, undo of undo, and no human byte lost in between.

use crate::support::{World, current, file_bits, receipt, rel, sha};
use acts::{Action, ActionRequest};
use effects::plan_rollback;
use model::action::{ChangeItem, Prior};
use model::receipt::{ItemOutcome, Receipt, ResultCode};
use model::witness::Found;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Runs the kernel's part around a change: before-images are kept first, then the act, then the receipt.
fn governed(world: &World, request: &ActionRequest) -> (Receipt, ResultCode) {
    if let Action::Change(acts::Change { items }) | Action::Rollback(acts::Rollback { items, .. }) =
        &request.action
        && let Ok(images) = world.executors.before_images(items).collect::<Result<Vec<_>, _>>()
    {
        for (_, digest, bytes) in images {
            assert_eq!(world.shelf.put(&bytes), digest);
        }
    }
    let outcome = world.perform(request);
    (receipt(world, request, &outcome), outcome.result_code)
}

fn undo(world: &World, receipt: &Receipt) -> (Receipt, ResultCode) {
    let items = plan_rollback(receipt, &current(world, receipt)).unwrap();
    let request = world.request(crate::support::undo_of(receipt.receipt_id, items));
    governed(world, &request)
}

#[derive(Debug, Clone)]
enum Op {
    Write(usize, Vec<u8>),
    Delete(usize),
    Move(usize, usize),
}

const PLACES: [&str; 8] = ["a", "b", "d/a", "d/b", "d/e/a", "n/m/a", "n/b", "x y/%z"];

fn op() -> impl Strategy<Value = Op> {
    let place = 0..PLACES.len();
    prop_oneof![
        3 => (place.clone(), prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(p, b)| Op::Write(p, b)),
        1 => place.clone().prop_map(Op::Delete),
        2 => (place.clone(), place).prop_map(|(a, b)| Op::Move(a, b)),
    ]
}

/// Change items that fit the state they will meet.
fn fitting(world: &World, ops: &[Op], start: &BTreeMap<usize, Vec<u8>>) -> Vec<ChangeItem> {
    let mut state = start.clone();
    let mut items = vec![];
    for op in ops {
        match op {
            Op::Write(p, bytes) => {
                let prior = state.get(p).map_or(Prior::Absent, |old| sha(old));
                items.push(world.write(PLACES[*p], bytes, prior));
                state.insert(*p, bytes.clone());
            }
            Op::Delete(p) => {
                if let Some(old) = state.remove(p) {
                    items.push(ChangeItem::Delete { path: rel(PLACES[*p]), prior: sha(&old) });
                }
            }
            Op::Move(a, b) => {
                if a != b
                    && !state.contains_key(b)
                    && let Some(old) = state.remove(a)
                {
                    items.push(ChangeItem::Move {
                        from: rel(PLACES[*a]),
                        to: rel(PLACES[*b]),
                        prior: sha(&old),
                    });
                    state.insert(*b, old);
                }
            }
        }
    }
    items
}

/// What is at every place after each count of items.
fn worlds(
    request: &ActionRequest,
    start: &BTreeMap<usize, Vec<u8>>,
) -> Vec<BTreeMap<model::RelPath, model::Digest>> {
    let Action::Change(acts::Change { items }) = &request.action else { panic!("not a change") };
    let mut world: BTreeMap<_, _> =
        start.iter().map(|(place, bytes)| (rel(PLACES[*place]), model::Digest::of(bytes))).collect();
    let mut worlds = vec![world.clone()];
    for item in items {
        match item {
            ChangeItem::Write { path, content_sha256, .. } => {
                world.insert(path.clone(), *content_sha256);
            }
            ChangeItem::Delete { path, .. } => {
                world.remove(path);
            }
            ChangeItem::Move { from, to, .. } => {
                let moved = world.remove(from).unwrap();
                world.insert(to.clone(), moved);
            }
            ChangeItem::Folder { .. } | ChangeItem::Link { .. } => panic!("nobody proposes these"),
        }
        worlds.push(world.clone());
    }
    worlds
}

fn apart_from(
    world: &BTreeMap<model::RelPath, model::Digest>,
    path: Option<&model::RelPath>,
) -> BTreeMap<model::RelPath, model::Digest> {
    world.iter().filter(|(at, _)| Some(*at) != path).map(|(at, sha)| (at.clone(), *sha)).collect()
}

fn touches(item: &ChangeItem, place: &model::RelPath) -> bool {
    match item {
        ChangeItem::Write { path, .. } | ChangeItem::Delete { path, .. } => path == place,
        ChangeItem::Move { from, to, .. } => from == place || to == place,
        ChangeItem::Folder { path, .. } | ChangeItem::Link { path, .. } => path == place,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_change_set_is_undone_redone_and_undone_byte_for_byte(
        start in prop::collection::btree_map(0..PLACES.len(), prop::collection::vec(any::<u8>(), 0..20), 0..6),
        ops in prop::collection::vec(op(), 1..14),
    ) {
        let world = World::new();
        for (place, bytes) in &start {
            world.put(PLACES[*place], bytes);
        }
        let before = world.tree();
        let items = fitting(&world, &ops, &start);
        let request = world.request(Action::Change(acts::Change { items }));
        let (first, code) = governed(&world, &request);
        prop_assert_eq!(code, ResultCode::Succeeded);
        let after = world.tree();
        let (second, code) = undo(&world, &first);
        prop_assert_eq!(code, ResultCode::Succeeded);
        prop_assert_eq!(&world.tree(), &before);
        let (third, code) = undo(&world, &second);
        prop_assert_eq!(code, ResultCode::Succeeded);
        prop_assert_eq!(&world.tree(), &after);
        let (_, code) = undo(&world, &third);
        prop_assert_eq!(code, ResultCode::Succeeded);
        prop_assert_eq!(&world.tree(), &before);
    }

    #[test]
    fn settling_never_calls_done_what_was_not_or_the_other_way_round(
        start in prop::collection::btree_map(0..PLACES.len(), prop::collection::vec(any::<u8>(), 0..20), 0..6),
        ops in prop::collection::vec(op(), 1..10),
        reached in 0..10usize,
        edited in prop::option::of(0..PLACES.len()),
    ) {
        let world = World::new();
        for (place, bytes) in &start {
            world.put(PLACES[*place], bytes);
        }
        // Contents that differ from all others, so that one state cannot be taken for another.
        let ops: Vec<Op> = ops
            .into_iter()
            .enumerate()
            .map(|(n, op)| match op {
                Op::Write(p, bytes) => Op::Write(p, [bytes, format!("unique {n}").into_bytes()].concat()),
                other => other,
            })
            .collect();
        let request = world.request(Action::Change(acts::Change { items: fitting(&world, &ops, &start) }));
        let witness = world.witness(&request);
        let worlds = worlds(&request, &start);
        let done = std::cell::Cell::new(0);
        world.perform_with(&request, &|| done.get() >= reached, &mut |_| done.set(done.get() + 1));
        if let Some(place) = edited {
            world.put(PLACES[place], "a person was here");
        }
        let settled = world.executors.settle(&request, &witness);
        // Counts of items that leave the world as it is now, apart from the person's edit: of a set
        // that comes back to where it was, each of them is true.
        let seen = edited.map(|place| rel(PLACES[place]));
        let now = apart_from(&worlds[done.get()], seen.as_ref());
        let counts: Vec<_> =
            (0..worlds.len()).filter(|n| apart_from(&worlds[*n], seen.as_ref()) == now).collect();
        for (at, (item, outcome)) in settled.items.iter().enumerate() {
            let edited_item = seen.as_ref().is_some_and(|path| touches(item, path));
            let may = |n: &usize| match outcome {
                ItemOutcome::Done => at < *n,
                ItemOutcome::NotDone => at >= *n,
                ItemOutcome::Unknown => true,
            };
            let fits = if edited_item { may(&done.get()) } else { counts.iter().any(may) };
            prop_assert!(fits, "item {} {:?} is called {:?}, {} done", at, item, outcome, done.get());
            prop_assert!(edited.is_some() || *outcome != ItemOutcome::Unknown);
        }
    }

    #[test]
    fn an_edit_between_act_and_undo_is_a_conflict_and_every_byte_of_it_stays(
        start in prop::collection::btree_map(0..PLACES.len(), prop::collection::vec(any::<u8>(), 0..20), 1..6),
        ops in prop::collection::vec(op(), 1..10),
        edited in 0..PLACES.len(),
        late in any::<bool>(),
    ) {
        let world = World::new();
        for (place, bytes) in &start {
            world.put(PLACES[*place], bytes);
        }
        let request = world.request(Action::Change(acts::Change { items: fitting(&world, &ops, &start) }));
        let (done, _) = governed(&world, &request);
        let mut seen = current(&world, &done);
        if !late {
            world.put(PLACES[edited], "a person was here");
            seen = current(&world, &done);
        }
        let named = world.file(&rel(PLACES[edited]));
        match plan_rollback(&done, &seen) {
            Ok(items) => {
                // A person who comes after the plan is found by the items' priors.
                world.put(PLACES[edited], "a person was here");
                let request = world.request(crate::support::undo_of(done.receipt_id, items));
                let _ = governed(&world, &request);
            }
            Err(conflict) => {
                prop_assert!(!late);
                prop_assert!(conflict.items.iter().any(|item| item.resource == named.to_string()));
                prop_assert!(conflict.items.iter().all(|item| item.found_sha256().is_some()));
            }
        }
        let kept: Vec<_> = world.tree().into_values().filter(|(_, bytes)| bytes == b"a person was here").collect();
        prop_assert_eq!(kept.len(), 1);
    }
}

#[test]
fn what_cannot_be_undone_is_named_with_both_digests_and_nothing_changes() {
    let world = World::new();
    world.put("a", "a");
    world.put("b", "b");
    let request = world.request(Action::Change(acts::Change {
        items: vec![world.write("a", b"1", sha(b"a")), world.write("b", b"2", sha(b"b"))],
    }));
    let (mut done, _) = governed(&world, &request);
    world.put("a", "mine");
    done.changes[1].before_image = None;
    let conflict = plan_rollback(&done, &current(&world, &done)).unwrap_err();
    assert_eq!(conflict.items.len(), 2);
    let item = conflict.items.iter().find(|item| item.resource.ends_with("/a")).unwrap();
    assert_eq!(item.left_sha256(), Some(model::Digest::of(b"1")));
    assert_eq!(item.found_sha256(), Some(model::Digest::of(b"mine")));
    let item = conflict.items.iter().find(|item| item.resource.ends_with("/b")).unwrap();
    assert!(item.why.contains("not kept"));
    assert_eq!((world.get("a").unwrap(), world.get("b").unwrap()), (b"mine".to_vec(), b"2".to_vec()));
}

#[test]
fn an_undone_deletion_has_its_mode_again_and_made_folders_with_somebodys_files_stay() {
    let world = World::new();
    world.put("run.sh", "#!/bin/sh");
    file_bits::give(&world.at("run.sh"), 0o755).unwrap();
    let request = world.request(Action::Change(acts::Change {
        items: vec![
            ChangeItem::Delete { path: rel("run.sh"), prior: sha(b"#!/bin/sh") },
            world.write("made/by/us", b"us", Prior::Absent),
        ],
    }));
    let (done, _) = governed(&world, &request);
    world.put("made/theirs", "theirs");
    let (undone, code) = undo(&world, &done);
    assert_eq!(code, ResultCode::Succeeded);
    // What stays is told as there, and what went as gone.
    let told = |path: &str| {
        let change =
            undone.changes.iter().find(|change| change.resource.shown().unwrap().ends_with(path)).unwrap();
        (change.outcome, change.after == Found::Absent)
    };
    assert_eq!(told("/made"), (ItemOutcome::NotDone, false));
    assert_eq!(told("/made/by"), (ItemOutcome::Done, true));
    assert_eq!(world.get("run.sh").unwrap(), b"#!/bin/sh");
    assert_eq!(file_bits::of(&world.at("run.sh")), file_bits::seen(0o755));
    assert_eq!(world.get("made/theirs").unwrap(), b"theirs");
    assert!(!world.at("made/by").exists());
}
