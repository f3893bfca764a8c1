//! What only Windows refuses: names that it cannot hold, and what has no meaning there.

use crate::support::{self, World, rel, sha, undo_of};
use model::ReceiptId;
use model::action::{ChangeItem, Prior};
use model::fault::Point;
use model::receipt::ResultCode;

/// The end of every refusal of something that this system has in another way.
const NOT_HERE: &str = "does not have this on this system yet";

#[test]
fn a_set_with_a_name_that_cannot_be_held_is_refused_before_anything_is_written() {
    for names in [&["con.txt"][..], &["a/b:c"], &["dot."], &["README.md", "readme.md"]] {
        let world = World::new();
        world.put("old", "old");
        let mut items =
            vec![world.write("old", b"new", sha(b"old")), world.write("first", b"1", Prior::Absent)];
        items.extend(names.iter().map(|name| world.write(name, b"x", Prior::Absent)));
        let before = world.tree();
        let (_, outcome) = world.change(items);
        assert_eq!(outcome.result_code, ResultCode::Failed, "{names:?}: {outcome:?}");
        let error = outcome.error.unwrap();
        assert!(error.contains("Windows") && error.contains("another name"), "{names:?}: {error}");
        assert_eq!(world.tree(), before, "{names:?}");
    }
}

/// Names that look like those that the system gives beside a longer one.
#[test]
fn a_file_that_has_a_short_name_of_its_own_is_worked_on_by_it() {
    let world = World::new();
    world.put("notes~1.txt", "old");
    let items =
        vec![world.write("notes~1.txt", b"new", sha(b"old")), world.write("new~1.txt", b"1", Prior::Absent)];
    let (_, outcome) = world.change(items);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
    assert_eq!(
        (world.get("notes~1.txt"), world.get("new~1.txt")),
        (Some(b"new".to_vec()), Some(b"1".to_vec()))
    );
}

#[test]
fn bits_of_permission_and_links_that_are_asked_for_are_refused_and_nothing_is_left() {
    let world = World::new();
    world.put("run.sh", "1");
    let before = world.tree();
    let mut write = world.write("run.sh", b"2", sha(b"1"));
    if let ChangeItem::Write { mode, .. } = &mut write {
        *mode = Some(0o755);
    }
    let link = ChangeItem::Link { path: rel("link"), target: "run.sh".to_owned(), prior: Prior::Absent };
    for item in [write, link] {
        let words = format!("{item:?}");
        let receipt = ReceiptId::fresh(&support::StillClock, &*world.entropy);
        let outcome = world.perform(&world.request(undo_of(receipt, vec![item])));
        assert_eq!(outcome.result_code, ResultCode::Failed, "{words}: {outcome:?}");
        assert!(
            outcome.error.as_deref().is_some_and(|error| error.contains(NOT_HERE)),
            "{words}: {outcome:?}"
        );
        assert_eq!(world.tree(), before, "{words}");
    }
}

#[test]
fn a_folder_that_is_being_worked_in_cannot_be_moved_away() {
    let world = World::new();
    world.put("d/file", "old");
    let root = world.root.clone();
    world.traps.set(move |point, after| match (point, after) {
        (Point::ItemRename, false) => std::fs::rename(root.join("d"), root.join("aside")),
        _ => Ok(()),
    });
    let (_, outcome) = world.change(vec![world.write("d/file", b"new", sha(b"old"))]);
    assert_eq!(outcome.result_code, ResultCode::Failed, "{outcome:?}");
    assert_eq!((world.get("d/file"), world.at("aside").exists()), (Some(b"old".to_vec()), false));
}
