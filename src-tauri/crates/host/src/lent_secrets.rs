//! Values of secrets, lent to the proxy of one command.

use crate::logins::Logins;
use crate::model_http::SecretSlot;
use crate::secrets::SecretBook;
use model::login::server_of_login;
use model::secret::SecretTerms;
use std::sync::{Arc, PoisonError};
use zeroize::Zeroizing;

/// The vault that is open, and what the log says of each handle.
pub struct LentSecrets {
    slot: SecretSlot,
    book: SecretBook,
    logins: Arc<Logins>,
}

impl LentSecrets {
    /// Secrets of this process.
    pub(crate) const fn new(slot: SecretSlot, book: SecretBook, logins: Arc<Logins>) -> Self {
        Self { slot, book, logins }
    }
}

impl effects::Secrets for LentSecrets {
    fn value(&self, handle: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        if let Some(server) = server_of_login(handle) {
            return Err(format!(
                "`secret:{handle}` is lent to calls of the server of tools `{server}` and to nothing else"
            ));
        }
        if !self.book.handles().iter().any(|known| known == handle) {
            return Err(format!(
                "there is no `secret:{handle}`; a person sets it with `hermit secret set {handle}`"
            ));
        }
        let source = self.slot.read().unwrap_or_else(PoisonError::into_inner).clone();
        let source = source.ok_or_else(|| format!("the vault with `secret:{handle}` is locked"))?;
        source.secret(handle).map_err(|e| e.to_string())
    }

    fn login(&self, handle: &str, refused: Option<&[u8]>) -> Result<Zeroizing<Vec<u8>>, String> {
        self.logins.token(handle, refused)
    }

    fn terms(&self, handle: &str) -> SecretTerms {
        self.book.terms(handle)
    }
}
