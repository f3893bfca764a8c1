//! Relays of Nostr as an act of publishing uses them, and as a person reads what is published there: a connection for each, which ends
//! with what it is for. A relay that asks who is there is told once, by the key of this instance, and only where something is published.

use crate::model_http::certificates;
use crate::{Config, Home, SystemClock};
use effects::{Relays, Undelivered};
use kernel::Kernel;
use mesh::direct::PROOF_KIND;
use mesh::sealed::{NostrSealing, Sealing as _, WireEvent};
use mesh::{NodeId, published};
use model::Clock as _;
use serde_json::{Value, json};
use socket::{Heard, Socket};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long a relay may take to say whether it keeps an event, and to give what it is asked for.
const ANSWER: Duration = Duration::from_secs(10);
/// What a relay may say on one connection.
const SAID_MAX: usize = 256;
/// The longest text that is signed to tell who is there, in bytes.
const CHALLENGE_BYTES_MAX: usize = 256;
/// Events that are read of one relay.
const EVENTS_MAX: usize = 2 * published::CHAIN_PARTS_MAX;
/// The subscription that asks for a chain.
const SUBSCRIPTION: &str = "hermit-identity";
/// Letters of what a relay says that are told.
const WHY_LETTERS: usize = 200;

/// The way to relays, with the key of this store's instance.
pub struct OwnRelays {
    home: Home,
    kernel: Mutex<Weak<Kernel>>,
}

impl OwnRelays {
    /// Of a process that has no store yet.
    pub(crate) fn new(home: &Home) -> Self {
        Self { home: home.clone(), kernel: Mutex::new(Weak::new()) }
    }

    /// Relays that ask are told of this store's instance from now on.
    pub(crate) fn of(&self, kernel: &Arc<Kernel>) {
        *self.kernel.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(kernel);
    }

    fn sealing(&self) -> Option<NostrSealing> {
        let kernel = self.kernel.lock().unwrap_or_else(PoisonError::into_inner).upgrade()?;
        let soul = kernel.identity().first_soul()?;
        kernel.ports().keys.instance(&soul)?.with_secret(NostrSealing::new).ok()
    }
}

impl Relays for OwnRelays {
    fn publish(&self, relay: &str, events: &[String]) -> Result<(), Undelivered> {
        let mut spoken = Spoken::open(&self.home, relay).map_err(Undelivered::NotSent)?;
        let sealing = self.sealing();
        for (kept, event) in events.iter().enumerate() {
            let event = serde_json::from_str::<Value>(event).map_err(|e| Undelivered::NotSent(e.to_string()));
            let came = event.and_then(|event| spoken.keep(&event, sealing.as_ref()));
            came.map_err(|why| behind(kept, why))?;
        }
        Ok(())
    }
}

/// Why a relay has not all of it, where it took so many parts before.
fn behind(kept: usize, why: Undelivered) -> Undelivered {
    match why {
        Undelivered::NotSent(why) if kept > 0 => Undelivered::Unknown(why),
        why => why,
    }
}

/// The lines of the newest chain that a key has published at these relays, and what is to be said of those that gave nothing.
///
/// # Errors
/// In words, where none of them has a whole one.
pub fn chain_at(home: &Home, relays: &[String], key: &str) -> Result<(Vec<Vec<u8>>, Vec<String>), String> {
    let key: NodeId = key.parse().map_err(|_| format!("`{key}` is no key of an instance"))?;
    let (mut events, mut says) = (Vec::new(), Vec::new());
    for relay in relays {
        match Spoken::open(home, relay).and_then(|mut spoken| spoken.chain(key)) {
            Ok(found) if found.is_empty() => says.push(format!("{relay}: it keeps nothing of this key")),
            Ok(found) => events.extend(found),
            Err(why) => says.push(format!("{relay}: {why}")),
        }
    }
    let none = || match says.is_empty() {
        true => "no part of what the relays gave is whole and signed by this key".to_owned(),
        false => says.join("; "),
    };
    let lines = published::read(&events, key).ok_or_else(none)?;
    Ok((lines, says))
}

/// A connection to one relay.
struct Spoken {
    socket: Socket,
    relay: String,
    /// What is signed to tell who is there.
    challenge: Option<String>,
    is_told: bool,
    said: usize,
}

fn text(message: &Value, at: usize) -> &str {
    message.get(at).and_then(Value::as_str).unwrap_or_default()
}

