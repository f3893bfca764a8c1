//! Secrets by handle. Their values are in a vault and never come here (governance.md 5, HK-17.3-1).

use crate::Error;
use crate::kernel::{Kernel, lock};
use model::ResourceId;
use model::body::{SecretPlaced, SecretRegistered, SecretRemoved};
use model::fault::Point;
use model::principal::PrincipalType;
use model::secret::SecretTerms;
use std::collections::BTreeMap;

/// Hosts that one secret may go to.
const HOSTS_MAX: usize = 64;

impl Kernel {
    /// Records that a handle has a value, and where it may go; both replace what was said before.
    ///
    /// # Errors
    /// [`Error::Input`] for a handle or host that cannot be written; [`Error::Conflict`] when the redactor does not
    /// know the value, so that nothing could be kept from it.
    pub fn register_secret(&self, handle: &str, terms: &SecretTerms, kept_in: &str) -> Result<(), Error> {
        check(handle, &terms.hosts)?;
        if !self.ports.redactor.now().handles().iter().any(|known| known == handle) {
            return Err(Error::Conflict(format!("nobody here knows the value of `secret:{handle}`")));
        }
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::KeyRegister, actor, self.session.clone(), None)?;
        let SecretTerms { mut hosts, mut also_in } = terms.clone();
        hosts.sort();
        hosts.dedup();
        also_in.sort();
        also_in.dedup();
        let handle = handle.to_owned();
        w.push(SecretRegistered { handle: handle.clone(), hosts, kept_in: kept_in.to_owned() });
        if !also_in.is_empty() {
            w.push(SecretPlaced { handle, also_in });
        }
        self.commit(w)?;
        Ok(())
    }

    /// Records that a handle has no value any more.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it had none.
    pub fn remove_secret(&self, handle: &str) -> Result<(), Error> {
        // Under such a name a person may have set one before there were log-ins.
        let is_login = model::login::server_of_login(handle).is_some_and(|server| {
            self.logins().0.get(server).is_some_and(|record| record.logged_in.is_some())
        });
        if is_login {
            own(handle)?;
        }
        if !lock(&self.store).secrets.contains_key(handle) {
            return Err(Error::NotFound { kind: "secret", id: handle.to_owned() });
        }
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::KeyRegister, actor, self.session.clone(), None)?;
        w.push(SecretRemoved { handle: handle.to_owned() });
        self.commit(w)?;
        Ok(())
    }

    /// Secrets by handle, with where each may go.
    pub fn secrets(&self) -> BTreeMap<String, SecretTerms> {
        lock(&self.store).secrets.clone()
    }

    /// Whether a secret of this store has a value that the redactor does not know: its vault is locked.
    pub(crate) fn is_blind(&self) -> bool {
        let store = lock(&self.store);
        if store.secrets.is_empty() {
            return false;
        }
        let redactor = self.ports.redactor.now();
        store.secrets.keys().any(|handle| !redactor.handles().contains(handle))
    }
}

/// A handle that is a person's to give: that of a log-in is made and forgotten with it.
fn own(handle: &str) -> Result<(), Error> {
    match model::login::server_of_login(handle) {
        None => Ok(()),
        Some(server) => Err(Error::Input(format!(
            "`secret:{handle}` is the log-in at the server of tools `{server}`; use `hermit tools login` and `hermit tools logout`"
        ))),
    }
}

/// Whether a secret can be known by this handle and go to these hosts.
///
/// # Errors
/// [`Error::Input`] with what is wrong.
pub fn check(handle: &str, hosts: &[String]) -> Result<(), Error> {
    own(handle)?;
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-' | '.');
    if handle.is_empty() || handle.len() > 64 || !handle.chars().all(letter) || handle.starts_with('.') {
        return Err(Error::Input(format!(
            "`{handle}` cannot name a secret; use up to 64 of a-z, 0-9, `_`, `-` and `.`"
        )));
    }
    if hosts.len() > HOSTS_MAX {
        return Err(Error::Input(format!("a secret goes to {HOSTS_MAX} hosts at most")));
    }
    for host in hosts {
        let is_host = |name: &str| {
            let letter =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_');
            !name.is_empty() && name.chars().all(letter)
        };
        let parsed = format!("host:{host}").parse();
        if !matches!(parsed, Ok(ResourceId::Host(name, port)) if port > 0 && is_host(&name)) {
            return Err(Error::Input(format!("`{host}` is no host; write it as `api.example.org:443`")));
        }
    }
    Ok(())
}
