//! What a person allows from now on, and what they override: chosen and read in the approval window, signed there.
//!
//! The sentence on the screen is made here from exactly what would be signed, and comes back with the hand that holds:
//! where the two differ, nothing is signed. The kernel verifies all of it again.

use crate::approval::{
    About, ApprovalWindow, Armed, Subject, WindowApproval, held, hold, only_here, unlocked,
};
use crate::commands::blocking;
use crate::store::Store;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host::{Lasting, Offer, not_shown};
use model::standing::StandingGrant;
use serde::Serialize;
use std::sync::Arc;
use tauri::{Manager as _, State, Webview};
use wire::grants::{Propose, Rehearsed};
use wire::policy::{AllowOverride, DraftOverride, Judged, OverrideAllowed};
use wire::{Code, Error};
use zeroize::Zeroizing;

/// Standing grants for the like of one act, as the store drafted them.
pub(crate) struct Offered {
    approval: String,
    scope: Option<String>,
    drafts: Vec<(StandingGrant, Rehearsed)>,
}

/// Standing grants that would have answered the question on the screen, the narrowest first.
#[tauri::command]
pub async fn offers(
    webview: Webview,
    store: State<'_, Arc<Store>>,
    approval: String,
    scope: Option<String>,
    days: Option<u16>,
    uses: Option<u32>,
) -> Result<Vec<Offer>, Error> {
    only_here(&webview)?;
    let store = Arc::clone(&store);
    blocking(move || {
        let approval_window = webview.state::<ApprovalWindow>();
        let known = |state: &WindowApproval| {
            state.offered.as_ref().is_some_and(|known| known.approval == approval && known.scope == scope)
        };
        // All of history is asked once, and not again for another number of days.
        if !known(&approval_window.state()) {
            let asked = Propose { approval: approval.clone(), scope: scope.clone() };
            let found = store.session()?.call(&asked)?.rows;
            let drafts = found.into_iter().map(|row| Ok((draft(row.draft)?, row.rehearsed)));
            let drafts = drafts.collect::<Result<_, Error>>()?;
            approval_window.state().offered =
                Some(Offered { approval: approval.clone(), scope: scope.clone(), drafts });
        }
        let state = approval_window.state();
        let offered = state.offered.as_ref().filter(|_| known(&state)).ok_or_else(not_shown)?;
        let offer = |(grant, rehearsed): &(StandingGrant, Rehearsed)| {
            Offer::of(&grant.clone().bounded(days, uses), rehearsed.clone())
        };
        Ok(offered.drafts.iter().map(offer).collect())
    })
    .await
}

fn draft(value: serde_json::Value) -> Result<StandingGrant, Error> {
    serde_json::from_value(value).map_err(|e| Error::new(Code::Failed, e.to_string()))
}

/// What would be signed for a choice, when its sentence is the one that was read.
///
/// # Errors
/// [`Code::Conflict`] when it is not, or was not offered at this card.
pub(crate) fn chosen(
    state: &WindowApproval,
    approval: &str,
    chosen: &Lasting,
) -> Result<StandingGrant, Error> {
    let here = |known: &&Offered| known.approval == approval && known.scope == chosen.scope;
    let offered = state.offered.as_ref().filter(here).ok_or_else(not_shown)?;
    let (grant, _) = offered.drafts.get(chosen.number).ok_or_else(not_shown)?;
    chosen.of(grant.clone())
}

/// An override as it would be signed.
#[derive(Serialize)]
pub struct PreparedOverride {
    words: String,
    /// What policy said.
    denied: Judged,
    armed: Armed,
}

/// A person does not share a denial: what they would sign to be asked about the act all the same.
#[tauri::command]
pub async fn prepare_override(
    webview: Webview,
    store: State<'_, Arc<Store>>,
    act: String,
    reason: String,
    hours: u32,
    uses: u32,
) -> Result<PreparedOverride, Error> {
    only_here(&webview)?;
    let store = Arc::clone(&store);
    blocking(move || {
        let asked = DraftOverride { act: act.clone(), reason, hours: Some(hours), uses: Some(uses) };
        let found = store.session()?.call(&asked)?;
        let grant = draft(found.draft)?;
        let words = host::standing_in_words(&grant);
        let approval_window = webview.state::<ApprovalWindow>();
        let mut state = approval_window.state();
        if state.subject != (Subject::Override { act: act.clone() }) {
            return Err(Error::new(Code::Conflict, "another card is open here"));
        }
        let hold = hold("critical");
        let has_key = state.key(&store).has_key();
        state.drafted = Some((act.clone(), grant));
        state.show(About::Override { act, words: words.clone() }, hold);
        Ok(PreparedOverride { words, denied: found.denied, armed: Armed::new(hold, true, has_key) })
    })
    .await
}

