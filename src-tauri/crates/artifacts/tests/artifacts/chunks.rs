//! Large content as chunks: what is shared, what is damaged, what a stop leaves, what collecting takes.

use crate::world::{World, content, files_below, noise};
use artifacts::{Error, Mode, Store, Sweep};
use model::fault::{Faults, Point};
use model::{Digest, UnixMs, limits};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const WHOLE: usize = limits::WHOLE_ARTIFACT_BYTES_MAX;
const REMOVE: Sweep = Sweep { mode: Mode::Remove, now: UnixMs(0), spare_since: None };

fn all(world: &World) -> [usize; 3] {
    ["sha256", "lists", "chunks"].map(|folder| files_below(world, folder).len())
}

#[test]
fn content_up_to_the_border_is_one_file_and_a_byte_more_is_chunks_under_the_same_kind_of_address() {
    let world = World::new();
    let store = world.store();
    for (length, whole) in [(WHOLE - 1, true), (WHOLE, true), (WHOLE + 1, false), (3 * WHOLE, false)] {
        let before = all(&world);
        let bytes = noise(length as u64, length);
        let digest = world.keep(&store, &bytes);
        assert_eq!(digest, Digest::of(&bytes));
        assert!(store.contains(&digest).unwrap());
        assert_eq!(store.path_of(&digest).exists(), whole);
        let after = all(&world);
        assert_eq!((after[0] - before[0], after[1] - before[1]), if whole { (1, 0) } else { (0, 1) });
        assert!(store.read(&digest).unwrap() == bytes, "{length} bytes came back otherwise");
    }
    assert!(files_below(&world, "tmp").is_empty());
}

#[test]
fn one_byte_changed_and_one_put_in_add_few_chunks_of_64_mib() {
    let world = World::new();
    let store = world.store();
    let mut bytes = noise(1, 64 * 1024 * 1024);
    world.keep(&store, &bytes);
    let (first, before) = (all(&world), store.weigh().unwrap());
    assert!(first[2] > 60, "{first:?}");
    bytes[30_000_000] ^= 1;
    world.keep(&store, &bytes);
    let second = all(&world);
    assert!(second[2] - first[2] <= 2, "{first:?} {second:?}");
    bytes.insert(5_000_000, 7);
    let digest = world.keep(&store, &bytes);
    let third = all(&world);
    assert!(third[2] - second[2] <= 4, "{second:?} {third:?}");
    let after = store.weigh().unwrap();
    assert_eq!(after.content_bytes, 3 * 64 * 1024 * 1024 + 1);
    assert!(after.bytes - before.bytes < 12 * 1024 * 1024, "{before:?} {after:?}");
    assert!(store.read(&digest).unwrap() == bytes);
}

#[test]
fn what_repeats_itself_is_kept_once() {
    let world = World::new();
    let store = world.store();
    let digest = world.keep(&store, &vec![0; 40 * 1024 * 1024]);
    assert!(all(&world)[2] <= 2, "{:?}", all(&world));
    assert_eq!(store.read(&digest).unwrap().len(), 40 * 1024 * 1024);
}

#[test]
fn whole_content_of_an_older_store_stays_what_it_is_and_is_not_kept_again() {
    let world = World::new();
    let bytes = noise(3, 2 * WHOLE);
    let digest = Digest::of(&bytes);
    let store = world.store();
    let path = store.path_of(&digest);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, &bytes).unwrap();
    assert!(store.read(&digest).unwrap() == bytes);
    assert_eq!(world.keep(&store, &bytes), digest);
    assert_eq!(all(&world), [1, 0, 0]);
    assert_eq!(store.weigh().unwrap().content_bytes, bytes.len() as u64);
    // Damaged, it is healed as chunks.
    fs::write(&path, noise(4, 2 * WHOLE)).unwrap();
    assert!(matches!(store.read(&digest), Err(Error::Corrupt { .. })));
    assert_eq!(world.keep(&store, &bytes), digest);
    assert!(store.read(&digest).unwrap() == bytes && !path.exists());
}

