//! Nostr: private messages (NIP-17) at the relays that the account names. The token is the own key, which signs and opens and is
//! sent to nobody. The cursor is a time and the last messages that were kept: wraps have times that are moved back, so relays are
//! asked for the days before it, and what was kept is passed over.

mod listened;
mod look;
mod relay;
mod sending;
mod wrap;

use crate::http;
use crate::{
    Account, Adapter, Attachment, Fault, Incoming, Limits, Outgoing, POLL_MESSAGES_MAX, Polled, clean,
    now_ms, setting,
};
use ::nostr::event::{Event, EventBuilder, FinalizeEvent as _, Kind, Tag, UnsignedEvent};
use ::nostr::key::{Keys, PublicKey};
use ::nostr::nips::nip19::ToBech32 as _;
use listened::{INBOX, Listened, PAGE, PAGES_MAX, PAST};
pub use look::{LOOK_EVENTS_MAX, events_at};
use relay::{Said, all_away, asks_who};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};
use ureq::tls::Certificate;
use url::Url;
use zeroize::Zeroizing;

/// Relays of one account.
const RELAYS_MAX: usize = 4;
/// The setting by which others are told at which relays this account reads.
const ANNOUNCE: &str = "announce";
/// Letters of the id of an event.
const ID_LETTERS: usize = 64;
/// Letters by which a message that was kept is known.
const SHORT_LETTERS: usize = 16;
const TEXT_CHARS: usize = 10_000;
/// Messages that a cursor names.
const SEEN_MAX: usize = 96;
/// Wraps, and messages, that are known in memory.
const KNOWN_MAX: usize = 4096;
/// What a sender's program kept back before it was sent, at most.
const LATE_SECS: u64 = 86_400;
/// How far the clock of a sender may be behind, when nothing was read before.
const BEHIND_SECS: u64 = 900;
/// How often the time of a cursor moves on where nothing comes.
const STEP_SECS: u64 = 6 * 3_600;
/// What one relay may say within a poll.
const SAID_MAX: usize = 2 * PAGE * PAGES_MAX;
/// How long one of several relays is listened to before the next, while none says anything, and while one does.
const QUIET: Duration = Duration::from_millis(500);
const BUSY: Duration = Duration::from_millis(10);
/// How long a poll that has something waits for more.
const MORE: Duration = Duration::from_millis(100);

pub(crate) struct Nostr {
    keys: Keys,
    relays: Vec<Listened>,
    authorities: Vec<Certificate<'static>>,
    /// Whether others are told at which relays this account reads.
    announces: bool,
    /// What came and was not given yet.
    ready: VecDeque<Incoming>,
    wraps: Recent,
    messages: Recent,
    at: Cursor,
    /// The cursor that the last poll gave.
    given: String,
    /// Wraps for this account that nobody vouches for.
    forged: u64,
    is_told_of_files: bool,
    notes: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    /// Nothing before this time was asked for.
    from: u64,
    /// Until when everything was read.
    at: u64,
    /// The last messages that were kept.
    seen: VecDeque<String>,
}

/// The last of many names, each once.
#[derive(Default)]
struct Recent {
    order: VecDeque<String>,
    all: BTreeSet<String>,
}

impl Recent {
    /// Whether a name is new.
    fn takes(&mut self, name: &str) -> bool {
        if !self.all.insert(name.to_owned()) {
            return false;
        }
        self.order.push_back(name.to_owned());
        if self.order.len() > KNOWN_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
        true
    }
}

/// The relays that an address names.
fn relays(address: &str) -> Result<Vec<Url>, String> {
    let mut all: Vec<Url> = Vec::new();
    for one in address.split_whitespace() {
        let place = http::place(one).ok().filter(|url| matches!(url.scheme(), "wss" | "ws"));
        // What was written may hold a password.
        let url = place.ok_or(
            "the address of a relay begins with `wss://` (`ws://` on this machine) and holds no password and no query",
        )?;
        if !all.contains(&url) {
            all.push(url);
        }
    }
    match all.len() {
        1..=RELAYS_MAX => Ok(all),
        _ => Err(format!("Nostr needs the addresses of 1 to {RELAYS_MAX} relays, with blanks between")),
    }
}

