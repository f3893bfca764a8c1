//! Secrets of a store while its host lives: which there are, where each may go, and the redactor that knows them all.

use crate::logins::values_of;
use crate::{Error, Local};
use keychain::{Secrets, Vault};
use model::login::server_of_login;
use model::secret::SecretTerms;
use redact::{Redactor, Shared};
use seal::SecretSource as _;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use zeroize::Zeroizing;

/// What is known of secrets in this process. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct SecretBook {
    redactor: Shared,
    terms: Arc<RwLock<BTreeMap<String, SecretTerms>>>,
    /// One reading at a time: a second that began before the first ended would forget what that one learnt.
    learning: Arc<Mutex<()>>,
    /// Values that the vault did not take and that are used nevertheless.
    beside: Arc<RwLock<BTreeMap<String, Values>>>,
}

/// Values behind one handle.
type Values = Vec<Zeroizing<Vec<u8>>>;

impl SecretBook {
    /// The redactor that knows the values.
    pub fn redactor(&self) -> Shared {
        self.redactor.clone()
    }

    /// Whether a secret may go to a host, `name:port`. One that was given no hosts is its owner's alone to send.
    pub fn may_go(&self, handle: &str, host: &str) -> bool {
        let hosts = self.terms(handle).hosts;
        hosts.is_empty() || hosts.iter().any(|known| known == host)
    }

    /// Where a secret may go.
    pub fn terms(&self, handle: &str) -> SecretTerms {
        self.terms.read().unwrap_or_else(PoisonError::into_inner).get(handle).cloned().unwrap_or_default()
    }

