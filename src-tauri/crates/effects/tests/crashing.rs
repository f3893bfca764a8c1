//! Every boundary, broken before and after: the world has old or new bytes, and settling tells the truth.

use crate::support::{self, World, rel, sha};
use acts::{Action, ActionRequest};
use model::action::{ChangeItem, Prior};
use model::fault::Point;
use model::receipt::{ItemOutcome, ResultCode};
use std::collections::BTreeSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const POINTS: [Point; 6] = [
    Point::ItemWriteTemp,
    Point::ItemSync,
    Point::ItemRename,
    Point::ItemSyncFolder,
    Point::ItemDelete,
    Point::ItemMove,
];

/// The machine was started before this.
const NOT_RESTARTED: model::UnixMs = model::UnixMs(i64::MAX);

fn prepared() -> (World, ActionRequest) {
    let world = World::new();
    world.put("replace", "old");
    world.put("delete", "gone");
    world.put("move", "moved");
    let items = vec![
        world.write("made/new", b"new", Prior::Absent),
        world.write("replace", b"replaced", sha(b"old")),
        ChangeItem::Delete { path: rel("delete"), prior: sha(b"gone") },
        ChangeItem::Move { from: rel("move"), to: rel("made/there"), prior: sha(b"moved") },
        world.write("replace", b"again", sha(b"replaced")),
    ];
    let request = world.request(Action::Change(acts::Change { items }));
    (world, request)
}

/// How many of the items the world shows as done; panics when it is no state between two items.
fn reached(world: &World) -> usize {
    let get = |path| world.get(path).map(|bytes| String::from_utf8(bytes).unwrap());
    let state = (get("made/new"), get("replace"), get("delete"), get("move"), get("made/there"));
    let known = [
        (None, "old", Some("gone"), Some("moved"), None),
        (Some("new"), "old", Some("gone"), Some("moved"), None),
        (Some("new"), "replaced", Some("gone"), Some("moved"), None),
        (Some("new"), "replaced", None, Some("moved"), None),
        (Some("new"), "replaced", None, None, Some("moved")),
        (Some("new"), "again", None, None, Some("moved")),
    ];
    let text = |o: Option<&str>| o.map(str::to_owned);
    known
        .iter()
        .position(|(a, b, c, d, e)| state == (text(*a), text(Some(b)), text(*c), text(*d), text(*e)))
        .unwrap_or_else(|| panic!("torn: {state:?}"))
}

fn leftovers(world: &World) -> Vec<String> {
    world.tree().keys().map(|p| p.to_string_lossy().into_owned()).filter(|p| p.contains(".hermit-")).collect()
}

/// The `n`th boundary that is crossed, before or after each point.
#[derive(Clone, Copy, Debug)]
enum Break {
    Error(io::ErrorKind),
    Crash,
}

fn broken_at(
    nth: usize,
    how: Break,
) -> Option<(World, ActionRequest, model::witness::StateWitness, Point, Option<ResultCode>)> {
    let (world, request) = prepared();
    let witness = world.witness(&request);
    let crossed = Arc::new(AtomicUsize::new(0));
    let at = Arc::new(Mutex::new(None));
    let place = at.clone();
    world.traps.set(move |point, _| {
        if crossed.fetch_add(1, Ordering::SeqCst) != nth {
            return Ok(());
        }
        *place.lock().unwrap() = Some(point);
        match how {
            Break::Error(kind) => Err(kind.into()),
            Break::Crash => std::panic::resume_unwind(Box::new("the power went")),
        }
    });
    let result = catch_unwind(AssertUnwindSafe(|| world.perform(&request)));
    let point = (*at.lock().unwrap())?;
    // The trap may have died holding its lock; the world after a crash has a new host anyway.
    let code = result.ok().map(|outcome| outcome.result_code);
    Some((world, request, witness, point, code))
}

