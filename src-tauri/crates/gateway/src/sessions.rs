//! Browsers: a link that works once becomes a session that its page carries. Both die with the host.

use crate::{Draw, Token};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long a link waits to be opened: long enough to be copied to a browser, short enough for a shoulder.
pub(crate) const LINK_MS_MAX: i64 = 10 * 60 * 1000;
/// The same for a link that a device elsewhere opens: it is read off a screen, and that takes no longer.
pub(crate) const ELSEWHERE_MS_MAX: i64 = 5 * 60 * 1000;
/// A session without a request for this long has ended: a working day, not a weekend.
pub(crate) const IDLE_MS_MAX: i64 = 12 * 60 * 60 * 1000;
/// Links waiting at once; a further one replaces the oldest.
const LINKS_MAX: usize = 16;
/// Sessions at once; a further one replaces the one that was used longest ago.
const SESSIONS_MAX: usize = 64;

/// Who was given a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// A program that has the host's token. It may hand it on to a person, or keep it.
    ToProgram,
    /// A person, who read it at a terminal of this host, or on a page whose own link was read there.
    AtTerminal,
    /// Nobody: a passkey signed the page in, which such a page had added with the approval passphrase.
    ByPasskey,
}

/// Under which of the gateway's names. A link and its session belong to one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// This machine's own.
    Here,
    /// The origin that a person named.
    Elsewhere,
}

struct Link {
    token: Token,
    given: Given,
    place: Place,
    ends_at: i64,
}

struct Session {
    number: u64,
    token: Token,
    given: Given,
    place: Place,
    /// What signed it in, where a passkey did.
    passkey: Option<String>,
    opened_at: i64,
    used_at: i64,
    ends_at: i64,
}

/// A session as a person is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) number: u64,
    /// What it is known by, which is told to nobody.
    pub(crate) token: Token,
    pub(crate) given: Given,
    pub(crate) place: Place,
    pub(crate) opened_at: i64,
    pub(crate) used_at: i64,
    /// Whether it is that of whoever asks.
    pub(crate) own: bool,
}

#[derive(Default)]
struct Known {
    links: Vec<Link>,
    sessions: Vec<Session>,
    opened: u64,
}

/// Links and sessions of one host. Times are milliseconds since 1970.
pub(crate) struct Sessions {
    draw: Draw,
    known: Mutex<Known>,
}

impl Sessions {
    pub(crate) fn new(draw: Draw) -> Self {
        Self { draw, known: Mutex::default() }
    }

    fn known(&self, now: i64) -> MutexGuard<'_, Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.links.retain(|kept| kept.ends_at > now);
        known.sessions.retain(|kept| kept.ends_at > now);
        known
    }

    /// A token that opens one session, and when it lapses.
    pub(crate) fn link(&self, given: Given, place: Place, now: i64) -> (Token, i64) {
        let time = match place {
            Place::Here => LINK_MS_MAX,
            Place::Elsewhere => ELSEWHERE_MS_MAX,
        };
        let kept = Link { token: Token::new((self.draw)()), given, place, ends_at: now.saturating_add(time) };
        let made = (kept.token.clone(), kept.ends_at);
        let mut known = self.known(now);
        if known.links.len() >= LINKS_MAX {
            known.links.remove(0);
        }
        known.links.push(kept);
        made
    }

    /// The session that a link opens at its own place, and when it ends unless it is used. A link works once.
    pub(crate) fn open(&self, link: &str, place: Place, now: i64) -> Option<(Token, i64)> {
        let mut known = self.known(now);
        let at = known.links.iter().position(|kept| kept.place == place && kept.token.is(link))?;
        let Link { given, .. } = known.links.remove(at);
        Some(self.begun(&mut known, (given, place), None, now))
    }

    /// The session of a page that a passkey signed in, and when it ends unless it is used.
    pub(crate) fn sign_in(&self, passkey: String, place: Place, now: i64) -> (Token, i64) {
        self.begun(&mut self.known(now), (Given::ByPasskey, place), Some(passkey), now)
    }

    fn begun(
        &self,
        known: &mut Known,
        (given, place): (Given, Place),
        passkey: Option<String>,
        now: i64,
    ) -> (Token, i64) {
        if known.sessions.len() >= SESSIONS_MAX
            && let Some((oldest, _)) = known.sessions.iter().enumerate().min_by_key(|(_, kept)| kept.ends_at)
        {
            known.sessions.remove(oldest);
        }
        known.opened = known.opened.saturating_add(1);
        let kept = Session {
            number: known.opened,
            token: Token::new((self.draw)()),
            given,
            place,
            passkey,
            opened_at: now,
            used_at: now,
            ends_at: now.saturating_add(IDLE_MS_MAX),
        };
        let opened = (kept.token.clone(), kept.ends_at);
        known.sessions.push(kept);
        opened
    }

    /// The passkey that signed a session in, where one did.
    pub(crate) fn passkey_of(&self, session: &str, now: i64) -> Option<String> {
        self.known(now).sessions.iter().find(|kept| kept.token.is(session))?.passkey.clone()
    }

    /// Whether this is a session still. That somebody listens is no use of it.
    pub(crate) fn is_open(&self, session: &str, now: i64) -> bool {
        self.known(now).sessions.iter().any(|kept| kept.token.is(session))
    }

    /// Whether this is a session of that place; it goes on from now when it is. Answers when it ends, and to whom its link
    /// was given.
    pub(crate) fn used(&self, session: &str, place: Place, now: i64) -> Option<(i64, Given)> {
        let mut known = self.known(now);
        let kept = known.sessions.iter_mut().find(|kept| kept.place == place && kept.token.is(session))?;
        kept.used_at = now;
        kept.ends_at = now.saturating_add(IDLE_MS_MAX);
        Some((kept.ends_at, kept.given))
    }

    /// Every session, the one that was used last first.
    pub(crate) fn list(&self, own: &str, now: i64) -> Vec<Listed> {
        let known = self.known(now);
        let mut all: Vec<Listed> = known
            .sessions
            .iter()
            .map(|kept| Listed {
                number: kept.number,
                token: kept.token.clone(),
                given: kept.given,
                place: kept.place,
                opened_at: kept.opened_at,
                used_at: kept.used_at,
                own: kept.token.is(own),
            })
            .collect();
        all.sort_by_key(|one| std::cmp::Reverse((one.used_at, one.number)));
        all
    }

    /// Ends a session.
    pub(crate) fn end(&self, session: &str, now: i64) {
        self.known(now).sessions.retain(|kept| !kept.token.is(session));
    }

    /// Ends the session with that number; what it was known by.
    pub(crate) fn end_listed(&self, number: u64, now: i64) -> Option<Token> {
        let mut known = self.known(now);
        let at = known.sessions.iter().position(|kept| kept.number == number)?;
        Some(known.sessions.remove(at).token)
    }
}
