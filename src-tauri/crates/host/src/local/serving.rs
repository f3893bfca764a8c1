//! What a host is to others: where it is reached, the run stream that it keeps for them, and the words that open its
//! keys when it was begun without them.

use super::Local;
use crate::mirroring::Mirroring;
use crate::secrets::SecretBook;
use crate::{Config, Error, Unlock, facts, pin};
use kernel::Kernel;
use model::body::KeyPurpose;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};

impl Local {
    /// What is known of secrets in this process.
    pub const fn secrets(&self) -> &SecretBook {
        &self.secrets
    }

    /// Facts for the doctor, also where there is no store yet. Settings are read anew: they may have been set meanwhile.
    pub fn facts(&self) -> Vec<wire::host::Fact> {
        facts::gather(&self.home, &self.settings_now(), &self.keys, &self.hands, &self.secrets)
    }

    /// The settings as they are in their file now.
    pub(super) fn settings_now(&self) -> Config {
        Config::load(&self.home).unwrap_or_else(|_| self.config.clone())
    }

    /// Keeps the newest head outside the store.
    pub(crate) fn keep_pins(&self) {
        if let Some(owned) = &self.owned {
            pin::keep(&self.home, &self.config, self.keys.vault().as_deref(), owned.kernel.reader());
        }
    }

    /// Keeps the run stream from now on. Where it cannot be had everything else works, and the log says why.
    pub(super) fn mirror(&self, kernel: &Arc<Kernel>) {
        let mut mirroring = self.mirroring.lock().unwrap_or_else(PoisonError::into_inner);
        if mirroring.is_some() {
            return;
        }
        match Mirroring::begin(Arc::clone(kernel)) {
            Ok(begun) => {
                self.notices.feed(Some(begun.feed()));
                *mirroring = Some(Arc::new(begun));
            }
            Err(error) => tracing::warn!(%error, "there is no run stream"),
        }
    }

    /// Where others attach, while they can.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(gateway::Server::address)
    }

    /// A link for a browser, which works once; none when nobody is served.
    pub fn link(&self) -> Option<String> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|server| server.link().url)
    }

    /// Opens the keys of a store whose vault was locked when it was taken; whether they are open now.
    ///
    /// # Errors
    /// [`Error::Keys`] for a wrong passphrase or a damaged vault; [`Error::Kernel`] when this process only reads.
    pub fn unlock(&self, words: zeroize::Zeroizing<Vec<u8>>) -> Result<bool, Error> {
        let kernel = self.owned_kernel()?;
        let log = kernel.store_state().keys.get(&KeyPurpose::Log).map(|(_, key)| *key);
        self.keys.unlock(&self.home, kernel.reader().log_id(), log, &Unlock::Words(words))
    }

    /// Writes what the run stream still lacks, and closes it.
    pub(super) fn end_stream(&self) {
        self.notices.feed(None);
        let mirroring = self.mirroring.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mirroring) = mirroring {
            mirroring.end();
        }
    }
}
