//! Cards in front of people: a ticket for what is shown, taken once and not before a moment has passed; and how long
//! everybody waits who has said the wrong thing. Passphrases and passkeys are counted apart: a wrong one of either shuts
//! nobody out of the other.

use crate::{Draw, Token};
use serde_json::json as value;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wire::policy::DraftOverride;
use wire::{Code, Error};

/// A card has been in front of a person for this long before a yes to it is taken.
pub(crate) const ARMING_MS: i64 = 700;
/// A ticket waits this long for its yes: as long as one reads a card, not as long as one leaves a desk.
const TICKET_MS_MAX: i64 = 30 * 60 * 1000;
/// Tickets at once; a further one replaces the oldest.
const TICKETS_MAX: usize = 64;
/// Wrong tries in a row that are answered at once.
const TRIES: u32 = 3;
/// The first wait, doubled by each further wrong try.
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

/// What a signature is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum With {
    Passphrase,
    Passkey,
}

impl With {
    /// Whether this error is a wrong try of it, and none that any right one would meet as well.
    const fn is_wrong(self, code: Code) -> bool {
        match self {
            Self::Passphrase => matches!(code, Code::KeyLocked),
            Self::Passkey => {
                matches!(
                    code,
                    Code::Forbidden | Code::Refused | Code::Usage | Code::Unauthorised | Code::Damaged
                )
            }
        }
    }
}

struct Ticket {
    token: Token,
    session: String,
    about: About,
    word: Option<String>,
    /// The decision that a passkey was last asked to sign for it.
    asked: Option<String>,
    armed_at: i64,
    ends_at: i64,
}

#[derive(Default)]
struct Known {
    tickets: Vec<Ticket>,
    passphrase: Tries,
    passkey: Tries,
}

/// Wrong tries in a row, and until when nobody is heard.
#[derive(Default)]
struct Tries {
    wrong: u32,
    closed_until: i64,
}

impl Known {
    fn tries(&mut self, with: With) -> &mut Tries {
        match with {
            With::Passphrase => &mut self.passphrase,
            With::Passkey => &mut self.passkey,
        }
    }
}

/// Cards in front of people, and how often a passphrase or a passkey was wrong. Times are milliseconds since 1970.
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
    pub(crate) with: With,
}

/// What became of a signature.
pub(crate) enum Came<T> {
    /// What it is made with was wrong too often; until when nobody is heard.
    Wait(With, i64),
    To(Result<T, Error>),
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
            asked: None,
            armed_at,
            ends_at: now.saturating_add(TICKET_MS_MAX),
        });
        (token, armed_at)
    }

    /// The card that this session was shown under a ticket, when it is this one: what a passkey may be asked to sign.
    pub(crate) fn card(
        &self,
        session: &str,
        ticket: &str,
        packet_sha256: &str,
        now: i64,
    ) -> Result<String, Error> {
        let known = self.known(now);
        let found = known.tickets.iter().find(|kept| kept.token.is(ticket) && kept.session == session);
        match found.ok_or_else(unshown)?.about {
            About::Card { ref approval, packet_sha256: ref shown } if shown == packet_sha256 => {
                Ok(approval.clone())
            }
            _ => Err(another()),
        }
    }

    /// Remembers the decision that a passkey was asked to sign; a yes under this ticket is to that one and no other.
    pub(crate) fn ask(&self, session: &str, ticket: &str, decision: &str, now: i64) {
        let mut known = self.known(now);
        let found = known.tickets.iter_mut().find(|kept| kept.token.is(ticket) && kept.session == session);
        if let Some(kept) = found {
            kept.asked = Some(decision.to_owned());
        }
    }

    /// Whether a decision is the one that was asked for last under this ticket.
    pub(crate) fn was_asked(&self, session: &str, ticket: &str, decision: &str, now: i64) -> bool {
        let known = self.known(now);
        let mut tickets = known.tickets.iter();
        let found = tickets.find(|kept| kept.token.is(ticket) && kept.session == session);
        found.is_some_and(|kept| kept.asked.as_deref() == Some(decision))
    }

    /// What a signature is about, when everything but the signature holds; `is_same` says whether it is what was shown.
    fn about(
        &self,
        session: &str,
        hand: &Hand,
        is_same: impl FnOnce(&About) -> bool,
        now: i64,
    ) -> Result<About, Error> {
        let known = self.known(now);
        let found =
            known.tickets.iter().find(|ticket| ticket.token.is(&hand.ticket) && ticket.session == session);
        let ticket = found.ok_or_else(unshown)?;
        if !is_same(&ticket.about) {
            return Err(another());
        }
        if now < ticket.armed_at {
            return Err(Error::new(Code::Conflict, "the card has only just been shown; nothing was decided")
                .details(value!({ "armed_at": ticket.armed_at })));
        }
        if ticket.word.is_some() && ticket.word != hand.word {
            let word = ticket.word.clone().unwrap_or_default();
            return Err(Error::new(Code::Usage, format!("this needs the word `{word}`"))
                .details(value!({ "word": word })));
        }
        Ok(ticket.about.clone())
    }

    /// One signature: what was shown holds, it is tried once, and a wrong one counts.
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
        if let Some(until) = self.closed(hand.with, now()) {
            return Came::Wait(hand.with, until);
        }
        let about = match self.about(session, hand, is_same, now()) {
            Ok(about) => about,
            Err(error) => return Came::To(Err(error)),
        };
        let came = act(about);
        match &came {
            Ok(_) => self.was_right(hand.with, &hand.ticket, now()),
            Err(error) if hand.with.is_wrong(error.code) => self.was_wrong(hand.with, now()),
            Err(_) => {}
        }
        Came::To(came)
    }

    /// One signature with the passphrase about what no card shows, likewise.
    pub(crate) fn sign_outright<T>(
        &self,
        now: impl Fn() -> i64,
        act: impl FnOnce() -> Result<T, Error>,
    ) -> Came<T> {
        self.outright(With::Passphrase, now, act)
    }

    /// The same of words that are compared with those of another door as well, where whoever has the right ones for this door could
    /// try as many as they like for that one. While that door is shut nobody is heard, and each comparison counts there as a wrong try.
    pub(crate) fn sign_beside<T>(
        &self,
        other: &Self,
        now: impl Fn() -> i64,
        act: impl FnOnce() -> Result<T, Error>,
    ) -> Came<T> {
        let mut waits = None;
        let came = self.sign_outright(&now, || {
            waits = other.closed(With::Passphrase, now());
            if waits.is_some() {
                return Err(Error::new(Code::Unavailable, "the other passphrase was wrong too often"));
            }
            let came = act();
            if !matches!(&came, Err(error) if With::Passphrase.is_wrong(error.code)) {
                other.was_wrong(With::Passphrase, now());
            }
            came
        });
        waits.map_or(came, |until| Came::Wait(With::Passphrase, until))
    }

    /// The same with what else signs.
    pub(crate) fn outright<T>(
        &self,
        with: With,
        now: impl Fn() -> i64,
        act: impl FnOnce() -> Result<T, Error>,
    ) -> Came<T> {
        let _door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = self.closed(with, now()) {
            return Came::Wait(with, until);
        }
        let came = act();
        match &came {
            Ok(_) => self.was_right(with, "", now()),
            Err(error) if with.is_wrong(error.code) => self.was_wrong(with, now()),
            Err(_) => {}
        }
        Came::To(came)
    }

    /// Until when nobody is heard, if that is later than now.
    fn closed(&self, with: With, now: i64) -> Option<i64> {
        Some(self.known(now).tries(with).closed_until).filter(|until| *until > now)
    }

    fn was_wrong(&self, with: With, now: i64) {
        let mut known = self.known(now);
        let tries = known.tries(with);
        tries.wrong = tries.wrong.saturating_add(1);
        if let Some(beyond) = tries.wrong.checked_sub(TRIES) {
            let wait = WAIT_MS.saturating_mul(1_i64.checked_shl(beyond.min(30)).unwrap_or(i64::MAX));
            tries.closed_until = now.saturating_add(wait.min(WAIT_MS_MAX));
        }
    }

    fn was_right(&self, with: With, ticket: &str, now: i64) {
        let mut known = self.known(now);
        *known.tries(with) = Tries::default();
        known.tickets.retain(|kept| !kept.token.is(ticket));
    }
}

