//! What a person on a page allows from now on, and what they override. As with a yes, only a page of this host may ask,
//! and each signature takes the passphrase; the sentence that is signed is made here and compared with what was read.

use crate::answer::{Passphrase, json, of, refusal};
use crate::guard::Who;
use crate::page_approval::{answered, field, only, opened, signed};
use crate::seats::{ARMING_MS, About, Came, Hand, With};
use crate::server::{Gateway, Lane};
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json as value};
use std::sync::Arc;
use wire::policy::{DraftOverride, OverrideAllowed};
use wire::{Code, Error};

/// The word that an override must say: it asks at critical risk, and is signed as what is critical.
const WORD: &str = "override";

fn number<N: TryFrom<u64>>(given: &Value, name: &str) -> Result<Option<N>, Error> {
    let wrong = || Error::new(Code::Usage, format!("`{name}` is no such number"));
    match given.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_u64().and_then(|n| N::try_from(n).ok()).ok_or_else(wrong).map(Some),
    }
}

/// `POST /api/session/offers`: what could be allowed from now on at a card. Nothing is decided by asking.
pub(crate) async fn offers(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let asked = |given: &Value| {
        only(given, &["approval", "scope", "days", "uses"])?;
        let scope = given.get("scope").and_then(Value::as_str).map(str::to_owned);
        Ok((field(given, "approval")?, scope, number(given, "days")?, number(given, "uses")?))
    };
    match opened(who, &headers, request, asked).await {
        Ok((_, (approval, scope, days, uses))) => {
            let offers =
                move |host: &dyn api::Host| api::page_approval::offers(host, &approval, scope, days, uses);
            of(gateway.seated_at(Lane::Urgent, offers).await)
        }
        Err(error) => refusal(&error),
    }
}

/// `POST /api/session/prepare_override`: a person reads from now on what they would sign to override a denial.
pub(crate) async fn prepare_override(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let asked = |given: &Value| {
        only(given, &["act", "reason", "hours", "uses"])?;
        let (act, reason) = (field(given, "act")?, field(given, "reason")?);
        Ok(DraftOverride { act, reason, hours: number(given, "hours")?, uses: number(given, "uses")? })
    };
    let (session, draft_override) = match opened(who, &headers, request, asked).await {
        Ok(opened) => opened,
        Err(error) => return refusal(&error),
    };
    let same = draft_override.clone();
    match gateway.seated_at(Lane::Urgent, move |host| api::page_approval::prepare_override(host, same)).await
    {
        Ok(found) => {
            let about = About::Denial { draft_override, words: found.words.clone() };
            let word = Some(WORD.to_owned());
            let (ticket, armed_at) = gateway.people.show(&session, about, word, gateway.now());
            let told = value!({
                "ticket": ticket.reveal(), "words": found.words, "denied": found.denied, "word": WORD,
                "armed_at": armed_at, "arms_in": ARMING_MS,
            });
            json(StatusCode::OK, &told)
        }
        Err(error) => refusal(&error),
    }
}

/// What an override must bring.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OverrideTicket {
    ticket: String,
    words: String,
    passphrase: Passphrase,
    word: Option<String>,
}

/// `POST /api/session/allow_override`: the override that was read, signed.
pub(crate) async fn allow_override(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let (session, given) = match signed::<OverrideTicket>(who, &headers, "allow_override", request).await {
        Ok(opened) => opened,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let OverrideTicket { ticket, words, passphrase, word } = given;
    let hand = Hand { ticket, word, with: With::Passphrase };
    let work = move |host: &dyn api::Host| Ok(sign(&at, host, &session, &hand, &words, &passphrase));
    answered(gateway.seated_at(Lane::Urgent, work).await)
}

fn sign(
    gateway: &Gateway,
    host: &dyn api::Host,
    session: &str,
    hand: &Hand,
    words: &str,
    passphrase: &Passphrase,
) -> Came<OverrideAllowed> {
    let is_same = |about: &About| matches!(about, About::Denial { words: shown, .. } if shown == words);
    gateway.people.sign(
        session,
        hand,
        is_same,
        || gateway.now(),
        |about| {
            let About::Denial { draft_override, words } = about else {
                return Err(Error::new(Code::Conflict, "this was not shown here, or is used up"));
            };
            api::page_approval::allow_override(host, draft_override, &words, &passphrase.0)
        },
    )
}
