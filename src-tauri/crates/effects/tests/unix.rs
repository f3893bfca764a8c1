//! What only Unix has: symbolic links, pipes, names of any bytes, bits of permission and owners of files.

use crate::looking::{list, look, paths};
use crate::support::{World, file_bits, rel, sha};
use acts::Action;
use model::action::{ChangeItem, Prior, ReadItem};
use model::fault::Point;
use model::receipt::ResultCode;
use model::witness::Found;
use model::{Digest, RelPath};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};

#[test]
fn a_replaced_file_keeps_its_mode_and_owner() {
    let world = World::new();
    world.put("run.sh", "1");
    file_bits::give(&world.at("run.sh"), 0o751).unwrap();
    let root = rustix::process::geteuid().is_root();
    if root {
        std::os::unix::fs::chown(world.at("run.sh"), Some(1234), Some(1234)).unwrap();
    }
    let (_, outcome) = world.change(vec![world.write("run.sh", b"2", sha(b"1"))]);
    assert_eq!(outcome.result_code, ResultCode::Succeeded);
    let metadata = std::fs::metadata(world.at("run.sh")).unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o751);
    assert!(!root || metadata.uid() == 1234);
}

#[test]
fn nothing_is_written_through_a_link_wherever_it_stands() {
    let world = World::new();
    let outside = world.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file"), "theirs").unwrap();
    symlink(&outside, world.at("out")).unwrap();
    symlink(outside.join("file"), world.at("last")).unwrap();
    world.put("in/file", "inside");
    symlink("in", world.at("alias")).unwrap();
    for item in [
        world.write("out/new", b"x", Prior::Absent),
        world.write("out/sub/new", b"x", Prior::Absent),
        world.write("out/file", b"x", sha(b"theirs")),
        world.write("last", b"x", sha(b"theirs")),
        world.write("last", b"x", Prior::Absent),
        world.write("alias/file", b"x", sha(b"inside")),
        ChangeItem::Delete { path: rel("out/file"), prior: sha(b"theirs") },
        ChangeItem::Delete { path: rel("last"), prior: sha(b"theirs") },
        ChangeItem::Move { from: rel("in/file"), to: rel("out/moved"), prior: sha(b"inside") },
        ChangeItem::Move { from: rel("out/file"), to: rel("stolen"), prior: sha(b"theirs") },
    ] {
        let before = world.tree();
        let words = format!("{item:?}");
        let (_, outcome) = world.change(vec![item]);
        assert_eq!(outcome.result_code, ResultCode::Failed, "{words}");
        assert_eq!(world.tree(), before, "{words}");
        assert_eq!(std::fs::read(outside.join("file")).unwrap(), b"theirs");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1, "{words}");
    }
}

#[test]
fn a_folder_swapped_for_a_link_between_look_and_act_leads_nowhere() {
    for point in
        [Point::ItemWriteTemp, Point::ItemSync, Point::ItemRename, Point::ItemDelete, Point::ItemMove]
    {
        let world = World::new();
        let outside = world.folder.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("file"), "old").unwrap();
        world.put("d/file", "old");
        let request = world.request(Action::Change(acts::Change {
            items: vec![
                world.write("d/file", b"new", sha(b"old")),
                world.write("d/made", b"made", Prior::Absent),
                ChangeItem::Move { from: rel("d/made"), to: rel("d/moved"), prior: sha(b"made") },
                ChangeItem::Delete { path: rel("d/file"), prior: sha(b"new") },
            ],
        }));
        let (root, target) = (world.root.clone(), outside.clone());
        world.traps.set(move |here, after| {
            if here == point && !after && !root.join("aside").exists() {
                std::fs::rename(root.join("d"), root.join("aside"))?;
                symlink(&target, root.join("d"))?;
            }
            Ok(())
        });
        let outcome = world.perform(&request);
        assert_ne!(outcome.result_code, ResultCode::Succeeded, "{point}: {outcome:?}");
        assert_eq!(std::fs::read(outside.join("file")).unwrap(), b"old", "{point}");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1, "{point}");
    }
}

#[test]
fn names_that_are_not_utf8_are_written_moved_and_deleted() {
    let world = World::new();
    let one = RelPath::from_bytes(b"d\xff/\xfe one").unwrap();
    let two = RelPath::from_bytes(b"d\xff/\xfd two").unwrap();
    let content_sha256 = world.shelf.put(b"x");
    let write = ChangeItem::Write {
        path: one.clone(),
        content_sha256,
        byte_size: 1,
        prior: Prior::Absent,
        mode: Some(0o600),
    };
    let moving = ChangeItem::Move { from: one, to: two.clone(), prior: sha(b"x") };
    let (_, outcome) = world.change(vec![write, moving]);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
    let at = world.root.join(OsStr::from_bytes(two.as_bytes()));
    assert_eq!(std::fs::read(&at).unwrap(), b"x");
    assert_eq!(file_bits::of(&at), Some(0o600));
    let (_, outcome) = world.change(vec![ChangeItem::Delete { path: two, prior: sha(b"x") }]);
    assert_eq!(outcome.result_code, ResultCode::Succeeded);
}

