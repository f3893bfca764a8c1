//! The one role a vault has: bytes by name.

use crate::{Cost, Error};
use zeroize::Zeroizing;

pub use words::store::VaultKind;

/// Where bytes sleep by name. Names are 1 to 128 of `a-z0-9._-`, parts joined by `/`.
pub trait Vault: Send + Sync {
    /// Which one it is.
    fn kind(&self) -> VaultKind;

    /// Keeps `bytes` under `name`, replacing what was there. Durable when it returns.
    ///
    /// # Errors
    /// [`Error::Name`], [`Error::Locked`], [`Error::Keychain`], [`Error::Io`].
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Error>;

    /// The bytes under `name`, wiped when dropped.
    ///
    /// # Errors
    /// As [`Vault::put`], and [`Error::Damaged`].
    fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error>;

    /// Forgets `name`; whether there was anything.
    ///
    /// # Errors
    /// As [`Vault::put`].
    fn delete(&self, name: &str) -> Result<bool, Error>;

    /// Puts a new passphrase in the place of its own; what it holds stays, and it stays open.
    ///
    /// # Errors
    /// [`Error::NoPassphrase`] for a vault that the system opens; [`Error::WrongPassphrase`], [`Error::WeakPassphrase`],
    /// [`Error::Io`].
    fn rewrap(&self, _old: &[u8], _new: &[u8], _cost: Cost) -> Result<(), Error> {
        Err(Error::NoPassphrase { kind: self.kind() })
    }
}

/// Refuses a name that one of the vaults could misread.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    let part = |part: &str| !part.is_empty() && part.chars().all(letter) && !part.starts_with('.');
    if name.len() <= 128 && name.split('/').all(part) {
        return Ok(());
    }
    Err(Error::Name { name: name.to_owned() })
}
