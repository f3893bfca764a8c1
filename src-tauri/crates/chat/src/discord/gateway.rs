//! The gateway of Discord: greeted, kept alive, and taken up again where it broke off.

use crate::Fault;
use serde_json::{Value, json};
use socket::{Heard, Socket};
use std::time::{Duration, Instant};
use ureq::tls::Certificate;
use url::Url;

/// Direct messages, and nothing else.
const INTENTS: u32 = 1 << 12;
/// How long the gateway may take to greet.
const GREETING: Duration = Duration::from_secs(10);
/// How often a gateway may want to hear that this side lives.
const BEAT_MIN: Duration = Duration::from_secs(1);
const BEAT_MAX: Duration = Duration::from_secs(300);

pub(super) struct Gateway {
    socket: Socket,
    /// The number of the last event.
    seq: Option<u64>,
    beat: Duration,
    next_beat: Instant,
    /// Whether the last sign of life was answered.
    is_answered: bool,
}

/// What the gateway told.
pub(super) enum Told {
    /// Nothing, for as long as was waited.
    Nothing,
    /// Something that is the gateway's own business.
    Other,
    /// A session has begun.
    Ready { session: String, url: String, seq: u64 },
    /// An event.
    Dispatch { kind: String, seq: u64, data: Value },
    /// The connection is over, and the session goes on.
    Gone,
    /// The session is over.
    Over,
}

impl Gateway {
    /// Connects; with a session, asks for what came after an event of it.
    pub(super) fn open(
        url: &Url,
        authorities: &[Certificate<'static>],
        token: &str,
        session: Option<(String, u64)>,
    ) -> Result<Self, Fault> {
        let mut socket = Socket::open(url, authorities)?;
        let until = Instant::now() + GREETING;
        let interval = match socket.read(until) {
            Heard::Json(hello) if hello.get("op").and_then(Value::as_u64) == Some(10) => {
                hello.pointer("/d/heartbeat_interval").and_then(Value::as_u64)
            }
            Heard::End(Some(code)) => {
                return Err(closed(code).unwrap_or_else(|| Fault::away("Discord hung up")));
            }
            _ => None,
        };
        let interval = interval.ok_or_else(|| Fault::away("Discord's gateway does not greet"))?;
        let seq = session.as_ref().map(|(_, seq)| *seq);
        let message = match session {
            Some((session, seq)) => {
                json!({ "op": 6, "d": { "token": token, "session_id": session, "seq": seq } })
            }
            None => {
                let here = json!({ "os": std::env::consts::OS, "browser": "hermit", "device": "hermit" });
                json!({ "op": 2, "d": { "token": token, "intents": INTENTS, "properties": here } })
            }
        };
        if !socket.write(&message) {
            return Err(Fault::away("Discord hung up"));
        }
        let beat = Duration::from_millis(interval).clamp(BEAT_MIN, BEAT_MAX);
        Ok(Self { socket, seq, beat, next_beat: Instant::now() + beat / 2, is_answered: true })
    }

    pub(super) fn host(&self) -> (String, u16) {
        self.socket.host()
    }

    fn say_alive(&mut self) -> bool {
        self.next_beat = Instant::now() + self.beat;
        self.socket.write(&json!({ "op": 1, "d": self.seq }))
    }

    /// Hears once, within a time, and tells the gateway meanwhile that this side lives.
    pub(super) fn hear(&mut self, until: Instant) -> Result<Told, Fault> {
        if Instant::now() >= self.next_beat {
            // A gateway that does not answer is not there any more.
            if !std::mem::take(&mut self.is_answered) || !self.say_alive() {
                return Ok(Told::Gone);
            }
        }
        let message = match self.socket.read(until.min(self.next_beat)) {
            Heard::Json(message) => message,
            Heard::Nothing if Instant::now() < until => return Ok(Told::Other),
            Heard::Nothing => return Ok(Told::Nothing),
            Heard::End(Some(4007 | 4009)) => return Ok(Told::Over),
            Heard::End(Some(code)) => return closed(code).map_or(Ok(Told::Gone), Err),
            Heard::End(None) => return Ok(Told::Gone),
        };
        Ok(match message.get("op").and_then(Value::as_u64) {
            Some(0) => self.dispatched(message),
            Some(1) if !self.say_alive() => Told::Gone,
            Some(7) => Told::Gone,
            Some(9) if message.get("d") == Some(&Value::Bool(true)) => Told::Gone,
            Some(9) => Told::Over,
            Some(11) => {
                self.is_answered = true;
                Told::Other
            }
            _ => Told::Other,
        })
    }

    fn dispatched(&mut self, mut message: Value) -> Told {
        let Some(seq) = message.get("s").and_then(Value::as_u64) else { return Told::Other };
        self.seq = Some(seq);
        let kind = message.get("t").and_then(Value::as_str).unwrap_or_default().to_owned();
        let data = message.get_mut("d").map(Value::take).unwrap_or_default();
        if kind != "READY" {
            return Told::Dispatch { kind, seq, data };
        }
        let part = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Told::Ready { session: part("session_id"), url: part("resume_gateway_url"), seq }
    }
}

/// What a code of the end says that trying again does not help.
fn closed(code: u16) -> Option<Fault> {
    match code {
        4004 => Some(Fault::token("Discord does not accept the token")),
        4013 | 4014 => Some(Fault::refused("Discord does not let this bot read direct messages")),
        4010..=4012 => Some(Fault::refused(format!("Discord's gateway declines this connection ({code})"))),
        _ => None,
    }
}