#[test]
fn a_list_names_links_and_enters_none() {
    let world = World::new();
    world.put("a/b/c.txt", "c");
    world.put(".hidden", "h");
    symlink(world.at("a"), world.at("loop")).unwrap();
    symlink("/etc", world.at("out")).unwrap();
    let found = list(&world, "", true);
    assert_eq!(paths(&found, "entries"), [".hidden", "a", "a/b", "a/b/c.txt", "loop", "out"]);
    assert_eq!(found["entries"][4]["kind"], "symlink");
    assert_eq!(found["cut"], false);
    assert_eq!(paths(&list(&world, "", false), "entries"), [".hidden", "a", "loop", "out"]);
}

#[test]
fn a_name_that_is_not_utf8_is_listed_read_and_fingerprinted() {
    let world = World::new();
    let name = b"caf\xe9 %.txt";
    std::fs::write(world.root.join(OsStr::from_bytes(name)), "x").unwrap();
    let path = RelPath::from_bytes(name).unwrap();
    assert_eq!(paths(&list(&world, "", true), "entries"), [path.to_string()]);
    let (_, results) = look(&world, vec![ReadItem::Read { path: path.clone() }]);
    assert_eq!(results[0]["text"], "x");
    let found = world.executors.observe(&[world.file(&path)]);
    assert!(matches!(&found[0].state, Found::File { sha256, .. } if *sha256 == Digest::of(b"x")));
}

#[test]
fn a_folder_that_cannot_be_read_is_reported_and_the_rest_is_there() {
    let world = World::new();
    world.put("open/a", "a");
    world.put("shut/b", "b");
    // Root may read everything, and then nothing is unreadable; everybody else is told.
    file_bits::give(&world.at("shut"), 0o000).unwrap();
    let found = list(&world, "", true);
    file_bits::give(&world.at("shut"), 0o755).unwrap();
    let entries = paths(&found, "entries");
    assert!(entries.contains(&"open/a".to_owned()) && entries.contains(&"shut".to_owned()), "{found}");
    let root = rustix::process::geteuid().is_root();
    assert_eq!(paths(&found, "unreadable").is_empty(), root, "{found}");
    assert_eq!(entries.contains(&"shut/b".to_owned()), root);
}

#[test]
fn digests_of_a_folder_name_a_link_as_no_file() {
    let world = World::new();
    world.put("f/00", "0");
    symlink("00", world.at("f/link")).unwrap();
    let (_, results) = look(&world, vec![ReadItem::Hash { path: rel("f") }]);
    assert_eq!(paths(&results[0], "entries"), ["f/00"]);
    assert_eq!(paths(&results[0], "not_files"), ["f/link"]);
}

#[test]
fn a_link_is_refused_by_name_inside_and_outside_first_and_last() {
    let world = World::new();
    world.put("real/file", "inside");
    symlink("/etc", world.at("out")).unwrap();
    symlink("real", world.at("in")).unwrap();
    symlink("real/file", world.at("last")).unwrap();
    for (path, target) in [("out/passwd", "/etc"), ("in/file", "real"), ("last", "real/file")] {
        let (code, results) = look(&world, vec![ReadItem::Read { path: rel(path) }]);
        assert_eq!(code, ResultCode::Failed);
        let error = results[0]["error"].as_str().unwrap();
        assert!(error.contains("symbolic link") && error.contains(target), "{path}: {error}");
    }
}

#[test]
fn a_pipe_is_named_and_never_waited_for() {
    let world = World::new();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.at("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert_eq!(world.executors.observe(&[world.file(&rel("pipe"))])[0].state, Found::Special);
    let (code, _) = look(&world, vec![ReadItem::Read { path: rel("pipe") }]);
    assert_eq!(code, ResultCode::Failed);
}

#[test]
fn a_link_is_observed_as_what_it_says() {
    let world = World::new();
    world.put("a", "a");
    symlink("a", world.at("l")).unwrap();
    let found = world.executors.observe(&[world.file(&rel("l"))]);
    assert_eq!(found[0].state, Found::Symlink { target_sha256: Digest::of(b"a") });
}
