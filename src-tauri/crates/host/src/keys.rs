//! Keys of a store: made once into the vault that was chosen, opened for a process, locked when it ends.

use crate::egress::SecretSlot;
use crate::{Error, Home};
use kernel::ports::KeyRing;
use keychain::{ApprovalKey, Cost, FileVault, Keys, Marker, OsVault, Secrets, Vault, VaultKind};
use model::body::KeyPurpose;
use seal::{PublicKey, Signer};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use zeroize::Zeroizing;

/// The passphrase file's name in the store's folder.
const VAULT_FILE: &str = "vault.key";
/// The approval key's file there.
pub(crate) const APPROVAL_FILE: &str = "approval.key";

/// Which vault, always chosen in so many words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaultChoice {
    /// The operating system's keychain.
    Keychain,
    /// A file under a passphrase.
    File,
}

/// What new keys are made with.
pub struct NewKeys<'a> {
    /// The vault.
    pub vault: VaultChoice,
    /// Passphrase of the vault's file; needed for [`VaultChoice::File`].
    pub vault_passphrase: Option<&'a [u8]>,
    /// Passphrase of the approval key; without one, none is made and nothing can be approved yet.
    pub approval_passphrase: Option<&'a [u8]>,
}

/// How a vault's file may be opened without asking.
#[derive(Debug, Clone, Default)]
pub enum Unlock {
    /// By the file that `HERMIT_PASSPHRASE_FILE` names, or not at all.
    #[default]
    Environment,
    /// With these words.
    Words(Zeroizing<Vec<u8>>),
}

/// Keys that were made: what the ledger is told of them.
pub struct Made {
    /// Public halves by purpose.
    pub public: Vec<(KeyPurpose, PublicKey)>,
    /// `keychain` or `file`.
    pub kept_in: &'static str,
}

/// The keys of one process.
#[derive(Default)]
pub struct HostKeys {
    open: RwLock<Option<Arc<Keys>>>,
    vault: RwLock<Option<Arc<dyn Vault>>>,
    secrets: SecretSlot,
    why_locked: RwLock<String>,
}

impl HostKeys {
    /// Where the egress finds secrets.
    pub fn secrets(&self) -> SecretSlot {
        Arc::clone(&self.secrets)
    }

