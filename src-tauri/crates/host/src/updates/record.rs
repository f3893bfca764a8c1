//! Which release was updated to for a store, and the one before it. What is started follows it (`launch.rs`).

use super::app::UpdatedApp;
use super::{OWN, copies, keep, kept, state, turn};
use crate::programs::Pointer;
use crate::{Error, Home};
use model::Digest;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A release that a person updated to. Fields that a newer program writes beside these are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Update {
    /// Its version.
    pub version: String,
    /// The commit that it was made of, as its key says.
    pub commit: String,
    /// Id of the key that signed it.
    pub key: Digest,
    /// Digest of its program.
    pub sha256: Digest,
    /// Bytes of that.
    pub bytes: u64,
    /// Digest of the pages that came with it; none where it brought none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<Digest>,
    /// The desktop app that came with it; none where it brought none for this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<UpdatedApp>,
    /// When a person said yes, in milliseconds since 1970.
    pub at: i64,
    /// Format of the store before the program was started.
    pub format_before: u32,
    /// Format of the store once the program had been asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<u32>,
    /// The copy of the ledger from before, where it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<PathBuf>,
    /// Whether it came up.
    #[serde(default)]
    pub healthy: bool,
    /// Why it is not started any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Update {
    /// Its program as one that may be started; none where it did not come up, a person went back from it, or the program that was
    /// installed since is as new.
    pub(crate) fn pointer(&self) -> Option<Pointer> {
        let is_due = self.failed.is_none() && proof::is_newer(&self.version, OWN);
        let (trial_id, sha256, bytes) = (self.version.clone(), self.sha256, self.bytes);
        is_due.then_some(Pointer { trial_id, sha256, bytes, healthy: self.healthy, failed: None })
    }

    /// The newest format of a store that its program is known to read.
    pub(crate) fn reads(&self) -> u32 {
        self.format.unwrap_or(self.format_before)
    }
}

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// The newest.
    Now,
    /// The one before it.
    Before,
}

/// The newest update and the one before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    now: Option<Update>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Update>,
}

impl Record {
    /// What is on record for the store in this folder.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read.
    pub(crate) fn read(home: &Home) -> Result<Self, Error> {
        // Where the platform names no place for it, none was kept.
        if !home.has_store() || crate::places::state().is_none() {
            return Ok(Self::default());
        }
        Ok(kept(&path(home)?)?.unwrap_or_default())
    }

    /// Keeps it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn keep(&self, home: &Home) -> Result<(), Error> {
        keep(&path(home)?, self)
    }

    /// One of the two.
    pub(crate) const fn of(&self, which: Which) -> Option<&Update> {
        match which {
            Which::Now => self.now.as_ref(),
            Which::Before => self.before.as_ref(),
        }
    }

    /// The app of one of the two, to take note of how it stands.
    pub(crate) fn app_mut(&mut self, which: Which) -> Option<&mut UpdatedApp> {
        self.of_mut(which)?.app.as_mut()
    }

    const fn of_mut(&mut self, which: Which) -> Option<&mut Update> {
        match which {
            Which::Now => self.now.as_mut(),
            Which::Before => self.before.as_mut(),
        }
    }

    /// The one that is started; none where the installed program is.
    pub(crate) fn at_work(&self) -> Option<Which> {
        let is_started = |which: &Which| self.of(*which).and_then(Update::pointer).is_some();
        [Which::Now, Which::Before].into_iter().find(is_started)
    }

    /// Puts a new one in front of the newest that came up.
    pub(super) fn put(&mut self, update: Update) {
        let came_up = |one: &Update| one.healthy && one.failed.is_none();
        let before = [self.now.take(), self.before.take()].into_iter().flatten().find(came_up);
        *self = Self { now: Some(update), before };
    }

    /// Copies the ledger again where a program is about to be asked for the first time and work went on since the copy was made. A
    /// store that this program brought to another format already, or that this one does not read, is left with the copy it has. The caller
    /// has the turn.
    ///
    /// # Errors
    /// [`Error::Io`], and what the ledger says.
    pub(crate) fn copy_again(&mut self, which: Which, home: &Home) -> Result<(), Error> {
        let Some(update) = self.of_mut(which).filter(|update| !update.healthy) else { return Ok(()) };
        let format = ledger::schema_of(home.dir()).map_err(|e| Error::Said(api::of_ledger(e)))?;
        if format != update.format_before || format > ledger::SCHEMA {
            return Ok(());
        }
        let before = update.copy.replace(copies::copy(home, &update.version)?);
        self.keep(home)?;
        before.map_or(Ok(()), |copy| copies::remove(home, &copy))
    }

    /// Takes note of how its program stands, as its start has shown. A copy from before goes where the program left the store's format
    /// as it was: the program before reads that store.
    pub(crate) fn learn(&mut self, which: Which, pointer: &Pointer, home: &Home) {
        let Some(update) = self.of_mut(which) else { return };
        update.healthy = pointer.healthy;
        update.failed.clone_from(&pointer.failed);
        match ledger::schema_of(home.dir()) {
            Ok(format) => update.format = Some(format),
            Err(error) => tracing::warn!(%error, "the store's format cannot be told; the copy of it stays"),
        }
        if update.failed.is_some() {
            return;
        }
        if update.format == Some(update.format_before)
            && let Some(copy) = update.copy.take()
            && let Err(error) = copies::remove(home, &copy)
        {
            tracing::warn!(%error, "the copy from before the update cannot be removed");
            update.copy = Some(copy);
        }
    }

    /// Takes note that one is not started any more.
    pub(super) fn leave(&mut self, which: Which, why: &str) {
        if let Some(update) = self.of_mut(which) {
            update.failed = Some(why.to_owned());
        }
    }

    /// Takes note that the one that was to be started could not be.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Said`] while another process has the turn.
    pub(crate) fn did_not_start(home: &Home, why: &str) -> Result<(), Error> {
        let _turn = turn().map_err(Error::Said)?;
        let mut record = Self::read(home)?;
        let Some(which) = record.at_work() else { return Ok(()) };
        record.leave(which, why);
        record.keep(home)
    }
}

fn path(home: &Home) -> Result<PathBuf, Error> {
    let store = std::fs::canonicalize(home.dir()).map_err(|e| Error::io("read", home.dir(), &e))?;
    state(&format!("{}.json", Digest::of(store.as_os_str().as_encoded_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(version: &str) -> Update {
        Update {
            version: version.to_owned(),
            commit: String::new(),
            key: Digest::of(b"key"),
            sha256: Digest::of(version.as_bytes()),
            bytes: 1,
            pages: None,
            app: None,
            at: 0,
            format_before: 3,
            format: None,
            copy: None,
            healthy: true,
            failed: None,
        }
    }

    #[test]
    fn the_newest_that_came_up_is_kept_before_a_new_one_and_none_as_old_as_the_installed_one_is_started() {
        let mut record = Record::default();
        assert_eq!(record.at_work(), None);
        record.put(update("999.0.0"));
        assert_eq!(record.at_work(), Some(Which::Now));
        record.put(Update { healthy: false, ..update("999.1.0") });
        assert_eq!(record.before, Some(update("999.0.0")));
        record.leave(Which::Now, "it ended");
        assert_eq!(record.at_work(), Some(Which::Before));
        record.put(update("999.2.0"));
        assert_eq!(record.before, Some(update("999.0.0")), "what did not come up is no way back");
        record.put(update(OWN));
        assert_eq!(record.at_work(), Some(Which::Before), "the installed one is as new");
    }
}
