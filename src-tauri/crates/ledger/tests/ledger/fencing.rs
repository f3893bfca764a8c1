//! One host at a time, by lock and by epoch.

use crate::world::{World, batch, commit, plain, task};
use ledger::{Error, Reader, holder};
use rusqlite::params;
use std::process::{Command, Stdio};

#[conforms::conforms("HK-20.1-1")]
#[test]
fn a_second_host_is_refused_and_told_where_the_first_one_is() {
    let world = World::new();
    let writer = world.writer();
    writer.announce(Some("127.0.0.1:4321")).unwrap();
    let Err(Error::Held { pid, since, address }) = world.open() else { panic!("two hosts") };
    assert_eq!((pid, address.as_deref()), (std::process::id(), Some("127.0.0.1:4321")));
    let said = holder(world.path()).unwrap().unwrap();
    assert_eq!((said.pid, said.since, said.session.as_str()), (pid, since, writer.session()));
    drop(writer);
    assert_eq!(holder(world.path()).unwrap(), None);
    assert_eq!(world.writer().epoch(), 2);
}

#[test]
fn a_note_of_a_process_that_is_gone_holds_nothing() {
    let world = World::new();
    drop(world.writer());
    // No process has this number: the kernel's largest is 2^22.
    for note in [
        r#"{"holder":{"pid":2147483000,"since":1,"session":"s"}}"#,
        r#"{"holder":{"pid":1,"since":1,"session":"s","boot":"another boot"}}"#,
        r#"{"holder":{"pid":1,"since":1,"session":"s","started_ticks":18446744073709551615}}"#,
        r#"{"hold"#,
    ] {
        std::fs::write(world.path().join("ledger.lock"), note).unwrap();
        assert_eq!(holder(world.path()).unwrap(), None, "{note}");
        drop(world.writer());
    }
}

#[test]
fn a_note_of_a_living_process_is_believed_even_where_the_file_system_does_not_lock() {
    let world = World::new();
    drop(world.writer());
    // It waits for what nobody says.
    let mut waits = match cfg!(windows) {
        true => Command::new("cmd"),
        false => Command::new("cat"),
    };
    waits.args(if cfg!(windows) { &["/c", "set /p line="][..] } else { &[] });
    let mut living = waits.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let its = living.id();
    let note = format!(r#"{{"holder":{{"pid":{its},"since":5,"session":"s"}}}}"#);
    std::fs::write(world.path().join("ledger.lock"), note).unwrap();
    let said = world.open();
    drop(living.stdin.take());
    living.wait().unwrap();
    assert!(matches!(said, Err(Error::Held { pid, .. }) if pid == its));
}

#[test]
fn a_holder_on_another_machine_is_believed_whatever_its_boot_and_process() {
    let world = World::new();
    drop(world.writer());
    let lock = world.path().join("ledger.lock");
    let note =
        r#"{"holder":{"pid":2147483000,"since":5,"session":"s","boot":"another","machine":"another"}}"#;
    std::fs::write(&lock, note).unwrap();
    let Err(Error::HeldElsewhere { path, .. }) = world.open() else { panic!("taken from another machine") };
    assert_eq!(path, lock.display().to_string());
    assert!(holder(world.path()).unwrap().is_some());
    std::fs::remove_file(&lock).unwrap();
    drop(world.writer());
}

#[test]
fn a_flipped_bit_in_the_note_says_nothing_of_the_ledger() {
    let world = World::new();
    drop(world.writer());
    // As in every store that has kept something: without it the note may be one that was never finished.
    std::fs::create_dir(world.path().join("artifacts")).unwrap();
    let lock = world.path().join("ledger.lock");
    let whole = std::fs::read(&lock).unwrap();
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        std::fs::write(&lock, &flipped).unwrap();
        drop(world.open().unwrap_or_else(|e| panic!("bit in byte {at}: {e}")));
        // A lost ledger is missed all the same.
        if at == 12 {
            std::fs::write(&lock, &flipped).unwrap();
            std::fs::rename(world.path().join("ledger.db"), world.path().join("aside")).unwrap();
            assert!(matches!(world.open(), Err(Error::Corrupt { .. })));
            std::fs::rename(world.path().join("aside"), world.path().join("ledger.db")).unwrap();
        }
    }
}

#[test]
fn a_host_whose_epoch_was_taken_over_writes_nothing_more() {
    let world = World::new();
    let writer = world.writer();
    let id = task();
    commit(&writer, vec![plain(id)]);
    let session = "0123456789abcdef0123456789abcdef";
    let next = params![2, session, 1, "other"];
    world
        .raw()
        .execute("INSERT INTO epochs (epoch, session, pid, hermit_version) VALUES (?1, ?2, ?3, ?4)", next)
        .unwrap();
    let refused = writer.commit(batch(vec![plain(id)]));
    assert!(matches!(&refused, Err(Error::ReadOnly { why }) if why.contains("another host")), "{refused:?}");
    assert!(
        matches!(writer.commit(batch(vec![plain(task())])), Err(Error::ReadOnly { .. })),
        "it stays stopped"
    );
    assert!(matches!(writer.stopped(), Some(Error::ReadOnly { .. })));
    assert_eq!(world.reader().task_head(id).unwrap().unwrap().0, 1);
}

#[test]
fn readers_neither_lock_nor_wait_nor_make_anything() {
    let world = World::new();
    let nothing = Reader::open(world.path());
    assert!(matches!(nothing, Err(Error::NoStore { .. })), "{nothing:?}");
    assert_eq!(std::fs::read_dir(world.path()).unwrap().count(), 0, "a reader made a file");
    let writer = world.writer();
    let id = task();
    commit(&writer, vec![plain(id)]);
    let reader = world.reader();
    let raw_write = reader.with(|conn| {
        conn.execute("DELETE FROM disclosures", []).map_err(|_| Error::Cancelled)?;
        Ok(())
    });
    assert_eq!(raw_write, Err(Error::Cancelled), "a reader's connection writes");
    commit(&writer, vec![plain(id)]);
    assert_eq!(reader.clone().events(id, 0, 10).unwrap().len(), 2);
}
