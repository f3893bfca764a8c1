//! Whether a release may take the place of the program at work: the checks of `hermit-verify --release`, with the key that a person
//! pinned, the version at work, this system, and the head of the log seen last.

use super::packages::{Package, package};
use super::pinned::Pinned;
use super::told::AtHand;
use super::{OWN, Record};
use crate::{Error as HostError, Home};
use proof::{ReleaseAsked, ReleaseReport, Trust, Verdict, verify_release};
use seal::{PublicKey, sshsig};
use serde::Serialize;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use wire::{Code, Error};

/// Bytes of a key's file.
const KEY_BYTES_MAX: u64 = 64 * 1024;

/// A release that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// What was found.
    #[serde(flatten)]
    pub report: ReleaseReport,
    /// Fingerprint of the key that it was checked with.
    pub checked_with: String,
    /// Whether a person pinned that key before.
    pub is_pinned: bool,
    /// Version of the program at work, than which it has to be newer.
    pub at_work: String,
    /// The package of the system that the installed app belongs to, where the release is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<Package>,
    #[serde(skip)]
    pub(super) key: PublicKey,
    /// The folder of the release.
    #[serde(skip)]
    pub(super) folder: PathBuf,
}

impl Checked {
    /// Whether it may be updated to.
    pub fn is_valid(&self) -> bool {
        self.report.verdict == Verdict::Valid
    }

    /// Whether a person named the key that it was checked with, by its fingerprint or its id.
    pub fn is_key(&self, named: &str) -> bool {
        Trust::parse(named).is_ok_and(|trust| trust.names(&self.key))
    }
}

/// Checks a release: its folder, or the `release.json` in it. `key` is a file with a key or the key itself, needed until one is pinned.
/// The head of the log is kept where the release is valid and its key is pinned.
///
/// # Errors
/// [`Code::Usage`] where no key is known or the release cannot be read, [`Code::Refused`] for another key than the pinned one. What is
/// wrong with the release is in the report.
pub fn check(home: &Home, path: &Path, key: Option<&str>) -> Result<Checked, Error> {
    let pinned = Pinned::read().map_err(HostError::to_wire)?;
    let given = key.map(key_of).transpose()?;
    let key = match (&pinned, given) {
        (Some(pinned), Some(given)) if given != pinned.key => return Err(another(pinned, &given)),
        (Some(pinned), _) => pinned.key,
        (None, Some(given)) => given,
        (None, None) => {
            return Err(Error::new(Code::Usage, "no key that signs releases is pinned yet").hint(
                "name it with `--key`: a PEM or vkey file, or a vkey, from where its makers publish it",
            ));
        }
    };
    let record = Record::read(home).map_err(HostError::to_wire)?;
    let at_work = record.at_work().and_then(|which| record.of(which));
    let at_work = at_work.map_or(OWN, |update| update.version.as_str()).to_owned();
    let (system, keys) = (own_system(), [key]);
    let asked = ReleaseAsked {
        keys: &keys,
        newer_than: Some(&at_work),
        system: Some(&system),
        since: pinned.as_ref().map(|pinned| pinned.head.as_bytes()),
        ..ReleaseAsked::default()
    };
    let report = verify_release(path, &asked).map_err(|e| {
        Error::new(Code::Usage, e.to_string())
            .hint("name the folder of a release, or the `release.json` in it")
    })?;
    let folder = match path.is_dir() {
        true => path,
        false => path.parent().filter(|up| !up.as_os_str().is_empty()).unwrap_or_else(|| Path::new(".")),
    };
    if let (Some(pinned), Some(found)) = (&pinned, &report.release) {
        let seen = Pinned { head: found.head.clone(), ..pinned.clone() };
        seen.keep()
            .and_then(|()| AtHand::keep(&found.made_of.version, folder))
            .map_err(HostError::to_wire)?;
    }
    let package = report.release.as_ref().and_then(|found| package(folder, &found.programs));
    let (checked_with, is_pinned) = (sshsig::fingerprint(&key), pinned.is_some());
    Ok(Checked { report, checked_with, is_pinned, at_work, package, key, folder: folder.to_owned() })
}

fn another(pinned: &Pinned, given: &PublicKey) -> Error {
    let (given, known) = (sshsig::fingerprint(given), pinned.fingerprint());
    Error::new(Code::Refused, format!("`{given}` is another key than `{known}`, which you pinned"))
        .hint("leave `--key` out; a release by another key is not installed here")
}

/// A whole key: that of a file, or the one that was spelled out.
fn key_of(given: &str) -> Result<PublicKey, Error> {
    let unread = |why: String| Error::new(Code::Usage, format!("cannot use the key `{given}`: {why}"));
    let mut text = given.to_owned();
    if Path::new(given).is_file() {
        text.clear();
        let read = File::open(given).and_then(|file| file.take(KEY_BYTES_MAX).read_to_string(&mut text));
        read.map_err(|e| unread(e.to_string()))?;
    }
    match Trust::parse(&text).map_err(|e| unread(e.to_string()))? {
        Trust::Key(key) => Ok(key),
        _ => Err(unread(
            "it only names a key; give the key itself, as a PEM or vkey file or a vkey".to_owned(),
        )),
    }
}

/// This system, as a compiler names it.
pub(super) fn own_system() -> String {
    use std::env::consts::{ARCH, OS};
    let library = match (cfg!(target_env = "musl"), cfg!(target_env = "msvc")) {
        (true, _) => "musl",
        (_, true) => "msvc",
        _ => "gnu",
    };
    match OS {
        "macos" => format!("{ARCH}-apple-darwin"),
        "windows" => format!("{ARCH}-pc-windows-{library}"),
        other => format!("{ARCH}-unknown-{other}-{library}"),
    }
}
