//! The twin for tests: forgets everything with the process.

use crate::vault::check_name;
use crate::{Error, Vault, VaultKind};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// A vault in memory, and a lock that can be shut to play a locked keychain.
#[derive(Default)]
pub struct MemoryVault {
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    entries: BTreeMap<String, Zeroizing<Vec<u8>>>,
    locked: bool,
}

impl MemoryVault {
    /// An empty vault, open.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on every call answers [`Error::Locked`].
    pub fn lock(&self) {
        self.inside().locked = true;
    }

    /// Opens it again.
    pub fn unlock(&self) {
        self.inside().locked = false;
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, name: &str) -> Result<MutexGuard<'_, Inside>, Error> {
        check_name(name)?;
        let inside = self.inside();
        if inside.locked { Err(Error::Locked { why: "a test shut it".to_owned() }) } else { Ok(inside) }
    }
}

impl fmt::Debug for MemoryVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryVault")
    }
}

impl Vault for MemoryVault {
    fn kind(&self) -> VaultKind {
        VaultKind::Memory
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.open(name)?.entries.insert(name.to_owned(), Zeroizing::new(bytes.to_vec()));
        Ok(())
    }

    fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        Ok(self.open(name)?.entries.get(name).cloned())
    }

    fn delete(&self, name: &str) -> Result<bool, Error> {
        Ok(self.open(name)?.entries.remove(name).is_some())
    }
}
