//! A relay that is listened to, and how far it was read.

use super::relay::Relay;
use ::nostr::event::Kind;
use ::nostr::key::Keys;
use serde_json::json;
use url::Url;

/// Wraps that a relay is asked for at once, and how often.
pub(super) const PAGE: usize = 500;
pub(super) const PAGES_MAX: usize = 10;
/// The subscription to what comes, and to what came before that.
pub(super) const INBOX: &str = "inbox";
pub(super) const PAST: &str = "past";

/// A relay, and how far it was read.
pub(super) struct Listened {
    pub(super) relay: Relay,
    /// The subscription whose answer is under way, its wraps so far, the time of the oldest, and nothing after what was asked for.
    asked: &'static str,
    came: usize,
    oldest: u64,
    until: u64,
    pages: usize,
    /// Whether all it keeps was read.
    pub(super) is_whole: bool,
}

impl Listened {
    pub(super) fn new(url: Url) -> Self {
        let relay = Relay::new(url);
        Self { relay, asked: INBOX, came: 0, oldest: u64::MAX, until: u64::MAX, pages: 0, is_whole: false }
    }

    /// Asks for wraps from now on, and for those that the relay keeps.
    pub(super) fn listen(&mut self, keys: &Keys, since: u64) {
        (self.asked, self.until) = (INBOX, u64::MAX);
        (self.came, self.oldest, self.pages, self.is_whole) = (0, u64::MAX, 1, false);
        let me = keys.public_key().to_hex();
        self.relay.say(&json!(["REQ", INBOX, {
            "kinds": [Kind::GiftWrap.as_u16()], "#p": [me], "since": since, "limit": PAGE,
        }]));
    }

    /// A wrap of a subscription came. One that comes anew meanwhile has a time that says nothing of how far was read.
    pub(super) fn counts(&mut self, of: &str, made: u64) {
        if of == self.asked {
            (self.came, self.oldest) = (self.came.saturating_add(1), self.oldest.min(made));
        }
    }

    /// After an answer: whether there is more to ask for. `Some(true)`: it was asked for; `Some(false)`: it is not read.
    pub(super) fn next_page(&mut self, of: &str, keys: &Keys, since: u64) -> Option<bool> {
        if self.is_whole || of != self.asked {
            return None;
        }
        let (came, oldest) = (std::mem::take(&mut self.came), std::mem::replace(&mut self.oldest, u64::MAX));
        // Many relays give fewer than they are asked for: the end is where nothing older comes.
        if came == 0 || oldest <= since || oldest >= self.until {
            self.is_whole = true;
            return None;
        }
        self.is_whole = self.pages >= PAGES_MAX;
        if self.is_whole {
            return Some(false);
        }
        self.pages = self.pages.saturating_add(1);
        (self.asked, self.until) = (PAST, oldest);
        let me = keys.public_key().to_hex();
        self.relay.say(&json!(["REQ", PAST, {
            "kinds": [Kind::GiftWrap.as_u16()], "#p": [me], "since": since, "until": oldest, "limit": PAGE,
        }]));
        Some(true)
    }
}