fn now() -> u64 {
    u64::try_from(now_ms() / 1000).unwrap_or_default()
}

/// A key as people write it.
fn npub(key: PublicKey) -> String {
    key.to_bech32().unwrap_or_default()
}

fn short(id: &str) -> String {
    id.chars().take(SHORT_LETTERS).collect()
}

/// At which relays an account reads, for whoever writes to it.
fn announcement(keys: &Keys, relays: &[Url]) -> Option<Event> {
    let tags = relays.iter().map(|url| Tag::custom("relay", [url.as_str()]));
    EventBuilder::new(Kind::InboxRelays, "").tags(tags).finalize(keys).ok()
}

fn parts(cursor: &str) -> Result<Cursor, Fault> {
    if cursor.is_empty() {
        let from = now().saturating_sub(BEHIND_SECS);
        return Ok(Cursor { from, at: now(), seen: VecDeque::new() });
    }
    let mut read: Cursor =
        serde_json::from_str(cursor).map_err(|_| Fault::refused("this is no cursor of Nostr"))?;
    read.seen.truncate(SEEN_MAX);
    Ok(read)
}

impl Nostr {
    pub(crate) fn open(account: &Account, token: Zeroizing<String>) -> Result<Self, String> {
        let keys = Keys::parse(token.trim()).map_err(|_| {
            "the token of Nostr is a secret key: `nsec1…`, or 64 hexadecimal digits".to_owned()
        })?;
        Ok(Self {
            keys,
            relays: relays(&account.address)?.into_iter().map(Listened::new).collect(),
            authorities: http::authorities(http::authorities_pem(account)?.as_deref())?,
            announces: setting(account, ANNOUNCE).is_some_and(|said| said == "yes"),
            ready: VecDeque::new(),
            wraps: Recent::default(),
            messages: Recent::default(),
            at: Cursor::default(),
            given: String::new(),
            forged: 0,
            is_told_of_files: false,
            notes: Vec::new(),
        })
    }

    /// Connects to each relay that is due.
    fn connect(&mut self, listens: bool) {
        let since = self.since();
        let urls: Vec<Url> = self.relays.iter().map(|one| one.relay.url().clone()).collect();
        for one in &mut self.relays {
            if one.relay.connect(&self.authorities) && listens {
                if let Some(event) = announcement(&self.keys, &urls).filter(|_| self.announces) {
                    // Nobody waits for what the relay says of it.
                    one.relay.say(&json!(["EVENT", event]));
                }
                one.listen(&self.keys, since);
            }
        }
    }

    /// From when on wraps are asked for.
    fn since(&self) -> u64 {
        self.at.at.min(now()).saturating_sub(wrap::MOVED_SECS + LATE_SECS)
    }

    fn away(&self) -> Fault {
        all_away(self.relays.iter().map(|one| &one.relay))
    }

    fn is_open(&self) -> bool {
        self.relays.iter().any(|one| one.relay.is_open())
    }

    fn let_go(&mut self) {
        self.relays.iter_mut().for_each(|one| one.relay.let_go());
    }

