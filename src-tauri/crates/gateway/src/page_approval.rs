//! A person who says yes on a page. A session shows that a browser is there, not that a person is: so every yes brings
//! the approval passphrase, in one request that only this host's own page can send, and a program cannot ask at all.
//!
//! First the page says which card it shows and gets a ticket for exactly those bytes. The ticket is not taken before
//! a moment has passed, so that what was typed before the card was there decides nothing; it works once, in the
//! session it was given to. Wrong passphrases make everybody wait, longer each time.

use crate::answer::{Passphrase, json, of, params, refusal, refusal_as, with_passphrase};
use crate::guard::{SESSION, Who, one};
use crate::server::{Gateway, Lane};
use crate::{Draw, Token};
use api::page_approval::Lasting;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json as value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::policy::DraftOverride;
use wire::{Code, Error};

/// A card has been in front of a person for this long before a yes to it is taken.
pub(crate) const ARMING_MS: i64 = 700;
/// A ticket waits this long for its yes: as long as one reads a card, not as long as one leaves a desk.
const TICKET_MS_MAX: i64 = 30 * 60 * 1000;
/// Tickets at once; a further one replaces the oldest.
const TICKETS_MAX: usize = 64;
/// Wrong passphrases in a row that are answered at once.
const TRIES: u32 = 3;
/// The first wait, doubled by each further wrong passphrase.
const WAIT_MS: i64 = 5_000;
/// The longest wait.
const WAIT_MS_MAX: i64 = 15 * 60 * 1000;

/// What lies before a person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum About {
    /// A card, by what is asked byte for byte.
    Card {
        /// Which.
        approval: String,
        /// Digest of its packet.
        packet_sha256: String,
    },
    /// A denial, by the sentence that would be signed to be asked about it all the same.
    Denial {
        /// Of what, why, how long and how often.
        draft_override: DraftOverride,
        /// The sentence.
        words: String,
    },
}

struct Ticket {
    token: Token,
    session: String,
    about: About,
    word: Option<String>,
    armed_at: i64,
    ends_at: i64,
}

#[derive(Default)]
struct Known {
    tickets: Vec<Ticket>,
    wrong: u32,
    closed_until: i64,
}

/// Cards in front of people, and how often a passphrase was wrong. Times are milliseconds since 1970.
pub(crate) struct Seats {
    draw: Draw,
    known: Mutex<Known>,
    /// One passphrase is tried at a time: many at once would be many tries for one wait.
    door: Mutex<()>,
}

/// What a signature must bring, whatever it is under.
pub(crate) struct Hand {
    pub(crate) ticket: String,
    pub(crate) word: Option<String>,
    pub(crate) passphrase: Passphrase,
}

/// What a yes must bring.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Yes {
    ticket: String,
    packet_sha256: String,
    passphrase: Passphrase,
    word: Option<String>,
    lasting: Option<Lasting>,
}

impl Seats {
    pub(crate) fn new(draw: Draw) -> Self {
        Self { draw, known: Mutex::default(), door: Mutex::default() }
    }