#[test]
fn a_damaged_a_cut_and_a_missing_chunk_are_named_and_keeping_the_content_again_heals() {
    let world = World::new();
    let store = world.store();
    let bytes = noise(4, 3 * WHOLE);
    let digest = world.keep(&store, &bytes);
    let chunk = files_below(&world, "chunks")[2].clone();
    let name = chunk.file_name().unwrap().to_str().unwrap().to_owned();
    let right = fs::read(&chunk).unwrap();
    let mut flipped = right.clone();
    flipped[100] ^= 1;
    for (wrong, how) in
        [(Some(flipped), "damaged"), (Some(right[..10].to_vec()), "damaged"), (None, "missing")]
    {
        match wrong {
            Some(wrong) => fs::write(&chunk, wrong).unwrap(),
            None => fs::remove_file(&chunk).unwrap(),
        }
        let error = store.read(&digest).unwrap_err();
        assert!(matches!(&error, Error::Corrupt { digest: named, .. } if *named == digest), "{error:?}");
        assert!(error.to_string().contains(&name) && error.to_string().contains(how), "{error}");
        assert_eq!(store.verify([&digest], &mut |_| true).unwrap().damaged, [(digest, error.to_string())]);
        // Not a byte of the damaged chunk is handed on.
        let mut streamed = Vec::new();
        assert!(store.content(&digest).unwrap().read_to_end(&mut streamed).is_err());
        assert!(bytes.starts_with(&streamed), "bytes were handed on that nobody kept");
        assert_eq!(world.keep(&store, &bytes), digest);
        assert!(store.read(&digest).unwrap() == bytes, "{how}: not healed");
    }
}

#[test]
fn a_list_that_was_changed_is_not_believed_and_while_there_is_one_no_chunk_goes() {
    let world = World::new();
    let digest = world.keep(&world.store(), &noise(5, 2 * WHOLE));
    let list = files_below(&world, "lists")[0].clone();
    let text = fs::read_to_string(&list).unwrap();
    let chunks = files_below(&world, "chunks");
    let other = chunks[0].file_name().unwrap().to_str().unwrap();
    let renamed = text.replace(other, &Digest::of(b"another").to_string());
    assert_ne!(renamed, text);
    for wrong in
        [renamed, text[..text.len() / 2].to_owned(), String::new(), text.replace("byte_size", "size")]
    {
        fs::write(&list, wrong).unwrap();
        let store = world.store();
        assert!(matches!(store.read(&digest), Err(Error::Corrupt { .. })));
        let collected = store.collect(&BTreeSet::from([digest]), REMOVE).unwrap();
        assert_eq!((collected.unreadable, collected.chunks), (vec![digest], 0));
        assert_eq!(files_below(&world, "chunks"), chunks);
    }
}

#[test]
fn collecting_follows_lists_and_takes_exactly_the_chunks_that_no_content_has_left() {
    let world = World::new();
    let mut bytes = noise(6, 5 * WHOLE);
    let first = world.keep(&world.store(), &bytes);
    let alone = files_below(&world, "chunks").len();
    bytes[10_000_000] ^= 1;
    let second = world.keep(&world.store(), &bytes);
    let both = files_below(&world, "chunks").len();
    let store = world.store();
    let dry = Sweep { mode: Mode::DryRun, ..REMOVE };
    let told = store.collect(&BTreeSet::from([second]), dry).unwrap();
    assert_eq!((told.digests.clone(), told.kept), (vec![first], 1));
    assert_eq!(files_below(&world, "chunks").len(), both, "a dry run removed something");
    let before = store.weigh().unwrap().bytes;
    assert_eq!(store.collect(&BTreeSet::from([second]), REMOVE).unwrap(), told);
    assert_eq!(store.weigh().unwrap().bytes, before - told.bytes, "the bytes that were told");
    assert!(told.chunks > 0 && both - alone <= 2);
    assert!(store.read(&second).unwrap() == bytes);
    assert_eq!(store.read(&first).unwrap_err(), Error::Missing { digest: first });
    store.collect(&BTreeSet::new(), REMOVE).unwrap();
    assert_eq!(all(&world), [0, 0, 0]);
}

