//! A person who says yes on a page. A session shows that a browser is there, not that a person is: so every yes brings
//! the approval passphrase, in one request that only this host's own page can send, and a program cannot ask at all.
//!
//! First the page says which card it shows and gets a ticket for exactly those bytes. The ticket is not taken before
//! a moment has passed, so that what was typed before the card was there decides nothing; it works once, in the
//! session it was given to. Wrong passphrases make everybody wait, longer each time.

use crate::answer::{json, of, params, refusal, refusal_as};
use crate::guard::Who;
use crate::server::Gateway;
use crate::{Draw, Token};
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Value, json as value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::{Code, Error};
use zeroize::Zeroizing;

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

struct Ticket {
    token: Token,
    session: String,
    approval: String,
    packet_sha256: String,
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

/// What a yes must bring.
struct Yes {
    ticket: String,
    packet_sha256: String,
    word: Option<String>,
    passphrase: Zeroizing<String>,
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

    /// A ticket for a card that is shown from now on.
    fn show(&self, session: &str, card: &api::seat::Shown, now: i64) -> (Token, i64) {
        let token = Token::new((self.draw)());
        let armed_at = now.saturating_add(ARMING_MS);
        let mut known = self.known(now);
        if known.tickets.len() >= TICKETS_MAX {
            known.tickets.remove(0);
        }
        known.tickets.push(Ticket {
            token: token.clone(),
            session: session.to_owned(),
            approval: card.approval_id.clone(),
            packet_sha256: card.packet_sha256.clone(),
            word: card.word.clone(),
            armed_at,
            ends_at: now.saturating_add(TICKET_MS_MAX),
        });
        (token, armed_at)
    }

    /// The card that a yes is about, when everything but the passphrase holds.
    fn card(&self, session: &str, yes: &Yes, now: i64) -> Result<String, Error> {
        let known = self.known(now);
        let conflict = |message: &str| Error::new(Code::Conflict, message);
        let found =
            known.tickets.iter().find(|ticket| ticket.token.is(&yes.ticket) && ticket.session == session);
        let ticket = found.ok_or_else(|| {
            conflict("this card was not shown here, or is used up").hint("open the card again, and read it")
        })?;
        if ticket.packet_sha256 != yes.packet_sha256 {
            return Err(conflict("what is asked is not what was shown").hint("look at the card again"));
        }
        if now < ticket.armed_at {
            return Err(conflict("the card has only just been shown; nothing was decided")
                .details(value!({ "armed_at": ticket.armed_at })));
        }
        if ticket.word.is_some() && ticket.word != yes.word {
            let word = ticket.word.clone().unwrap_or_default();
            return Err(Error::new(Code::Usage, format!("an act of {word} risk needs the word `{word}`"))
                .details(value!({ "word": word })));
        }
        Ok(ticket.approval.clone())
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
fn seated<'h>(gateway: &Gateway, who: Who, headers: &'h HeaderMap) -> Result<&'h str, Error> {
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
    gateway.guard.session(headers).ok_or_else(|| forbidden("only a page of this host can allow"))
}

fn field(given: &Value, name: &str) -> Result<String, Error> {
    let found = given.get(name).and_then(Value::as_str);
    found
        .map(str::to_owned)
        .ok_or_else(|| Error::new(Code::Usage, format!("`{name}` is missing, or no text")))
}

fn only(given: &Value, known: &[&str]) -> Result<(), Error> {
    let names = given.as_object().into_iter().flat_map(|fields| fields.keys());
    match names.into_iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(other) => Err(Error::new(Code::UnknownField, format!("there is no parameter `{other}`"))
            .details(value!({ "field": other }))),
    }
}

