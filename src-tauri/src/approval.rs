//! The window a yes is given in. Its page shows one card and takes the passphrase; the rest is done and checked here:
//! that it is this window, these bytes, after the arming delay and the hold.

use crate::commands::blocking;
use crate::standing_grants::{self, Offered};
use crate::store::Store;
use crate::window;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host::{ApprovalSession, Lasting, NewKeys, VaultChoice};
use model::approval::ApprovalStatus;
use model::standing::StandingGrant;
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tauri::{AppHandle, Manager as _, State, Webview};
use wire::approvals::{Approval, Decide, Decided, Show};
use wire::{Code, Error};
use zeroize::Zeroizing;

/// After a card is on the screen nothing decides for so long.
const ARM: Duration = Duration::from_millis(500);

/// How long a yes is held at low and moderate, high, and critical risk.
const HOLDS: [(&str, Duration); 4] = [
    ("low", Duration::from_millis(600)),
    ("moderate", Duration::from_millis(600)),
    ("high", Duration::from_millis(1_200)),
    ("critical", Duration::from_millis(2_500)),
];

/// What the window is open for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// A card.
    Approval {
        /// Of the approval.
        id: String,
    },
    /// A denial of policy, which the person does not share.
    Override {
        /// The action request.
        act: String,
    },
    /// To make keys.
    #[default]
    Keys,
    /// To open the vault they sleep in.
    Unlock,
    /// To keep the key for a server of models.
    Provider,
}

/// What a card on the screen is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum About {
    /// An approval, by the bytes that would be signed.
    Approval {
        /// Its identifier.
        id: String,
        /// Of its packet.
        packet_sha256: String,
        /// Whether the yes is to last.
        lasting: bool,
    },
    /// A denial, by the sentence that would be signed.
    Override {
        /// The action request.
        act: String,
        /// The sentence.
        words: String,
    },
}

/// A card on the screen.
pub(crate) struct Card {
    about: About,
    since: Instant,
    hold: Duration,
    pressed: Option<Instant>,
}

#[derive(Default)]
pub(crate) struct WindowApproval {
    pub(crate) subject: Subject,
    pub(crate) card: Option<Card>,
    pub(crate) key: Option<ApprovalSession>,
    /// Standing grants that were offered at this card.
    pub(crate) offered: Option<Offered>,
    /// The override in the making, and its sentence.
    pub(crate) drafted: Option<(String, StandingGrant)>,
}

impl WindowApproval {
    /// A card is on the screen from now on.
    pub(crate) fn show(&mut self, about: About, hold: Duration) {
        self.card = Some(Card { about, since: Instant::now(), hold, pressed: None });
    }

    /// The person's key, closed until it is opened.
    pub(crate) fn key(&mut self, store: &Store) -> &mut ApprovalSession {
        self.key.get_or_insert_with(|| ApprovalSession::at_window(store.home().clone()))
    }
}

/// What lies before the person.
#[derive(Default)]
pub struct ApprovalWindow(Mutex<WindowApproval>);

impl ApprovalWindow {
    pub(crate) fn state(&self) -> MutexGuard<'_, WindowApproval> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another subject; what was begun for the one before is forgotten.
    pub fn take(&self, subject: Subject) {
        let mut state = self.state();
        state.subject = subject;
        (state.card, state.offered, state.drafted) = (None, None, None);
    }

    /// Whether this card is on the screen.
    pub(crate) fn shows(&self, about: &About) -> bool {
        self.state().card.as_ref().is_some_and(|card| card.about == *about)
    }

    /// The window is gone. An open key stays open only as long as governance lets it.
    pub fn leave(&self) {
        let mut state = self.state();
        (state.card, state.offered, state.drafted) = (None, None, None);
    }
}

/// Said by the access list, and said again: no other window comes here.
pub(crate) fn only_here(webview: &Webview) -> Result<(), Error> {
    if webview.label() == window::APPROVAL {
        return Ok(());
    }
    Err(Error::new(Code::Forbidden, "only the approval window may do that"))
}

