//! Updates of Hermit from a release at hand (systems.md 5): checked with a key that a person pinned, installed beside the program
//! that is there, and left again where the new one does not come up.
//!
//! How a release came to this machine is the person's matter; nothing is fetched. Before the new program is started for the first time
//! the ledger is copied, since only the new program knows whether it brings the store to another format. Where it does not, the copy
//! goes; where it does, it stays, and is put back only by a person's word. Copies that nothing goes back to are swept by the next update.
//!
//! The key, the head of the log of releases that was seen last, and which release was updated to for a store are kept outside of every
//! store's folder, as `programs/mark.rs` keeps what was adopted.

mod app;
mod apply;
mod back;
mod check;
mod copies;
mod packages;
mod pages;
mod pinned;
mod record;
mod told;

pub use app::UpdatedApp;
pub(crate) use app::{AppPlace, app_at, is_same_file};
pub use apply::{apply, ready};
pub use back::{Back, Went, Word, back, plan};
pub use check::{Checked, check};
pub use copies::{LedgerCopy, Purpose};
pub use packages::Package;
pub use record::Update;
pub(crate) use record::{Record, Which};
pub(crate) use told::told;
pub use told::{AtHand, in_words};

use crate::{Error, Home};
use pinned::Pinned;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// In the user's folder for state.
const STATE: &str = "updates";
/// In that folder: a file that is held locked by whoever changes what stands there.
const TURN: &str = "turn";
/// Bytes of a file of that state.
const STATE_BYTES_MAX: u64 = 1024 * 1024;
/// The version of this program.
const OWN: &str = env!("CARGO_PKG_VERSION");

/// How updates stand for a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Version of the program that was asked: for `hermit update show` the installed one.
    pub installed: String,
    /// Version of the program that is started.
    pub at_work: String,
    /// The system that a release has to be for.
    pub system: String,
    /// Fingerprint of the key that a person pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The newest update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Update>,
    /// The one before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Update>,
    /// Format of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<u32>,
    /// The newest format that the installed program reads.
    pub format_known: u32,
    /// Copies of the ledger from around updates.
    pub copies: Vec<LedgerCopy>,
    /// The release that was checked last, where it is newer than what is at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_hand: Option<AtHand>,
}

/// How updates stand for a store; asks no program.
///
/// # Errors
/// [`Error::Io`] when what is kept of it cannot be read.
pub fn standing(home: &Home) -> Result<Standing, Error> {
    let record = Record::read(home)?;
    let at_work = record.at_work().and_then(|which| record.of(which));
    let at_work = at_work.map_or(OWN, |update| update.version.as_str());
    Ok(Standing {
        installed: OWN.to_owned(),
        at_work: at_work.to_owned(),
        at_hand: AtHand::newer_than(at_work),
        system: check::own_system(),
        key: Pinned::read()?.map(|pinned| pinned.fingerprint()),
        format: ledger::schema_of(home.dir()).ok(),
        format_known: ledger::SCHEMA,
        copies: copies::list(home, &record)?,
        now: record.of(Which::Now).cloned(),
        before: record.of(Which::Before).cloned(),
    })
}

/// The folder of the pages that came with the program of an update; none where none came, or they are not as they were signed.
pub(crate) fn pages_of(home: &Home, program: &Path) -> Option<PathBuf> {
    let record = match Record::read(home) {
        Ok(record) => record,
        Err(error) => {
            tracing::warn!(%error, "which pages came with the update cannot be read; the installed ones are shown");
            return None;
        }
    };
    let updates = [Which::Now, Which::Before].into_iter().filter_map(|which| record.of(which));
    let is_its = |update: &&Update| update.pointer().is_some_and(|pointer| pointer.program(home) == program);
    let signed = updates.filter(is_its).find_map(|update| update.pages)?;
    match pages::of(program, signed) {
        Ok(folder) => Some(folder),
        Err(error) => {
            tracing::warn!(%error, "the pages of the update cannot be shown; the installed ones are");
            None
        }
    }
}

/// A file of the user's state about updates.
fn state(name: &str) -> Result<PathBuf, Error> {
    let none = || Error::NoHome("neither `XDG_STATE_HOME` nor `HOME` names a place for updates".to_owned());
    Ok(crate::places::state().ok_or_else(none)?.join(STATE).join(name))
}

/// The turn to change what stands of updates, for as long as it is held.
///
/// # Errors
/// [`Code::Held`] while another process has it, and what the disk says.
pub(crate) fn turn() -> Result<File, wire::Error> {
    let path = state(TURN).map_err(Error::to_wire)?;
    let held = disk::hold(&path).map_err(|e| Error::io("open", &path, &e).to_wire())?;
    held.ok_or_else(|| {
        wire::Error::new(
            wire::Code::Held,
            "another process updates Hermit, starts an update for the first time, or goes back",
        )
        .hint("wait until it is done, or end it; `hermit update show` tells how it stands")
    })
}

/// Reads such a file; none where there is none.
fn kept<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    let failed = |e: io::Error| Error::io("read", path, &e);
    let file = match File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(failed)?,
    };
    if !disk::is_own(&file) {
        return Err(failed(io::Error::other("others may write it; make it yours alone")));
    }
    let mut bytes = Vec::new();
    file.take(STATE_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
    serde_json::from_slice(&bytes).map(Some).map_err(|e| failed(e.into()))
}

/// Writes such a file, whole or not at all.
fn keep<T: Serialize>(path: &Path, what: &T) -> Result<(), Error> {
    let failed = |e: io::Error| Error::io("write", path, &e);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let bytes = serde_json::to_vec_pretty(what).map_err(|e| failed(e.into()))?;
    disk::replace(path, &bytes).map_err(failed)
}
