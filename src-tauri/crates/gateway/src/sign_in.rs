//! A page whose session is gone, such as an installed one that was closed, is signed in again by a passkey of its person.
//!
//! Whoever asks has shown nothing: so what is drawn is bounded, good once, at one origin and for five minutes, and refused passkeys of
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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::{Code, Error};

/// A person finds the finger, or the key, within this time.
const CHALLENGE_MS: i64 = 5 * 60 * 1000;
/// Challenges at once; a further one replaces the oldest.
const CHALLENGES_MAX: usize = 64;
/// Bytes of what a browser answers: what it says and what the authenticator says, twice as long as they may be.
const SIGN_IN_BYTES_MAX: usize = 16 * 1024;

struct Drawn {
    bytes: [u8; 32],
    /// What has to be signed, of the bytes, the store and the origin.
    challenge: String,
    origin: String,
    ends_at: i64,
}

/// What passkeys have to sign that sign a page in. Times are milliseconds since 1970.
pub(crate) struct SignIns {
    draw: Draw,
    drawn: Mutex<Vec<Drawn>>,
    /// Refused ones are counted by themselves: strangers at the door keep nobody from a yes.
    tries: Seats,
}

impl SignIns {
    pub(crate) fn new(draw: Draw) -> Self {
        Self { tries: Seats::new(Arc::clone(&draw)), draw, drawn: Mutex::default() }
    }

    fn drawn(&self, now: i64) -> MutexGuard<'_, Vec<Drawn>> {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.retain(|one| one.ends_at > now);
        drawn
    }

    fn keep(&self, bytes: [u8; 32], challenge: &str, origin: &str, now: i64) {
        let mut drawn = self.drawn(now);
        if drawn.len() >= CHALLENGES_MAX {
            drawn.remove(0);
        }
        let ends_at = now.saturating_add(CHALLENGE_MS);
        drawn.push(Drawn { bytes, challenge: challenge.to_owned(), origin: origin.to_owned(), ends_at });
    }

    /// What was drawn for a challenge at this origin; it is gone then.
    fn take(&self, challenge: &str, origin: &str, now: i64) -> Result<[u8; 32], Error> {
        let mut drawn = self.drawn(now);
        let found = drawn.iter().position(|one| one.challenge == challenge && one.origin == origin);
        found.map(|at| drawn.remove(at).bytes).ok_or_else(|| {
            Error::new(Code::Conflict, "nothing was asked of a passkey here, or it took too long")
                .hint("try again; nobody was signed in")
        })
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
        let bytes = (at.sign_ins.draw)();
        let asked = api::sign_in::options(host, &origin, &bytes)?;
        at.sign_ins.keep(bytes, &asked.challenge, &origin, at.now());
        Ok(asked)
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
            let drawn = at.sign_ins.take(&signed.challenge, &origin, at.now())?;
            let passkey = api::sign_in::sign_in(host, &origin, &drawn, &signed)?;
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

    #[test]
    fn a_challenge_signs_in_once_at_one_origin_and_for_five_minutes_and_they_are_bounded() {
        let ins = SignIns::new(Arc::new(|| [7; 32]));
        ins.keep([1; 32], "one", AT, 0);
        for (challenge, origin, now) in
            [("two", AT, 0), ("one", "http://localhost:1", 0), ("one", AT, CHALLENGE_MS)]
        {
            let refused = ins.take(challenge, origin, now).expect_err("another");
            assert_eq!(refused.code, Code::Conflict, "{challenge} {origin} {now}");
        }
        ins.keep([1; 32], "one", AT, 0);
        assert_eq!(ins.take("one", AT, 1).expect("in time"), [1; 32]);
        assert!(ins.take("one", AT, 1).is_err(), "once");
        ins.keep([2; 32], "first", AT, 0);
        for number in 0..CHALLENGES_MAX {
            ins.keep([3; 32], &number.to_string(), AT, 0);
        }
        assert!(ins.take("first", AT, 0).is_err() && ins.take("0", AT, 0).is_ok());
    }
}
