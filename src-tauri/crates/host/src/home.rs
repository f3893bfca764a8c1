//! Where a store lives.

use crate::{Error, places};
use keychain::{Marker, VaultKind};
use std::path::{Path, PathBuf};

/// The folder of one store, its owner's alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// The rules that a person keeps in it as a file, where there are any.
    pub(crate) fn rules_file(&self) -> Result<Option<String>, Error> {
        let path = self.path(kernel::drive::USER_RULES);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("read", &path, &e)),
        }
    }

    /// The folder that was named, or `HERMIT_HOME`, or the platform's place for data. Makes nothing.
    ///
    /// # Errors
    /// [`Error::NoHome`] when none of them says anything.
    pub fn find(named: Option<&Path>) -> Result<Self, Error> {
        if let Some(path) = named {
            return absolute(path).map(Self);
        }
        match std::env::var_os("HERMIT_HOME") {
            Some(path) if !path.is_empty() => absolute(Path::new(&path)).map(Self),
            _ => places::stores().map(Self).map_err(|why| Error::NoHome(why.to_owned())),
        }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.0
    }

    /// A file or folder in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Whether a ledger is there.
    pub fn has_store(&self) -> bool {
        self.path("ledger.db").exists()
    }

    /// Whether the store's keys are in a file that a passphrase opens.
    pub fn needs_passphrase(&self) -> bool {
        matches!(Marker::read(&self.0), Ok(Some(marker)) if marker.vault == VaultKind::File)
    }

    /// Whether the store has keys.
    pub fn has_keys(&self) -> bool {
        matches!(Marker::read(&self.0), Ok(Some(_)))
    }

    /// No store is made where a copy was begun and broken off.
    ///
    /// # Errors
    /// [`Error::Kernel`] where one was.
    pub(crate) fn refuse_broken_off(&self) -> Result<(), Error> {
        match api::broken_off(&self.0) {
            Some(what) if !self.has_store() => Err(Error::Kernel(kernel::Error::Conflict(format!(
                "`{}` holds a {what} that was broken off; run the same `hermit {what}` again",
                self.0.display()
            )))),
            _ => Ok(()),
        }
    }

    /// Whether an approval key is there. One that cannot be looked for counts as there: without one a person says less.
    pub fn has_approval_key(&self) -> bool {
        self.path(crate::keys::APPROVAL_FILE).try_exists().unwrap_or(true)
    }

    /// Makes the folder, readable by its owner alone, and takes from others what they might see of one that is there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn make(&self) -> Result<(), Error> {
        std::fs::create_dir_all(&self.0).map_err(|e| Error::io("make", &self.0, &e))?;
        disk::owner_only::folder(&self.0).map_err(|e| Error::io("close to others", &self.0, &e))
    }
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|e| Error::NoHome(e.to_string()))
}
