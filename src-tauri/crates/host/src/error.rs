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
    /// The kernel refuses.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The policies that come with Hermit do not load: the program itself is damaged.
    #[error("the shipped policies do not load: {0}")]
    Policy(String),
    /// An injected fault is malformed, or this is not a debug build.
    #[error("`HERMIT_FAULT`: {0}")]
    Fault(String),
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
    Journal(#[from] journal::Error),
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
            Self::Older(older) => crate::older::refused(&older),
            Self::Said(error) => error,
            Self::Keys(error) => of_keys(&error),
            Self::NoHome(_) => {
                wire::Error::new(Code::Usage, message).hint("set `HERMIT_HOME` to a folder of your own")
            }
            Self::Config { .. } => {
                wire::Error::new(Code::Usage, message).hint("correct the file, or move it away")
            }
            Self::Fault(_) => wire::Error::new(Code::Usage, message).hint("unset `HERMIT_FAULT`"),
            Self::Io { .. } => wire::Error::new(Code::Failed, message)
                .hint("see that the folder is yours and its disk is not full or read-only"),
            Self::Gateway(_) => wire::Error::new(Code::Failed, message)
                .hint("if another program has that port, name another one with `--port`, or none"),
            Self::Policy(_) => wire::Error::new(Code::Failed, message).hint("install Hermit again"),
            Self::Journal(_) | Self::Signing(_) => wire::Error::new(Code::Failed, message),
        }
    }
}

/// What the keychain said, as every surface says it.
fn of_keys(error: &keychain::Error) -> wire::Error {
    use keychain::Error as E;
    let message = error.to_string();
    let (code, hint) = match error {
        E::WrongPassphrase { .. } => (Code::KeyLocked, "type it again; nothing was changed"),
        E::WeakPassphrase { .. } => (Code::Usage, "choose a longer one, such as four words"),
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