fn shown(said: &str) -> String {
    said.chars().filter(|c| !model::visible::is_hidden(*c)).take(WHY_LETTERS).collect()
}

impl Spoken {
    fn open(home: &Home, relay: &str) -> Result<Self, String> {
        let authorities = Config::in_force(home).authorities();
        let authorities =
            authorities.map(|path| certificates(&path)).transpose().map_err(|e| e.to_string())?;
        let socket = Socket::at(relay, &authorities.unwrap_or_default()).map_err(|e| e.to_string())?;
        Ok(Self { socket, relay: relay.to_owned(), challenge: None, is_told: false, said: 0 })
    }

    /// The next that it says; none where it says nothing in time, or more than is heard.
    fn hear(&mut self, until: Instant) -> Option<Value> {
        while self.said < SAID_MAX {
            self.said += 1;
            match self.socket.read(until) {
                Heard::Json(message) if text(&message, 0) == "AUTH" => {
                    let challenge = text(&message, 1);
                    let fits = !challenge.is_empty() && challenge.len() <= CHALLENGE_BYTES_MAX;
                    self.challenge = fits.then(|| challenge.to_owned());
                }
                Heard::Json(message) => return Some(message),
                Heard::Nothing | Heard::End(_) => return None,
            }
        }
        None
    }

    /// Whether it takes the event with this id, and what it says of it.
    fn verdict(&mut self, id: &str) -> Option<(bool, String)> {
        let until = Instant::now() + ANSWER;
        while let Some(message) = self.hear(until) {
            if text(&message, 0) == "OK" && text(&message, 1) == id {
                let is_taken = message.get(2) == Some(&Value::Bool(true));
                return Some((is_taken, text(&message, 3).to_owned()));
            }
        }
        None
    }

    /// Has it keep an event; who is there is told it once, where it wants to know.
    fn keep(&mut self, event: &Value, sealing: Option<&NostrSealing>) -> Result<(), Undelivered> {
        let id = event.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        loop {
            // From here on some of it may have left.
            if !self.socket.write(&json!(["EVENT", event])) {
                return Err(Undelivered::Unknown("it hung up".to_owned()));
            }
            let silent = || Undelivered::Unknown("it did not say whether it keeps it".to_owned());
            let (is_taken, why) = self.verdict(&id).ok_or_else(silent)?;
            if is_taken || why.starts_with("duplicate") {
                return Ok(());
            }
            if !(why.starts_with("auth-required") && self.tell_who(sealing)) {
                return Err(Undelivered::NotSent(shown(&why)));
            }
        }
    }

    /// Tells it who is there (NIP-42); whether it believes that. It is told once.
    fn tell_who(&mut self, sealing: Option<&NostrSealing>) -> bool {
        if std::mem::replace(&mut self.is_told, true) {
            return false;
        }
        let (Some(challenge), Some(sealing)) = (self.challenge.take(), sealing) else { return false };
        let tag = |name: &str, value: String| vec![name.to_owned(), value];
        let tags = vec![tag("relay", self.relay.clone()), tag("challenge", challenge)];
        let Ok(event) = sealing.sign_open(PROOF_KIND, tags, "", SystemClock.now()) else { return false };
        let id = event.id.to_string();
        self.socket.write(&json!(["AUTH", event])) && self.verdict(&id).is_some_and(|(is_known, _)| is_known)
    }

    /// What it keeps of the chain of a key.
    fn chain(&mut self, key: NodeId) -> Result<Vec<WireEvent>, String> {
        if !self.socket.write(&json!(["REQ", SUBSCRIPTION, published::filter(key)])) {
            return Err("it hung up".to_owned());
        }
        let (mut found, until) = (Vec::new(), Instant::now() + ANSWER);
        while let Some(mut message) = self.hear(until) {
            let (word, is_ours) = (text(&message, 0).to_owned(), text(&message, 1) == SUBSCRIPTION);
            match word.as_str() {
                "EVENT" if is_ours && found.len() < EVENTS_MAX => {
                    let event = message.get_mut(2).map(Value::take).unwrap_or_default();
                    found.extend(serde_json::from_value::<WireEvent>(event).ok());
                }
                "EOSE" if is_ours => return Ok(found),
                "CLOSED" if is_ours => return Err(shown(text(&message, 2))),
                _ => {}
            }
        }
        Err("it did not answer".to_owned())
    }
}