#[test]
fn erasing_takes_the_chunks_of_that_content_alone() {
    let world = World::new();
    let store = world.store();
    let mut bytes = noise(7, 4 * WHOLE);
    let first = world.keep(&store, &bytes);
    let own: BTreeSet<_> = files_below(&world, "chunks").into_iter().collect();
    bytes[6_000_000..6_000_020].copy_from_slice(b"something very quiet");
    let second = world.keep(&store, &bytes);
    assert!(store.erase(&second).unwrap());
    assert_eq!(files_below(&world, "chunks").into_iter().collect::<BTreeSet<_>>(), own);
    assert!(!store.erase(&second).unwrap());
    assert!(store.read(&first).is_ok());
    assert!(store.erase(&first).unwrap());
    assert_eq!(all(&world), [0, 0, 0]);
}

/// Stops at the boundary that comes as number `at`.
struct Stop {
    at: usize,
    seen: AtomicUsize,
}

impl Faults for Stop {
    fn before(&self, _: Point) -> io::Result<()> {
        match self.seen.fetch_add(1, Ordering::SeqCst) {
            n if n == self.at => Err(io::Error::other("stopped here")),
            _ => Ok(()),
        }
    }

    fn after(&self, point: Point) -> io::Result<()> {
        self.before(point)
    }
}

#[test]
fn wherever_it_stops_the_content_is_whole_or_absent_and_collecting_takes_what_is_left() {
    let bytes = noise(8, WHOLE + 500_000);
    let digest = Digest::of(&bytes);
    let (mut at, mut stopped) = (0, 0);
    loop {
        let world = World::new();
        let store = world.with_faults(Arc::new(Stop { at, seen: AtomicUsize::new(0) }));
        let put = store.put(&bytes);
        drop(store);
        let next = world.store();
        assert!(files_below(&world, "tmp").is_empty());
        let whole = match next.read(&digest) {
            Ok(found) => found == bytes,
            Err(Error::Missing { .. }) => false,
            Err(error) => panic!("boundary {at}: {error}"),
        };
        if put.is_ok() {
            assert!(whole);
            break;
        }
        stopped += 1;
        if !whole {
            next.collect(&BTreeSet::new(), REMOVE).unwrap();
            assert_eq!(all(&world), [0, 0, 0], "boundary {at}");
        }
        assert_eq!(world.keep(&next, &bytes), digest);
        assert!(next.read(&digest).unwrap() == bytes);
        at += 1;
    }
    assert!(stopped > 20, "only {stopped} boundaries");
}

#[test]
fn a_source_that_breaks_off_or_never_ends_leaves_nothing() {
    let world = World::new();
    let store = world.store();
    let bytes = noise(9, 2 * WHOLE);
    let error = store.put_reader(&mut bytes.as_slice().chain(Torn)).unwrap_err();
    assert!(matches!(error, Error::Source { .. }), "{error:?}");
    assert_eq!(all(&world), [0, 0, 0]);
    assert!(files_below(&world, "tmp").is_empty());
}

struct Torn;

impl Read for Torn {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("torn cable"))
    }
}

#[test]
fn content_travels_between_stores_as_a_stream() {
    let (from, to) = (World::new(), World::new());
    let bytes = noise(10, 3 * WHOLE);
    let digest = from.keep(&from.store(), &bytes);
    let put = to.store().put_reader(&mut from.store().content(&digest).unwrap()).unwrap();
    assert_eq!((put.digest(), put.byte_size()), (digest, bytes.len() as u64));
    assert!(to.store().read(&digest).unwrap() == bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_large_comes_back_whole_and_in_pieces(
        length in prop_oneof![
            WHOLE - 2..WHOLE + 3,
            WHOLE + limits::CHUNK_BYTES_MIN - 1..WHOLE + limits::CHUNK_BYTES_MIN + 2,
            WHOLE..2 * WHOLE,
        ],
        seed: u64,
        dull: bool,
        piece in 1..300_000_usize,
    ) {
        let world = World::new();
        let store = world.store();
        let bytes = if dull { content(seed as u8, length) } else { noise(seed, length) };
        let digest = world.keep(&store, &bytes);
        prop_assert!(store.read(&digest).unwrap() == bytes);
        let mut stream = Store::content(&store, &digest).unwrap();
        prop_assert_eq!(stream.byte_size(), length as u64);
        let (mut whole, mut buffer) = (Vec::new(), vec![0; piece]);
        loop {
            match stream.read(&mut buffer).unwrap() {
                0 => break,
                read => whole.extend_from_slice(&buffer[..read]),
            }
        }
        prop_assert!(whole == bytes);
    }
}
