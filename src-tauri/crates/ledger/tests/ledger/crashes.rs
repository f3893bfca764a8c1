//! What a crash leaves behind, a disk that is full, a sync that failed.

use crate::world::{World, assert_sound, batch, commit, open_at, plain, saying, signer, task, verify_at};
use ledger::{Batch, Error, NoProjections, Projector, Reader};
use model::UnixMs;
use model::fault::{Faults, NoFaults, Point};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The files as a crash at this moment would leave them, the WAL cut to `wal_bytes`.
fn image(from: &Path, wal_bytes: Option<u64>) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    fs::copy(from.join("ledger.db"), to.path().join("ledger.db")).unwrap();
    let mut wal = fs::read(from.join("ledger.db-wal")).unwrap_or_default();
    wal.truncate(wal_bytes.map_or(usize::MAX, |n| usize::try_from(n).unwrap()));
    fs::write(to.path().join("ledger.db-wal"), wal).unwrap();
    to
}

/// Bytes up to the end of the last frame: those behind it carry other salts than the head.
fn wal_length(world: &World) -> u64 {
    const FRAME: usize = 24 + 4096;
    let wal = fs::read(world.path().join("ledger.db-wal")).unwrap();
    let frames = wal[32..].chunks(FRAME).take_while(|frame| frame[8..16] == wal[16..24]).count();
    (32 + frames * FRAME) as u64
}

#[conforms::conforms("HK-13.1-1")]
#[test]
fn whatever_was_acknowledged_is_in_every_later_image() {
    let world = World::new();
    let writer = world.writer();
    let ids = [task(), task()];
    let mut acknowledged: Vec<Vec<u8>> = Vec::new();
    for round in 0..12_usize {
        let drafts = (0..=round % 3).map(|n| saying(ids[n % 2], "text")).collect();
        acknowledged.extend(commit(&writer, drafts).placed.into_iter().map(|p| p.bytes));
        if round == 6 {
            writer.checkpoint(&ids, &signer(), UnixMs(1), |_, _| {}).unwrap();
        }
        let image = image(world.path(), None);
        // The image is recovered by the unmodified writer, then read.
        drop(open_at(image.path(), Box::new(NoProjections), Arc::new(NoFaults)).unwrap());
        let found: Vec<_> = Reader::open(image.path()).unwrap().log(0, 1000).unwrap();
        assert_eq!(found.into_iter().map(|s| s.bytes).collect::<Vec<_>>(), acknowledged);
        assert_sound(&verify_at(image.path()));
    }
}

#[test]
fn a_wal_torn_anywhere_leaves_a_whole_number_of_batches() {
    let world = World::new();
    let writer = world.writer();
    let id = task();
    let mut ends = vec![(wal_length(&world), 0_u64)];
    for round in 1..=6_u64 {
        commit(&writer, vec![saying(id, "one"), plain(id)]);
        ends.push((wal_length(&world), 2 * round));
    }
    let last = ends.last().unwrap().0;
    // Every frame edge, the bytes around it, and odd places in between.
    let edges =
        ends.iter().flat_map(|(end, _)| [*end, end.saturating_sub(1), end.saturating_sub(2000), end + 1]);
    let mut lengths: Vec<u64> = edges.chain((0..last).step_by(2999)).filter(|n| *n >= ends[0].0).collect();
    lengths.sort_unstable();
    lengths.dedup();
    for length in lengths {
        let image = image(world.path(), Some(length));
        drop(open_at(image.path(), Box::new(NoProjections), Arc::new(NoFaults)).unwrap());
        let found = Reader::open(image.path()).unwrap().log_head().unwrap();
        let whole = ends.iter().rev().find(|(end, _)| *end <= length).unwrap().1;
        assert_eq!(found, whole, "cut at {length} of {last}");
        if found > 0 {
            assert_sound(&verify_at(image.path()));
        }
    }
}

#[test]
fn garbage_behind_the_last_commit_is_ignored_and_flipped_bytes_never_pass_for_events() {
    let world = World::new();
    let writer = world.writer();
    let id = task();
    let before = commit(&writer, vec![plain(id)]).placed.remove(0).bytes;
    let end = usize::try_from(wal_length(&world)).unwrap();
    commit(&writer, vec![plain(id)]);
    let whole = usize::try_from(wal_length(&world)).unwrap();
    for at in (end..whole).step_by(577) {
        let image = image(world.path(), Some(whole as u64));
        let path = image.path().join("ledger.db-wal");
        let mut wal = fs::read(&path).unwrap();
        wal[at] ^= 0xff;
        wal.extend([0xaa; 5000]);
        fs::write(&path, wal).unwrap();
        drop(open_at(image.path(), Box::new(NoProjections), Arc::new(NoFaults)).unwrap());
        let found = Reader::open(image.path()).unwrap().log(0, 10).unwrap();
        assert_eq!(found.len(), 1, "flipped at {at}");
        assert_eq!(found[0].bytes, before);
    }
}

#[test]
fn a_commit_writes_into_room_that_the_wal_has_already() {
    let world = World::new();
    let writer = world.writer();
    let (id, length) = (task(), || fs::metadata(world.path().join("ledger.db-wal")).unwrap().len());
    let (mut room, mut looks) = (false, 0);
    for n in 0..600 {
        let before = length();
        commit(&writer, vec![saying(id, "text")]);
        // The look between two commits makes it longer, perhaps at this very moment; a commit ends within what was there.
        if room && n % 4 == 0 {
            let used = wal_length(&world);
            assert!(used <= before, "a commit wrote {} bytes behind the end", used - before);
            looks += 1;
        }
        room |= length() > 2 << 20;
    }
    assert!(looks > 50, "there was room for {looks} looks");
    let used = wal_length(&world);
    assert!(used < length(), "{used}");
    assert_sound(&verify_at(image(world.path(), None).path()));
    drop(writer);
    assert_eq!(length(), 0, "a host that ended well leaves everything in one file");
}

