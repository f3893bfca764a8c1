//! Many items: their folders are synced together, in the order that no power cut can turn into a loss.

use crate::support::{World, rel, sha};
use acts::{Action, ActionRequest};
use model::UnixMs;
use model::action::{ChangeItem, Prior};
use model::fault::Point;
use model::receipt::{ItemOutcome, ResultCode};
use model::witness::StateWitness;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Long ago: the machine was started since.
const RESTARTED: UnixMs = UnixMs(0);

fn moved(from: &str, to: &str, bytes: &[u8]) -> ChangeItem {
    ChangeItem::Move { from: rel(from), to: rel(to), prior: sha(bytes) }
}

/// `n` loose files that go to two folders.
fn loose(world: &World, n: usize) -> Vec<ChangeItem> {
    let item = |at: usize| {
        let (name, kind) = (format!("file-{at}"), if at.is_multiple_of(2) { "even" } else { "odd" });
        world.put(&name, name.as_bytes());
        moved(&name, &format!("{kind}/{name}"), name.as_bytes())
    };
    (0..n).map(item).collect()
}

/// The boundaries that are crossed, in order.
fn crossed(world: &World) -> Arc<Mutex<Vec<Point>>> {
    let crossed = Arc::new(Mutex::new(Vec::new()));
    let told = crossed.clone();
    world.traps.set(move |point, after| {
        if after {
            told.lock().unwrap().push(point);
        }
        Ok(())
    });
    crossed
}

fn syncs(points: &Mutex<Vec<Point>>) -> usize {
    points.lock().unwrap().iter().filter(|point| **point == Point::ItemSyncFolder).count()
}

#[test]
fn a_set_of_many_moves_syncs_each_folder_once_for_a_thousand_of_them() {
    let world = World::new();
    let items = loose(&world, 2_500);
    let points = crossed(&world);
    let (_, outcome) = world.change(items);
    assert_eq!(outcome.result_code, ResultCode::Succeeded);
    // Two folders that get and one that gives, at 1,000, at 2,000 and at the end.
    assert_eq!(syncs(&points), 9);
    assert_eq!(points.lock().unwrap().last(), Some(&Point::ItemSyncFolder), "told only when durable");
}

/// Not a test of its own: what the next test watches.
#[test]
fn the_moves_that_are_watched() {
    if std::env::var_os(WATCHED).is_some() {
        let world = World::new();
        let items = loose(&world, 200);
        assert_eq!(world.change(items).1.result_code, ResultCode::Succeeded);
    }
}

const WATCHED: &str = "HERMIT_TEST_WATCHED";

/// What `strace` with these words says of one of these tests, which has to pass; nothing where there is no `strace`.
fn watched(words: &[&str], name: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let ran = Command::new("strace")
        .args(["-f", "-y", "-qq"])
        .args(words)
        .arg("-o")
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("batching::{name}"), "--test-threads", "1"])
        .env(WATCHED, "1")
        .output();
    let Ok(ran) = ran else {
        println!("not watched: there is no strace");
        return None;
    };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    Some(std::fs::read_to_string(log).unwrap())
}

#[test]
fn the_machine_itself_sees_few_syncs_and_the_folder_that_gets_before_the_one_that_gives() {
    let words = ["-e", "trace=fsync,fdatasync,sync,syncfs,renameat2"];
    let Some(log) = watched(&words, "the_moves_that_are_watched") else { return };
    let calls: Vec<&str> = log.lines().filter(|line| line.contains("lease")).collect();
    let renames = calls.iter().filter(|line| line.contains("renameat2(")).count();
    assert_eq!(renames, 200, "{log}");
    let last = calls.iter().rposition(|line| line.contains("renameat2(")).unwrap();
    let synced = |line: &&str| -> Option<PathBuf> {
        Some(Path::new(line.split_once("fsync(")?.1.split_once('<')?.1.split_once('>')?.0).to_owned())
    };
    let at_the_end: Vec<PathBuf> = calls[last + 1..].iter().filter_map(synced).collect();
    let names: Vec<_> = at_the_end.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names[..2].contains(&"even") && names[..2].contains(&"odd"), "{names:?}");
    assert_eq!(names[2], "lease", "what gave is synced last");
    // Before: the two folders that were made, each into the one above it.
    assert!(calls[..last].iter().filter_map(synced).count() <= 2, "{log}");
}

