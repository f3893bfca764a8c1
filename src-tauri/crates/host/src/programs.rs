//! Programs beside this one: those that a trial built, and those that were adopted (successor.md 5). A file that is being written
//! is none yet, so that what has its name is whole; which one is started is a pointer of its own.

mod mark;

use crate::places::{EXECUTOR, PROGRAM};
use crate::{Config, Error, Home};
use ::successor::Built;
use kernel::ports::Adopting;
use model::Digest;
use model::adoption::AdoptedProgram;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

pub(crate) use mark::{Mark, Marks, stamp};

/// In the store's folder.
const FOLDER: &str = "programs";
/// In that folder: programs that trials built, by trial. Nothing there is started.
const BUILT: &str = "built";
/// In that folder: which adopted program is started.
const POINTER: &str = "current.json";
/// Bytes of a program.
const PROGRAM_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// Bytes of the pointer.
const POINTER_BYTES_MAX: u64 = 64 * 1024;
/// Bytes of that file.
const SCHEMA_BYTES_MAX: u64 = 1024 * 1024;
/// Where the source says which format of a store it writes.
const SCHEMA_FILE: &str = "src-tauri/crates/ledger/src/schema.rs";
/// How long a constitutional change waits where nothing is set.
const WAIT: Duration = Duration::from_secs(24 * 3600);

/// The adopted program that is started, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pointer {
    /// The trial of the change that it was built of.
    pub trial_id: String,
    /// Its digest.
    pub sha256: Digest,
    /// Bytes of its file.
    pub bytes: u64,
    /// Whether it has said that it is healthy.
    #[serde(default)]
    pub healthy: bool,
    /// Why it is not started any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Pointer {
    /// Which program is started; none where nobody adopted one.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read, or is none.
    pub fn read(home: &Home) -> Result<Option<Self>, Error> {
        let path = folder(home).join(POINTER);
        let mut bytes = Vec::new();
        let read = match File::open(&path) {
            Ok(file) => file.take(POINTER_BYTES_MAX).read_to_end(&mut bytes),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => Err(e),
        };
        read.map_err(|e| Error::io("read", &path, &e))?;
        let pointer = serde_json::from_slice(&bytes).map_err(|e| Error::io("read", &path, &e.into()))?;
        Ok(Some(pointer))
    }

    /// Keeps it, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn keep(&self, home: &Home) -> Result<(), Error> {
        let path = folder(home).join(POINTER);
        let failed = |e: io::Error| Error::io("write", &path, &e);
        std::fs::create_dir_all(folder(home)).map_err(failed)?;
        let bytes = serde_json::to_vec_pretty(self).map_err(|e| failed(e.into()))?;
        disk::replace(&path, &bytes).map_err(failed)
    }

    /// Nothing is started any more but the program that was installed.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn clear(home: &Home) -> Result<(), Error> {
        let path = folder(home).join(POINTER);
        match std::fs::remove_file(&path) {
            Ok(()) => disk::sync_folder(&folder(home)).map_err(|e| Error::io("write", &path, &e)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(Error::io("remove", &path, &e)),
        }
    }

    /// Where its program is.
    pub fn program(&self, home: &Home) -> PathBuf {
        program_at(home, self.sha256)
    }
}

/// Whether nobody adopted a program at this machine for the store in this folder, which is of the user who runs this.
pub(crate) fn is_from_elsewhere(home: &Home, sha256: Digest) -> bool {
    let is_ours = disk::open_folder(home.dir()).is_ok_and(|folder| disk::is_own(&folder));
    is_ours && Marks::own().read(home.dir(), sha256).is_none()
}

/// A program and the one that runs its commands, as their disk has them; none where that does not say.
pub(crate) fn stamp_of(program: &Path) -> Option<String> {
    let executor = stamp(&program.with_file_name(EXECUTOR)).unwrap_or_default();
    Some(format!("{}, {executor}", stamp(program)?))
}

/// Whether both are what was adopted here, byte for byte.
///
/// # Errors
/// In words, why not.
pub(crate) fn compared(program: &Path, mark: &Mark, bytes: u64) -> Result<(), String> {
    let found = digest_of(program).map_err(|error| format!("its file cannot be read: {error}"))?;
    if found != (mark.sha256, bytes) {
        return Err("its file is another than was adopted".to_owned());
    }
    let executor = match digest_of(&program.with_file_name(EXECUTOR)) {
        Ok((sha256, _)) => Some(sha256),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(format!("the program that runs its commands cannot be read: {e}")),
    };
    match executor == mark.executor {
        true => Ok(()),
        false => Err("the program that runs its commands is another than was kept".to_owned()),
    }
}

fn folder(home: &Home) -> PathBuf {
    home.path(FOLDER)
}

/// Where the program of this digest lies, if it was installed.
pub(crate) fn program_at(home: &Home, sha256: Digest) -> PathBuf {
    folder(home).join(sha256.to_string()).join(PROGRAM)
}

