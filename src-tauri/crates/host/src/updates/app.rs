//! The desktop app of a release: kept beside the program that it was made with, and started by the installed app in its own place
//! (`launch/app.rs`). What was installed is never written: it may be a package manager's, and a kill in between could leave none.
//! So the app comes and goes with the program, for the store that was updated.

use super::{keep, kept, state};
use crate::places::APP;
use crate::programs::{copied, digest_of, program_at, stamp};
use crate::{Error, Home};
use model::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// In the user's folder for state about updates: where the app lies that was started last.
const PLACE: &str = "app.json";
/// How the name of an image ends.
const IMAGE: &str = ".AppImage";

/// The app of a release, and how it stands. It is asked when the installed app starts next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdatedApp {
    /// Its digest.
    pub sha256: Digest,
    /// Bytes of its file.
    pub bytes: u64,
    /// How often it was started before it had come up.
    #[serde(default)]
    pub starts: u32,
    /// Whether it came up.
    #[serde(default)]
    pub healthy: bool,
    /// Why it is not started any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl UpdatedApp {
    /// One of its starts counts no longer: an app runs already, and it gave its words to that one. Whether this changed anything.
    pub(crate) fn gave_its_words(&mut self) -> bool {
        let counted = !self.healthy && self.failed.is_none() && self.starts > 0;
        if counted {
            self.starts = self.starts.saturating_sub(1);
        }
        counted
    }
}

/// Where the app lies that a person installed, as it has told at its last start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AppPlace {
    /// Its file: an image, or the program.
    pub(crate) program: PathBuf,
    /// Whether it is an image, which holds what it needs.
    pub(crate) is_image: bool,
}

impl AppPlace {
    /// What the app told; none where none was ever started.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read.
    pub(crate) fn read() -> Result<Option<Self>, Error> {
        let Ok(path) = state(PLACE) else { return Ok(None) };
        kept(&path)
    }

    /// Keeps it, where it is another than was told.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NoHome`].
    pub(crate) fn keep(&self) -> Result<(), Error> {
        match Self::read() {
            Ok(Some(known)) if known == *self => Ok(()),
            _ => keep(&state(PLACE)?, self),
        }
    }
}

/// Where the app of an update lies, beside the program of this digest.
pub(crate) fn app_at(home: &Home, program: Digest) -> PathBuf {
    program_at(home, program).with_file_name(APP)
}

/// Whether two paths lead to the same file, as its disk has it.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    stamp(one).is_some_and(|of_one| Some(of_one) == stamp(other))
}

/// The name among a release's programs of the app that fits the installed one; none where the release has none of its kind. On macOS
/// the app is a folder of files, and no single program is one.
pub(super) fn named<'a>(programs: &'a BTreeMap<String, Digest>, place: Option<&AppPlace>) -> Option<&'a str> {
    if std::env::consts::OS == "macos" {
        return None;
    }
    let is_it = |file: &&String| match place {
        Some(place) if place.is_image => file.ends_with(IMAGE),
        _ => file.strip_prefix("programs/") == Some(APP),
    };
    programs.keys().find(is_it).map(String::as_str)
}

/// Puts the app of this digest beside a program, or takes away one that lies there where there is none to put; its bytes. The caller has
/// the turn.
///
/// # Errors
/// What the disk says, and where the file is another than was signed.
pub(super) fn install(from: Option<(&Path, Digest)>, program: &Path) -> io::Result<Option<UpdatedApp>> {
    let to = program.with_file_name(APP);
    let Some((from, signed)) = from else {
        return match std::fs::remove_file(&to) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(None),
        };
    };
    if digest_of(from)?.0 != signed {
        return Err(io::Error::other("its bytes are not those that were signed"));
    }
    copied(from, &to)?;
    let (sha256, bytes) = digest_of(&to)?;
    match sha256 == signed {
        true => Ok(Some(UpdatedApp { sha256, bytes, starts: 0, healthy: false, failed: None })),
        false => {
            let _ = std::fs::remove_file(&to);
            Err(io::Error::other("it is another than was signed, once it was kept"))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn an_image_is_renewed_by_an_image_and_a_program_by_a_program() {
        let of = |names: &[&str]| {
            let row = |name: &&str| (format!("programs/{name}"), Digest::of(name.as_bytes()));
            names.iter().map(row).collect::<BTreeMap<_, _>>()
        };
        let (both, image) = (of(&["Hermit_1.AppImage", APP, "hermit"]), of(&["Hermit_1.AppImage"]));
        let place = |is_image| AppPlace { program: PathBuf::from("/a"), is_image };
        if std::env::consts::OS == "macos" {
            assert_eq!(named(&both, None), None);
            return;
        }
        let app = format!("programs/{APP}");
        assert_eq!(named(&both, None), Some(app.as_str()));
        assert_eq!(named(&both, Some(&place(false))), Some(app.as_str()));
        assert_eq!(named(&both, Some(&place(true))), Some("programs/Hermit_1.AppImage"));
        assert_eq!(named(&image, None), None, "an image is no program for an app that is none");
        assert_eq!(named(&of(&["hermit"]), Some(&place(true))), None);
    }

    #[test]
    fn a_start_that_another_app_took_over_counts_no_longer() {
        let mut app =
            UpdatedApp { sha256: Digest::of(b""), bytes: 0, starts: 2, healthy: false, failed: None };
        assert!(app.gave_its_words() && app.gave_its_words() && !app.gave_its_words());
        assert_eq!(app.starts, 0);
        let left = UpdatedApp { starts: 3, failed: Some("it ended".to_owned()), ..app.clone() };
        let up = UpdatedApp { starts: 1, healthy: true, ..app };
        for mut other in [left, up] {
            let before = other.clone();
            assert!(!other.gave_its_words() && other == before, "{before:?}");
        }
    }

    #[test]
    fn an_app_lies_beside_its_program_as_it_was_signed_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let (program, from) = (dir.path().join("hermit"), dir.path().join("from"));
        std::fs::write(&from, b"an app").unwrap();
        assert!(install(Some((&from, Digest::of(b"another"))), &program).is_err());
        assert!(!program.with_file_name(APP).exists());
        let app = install(Some((&from, Digest::of(b"an app"))), &program).unwrap().unwrap();
        assert_eq!((app.bytes, app.healthy), (6, false));
        assert_eq!(std::fs::read(program.with_file_name(APP)).unwrap(), b"an app");
        assert_eq!(install(None, &program).unwrap(), None);
        assert_eq!(install(None, &program).unwrap(), None);
        assert!(!program.with_file_name(APP).exists(), "a release without one takes none of an earlier one");
    }
}