/// How long a yes is held at this risk.
pub(crate) fn hold(risk: &str) -> Duration {
    // What has a risk nobody knows is held as long as the gravest.
    HOLDS.iter().find(|(word, _)| *word == risk).map_or(HOLDS[3].1, |(_, hold)| *hold)
}

/// What the window is open for.
#[tauri::command]
pub fn subject(webview: Webview, approval_window: State<'_, ApprovalWindow>) -> Result<Subject, Error> {
    only_here(&webview)?;
    Ok(approval_window.state().subject.clone())
}

/// What the page needs to know before it takes a yes.
#[derive(Serialize)]
pub struct Armed {
    arm_ms: u64,
    hold_ms: u64,
    needs_passphrase: bool,
    has_key: bool,
}

impl Armed {
    pub(crate) fn new(hold: Duration, needs_passphrase: bool, has_key: bool) -> Self {
        let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self { arm_ms: ms(ARM), hold_ms: ms(hold), needs_passphrase, has_key }
    }
}

/// A card is on the screen, with these bytes behind it; `lasting`, when the person is about to allow the like of it
/// from now on. What lasts is held as what is grave, and never signed with a key that was left open.
#[tauri::command]
pub async fn shown(
    webview: Webview,
    store: State<'_, Arc<Store>>,
    approval: String,
    packet_sha256: String,
    lasting: bool,
) -> Result<Armed, Error> {
    only_here(&webview)?;
    let store = Arc::clone(&store);
    blocking(move || {
        let found = waiting(&store, &approval, &packet_sha256)?;
        let approval_window = webview.state::<ApprovalWindow>();
        let mut state = approval_window.state();
        if state.subject != (Subject::Approval { id: approval.clone() }) {
            return Err(Error::new(Code::Conflict, "another card is open here"));
        }
        let key = state.key(&store);
        let needs = key.needs_passphrase(&packet(&store, &found)?).map_err(host::Error::to_wire)?;
        let has_key = key.has_key();
        let risk = found.row.risk.as_str();
        let hold = if lasting { hold("high").max(hold(risk)) } else { hold(risk) };
        state.show(About::Approval { id: approval, packet_sha256, lasting }, hold);
        Ok(Armed::new(hold, needs || lasting, has_key))
    })
    .await
}

/// The person presses, or lets go again.
#[tauri::command]
pub fn press(webview: Webview, approval_window: State<'_, ApprovalWindow>, down: bool) -> Result<(), Error> {
    only_here(&webview)?;
    let mut state = approval_window.state();
    let Some(card) = state.card.as_mut() else { return Err(too_early()) };
    if down && card.since.elapsed() < ARM {
        return Err(too_early());
    }
    card.pressed = down.then(Instant::now);
    Ok(())
}

/// Signs a yes to exactly the bytes that were shown, and hands it in; with it what lasts, when the person chose that.
#[tauri::command]
pub async fn grant(
    webview: Webview,
    store: State<'_, Arc<Store>>,
    approval: String,
    packet_sha256: String,
    passphrase: Option<String>,
    standing: Option<Lasting>,
) -> Result<Decided, Error> {
    only_here(&webview)?;
    let (store, passphrase) = (Arc::clone(&store), passphrase.map(Zeroizing::new));
    blocking(move || {
        let approval_window = webview.state::<ApprovalWindow>();
        let (id, lasting) = (approval.clone(), standing.is_some());
        held(&approval_window, &About::Approval { id, packet_sha256: packet_sha256.clone(), lasting })?;
        let found = waiting(&store, &approval, &packet_sha256)?;
        let bytes = packet(&store, &found)?;
        let (envelope, standing) = {
            let mut state = approval_window.state();
            let lasting =
                standing.map(|chosen| standing_grants::chosen(&state, &approval, &chosen)).transpose()?;
            signed(state.key(&store), &bytes, &found.person_id, passphrase.as_ref(), lasting.as_ref())?
        };
        let (envelope, standing) =
            (STANDARD.encode(envelope), standing.map(|signed| STANDARD.encode(signed)));
        let decided = store.session()?.call(&Decide { approval, envelope, standing })?;
        approval_window.leave();
        Ok(decided)
    })
    .await
}

