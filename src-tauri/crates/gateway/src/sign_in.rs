//! A page whose session is gone, such as an installed one that was closed, is signed in again by a passkey of its person.
//!
//! Whoever asks has shown nothing, and nothing is kept for them: what a passkey has to sign comes back with a ticket of this host, good
//! once, at one origin and for five minutes, so that nobody who asks without end keeps another out. Refused passkeys of
//! this host make everybody wait who signs in, and nobody else; any others make nobody wait. What is signed is no decision and cannot be read as one.

use crate::Draw;
use crate::answer::{json, params_within, refusal};
use crate::commands::LINK_TIME;
use crate::guard::{SESSION, one};
use crate::page_approval::{answered, only};
use crate::seats::{Came, Seats, With};
use crate::server::{Gateway, Lane};
use crate::sessions::Place;
use api::sign_in::SignIn;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Value, json as value};
use std::sync::{Arc, Mutex, PoisonError};
use wire::{Code, Error};

/// A person finds the finger, or the key, within this time.
const CHALLENGE_MS: i64 = 5 * 60 * 1000;
/// Tickets that signed somebody in and would be good still: nobody signs in more often than that in their time.
const USED_MAX: usize = 1024;
/// Bytes of what a browser answers: what it says and what the authenticator says, twice as long as they may be.
const SIGN_IN_BYTES_MAX: usize = 16 * 1024;

/// Tickets by which passkeys sign pages in. Times are milliseconds since 1970.
pub(crate) struct SignIns {
    draw: Draw,
    /// What makes tickets, for as long as this host is there.
    key: [u8; 32],
    /// Tickets that were used, and until when they would be good.
    used: Mutex<Vec<([u8; 32], i64)>>,
    /// Refused ones are counted by themselves: strangers at the door keep nobody from a yes.
    tries: Seats,
}

impl SignIns {
    pub(crate) fn new(draw: Draw) -> Self {
        let key = draw();
        Self { tries: Seats::new(Arc::clone(&draw)), draw, key, used: Mutex::default() }
    }

    fn ticket(&self, origin: &str, now: i64) -> [u8; 32] {
        api::sign_in::ticket(&self.key, origin, now.saturating_add(CHALLENGE_MS), &(self.draw)())
    }

    /// Does what a ticket is good for; one by which it succeeded is good no more.
    fn once<T>(
        &self,
        origin: &str,
        now: i64,
        signed: &SignIn,
        act: impl FnOnce(&[u8; 32]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (ticket, ends_at) = api::sign_in::given(&self.key, origin, now, signed)?;
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|(_, ends_at)| *ends_at > now);
        if used.len() >= USED_MAX || used.iter().any(|(one, _)| *one == ticket) {
            return Err(api::sign_in::used());
        }
        let done = act(&ticket)?;
        used.push((ticket, ends_at));
        Ok(done)
    }
}

