//! Changing: what is written, what is refused, and what is never lost.
#![allow(clippy::disallowed_methods, reason = "mounting a small disk takes the system's own program")]

use crate::support::{self, World, file_bits, rel, sha};
use acts::Action;
use model::action::{ChangeItem, Prior};
use model::fault::Point;
use model::receipt::{ItemOutcome, ResultCode};
use model::witness::Found;
use model::{Digest, RelPath};

fn outcomes(outcome: &effects::Outcome) -> Vec<ItemOutcome> {
    outcome.changes.iter().map(|change| change.outcome).collect()
}

#[test]
fn a_change_set_writes_replaces_deletes_and_moves_in_order() {
    let world = World::new();
    world.put("old", "old");
    world.put("gone", "gone");
    world.put("here", "here");
    let (_, outcome) = world.change(vec![
        world.write("new/deep/file", b"new", Prior::Absent),
        world.write("old", b"changed", sha(b"old")),
        ChangeItem::Delete { path: rel("gone"), prior: sha(b"gone") },
        ChangeItem::Move { from: rel("here"), to: rel("there/now"), prior: sha(b"here") },
    ]);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
    assert_eq!(world.get("new/deep/file").unwrap(), b"new");
    assert_eq!(world.get("old").unwrap(), b"changed");
    assert_eq!((world.get("gone"), world.get("here")), (None, None));
    assert_eq!(world.get("there/now").unwrap(), b"here");
    // Two folders made for the first, one for the last, each named before what is in it.
    let named: Vec<String> = outcome
        .changes
        .iter()
        .map(|c| c.resource.clone().into_shown().unwrap().split_once('/').unwrap().1.to_owned())
        .collect();
    assert_eq!(named, ["new", "new/deep", "new/deep/file", "old", "gone", "there", "here", "there/now"]);
    assert!(
        matches!(&outcome.changes[3].before, Found::File { sha256, .. } if *sha256 == Digest::of(b"old"))
    );
    assert!(world.tree().keys().all(|path| !path.to_string_lossy().contains(".hermit-")));
}

#[test]
fn a_prior_that_does_not_hold_is_a_conflict_and_stops_the_set() {
    let world = World::new();
    world.put("a", "a person's edit");
    world.put("taken", "theirs");
    for item in [
        world.write("a", b"mine", sha(b"a")),
        world.write("a", b"mine", Prior::Absent),
        world.write("none", b"mine", sha(b"x")),
        ChangeItem::Delete { path: rel("a"), prior: sha(b"a") },
        ChangeItem::Delete { path: rel("none"), prior: sha(b"a") },
        ChangeItem::Move { from: rel("a"), to: rel("b"), prior: sha(b"a") },
        ChangeItem::Move { from: rel("a"), to: rel("taken"), prior: sha(b"a person's edit") },
        ChangeItem::Delete { path: rel("a"), prior: Prior::Absent },
        ChangeItem::Delete { path: RelPath::ROOT, prior: sha(b"") },
        world.write("a/below", b"mine", Prior::Absent),
    ] {
        let before = world.tree();
        let words = format!("{item:?}");
        let (_, outcome) = world.change(vec![
            world.write("first", b"1", Prior::Absent),
            item,
            world.write("last", b"3", Prior::Absent),
        ]);
        assert_eq!(outcome.result_code, ResultCode::Partial, "{words}");
        let said = outcomes(&outcome);
        assert_eq!(said.first(), Some(&ItemOutcome::Done), "{words}");
        assert!(said[1..].iter().all(|o| *o == ItemOutcome::NotDone), "{words} {said:?}");
        assert!(outcome.error.is_some(), "{words}");
        std::fs::remove_file(world.at("first")).unwrap();
        assert_eq!(world.tree(), before, "{words}");
    }
}

/// A person saves their file in the last instant: before the boundary, after every look.
#[test]
fn an_edit_in_the_last_instant_is_never_lost() {
    for point in
        [Point::ItemWriteTemp, Point::ItemSync, Point::ItemRename, Point::ItemDelete, Point::ItemMove]
    {
        for replace in [false, true] {
            for item in 0..3 {
                let world = World::new();
                world.put("f", "old");
                let item = match item {
                    0 => world.write("f", b"new", sha(b"old")),
                    1 => ChangeItem::Delete { path: rel("f"), prior: sha(b"old") },
                    _ => ChangeItem::Move { from: rel("f"), to: rel("g"), prior: sha(b"old") },
                };
                let words = format!("{point} {replace} {item:?}");
                let root = world.root.clone();
                let edited = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
                let flag = edited.clone();
                world.traps.set(move |here, after| {
                    if here == point && !after && !flag.swap(true, std::sync::atomic::Ordering::SeqCst) {
                        if replace {
                            std::fs::write(root.join("e"), "a person's")?;
                            std::fs::rename(root.join("e"), root.join("f"))?;
                        } else {
                            std::fs::write(root.join("f"), "a person's")?;
                        }
                    }
                    Ok(())
                });
                let (_, outcome) = world.change(vec![item]);
                let hit = edited.load(std::sync::atomic::Ordering::SeqCst);
                if hit {
                    assert_eq!(outcome.result_code, ResultCode::Failed, "{words} {outcome:?}");
                    assert_eq!(world.get("f").unwrap(), b"a person's", "{words} {outcome:?}");
                    assert_eq!(world.tree().len(), 1, "{words} {:?}", world.tree());
                } else {
                    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{words}");
                }
            }
        }
    }
}