fn unshown() -> Error {
    Error::new(Code::Conflict, "this card was not shown here, or is used up")
        .hint("open the card again, and read it")
}

fn another() -> Error {
    Error::new(Code::Conflict, "what is asked is not what was shown").hint("look at the card again")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use std::sync::Arc;
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
        let hand = Hand { ticket, word, with: With::Passphrase };
        seats.about(session, &hand, |about| *about == card(), now)
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
                seats.was_wrong(With::Passphrase, now);
                let wait = seats.closed(With::Passphrase, now).map_or(0, |until| until - now);
                now += wait;
                wait
            })
            .collect();
        assert_eq!(waits.iter().take(4).copied().collect::<Vec<_>>(), [0, 0, WAIT_MS, 2 * WAIT_MS]);
        assert_eq!(waits.last(), Some(&WAIT_MS_MAX));
        seats.was_wrong(With::Passphrase, now);
        assert_eq!(seats.closed(With::Passkey, now), None, "a passkey waits for no passphrase");
        seats.was_right(With::Passkey, "none", now);
        assert!(seats.closed(With::Passphrase, now).is_some(), "and ends no wait for one");
        seats.was_right(With::Passphrase, "none", now);
        assert_eq!(seats.closed(With::Passphrase, now), None);
    }

    #[test]
    fn a_passkey_signs_what_it_was_asked_last_for_the_card_of_its_session() {
        let seats = seats();
        let (ticket, _) = show(&seats, None);
        let ticket = ticket.reveal();
        assert_eq!(seats.card("s", ticket, "c0ffee", 0).expect("its card"), "apr_1");
        for (session, ticket, packet) in
            [("t", ticket, "c0ffee"), ("s", "", "c0ffee"), ("s", ticket, "another")]
        {
            assert_eq!(seats.card(session, ticket, packet, 0).expect_err("another").code, Code::Conflict);
        }
        assert!(!seats.was_asked("s", ticket, "one", 0), "nothing was asked yet");
        seats.ask("t", ticket, "one", 0);
        assert!(!seats.was_asked("s", ticket, "one", 0), "by another session neither");
        seats.ask("s", ticket, "one", 0);
        seats.ask("s", ticket, "two", 0);
        assert!(!seats.was_asked("s", ticket, "one", 0) && seats.was_asked("s", ticket, "two", 0));
        assert!(!seats.was_asked("t", ticket, "two", 0));
    }
}
