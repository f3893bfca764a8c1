//! `keys.json`: which vault was chosen and which keys were made, so that opening never has to guess.

use crate::wrap::write_private;
use crate::{Error, VaultKind};
use seal::{Digest, PublicKey};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Its name in the store's folder.
pub const MARKER_FILE: &str = "keys.json";

const FORMAT: &str = "hermit-keys/1";

/// What may be known of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFact {
    /// SHA-256 of its SPKI DER.
    pub keyid: Digest,
    /// The key.
    pub public_key: PublicKey,
}

impl KeyFact {
    pub(crate) fn of(public_key: PublicKey) -> Self {
        Self { keyid: public_key.keyid(), public_key }
    }
}

/// The choice, written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marker {
    /// `hermit-keys/1`.
    pub format: String,
    /// The vault that was chosen; no other is ever tried.
    pub vault: VaultKind,
    /// Signs checkpoints.
    pub log: KeyFact,
    /// Signs receipts and statements.
    pub receipt: KeyFact,
    /// Signs `SHA256SUMS`.
    pub manifest: KeyFact,
    /// Keys that were in force before, the oldest first: what they signed stays verifiable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Earlier>,
}

/// Three keys that were in force together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Earlier {
    /// Signed checkpoints.
    pub log: KeyFact,
    /// Signed receipts and statements.
    pub receipt: KeyFact,
    /// Signed `SHA256SUMS`.
    pub manifest: KeyFact,
}

impl Marker {
    pub(crate) fn new(vault: VaultKind, log: PublicKey, receipt: PublicKey, manifest: PublicKey) -> Self {
        Self {
            format: FORMAT.to_owned(),
            vault,
            log: KeyFact::of(log),
            receipt: KeyFact::of(receipt),
            manifest: KeyFact::of(manifest),
            earlier: Vec::new(),
        }
    }

    /// The three keys of now as those of before.
    pub(crate) const fn as_earlier(&self) -> Earlier {
        Earlier { log: self.log, receipt: self.receipt, manifest: self.manifest }
    }

    /// The choice of the store in `folder`; `None` for a store without keys.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Io`].
    pub fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = place(folder);
        let bytes = match std::fs::read(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|e| Error::io("read", &path, &e))?,
        };
        let marker: Self =
            serde_json::from_slice(&bytes).map_err(|e| Error::damaged(&path, e.to_string()))?;
        let before = marker.earlier.iter().flat_map(|e| [e.log, e.receipt, e.manifest]);
        let mut all = [marker.log, marker.receipt, marker.manifest].into_iter().chain(before);
        let whole = all.all(|k| k.public_key.keyid() == k.keyid);
        if marker.format != FORMAT || !whole {
            return Err(Error::damaged(&path, "its format or a key id is not ours"));
        }
        Ok(Some(marker))
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), Error> {
        let path = place(folder);
        let mut bytes = serde_json::to_vec_pretty(self).map_err(|e| Error::damaged(&path, e.to_string()))?;
        bytes.push(b'\n');
        write_private(&path, &bytes)
    }
}

pub(crate) fn place(folder: &Path) -> PathBuf {
    folder.join(MARKER_FILE)
}
