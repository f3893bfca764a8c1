//! Keeping and reading back.

use crate::world::{World, content};
use artifacts::{Error, NoInline, Put, Store};
use model::fault::NoFaults;
use model::{Digest, limits};
use proptest::prelude::*;
use std::fs;
use std::io::{self, Read};
use std::sync::Arc;

const SMALL: usize = limits::INLINE_ARTIFACT_BYTES_MAX;

#[test]
fn content_is_addressed_by_its_digest_inline_when_small_and_a_file_when_larger() {
    let world = World::new();
    let store = world.store();
    for (length, files) in [(0, 0), (1, 0), (SMALL, 0), (SMALL + 1, 1), (5 * SMALL, 2)] {
        let bytes = content(1, length);
        let digest = world.keep(&store, &bytes);
        assert_eq!(digest, Digest::of(&bytes));
        assert_eq!(store.read(&digest).unwrap(), bytes);
        assert!(store.contains(&digest).unwrap());
        assert_eq!(world.files().len(), files, "{length} bytes");
    }
    let hex = Digest::of(&content(1, SMALL + 1)).to_string();
    assert!(world.dir.path().join("artifacts/sha256").join(&hex[..2]).join(&hex).is_file());
}

#[cfg(unix)]
#[test]
fn files_and_folders_belong_to_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let digest = world.keep(&world.store(), &content(1, SMALL + 1));
    let path = world.store().path_of(&digest);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    let mut folder = path.parent().unwrap();
    while folder != world.dir.path() {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
        folder = folder.parent().unwrap();
    }
}

#[conforms::conforms(part = "HK-14.3-1")]
#[test]
fn the_same_content_is_kept_once_and_never_touched_again() {
    let world = World::new();
    let store = world.store();
    let bytes = content(1, SMALL + 7);
    let digest = world.keep(&store, &bytes);
    let before = fs::metadata(store.path_of(&digest)).unwrap().modified().unwrap();
    let place = |digest| disk::stamp(&fs::metadata(store.path_of(digest)).unwrap()).map(|stamp| stamp.place);
    let first = place(&digest);
    assert_eq!(store.put(&bytes).unwrap(), Put::Stored { digest, byte_size: bytes.len() as u64 });
    assert_eq!(fs::metadata(store.path_of(&digest)).unwrap().modified().unwrap(), before);
    assert_eq!((place(&digest), world.files().len()), (first, 1));
}

#[conforms::conforms("HK-14.2-2")]
#[test]
fn a_changed_a_cut_and_a_lost_file_are_told_apart_by_name() {
    let world = World::new();
    let store = world.store();
    let bytes = content(1, 3 * SMALL);
    let digest = world.keep(&store, &bytes);
    let path = store.path_of(&digest);
    let mut changed = bytes.clone();
    changed[SMALL] ^= 1;
    for damaged in [changed, bytes[..SMALL].to_vec(), [bytes.as_slice(), b"x"].concat(), Vec::new()] {
        fs::write(&path, &damaged).unwrap();
        let error = store.read(&digest).unwrap_err();
        assert!(matches!(&error, Error::Corrupt { digest: named, .. } if *named == digest), "{error:?}");
        assert!(error.to_string().contains("backup"));
        let mut streamed = store.content(&digest).unwrap();
        assert!(io::copy(&mut streamed, &mut io::sink()).is_err(), "a stream ends without a word");
    }
    // Whoever has the right bytes heals it by keeping them again.
    assert_eq!(world.keep(&store, &bytes), digest);
    assert_eq!(store.read(&digest).unwrap(), bytes);
    fs::remove_file(&path).unwrap();
    assert_eq!(store.read(&digest).unwrap_err(), Error::Missing { digest });
    assert!(!store.contains(&digest).unwrap());
}

#[conforms::conforms("HK-14.2-2")]
#[test]
fn inline_bytes_that_do_not_hash_to_their_name_are_not_returned() {
    let world = World::new();
    let digest = world.keep(&world.store(), b"right");
    world.inline.0.lock().unwrap().insert(digest, b"wrong".to_vec());
    assert!(matches!(world.store().read(&digest), Err(Error::Corrupt { .. })));
    let mut all = Vec::new();
    assert!(world.store().content(&digest).unwrap().read_to_end(&mut all).is_err());
}

#[test]
fn a_source_is_kept_as_it_flows_and_one_without_end_is_refused() {
    let world = World::new();
    let store = world.store();
    let bytes = content(9, 1_000_003);
    let put = store.put_reader(&mut Trickle(&bytes)).unwrap();
    assert_eq!((put.digest(), put.byte_size()), (Digest::of(&bytes), 1_000_003));
    let mut streamed = Vec::new();
    let mut reading = store.content(&put.digest()).unwrap();
    assert_eq!(reading.byte_size(), 1_000_003);
    reading.read_to_end(&mut streamed).unwrap();
    assert_eq!(streamed, bytes);
    let before = world.files();
    assert_eq!(
        store.put_reader(&mut io::repeat(0)),
        Err(Error::TooLarge { max: limits::ARTIFACT_BYTES_MAX })
    );
    let broken = store.put_reader(&mut Broken(Trickle(&bytes)));
    assert!(matches!(broken, Err(Error::Source { .. })), "{broken:?}");
    assert_eq!(world.files(), before, "a refused source leaves something behind");
}

/// Gives a few bytes at a time, and is interrupted now and then.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.len() % 5 == 4 {
            self.0.read(&mut buffer[..1])?;
            return Ok(1);
        }
        let piece = buffer.len().min(7_919);
        self.0.read(&mut buffer[..piece])
    }
}

struct Broken<'a>(Trickle<'a>);

impl Read for Broken<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.0.len() < 500_000 { Err(io::Error::other("torn cable")) } else { self.0.read(buffer) }
    }
}

#[test]
fn a_reader_of_a_store_touches_nothing() {
    let world = World::new();
    let store = Store::open_for_reading(world.dir.path(), Arc::new(NoInline), Arc::new(NoFaults));
    let digest = Digest::of(b"x");
    assert_eq!(store.read(&digest), Err(Error::Missing { digest }));
    assert_eq!(fs::read_dir(world.dir.path()).unwrap().count(), 0);
}

#[test]
fn many_threads_keep_the_same_and_different_content_at_once() {
    let world = World::new();
    let store = world.store();
    std::thread::scope(|scope| {
        for n in 0..8_u8 {
            let (world, store) = (&world, &store);
            scope.spawn(move || {
                for seed in [0, n] {
                    let bytes = content(seed, SMALL + 100);
                    let digest = world.keep(store, &bytes);
                    assert_eq!(store.read(&digest).unwrap(), bytes);
                }
            });
        }
    });
    assert_eq!(world.files().len(), 8);
}

#[test]
fn content_that_must_be_on_disk_at_once_gets_a_file_however_small() {
    let world = World::new();
    let store = world.store();
    let digest = store.put_file(b"what was there before").unwrap();
    assert_eq!(store.read(&digest).unwrap(), b"what was there before");
    assert_eq!(world.files(), [store.path_of(&digest)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_kept_comes_back(length in prop_oneof![0..300_usize, SMALL - 2..SMALL + 3, SMALL..300_000], seed: u8) {
        let world = World::new();
        let store = world.store();
        let bytes = content(seed, length);
        let digest = world.keep(&store, &bytes);
        prop_assert_eq!(store.read(&digest).unwrap(), bytes);
    }
}