#[test]
fn somebody_creating_the_file_in_the_last_instant_is_not_overwritten() {
    for moved in [false, true] {
        let world = World::new();
        world.put("from", "mine");
        let item = if moved {
            ChangeItem::Move { from: rel("from"), to: rel("f"), prior: sha(b"mine") }
        } else {
            world.write("f", b"mine", Prior::Absent)
        };
        let root = world.root.clone();
        world.traps.set(move |here, after| {
            if matches!(here, Point::ItemRename | Point::ItemMove) && !after {
                std::fs::write(root.join("f"), "theirs")?;
            }
            Ok(())
        });
        let (_, outcome) = world.change(vec![item]);
        assert_eq!(outcome.result_code, ResultCode::Failed, "{outcome:?}");
        assert!(outcome.error.unwrap().contains("not as it was"));
        assert_eq!(world.get("f").unwrap(), b"theirs");
        assert_eq!(world.get("from").unwrap(), b"mine");
    }
}

#[conforms::conforms("HK-8.12-5")]
#[test]
fn an_item_outside_the_grant_is_refused_and_the_items_before_it_stand() {
    let world = World::new();
    world.put("b", "b");
    let mut request = world.request(Action::Change(acts::Change {
        items: vec![
            world.write("a", b"a", Prior::Absent),
            ChangeItem::Delete { path: rel("b"), prior: sha(b"b") },
        ],
    }));
    request.target_resources = vec![world.file(&rel("a"))];
    let outcome = world.perform(&request);
    assert_eq!(outcome.result_code, ResultCode::Partial);
    assert!(outcome.error.unwrap().contains("outside this grant"));
    assert_eq!(world.get("b").unwrap(), b"b");
    // A move reaches two places: both have to be named.
    let mut request = world.request(Action::Change(acts::Change {
        items: vec![ChangeItem::Move { from: rel("b"), to: rel("c"), prior: sha(b"b") }],
    }));
    request.target_resources = vec![world.file(&rel("b"))];
    assert_eq!(world.perform(&request).result_code, ResultCode::Failed);
    // A grant to read is none to write.
    let request =
        world.request(Action::Change(acts::Change { items: vec![world.write("d", b"d", Prior::Absent)] }));
    let mut grant = world.grant(&request);
    grant.filesystem_scope = model::grant::FilesystemScope::ReadLease;
    let refused = governance::authorize(&grant, &request, 0, support::NOW).map(|authorization| {
        world.executors.perform(authorization, &request, &|| false, &mut |_| {}).result_code
    });
    assert!(matches!(refused, Err(_) | Ok(ResultCode::Failed)), "{refused:?}");
    assert_eq!(world.get("d"), None);
}

#[test]
fn content_that_is_missing_or_wrong_is_not_written() {
    let world = World::new();
    let missing = Digest::of(b"never stored");
    let lying = world.shelf.put(b"right");
    world.shelf.0.lock().unwrap().insert(lying, b"wrong".to_vec());
    for (content_sha256, byte_size) in [(missing, 12), (lying, 5)] {
        let item =
            ChangeItem::Write { path: rel("f"), content_sha256, byte_size, prior: Prior::Absent, mode: None };
        let (_, outcome) = world.change(vec![item]);
        assert_eq!(outcome.result_code, ResultCode::Failed);
        assert!(world.tree().is_empty());
    }
}

#[test]
fn cancelling_stops_before_the_next_item() {
    let world = World::new();
    let items = (0..5).map(|n| world.write(&format!("f{n}"), b"x", Prior::Absent)).collect();
    let request = world.request(Action::Change(acts::Change { items }));
    let done = std::cell::Cell::new(0);
    let outcome = world.perform_with(&request, &|| done.get() == 2, &mut |progress| {
        if let effects::Progress::Items { done: n, of } = progress {
            assert_eq!(of, 5);
            done.set(n);
        }
    });
    assert_eq!(outcome.result_code, ResultCode::Partial);
    assert_eq!(world.tree().len(), 2);
}

