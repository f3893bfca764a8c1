//! The keys of this host, as a person on a page makes, opens and locks them.
//!
//! A session shows that somebody has the host's token, which every program of the same user can read; and where there are
//! no keys yet, no passphrase tells a person from a program. So keys are made and opened only in a session whose link was
//! shown at a terminal: its token is the code that only the person there has read. To lock them harms nobody.

use crate::answer::{Passphrase, of, refusal};
use crate::guard::Who;
use crate::page_approval::{answered, opened, signed};
use crate::server::{Gateway, Lane};
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use wire::Error;
use zeroize::Zeroizing;

/// How long a page opens keys for: a working day, as `hermit unlock` does.
const OPEN: Duration = Duration::from_secs(8 * 3600);

/// How the keys of a host stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyState {
    /// Whether the keys that sign receipts and proofs were made.
    pub made: bool,
    /// Whether the key that approves was made.
    pub approval: bool,
    /// Whether they are open in this host.
    pub open: bool,
    /// Where they are kept: `keychain`, `file`; nowhere before they were made.
    pub vault: Option<&'static str>,
    /// Why the system's keychain cannot keep them here, where it cannot.
    pub no_keychain: Option<String>,
    /// Characters that a passphrase has at least.
    pub chars_min: usize,
}

/// What new keys are made with.
pub struct NewKeys {
    /// Whether the system's keychain keeps them; else a file under a passphrase does.
    pub keychain: bool,
    /// That passphrase.
    pub vault_passphrase: Option<Zeroizing<Vec<u8>>>,
    /// The one of the key that approves.
    pub approval_passphrase: Zeroizing<Vec<u8>>,
}

/// A passphrase that takes the place of another.
pub struct NewPassphrase {
    /// Whether it is the one of the key that approves; else that of the vault's file.
    pub approval: bool,
    /// As it is.
    pub old: Zeroizing<Vec<u8>>,
    /// As it will be.
    pub new: Zeroizing<Vec<u8>>,
}

/// Whoever holds the keys of a host.
pub trait Keeper: Send + Sync {
    /// How they stand; tries the system's keychain when none were made.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn state(&self) -> Result<KeyState, Error>;

    /// Makes those that are missing, and goes on with what waited for them.
    ///
    /// # Errors
    /// [`Code::Usage`] for passphrases that are too short or the same, [`Code::KeyLocked`] for a wrong one,
    /// [`Code::Conflict`] when nothing is missing.
    fn make(self: Arc<Self>, new: &NewKeys) -> Result<(), Error>;

    /// Opens them for a while.
    ///
    /// # Errors
    /// [`Code::KeyLocked`] for a wrong passphrase, and where there are none.
    fn unlock(self: Arc<Self>, passphrase: Option<Zeroizing<Vec<u8>>>, open: Duration) -> Result<(), Error>;

    /// Puts a new passphrase in the place of one; what is open stays open.
    ///
    /// # Errors
    /// [`Code::KeyLocked`] for a wrong passphrase, [`Code::Usage`] for a new one that is too short or the other one's.
    fn change_passphrase(self: Arc<Self>, change: &NewPassphrase) -> Result<(), Error>;

    /// Forgets the open keys.
    ///
    /// # Errors
    /// When they cannot be wiped.
    fn lock(self: Arc<Self>) -> Result<(), Error>;