/// Signs exactly the override that was read and held, and hands it in.
#[tauri::command]
pub async fn allow_override(
    webview: Webview,
    store: State<'_, Arc<Store>>,
    act: String,
    words: String,
    passphrase: String,
) -> Result<OverrideAllowed, Error> {
    only_here(&webview)?;
    let (store, passphrase) = (Arc::clone(&store), Zeroizing::new(passphrase));
    blocking(move || {
        let approval_window = webview.state::<ApprovalWindow>();
        held(&approval_window, &About::Override { act: act.clone(), words: words.clone() })?;
        let signed = {
            let mut state = approval_window.state();
            let drafted = state.drafted.clone().filter(|(of, _)| *of == act).map(|(_, grant)| grant);
            let grant = drafted.filter(|grant| host::standing_in_words(grant) == words);
            let grant = grant.ok_or_else(not_shown)?;
            let key = state.key(&store);
            // What overrides policy is never signed with a key that was left open, and leaves none open.
            key.close();
            unlocked(key, Some(&passphrase))?;
            let signed = key.sign_standing(&grant).map_err(host::Error::to_wire);
            key.close();
            signed?
        };
        let done = store.session()?.call(&AllowOverride { act, envelope: STANDARD.encode(signed) })?;
        approval_window.leave();
        Ok(done)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Clock as _;
    use model::approval::Surface;
    use model::standing::{Cover, PathAct, STANDING_FORMAT, StandingScope};

    fn state() -> WindowApproval {
        let now = host::SystemClock.now();
        let grant = StandingGrant {
            format: STANDING_FORMAT.to_owned(),
            log_id: "log".to_owned(),
            grant_id: model::GrantId::fresh(&host::SystemClock, &host::OsEntropy),
            cover: Cover::Paths { glob: "notes/*.md".to_owned(), acts: vec![PathAct::Create] },
            scope: StandingScope::User,
            after_untrusted: false,
            issued_at: now,
            expires_at: now.plus_ms(7 * 24 * 3600 * 1000),
            max_uses: 50,
            given_at: None,
            override_reason: None,
            surface: Surface::ApprovalWindow,
            decided_by: model::PrincipalId::fresh(&host::SystemClock, &host::OsEntropy),
        };
        let rehearsed = Rehearsed { answered: 0, refused: 0, questions: 0, rows: Vec::new() };
        let offered = Offered { approval: "apr_1".to_owned(), scope: None, drafts: vec![(grant, rehearsed)] };
        WindowApproval { offered: Some(offered), ..WindowApproval::default() }
    }

    fn choice(days: u16, uses: u32, words: &str) -> Lasting {
        Lasting { scope: None, number: 0, days, uses, words: words.to_owned() }
    }

    #[test]
    fn what_is_signed_is_the_sentence_that_was_read_and_no_other() {
        let state = state();
        let read = "create `notes/*.md` in every project, 3 days, 2 times";
        let grant = chosen(&state, "apr_1", &choice(3, 2, read));
        let grant = grant.unwrap_or_else(|error| panic!("{}", error.message));
        assert_eq!((grant.days(), grant.max_uses), (3, 2));
        for other in [
            choice(4, 2, read),
            choice(3, 3, read),
            choice(3, 2, "create `notes/*.md`"),
            Lasting { number: 1, ..choice(3, 2, read) },
            Lasting { scope: Some("task".to_owned()), ..choice(3, 2, read) },
        ] {
            assert!(chosen(&state, "apr_1", &other).is_err(), "{other:?}");
        }
        assert!(chosen(&state, "apr_2", &choice(3, 2, read)).is_err(), "offered at another card");
        assert!(chosen(&WindowApproval::default(), "apr_1", &choice(3, 2, read)).is_err(), "never offered");
    }
}