#[test]
fn a_crash_at_any_boundary_is_settled_truthfully_and_rolled_forward_to_the_end() {
    let mut points = BTreeSet::new();
    let mut nth = 0;
    while let Some((world, request, witness, point, _)) = broken_at(nth, Break::Crash) {
        points.insert(point);
        let reached_before = reached(&world);
        let executors = rehired(&world);
        let settled = executors.settle(&request, &witness);
        let done = settled.items.iter().filter(|(_, o)| *o == ItemOutcome::Done).count();
        assert!(settled.is_certain(), "{point} {nth}: {settled:?}");
        assert_eq!(done, reached(&world), "{point} {nth}");
        assert_eq!(reached(&world), reached_before, "settling looked and did not act, at {point} {nth}");
        assert_eq!(leftovers(&world), Vec::<String>::new(), "{point} {nth}");
        let outcome = executors.roll_forward(world.authorize(&request), &request, &settled);
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{point} {nth}: {outcome:?}");
        assert_eq!(reached(&world), 5);
        // Settling again, after everything, finds everything done and changes nothing.
        let again = executors.settle(&request, &witness);
        assert!(again.items.iter().all(|(_, o)| *o == ItemOutcome::Done));
        nth += 1;
    }
    assert_eq!(points, BTreeSet::from(POINTS));
    println!("boundaries crossed and broken by a crash: {nth}");
    // Three writes, a deletion, a move; two folders before the second write of one file, one at the end.
    assert_eq!(nth, 2 * (3 * 3 + 1 + 1 + 2 + 1));
}

fn rehired(world: &World) -> effects::Executors {
    effects::Executors::new(
        effects::Workspace::open(&world.root, world.id).unwrap(),
        world.shelf.clone(),
        support::no_faults(),
        Arc::new(support::StillClock),
        effects::Spool::new(world.store.join("spool")),
        effects::Sandbox::none("none".to_owned()),
    )
}

#[test]
fn an_error_at_any_boundary_leaves_old_or_new_bytes_and_an_outcome_that_is_true() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
        let mut nth = 0;
        while let Some((world, request, witness, point, code)) = broken_at(nth, Break::Error(kind)) {
            let done = reached(&world);
            let code = code.expect("an error is no crash");
            match done {
                0 => assert!(matches!(code, ResultCode::Failed), "{point} {nth} {code}"),
                5 => assert!(matches!(code, ResultCode::Succeeded), "{point} {nth} {code}"),
                _ => assert!(matches!(code, ResultCode::Partial), "{point} {nth} {code}"),
            }
            assert_eq!(leftovers(&world), Vec::<String>::new(), "{point} {nth}");
            let settled = rehired(&world).settle(&request, &witness);
            let settled_done = settled.items.iter().filter(|(_, o)| *o == ItemOutcome::Done).count();
            assert_eq!(settled_done, done, "{point} {nth}");
            nth += 1;
        }
        assert!(nth >= 28, "{nth}");
    }
}

#[conforms::conforms("HK-6.4-2", part = "HK-27-12")]
#[test]
fn what_cannot_be_told_is_unknown_and_is_not_run_again() {
    let world = World::new();
    world.put("f", "old");
    let request =
        world.request(Action::Change(acts::Change { items: vec![world.write("f", b"new", sha(b"old"))] }));
    let witness = world.witness(&request);
    // Dispatched, crashed, and meanwhile a person saved something else there.
    world.put("f", "a person's");
    let settled = world.executors.settle(&request, &witness);
    assert_eq!(settled.items[0].1, ItemOutcome::Unknown);
    assert!(!settled.is_certain());
    let outcome = world.executors.roll_forward(world.authorize(&request), &request, &settled);
    assert_eq!(outcome.result_code, ResultCode::UnknownOutcome);
    assert_eq!(world.get("f").unwrap(), b"a person's");
}

#[test]
fn an_edit_after_the_crash_is_told_from_the_act_by_the_order_of_items() {
    let world = World::new();
    world.put("a", "a");
    world.put("b", "b");
    world.put("c", "c");
    let request = world.request(Action::Change(acts::Change {
        items: vec![
            world.write("a", b"1", sha(b"a")),
            world.write("b", b"2", sha(b"b")),
            world.write("c", b"3", sha(b"c")),
        ],
    }));
    let mut witness = world.witness(&request);
    witness.observed_at = NOT_RESTARTED;
    world.put("a", "edited since");
    world.put("b", "2");
    let outcomes = |world: &World| -> Vec<ItemOutcome> {
        world.executors.settle(&request, &witness).items.iter().map(|(_, o)| *o).collect()
    };
    assert_eq!(outcomes(&world), [ItemOutcome::Done, ItemOutcome::Done, ItemOutcome::NotDone]);
    // The third was done and the second shows the state before it: that cannot be from these executors alone.
    world.put("b", "b");
    world.put("c", "3");
    assert_eq!(outcomes(&world), [ItemOutcome::Unknown, ItemOutcome::Unknown, ItemOutcome::Done]);
}

