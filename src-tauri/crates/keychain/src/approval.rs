//! The key that says yes: a seed of its own, in a file of its own, under a passphrase of its own (proof.md 3).

use crate::wrap::{Opened, check_passphrase, header, random};
use crate::{Cost, Error};
use seal::{PublicKey, SeedSigner, Signer as _};
use std::path::Path;
use zeroize::Zeroizing;

const FORMAT: &str = "hermit-approval-key/1";

/// The file `approval.key`. It is opened for one decision, or kept open by whoever shows the card for as long as
/// governance allows; this room keeps nothing.
#[derive(Debug)]
pub struct ApprovalKey;

impl ApprovalKey {
    /// A new key from a seed of its own, drawn here, so that it cannot come from anything else.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::WeakPassphrase`], [`Error::Randomness`], [`Error::Io`].
    pub fn create(path: &Path, passphrase: &[u8], cost: Cost) -> Result<SeedSigner, Error> {
        let seed = Zeroizing::new(random::<32>()?);
        Self::create_from(path, passphrase, *seed, cost)
    }

    /// A new key from a given seed, for a person that a test plays.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_from(
        path: &Path,
        passphrase: &[u8],
        seed: [u8; 32],
        cost: Cost,
    ) -> Result<SeedSigner, Error> {
        let seed = Zeroizing::new(seed);
        if std::fs::symlink_metadata(path).is_ok() {
            return Err(Error::Exists { what: path.display().to_string() });
        }
        let signer = SeedSigner::from_seed(*seed);
        Opened::create(FORMAT, passphrase, cost, Some(signer.public()))?.write(path, seed.as_ref())?;
        Ok(signer)
    }

    /// Opens the key.
    ///
    /// # Errors
    /// [`Error::WrongPassphrase`], [`Error::Missing`], [`Error::Exposed`], [`Error::Damaged`], [`Error::Io`].
    pub fn open(path: &Path, passphrase: &[u8]) -> Result<SeedSigner, Error> {
        let (opened, plain) = Opened::open(path, FORMAT, passphrase)?;
        let seed: Zeroizing<[u8; 32]> = plain
            .as_slice()
            .try_into()
            .map(Zeroizing::new)
            .map_err(|_| Error::damaged(path, "its seed is not 32 bytes"))?;
        let signer = SeedSigner::from_seed(*seed);
        if opened.header.public_key != Some(signer.public()) {
            return Err(Error::damaged(path, "its public key belongs to another seed"));
        }
        Ok(signer)
    }

    /// The public key, for which no passphrase is needed. Believe it only as far as the file is the owner's:
    /// the passphrase binds it, and [`Self::open`] checks it.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Exposed`], [`Error::Damaged`], [`Error::Io`].
    pub fn public(path: &Path) -> Result<PublicKey, Error> {
        header(path, FORMAT, Some(32))?
            .public_key
            .ok_or_else(|| Error::damaged(path, "it names no public key"))
    }

    /// Wraps the same key under another passphrase.
    ///
    /// # Errors
    /// As [`Self::open`], and [`Error::WeakPassphrase`].
    pub fn change_passphrase(path: &Path, old: &[u8], new: &[u8], cost: Cost) -> Result<(), Error> {
        check_passphrase(new)?;
        let (opened, plain) = Opened::open(path, FORMAT, old)?;
        Opened::create(FORMAT, new, cost, opened.header.public_key)?.write(path, &plain)
    }

    /// The file `next` takes the place of `path`: the last step of a rotation. The old seed is gone then.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn promote(next: &Path, path: &Path) -> Result<(), Error> {
        disk::rename(next, path).map_err(|e| Error::io("replace", path, &e))
    }
}