/// What comes from a page that has shown nothing: in time, as JSON, which no form of another page sends.
async fn came(headers: &HeaderMap, request: Request) -> Result<Value, Error> {
    let kind = headers.get(axum::http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !kind.is_some_and(|kind| kind.trim().to_ascii_lowercase().starts_with("application/json")) {
        return Err(Error::new(Code::Usage, "send it as `application/json`"));
    }
    match tokio::time::timeout(LINK_TIME, params_within(request, SIGN_IN_BYTES_MAX)).await {
        Ok(given) => given,
        Err(_) => Err(Error::new(Code::Usage, "the body did not come in time")),
    }
}

/// `POST /api/session/passkey/sign_in_options`: what a passkey has to sign, so that this page is signed in.
pub(crate) async fn options(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let given = came(&headers, request).await;
    let asked = given.and_then(|given| {
        only(&given, &[])?;
        gateway.passkey_origin(&headers)
    });
    let origin = match asked {
        Ok(origin) => origin,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let draw = move |host: &dyn api::Host| {
        api::sign_in::options(host, &origin, &at.sign_ins.ticket(&origin, at.now()))
    };
    match gateway.seated_at(Lane::Hook, draw).await {
        Ok(asked) => json(StatusCode::OK, &asked),
        Err(error) => refusal(&error),
    }
}

/// `POST /api/session/passkey/sign_in`: a passkey that signed becomes a session.
pub(crate) async fn sign_in(
    State(gateway): State<Arc<Gateway>>,
    Extension(place): Extension<Place>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let given = came(&headers, request).await;
    let asked = given.and_then(|given| {
        let signed: SignIn =
            serde_json::from_value(given).map_err(|e| api::misfit("sign_in", &e.to_string()))?;
        Ok((signed, gateway.passkey_origin(&headers)?))
    });
    let (signed, origin) = match asked {
        Ok(asked) => asked,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let open = move |host: &dyn api::Host| -> Result<Came<Value>, Error> {
        let once = || -> Result<Value, Error> {
            let passkey = at.sign_ins.once(&origin, at.now(), &signed, |ticket| {
                api::sign_in::sign_in(host, &origin, ticket, &signed)
            })?;
            let (session, ends_at) = at.guard.sessions.sign_in(passkey, place, at.now());
            Ok(value!({ "kind": "browser", "session": session.reveal(), "expires_at": ends_at }))
        };
        // What no passkey of this host can have said is refused, and keeps nobody waiting.
        if !api::sign_in::is_known(host, &signed) {
            return Ok(Came::To(once()));
        }
        Ok(at.sign_ins.tries.outright(With::Passkey, || at.now(), once))
    };
    answered(gateway.seated_at(Lane::Hook, open).await)
}

/// Whether what signed a session in may still do so; else the session is ended.
pub(crate) async fn stands(gateway: &Arc<Gateway>, headers: &HeaderMap) -> bool {
    let Some(session) = one(headers, &SESSION).map(str::to_owned) else { return false };
    let Some(passkey) = gateway.guard.sessions.passkey_of(&session, gateway.now()) else { return false };
    let at = Arc::clone(gateway);
    let look = move |host: &dyn api::Host| {
        let holds = api::sign_in::holds(host, &passkey);
        if !holds {
            at.guard.sessions.end(&session, at.now());
            at.files.end(&session);
        }
        Ok(holds)
    };
    gateway.seated_at(Lane::Urgent, look).await.unwrap_or(false)
}

/// Whether a page that listens goes on listening: it was not ended, and what signed it in may still do so.
pub(crate) fn goes_on(gateway: &Gateway, session: &str) -> bool {
    let now = gateway.now();
    gateway.guard.sessions.is_open(session, now)
        && gateway
            .guard
            .sessions
            .passkey_of(session, now)
            .is_none_or(|passkey| api::sign_in::holds(&*gateway.host, &passkey))
}

/// What such a page is told.
pub(crate) fn ended() -> Error {
    Error::new(Code::Unauthorised, "the passkey that signed this page in was revoked")
        .hint("open a new link: `hermit open --phone` prints one")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    const AT: &str = "https://desk.example";

    fn with(ticket: &[u8; 32]) -> SignIn {
        let text = String::new;
        SignIn {
            ticket: seal::webauthn::base64url(ticket),
            credential_id: text(),
            client_data_json: text(),
            authenticator_data: text(),
            signature: text(),
        }
    }

    #[test]
    fn a_ticket_signs_in_once_at_one_origin_for_five_minutes_and_nobody_pushes_it_out() {
        let ins = SignIns::new(Arc::new(|| [7; 32]));
        let other = SignIns::new(Arc::new(|| [8; 32]));
        let ticket = ins.ticket(AT, 0);
        for _ in 0..10_000 {
            ins.ticket(AT, 0);
        }
        let yes = |_: &[u8; 32]| Ok(());
        let mut torn = ticket;
        torn[7] ^= 1;
        for (ins, ticket, origin, now) in [
            (&other, ticket, AT, 0),
            (&ins, torn, AT, 0),
            (&ins, ticket, "http://localhost:1", 0),
            (&ins, ticket, AT, CHALLENGE_MS),
        ] {
            let refused = ins.once(origin, now, &with(&ticket), yes).expect_err("another");
            assert_eq!(refused.code, Code::Conflict, "{origin} {now}");
        }
        let no = ins.once(AT, 1, &with(&ticket), |_| Err::<(), _>(api::sign_in::used()));
        assert!(no.is_err(), "what is refused uses nothing up");
        let came = ins.once(AT, 1, &with(&ticket), |ticket| Ok(*ticket)).expect("in time");
        assert_eq!(came, ticket);
        assert!(ins.once(AT, 1, &with(&ticket), yes).is_err(), "once");
    }
}