/// What both doors begin with: the session of a page of this host, and what it sent.
async fn opened<T>(
    gateway: &Gateway,
    who: Who,
    headers: &HeaderMap,
    request: Request,
    read: impl FnOnce(&Value) -> Result<T, Error>,
) -> Result<(String, T), Error> {
    let session = seated(gateway, who, headers)?.to_owned();
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
    let (session, named) = match opened(&gateway, who, &headers, request, approval).await {
        Ok(opened) => opened,
        Err(error) => return refusal(&error),
    };
    match gateway.seated(move |host| api::seat::shown(host, &named)).await {
        Ok(card) => {
            let (ticket, armed_at) = gateway.people.show(&session, &card, gateway.now());
            let told = value!({
                "ticket": ticket.reveal(), "approval": card.approval_id, "packet_sha256": card.packet_sha256,
                "armed_at": armed_at, "arms_in": ARMING_MS, "word": card.word,
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
    let (session, yes) = match opened(&gateway, who, &headers, request, read).await {
        Ok(opened) => opened,
        Err(error) => return refusal(&error),
    };
    let at = Arc::clone(&gateway);
    let came = gateway.seated(move |host| Ok(decide(&at, host, &session, &yes))).await;
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

enum Came {
    Wait(i64),
    To(Result<wire::approvals::Decided, Error>),
}

fn read(given: &Value) -> Result<Yes, Error> {
    only(given, &["ticket", "packet_sha256", "passphrase", "word"])?;
    Ok(Yes {
        ticket: field(given, "ticket")?,
        packet_sha256: field(given, "packet_sha256")?,
        word: given.get("word").and_then(Value::as_str).map(str::to_owned),
        passphrase: Zeroizing::new(field(given, "passphrase")?),
    })
}

fn decide(gateway: &Gateway, host: &dyn api::Host, session: &str, yes: &Yes) -> Came {
    let seats = &gateway.people;
    let _door = seats.door.lock().unwrap_or_else(PoisonError::into_inner);
    // The wait comes first: whoever guesses learns nothing else meanwhile.
    if let Some(until) = seats.closed(gateway.now()) {
        return Came::Wait(until);
    }
    let approval = match seats.card(session, yes, gateway.now()) {
        Ok(approval) => approval,
        Err(error) => return Came::To(Err(error)),
    };
    let came = api::seat::allow(host, &approval, &yes.packet_sha256, yes.passphrase.as_bytes());
    match &came {
        Ok(_) => seats.was_right(&yes.ticket, gateway.now()),
        Err(error) if error.code == Code::KeyLocked => seats.was_wrong(gateway.now()),
        Err(_) => {}
    }
    Came::To(came)
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

    fn card(word: Option<&str>) -> api::seat::Shown {
        let (approval_id, packet_sha256) = ("apr_1".to_owned(), "c0ffee".to_owned());
        api::seat::Shown { approval_id, packet_sha256, word: word.map(str::to_owned) }
    }

    fn yes(ticket: &Token, word: Option<&str>) -> Yes {
        let (ticket, packet_sha256) = (ticket.reveal().to_owned(), "c0ffee".to_owned());
        Yes { ticket, packet_sha256, word: word.map(str::to_owned), passphrase: Zeroizing::default() }
    }

    #[test]
    fn a_grave_act_wants_its_own_word() {
        for risk in ["high", "critical"] {
            let seats = seats();
            let (ticket, armed_at) = seats.show("s", &card(Some(risk)), 0);
            assert_eq!(armed_at, ARMING_MS);
            for word in [None, Some(""), Some("yes"), Some("moderate"), Some("HIGH")] {
                let error = seats.card("s", &yes(&ticket, word), armed_at).expect_err("another word");
                assert_eq!((error.code, &error.details["word"]), (Code::Usage, &value!(risk)));
            }
            assert_eq!(seats.card("s", &yes(&ticket, Some(risk)), armed_at).expect("its word"), "apr_1");
        }
        let seats = seats();
        let (ticket, armed_at) = seats.show("s", &card(None), 0);
        assert!(seats.card("s", &yes(&ticket, None), armed_at).is_ok());
        assert!(seats.card("t", &yes(&ticket, None), armed_at).is_err(), "in its own session alone");
        assert!(seats.card("s", &yes(&ticket, None), armed_at - 1).is_err(), "not before it is armed");
        assert!(seats.card("s", &yes(&ticket, None), TICKET_MS_MAX).is_err(), "not for ever");
    }

    #[test]
    fn tickets_are_bounded_and_waits_grow_and_end_with_the_right_words() {
        let seats = seats();
        let (first, _) = seats.show("s", &card(None), 0);
        (0..TICKETS_MAX).for_each(|_| drop(seats.show("s", &card(None), 0)));
        assert!(seats.card("s", &yes(&first, None), ARMING_MS).is_err(), "the oldest gave way");
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
