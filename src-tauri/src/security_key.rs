//! A yes with a security key, in the approval window. The PIN is typed there and nowhere else; the key is asked by this process,
//! and the page is told what it is at.

use crate::approval::{About, ApprovalWindow, held, only_here, packet, waiting};
use crate::commands::blocking;
use crate::store::Store;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host::ApprovalSession;
use host::security_key::{self, Found, Moment};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tauri::{Manager as _, State, Webview};
use wire::approvals::{Decide, Decided};
use wire::{Code, Error};
use zeroize::Zeroizing;

/// The security key that is asked at this moment, if one is.
#[derive(Default)]
pub struct AskedKey {
    is_asked: AtomicBool,
    wants_touch: AtomicBool,
    is_left: AtomicBool,
}

/// It is asked until this falls.
struct Asking<'a>(&'a AskedKey);

impl AskedKey {
    fn begin(&self) -> Result<Asking<'_>, Error> {
        if self.is_asked.swap(true, Ordering::SeqCst) {
            return Err(Error::new(Code::Conflict, "a security key is asked already"));
        }
        self.wants_touch.store(false, Ordering::SeqCst);
        self.is_left.store(false, Ordering::SeqCst);
        Ok(Asking(self))
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.wants_touch.store(false, Ordering::SeqCst);
        self.0.is_asked.store(false, Ordering::SeqCst);
    }
}

/// A security key that is plugged in.
#[derive(Serialize)]
pub struct PluggedIn {
    name: String,
    place: String,
}

/// What the page needs to know before it offers a security key.
#[derive(Serialize)]
pub struct SecurityKeys {
    is_enrolled: bool,
    plugged_in: Vec<PluggedIn>,
}

fn place(found: &Found) -> String {
    found.place.to_string_lossy().into_owned()
}

/// Whether a security key may say yes here, and which are plugged in.
#[tauri::command]
pub async fn security_keys(webview: Webview, store: State<'_, Arc<Store>>) -> Result<SecurityKeys, Error> {
    only_here(&webview)?;
    let store = Arc::clone(&store);
    blocking(move || {
        // Without an approval key none is enrolled.
        let is_enrolled = match security_key::enrolled(store.session()?.as_ref()) {
            Ok(enrolled) => !enrolled.is_empty(),
            Err(error) if error.code == Code::KeyLocked => false,
            Err(error) => return Err(error),
        };
        // Where they cannot be looked for there is none to offer.
        let found = if is_enrolled { security_key::plugged_in().unwrap_or_default() } else { Vec::new() };
        let plugged_in = found.iter().map(|one| PluggedIn { name: one.name.clone(), place: place(one) });
        Ok(SecurityKeys { is_enrolled, plugged_in: plugged_in.collect() })
    })
    .await
}

/// Has the security key at this place sign a yes to exactly the bytes that were shown, and hands it in.
#[tauri::command]
pub async fn grant_by_key(
    webview: Webview,
    store: State<'_, Arc<Store>>,
    approval: String,
    packet_sha256: String,
    pin: String,
    place: String,
) -> Result<Decided, Error> {
    only_here(&webview)?;
    let (store, pin) = (Arc::clone(&store), Zeroizing::new(pin));
    blocking(move || {
        let (window, asked) = (webview.state::<ApprovalWindow>(), webview.state::<AskedKey>());
        let _asking = asked.begin()?;
        let (id, shown) = (approval.clone(), packet_sha256.clone());
        let about = About::Approval { id, packet_sha256: shown, lasting: false };
        held(&window, &about)?;
        let of = waiting(&store, &approval, &packet_sha256)?;
        let bytes = packet(&store, &of)?;
        let pin = security_key::pin(&pin)?;
        let found = security_key::plugged_in()?.into_iter().find(|one| self::place(one) == place);
        let found = found.ok_or_else(|| Error::new(Code::Unavailable, "this security key was taken out"))?;
        let seat = ApprovalSession::at_window(store.home().clone());
        // A window that was closed, or shows something else by now, has left the card.
        let mut watch = |moment: Moment| {
            asked.wants_touch.store(moment == Moment::Touch, Ordering::SeqCst);
            !asked.is_left.load(Ordering::SeqCst) && window.shows(&about)
        };
        let session = store.session()?;
        let question = (bytes.as_slice(), of.person_id.as_str());
        let signed = security_key::yes(&session, &seat, question, (&found, &pin), &mut watch)?;
        let envelope = STANDARD.encode(signed);
        let decided = session.call(&Decide { approval, envelope, standing: None })?;
        window.leave();
        Ok(decided)
    })
    .await
}

/// Whether the key that is asked wants to be touched now.
#[tauri::command]
pub fn key_wants_touch(webview: Webview, asked: State<'_, AskedKey>) -> Result<bool, Error> {
    only_here(&webview)?;
    Ok(asked.wants_touch.load(Ordering::SeqCst))
}

/// The person does not touch the key after all.
#[tauri::command]
pub fn leave_key(webview: Webview, asked: State<'_, AskedKey>) -> Result<(), Error> {
    only_here(&webview)?;
    asked.is_left.store(true, Ordering::SeqCst);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_is_asked_at_a_time_and_what_was_left_before_ends_nothing_later() {
        let asked = AskedKey::default();
        let asking = asked.begin().ok();
        assert!(asking.is_some() && asked.begin().is_err());
        asked.is_left.store(true, Ordering::SeqCst);
        asked.wants_touch.store(true, Ordering::SeqCst);
        drop(asking);
        assert!(!asked.wants_touch.load(Ordering::SeqCst));
        let again = asked.begin();
        assert!(again.is_ok() && !asked.is_left.load(Ordering::SeqCst));
    }
}