/// Where a trial's program is kept until somebody adopts it.
fn built_at(home: &Home, trial_id: &str) -> Result<PathBuf, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match trial_id.is_empty() || !trial_id.chars().all(is_name) {
        true => Err(format!("`{trial_id}` is no trial")),
        false => Ok(folder(home).join(BUILT).join(trial_id)),
    }
}

/// Digest and size of a file.
///
/// # Errors
/// What the disk says.
pub(crate) fn digest_of(path: &Path) -> io::Result<(Digest, u64)> {
    let (sha256, bytes) = disk::digest(File::open(path)?.take(PROGRAM_BYTES_MAX + 1))?;
    match bytes > PROGRAM_BYTES_MAX {
        true => Err(io::Error::other("it is too large for a program")),
        false => Ok((sha256, bytes)),
    }
}

/// The digest of the running program.
///
/// # Errors
/// In words, when it cannot be read.
pub fn own_digest() -> Result<Digest, String> {
    static OWN: OnceLock<Result<Digest, String>> = OnceLock::new();
    let read = || {
        let program =
            std::env::current_exe().map_err(|e| format!("the running program is not known: {e}"))?;
        let read = digest_of(&program).map_err(|e| format!("`{}`: {e}", program.display()));
        read.map(|(sha256, _)| sha256)
    };
    OWN.get_or_init(read).clone()
}

/// Keeps what a trial built, where adopting finds it; what the verdict says of it.
///
/// # Errors
/// In words, when it cannot be read or kept, or its source does not say which stores it writes.
pub fn keep_built(home: &Home, trial_id: &str, built: &Path, source: &Path) -> Result<Built, String> {
    let text = schema_of(source).map_err(|e| format!("`{SCHEMA_FILE}` of its source: {e}"))?;
    let store_format = schema_in(&text).ok_or("its source does not say which format of a store it writes")?;
    let to = built_at(home, trial_id)?;
    let failed = |e: io::Error| format!("`{}`: {e}", to.display());
    std::fs::create_dir_all(folder(home).join(BUILT)).map_err(failed)?;
    copied(built, &to).map_err(failed)?;
    let (program_sha256, bytes) = digest_of(&to).map_err(failed)?;
    Ok(Built { program_sha256, bytes, store_format })
}

/// The file that says it. What a change built and tested has written in that folder: only a file of its own is read, behind no link.
fn schema_of(source: &Path) -> io::Result<String> {
    let at = source.canonicalize()?.join(Path::new(SCHEMA_FILE));
    if !is_own_file(&at) {
        return Err(io::Error::other("it is no file of its own"));
    }
    let mut text = String::new();
    File::open(&at)?.take(SCHEMA_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Whether a path without links leads to a file.
pub(crate) fn is_own_file(at: &Path) -> bool {
    at.symlink_metadata().is_ok_and(|about| about.is_file())
        && at.canonicalize().is_ok_and(|real| real == *at)
}

/// The format of a store that a source writes.
fn schema_in(text: &str) -> Option<u32> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("pub const SCHEMA: u32 = "))?;
    line.trim_end_matches(';').trim().parse().ok()
}

/// A program, byte for byte, that its owner can start and nobody can write.
pub(crate) fn copied(from: &Path, to: &Path) -> io::Result<()> {
    let mut read = File::open(from)?;
    let mut draft = disk::Draft::beside(to)?;
    io::copy(&mut read, draft.file())?;
    disk::make_program(draft.file())?;
    draft.replace()
}

/// Puts a program of this digest and so many bytes beside this one, with the one that runs its commands, where there is one; the
/// digest of that. It is not started by this.
///
/// # Errors
/// In words, when it is another than was judged, or cannot be written; nothing of it is started then.
pub(crate) fn install(
    home: &Home,
    from: &Path,
    of: (Digest, u64),
    executor: Option<&Path>,
) -> Result<Option<Digest>, String> {
    let to = program_at(home, of.0);
    let failed = |e: io::Error| format!("`{}`: {e}", to.display());
    let as_judged = |path: &Path| digest_of(path).is_ok_and(|found| found == of);
    let beside = to.parent().ok_or("a program lies in a folder")?;
    std::fs::create_dir_all(beside).map_err(failed)?;
    if !as_judged(&to) {
        if !as_judged(from) {
            return Err("the program that was built is gone, or is another than was judged".to_owned());
        }
        copied(from, &to).map_err(failed)?;
        if !as_judged(&to) {
            let _ = std::fs::remove_file(&to);
            return Err("the program is another than was judged, once it was kept".to_owned());
        }
    }
    let beside = beside.join(EXECUTOR);
    match executor {
        Some(executor) => {
            copied(executor, &beside).map_err(failed)?;
            digest_of(&beside).map(|(sha256, _)| Some(sha256)).map_err(failed)
        }
        None => match std::fs::remove_file(&beside) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed(e)),
            _ => Ok(None),
        },
    }
}

/// What adopted changes reach outside a store: its settings, and programs beside this one.
pub(crate) struct Programs {
    home: Home,
    marks: Marks,
}

impl Programs {
    pub(crate) fn of(home: &Home) -> Self {
        Self { home: home.clone(), marks: Marks::own() }
    }
}

impl Adopting for Programs {
    fn evaluator(&self) -> Result<Digest, String> {
        own_digest()
    }