#[test]
fn a_place_that_returns_to_what_it_was_proves_nothing() {
    let world = World::new();
    world.put("a", "a");
    let items = vec![
        world.write("a", b"1", sha(b"a")),
        world.write("b", b"2", Prior::Absent),
        ChangeItem::Delete { path: rel("b"), prior: sha(b"2") },
    ];
    let request = world.request(Action::Change(acts::Change { items }));
    let mut witness = world.witness(&request);
    witness.observed_at = NOT_RESTARTED;
    world.put("a", "a person's");
    let settled = world.executors.settle(&request, &witness);
    assert!(settled.items.iter().all(|(_, o)| *o == ItemOutcome::Unknown), "{settled:?}");
}

#[test]
fn bytes_of_a_person_caught_in_a_temporary_file_come_back_when_it_is_settled() {
    // The crash struck between moving aside and comparing: what was moved aside is not what was meant.
    let world = World::new();
    world.put("f", "a person's");
    let request = world.request(Action::Change(acts::Change {
        items: vec![ChangeItem::Delete { path: rel("f"), prior: sha(b"old") }],
    }));
    let witness = world.witness(&request);
    let temp = world.at(&format!(".hermit-{}-0.tmp", request.action_request_id));
    std::fs::rename(world.at("f"), &temp).unwrap();
    let settled = world.executors.settle(&request, &witness);
    assert_eq!(world.get("f").unwrap(), b"a person's", "{settled:?}");
    assert_eq!(world.tree().len(), 1);
    // The same with an exchange: the new bytes stand, the person's are beside them under a name to be seen.
    let request =
        world.request(Action::Change(acts::Change { items: vec![world.write("g", b"new", sha(b"old"))] }));
    let witness = world.witness(&request);
    world.put("g", "new");
    world.put(&format!(".hermit-{}-0.tmp", request.action_request_id), "a person's");
    let settled = world.executors.settle(&request, &witness);
    assert_eq!(world.get("g.kept-by-hermit-1").unwrap(), b"a person's", "{settled:?}");
    assert!(settled.notes.iter().any(|note| note.contains("kept-by-hermit")));
    assert_eq!(leftovers(&world), Vec::<String>::new());
}

#[test]
fn a_crash_between_exchange_and_removal_leaves_a_finished_item_and_nothing_to_see() {
    let world = World::new();
    let request = world.request(Action::Change(acts::Change {
        items: vec![
            world.write("f", b"new", sha(b"old")),
            ChangeItem::Delete { path: rel("g"), prior: sha(b"gone") },
        ],
    }));
    world.put("f", "old");
    world.put("g", "gone");
    let witness = world.witness(&request);
    // What an exchange leaves when the power goes right after it, and what a removal leaves.
    world.put("f", "new");
    world.put(&format!(".hermit-{}-0.tmp", request.action_request_id), "old");
    std::fs::rename(world.at("g"), world.at(&format!(".hermit-{}-1.tmp", request.action_request_id)))
        .unwrap();
    let settled = world.executors.settle(&request, &witness);
    assert!(settled.items.iter().all(|(_, o)| *o == ItemOutcome::Done), "{settled:?}");
    assert_eq!(world.tree().len(), 1);
    // Half a temporary file is swept too, and the item was not done.
    let request = world.request(Action::Change(acts::Change {
        items: vec![world.write("h", b"0123456789", Prior::Absent)],
    }));
    let witness = world.witness(&request);
    world.put(&format!(".hermit-{}-0.tmp", request.action_request_id), "01234");
    let settled = world.executors.settle(&request, &witness);
    assert_eq!(settled.items[0].1, ItemOutcome::NotDone);
    assert_eq!(world.tree().len(), 1);
}

#[test]
fn a_temporary_file_that_was_torn_when_the_machine_stopped_is_swept_and_a_younger_one_is_kept() {
    for (age, kept) in [(std::time::Duration::ZERO, true), (std::time::Duration::from_secs(1), false)] {
        let world = World::new();
        world.put("g", "old");
        let request = world.request(Action::Change(acts::Change {
            items: vec![world.write("g", b"new bytes", sha(b"old"))],
        }));
        let before = world.witness(&request);
        let temp = world.at(&format!(".hermit-{}-0.tmp", request.action_request_id));
        std::fs::write(&temp, b"\0\0garbage").unwrap();
        if !kept {
            let file = std::fs::File::options().write(true).open(&temp).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + age).unwrap();
        }
        let settled = world.executors.settle(&request, &before);
        assert_eq!(world.get("g").unwrap(), b"old");
        assert!(!temp.exists(), "{settled:?}");
        assert_eq!(world.at("g.kept-by-hermit-1").exists(), kept, "{settled:?}");
    }
}
