//! The operating system's keychain: Secret Service, Keychain Services, Credential Manager.

use crate::pieces::{self, Entries};
use crate::vault::check_name;
use crate::{Error, Vault, VaultKind};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use keyring::Error as Refused;
use std::sync::mpsc;
use std::time::Duration;
use zeroize::Zeroizing;

/// Marks our entries, so that what a person typed in by hand is not mistaken for one.
const MARK: &str = "hermit1:";

/// The name of an entry that is only there to see whether there can be one.
const PROBE: &str = "probe";

/// How long a person may take to answer the system's own prompt.
const PATIENCE: Duration = Duration::from_secs(120);

/// Entries of one service name in the system's keychain, as text, because some keychains mend bytes.
///
/// A call that gets no answer in time ends with [`Error::Locked`]; the host is not left hanging at a prompt that
/// nobody sees.
#[derive(Debug, Clone)]
pub struct OsVault {
    service: String,
    patience: Duration,
}

impl OsVault {
    /// The keychain's entries under `service`, such as `hermit 3f2a…` with the store's name in it, so that two
    /// stores of one person do not meet.
    ///
    /// # Errors
    /// [`Error::NoKeychain`] when this machine has none that answers.
    pub fn open(service: &str) -> Result<Self, Error> {
        let vault = Self { service: service.to_owned(), patience: PATIENCE };
        vault.patiently(|| match keyring::Entry::store_status() {
            Ok(()) => Ok(()),
            Err(why) => Err(Error::NoKeychain { why: why.to_string() }),
        })?;
        Ok(vault)
    }

    /// Whether this machine's keychain keeps something for us: an entry is written, read back and removed.
    ///
    /// # Errors
    /// [`Error::NoKeychain`], [`Error::Locked`] when nobody answers its prompt in time, [`Error::Keychain`].
    pub fn probe(service: &str, patience: Duration) -> Result<(), Error> {
        let vault = Self::open(service)?.with_patience(patience);
        let found = vault.put(PROBE, PROBE.as_bytes()).and_then(|()| vault.get(PROBE))?;
        vault.delete(PROBE)?;
        match found.as_deref().map(Vec::as_slice) {
            Some(found) if found == PROBE.as_bytes() => Ok(()),
            _ => Err(Error::Keychain { why: "it did not give back what was put in".to_owned() }),
        }
    }

    /// The same with another limit to one call's duration.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The service name its entries stand under.
    #[must_use]
    pub fn service(&self) -> &str {
        &self.service
    }

    fn entry<T: Send + 'static>(
        &self,
        name: &str,
        act: impl FnOnce(&keyring::Entry) -> Result<T, Refused> + Send + 'static,
    ) -> Result<Option<T>, Error> {
        let (service, name) = (self.service.clone(), name.to_owned());
        self.patiently(move || {
            let entry = keyring::Entry::new(&service, &name).map_err(refused)?;
            match act(&entry) {
                Ok(done) => Ok(Some(done)),
                Err(Refused::NoEntry) => Ok(None),
                Err(other) => Err(refused(other)),
            }
        })
    }

    /// Runs a call that may wait for a prompt on a thread of its own. A thread that is given up ends with its
    /// call; it holds nothing that the caller needs.
    fn patiently<T: Send + 'static>(
        &self,
        act: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (send, receive) = mpsc::channel();
        let spawned = std::thread::Builder::new().name("keychain".to_owned()).spawn(move || {
            // Nobody may be waiting any more.
            let _ = send.send(act());
        });
        spawned.map_err(|e| Error::Keychain { why: format!("no thread to ask it with: {e}") })?;
        match receive.recv_timeout(self.patience) {
            Ok(answer) => answer,
            Err(mpsc::RecvTimeoutError::Timeout) => Err(Error::Locked {
                why: format!("no answer within {}", words::time::lasting(self.patience)),
            }),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                Err(Error::Keychain { why: "the call broke off".to_owned() })
            }
        }
    }
}

fn refused(error: Refused) -> Error {
    match error {
        Refused::NoStorageAccess(why) => Error::Locked { why: why.to_string() },
        Refused::NoDefaultStore => {
            let why = keyring::Entry::store_status().as_ref().err();
            Error::NoKeychain { why: why.map_or_else(|| "no store".to_owned(), ToString::to_string) }
        }
        other => Error::Keychain { why: other.to_string() },
    }
}

impl Vault for OsVault {
    fn kind(&self) -> VaultKind {
        VaultKind::Keychain
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        check_name(name)?;
        let text = Zeroizing::new(format!("{MARK}{}", *Zeroizing::new(STANDARD.encode(bytes))));
        pieces::put(self, name, text.as_bytes())
    }

    fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        check_name(name)?;
        let Some(found) = pieces::get(self, name)? else { return Ok(None) };
        let damaged =
            |why: &str| Error::Damaged { path: format!("{}: {name}", self.service), why: why.to_owned() };
        let text = found.strip_prefix(MARK.as_bytes()).ok_or_else(|| damaged("Hermit did not write it"))?;
        let bytes = STANDARD.decode(text).map_err(|_| damaged("its text is not base64"))?;
        Ok(Some(Zeroizing::new(bytes)))
    }

    fn delete(&self, name: &str) -> Result<bool, Error> {
        check_name(name)?;
        pieces::delete(self, name)
    }
}

impl Entries for OsVault {
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let bytes = Zeroizing::new(bytes.to_vec());
        self.entry(name, move |entry| entry.set_secret(&bytes))?;
        Ok(())
    }

    fn read(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        self.entry(name, |entry| entry.get_secret().map(Zeroizing::new))
    }

    fn remove(&self, name: &str) -> Result<bool, Error> {
        Ok(self.entry(name, keyring::Entry::delete_credential)?.is_some())
    }
}