    /// Hears one relay once; whether it said something.
    fn hear(&mut self, at: usize, until: Instant) -> bool {
        let (since, mut is_known) = (self.since(), false);
        let Some(one) = self.relays.get_mut(at) else { return false };
        match one.relay.hear(until) {
            Said::Nothing | Said::Gone => return false,
            Said::Other | Said::Taken(..) => {}
            Said::Known(true) => {
                is_known = true;
                one.listen(&self.keys, since);
            }
            Said::Known(false) => one.relay.leave("the relay does not let this key read"),
            Said::Closed(of, why) if of == INBOX || of == PAST => {
                if !(asks_who(&why) && one.relay.tell_who(&self.keys)) {
                    one.relay.leave(&format!("it lets nothing be read: {why}"));
                }
            }
            Said::Closed(..) => {}
            Said::End(of) if of == INBOX || of == PAST => {
                let more = one.next_page(&of, &self.keys, since);
                if more == Some(false) {
                    self.notes.push("A relay keeps more messages than are read.".to_owned());
                }
            }
            Said::End(_) => {}
            Said::Event(of, event) => {
                // What was not asked for is not looked at.
                if of == INBOX || of == PAST {
                    let made = event.get("created_at").and_then(Value::as_u64).unwrap_or(u64::MAX);
                    one.counts(&of, made);
                    self.take(&event);
                }
            }
        }
        // What it was told before it knew who is there it has not taken.
        if is_known {
            self.announce_at(at);
        }
        true
    }

    /// Tells a relay at which ones this account reads, where others are to know that.
    fn announce_at(&mut self, at: usize) {
        if !self.announces {
            return;
        }
        let urls: Vec<Url> = self.relays.iter().map(|one| one.relay.url().clone()).collect();
        if let (Some(event), Some(one)) = (announcement(&self.keys, &urls), self.relays.get_mut(at)) {
            one.relay.say(&json!(["EVENT", event]));
        }
    }

    /// What a wrap holds, where it is one for this account and came for the first time.
    fn take(&mut self, event: &Value) {
        let me = self.keys.public_key();
        let Some(wrap) = wrap::signed(event, Kind::GiftWrap) else { return };
        let is_mine = wrap.tags.public_keys().any(|key| key == me);
        // Only what is signed is known by its id: no relay keeps out what another gives.
        if !is_mine || wrap.is_expired() || !self.wraps.takes(&wrap.id.to_hex()) {
            return;
        }
        let Some(opened) = wrap::open(&self.keys, &wrap) else {
            self.forged = self.forged.saturating_add(1);
            if self.forged.is_power_of_two() {
                let times = self.forged;
                self.notes.push(format!("{times} messages could not be opened, or nobody vouches for them."));
            }
            return;
        };
        // What this account sends comes back to it, too.
        if opened.sender != me {
            let message = self.message(opened.sender, &opened.rumour);
            self.ready.extend(message);
        }
    }

    /// The message that a rumour is.
    fn message(&mut self, sender: PublicKey, rumour: &UnsignedEvent) -> Option<Incoming> {
        let me = self.keys.public_key();
        if rumour.kind == Kind::Custom(15) && !std::mem::replace(&mut self.is_told_of_files, true) {
            self.notes.push("Files that come over Nostr are not read.".to_owned());
        }
        let made = rumour.created_at.as_secs();
        let floor = self.at.from.max(self.at.at.saturating_sub(LATE_SECS));
        if rumour.kind != Kind::PrivateDirectMessage || made < floor {
            return None;
        }
        let id = rumour.compute_id().to_hex();
        let is_known = self.at.seen.contains(&short(&id)) || !self.messages.takes(&id);
        let text = clean::text(&rumour.content);
        if is_known || text.is_empty() {
            return None;
        }
        let to: Vec<PublicKey> = rumour.tags.public_keys().collect();
        let is_group = !to.contains(&me) || to.iter().any(|key| *key != me && *key != sender);
        let answers = rumour.tags.iter().find(|tag| tag.kind() == "e").and_then(Tag::content);
        let sender = npub(sender);
        Some(Incoming {
            message_id: id,
            chat: sender.clone(),
            is_group,
            // Nobody has a name there that says more than the key.
            sender_name: format!("{}…", sender.chars().take(12).collect::<String>()),
            sender,
            sent_at: i64::try_from(made).unwrap_or(i64::MAX).saturating_mul(1000),
            text,
            reply_to: answers.filter(|id| wrap::is_id(id)).map(str::to_owned),
            button: None,
            attachments: Vec::new(),
        })
    }

