//! A copy made while others write, and the way back.

use crate::world::{World, commit, plain, saying, signer, task};
use ledger::{Error, Verdict, backup, put_back, restore, schema_of};
use model::UnixMs;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends whoever works beside a test, also where the test panics.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_copy_made_under_load_is_one_moment_of_the_log_and_can_be_restored() {
    let world = World::new();
    let writer = world.writer();
    let id = task();
    commit(&writer, vec![plain(id)]);
    writer.checkpoint_task(id, &signer(), UnixMs(1)).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = SetOnDrop(&done);
        for _ in 0..2 {
            scope.spawn(|| {
                let own = task();
                while !done.load(Ordering::Relaxed) {
                    commit(&writer, vec![saying(own, "busy")]);
                }
            });
        }
        for _ in 0..3 {
            let (to, back) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let made = backup(&writer.reader(), to.path()).unwrap();
            assert_eq!(made.byte_size, fs::metadata(&made.path).unwrap().len());
            assert_eq!(fs::read_dir(to.path()).unwrap().count(), 1, "one file and nothing beside it");
            let reader = restore(&made.path, back.path()).unwrap();
            assert_eq!(reader.log_head().unwrap(), made.log_seq);
            let report = crate::world::verify_at(back.path());
            assert_eq!(report.verdict, Verdict::Valid, "{}", report.reason);
        }
    });
}

#[test]
fn nothing_is_overwritten_by_a_copy_or_a_restoration() {
    let world = World::new();
    let writer = world.writer();
    commit(&writer, vec![plain(task())]);
    let to = tempfile::tempdir().unwrap();
    let made = backup(&writer.reader(), to.path()).unwrap();
    assert!(matches!(backup(&writer.reader(), to.path()), Err(Error::Invalid { .. })));
    assert!(matches!(restore(&made.path, world.path()), Err(Error::Held { .. })));
    drop(writer);
    assert!(matches!(restore(&made.path, world.path()), Err(Error::Invalid { .. })));
}

#[test]
fn a_damaged_copy_is_not_restored() {
    let world = World::new();
    let writer = world.writer();
    commit(&writer, vec![plain(task())]);
    let to = tempfile::tempdir().unwrap();
    let made = backup(&writer.reader(), to.path()).unwrap();
    let whole = fs::read(&made.path).unwrap();
    for (what, bytes) in
        [("cut", whole[..whole.len() / 2].to_vec()), ("no database", vec![1; 9000]), ("empty", Vec::new())]
    {
        fs::write(&made.path, bytes).unwrap();
        let back = tempfile::tempdir().unwrap();
        let refused = restore(&made.path, back.path());
        assert!(matches!(refused, Err(Error::Corrupt { .. })), "{what}: {refused:?}");
        assert!(!back.path().join("ledger.db").exists(), "{what}");
    }
}

#[test]
fn a_copy_takes_the_place_of_a_ledger_of_any_format_which_stays_beside_it() {
    let world = World::new();
    let writer = world.writer();
    let id = task();
    commit(&writer, vec![plain(id)]);
    writer.checkpoint_task(id, &signer(), UnixMs(1)).unwrap();
    let to = tempfile::tempdir().unwrap();
    let made = backup(&writer.reader(), to.path()).unwrap();
    commit(&writer, vec![plain(task())]);
    let aside = world.path().join("newer.db");
    assert!(matches!(put_back(&made.path, world.path(), &aside), Err(Error::Held { .. })));
    drop(writer);
    let newer = rusqlite::Connection::open(world.path().join("ledger.db")).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    newer.close().unwrap();
    assert_eq!(schema_of(world.path()), Ok(99), "also where nobody here reads it");
    let whole = fs::read(&made.path).unwrap();
    fs::write(&made.path, &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(put_back(&made.path, world.path(), &aside), Err(Error::Corrupt { .. })));
    assert!(!aside.exists() && schema_of(world.path()) == Ok(99), "it is as it was");
    fs::write(&made.path, &whole).unwrap();
    put_back(&made.path, world.path(), &aside).unwrap();
    assert_eq!(schema_of(world.path()), Ok(ledger::SCHEMA));
    assert_eq!(crate::world::verify_at(world.path()).verdict, Verdict::Valid);
    let kept: i64 = rusqlite::Connection::open(&aside)
        .and_then(|newer| newer.pragma_query_value(None, "user_version", |row| row.get(0)))
        .unwrap();
    assert_eq!(kept, 99);
}