/// An undo takes away the folders that an act has made, so which were missing outlives a power cut at any moment of it.
#[test]
fn which_folders_were_missing_is_on_the_disk_before_the_first_of_them_is_made() {
    let words = ["-e", "trace=fsync,fdatasync,mkdir,mkdirat"];
    let Some(log) = watched(&words, "the_moves_that_are_watched") else { return };
    let lines: Vec<&str> = log.lines().collect();
    let place = |parts: [&str; 2]| lines.iter().position(|line| parts.iter().all(|part| line.contains(part)));
    let made = place(["mkdir", "\"even\""]).unwrap_or_else(|| panic!("no folder is made: {log}"));
    let noted = place(["fsync(", ".absent.json."]).unwrap_or_else(|| panic!("never synced: {log}"));
    // The note, its name, and the folder that it lies in.
    let syncs = lines.get(noted..made).unwrap_or_default().iter().filter(|line| line.contains("fsync("));
    assert!(syncs.count() >= 3, "not whole before a folder is made: {log}");
}

/// What an item leaves to a later one is durable before that begins.
#[test]
fn what_an_item_builds_on_is_synced_before_it() {
    let of = |files: &[(&str, &str)], items: &dyn Fn(&World) -> Vec<ChangeItem>| {
        let world = World::new();
        files.iter().for_each(|(path, bytes)| world.put(path, bytes));
        let items = items(&world);
        let points = crossed(&world);
        let (_, outcome) = world.change(items);
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
        let points = points.lock().unwrap().clone();
        let acts = |point: &Point| !matches!(point, Point::ItemWriteTemp | Point::ItemSync);
        points.into_iter().filter(acts).collect::<Vec<_>>()
    };
    use Point::{ItemDelete as Delete, ItemMove as Move, ItemRename as Rename, ItemSyncFolder as Sync};
    // The last file of a folder goes, then the folder.
    let emptied = of(&[("d/a", "a"), ("e/b", "b")], &|_| {
        vec![moved("d/a", "e/a", b"a"), ChangeItem::Delete { path: rel("d"), prior: Prior::EmptyFolder }]
    });
    assert_eq!(emptied, [Move, Sync, Sync, Delete, Sync]);
    // A file goes, and another takes its name.
    let replaced =
        of(&[("d/a", "a"), ("e/b", "b")], &|_| vec![moved("d/a", "e/a", b"a"), moved("e/b", "d/a", b"b")]);
    assert_eq!(replaced, [Move, Sync, Sync, Move, Sync, Sync]);
    // A folder that got a file gives another one: which of the two to sync first could not be said.
    let through =
        of(&[("d/a", "a"), ("e/b", "b")], &|_| vec![moved("d/a", "e/a", b"a"), moved("e/b", "f", b"b")]);
    assert_eq!(through, [Move, Sync, Sync, Move, Sync, Sync]);
    // A folder is made, then a file in it.
    let inside = of(&[], &|world| {
        vec![
            ChangeItem::Folder { path: rel("d"), mode: None, was: None },
            world.write("d/a", b"a", Prior::Absent),
        ]
    });
    assert_eq!(inside, [Rename, Sync, Rename, Sync]);
    // Nothing between items that have nothing to do with each other.
    let apart = of(&[("d/a", "a"), ("d/b", "b")], &|world| {
        vec![world.write("d/a", b"1", sha(b"a")), world.write("d/b", b"2", sha(b"b"))]
    });
    assert_eq!(apart, [Rename, Rename, Sync]);
}

#[test]
fn a_sync_that_cannot_be_prepared_stops_the_set() {
    let world = World::new();
    let items = loose(&world, 1_200);
    let request = world.request(Action::Change(acts::Change { items }));
    let passed = AtomicUsize::new(0);
    world.traps.set(move |point, after| {
        // Of the first thousand, the second folder.
        let second = point == Point::ItemSyncFolder && !after && passed.fetch_add(1, Ordering::SeqCst) == 1;
        if second { Err(std::io::ErrorKind::Other.into()) } else { Ok(()) }
    });
    let outcome = world.perform(&request);
    assert!(
        outcome.error.as_deref().unwrap_or_default().contains("what was done last"),
        "{:?}",
        outcome.error
    );
    let done = world.tree().keys().filter(|path| path.starts_with("even") || path.starts_with("odd")).count();
    assert_eq!(done, 1_000 + 2, "it stops there");
}

/// Where a sync fails, nobody can say of what waited for it that it lasts.
#[test]
fn nothing_is_called_done_that_was_not_synced() {
    let words = ["-e", "trace=fsync", "-e", "inject=fsync:error=EIO"];
    if let Some(log) = watched(&words, "the_moves_that_do_not_last") {
        assert!(log.contains("INJECTED"), "{log}");
    }
}

