//! New keys in the place of old ones, in steps of which each may be the last before a crash.
//!
//! The next seed is laid beside the present one ([`Keys::stage`]); the log records that keys followed others, signed
//! by both; then the next seed becomes the present one ([`Keys::promote`]) and `keys.json` names its keys
//! ([`Keys::mark`]). Wherever that breaks off, the log decides: [`Keys::settle`] goes on to the new keys when the log
//! has them, and back to the old ones when it has not.

use crate::instance::keep_former;
use crate::keys::{ROOT, seed_of};
use crate::vault_choice::place;
use crate::{Error, Keys, Marker, Vault};
use seal::{PublicKey, Signer as _};
use std::path::Path;
use zeroize::Zeroizing;

/// Name of the seed that is to follow.
pub(crate) const NEXT: &str = "root-seed.next";

impl Keys {
    /// Lays the next seed into the vault and gives its keys; one that a broken-off rotation left is taken as it is.
    ///
    /// # Errors
    /// Those of the vault.
    pub fn stage(vault: &dyn Vault, root_seed: [u8; 32]) -> Result<Self, Error> {
        let seed = Zeroizing::new(root_seed);
        if let Some(left) = seed_in(vault, NEXT)? {
            return Self::derive(vault, &left);
        }
        vault.put(NEXT, seed.as_ref())?;
        Self::derive(vault, &seed)
    }

    /// The next seed becomes the present one. The log already says so. What keys of the instance came of is kept, since coins may lie
    /// at them.
    ///
    /// # Errors
    /// [`Error::Missing`] when nothing was staged, and those of the vault.
    pub fn promote(vault: &dyn Vault) -> Result<(), Error> {
        let next = seed_in(vault, NEXT)?;
        let next =
            next.ok_or_else(|| Error::Missing { what: format!("{NEXT} in the {} vault", vault.kind()) })?;
        if let Some(present) = seed_in(vault, ROOT)?.filter(|present| *present != next) {
            keep_former(vault, &present)?;
        }
        vault.put(ROOT, next.as_ref())
    }

    /// Writes the keys of the present seed into `keys.json`, with those it named before, and clears what was staged.
    ///
    /// # Errors
    /// [`Error::Missing`] for a store without keys, and those of the vault.
    pub fn mark(folder: &Path, vault: &dyn Vault) -> Result<Self, Error> {
        let before = Marker::read(folder)?;
        let before = before.ok_or_else(|| Error::Missing { what: place(folder).display().to_string() })?;
        let seed = seed_in(vault, ROOT)?;
        let seed =
            seed.ok_or_else(|| Error::Missing { what: format!("{ROOT} in the {} vault", vault.kind()) })?;
        let mut keys = Self::derive(vault, &seed)?;
        keys.marker.earlier.clone_from(&before.earlier);
        if before.log != keys.marker.log {
            keys.marker.earlier.push(before.as_earlier());
        }
        let keys = keys.marked(folder)?;
        vault.delete(NEXT)?;
        Ok(keys)
    }

    /// Brings a broken-off rotation to the end that the log has: `in_force` is the log key the ledger names. Whether
    /// there was anything to do.
    ///
    /// # Errors
    /// [`Error::OtherKeys`] when neither the present seed nor a staged one gives that key, and those of the vault.
    pub fn settle(folder: &Path, vault: &dyn Vault, in_force: &PublicKey) -> Result<bool, Error> {
        let Some(marker) = Marker::read(folder)? else { return Ok(false) };
        if marker.vault != vault.kind() {
            return Err(Error::OtherVault { chosen: marker.vault, given: vault.kind() });
        }
        let present = seed_in(vault, ROOT)?;
        let next = seed_in(vault, NEXT)?;
        let is_in_force = |seed: &Option<Zeroizing<[u8; 32]>>| -> Result<bool, Error> {
            match seed {
                Some(seed) => Ok(Self::derive(vault, seed)?.log().public() == *in_force),
                None => Ok(false),
            }
        };
        if is_in_force(&present)? {
            if marker.log.public_key == *in_force {
                // What was staged and never recorded is nobody's key.
                return if next.is_some() { vault.delete(NEXT) } else { Ok(false) };
            }
            return Self::mark(folder, vault).map(|_| true);
        }
        if is_in_force(&next)? {
            Self::promote(vault)?;
            return Self::mark(folder, vault).map(|_| true);
        }
        Err(Error::OtherKeys { purpose: "log" })
    }
}

fn seed_in(vault: &dyn Vault, name: &str) -> Result<Option<Zeroizing<[u8; 32]>>, Error> {
    vault.get(name)?.map(|bytes| seed_of(&bytes)).transpose()
}