    fn known(&self, now: i64) -> MutexGuard<'_, Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.tickets.retain(|ticket| ticket.ends_at > now);
        known
    }

    /// A ticket for what is shown from now on, with the word that a signature under it must say.
    pub(crate) fn show(&self, session: &str, about: About, word: Option<String>, now: i64) -> (Token, i64) {
        let token = Token::new((self.draw)());
        let armed_at = now.saturating_add(ARMING_MS);
        let mut known = self.known(now);
        if known.tickets.len() >= TICKETS_MAX {
            known.tickets.remove(0);
        }
        known.tickets.push(Ticket {
            token: token.clone(),
            session: session.to_owned(),
            about,
            word,
            armed_at,
            ends_at: now.saturating_add(TICKET_MS_MAX),
        });
        (token, armed_at)
    }

    /// What a signature is about, when everything but the passphrase holds; `is_same` says whether it is what was shown.
    fn about(
        &self,
        session: &str,
        hand: &Hand,
        is_same: impl FnOnce(&About) -> bool,
        now: i64,
    ) -> Result<About, Error> {
        let known = self.known(now);
        let conflict = |message: &str| Error::new(Code::Conflict, message);
        let found =
            known.tickets.iter().find(|ticket| ticket.token.is(&hand.ticket) && ticket.session == session);
        let ticket = found.ok_or_else(|| {
            conflict("this card was not shown here, or is used up").hint("open the card again, and read it")
        })?;
        if !is_same(&ticket.about) {
            return Err(conflict("what is asked is not what was shown").hint("look at the card again"));
        }
        if now < ticket.armed_at {
            return Err(conflict("the card has only just been shown; nothing was decided")
                .details(value!({ "armed_at": ticket.armed_at })));
        }
        if ticket.word.is_some() && ticket.word != hand.word {
            let word = ticket.word.clone().unwrap_or_default();
            return Err(Error::new(Code::Usage, format!("this needs the word `{word}`"))
                .details(value!({ "word": word })));
        }
        Ok(ticket.about.clone())
    }

    /// One signature: what was shown holds, the passphrase is tried once, and a wrong one counts.
    pub(crate) fn sign<T>(
        &self,
        session: &str,
        hand: &Hand,
        is_same: impl FnOnce(&About) -> bool,
        now: impl Fn() -> i64,
        act: impl FnOnce(About) -> Result<T, Error>,
    ) -> Came<T> {
        let _door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        // The wait comes first: whoever guesses learns nothing else meanwhile.
        if let Some(until) = self.closed(now()) {
            return Came::Wait(until);
        }
        let about = match self.about(session, hand, is_same, now()) {
            Ok(about) => about,
            Err(error) => return Came::To(Err(error)),
        };
        let came = act(about);
        match &came {
            Ok(_) => self.was_right(&hand.ticket, now()),
            Err(error) if error.code == Code::KeyLocked => self.was_wrong(now()),
            Err(_) => {}
        }
        Came::To(came)
    }

    /// One signature about what no card shows, likewise.
    pub(crate) fn sign_outright<T>(
        &self,
        now: impl Fn() -> i64,
        act: impl FnOnce() -> Result<T, Error>,
    ) -> Came<T> {
        let _door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = self.closed(now()) {
            return Came::Wait(until);
        }
        let came = act();
        match &came {
            Ok(_) => self.was_right("", now()),
            Err(error) if error.code == Code::KeyLocked => self.was_wrong(now()),
            Err(_) => {}
        }
        Came::To(came)
    }

    /// Until when nobody is heard, if that is later than now.
    fn closed(&self, now: i64) -> Option<i64> {
        Some(self.known(now).closed_until).filter(|until| *until > now)
    }

    fn was_wrong(&self, now: i64) {
        let mut known = self.known(now);
        known.wrong = known.wrong.saturating_add(1);
        if let Some(beyond) = known.wrong.checked_sub(TRIES) {
            let wait = WAIT_MS.saturating_mul(1_i64.checked_shl(beyond.min(30)).unwrap_or(i64::MAX));
            known.closed_until = now.saturating_add(wait.min(WAIT_MS_MAX));
        }
    }

    fn was_right(&self, ticket: &str, now: i64) {
        let mut known = self.known(now);
        (known.wrong, known.closed_until) = (0, 0);
        known.tickets.retain(|kept| !kept.token.is(ticket));
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

/// `POST /api/session/allow`: a yes, with the passphrase.
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
    let Yes { ticket, packet_sha256, passphrase, word, lasting } = yes;
    let hand = Hand { ticket, word, passphrase };
    let decide =
        move |host: &dyn api::Host| Ok(decide(&at, host, &session, &hand, &packet_sha256, lasting.as_ref()));
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

/// What became of a signature.
pub(crate) enum Came<T> {
    /// The passphrase was wrong too often.
    Wait(i64),
    To(Result<T, Error>),
}

pub(crate) fn answered<T: serde::Serialize>(came: Result<Came<T>, Error>) -> Response {
    let mut answer = told(came);
    // What was read ahead of a connection is let go with it, and with that the passphrase.
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

fn told<T: serde::Serialize>(came: Result<Came<T>, Error>) -> Response {
    match came {
        Ok(Came::Wait(until)) => {
            let error = Error::new(Code::Unavailable, "the passphrase was wrong too often")
                .hint("wait, then type it again; nothing was decided")
                .details(value!({ "retry_at": until }));
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
    lasting: Option<&Lasting>,
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
            api::page_approval::allow(host, &approval, &packet_sha256, lasting, &hand.passphrase.0)
        },
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    fn seats() -> Seats {
        let drawn = AtomicU8::new(1);
        Seats::new(Arc::new(move || [drawn.fetch_add(1, Ordering::SeqCst); 32]))
    }

    fn card() -> About {
        About::Card { approval: "apr_1".to_owned(), packet_sha256: "c0ffee".to_owned() }
    }

    fn show(seats: &Seats, word: Option<&str>) -> (Token, i64) {
        seats.show("s", card(), word.map(str::to_owned), 0)
    }

    fn held(
        seats: &Seats,
        session: &str,
        ticket: &Token,
        word: Option<&str>,
        now: i64,
    ) -> Result<About, Error> {
        let (ticket, word) = (ticket.reveal().to_owned(), word.map(str::to_owned));
        seats.about(
            session,
            &Hand { ticket, word, passphrase: Passphrase(zeroize::Zeroizing::default()) },
            |about| *about == card(),
            now,
        )
    }

    #[test]
    fn a_grave_act_wants_its_own_word() {
        for risk in ["high", "critical"] {
            let seats = seats();
            let (ticket, armed_at) = show(&seats, Some(risk));
            assert_eq!(armed_at, ARMING_MS);
            for word in [None, Some(""), Some("yes"), Some("moderate"), Some("HIGH")] {
                let error = held(&seats, "s", &ticket, word, armed_at).expect_err("another word");
                assert_eq!((error.code, &error.details["word"]), (Code::Usage, &value!(risk)));
            }
            assert_eq!(held(&seats, "s", &ticket, Some(risk), armed_at).expect("its word"), card());
        }
        let seats = seats();
        let (ticket, armed_at) = show(&seats, None);
        assert!(held(&seats, "s", &ticket, None, armed_at).is_ok());
        assert!(held(&seats, "t", &ticket, None, armed_at).is_err(), "in its own session alone");
        assert!(held(&seats, "s", &ticket, None, armed_at - 1).is_err(), "not before it is armed");
        assert!(held(&seats, "s", &ticket, None, TICKET_MS_MAX).is_err(), "not for ever");
    }

    #[test]
    fn tickets_are_bounded_and_waits_grow_and_end_with_the_right_words() {
        let seats = seats();
        let (first, _) = show(&seats, None);
        (0..TICKETS_MAX).for_each(|_| drop(show(&seats, None)));
        assert!(held(&seats, "s", &first, None, ARMING_MS).is_err(), "the oldest gave way");
        let mut now = 0;
        let waits: Vec<i64> = (0..14)
            .map(|_| {
                seats.was_wrong(now);
                let wait = seats.closed(now).map_or(0, |until| until - now);
                now += wait;
                wait
            })
            .collect();
        assert_eq!(waits.iter().take(4).copied().collect::<Vec<_>>(), [0, 0, WAIT_MS, 2 * WAIT_MS]);
        assert_eq!(waits.last(), Some(&WAIT_MS_MAX));
        seats.was_wrong(now);
        seats.was_right("none", now);
        assert_eq!(seats.closed(now), None);
    }
}