    /// The handles of which it knows value and terms.
    pub fn handles(&self) -> Vec<String> {
        self.terms.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// From the next reading on these values are known beside those of the vault; none are none any more.
    pub(crate) fn know_beside(&self, handle: &str, values: Values) {
        let mut all = self.beside.write().unwrap_or_else(PoisonError::into_inner);
        match values.is_empty() {
            true => drop(all.remove(handle)),
            false => drop(all.insert(handle.to_owned(), values)),
        }
    }

    /// The same handles and terms; their values are read anew.
    pub(crate) fn learn_again(&self, vault: Arc<dyn Vault>) -> Result<(), Error> {
        let _one = self.learning.lock().unwrap_or_else(PoisonError::into_inner);
        let terms = self.terms.read().unwrap_or_else(PoisonError::into_inner).clone();
        self.read_anew(terms, Some(vault))
    }

    /// Reads every value out of the vault anew. What cannot be read is left out: whoever needs it waits.
    pub(crate) fn learn(
        &self,
        terms: BTreeMap<String, SecretTerms>,
        vault: Option<Arc<dyn Vault>>,
    ) -> Result<(), Error> {
        let _one = self.learning.lock().unwrap_or_else(PoisonError::into_inner);
        self.read_anew(terms, vault)
    }

    fn read_anew(
        &self,
        terms: BTreeMap<String, SecretTerms>,
        vault: Option<Arc<dyn Vault>>,
    ) -> Result<(), Error> {
        let mut values = Vec::new();
        if let Some(vault) = vault {
            let source = Secrets::new(vault);
            for handle in terms.keys() {
                match source.secret(handle) {
                    Ok(value) if server_of_login(handle).is_some() => {
                        // What is no log-in was set by a person under such a name before there were any.
                        let all = values_of(&value).unwrap_or_else(|| vec![value]);
                        let fit = |value: &Zeroizing<Vec<u8>>| {
                            Redactor::check(handle, value)
                                .inspect_err(
                                    |error| tracing::warn!(%handle, %error, "a token cannot be searched for"),
                                )
                                .is_ok()
                        };
                        values.extend(all.into_iter().filter(fit).map(|value| (handle.clone(), value)));
                    }
                    Ok(value) => values.push((handle.clone(), value)),
                    Err(error) => tracing::warn!(%handle, %error, "a secret cannot be read"),
                }
            }
        }
        let beside = self.beside.read().unwrap_or_else(PoisonError::into_inner);
        values.extend(
            beside.iter().flat_map(|(handle, all)| all.iter().map(|one| (handle.clone(), one.clone()))),
        );
        drop(beside);
        let redactor = Redactor::new(values).map_err(unfit)?;
        self.redactor.put(redactor);
        *self.terms.write().unwrap_or_else(PoisonError::into_inner) = terms;
        Ok(())
    }
}

fn unfit(error: redact::Error) -> Error {
    let hint = "choose a longer one; a value that could stand in ordinary text cannot be kept out of it";
    Error::Said(wire::Error::new(wire::Code::Usage, error.to_string()).hint(hint))
}

impl Local {
    /// Keeps a value under a handle in the vault that was chosen for the keys, and records the handle and where the
    /// value may go. What was there before is replaced.
    ///
    /// # Errors
    /// [`Error::Said`] when the vault is locked or the value is too short; [`Error::Keys`], [`Error::Kernel`].
    pub fn set_secret(&self, handle: &str, value: &[u8], terms: &SecretTerms) -> Result<(), Error> {
        let kernel = self.owned_kernel()?;
        kernel::command::secret::check(handle, &terms.hosts)?;
        let vault = self.open_vault()?;
        Redactor::check(handle, value).map_err(unfit)?;
        let kept_in = vault.kind().to_string();
        // What cannot be read could not be put back, if the log did not come to know of the new one.
        let before = match Secrets::new(Arc::clone(&vault)).secret(handle) {
            Ok(value) => Some(value),
            Err(seal::Error::KeyMissing { .. }) => None,
            Err(error) => {
                return Err(Error::Said(wire::Error::new(wire::Code::KeyLocked, error.to_string())));
            }
        };
        Secrets::new(Arc::clone(&vault)).put(handle, value)?;
        // From here on the value is taken out of everything, whether or not the log comes to know its handle.
        let mut known = kernel.secrets();
        known.insert(handle.to_owned(), terms.clone());
        let recorded = self
            .secrets()
            .learn(known, Some(Arc::clone(&vault)))
            .and_then(|()| Ok(kernel.register_secret(handle, terms, &kept_in)?));
        if recorded.is_err() {
            let secrets = Secrets::new(vault);
            match before {
                Some(value) => secrets.put(handle, &value)?,
                None => drop(secrets.delete(handle)?),
            }
            self.know_secrets()?;
        }
        recorded
    }

    /// Forgets a secret: its handle is struck from the log's list, its value from the vault.
    ///
    /// # Errors
    /// As [`Self::set_secret`].
    pub fn remove_secret(&self, handle: &str) -> Result<(), Error> {
        let kernel = self.owned_kernel()?;
        let vault = self.open_vault()?;
        kernel.remove_secret(handle)?;
        Secrets::new(vault).delete(handle)?;
        self.know_secrets()
    }

    /// Learns the values of all secrets that the log names, as far as the vault is open.
    ///
    /// # Errors
    /// [`Error::Said`] when one of them cannot be searched for.
    pub(crate) fn know_secrets(&self) -> Result<(), Error> {
        let known = self.owned_kernel()?.secrets();
        self.secrets().learn(known, self.keys().vault())
    }

    fn open_vault(&self) -> Result<Arc<dyn Vault>, Error> {
        self.keys().vault().ok_or_else(|| {
            let why = self.keys().why_locked();
            Error::Said(
                wire::Error::new(wire::Code::KeyLocked, format!("the vault for secrets is not open: {why}"))
                    .hint(
                        "a secret is kept beside the keys: in the keychain, or in the file under a passphrase",
                    ),
            )
        })
    }
}

/// A value as it came from a file or pipe: without the line break that ends it.
pub fn value_of(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    Zeroizing::new(line.strip_suffix(b"\r").unwrap_or(line).to_vec())
}