#[test]
fn before_images_are_the_bytes_that_will_be_lost_and_nothing_else() {
    let world = World::new();
    world.put("a", "a");
    world.put("b", "b");
    world.put("c", "c");
    let items = vec![
        world.write("a", b"2", sha(b"a")),
        world.write("n", b"n", Prior::Absent),
        ChangeItem::Delete { path: rel("b"), prior: sha(b"b") },
        ChangeItem::Move { from: rel("c"), to: rel("d"), prior: sha(b"c") },
        // What the set itself has made or moved is lost by a later item all the same.
        ChangeItem::Delete { path: rel("n"), prior: sha(b"n") },
        world.write("d", b"3", sha(b"c")),
    ];
    let images = world.executors.before_images(&items).collect::<Result<Vec<_>, _>>().unwrap();
    let expected = [("a", b"a"), ("b", b"b"), ("n", b"n"), ("d", b"c")]
        .map(|(p, b)| (rel(p), Digest::of(b), b.to_vec()));
    assert_eq!(images, expected);
    world.put("b", "edited");
    let images = world.executors.before_images(&items).collect::<Result<Vec<_>, _>>();
    assert!(matches!(images, Err(effects::Error::Prior { .. })));
}

#[test]
fn what_is_too_large_to_be_kept_is_found_by_its_size_and_may_still_be_moved() {
    let world = World::new();
    world.put("small", "s");
    for name in ["large", "moved"] {
        let file = std::fs::File::create(world.at(name)).unwrap();
        file.set_len(model::limits::ARTIFACT_BYTES_MAX + 1).unwrap();
    }
    let prior = || sha(b"not looked at");
    let moving = || ChangeItem::Move { from: rel("moved"), to: rel("there"), prior: prior() };
    for (items, fits) in [
        (vec![moving(), ChangeItem::Delete { path: rel("small"), prior: sha(b"s") }], true),
        (vec![world.write("large", b"new", Prior::Absent)], true),
        (vec![ChangeItem::Delete { path: rel("large"), prior: prior() }], false),
        (vec![world.write("large", b"new", prior())], false),
        (vec![ChangeItem::Link { path: rel("large"), target: "small".to_owned(), prior: prior() }], false),
        (vec![moving(), ChangeItem::Delete { path: rel("there"), prior: prior() }], false),
    ] {
        match world.executors.can_keep(&items) {
            Ok(()) => assert!(fits, "{items:?}"),
            Err(error) => assert!(!fits && error.to_string().contains("268435456"), "{error} {items:?}"),
        }
    }
}

/// Whether a small file system could be mounted here: root may, others may not.
fn mount(at: &std::path::Path, size: &str) -> bool {
    let mut command = std::process::Command::new("mount");
    let status = command
        .args(["-t", "tmpfs", "-o", size, "tmpfs"])
        .arg(at)
        .stderr(std::process::Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn unmount(at: &std::path::Path) {
    assert!(std::process::Command::new("umount").arg("-l").arg(at).status().unwrap().success());
}

/// A full disk: a small file system where the machine lets us make one, else a limit on file size has its own test.
#[test]
fn on_a_full_disk_the_old_file_stands_and_the_leftovers_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("small");
    std::fs::create_dir(&root).unwrap();
    if !mount(&root, "size=64k") {
        // Without the right to mount, an injected failure of the same kind stands in.
        let world = World::new();
        world.put("f", "old");
        world.traps.set(|point, after| match (point, after) {
            (Point::ItemWriteTemp, true) => Err(std::io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        });
        let (_, outcome) = world.change(vec![world.write("f", b"new", sha(b"old"))]);
        assert_eq!(outcome.result_code, ResultCode::Failed);
        assert_eq!((world.get("f").unwrap(), world.tree().len()), (b"old".to_vec(), 1));
        return;
    }
    let world = World::over(folder, root.clone(), effects::Sandbox::none("none".to_owned()));
    world.put("f", "old");
    let (_, outcome) = world.change(vec![world.write("f", &[7u8; 200_000], sha(b"old"))]);
    let (found, names) = (world.get("f").unwrap(), world.tree().len());
    // Across file systems a move is a copy, and a full disk is the same.
    drop(world);
    unmount(&root);
    assert_eq!(outcome.result_code, ResultCode::Failed, "{outcome:?}");
    assert!(outcome.error.unwrap().contains("os error 28"));
    assert_eq!((found, names), (b"old".to_vec(), 1));
}

#[test]
fn a_move_to_another_file_system_is_a_whole_copy() {
    let world = World::new();
    let other = world.at("other");
    std::fs::create_dir(&other).unwrap();
    world.put("f", "across");
    file_bits::give(&world.at("f"), 0o640).unwrap();
    let mounted = mount(&other, "size=1m");
    let (_, outcome) =
        world.change(vec![ChangeItem::Move { from: rel("f"), to: rel("other/f"), prior: sha(b"across") }]);
    let (here, there) = (world.get("f"), world.get("other/f"));
    let bits = file_bits::of(&world.at("other/f"));
    let names = std::fs::read_dir(&other).unwrap().count();
    if mounted {
        unmount(&other);
    }
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
    assert_eq!((here, there, bits, names), (None, Some(b"across".to_vec()), file_bits::seen(0o640), 1));
}
