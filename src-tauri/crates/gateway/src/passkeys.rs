//! Passkeys on a page: how one is added with the approval passphrase, and what it is asked to sign for a card.
//!
//! A passkey belongs to the name of the page it was made on, and signs there alone; the origin is taken from what the
//! browser says of the request and was compared before. What it has to sign when it is added is drawn here: for one
//! session, at one origin, once, and for five minutes. What it signs for a card is the decision itself, which api makes.

use crate::Draw;
use crate::answer::{Passphrase, of, refusal};
use crate::guard::Who;
use crate::page_approval::{answered, field, only, opened, signed};
use crate::server::{Gateway, Lane};
use api::passkeys::Attested;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::{Code, Error};

/// A passkey is made within this time: a person finds the key, and types a passphrase.
const CHALLENGE_MS: i64 = 5 * 60 * 1000;
/// Challenges at once; a further one replaces the oldest.
const CHALLENGES_MAX: usize = 64;

struct Drawn {
    challenge: [u8; 32],
    session: String,
    origin: String,
    ends_at: i64,
}

/// What passkeys that are being added have to sign. Times are milliseconds since 1970.
pub(crate) struct Challenges {
    draw: Draw,
    drawn: Mutex<Vec<Drawn>>,
}

impl Challenges {
    pub(crate) fn new(draw: Draw) -> Self {
        Self { draw, drawn: Mutex::default() }
    }

    fn drawn(&self, now: i64) -> MutexGuard<'_, Vec<Drawn>> {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.retain(|one| one.ends_at > now);
        drawn
    }

    /// One for a session, in place of the one it had; and when it ends.
    fn fresh(&self, session: &str, origin: &str, now: i64) -> ([u8; 32], i64) {
        let (challenge, ends_at) = ((self.draw)(), now.saturating_add(CHALLENGE_MS));
        let mut drawn = self.drawn(now);
        drawn.retain(|one| one.session != session);
        if drawn.len() >= CHALLENGES_MAX {
            drawn.remove(0);
        }
        drawn.push(Drawn { challenge, session: session.to_owned(), origin: origin.to_owned(), ends_at });
        (challenge, ends_at)
    }

    /// The one that a session has at this origin.
    fn of(&self, session: &str, origin: &str, now: i64) -> Result<[u8; 32], Error> {
        let drawn = self.drawn(now);
        let found = drawn.iter().find(|one| one.session == session && one.origin == origin);
        found.map(|one| one.challenge).ok_or_else(|| {
            Error::new(Code::Conflict, "nothing was asked of a passkey here, or it took too long")
                .hint("begin again; nothing was added")
        })
    }

    fn used(&self, session: &str, now: i64) {
        self.drawn(now).retain(|one| one.session != session);
    }
}

/// Only a page that was opened with a link from a terminal.
fn at_terminal(who: Who) -> Result<(), Error> {
    who.at_terminal("adds a passkey")
}

/// `POST /api/session/passkey/options`: what a browser makes a passkey with.
pub(crate) async fn options(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let given = match at_terminal(who) {
        Ok(()) => opened(who, &headers, request, |given| only(given, &[])).await,
        Err(error) => Err(error),
    };
    let asked = given.and_then(|(session, ())| Ok((session, gateway.passkey_origin(&headers)?)));
    let (session, origin) = match asked {
        Ok(asked) => asked,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let make = move |host: &dyn api::Host| {
        let (challenge, ends_at) = at.challenges.fresh(&session, &origin, at.now());
        let options = api::passkeys::options(host, &origin, challenge)?;
        Ok(api::passkeys::EnrolOptions { expires_at: ends_at, ..options })
    };
    of(gateway.seated_at(Lane::Urgent, make).await)
}

/// What an enrolment must bring.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Enrolment {
    name: String,
    attested: Attested,
    passphrase: Passphrase,
}

/// `POST /api/session/passkey/enrol`: a person adds what the browser made, with the approval passphrase.
pub(crate) async fn enrol(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let given = match at_terminal(who) {
        Ok(()) => signed::<Enrolment>(who, &headers, "passkey", request).await,
        Err(error) => Err(error),
    };
    let asked =
        given.and_then(|(session, enrolment)| Ok((session, enrolment, gateway.passkey_origin(&headers)?)));
    let (session, enrolment, origin) = match asked {
        Ok(asked) => asked,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let enrol = move |host: &dyn api::Host| {
        Ok(at.people.sign_outright(
            || at.now(),
            || {
                let challenge = at.challenges.of(&session, &origin, at.now())?;
                let Enrolment { name, attested, passphrase } = &enrolment;
                let came = api::passkeys::enrol(host, &origin, &challenge, name, attested, &passphrase.0);
                // A wrong passphrase is typed again; the browser need not make another passkey for that.
                if !came.as_ref().is_err_and(|error| error.code == Code::KeyLocked) {
                    at.challenges.used(&session, at.now());
                }
                came
            },
        ))
    };
    answered(gateway.seated_at(Lane::Urgent, enrol).await)
}

/// `POST /api/session/passkey/ask`: what a passkey has to sign for the card that is shown.
pub(crate) async fn ask(
    State(gateway): State<Arc<Gateway>>,
    Extension(who): Extension<Who>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let read = |given: &Value| {
        only(given, &["ticket", "packet_sha256"])?;
        Ok((field(given, "ticket")?, field(given, "packet_sha256")?))
    };
    let given = opened(who, &headers, request, read).await;
    let asked = given.and_then(|(session, shown)| Ok((session, shown, gateway.passkey_origin(&headers)?)));
    let (session, (ticket, packet_sha256), origin) = match asked {
        Ok(asked) => asked,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let ask = move |host: &dyn api::Host| {
        let approval = at.people.card(&session, &ticket, &packet_sha256, at.now())?;
        let asked = api::passkeys::ask(host, &origin, &approval, &packet_sha256)?;
        at.people.ask(&session, &ticket, &asked.decision, at.now());
        Ok(asked)
    };
    of(gateway.seated_at(Lane::Urgent, ask).await)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    const AT: &str = "https://desk.example";

    fn challenges() -> Challenges {
        let drawn = AtomicU8::new(1);
        Challenges::new(Arc::new(move || [drawn.fetch_add(1, Ordering::SeqCst); 32]))
    }

    #[test]
    fn a_challenge_is_for_one_session_at_one_origin_once_and_for_five_minutes() {
        let challenges = challenges();
        let (first, _) = challenges.fresh("s", AT, 0);
        let (second, ends_at) = challenges.fresh("s", AT, 0);
        assert!(first != second && ends_at == CHALLENGE_MS);
        assert_eq!(challenges.of("s", AT, 0).expect("the newest"), second);
        for (session, origin, now) in [("t", AT, 0), ("s", "http://localhost:1", 0), ("s", AT, CHALLENGE_MS)]
        {
            assert_eq!(challenges.of(session, origin, now).expect_err("another").code, Code::Conflict);
        }
        let (third, _) = challenges.fresh("s", AT, 0);
        assert_eq!(challenges.of("s", AT, 1).expect("until it is used"), third);
        challenges.used("s", 1);
        assert!(challenges.of("s", AT, 1).is_err());
    }

    #[test]
    fn challenges_are_bounded() {
        let challenges = challenges();
        let _ = challenges.fresh("first", AT, 0);
        for number in 0..CHALLENGES_MAX {
            let _ = challenges.fresh(&number.to_string(), AT, 0);
        }
        assert!(challenges.of("first", AT, 0).is_err(), "the oldest gave way");
        assert!(challenges.of("0", AT, 0).is_ok());
    }
}