    /// The secret that calls of a hook are signed with, where there is one.
    ///
    /// # Errors
    /// [`Code::KeyLocked`] while the vault is locked, whatever hook is meant.
    fn hook_secret(&self, hook: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error>;
}

/// How they stand, and whether this page may make or open them.
#[derive(Serialize)]
struct Told {
    at_terminal: bool,
    /// Whether a passkey signed this page in, which lets it see and end other pages, and notify its device.
    by_passkey: bool,
    #[serde(flatten)]
    state: KeyState,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Make {
    keychain: bool,
    vault_passphrase: Option<Passphrase>,
    approval_passphrase: Passphrase,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unlock {
    passphrase: Option<Passphrase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    approval: bool,
    old: Passphrase,
    new: Passphrase,
}

/// Only a page that was opened with a link from a terminal.
fn at_terminal(who: Who) -> Result<(), Error> {
    who.at_terminal("makes or opens keys").map_err(|error| {
        error.hint("run `hermit open` in a terminal and open the link it prints, or use `hermit keys init` and `hermit unlock`")
    })
}

/// What a person at the terminal sent with their passphrase.
async fn signed_at_terminal<T: DeserializeOwned>(
    who: Who,
    headers: &HeaderMap,
    about: &str,
    request: Request,
) -> Result<T, Error> {
    at_terminal(who)?;
    Ok(signed(who, headers, about, request).await?.1)
}

fn told(gateway: &Gateway, who: Who) -> Result<Told, Error> {
    let (at_terminal, by_passkey) = (who.is_at_terminal(), who.is_by_passkey());
    Ok(Told { at_terminal, by_passkey, state: gateway.keeper.state()? })
}

/// `POST /api/session/keys`: how the keys stand.
pub(crate) async fn state(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    if let Err(error) = opened(who, &headers, request, |_| Ok(())).await {
        return refusal(&error);
    }
    let at = Arc::clone(&gateway);
    of(gateway.seated_at(Lane::Usual, move |_| told(&at, who)).await)
}

/// `POST /api/session/keys/make`: a person makes the keys of this store.
pub(crate) async fn make(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let given = signed_at_terminal(who, &headers, "keys", request).await;
    let Make { keychain, vault_passphrase, approval_passphrase } = match given {
        Ok(given) => given,
        Err(error) => return refusal(&error),
    };
    let new = NewKeys {
        keychain,
        vault_passphrase: vault_passphrase.map(|words| words.0),
        approval_passphrase: approval_passphrase.0,
    };
    held(gateway, who, move |keeper| keeper.make(&new)).await
}

/// `POST /api/session/keys/unlock`: a person opens the keys.
pub(crate) async fn unlock(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let given = signed_at_terminal(who, &headers, "unlock", request).await;
    let Unlock { passphrase } = match given {
        Ok(given) => given,
        Err(error) => return refusal(&error),
    };
    held(gateway, who, move |keeper| keeper.unlock(passphrase.map(|words| words.0), OPEN)).await
}

/// `POST /api/session/keys/passphrase`: a person puts a new passphrase in the place of one.
pub(crate) async fn change_passphrase(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let given = signed_at_terminal(who, &headers, "passphrase", request).await;
    let Change { approval, old, new } = match given {
        Ok(given) => given,
        Err(error) => return refusal(&error),
    };
    let change = NewPassphrase { approval, old: old.0, new: new.0 };
    let at = Arc::clone(&gateway);
    let tried = move |_: &dyn api::Host| {
        // The new words are compared with those of the other key: they are a try at that one as well.
        let (door, other) = if approval { (&at.people, &at.vault) } else { (&at.vault, &at.people) };
        Ok(door.sign_beside(
            other,
            || at.now(),
            || {
                Arc::clone(&at.keeper).change_passphrase(&change)?;
                told(&at, who)
            },
        ))
    };
    answered(gateway.seated_at(Lane::Urgent, tried).await)
}

/// `POST /api/session/keys/lock`: the open keys are forgotten.
pub(crate) async fn lock(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    if let Err(error) = opened(who, &headers, request, |_| Ok(())).await {
        return refusal(&error);
    }
    let at = Arc::clone(&gateway);
    let lock = move |_: &dyn api::Host| {
        Arc::clone(&at.keeper).lock()?;
        told(&at, who)
    };
    of(gateway.seated_at(Lane::Urgent, lock).await)
}

/// Tries the passphrase of the vault once, and says how the keys stand then.
async fn held(
    gateway: Arc<Gateway>,
    who: Who,
    act: impl FnOnce(Arc<dyn Keeper>) -> Result<(), Error> + Send + 'static,
) -> Response {
    let at = Arc::clone(&gateway);
    let tried = move |_: &dyn api::Host| {
        Ok(at.vault.sign_outright(
            || at.now(),
            || {
                act(Arc::clone(&at.keeper))?;
                told(&at, who)
            },
        ))
    };
    answered(gateway.seated_at(Lane::Urgent, tried).await)
}
