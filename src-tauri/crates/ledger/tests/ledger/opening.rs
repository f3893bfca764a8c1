//! What is found when a store is opened: its own, a newer one, a damaged one, none.

use crate::world::{World, commit, plain, saying, task};
use ledger::{Error, Reader};
use std::fs;

#[test]
fn a_store_opened_again_goes_on_where_it_was() {
    let world = World::new();
    let id = task();
    let log_id = {
        let writer = world.writer();
        commit(&writer, vec![plain(id)]);
        writer.log_id().to_owned()
    };
    let writer = world.writer();
    assert_eq!((writer.log_id(), writer.epoch()), (log_id.as_str(), 2));
    commit(&writer, vec![plain(id)]);
    assert_eq!(world.reader().task_head(id).unwrap().unwrap().0, 2);
}

#[test]
fn a_newer_schema_is_refused_by_writers_and_readers() {
    let world = World::new();
    drop(world.writer());
    world.raw().pragma_update(None, "user_version", ledger::SCHEMA + 1).unwrap();
    let refused = Error::NewerSchema { found: ledger::SCHEMA + 1, known: ledger::SCHEMA };
    assert_eq!(world.open().unwrap_err(), refused);
    assert_eq!(Reader::open(world.path()).unwrap_err(), refused);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let world = World::new();
    world.raw().execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    let before = fs::read(world.db()).unwrap();
    assert!(matches!(world.open(), Err(Error::Corrupt { .. })));
    assert_eq!(fs::read(world.db()).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_is_told_with_advice_and_kept() {
    let world = World::new();
    fs::write(world.db(), vec![7; 8192]).unwrap();
    let error = world.open().unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains("backup"), "{error}");
    assert_eq!(fs::read(world.db()).unwrap(), vec![7; 8192]);
}

#[test]
fn a_lost_or_emptied_file_is_not_made_anew() {
    for emptied in [false, true] {
        let world = World::new();
        drop(world.writer());
        match emptied {
            true => fs::write(world.db(), b"").unwrap(),
            false => fs::remove_file(world.db()).unwrap(),
        }
        let error = world.open().unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
        assert_eq!(fs::metadata(world.db()).map_or(0, |m| m.len()), 0);
    }
}

#[test]
fn another_stores_ledger_in_this_folder_is_noticed() {
    let (one, other) = (World::new(), World::new());
    drop((one.writer(), other.writer()));
    fs::copy(other.db(), one.db()).unwrap();
    assert!(matches!(one.open(), Err(Error::Corrupt { .. })));
}

#[test]
fn a_damaged_end_is_noticed_when_the_store_is_opened() {
    let world = World::new();
    let writer = world.writer();
    commit(&writer, vec![saying(task(), "x")]);
    drop(writer);
    let bytes = fs::read(world.db()).unwrap();
    let at = bytes.windows(14).position(|w| w == b"task.cancel_re").unwrap();
    // The copy of the type in its column comes first, then the bytes: both are changed where they stand.
    let second = at + 1 + bytes[at + 1..].windows(14).position(|w| w == b"task.cancel_re").unwrap();
    let mut changed = bytes;
    changed[second] = b'T';
    fs::write(world.db(), changed).unwrap();
    let error = world.open().unwrap_err();
    assert!(matches!(&error, Error::Corrupt { why, .. } if why.contains("hash")), "{error:?}");
}
