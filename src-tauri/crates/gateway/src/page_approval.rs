//! A person who says yes on a page. A session shows that a browser is there, not that a person is: so every yes brings
//! the approval passphrase, in one request that only this host's own page can send, and a program cannot ask at all.
//!
//! First the page says which card it shows and gets a ticket for exactly those bytes (`seats`). The ticket is not taken
//! before a moment has passed, so that what was typed before the card was there decides nothing; it works once, in the
//! session it was given to. Wrong passphrases make everybody wait, longer each time. In place of the passphrase a passkey
//! of the person may sign the decision, which it was asked for under the same ticket (`passkeys`).

use crate::answer::{Passphrase, json, of, params, refusal, refusal_as, with_passphrase};
use crate::guard::{SESSION, Who, one};
use crate::seats::{ARMING_MS, About, Came, Hand, With};
use crate::server::{Gateway, Lane};
use api::page_approval::Lasting;
use api::passkeys::Asserted;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json as value};
use std::sync::Arc;
use wire::{Code, Error};

/// What a yes must bring.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Yes {
    ticket: String,
    packet_sha256: String,
    passphrase: Option<Passphrase>,
    passkey: Option<Asserted>,
    word: Option<String>,
    lasting: Option<Lasting>,
}

/// What a yes is signed with.
enum Signing {
    Passphrase(Passphrase, Option<Lasting>),
    /// A passkey's, on a page of this origin.
    Passkey(Asserted, String),
}

impl Signing {
    /// Exactly one of both; a passkey signs nothing that lasts.
    fn of(
        passphrase: Option<Passphrase>,
        passkey: Option<Asserted>,
        lasting: Option<Lasting>,
        origin: impl FnOnce() -> Result<String, Error>,
    ) -> Result<Self, Error> {
        match (passphrase, passkey) {
            (Some(passphrase), None) => Ok(Self::Passphrase(passphrase, lasting)),
            (None, Some(_)) if lasting.is_some() => {
                Err(Error::new(Code::Usage, "a passkey allows one act")
                    .hint("what lasts takes the passphrase"))
            }
            (None, Some(asserted)) => Ok(Self::Passkey(asserted, origin()?)),
            _ => Err(Error::new(Code::Usage, "a yes takes either `passphrase` or `passkey`")),
        }
    }

    const fn with(&self) -> With {
        match self {
            Self::Passphrase(..) => With::Passphrase,
            Self::Passkey(..) => With::Passkey,
        }
    }
}

/// The session of a browser; a program has none and is told so.
fn seated(who: Who, headers: &HeaderMap) -> Result<&str, Error> {
    let forbidden = |message: &str| {
        Error::new(Code::Forbidden, message)
            .hint("a person decides: at a terminal, in the app, or on a page of this host")
    };
    if who == Who::Program {
        return Err(forbidden("a program cannot allow"));
    }
    // A form of another page cannot send this type without asking first.
    let is_json = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !is_json.is_some_and(|kind| kind.trim().to_ascii_lowercase().starts_with("application/json")) {
        return Err(Error::new(Code::Usage, "send it as `application/json`"));
    }
    one(headers, &SESSION).ok_or_else(|| forbidden("only a page of this host can allow"))
}

pub(crate) fn field(given: &Value, name: &str) -> Result<String, Error> {
    let found = given.get(name).and_then(Value::as_str);
    found
        .map(str::to_owned)
        .ok_or_else(|| Error::new(Code::Usage, format!("`{name}` is missing, or no text")))
}

pub(crate) fn only(given: &Value, known: &[&str]) -> Result<(), Error> {
    let names = given.as_object().into_iter().flat_map(|fields| fields.keys());
    match names.into_iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(other) => Err(Error::new(Code::UnknownField, format!("there is no parameter `{other}`"))
            .details(value!({ "field": other }))),
    }
}

/// What both doors begin with: the session of a page of this host, and what it sent.
pub(crate) async fn opened<T>(
    who: Who,
    headers: &HeaderMap,
    request: Request,
    read: impl FnOnce(&Value) -> Result<T, Error>,
) -> Result<(String, T), Error> {
    let session = seated(who, headers)?.to_owned();
    let given = params(request).await?;
    Ok((session, read(&given)?))
}

