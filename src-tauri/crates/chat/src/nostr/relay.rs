//! One relay of Nostr: connected to again after a while where it is gone, and believed in nothing but that it keeps events.

use crate::{Fault, clean};
use ::nostr::event::{Event, EventBuilder, FinalizeEvent as _, Kind, Tag};
use ::nostr::key::Keys;
use serde_json::{Value, json};
use socket::{Heard, Socket};
use std::time::{Duration, Instant};
use ureq::tls::Certificate;
use url::Url;

/// How long a relay that is gone is left alone, the first time and at most.
const PAUSE_FIRST: Duration = Duration::from_secs(5);
const PAUSE_MOST: Duration = Duration::from_secs(300);
/// How long a relay may be silent before it is asked whether it is there.
const BEAT: Duration = Duration::from_secs(60);
/// How long a relay may take to answer a question, and to say whether it keeps an event.
const ANSWER: Duration = Duration::from_secs(5);
const KEEPING: Duration = Duration::from_secs(10);
/// Letters of what a relay has signed to learn who is there.
const CHALLENGE_MAX: usize = 256;
/// Events of one answer.
const ANSWER_MAX: usize = 8;
/// The subscription that asks whether the relay is there.
const ALIVE: &str = "alive";
/// The subscription of a question.
const QUESTION: &str = "question";

pub(super) struct Relay {
    url: Url,
    socket: Option<Socket>,
    next_try: Instant,
    pause: Duration,
    why: String,
    /// What is signed to tell who is there.
    challenge: Option<String>,
    /// The event that told it, where it was told.
    told: Option<String>,
    heard_at: Instant,
    is_asked: bool,
}

/// What a relay said.
pub(super) enum Said {
    /// Nothing, for as long as was waited.
    Nothing,
    /// The relay is gone.
    Gone,
    /// Something of its own.
    Other,
    /// An event of a subscription.
    Event(String, Value),
    /// All that it keeps for a subscription was sent.
    End(String),
    /// It ended a subscription, and why.
    Closed(String, String),
    /// Whether it takes the event with this id, and what it says of it.
    Taken(String, bool, String),
    /// It believes, or does not, who is there.
    Known(bool),
}

/// What became of an event that was sent.
pub(super) enum Sent {
    /// The relay keeps it.
    Taken,
    /// It was not sent.
    Not,
    /// The relay declined it, with what it says.
    Declined(String),
    /// Nobody knows.
    Lost,
}

/// Whether a relay wants to know who is there before it does what it was asked.
pub(super) fn asks_who(said: &str) -> bool {
    said.starts_with("auth-required")
}

