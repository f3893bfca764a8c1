//! Secrets of hooks: made here, kept where the keys are, and read when a call comes (schedule.md 1).

use crate::chance::OsEntropy;
use crate::{Error, Local};
use model::Entropy as _;
use model::schedule::hook_secret;
use model::secret::SecretTerms;
use std::sync::PoisonError;
use zeroize::Zeroizing;

impl Local {
    /// Makes a secret for a hook in place of the one before, and keeps it. Whoever is told it now may call; it is told nobody again,
    /// and goes to no host.
    ///
    /// # Errors
    /// As [`Local::set_secret`].
    pub fn make_hook_secret(&self, hook: &str) -> Result<Zeroizing<String>, Error> {
        let mut drawn = Zeroizing::new([0_u8; 32]);
        OsEntropy.fill(&mut *drawn);
        let value = seal::webhook::secret_of(&drawn);
        self.set_secret(&hook_secret(hook), value.as_bytes(), &SecretTerms::default())?;
        Ok(value)
    }

    /// What calls of a hook are signed with, where there is a secret.
    pub(crate) fn hook_key(&self, hook: &str) -> Result<Option<Zeroizing<Vec<u8>>>, wire::Error> {
        let locked =
            |why: &str| wire::Error::new(wire::Code::KeyLocked, format!("no call can be checked: {why}"));
        let slot = self.keys().secrets();
        let source = slot.read().unwrap_or_else(PoisonError::into_inner).clone();
        let source = source.ok_or_else(|| locked("the keys are locked"))?;
        match source.secret(&hook_secret(hook)) {
            Ok(value) => Ok(Some(value)),
            Err(seal::Error::KeyMissing { .. }) => Ok(None),
            Err(error) => {
                tracing::warn!(%error, "the secret of a hook cannot be read");
                Err(locked("the vault cannot be read"))
            }
        }
    }
}