    fn constitutional_wait(&self) -> Duration {
        Config::in_force(&self.home).constitutional_wait_s.map_or(WAIT, Duration::from_secs)
    }

    fn standard_model(&self) -> Result<Option<String>, String> {
        Config::load(&self.home).map(|config| config.default_model).map_err(|e| e.to_string())
    }

    fn check_model(&self, address: &str, sha256: Option<Digest>) -> Result<(), String> {
        let config = Config::load(&self.home).map_err(|e| e.to_string())?;
        check_model(address, sha256, &config)
    }

    fn store_format(&self) -> u32 {
        ledger::SCHEMA
    }

    fn keep_program(&self, trial_id: &str, program: &AdoptedProgram) -> Result<(), String> {
        // Where this program runs no commands, it runs none either.
        let executor = crate::executors::executor().ok();
        let (built, of) = (built_at(&self.home, trial_id)?, (program.sha256, program.bytes));
        let executor = install(&self.home, &built, of, executor.as_deref())?;
        // A person said yes to it here, and for this store: nothing in the store's folder could say so.
        let mark = Mark { sha256: program.sha256, executor, compared: None, asked_by: None };
        let kept = self.marks.keep(self.home.dir(), &mark);
        kept.map_err(|e| format!("that it was adopted here cannot be kept: {e}"))
    }
}

/// Whether an address is one that can be the standard model, written as it is kept there, and of this file where one is named.
///
/// # Errors
/// In words, what is wrong with it.
pub(crate) fn check_model(
    address: &str,
    sha256: Option<model::Digest>,
    config: &Config,
) -> Result<(), String> {
    let ours = crate::models::ours(address, config).map_err(|e| e.message)?;
    match sha256.is_none_or(|sha256| ours.ends_with(&format!("sha256:{sha256}"))) {
        true if ours == address => Ok(()),
        true => Err(format!("write the model as `{ours}`")),
        false => Err("the digest of its file is not the one in the model's address".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_built_program_is_kept_whole_and_another_is_not_installed() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::find(Some(&dir.path().join("store"))).unwrap();
        home.make().unwrap();
        let (source, built) = (dir.path().join("source"), dir.path().join("built"));
        let schema = source.join(SCHEMA_FILE);
        std::fs::create_dir_all(schema.parent().unwrap()).unwrap();
        std::fs::write(&schema, "/// Version.\npub const SCHEMA: u32 = 3;\n").unwrap();
        std::fs::write(&built, b"#!/bin/sh\nexit 0\n").unwrap();
        let kept = keep_built(&home, "trial_1", &built, &source).unwrap();
        assert_eq!((kept.store_format, kept.bytes), (3, 17));
        assert!(keep_built(&home, "../trial", &built, &source).is_err(), "a trial is no path");
        let program = AdoptedProgram {
            sha256: kept.program_sha256,
            bytes: kept.bytes,
            store_format: 3,
            source: Digest::of(b"source"),
        };
        let marks = Marks::at(dir.path().join("marks"));
        let programs = Programs { home: home.clone(), marks: marks.clone() };
        programs.keep_program("trial_1", &program).unwrap();
        let at = super::program_at(&home, program.sha256);
        let mark = marks.read(home.dir(), program.sha256).unwrap();
        assert_eq!(compared(&at, &mark, program.bytes), Ok(()));
        assert_eq!(marks.read(dir.path(), program.sha256), None, "it was adopted for that store alone");
        let beside = at.with_file_name(EXECUTOR);
        let stamped = stamp_of(&at);
        let _ = std::fs::remove_file(&beside);
        std::fs::write(&beside, b"another").unwrap();
        assert!(compared(&at, &mark, program.bytes).is_err(), "nor does another run its commands");
        assert!(stamped.is_none() || stamp_of(&at) != stamped, "which is seen without reading it");
        assert_eq!(std::fs::read(&at).unwrap(), b"#!/bin/sh\nexit 0\n");
        programs.keep_program("trial_1", &program).unwrap();
        let other = AdoptedProgram { sha256: Digest::of(b"another"), ..program };
        assert!(
            programs
                .keep_program("trial_1", &other)
                .is_err_and(|why| why.contains("another than was judged"))
        );
        assert!(!super::program_at(&home, other.sha256).exists());
    }

    #[test]
    fn a_pointer_is_read_as_it_was_kept_and_a_broken_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::find(Some(dir.path())).unwrap();
        assert_eq!(Pointer::read(&home).unwrap(), None);
        let (trial_id, sha256) = ("trial_1".to_owned(), Digest::of(b"a program"));
        let pointer = Pointer { trial_id, sha256, bytes: 9, healthy: false, failed: None };
        pointer.keep(&home).unwrap();
        assert_eq!(Pointer::read(&home).unwrap(), Some(pointer));
        std::fs::write(folder(&home).join(POINTER), b"{").unwrap();
        assert!(Pointer::read(&home).is_err());
        Pointer::clear(&home).unwrap();
        Pointer::clear(&home).unwrap();
        assert_eq!(Pointer::read(&home).unwrap(), None);
    }
}