impl Relay {
    pub(super) fn new(url: Url) -> Self {
        let now = Instant::now();
        Self {
            url,
            socket: None,
            next_try: now,
            pause: PAUSE_FIRST,
            why: "it was not asked yet".to_owned(),
            challenge: None,
            told: None,
            heard_at: now,
            is_asked: false,
        }
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn is_open(&self) -> bool {
        self.socket.is_some()
    }

    /// Why it is not.
    pub(super) fn why(&self) -> String {
        format!("{}: {}", self.url.host_str().unwrap_or_default(), self.why)
    }

    /// Connects where that is due; whether the connection is a new one.
    pub(super) fn connect(&mut self, authorities: &[Certificate<'static>]) -> bool {
        if self.socket.is_some() || Instant::now() < self.next_try {
            return false;
        }
        match Socket::open(&self.url, authorities) {
            Ok(socket) => {
                self.socket = Some(socket);
                (self.challenge, self.told) = (None, None);
                (self.heard_at, self.is_asked) = (Instant::now(), false);
                true
            }
            Err(fault) => {
                self.leave(fault.why());
                false
            }
        }
    }

    /// Hangs up, and leaves the relay alone for a while.
    pub(super) fn leave(&mut self, why: &str) {
        self.socket = None;
        self.why = clean::said(why, &[]);
        self.next_try = Instant::now() + self.pause;
        self.pause = self.pause.saturating_mul(2).min(PAUSE_MOST);
    }

    /// Hangs up; it is connected to at once when it is needed.
    pub(super) fn let_go(&mut self) {
        self.socket = None;
    }

    /// Says something; whether that went out.
    pub(super) fn say(&mut self, message: &Value) -> bool {
        let went = self.socket.as_mut().is_some_and(|socket| socket.write(message));
        if !went && self.socket.is_some() {
            self.leave("it hung up");
        }
        went
    }

    /// Hears once, within a time. A relay that says nothing for long is asked whether it is there, once.
    pub(super) fn hear(&mut self, until: Instant) -> Said {
        let Some(socket) = &mut self.socket else { return Said::Gone };
        match socket.read(until) {
            Heard::Json(message) => {
                (self.heard_at, self.is_asked) = (Instant::now(), false);
                self.pause = PAUSE_FIRST;
                self.said(message)
            }
            Heard::Nothing if self.heard_at.elapsed() < BEAT => Said::Nothing,
            Heard::Nothing if self.is_asked => {
                self.leave("it does not answer");
                Said::Gone
            }
            Heard::Nothing => {
                (self.heard_at, self.is_asked) = (Instant::now(), true);
                let nobody = "0".repeat(super::ID_LETTERS);
                match self.say(&json!(["REQ", ALIVE, { "ids": [nobody], "limit": 1 }])) {
                    true => Said::Nothing,
                    false => Said::Gone,
                }
            }
            Heard::End(_) => {
                self.leave("it hung up");
                Said::Gone
            }
        }
    }

    fn said(&mut self, mut message: Value) -> Said {
        let text = |at: usize| message.get(at).and_then(Value::as_str).unwrap_or_default().to_owned();
        match text(0).as_str() {
            "EVENT" => {
                let subscription = text(1);
                let event = message.get_mut(2).map(Value::take).unwrap_or_default();
                Said::Event(subscription, event)
            }
            "EOSE" if text(1) == ALIVE => {
                self.say(&json!(["CLOSE", ALIVE]));
                Said::Other
            }
            "EOSE" => Said::End(text(1)),
            "CLOSED" if text(1) == ALIVE => Said::Other,
            "CLOSED" => Said::Closed(text(1), clean::said(&text(2), &[])),
            "OK" => {
                let (id, is_taken) = (text(1), message.get(2) == Some(&Value::Bool(true)));
                if self.told.as_ref().is_some_and(|told| *told == id) {
                    self.told = None;
                    return Said::Known(is_taken);
                }
                Said::Taken(id, is_taken, clean::said(&text(3), &[]))
            }
            "AUTH" => {
                let challenge = text(1);
                let fits = !challenge.is_empty() && challenge.len() <= CHALLENGE_MAX;
                self.challenge = fits.then_some(challenge);
                Said::Other
            }
            _ => Said::Other,
        }
    }

    /// Tells the relay who is there, where it gave something to sign (NIP-42); whether that went out.
    pub(super) fn tell_who(&mut self, keys: &Keys) -> bool {
        let Some(challenge) = self.challenge.take() else { return false };
        let tags = [Tag::custom("relay", [self.url.as_str()]), Tag::custom("challenge", [challenge])];
        let Ok(event) = EventBuilder::new(Kind::Authentication, "").tags(tags).finalize(keys) else {
            return false;
        };
        self.told = Some(event.id.to_hex());
        self.say(&json!(["AUTH", event]))
    }

    /// Tells who is there and waits until the relay has said whether it believes that.
    fn is_known(&mut self, keys: &Keys, until: Instant) -> bool {
        if !self.tell_who(keys) {
            return false;
        }
        while Instant::now() < until {
            match self.hear(until) {
                Said::Known(is_known) => return is_known,
                Said::Gone => return false,
                _ => {}
            }
        }
        false
    }

    /// Asks for events that the relay keeps; none where it does not answer.
    pub(super) fn ask(&mut self, keys: &Keys, filter: &Value) -> Option<Vec<Value>> {
        let (mut found, mut is_told, until) = (Vec::new(), false, Instant::now() + ANSWER);
        if !self.say(&json!(["REQ", QUESTION, filter])) {
            return None;
        }
        while Instant::now() < until {
            match self.hear(until) {
                Said::Event(of, event) if of == QUESTION && found.len() < ANSWER_MAX => found.push(event),
                Said::End(of) if of == QUESTION => {
                    self.say(&json!(["CLOSE", QUESTION]));
                    return Some(found);
                }
                Said::Closed(of, why) if of == QUESTION => {
                    let again = asks_who(&why) && !std::mem::replace(&mut is_told, true);
                    if !again || !self.is_known(keys, until) {
                        return None;
                    }
                    found.clear();
                    if !self.say(&json!(["REQ", QUESTION, filter])) {
                        return None;
                    }
                }
                Said::Gone => return None,
                _ => {}
            }
        }
        self.leave("it does not answer");
        None
    }

    /// Has the relay keep an event.
    pub(super) fn publish(&mut self, keys: &Keys, event: &Event) -> Sent {
        let (id, mut is_told, until) = (event.id.to_hex(), false, Instant::now() + KEEPING);
        let message = json!(["EVENT", event]);
        if self.socket.is_none() {
            return Sent::Not;
        }
        // From here on some of it may have left.
        if !self.say(&message) {
            return Sent::Lost;
        }
        while Instant::now() < until {
            match self.hear(until) {
                Said::Taken(of, true, _) if of == id => return Sent::Taken,
                // It has it already.
                Said::Taken(of, false, why) if of == id && why.starts_with("duplicate") => {
                    return Sent::Taken;
                }
                Said::Taken(of, false, why) if of == id => {
                    let again = asks_who(&why) && !std::mem::replace(&mut is_told, true);
                    if !again || !self.is_known(keys, until) {
                        return Sent::Declined(why);
                    }
                    if !self.say(&message) {
                        return Sent::Lost;
                    }
                }
                Said::Gone => return Sent::Lost,
                _ => {}
            }
        }
        self.leave("it does not answer");
        Sent::Lost
    }
}

/// Why none of these relays can be spoken with.
pub(super) fn all_away<'a>(relays: impl Iterator<Item = &'a Relay>) -> Fault {
    let whys: Vec<String> = relays.map(Relay::why).collect();
    Fault::away(whys.join("; "))
}
