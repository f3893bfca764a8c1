//! A stop at every durable boundary: under its name a file is whole, or is not there.

use crate::world::{World, content};
use artifacts::Error;
use model::Digest;
use model::fault::{Faults, Point};
use std::io;
use std::sync::Arc;
use std::sync::Mutex;

/// Fails at one boundary, and remembers all it saw.
struct At {
    stop: Option<(Point, bool)>,
    kind: io::ErrorKind,
    seen: Mutex<Vec<(Point, bool)>>,
}

impl At {
    fn new(stop: Option<(Point, bool)>, kind: io::ErrorKind) -> Arc<Self> {
        Arc::new(Self { stop, kind, seen: Mutex::default() })
    }

    fn reach(&self, here: (Point, bool)) -> io::Result<()> {
        self.seen.lock().unwrap().push(here);
        if self.stop == Some(here) { Err(self.kind.into()) } else { Ok(()) }
    }
}

impl Faults for At {
    fn before(&self, point: Point) -> io::Result<()> {
        self.reach((point, true))
    }

    fn after(&self, point: Point) -> io::Result<()> {
        self.reach((point, false))
    }
}

const BOUNDARIES: [Point; 4] =
    [Point::ArtifactWriteTemp, Point::ArtifactSync, Point::ArtifactRename, Point::ArtifactSyncFolder];

#[test]
fn every_boundary_is_reached_in_order() {
    let world = World::new();
    let faults = At::new(None, io::ErrorKind::Other);
    world.keep(&world.with_faults(faults.clone()), &content(1, 100_000));
    let expected: Vec<_> = BOUNDARIES.iter().flat_map(|p| [(*p, true), (*p, false)]).collect();
    assert_eq!(*faults.seen.lock().unwrap(), expected);
}

#[test]
fn wherever_it_stops_a_file_is_whole_or_absent_and_the_next_host_sweeps_up() {
    let bytes = content(1, 100_000);
    let digest = Digest::of(&bytes);
    for point in BOUNDARIES {
        for before in [true, false] {
            let world = World::new();
            let store = world.with_faults(At::new(Some((point, before)), io::ErrorKind::Other));
            let error = store.put(&bytes).unwrap_err();
            assert!(matches!(&error, Error::Io { doing, .. } if doing.contains(point.as_str())), "{error:?}");
            match world.store().read(&digest) {
                Ok(found) => assert_eq!(found, bytes),
                Err(error) => assert_eq!(error, Error::Missing { digest }),
            }
            // The one that stopped may try again, and so may the next one.
            assert_eq!(world.keep(&world.store(), &bytes), digest);
            assert_eq!(world.files(), [store.path_of(&digest)], "at {point}");
        }
    }
}

#[test]
fn a_full_disk_is_told_as_such() {
    let world = World::new();
    let full = At::new(Some((Point::ArtifactWriteTemp, true)), io::ErrorKind::StorageFull);
    assert_eq!(world.with_faults(full).put(&content(1, 100_000)), Err(Error::Full));
}

#[test]
fn what_a_killed_host_left_in_the_making_is_gone_when_the_store_is_opened() {
    let world = World::new();
    drop(world.store());
    let left = world.dir.path().join("artifacts/tmp/123-0");
    std::fs::write(&left, b"half").unwrap();
    drop(world.store());
    assert!(!left.exists());
}
