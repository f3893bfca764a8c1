//! A passphrase that takes the place of another: the vault's, or that of the key that says yes.

use crate::keys::{APPROVAL_FILE, VAULT_FILE};
use crate::{Error, Local};
use keychain::{ApprovalKey, Cost, FileVault, Marker, VaultKind};
use model::fault::Point;

/// Which passphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassphraseOf {
    /// That of the vault's file, which holds the keys that sign receipts and proofs.
    Vault,
    /// That of the key that says yes.
    Approval,
}

impl Local {
    /// Puts a new passphrase in the place of one. Keys stay what they are, and open ones stay open. The file is the old
    /// one until it is the new one, wherever this breaks off.
    ///
    /// # Errors
    /// [`Error::Keys`] for a wrong passphrase, a new one that is too short, a vault that has none, and a key that is not
    /// there; [`Error::OnePassphrase`]; [`Error::Kernel`] when this process only reads.
    pub fn change_passphrase(&self, of: PassphraseOf, old: &[u8], new: &[u8]) -> Result<(), Error> {
        let kernel = self.owned_kernel()?;
        let (vault, approval) = (self.home().path(VAULT_FILE), self.home().path(APPROVAL_FILE));
        let missing = || keychain::Error::Missing { what: keychain::MARKER_FILE.to_owned() };
        let kind = Marker::read(self.home().dir())?.ok_or_else(missing)?.vault;
        keychain::check_passphrase(new)?;
        // Whoever does not know the old one learns nothing of the other one by what is refused.
        let is_the_others = match of {
            PassphraseOf::Vault if kind != VaultKind::File => {
                return Err(keychain::Error::NoPassphrase { kind }.into());
            }
            PassphraseOf::Vault => {
                FileVault::open(&vault, old)?;
                approval.exists() && opens(ApprovalKey::open(&approval, new))?
            }
            PassphraseOf::Approval => {
                ApprovalKey::open(&approval, old)?;
                kind == VaultKind::File && opens(FileVault::open(&vault, new))?
            }
        };
        if is_the_others {
            return Err(Error::OnePassphrase);
        }
        let stopped = |e: std::io::Error| Error::io("change a passphrase in", self.home().dir(), &e);
        let faults = &*kernel.ports().faults;
        faults.before(Point::KeyStage).map_err(stopped)?;
        match (of, self.keys().vault()) {
            (PassphraseOf::Vault, Some(open)) => open.rewrap(old, new, Cost::STRONG)?,
            (PassphraseOf::Vault, None) => FileVault::change_passphrase(&vault, old, new, Cost::STRONG)?,
            (PassphraseOf::Approval, _) => ApprovalKey::change_passphrase(&approval, old, new, Cost::STRONG)?,
        }
        faults.after(Point::KeyStage).map_err(stopped)
    }
}

/// Whether a passphrase opened a file.
fn opens<T>(came: Result<T, keychain::Error>) -> Result<bool, Error> {
    match came {
        Ok(_) => Ok(true),
        Err(keychain::Error::WrongPassphrase { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
