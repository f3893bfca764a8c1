//! What a crash leaves: a beginning of what was written, and no number given twice (invariants 1 and 6).

use crate::tale::{Seeded, Tale, begin, delta, id, open, replay, run_id, session};
use runstream::{Envelope, Error, FILE, Mirrored, Position, Reader, Resumed, Writer, set_aside};
use std::fs;
use std::path::Path;

/// The files as they lie there while the journal is open, the log cut to `len` bytes: a power cut.
fn image(from: &Path, to: &Path, len: usize) {
    fs::copy(from.join(FILE), to.join(FILE)).unwrap();
    let wal = fs::read(from.join(format!("{FILE}-wal"))).unwrap();
    fs::write(to.join(format!("{FILE}-wal")), &wal[..len.min(wal.len())]).unwrap();
}

fn wal_len(dir: &Path) -> usize {
    usize::try_from(fs::metadata(dir.join(format!("{FILE}-wal"))).unwrap().len()).unwrap()
}

/// A journal that was closed once and is in use again: its tables are in the file, its events in the log.
fn in_use(dir: &Path) -> Writer {
    let writer = open(dir);
    begin(&writer, run_id());
    writer.close().unwrap();
    open(dir)
}

#[test]
fn a_log_cut_anywhere_leaves_a_beginning_of_the_stream() {
    let dir = tempfile::tempdir().unwrap();
    let writer = in_use(dir.path());
    for n in 0..12 {
        writer.append(run_id(), &[delta(&n.to_string())]).unwrap();
    }
    let whole = replay(&writer.reader().unwrap(), run_id(), Position::Start, 500);
    let len = wal_len(dir.path());
    let mut lengths = std::collections::BTreeSet::new();
    for cut in (0..=len).step_by(977).chain([len]) {
        let crashed = tempfile::tempdir().unwrap();
        image(dir.path(), crashed.path(), cut);
        let again = open(crashed.path());
        let left = replay(&again.reader().unwrap(), run_id(), Position::Start, 500);
        assert_eq!(left, whole[..left.len()], "cut at {cut} of {len}");
        lengths.insert(left.len());
    }
    assert!(lengths.contains(&0) && lengths.contains(&whole.len()) && lengths.len() > 3, "{lengths:?}");
}

#[test]
fn no_number_that_a_client_may_have_seen_is_given_again() {
    let dir = tempfile::tempdir().unwrap();
    let writer = in_use(dir.path());
    // That the journal is in use was synced when it was opened; no power cut takes that much of the log.
    let synced = wal_len(dir.path());
    for n in 0..12 {
        writer.append(run_id(), &[delta(&format!("first {n}"))]).unwrap();
    }
    let seen = replay(&writer.reader().unwrap(), run_id(), Position::Start, 500);
    let len = wal_len(dir.path());
    assert!(synced > 0 && synced < len);
    for cut in (synced..=len).step_by(4_001).chain([len]) {
        let crashed = tempfile::tempdir().unwrap();
        image(dir.path(), crashed.path(), cut);
        let again = open(crashed.path());
        again.append(run_id(), &[delta("second")]).unwrap();
        let reader = again.reader().unwrap();
        let now = replay(&reader, run_id(), Position::Start, 500);
        let same = |e: &Envelope| seen.iter().find(|s| s.seq == e.seq).is_none_or(|s| s == e);
        assert!(now.iter().all(same), "cut at {cut}");
        // The client stands behind what was lost and misses nothing of what comes.
        let stands = Position::EventId(seen.last().unwrap().event_id());
        let rest = reader.page(run_id(), &stands, 500).unwrap();
        assert_eq!((rest.resumed, rest.events.last()), (Resumed::Continued, now.last()), "cut at {cut}");
    }
}

#[test]
fn after_a_clean_end_numbers_go_on_without_a_hole() {
    let dir = tempfile::tempdir().unwrap();
    let writer = in_use(dir.path());
    assert_eq!(writer.append(run_id(), &[delta("a")]).unwrap().last_seq, 1);
    drop(writer);
    let writer = open(dir.path());
    assert_eq!(writer.append(run_id(), &[delta("b")]).unwrap().last_seq, 2);
}

#[test]
fn what_the_crash_took_of_the_mirror_is_mirrored_again_from_the_ledger() {
    let dir = tempfile::tempdir().unwrap();
    let writer = in_use(dir.path());
    let told: Vec<Mirrored> = Tale::whole().told;
    for n in 1..=told.len() {
        writer.mirror(run_id(), session(), &told[..n]).unwrap();
    }
    let families: Vec<_> = Tale::whole().told[1..].iter().flat_map(|m| &m.drafts).map(|d| d.family).collect();
    let len = wal_len(dir.path());
    for cut in (0..=len).step_by(3_001) {
        let crashed = tempfile::tempdir().unwrap();
        image(dir.path(), crashed.path(), cut);
        let again = open(crashed.path());
        again.mirror(run_id(), session(), &told).unwrap();
        let all = replay(&again.reader().unwrap(), run_id(), Position::Start, 500);
        assert_eq!(all.iter().map(|e| e.family).collect::<Vec<_>>(), families, "cut at {cut}");
        assert_eq!(all.iter().filter(|e| e.terminal).count(), 1);
    }
}

#[test]
fn a_damaged_journal_is_said_to_be_so_and_a_new_one_takes_its_place() {
    let dir = tempfile::tempdir().unwrap();
    drop(in_use(dir.path()));
    fs::write(dir.path().join(FILE), b"not a database, but long enough to be taken for one".repeat(200))
        .unwrap();
    assert!(matches!(Writer::open(dir.path(), &Seeded(1)), Err(Error::Damaged { .. })));
    assert!(matches!(Reader::open(dir.path()), Err(Error::Damaged { .. })));
    let aside = set_aside(dir.path()).unwrap().unwrap();
    assert!(aside.exists());
    assert!(matches!(Reader::open(dir.path()), Err(Error::NoJournal { .. })));
    let writer = open(dir.path());
    begin(&writer, id("task", 4));
    assert_eq!(set_aside(tempfile::tempdir().unwrap().path()).unwrap(), None);
}

#[test]
fn another_programs_database_and_a_newer_schema_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let conn = rusqlite::Connection::open(dir.path().join(FILE)).unwrap();
    conn.execute_batch("CREATE TABLE theirs (a)").unwrap();
    assert!(matches!(Writer::open(dir.path(), &Seeded(1)), Err(Error::Damaged { .. })));
    drop(conn);
    let newer = tempfile::tempdir().unwrap();
    drop(open(newer.path()));
    let conn = rusqlite::Connection::open(newer.path().join(FILE)).unwrap();
    conn.pragma_update(None, "user_version", 2).unwrap();
    let refused = Writer::open(newer.path(), &Seeded(1)).map(drop);
    assert_eq!(refused, Err(Error::NewerSchema { found: 2, known: 1 }));
}
