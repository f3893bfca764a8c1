//! Web Push where the keys are: the key by which push services know this store, and where each browser is reached. Both stand in the
//! vault under handles of their own, as every secret does.

use crate::chance::OsEntropy;
use crate::push_services::service_of;
use crate::{Error, Local};
use api::pushes::Subscription;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::secret::SecretTerms;
use model::{Digest, Entropy as _};
use seal::webpush::{Browser, SenderKey};
use std::sync::{Mutex, PoisonError};
use wire::Code;
use zeroize::Zeroizing;

/// The handle of the key.
const KEY: &str = "push.key";
/// Digits of a subscription's name that are in its handle.
const DIGITS: usize = 32;

/// One key is made at a time: two would leave a browser with one that nobody has.
static MAKING: Mutex<()> = Mutex::new(());

fn handle_of(subscription: Digest) -> String {
    format!("push.{}", subscription.to_string().chars().take(DIGITS).collect::<String>())
}

impl Local {
    /// What stands under a handle, where something does.
    fn push_secret(&self, handle: &str) -> Result<Option<Zeroizing<Vec<u8>>>, wire::Error> {
        let locked = |why: &str| wire::Error::new(Code::KeyLocked, format!("nobody can be notified: {why}"));
        let slot = self.keys().secrets();
        let source = slot.read().unwrap_or_else(PoisonError::into_inner).clone();
        let source = source.ok_or_else(|| {
            locked("the keys are locked").hint("open them first, with `hermit unlock` or in Settings")
        })?;
        match source.secret(handle) {
            Ok(value) => Ok(Some(value)),
            Err(seal::Error::KeyMissing { .. }) => Ok(None),
            Err(error) => {
                tracing::warn!(%error, "what notifications are sent with cannot be read");
                Err(locked("the vault cannot be read"))
            }
        }
    }

    /// The key by which push services know this store, where it was made.
    pub(crate) fn push_key(&self) -> Result<Option<SenderKey>, wire::Error> {
        let Some(text) = self.push_secret(KEY)? else { return Ok(None) };
        let damaged = || wire::Error::new(Code::Damaged, format!("`secret:{KEY}` is no key any more"));
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(&*text).map_err(|_| damaged())?);
        let drawn: [u8; 32] = bytes.as_slice().try_into().map_err(|_| damaged())?;
        SenderKey::new(&Zeroizing::new(drawn)).map(Some).map_err(|_| damaged())
    }

    /// Where a browser is reached.
    pub(crate) fn push_browser(&self, subscription: Digest) -> Result<Option<Subscription>, wire::Error> {
        let Some(text) = self.push_secret(&handle_of(subscription))? else { return Ok(None) };
        let text = Zeroizing::new(URL_SAFE_NO_PAD.decode(&*text).map_err(api::failed)?);
        serde_json::from_slice(&text).map(Some).map_err(api::failed)
    }

    fn make_push_key(&self) -> Result<SenderKey, wire::Error> {
        let mut drawn = Zeroizing::new([0_u8; 32]);
        // One draw in 2^32 is no key.
        let key = loop {
            OsEntropy.fill(&mut *drawn);
            if let Ok(key) = SenderKey::new(&drawn) {
                break key;
            }
        };
        let text = Zeroizing::new(URL_SAFE_NO_PAD.encode(&*drawn));
        self.set_secret(KEY, text.as_bytes(), &SecretTerms::default()).map_err(Error::to_wire)?;
        Ok(key)
    }
}

impl api::pushes::Pushes for Local {
    fn key(&self) -> Result<String, wire::Error> {
        let _one = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let key = match self.push_key()? {
            Some(key) => key,
            None => self.make_push_key()?,
        };
        Ok(key.public())
    }

    fn service(&self, endpoint: &str) -> Result<String, wire::Error> {
        service_of(endpoint).map(|service| service.host).map_err(api::usage)
    }

    fn keep(&self, subscription: Digest, given: &Subscription) -> Result<(), wire::Error> {
        service_of(&given.endpoint).map_err(api::usage)?;
        Browser::new(&given.p256dh, &given.auth).map_err(|e| api::usage(e.to_string()))?;
        // Encoded, so that the redactor takes no name of a service out of what is said anywhere.
        let text = Zeroizing::new(serde_json::to_vec(given).map_err(api::failed)?);
        let text = Zeroizing::new(URL_SAFE_NO_PAD.encode(&*text));
        // For no host: no act of a task sends it anywhere.
        let handle = handle_of(subscription);
        self.set_secret(&handle, text.as_bytes(), &SecretTerms::default()).map_err(Error::to_wire)
    }

    fn forget(&self, subscription: Digest) -> Result<(), wire::Error> {
        self.remove_secret(&handle_of(subscription)).map_err(Error::to_wire)
    }
}