    /// The open keys.
    pub fn keys(&self) -> Option<Arc<Keys>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why they are not open.
    pub fn why_locked(&self) -> String {
        self.why_locked.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the keys of a store. A store without keys, or with locked ones, is none the less usable: what needs
    /// them waits. Returns whether they are open now.
    ///
    /// # Errors
    /// [`Error::Keys`] for a wrong passphrase or a damaged vault.
    ///
    /// `in_force` is the log key that the ledger names: a rotation that broke off is brought to the end the log has.
    pub fn unlock(
        &self,
        home: &Home,
        log_id: &str,
        in_force: Option<PublicKey>,
        unlock: &Unlock,
    ) -> Result<bool, Error> {
        let Some(marker) = Marker::read(home.dir())? else {
            self.locked("this store has no keys yet; make them with `hermit keys init`".to_owned());
            return Ok(false);
        };
        let vault: Arc<dyn Vault> = match marker.vault {
            VaultKind::Keychain => match OsVault::open(&service(log_id)) {
                Ok(vault) => Arc::new(vault),
                Err(error) => {
                    self.locked(error.to_string());
                    return Ok(false);
                }
            },
            VaultKind::File => {
                let words = match unlock {
                    Unlock::Words(words) => Some(words.clone()),
                    Unlock::Environment => from_environment()?,
                };
                let Some(words) = words else {
                    self.locked(
                        "its passphrase was not given; set `HERMIT_PASSPHRASE_FILE`, or use a terminal"
                            .to_owned(),
                    );
                    return Ok(false);
                };
                Arc::new(FileVault::open(&home.path(VAULT_FILE), &words)?)
            }
            VaultKind::Memory => {
                self.locked("its keys were a test's and are gone".to_owned());
                return Ok(false);
            }
        };
        let settled = match in_force {
            Some(key) => Keys::settle(home.dir(), &*vault, &key),
            None => Ok(false),
        };
        match settled.and_then(|_| Keys::open(home.dir(), &*vault)) {
            Ok(keys) => self.opened(keys, vault),
            Err(keychain::Error::Locked { why }) => {
                self.locked(why);
                return Ok(false);
            }
            Err(keychain::Error::OtherKeys { .. })
                if in_force.is_some() && marks_another(&marker, in_force) =>
            {
                self.locked(
                    "this log ends before the last rotation of its keys: it is an older copy; restore a newer one"
                        .to_owned(),
                );
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    /// The vault that was opened with the keys.
    pub(crate) fn vault(&self) -> Option<Arc<dyn Vault>> {
        self.vault.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the keys of a store, once. Returns the public halves and where they are kept, for the ledger.
    ///
    /// # Errors
    /// [`Error::Keys`] when there are keys already, a passphrase is too short, or the vault is not there.
    pub fn create(&self, home: &Home, log_id: &str, new: &NewKeys<'_>) -> Result<Made, Error> {
        let kept_in = match new.vault {
            VaultChoice::Keychain => "keychain",
            VaultChoice::File => "file",
        };
        let mut public = Vec::new();
        if Marker::read(home.dir())?.is_none() {
            let vault = new_vault(home, log_id, new)?;
            let mut seed = Zeroizing::new([0; 32]);
            getrandom::fill(seed.as_mut()).map_err(|e| keychain::Error::Randomness(e.to_string()))?;
            let keys = Keys::create(home.dir(), &*vault, *seed)?;
            self.opened(keys, vault);
        } else if new.approval_passphrase.is_none() || home.path(APPROVAL_FILE).exists() {
            return Err(keychain::Error::Exists {
                what: home.path(keychain::MARKER_FILE).display().to_string(),
            }
            .into());
        }
        if let Some(marker) = Marker::read(home.dir())? {
            public.push((KeyPurpose::Log, marker.log.public_key));
            public.push((KeyPurpose::Receipt, marker.receipt.public_key));
            public.push((KeyPurpose::Manifest, marker.manifest.public_key));
        }
        if let Some(passphrase) = new.approval_passphrase {
            let signer = ApprovalKey::create(&home.path(APPROVAL_FILE), passphrase, Cost::STRONG)?;
            public.push((KeyPurpose::Approval, signer.public()));
        }
        Ok(Made { public, kept_in })
    }

    /// Purposes of the keys that are open here.
    pub fn purposes(&self) -> Vec<KeyPurpose> {
        match self.keys() {
            Some(_) => vec![KeyPurpose::Log, KeyPurpose::Receipt, KeyPurpose::Manifest],
            None => Vec::new(),
        }
    }

    pub(crate) fn opened(&self, keys: Keys, vault: Arc<dyn Vault>) {
        *self.vault.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&vault));
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(keys));
        *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(Secrets::new(vault)));
        self.locked(String::new());
    }

    fn locked(&self, why: String) {
        *self.why_locked.write().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

/// Whether `keys.json` names another log key than the ledger does.
fn marks_another(marker: &Marker, in_force: Option<PublicKey>) -> bool {
    in_force.is_some_and(|key| marker.log.public_key != key)
}

/// A vault without keys in it: a new one, or what a crash left before the marker was written.
fn new_vault(home: &Home, log_id: &str, new: &NewKeys<'_>) -> Result<Arc<dyn Vault>, Error> {
    match new.vault {
        VaultChoice::Keychain => Ok(Arc::new(OsVault::open(&service(log_id))?)),
        VaultChoice::File => {
            let words = new
                .vault_passphrase
                .ok_or(keychain::Error::WeakPassphrase { min: keychain::PASSPHRASE_CHARS_MIN, found: 0 })?;
            let path = home.path(VAULT_FILE);
            let vault = if path.exists() {
                FileVault::open(&path, words)?
            } else {
                FileVault::create(&path, words, Cost::STRONG)?
            };
            Ok(Arc::new(vault))
        }
    }
}

fn service(log_id: &str) -> String {
    format!("hermit {log_id}")
}

/// The first line of the file that `HERMIT_PASSPHRASE_FILE` names.
fn from_environment() -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
    let Some(path) = std::env::var_os("HERMIT_PASSPHRASE_FILE").map(PathBuf::from) else { return Ok(None) };
    if path.as_os_str().is_empty() {
        return Ok(None);
    }
    let bytes = Zeroizing::new(std::fs::read(&path).map_err(|e| Error::io("read", &path, &e))?);
    Ok(Some(Zeroizing::new(first_line(&bytes).to_vec())))
}

/// The bytes before the first line break.
fn first_line(bytes: &[u8]) -> &[u8] {
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

impl KeyRing for HostKeys {
    fn receipt(&self) -> Option<Arc<dyn Signer>> {
        self.keys().map(|keys| keys.receipt() as Arc<dyn Signer>)
    }

    fn log(&self) -> Option<Arc<dyn Signer>> {
        self.keys().map(|keys| keys.log() as Arc<dyn Signer>)
    }
}
