//! The window a yes is given in. Its page shows one card and takes the passphrase; the rest is done and checked here:
//! that it is this window, these bytes, after the arming delay and the hold.

use crate::commands::blocking;
use crate::store::Store;
use crate::window;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host::{ApprovalSeat, NewKeys, VaultChoice};
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
    /// To make keys.
    #[default]
    Keys,
    /// To open the vault they sleep in.
    Unlock,
}

/// A card on the screen.
struct Card {
    approval: String,
    packet_sha256: String,
    since: Instant,
    hold: Duration,
    pressed: Option<Instant>,
}

#[derive(Default)]
struct Seat {
    subject: Subject,
    card: Option<Card>,
    key: Option<ApprovalSeat>,
}

/// What lies before the person.
#[derive(Default)]
pub struct Desk(Mutex<Seat>);

impl Desk {
    fn seat(&self) -> MutexGuard<'_, Seat> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another subject; what was begun for the one before is forgotten.
    pub fn take(&self, subject: Subject) {
        let mut seat = self.seat();
        seat.subject = subject;
        seat.card = None;
    }

    /// The window is gone. An open key stays open only as long as governance lets it.
    pub fn leave(&self) {
        self.seat().card = None;
    }
}

/// Said by the access list, and said again: no other window comes here.
fn only_here(webview: &Webview) -> Result<(), Error> {
    if webview.label() == window::APPROVAL {
        return Ok(());
    }
    Err(Error::new(Code::Forbidden, "only the approval window may do that"))
}

fn hold(risk: &str) -> Duration {
    // What has a risk nobody knows is held as long as the gravest.
    HOLDS.iter().find(|(word, _)| *word == risk).map_or(HOLDS[3].1, |(_, hold)| *hold)
}

/// What the window is open for.
#[tauri::command]
pub fn subject(webview: Webview, desk: State<'_, Desk>) -> Result<Subject, Error> {
    only_here(&webview)?;
    Ok(desk.seat().subject.clone())
}

/// What the page needs to know before it takes a yes.
#[derive(Serialize)]
pub struct Armed {
    arm_ms: u64,
    hold_ms: u64,
    needs_passphrase: bool,
    has_key: bool,
}

/// A card is on the screen, with these bytes behind it.
#[tauri::command]
pub async fn shown(
    webview: Webview,
    store: State<'_, Arc<Store>>,
    approval: String,
    packet_sha256: String,
) -> Result<Armed, Error> {
    only_here(&webview)?;
    let store = Arc::clone(&store);
    blocking(move || {
        let found = waiting(&store, &approval, &packet_sha256)?;
        let desk = webview.state::<Desk>();
        let mut seat = desk.seat();
        if seat.subject != (Subject::Approval { id: approval.clone() }) {
            return Err(Error::new(Code::Conflict, "another card is open here"));
        }
        let key = seat.key.get_or_insert_with(|| ApprovalSeat::at_window(store.home().clone()));
        let needs_passphrase = key.needs_passphrase(&packet(&found)?).map_err(host::Error::to_wire)?;
        let has_key = key.has_key();
        let hold = hold(&found.row.risk);
        seat.card = Some(Card { approval, packet_sha256, since: Instant::now(), hold, pressed: None });
        let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Ok(Armed { arm_ms: ms(ARM), hold_ms: ms(hold), needs_passphrase, has_key })
    })
    .await
}

/// The person presses, or lets go again.
#[tauri::command]
pub fn press(webview: Webview, desk: State<'_, Desk>, down: bool) -> Result<(), Error> {
    only_here(&webview)?;
    let mut seat = desk.seat();
    let Some(card) = seat.card.as_mut() else { return Err(too_early()) };
    if down && card.since.elapsed() < ARM {
        return Err(too_early());
    }
    card.pressed = down.then(Instant::now);
    Ok(())
}

/// Signs a yes to exactly the bytes that were shown, and hands it in.
#[tauri::command]
pub async fn grant(
    webview: Webview,
    store: State<'_, Arc<Store>>,
    approval: String,
    packet_sha256: String,
    passphrase: Option<String>,
) -> Result<Decided, Error> {
    only_here(&webview)?;
    let (store, passphrase) = (Arc::clone(&store), passphrase.map(Zeroizing::new));
    blocking(move || {
        let desk = webview.state::<Desk>();
        held(&desk, &approval, &packet_sha256)?;
        let found = waiting(&store, &approval, &packet_sha256)?;
        let bytes = packet(&found)?;
        let envelope = {
            let mut seat = desk.seat();
            let key = seat.key.get_or_insert_with(|| ApprovalSeat::at_window(store.home().clone()));
            signed(key, &bytes, &found.person_id, passphrase.as_ref())?
        };
        let envelope = STANDARD.encode(envelope);
        let decided = store.session()?.call(&Decide { approval, envelope, standing: None })?;
        desk.leave();
        Ok(decided)
    })
    .await
}

