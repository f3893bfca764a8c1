//! What can go wrong while a host is put together, by what the person can do.

use std::path::Path;
use wire::Code;

/// An error of this room.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No folder to keep the store in can be told.
    #[error("no folder for the store can be told: {0}")]
    NoHome(String),
    /// A file or folder refuses.
    #[error("cannot {act} `{path}`: {why}")]
    Io {
        /// `read`, `make`, ...
        act: &'static str,
        /// Which.
        path: String,
        /// What the system said.
        why: String,
    },
    /// The settings cannot be used.
    #[error("the settings in `{path}` cannot be used: {why}")]
    Config {
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// Keys or vault refuse.
    #[error(transparent)]
    Keys(#[from] keychain::Error),
    /// The ledger names keys that are not in the store's folder, or not these: a store restored from a backup.
    #[error("this store has keys, and they are not in its folder: {} missing, or of another store", .files.join(", "))]
    KeysElsewhere {
        /// What has to be put back.
        files: Vec<&'static str>,
    },
    /// A key file of an earlier try that another passphrase opens.
    #[error("`{path}` was left by an earlier `hermit keys init`, and this passphrase does not open it")]
    LeftKey {
        /// The file.
        path: String,
    },
    /// Vault and approval key under the same passphrase.
    #[error("the vault and the approval key need two different passphrases")]
    OnePassphrase,
    /// The ledger names an approval key that is not the one this store's vault knows.
    #[error("the approval key that this ledger names was exchanged: the vault knows another one")]
    ApprovalExchanged,
    /// The kernel refuses.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The policies that come with Hermit do not load: the program itself is damaged.
    #[error("the shipped policies do not load: {0}")]
    Policy(String),
    /// An injected fault is malformed, or this is not a debug build.
    #[error("`HERMIT_FAULT`: {0}")]
    Fault(String),
    /// Time is told to pass faster in a way that is none, or this is not a debug build.
    #[error("`HERMIT_PACE`: {0}")]
    Pace(String),
    /// Nobody can attach.
    #[error(transparent)]
    Gateway(#[from] gateway::Error),
    /// The store is not consistent with the head that was kept outside it, and is only read.
    #[error("{}", .0.told())]
    Older(Box<crate::Older>),
    /// What was said is ready for people.
    #[error("{}", .0.message)]
    Said(wire::Error),
    /// The run stream cannot be kept.
    #[error(transparent)]
    Journal(#[from] runstream::Error),
    /// A decision could not be made or signed.
    #[error("the decision could not be signed: {0}")]
    Signing(String),
}

impl Error {
    pub(crate) fn io(act: &'static str, path: &Path, error: &std::io::Error) -> Self {
        Self::Io { act, path: path.display().to_string(), why: error.to_string() }
    }

    /// As every surface says it.
    pub fn to_wire(self) -> wire::Error {
        let message = self.to_string();
        match self {
            Self::Kernel(error) => api::of_kernel(error),
            Self::Older(older) => crate::older_store::refused(&older),
            Self::Said(error) => error,
            Self::Keys(error) => of_keys(&error),
            Self::KeysElsewhere { files } => wire::Error::new(Code::Conflict, message).hint(put_back(&files)),
            Self::ApprovalExchanged => wire::Error::new(Code::Damaged, message)
                .hint("nothing was written; put back a backup of this store, or the newer one if this is an older copy"),
            Self::LeftKey { .. } => wire::Error::new(Code::KeyLocked, message)
                .hint("give the passphrase you chose then; or, if it is lost, move the file away: nothing was signed with it"),
            Self::OnePassphrase => wire::Error::new(Code::Usage, message)
                .hint("use a different passphrase for approvals: whoever opens the vault must not be able to approve"),
            Self::NoHome(_) => {
                wire::Error::new(Code::Usage, message).hint("set `HERMIT_HOME` to a folder of your own")
            }
            Self::Config { .. } => {
                wire::Error::new(Code::Usage, message).hint("correct the file, or move it away")
            }
            Self::Fault(_) => wire::Error::new(Code::Usage, message).hint("unset `HERMIT_FAULT`"),
            Self::Pace(_) => wire::Error::new(Code::Usage, message).hint("unset `HERMIT_PACE`"),
            Self::Io { .. } => wire::Error::new(Code::Failed, message)
                .hint("see that the folder is yours and its disk is not full or read-only"),
            Self::Gateway(gateway::Error::Origin { .. }) => wire::Error::new(Code::Usage, message)
                .hint("it is what a browser elsewhere shows, such as `https://desk.example`"),
            Self::Gateway(_) => wire::Error::new(Code::Failed, message)
                .hint("if another program has that port, name another one with `--port`, or none"),
            Self::Policy(_) => wire::Error::new(Code::Failed, message).hint("install Hermit again"),
            Self::Journal(_) | Self::Signing(_) => wire::Error::new(Code::Failed, message),
        }
    }
}

/// What to do about key files that a restored store lacks.
pub(crate) fn put_back(files: &[&str]) -> String {
    let vault =
        if files.contains(&"vault.key") { " (`vault.key` only where the vault is a file)" } else { "" };
    format!(
        "put {}{vault} back from where you keep them: a backup holds no keys, and new ones do not fit",
        files.join(", ")
    )
}

/// What to do about a passphrase that is not the one.
pub(crate) const TYPE_AGAIN: &str =
    "type it again: the vault and approvals each have a passphrase of their own; nothing was changed";

/// What the keychain said, as every surface says it.
fn of_keys(error: &keychain::Error) -> wire::Error {
    use keychain::Error as E;
    let message = error.to_string();
    let (code, hint) = match error {
        E::WrongPassphrase { .. } => (Code::KeyLocked, TYPE_AGAIN),
        E::WeakPassphrase { .. } => (Code::Usage, "choose a longer one, such as four words"),
        E::NoPassphrase { .. } => (Code::Usage, "change it where the system does"),
        E::Exists { .. } => (Code::Conflict, "this store has keys already; see `hermit keys list`"),
        E::Missing { .. } => (Code::KeyLocked, "make keys with `hermit keys init`"),
        E::Locked { .. } => (Code::KeyLocked, "unlock the keychain and try again"),
        E::NoKeychain { .. } => {
            (Code::Unavailable, "choose the passphrase file: `hermit keys init --store file`")
        }
        E::Exposed { .. } => (Code::Refused, "only its owner may read a key file"),
        E::OtherVault { .. } | E::OtherKeys { .. } | E::Damaged { .. } => {
            (Code::Damaged, "keep the files as they are; a backup of the store's folder has the right ones")
        }
        _ => (Code::Failed, ""),
    };
    wire::Error::new(code, message).hint(hint)
}
