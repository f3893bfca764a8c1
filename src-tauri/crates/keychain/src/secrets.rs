//! Secret values by handle (`secret:<handle>`), out of the vault that was chosen.

use crate::{Error, Vault};
use seal::SecretSource;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Secrets of one vault. A handle is a vault name, such as `github-token`.
#[derive(Clone)]
pub struct Secrets(Arc<dyn Vault>);

impl Secrets {
    /// The secrets in `vault`; they stand beside the keys, under names of their own.
    #[must_use]
    pub fn new(vault: Arc<dyn Vault>) -> Self {
        Self(vault)
    }

    /// Keeps a value under a handle, replacing what was there.
    ///
    /// # Errors
    /// [`Error::Name`] and those of the vault.
    pub fn put(&self, handle: &str, value: &[u8]) -> Result<(), Error> {
        self.0.put(&name(handle), value)
    }

    /// Forgets a handle; whether there was one.
    ///
    /// # Errors
    /// As [`Self::put`].
    pub fn delete(&self, handle: &str) -> Result<bool, Error> {
        self.0.delete(&name(handle))
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.kind())
    }
}

impl SecretSource for Secrets {
    fn secret(&self, handle: &str) -> Result<Zeroizing<Vec<u8>>, seal::Error> {
        let key = || handle.to_owned();
        match self.0.get(&name(handle)) {
            Ok(Some(value)) => Ok(value),
            Ok(None) | Err(Error::Name { .. }) => Err(seal::Error::KeyMissing { key: key() }),
            Err(Error::Locked { .. }) => Err(seal::Error::KeyLocked { key: key() }),
            Err(other) => Err(seal::Error::KeyStore { reason: other.to_string() }),
        }
    }
}

fn name(handle: &str) -> String {
    format!("secret/{handle}")
}