/// `POST /api/session/card`: a page shows a card from now on.
pub(crate) async fn card(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let approval = |given: &Value| {
        only(given, &["approval"])?;
        field(given, "approval")
    };
    let (session, named) = match opened(who, &headers, request, approval).await {
        Ok(opened) => opened,
        Err(error) => return refusal(&error),
    };
    match gateway.seated_at(Lane::Urgent, move |host| api::page_approval::shown(host, &named)).await {
        Ok(card) => {
            let api::page_approval::Shown { approval_id, packet_sha256, word } = card;
            let about = About::Card { approval: approval_id.clone(), packet_sha256: packet_sha256.clone() };
            let (ticket, armed_at) = gateway.people.show(&session, about, word.clone(), gateway.now());
            let told = value!({
                "ticket": ticket.reveal(), "approval": approval_id, "packet_sha256": packet_sha256,
                "armed_at": armed_at, "arms_in": ARMING_MS, "word": word,
            });
            json(StatusCode::OK, &told)
        }
        Err(error) => refusal(&error),
    }
}

/// `POST /api/session/allow`: a yes, with the passphrase or by a passkey.
pub(crate) async fn allow(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let (session, yes) = match signed::<Yes>(who, &headers, "allow", request).await {
        Ok(opened) => opened,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let Yes { ticket, packet_sha256, passphrase, passkey, word, lasting } = yes;
    let signing = match Signing::of(passphrase, passkey, lasting, || gateway.passkey_origin(&headers)) {
        Ok(signing) => signing,
        Err(error) => return refusal(&error),
    };
    let hand = Hand { ticket, word, with: signing.with() };
    let decide = move |host: &dyn api::Host| Ok(decide(&at, host, &session, &hand, &packet_sha256, &signing));
    answered(gateway.seated_at(Lane::Urgent, decide).await)
}

/// The session of a page of this host, and what it sent with a passphrase.
pub(crate) async fn signed<T: DeserializeOwned>(
    who: Who,
    headers: &HeaderMap,
    about: &str,
    request: Request,
) -> Result<(String, T), Error> {
    let session = seated(who, headers)?.to_owned();
    Ok((session, with_passphrase(about, request).await?))
}

pub(crate) fn answered<T: serde::Serialize>(came: Result<Came<T>, Error>) -> Response {
    let mut answer = told(came);
    // What was read ahead of a connection is let go with it, and with that the passphrase.
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

fn told<T: serde::Serialize>(came: Result<Came<T>, Error>) -> Response {
    match came {
        Ok(Came::Wait(with, until)) => {
            let (message, hint) = match with {
                With::Passphrase => {
                    ("the passphrase was wrong too often", "wait, then type it again; nothing was decided")
                }
                With::Passkey => (
                    "passkeys were refused too often",
                    "wait, or use the approval passphrase; nothing was decided",
                ),
            };
            let error =
                Error::new(Code::Unavailable, message).hint(hint).details(value!({ "retry_at": until }));
            refusal_as(StatusCode::TOO_MANY_REQUESTS, &error)
        }
        Ok(Came::To(came)) => of(came),
        Err(error) => refusal(&error),
    }
}

fn decide(
    gateway: &Gateway,
    host: &dyn api::Host,
    session: &str,
    hand: &Hand,
    packet_sha256: &str,
    signing: &Signing,
) -> Came<wire::approvals::Decided> {
    let is_same =
        |about: &About| matches!(about, About::Card { packet_sha256: shown, .. } if shown == packet_sha256);
    gateway.people.sign(
        session,
        hand,
        is_same,
        || gateway.now(),
        |about| {
            let About::Card { approval, packet_sha256 } = about else {
                return Err(Error::new(Code::Conflict, "this card was not shown here, or is used up"));
            };
            match signing {
                Signing::Passphrase(passphrase, lasting) => api::page_approval::allow(
                    host,
                    &approval,
                    &packet_sha256,
                    lasting.as_ref(),
                    &passphrase.0,
                ),
                Signing::Passkey(asserted, origin) => {
                    if !gateway.people.was_asked(session, &hand.ticket, &asserted.decision, gateway.now()) {
                        return Err(Error::new(
                            Code::Conflict,
                            "the passkey signed something else than it was asked",
                        )
                        .hint("try again; nothing was decided"));
                    }
                    api::passkeys::allow(host, origin, &approval, &packet_sha256, asserted)
                }
            }
        },
    )
}