    /// As much as one poll gives, and the cursor behind it.
    fn give(&mut self) -> Polled {
        let count = self.ready.len().min(POLL_MESSAGES_MAX);
        let incoming: Vec<Incoming> = self.ready.drain(..count).collect();
        self.at.seen.extend(incoming.iter().map(|message| short(&message.message_id)));
        while self.at.seen.len() > SEEN_MAX {
            self.at.seen.pop_front();
        }
        let is_whole = self.relays.iter().all(|one| one.is_whole || !one.relay.is_open());
        let is_due = now().abs_diff(self.at.at) > STEP_SECS;
        if self.ready.is_empty() && is_whole && is_due {
            self.at.at = now();
        }
        self.given = serde_json::to_string(&self.at).unwrap_or_default();
        Polled { incoming, cursor: self.given.clone() }
    }

    fn polled(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        let until = Instant::now() + wait;
        if cursor != self.given || cursor.is_empty() {
            // What was given is not kept: it comes again.
            let from = std::mem::replace(&mut self.at, parts(cursor)?).from;
            if cursor.is_empty() && from > 0 {
                self.at.from = from;
            }
            (self.wraps, self.messages) = (Recent::default(), Recent::default());
            self.ready.clear();
            self.let_go();
            self.given = cursor.to_owned();
        }
        let (mut is_busy, mut said) = (true, vec![0_usize; self.relays.len()]);
        while self.ready.len() < POLL_MESSAGES_MAX && Instant::now() < until {
            self.connect(true);
            if !self.is_open() {
                break;
            }
            let is_alone = self.relays.iter().filter(|one| one.relay.is_open()).count() == 1;
            let patience = match (is_busy && !is_alone, self.ready.is_empty(), is_alone) {
                (true, ..) => BUSY,
                (_, false, _) => MORE,
                (_, _, true) => wait,
                _ => QUIET,
            };
            is_busy = false;
            for (at, said) in said.iter_mut().enumerate() {
                if self.hear(at, until.min(Instant::now() + patience)) {
                    is_busy = true;
                    *said = said.saturating_add(1);
                }
                if *said > SAID_MAX
                    && let Some(one) = self.relays.get_mut(at)
                {
                    *said = 0;
                    one.relay.leave("it says more than is read");
                }
            }
            if !is_busy && !self.ready.is_empty() {
                break;
            }
        }
        // While one relay answers, nobody has to know of the others.
        if self.ready.is_empty() && !self.is_open() { Err(self.away()) } else { Ok(self.give()) }
    }
}

impl Adapter for Nostr {
    fn limits(&self) -> Limits {
        // The same message has the same id at its reader, whenever it is sent.
        Limits { text_chars: TEXT_CHARS, edits: false, buttons: false, files: false, is_repeat_safe: true }
    }

    fn hosts(&self) -> Vec<(String, u16)> {
        let mut hosts: Vec<(String, u16)> = Vec::new();
        for one in &self.relays {
            let host = http::host_of(one.relay.url());
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts
    }

    fn who(&mut self) -> Result<String, Fault> {
        self.connect(false);
        let is_open = self.is_open();
        // A poll begins with a connection of its own.
        self.let_go();
        if is_open { Ok(npub(self.keys.public_key())) } else { Err(self.away()) }
    }

    fn poll(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        self.polled(cursor, wait)
    }

    fn send(&mut self, out: &Outgoing) -> Result<String, Fault> {
        if out.edit_of.is_some() || out.file.is_some() || !out.buttons.is_empty() {
            return Err(Fault::refused("over Nostr only words are sent, and none are changed"));
        }
        let to = PublicKey::parse(&out.chat)
            .map_err(|_| Fault::refused(format!("`{}` is no key of Nostr", clean::name(&out.chat))))?;
        // What stood open since the last message may be gone by now.
        self.let_go();
        self.connect(false);
        let sent = if self.is_open() { self.sent(to, out) } else { Err(self.away()) };
        self.let_go();
        sent
    }

    fn fetch(&mut self, _: &Attachment, _: u64) -> Result<Vec<u8>, Fault> {
        Err(Fault::refused("files that come over Nostr are not read"))
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}
