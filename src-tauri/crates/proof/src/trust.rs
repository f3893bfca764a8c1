//! Keys that the caller already trusts, in every spelling a person may hold one in.

use crate::Error;
use seal::{Digest, PublicKey, cosignature::WitnessKey, note::VerifierKey, sshsig};
use std::fmt;

/// A key, or enough of it to recognise it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// The key itself: PEM, vkey, or an `ssh-ed25519` line.
    Key(PublicKey),
    /// Its key id: SHA-256 of its SPKI DER, 64 hexadecimal digits.
    KeyId(Digest),
    /// A witness's key: it vouches for no bundle, but says that the log only grew.
    Witness(WitnessKey),
    /// Its fingerprint as `ssh-keygen -l` shows it: `SHA256:…`.
    Ssh(String),
}

impl Trust {
    /// Reads a key in any of the spellings: a PEM block, a C2SP verifier key, a key id, an SSH fingerprint.
    ///
    /// # Errors
    /// [`Error::Trust`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refused = |e: seal::Error| Error::Trust { text: text.trim().to_owned(), why: e.to_string() };
        let line = text.trim();
        if line.starts_with("-----BEGIN") {
            return PublicKey::from_pem(&format!("{line}\n")).map(Self::Key).map_err(refused);
        }
        if line.starts_with("SHA256:") {
            return Ok(Self::Ssh(line.to_owned()));
        }
        if line.contains('+') {
            let first = line.lines().next().unwrap_or_default();
            if let Ok(key) = first.parse::<WitnessKey>() {
                return Ok(Self::Witness(key));
            }
            return first.parse::<VerifierKey>().map(|k| Self::Key(*k.key())).map_err(refused);
        }
        line.parse().map(Self::KeyId).map_err(refused)
    }

    /// Whether this names `key`.
    #[must_use]
    pub fn names(&self, key: &PublicKey) -> bool {
        match self {
            Self::Key(trusted) => trusted == key,
            Self::KeyId(keyid) => *keyid == key.keyid(),
            Self::Witness(_) => false,
            Self::Ssh(fingerprint) => *fingerprint == sshsig::fingerprint(key),
        }
    }
}

impl From<PublicKey> for Trust {
    fn from(key: PublicKey) -> Self {
        Self::Key(key)
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "{}", key.keyid()),
            Self::KeyId(keyid) => write!(f, "{keyid}"),
            Self::Witness(key) => write!(f, "{key}"),
            Self::Ssh(fingerprint) => f.write_str(fingerprint),
        }
    }
}
