//! Values of secrets, lent to the proxy of one command.

use crate::model_http::SecretSlot;
use crate::secrets::SecretBook;
use model::secret::SecretTerms;
use std::sync::PoisonError;
use zeroize::Zeroizing;

/// The vault that is open, and what the log says of each handle.
pub struct LentSecrets {
    slot: SecretSlot,
    book: SecretBook,
}

impl LentSecrets {
    /// Secrets of this process.
    pub const fn new(slot: SecretSlot, book: SecretBook) -> Self {
        Self { slot, book }
    }
}

impl effects::Secrets for LentSecrets {
    fn value(&self, handle: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        if !self.book.handles().iter().any(|known| known == handle) {
            return Err(format!(
                "there is no `secret:{handle}`; a person sets it with `hermit secret set {handle}`"
            ));
        }
        let source = self.slot.read().unwrap_or_else(PoisonError::into_inner).clone();
        let source = source.ok_or_else(|| format!("the vault with `secret:{handle}` is locked"))?;
        source.secret(handle).map_err(|e| e.to_string())
    }

    fn terms(&self, handle: &str) -> SecretTerms {
        self.book.terms(handle)
    }
}