/// Not a test of its own: what the test above watches.
#[test]
fn the_moves_that_do_not_last() {
    if std::env::var_os(WATCHED).is_none() {
        return;
    }
    let world = World::new();
    ["even/x", "odd/x"].iter().for_each(|path| world.put(path, "x"));
    let mut items = loose(&world, 20);
    // It waits for what went to that folder, and is not begun.
    items.push(ChangeItem::Delete { path: rel("odd"), prior: Prior::EmptyFolder });
    let (_, outcome) = world.change(items);
    assert_eq!(outcome.result_code, ResultCode::UnknownOutcome, "{outcome:?}");
    let of = |wanted| outcome.changes.iter().filter(|change| change.outcome == wanted).count();
    // Twenty moves with two places each, and the deletion.
    assert_eq!((of(ItemOutcome::Unknown), of(ItemOutcome::Done), of(ItemOutcome::NotDone)), (40, 0, 1));
    assert!(outcome.error.unwrap().contains("not known to last"));
}

/// Whether the item at a place is kept.
type Kept = fn(usize) -> bool;

/// Of the items that waited for a sync, a power cut keeps any and undoes any; each is found as it is.
#[test]
fn after_a_power_cut_each_item_is_found_done_or_not_done_and_the_rest_is_done() {
    let kept: [(&str, Kept); 4] = [
        ("none", |_| false),
        ("every third", |at| at.is_multiple_of(3)),
        ("all but the first", |at| at != 0),
        ("one folder's", |at| at % 2 == 1),
    ];
    for (words, kept) in kept {
        let world = World::new();
        let items = loose(&world, 60);
        let request: ActionRequest = world.request(Action::Change(acts::Change { items }));
        let mut witness = world.witness(&request);
        witness.observed_at = RESTARTED;
        assert_eq!(world.perform(&request).result_code, ResultCode::Succeeded);
        for at in (0..60).filter(|at| !kept(*at)) {
            let folder = if at.is_multiple_of(2) { "even" } else { "odd" };
            std::fs::rename(world.at(&format!("{folder}/file-{at}")), world.at(&format!("file-{at}")))
                .unwrap();
        }
        let settled = world.executors.settle(&request, &witness);
        for (at, (_, outcome)) in settled.items.iter().enumerate() {
            let truth = if kept(at) { ItemOutcome::Done } else { ItemOutcome::NotDone };
            assert_eq!(*outcome, truth, "{words}: item {at}");
        }
        if words == "every third" {
            // Where the machine went on, the same can only be somebody else's work.
            let went_on = StateWitness { observed_at: UnixMs(i64::MAX), ..witness.clone() };
            let outcomes = world.executors.settle(&request, &went_on).items;
            let told = |at| if kept(at) { ItemOutcome::Done } else { ItemOutcome::Unknown };
            assert!(outcomes.iter().enumerate().all(|(at, (_, outcome))| *outcome == told(at)));
        }
        let outcome = world.executors.roll_forward(world.authorize(&request), &request, &settled);
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{words}: {outcome:?}");
        assert!((0..60).all(|at| world.get(&format!("file-{at}")).is_none()));
    }
}

/// A file at both of its names, as two steps of a disk may leave it, is for a person to look at: nothing is lost.
#[test]
fn a_file_found_at_both_names_is_unknown_and_stays() {
    let world = World::new();
    let items = loose(&world, 4);
    let request = world.request(Action::Change(acts::Change { items }));
    let mut witness = world.witness(&request);
    witness.observed_at = RESTARTED;
    assert_eq!(world.perform(&request).result_code, ResultCode::Succeeded);
    std::fs::copy(world.at("odd/file-1"), world.at("file-1")).unwrap();
    let settled = world.executors.settle(&request, &witness);
    let outcomes: Vec<_> = settled.items.iter().map(|(_, outcome)| *outcome).collect();
    use ItemOutcome::{Done, Unknown};
    assert_eq!(outcomes, [Done, Unknown, Done, Done]);
    assert_eq!(world.get("file-1"), world.get("odd/file-1"));
}

/// A crash leaves names that are seen and not yet durable: they are synced before they are called done.
#[test]
fn settling_syncs_what_it_calls_done() {
    let Some(log) = watched(&["-e", "trace=fsync"], "the_settling_that_is_watched") else { return };
    let synced = log.lines().filter(|line| line.contains("fsync(") && line.contains("lease")).count();
    // Two as the folders were made; then three as it was settled.
    assert_eq!(synced, 5, "{log}");
}

/// Not a test of its own: what the test above watches.
#[test]
fn the_settling_that_is_watched() {
    if std::env::var_os(WATCHED).is_none() {
        return;
    }
    let world = World::new();
    let items = loose(&world, 20);
    let request = world.request(Action::Change(acts::Change { items }));
    let witness = world.witness(&request);
    world.traps.set(|point, after| {
        if point == Point::ItemSyncFolder && !after {
            std::panic::resume_unwind(Box::new("the host was ended"));
        }
        Ok(())
    });
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.perform(&request))).unwrap_err();
    let settled = world.executors.settle(&request, &witness);
    assert!(settled.items.iter().all(|(_, outcome)| *outcome == ItemOutcome::Done));
}
