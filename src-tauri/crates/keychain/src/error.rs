//! What can go wrong, told apart by what the caller can do about it.

use crate::VaultKind;
use std::path::Path;

/// Every refusal of this room. None of them carries a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The passphrase does not open this file. Ask again.
    #[error("that is not {}", passphrase_of(path))]
    WrongPassphrase {
        /// The wrapped file. It is not told: a person knows the passphrase by what it is for, and the answer goes to pages as
        /// well.
        path: String,
    },
    /// The passphrase is too short to protect anything.
    #[error("a passphrase needs at least {min} characters; this one has {found}")]
    WeakPassphrase {
        /// Characters needed.
        min: usize,
        /// Characters given.
        found: usize,
    },
    /// The vault is opened by the system, so that there is no passphrase to change.
    #[error(
        "the keys of this store are in the {kind} vault, which the system opens: it has no passphrase of Hermit's"
    )]
    NoPassphrase {
        /// Which one it is.
        kind: VaultKind,
    },
    /// A key or vault is already there; creation never overwrites.
    #[error("`{what}` is already there; open it, or move it away first")]
    Exists {
        /// The file or entry.
        what: String,
    },
    /// There is no such key, vault or secret.
    #[error("there is no `{what}`; create it first")]
    Missing {
        /// The file, entry or handle.
        what: String,
    },
    /// The store's keys sleep in another vault than the one that was offered.
    #[error("the keys of this store are in the {chosen} vault, not in the {given} one; open that one")]
    OtherVault {
        /// What `keys.json` says.
        chosen: VaultKind,
        /// What was offered.
        given: VaultKind,
    },
    /// The vault's seed gives other keys than those written down when they were made.
    #[error("the {purpose} key in the vault is not the one `keys.json` names; one of the two was exchanged")]
    OtherKeys {
        /// `log`, `receipt` or `manifest`.
        purpose: &'static str,
    },
    /// The keychain is there and waits for a person, or has no collection to keep anything in.
    #[error(
        "the keychain does not open ({why}); unlock it and try again, or choose `--store file` when the keys are made"
    )]
    Locked {
        /// What it said.
        why: String,
    },
    /// There is no keychain here. Choose the passphrase file instead, in so many words.
    #[error("this machine offers no keychain ({why}); choose the passphrase file with `--store file`")]
    NoKeychain {
        /// What was tried and what it said.
        why: String,
    },
    /// The keychain failed or did not answer in time.
    #[error("the keychain failed: {why}")]
    Keychain {
        /// What it said.
        why: String,
    },
    /// Others than the owner may read or write the file.
    #[error("`{path}` may be read or changed by others ({}); {}", .others.who, .others.remedy_for(.path))]
    Exposed {
        /// The file.
        path: String,
        /// Who they are.
        others: disk::owner_only::Others,
    },
    /// The bytes are not what this room writes, or were changed.
    #[error("`{path}` is damaged: {why}")]
    Damaged {
        /// The file or entry.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// A name that no vault takes.
    #[error("`{name}` is no vault name: 1 to 128 of a-z, 0-9, `.`, `_`, `-`, and `/` between parts")]
    Name {
        /// What was given.
        name: String,
    },
    /// The disk failed.
    #[error("cannot {act} `{path}`: {why}")]
    Io {
        /// `read`, `write`, ...
        act: &'static str,
        /// The file.
        path: String,
        /// What the system said.
        why: String,
    },
    /// The system gives no randomness.
    #[error("the system gives no random bytes: {0}")]
    Randomness(String),
}

impl Error {
    pub(crate) fn io(act: &'static str, path: &Path, error: &std::io::Error) -> Self {
        Self::Io { act, path: path.display().to_string(), why: error.to_string() }
    }

    pub(crate) fn damaged(path: &Path, why: impl Into<String>) -> Self {
        Self::Damaged { path: path.display().to_string(), why: why.into() }
    }
}

/// The passphrase of a wrapped file, by what a person uses it for.
fn passphrase_of(path: &str) -> &'static str {
    let name = Path::new(path).file_name().map(std::ffi::OsStr::to_string_lossy).unwrap_or_default();
    // A key that is being rotated lies beside the one in force.
    if name.starts_with("approval.key") {
        "the approval passphrase"
    } else if name.starts_with("vault.key") {
        "the vault passphrase"
    } else {
        "the passphrase of these keys"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_passphrase_is_named_by_what_it_is_for_and_no_file_is() {
        let said = |path: &str| Error::WrongPassphrase { path: path.to_owned() }.to_string();
        assert_eq!(said("/home/me/.hermit/approval.key"), "that is not the approval passphrase");
        assert_eq!(said("/home/me/.hermit/approval.key.next"), "that is not the approval passphrase");
        assert_eq!(said("/home/me/.hermit/vault.key"), "that is not the vault passphrase");
        assert_eq!(said("/home/me/witness/keys"), "that is not the passphrase of these keys");
        assert_eq!(said(""), "that is not the passphrase of these keys");
    }
}