/// Whether this card was armed, and the yes to it held long enough; a press is good for one try.
pub(crate) fn held(approval_window: &ApprovalWindow, about: &About) -> Result<(), Error> {
    let mut state = approval_window.state();
    let card = state.card.as_mut().ok_or_else(too_early)?;
    if card.about != *about {
        return Err(Error::new(Code::Conflict, "this is not the card on the screen"));
    }
    match card.pressed.take() {
        Some(since) if since.elapsed() >= card.hold => Ok(()),
        _ => Err(too_early()),
    }
}

fn too_early() -> Error {
    Error::new(Code::Refused, "this was too short to be meant").hint("hold until the ring is closed")
}

/// The approval, when it still waits and is still about these bytes.
pub(crate) fn waiting(store: &Store, approval: &str, packet_sha256: &str) -> Result<Approval, Error> {
    let found = store.session()?.call(&Show { approval: approval.to_owned() })?;
    if found.row.status != ApprovalStatus::Pending {
        return Err(Error::new(Code::Conflict, format!("this is {} already", found.row.status)));
    }
    if found.packet_sha256 != packet_sha256 {
        return Err(Error::new(Code::Conflict, "what would be signed is not what was shown"));
    }
    Ok(found)
}

/// The exact bytes that would be signed.
pub(crate) fn packet(store: &Store, found: &Approval) -> Result<Vec<u8>, Error> {
    store.session()?.packet(found)
}

/// The signed answer, and beside it what lasts.
fn signed(
    key: &mut ApprovalSession,
    packet: &[u8],
    person: &str,
    passphrase: Option<&Zeroizing<String>>,
    lasting: Option<&StandingGrant>,
) -> Result<(Vec<u8>, Option<Vec<u8>>), Error> {
    if lasting.is_some() {
        key.close();
    }
    if !key.has_key() || key.needs_passphrase(packet).map_err(host::Error::to_wire)? {
        unlocked(key, passphrase)?;
    }
    let standing = lasting.map(|grant| key.sign_standing(grant)).transpose().map_err(host::Error::to_wire)?;
    Ok((key.sign(packet, true, person, None).map_err(host::Error::to_wire)?, standing))
}

/// Opens the key with what was typed.
pub(crate) fn unlocked(
    key: &mut ApprovalSession,
    passphrase: Option<&Zeroizing<String>>,
) -> Result<(), Error> {
    if !key.has_key() {
        return Err(Error::new(Code::KeyLocked, "this store has no approval key, so nothing can be allowed"));
    }
    let words = passphrase.filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| Error::new(Code::KeyLocked, "the approval passphrase is needed"))?;
    key.unlock(words.as_bytes()).map_err(host::Error::to_wire)
}

/// Makes the keys of this store. The passphrases are typed here, where no page of the app listens.
#[tauri::command]
pub async fn make_keys(
    app: AppHandle,
    webview: Webview,
    store: State<'_, Arc<Store>>,
    keychain: bool,
    vault_passphrase: Option<String>,
    approval_passphrase: String,
) -> Result<(), Error> {
    only_here(&webview)?;
    let store = Arc::clone(&store);
    let vault_words = vault_passphrase.map(Zeroizing::new);
    let approval_words = Zeroizing::new(approval_passphrase);
    blocking(move || {
        let local = store.session()?.local().ok_or_else(|| {
            Error::new(Code::Held, "another process has this store open, and only that one can make its keys")
                .hint("run `hermit keys init` in a terminal, or stop that process first")
        })?;
        let new = NewKeys {
            vault: if keychain { VaultChoice::Keychain } else { VaultChoice::File },
            vault_passphrase: vault_words.as_ref().map(|words| words.as_bytes()),
            approval_passphrase: Some(approval_words.as_bytes()),
        };
        local.make_keys(&new).map_err(host::Error::to_wire)?;
        crate::events::look(&app);
        Ok(())
    })
    .await
}

