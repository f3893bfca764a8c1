//! Browsers: a link that works once becomes a session that its page carries. Both die with the host.

use crate::{Draw, Token};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long a link waits to be opened: long enough to be copied to a browser, short enough for a shoulder.
pub(crate) const LINK_MS_MAX: i64 = 10 * 60 * 1000;
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
    /// A person, who read it at a terminal of this host.
    AtTerminal,
}

struct Kept {
    token: Token,
    given: Given,
    ends_at: i64,
}

#[derive(Default)]
struct Known {
    links: Vec<Kept>,
    sessions: Vec<Kept>,
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
    pub(crate) fn link(&self, given: Given, now: i64) -> (Token, i64) {
        let ends_at = now.saturating_add(LINK_MS_MAX);
        let kept = Kept { token: Token::new((self.draw)()), given, ends_at };
        let made = (kept.token.clone(), kept.ends_at);
        let mut known = self.known(now);
        if known.links.len() >= LINKS_MAX {
            known.links.remove(0);
        }
        known.links.push(kept);
        made
    }

    /// The session that a link opens, and when it ends unless it is used. A link works once.
    pub(crate) fn open(&self, link: &str, now: i64) -> Option<(Token, i64)> {
        let mut known = self.known(now);
        let at = known.links.iter().position(|kept| kept.token.is(link))?;
        let Kept { given, .. } = known.links.remove(at);
        if known.sessions.len() >= SESSIONS_MAX
            && let Some((oldest, _)) = known.sessions.iter().enumerate().min_by_key(|(_, kept)| kept.ends_at)
        {
            known.sessions.remove(oldest);
        }
        let ends_at = now.saturating_add(IDLE_MS_MAX);
        let kept = Kept { token: Token::new((self.draw)()), given, ends_at };
        let opened = (kept.token.clone(), kept.ends_at);
        known.sessions.push(kept);
        Some(opened)
    }

    /// Whether this is a session; it goes on from now when it is. Answers when it ends, and to whom its link was given.
    pub(crate) fn used(&self, session: &str, now: i64) -> Option<(i64, Given)> {
        let mut known = self.known(now);
        let kept = known.sessions.iter_mut().find(|kept| kept.token.is(session))?;
        kept.ends_at = now.saturating_add(IDLE_MS_MAX);
        Some((kept.ends_at, kept.given))
    }

    /// Ends a session.
    pub(crate) fn end(&self, session: &str, now: i64) {
        self.known(now).sessions.retain(|kept| !kept.token.is(session));
    }
}