/// Whether this card was armed, and the yes to it held long enough; a press is good for one try.
fn held(desk: &Desk, approval: &str, packet_sha256: &str) -> Result<(), Error> {
    let mut seat = desk.seat();
    let card = seat.card.as_mut().ok_or_else(too_early)?;
    if card.approval != approval || card.packet_sha256 != packet_sha256 {
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
fn waiting(store: &Store, approval: &str, packet_sha256: &str) -> Result<Approval, Error> {
    let found = store.session()?.call(&Show { approval: approval.to_owned() })?;
    if found.row.status != "pending" {
        return Err(Error::new(Code::Conflict, format!("this is {} already", found.row.status)));
    }
    if found.packet_sha256 != packet_sha256 {
        return Err(Error::new(Code::Conflict, "what would be signed is not what was shown"));
    }
    Ok(found)
}

fn packet(found: &Approval) -> Result<Vec<u8>, Error> {
    STANDARD.decode(&found.packet).map_err(|e| Error::new(Code::Damaged, e.to_string()))
}

fn signed(
    key: &mut ApprovalSeat,
    packet: &[u8],
    person: &str,
    passphrase: Option<&Zeroizing<String>>,
) -> Result<Vec<u8>, Error> {
    if !key.has_key() {
        return Err(Error::new(Code::KeyLocked, "this store has no approval key, so nothing can be allowed"));
    }
    if key.needs_passphrase(packet).map_err(host::Error::to_wire)? {
        let words = passphrase.filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| Error::new(Code::KeyLocked, "the approval passphrase is needed"))?;
        key.unlock(words.as_bytes()).map_err(host::Error::to_wire)?;
    }
    key.sign(packet, true, person, None).map_err(host::Error::to_wire)
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
            Error::new(Code::Held, "keys are made by the process that owns the store, and another one does")
                .hint("run `hermit keys init` there, or end it first")
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
            Error::new(Code::Held, "the process that owns the store opens its keys, and that is another one")
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

    fn desk(since: Duration, pressed: Option<Duration>) -> Desk {
        let ago = |back: Duration| Instant::now().checked_sub(back).unwrap_or_else(Instant::now);
        let card = Card {
            approval: "apr_1".to_owned(),
            packet_sha256: "sha".to_owned(),
            since: ago(since),
            hold: hold("high"),
            pressed: pressed.map(ago),
        };
        Desk(Mutex::new(Seat { card: Some(card), ..Seat::default() }))
    }

    #[test]
    fn a_yes_is_held_for_its_risk_and_an_unknown_risk_the_longest() {
        assert!(hold("low") < hold("high") && hold("high") < hold("critical"));
        assert_eq!(hold("whatever"), hold("critical"));
    }

    #[test]
    fn a_press_that_was_too_short_decides_nothing() {
        let long = Duration::from_secs(9);
        assert!(held(&desk(long, None), "apr_1", "sha").is_err());
        assert!(held(&desk(long, Some(Duration::ZERO)), "apr_1", "sha").is_err());
        assert!(held(&desk(long, Some(long)), "apr_1", "sha").is_ok());
    }

    #[test]
    fn a_yes_is_for_the_card_on_the_screen_and_good_once() {
        let long = Duration::from_secs(9);
        assert!(held(&desk(long, Some(long)), "apr_2", "sha").is_err());
        assert!(held(&desk(long, Some(long)), "apr_1", "other").is_err());
        let desk = desk(long, Some(long));
        assert!(held(&desk, "apr_1", "sha").is_ok());
        assert!(held(&desk, "apr_1", "sha").is_err());
    }

    #[test]
    fn another_subject_forgets_what_was_begun() {
        let long = Duration::from_secs(9);
        let desk = desk(long, Some(long));
        desk.take(Subject::Approval { id: "apr_1".to_owned() });
        assert!(held(&desk, "apr_1", "sha").is_err());
    }
}