/// Fails once, at the `nth` time the boundary is reached.
struct Once {
    at: Point,
    nth: usize,
    before: bool,
    kind: ErrorKind,
    reached: AtomicUsize,
}

impl Once {
    fn new(before: bool, kind: ErrorKind) -> Arc<Self> {
        Arc::new(Self { at: Point::TaskStart, nth: 2, before, kind, reached: AtomicUsize::new(0) })
    }

    fn hit(&self, point: Point, before: bool) -> io::Result<()> {
        if point == self.at
            && before == self.before
            && self.reached.fetch_add(1, Ordering::SeqCst) + 1 == self.nth
        {
            return Err(io::Error::from(self.kind));
        }
        Ok(())
    }
}

impl Faults for Once {
    fn before(&self, point: Point) -> io::Result<()> {
        self.hit(point, true)
    }

    fn after(&self, point: Point) -> io::Result<()> {
        self.hit(point, false)
    }
}

#[test]
fn a_commit_that_failed_stops_the_writer_for_good_and_loses_nothing_acknowledged() {
    for (before, on_disk) in [(true, 1), (false, 2)] {
        let world = World::new();
        let writer = world.with_faults(Once::new(before, ErrorKind::Other));
        let id = task();
        commit(&writer, vec![plain(id)]);
        for _ in 0..3 {
            let refused = writer.commit(batch(vec![plain(id)]));
            assert!(matches!(refused, Err(Error::ReadOnly { .. })), "{refused:?}");
        }
        assert!(writer.stopped().is_some());
        assert_eq!(writer.reader().task_head(id).unwrap().unwrap().0, on_disk);
        drop(writer);
        commit(&world.writer(), vec![plain(id)]);
        assert_eq!(world.reader().task_head(id).unwrap().unwrap().0, on_disk + 1);
        assert_sound(&world.verify());
    }
}

#[test]
fn a_full_disk_refuses_one_batch_and_the_next_one_goes_through() {
    let world = World::new();
    let writer = world.with_faults(Once::new(true, ErrorKind::StorageFull));
    let id = task();
    commit(&writer, vec![plain(id)]);
    assert_eq!(writer.commit(batch(vec![plain(id)])), Err(Error::Full));
    assert_eq!(writer.stopped(), None);
    commit(&writer, vec![plain(id)]);
    assert_eq!(world.reader().task_head(id).unwrap().unwrap().0, 2);
    assert_sound(&world.verify());
}

/// Gives the database no room beyond what it has and a little.
struct Cramped;

impl Projector for Cramped {
    fn prepare(&mut self, conn: &rusqlite::Connection) -> Result<(), String> {
        let pages: i64 =
            conn.pragma_query_value(None, "page_count", |r| r.get(0)).map_err(|e| e.to_string())?;
        conn.pragma_update_and_check(None, "max_page_count", pages + 12, |_| Ok(()))
            .map_err(|e| e.to_string())
    }

    fn apply(&mut self, _: &rusqlite::Connection, _: &[ledger::Placed]) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn a_database_without_room_says_so_and_keeps_every_earlier_batch() {
    let world = World::new();
    let id = task();
    let mut taken = 0;
    {
        let writer = world.with_projector(Box::new(Cramped));
        let large = Batch {
            blobs: vec![(seal::Digest::of(&[1; 60_000]), vec![1; 60_000])],
            ..batch(vec![plain(id)])
        };
        assert_eq!(writer.commit(large), Err(Error::Full));
        let full = loop {
            match writer.commit(batch(vec![saying(id, &"x".repeat(3000))])) {
                Ok(_) => taken += 1,
                Err(error) => break error,
            }
            assert!(taken < 1000, "it never filled up");
        };
        assert_eq!(full, Error::Full);
        assert_eq!(writer.stopped(), None, "a full disk is no reason to stop");
    }
    assert!(taken > 0);
    assert_eq!(world.reader().task_head(id).unwrap().unwrap().0, taken);
    assert_sound(&world.verify());
    commit(&world.writer(), vec![plain(id)]);
    assert_eq!(world.reader().task_head(id).unwrap().unwrap().0, taken + 1);
}

/// Breaks off in the middle of a batch.
struct Panics;

impl Projector for Panics {
    fn apply(&mut self, _: &rusqlite::Connection, placed: &[ledger::Placed]) -> Result<(), String> {
        assert!(placed.len() < 2, "two at once are too many for this projector");
        Ok(())
    }
}

#[test]
fn a_writer_that_broke_off_refuses_instead_of_hanging() {
    let world = World::new();
    let id = task();
    {
        let writer = world.with_projector(Box::new(Panics));
        commit(&writer, vec![plain(id)]);
        assert!(matches!(writer.commit(batch(vec![plain(id), plain(id)])), Err(Error::ReadOnly { .. })));
        assert!(matches!(writer.commit(batch(vec![plain(id)])), Err(Error::ReadOnly { .. })));
    }
    commit(&world.writer(), vec![plain(id)]);
    assert_eq!(world.reader().task_head(id).unwrap().unwrap().0, 2);
}
