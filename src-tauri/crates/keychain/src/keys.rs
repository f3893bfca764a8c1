//! One root seed, four keys, each for one purpose (proof.md 3).

use crate::vault_choice::place;
use crate::{Error, Marker, Vault};
use hkdf::Hkdf;
use seal::{SeedSigner, Signer};
use sha2::Sha256;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Name of the root seed in the vault.
pub(crate) const ROOT: &str = "root-seed";
const SALT: &[u8] = b"hermit-keys/1";
const LOG: &[u8] = b"hermit/K_log/1";
const RECEIPT: &[u8] = b"hermit/K_receipt/1";
const MANIFEST: &[u8] = b"hermit/K_manifest/1";
const COSIGN: &[u8] = b"hermit/K_cosign/1";

/// The four signers of a store. The root seed itself is not kept.
pub struct Keys {
    pub(crate) marker: Marker,
    log: Arc<SeedSigner>,
    receipt: Arc<SeedSigner>,
    manifest: Arc<SeedSigner>,
    cosign: Arc<SeedSigner>,
}

impl Keys {
    /// Puts `root_seed` (32 random bytes of the caller's) into the vault and writes `keys.json` into `folder`.
    ///
    /// # Errors
    /// [`Error::Exists`] when the folder already has keys, and those of the vault. A seed that a crash left in the
    /// vault before `keys.json` was written is taken as it is: nothing was signed with another.
    pub fn create(folder: &Path, vault: &dyn Vault, root_seed: [u8; 32]) -> Result<Self, Error> {
        let seed = Zeroizing::new(root_seed);
        if std::fs::symlink_metadata(place(folder)).is_ok() {
            return Err(Error::Exists { what: place(folder).display().to_string() });
        }
        match vault.get(ROOT)? {
            None => vault.put(ROOT, seed.as_ref())?,
            // A crash between vault and marker left a seed that nothing was signed with yet: it is as good.
            Some(left) => return Self::derive(vault, &*seed_of(&left)?).and_then(|keys| keys.marked(folder)),
        }
        Self::derive(vault, &seed)?.marked(folder)
    }

    /// The keys of the store in `folder`, from the vault that was chosen when they were made.
    ///
    /// # Errors
    /// [`Error::Missing`] for a store without keys or a vault that has lost them, [`Error::OtherVault`],
    /// [`Error::OtherKeys`], and those of the vault.
    pub fn open(folder: &Path, vault: &dyn Vault) -> Result<Self, Error> {
        let marker = Marker::read(folder)?;
        let marker = marker.ok_or_else(|| Error::Missing { what: place(folder).display().to_string() })?;
        if marker.vault != vault.kind() {
            return Err(Error::OtherVault { chosen: marker.vault, given: vault.kind() });
        }
        let seed = vault.get(ROOT)?;
        let seed =
            seed.ok_or_else(|| Error::Missing { what: format!("{ROOT} in the {} vault", vault.kind()) })?;
        let keys = Self::derive(vault, &*seed_of(&seed)?)?;
        let pairs = [
            ("log", keys.marker.log, marker.log),
            ("receipt", keys.marker.receipt, marker.receipt),
            ("manifest", keys.marker.manifest, marker.manifest),
        ];
        match pairs.iter().find(|(_, derived, written)| derived != written) {
            Some((purpose, ..)) => Err(Error::OtherKeys { purpose }),
            None => Ok(Self { marker, ..keys }),
        }
    }

    /// Signs checkpoints.
    #[must_use]
    pub fn log(&self) -> Arc<SeedSigner> {
        Arc::clone(&self.log)
    }

    /// Signs receipts and statements.
    #[must_use]
    pub fn receipt(&self) -> Arc<SeedSigner> {
        Arc::clone(&self.receipt)
    }

    /// Signs `SHA256SUMS` of a bundle.
    #[must_use]
    pub fn manifest(&self) -> Arc<SeedSigner> {
        Arc::clone(&self.manifest)
    }

    /// Signs that heads of the logs of one's other machines were seen, and nothing of this store (mesh.md 4). It is named in no log of
    /// this store: whoever believes it names it.
    #[must_use]
    pub fn cosign(&self) -> Arc<SeedSigner> {
        Arc::clone(&self.cosign)
    }

    /// What may be known of them.
    #[must_use]
    pub const fn marker(&self) -> &Marker {
        &self.marker
    }

    pub(crate) fn derive(vault: &dyn Vault, seed: &[u8; 32]) -> Result<Self, Error> {
        let (log, receipt, manifest) = (signer(seed, LOG)?, signer(seed, RECEIPT)?, signer(seed, MANIFEST)?);
        let marker = Marker::new(vault.kind(), log.public(), receipt.public(), manifest.public());
        let [log, receipt, manifest, cosign] = [log, receipt, manifest, signer(seed, COSIGN)?].map(Arc::new);
        Ok(Self { marker, log, receipt, manifest, cosign })
    }

    pub(crate) fn marked(self, folder: &Path) -> Result<Self, Error> {
        self.marker.write(folder)?;
        Ok(self)
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("marker", &self.marker).finish_non_exhaustive()
    }
}

pub(crate) fn seed_of(bytes: &[u8]) -> Result<Zeroizing<[u8; 32]>, Error> {
    let damaged =
        || Error::Damaged { path: ROOT.to_owned(), why: format!("it has {} bytes, not 32", bytes.len()) };
    bytes.try_into().map(Zeroizing::new).map_err(|_| damaged())
}

fn signer(seed: &[u8; 32], label: &[u8]) -> Result<SeedSigner, Error> {
    let mut derived = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(Some(SALT), seed)
        .expand(label, derived.as_mut())
        .map_err(|e| Error::Damaged { path: ROOT.to_owned(), why: e.to_string() })?;
    Ok(SeedSigner::from_seed(*derived))
}