/// Keeps the key for a server of models. It is typed here, where no words of a model are shown.
#[tauri::command]
pub async fn keep_key(
    webview: Webview,
    store: State<'_, Arc<Store>>,
    url: String,
    secret: String,
    value: String,
) -> Result<(), Error> {
    only_here(&webview)?;
    let (store, value) = (Arc::clone(&store), Zeroizing::new(value.into_bytes()));
    blocking(move || {
        let local = store.session()?.local().ok_or_else(|| {
            Error::new(Code::Held, "another process has this store open, and only that one can store a key")
                .hint("stop that process first; a key is never sent from one process to another")
        })?;
        local.keep_provider(&url, &secret, &value).map_err(host::Error::to_wire)
    })
    .await
}

/// Opens the vault that the keys sleep in; whether they are open now.
#[tauri::command]
pub async fn unlock(
    webview: Webview,
    store: State<'_, Arc<Store>>,
    passphrase: String,
) -> Result<bool, Error> {
    only_here(&webview)?;
    let (store, words) = (Arc::clone(&store), Zeroizing::new(passphrase.into_bytes()));
    blocking(move || {
        let local = store.session()?.local().ok_or_else(|| {
            Error::new(
                Code::Held,
                "another process has this store open, and only that one can unlock its keys",
            )
            .hint("run `hermit unlock` in a terminal")
        })?;
        let open = local.unlock(words).map_err(host::Error::to_wire)?;
        // Receipts that waited for a key are signed now.
        local.go_on()?;
        Ok(open)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(id: &str, sha256: &str, lasting: bool) -> About {
        About::Approval { id: id.to_owned(), packet_sha256: sha256.to_owned(), lasting }
    }

    fn approval_window(since: Duration, pressed: Option<Duration>) -> ApprovalWindow {
        let ago = |back: Duration| Instant::now().checked_sub(back).unwrap_or_else(Instant::now);
        let card = Card {
            about: about("apr_1", "sha", false),
            since: ago(since),
            hold: hold("high"),
            pressed: pressed.map(ago),
        };
        ApprovalWindow(Mutex::new(WindowApproval { card: Some(card), ..WindowApproval::default() }))
    }

    #[test]
    fn a_yes_is_held_for_its_risk_and_an_unknown_risk_the_longest() {
        assert!(hold("low") < hold("high") && hold("high") < hold("critical"));
        assert_eq!(hold("whatever"), hold("critical"));
    }

    #[test]
    fn a_press_that_was_too_short_decides_nothing() {
        let (long, this) = (Duration::from_secs(9), about("apr_1", "sha", false));
        assert!(held(&approval_window(long, None), &this).is_err());
        assert!(held(&approval_window(long, Some(Duration::ZERO)), &this).is_err());
        assert!(held(&approval_window(long, Some(long)), &this).is_ok());
    }

    #[test]
    fn a_yes_is_for_the_card_on_the_screen_and_good_once() {
        let long = Duration::from_secs(9);
        let others = [
            about("apr_2", "sha", false),
            about("apr_1", "other", false),
            about("apr_1", "sha", true),
            About::Override { act: "apr_1".to_owned(), words: "sha".to_owned() },
        ];
        for other in others {
            assert!(held(&approval_window(long, Some(long)), &other).is_err(), "{other:?}");
        }
        let approval_window = approval_window(long, Some(long));
        assert!(held(&approval_window, &about("apr_1", "sha", false)).is_ok());
        assert!(held(&approval_window, &about("apr_1", "sha", false)).is_err());
    }

    #[test]
    fn another_subject_forgets_what_was_begun() {
        let long = Duration::from_secs(9);
        let approval_window = approval_window(long, Some(long));
        assert!(approval_window.shows(&about("apr_1", "sha", false)));
        assert!(!approval_window.shows(&about("apr_2", "sha", false)), "a key that is asked stops");
        approval_window.take(Subject::Approval { id: "apr_1".to_owned() });
        assert!(!approval_window.shows(&about("apr_1", "sha", false)));
        assert!(held(&approval_window, &about("apr_1", "sha", false)).is_err());
    }
}
