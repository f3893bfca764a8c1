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
    /// Wraps of the answer under way, and the time of the oldest.
    pub(super) came: usize,
    pub(super) oldest: u64,
    pages: usize,
    /// Whether all it keeps was read.
    pub(super) is_whole: bool,
}

impl Listened {
    pub(super) fn new(url: Url) -> Self {
        Self { relay: Relay::new(url), came: 0, oldest: u64::MAX, pages: 0, is_whole: false }
    }

    /// Asks for wraps from now on, and for those that the relay keeps.
    pub(super) fn listen(&mut self, keys: &Keys, since: u64) {
        (self.came, self.oldest, self.pages, self.is_whole) = (0, u64::MAX, 1, false);
        let me = keys.public_key().to_hex();
        self.relay.say(&json!(["REQ", INBOX, {
            "kinds": [Kind::GiftWrap.as_u16()], "#p": [me], "since": since, "limit": PAGE,
        }]));
    }

    /// After an answer: whether there is more to ask for. `Some(true)`: it was asked for; `Some(false)`: it is not read.
    pub(super) fn next_page(&mut self, keys: &Keys, since: u64) -> Option<bool> {
        let (came, oldest) = (std::mem::take(&mut self.came), std::mem::replace(&mut self.oldest, u64::MAX));
        if self.is_whole || came < PAGE || oldest <= since {
            self.is_whole = true;
            return None;
        }
        self.is_whole = self.pages >= PAGES_MAX;
        if self.is_whole {
            return Some(false);
        }
        self.pages = self.pages.saturating_add(1);
        let me = keys.public_key().to_hex();
        self.relay.say(&json!(["REQ", PAST, {
            "kinds": [Kind::GiftWrap.as_u16()], "#p": [me], "since": since, "until": oldest, "limit": PAGE,
        }]));
        Some(true)
    }
}
