//! Digests of the programs of servers and of weights, which are asked for before every call: a file is read again when anything that its
//! system says of it has changed.

use crate::command::run::digest_file;
use disk::{Stamp, stamp};
use model::{Digest, UnixMs};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files that are known at once: each server names a few.
const KNOWN_MAX: usize = 512;
/// A file that changed so shortly ago may change again without another time being written at it.
const SETTLED_MS: i64 = 2_000;

/// Files by their paths, as they were when they were read.
#[derive(Default)]
pub struct Digests(Mutex<BTreeMap<PathBuf, (Stamp, Digest)>>);

impl Digests {
    /// The digest of a file as it is now; none where it cannot be read.
    pub fn of(&self, path: &Path, now: UnixMs) -> Option<Digest> {
        let before = stamp(&path.metadata().ok()?);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        if let (Some(stamp), Some((known, digest))) = (before, known)
            && stamp == known
        {
            return Some(digest);
        }
        let digest = digest_file(path)?;
        let after = stamp(&path.metadata().ok()?).filter(|after| Some(*after) == before);
        if let Some(stamp) = after.filter(|stamp| is_settled(stamp, now)) {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= KNOWN_MAX {
                all.clear();
            }
            all.insert(path.to_owned(), (stamp, digest));
        }
        Some(digest)
    }
}

fn is_settled(stamp: &Stamp, now: UnixMs) -> bool {
    let at = |(seconds, nanos): (i64, i64)| seconds.saturating_mul(1_000).saturating_add(nanos / 1_000_000);
    at(stamp.written).max(at(stamp.changed)) < now.0.saturating_sub(SETTLED_MS)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_place_with_its_old_time_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        std::fs::write(&path, "one").expect("written");
        let digests = Digests::default();
        let later = UnixMs(i64::MAX);
        assert_eq!(digests.of(&path, later), Some(Digest::of(b"one")));
        assert_eq!(digests.0.lock().expect("no poison").len(), 1, "it is known");
        let times = std::fs::FileTimes::new()
            .set_modified(path.metadata().and_then(|of| of.modified()).expect("a time"));
        std::fs::write(&path, "two").expect("written");
        std::fs::File::options().write(true).open(&path).and_then(|file| file.set_times(times)).expect("set");
        assert_eq!(digests.of(&path, later), Some(Digest::of(b"two")));
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(digests.of(&path, later), None);
    }

    #[test]
    fn what_has_just_changed_is_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        std::fs::write(&path, "one").expect("written");
        let digests = Digests::default();
        assert_eq!(digests.of(&path, UnixMs(0)), Some(Digest::of(b"one")));
        assert!(digests.0.lock().expect("no poison").is_empty());
    }
}
