//! The key that signs releases, as a person pinned it with their first update, and the head of the log of releases seen last.

use super::{keep, kept, state};
use crate::Error;
use seal::{PublicKey, sshsig};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FILE: &str = "release-key.json";

/// What is pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pinned {
    /// The key.
    pub(super) key: PublicKey,
    /// The head, as it was signed.
    pub(super) head: String,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    key: String,
    head: String,
}

impl Pinned {
    /// What a person pinned; none where nobody did.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read: another key is then not taken for it.
    pub(super) fn read() -> Result<Option<Self>, Error> {
        // Where the platform names no place for it, none was pinned.
        let Ok(path) = state(FILE) else { return Ok(None) };
        let Some(stored) = kept::<Stored>(&path)? else { return Ok(None) };
        let key = PublicKey::from_pem(&stored.key).map_err(|e| damaged(&path, &e))?;
        Ok(Some(Self { key, head: stored.head }))
    }

    /// Keeps it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn keep(&self) -> Result<(), Error> {
        keep(&state(FILE)?, &Stored { key: self.key.to_pem(), head: self.head.clone() })
    }

    /// As `ssh-keygen -l` shows it.
    pub(super) fn fingerprint(&self) -> String {
        sshsig::fingerprint(&self.key)
    }
}

fn damaged(path: &Path, error: &seal::Error) -> Error {
    Error::io("read", path, &std::io::Error::other(error.to_string()))
}
