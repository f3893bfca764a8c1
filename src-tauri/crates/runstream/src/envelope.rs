//! The envelope of the contract (RA 1.1), and an event before the journal has given it its place.

use crate::{Error, Family};
use model::{ConversationId, TaskId, UnixMs};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Bytes of one payload: what is larger is an artifact, and the payload points at it.
pub(crate) const PAYLOAD_BYTES_MAX: usize = model::limits::EVENT_BYTES_MAX;

/// An event that has no `seq` yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Its family.
    pub family: Family,
    /// Whether it ends the run.
    pub terminal: bool,
    /// When it happened.
    pub created_at: UnixMs,
    /// What it carries; at least what [`Family::promises`].
    pub payload: Map<String, Value>,
}

impl Draft {
    /// An event that does not end its run. `payload` is an object; anything else counts as empty.
    pub fn new(family: Family, created_at: UnixMs, payload: Value) -> Self {
        let payload = if let Value::Object(map) = payload { map } else { Map::new() };
        Self { family, terminal: false, created_at, payload }
    }

    /// The event that ends its run.
    #[must_use]
    pub fn ending(mut self) -> Self {
        self.terminal = true;
        self
    }

    /// Refuses a payload that lacks what its family promises or is too large.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for field in self.family.promises() {
            if !self.payload.contains_key(*field) {
                return Err(Error::Payload { family: self.family, field });
            }
        }
        Ok(())
    }

    /// Its payload as stored: a terminal event names its own `seq`, the last of the run.
    pub(crate) fn stored(&self, seq: u64) -> Result<String, Error> {
        let mut payload = self.payload.clone();
        if self.terminal {
            payload.insert("last_seq".to_owned(), Value::from(seq));
        }
        let text = Value::Object(payload).to_string();
        if text.len() > PAYLOAD_BYTES_MAX {
            return Err(Error::TooLarge { family: self.family, bytes: text.len() });
        }
        Ok(text)
    }
}

/// One event as a client sees it. On the wire `event_id` is `run_id:seq` and `created_at` is seconds since 1970
/// with a fraction, as the contract has it; here time is whole milliseconds (reconciliation C5).
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// Its place in the run.
    pub seq: u64,
    /// The run, which is the task.
    pub run_id: TaskId,
    /// The session, which is the conversation.
    pub session_id: ConversationId,
    /// Its family.
    pub family: Family,
    /// When it happened.
    pub created_at: UnixMs,
    /// Whether it ended the run.
    pub terminal: bool,
    /// What it carries.
    pub payload: Map<String, Value>,
}

/// Keys of the envelope, in the contract's order.
pub(crate) const FIELDS: [&str; 8] =
    ["event_id", "seq", "run_id", "session_id", "type", "created_at", "terminal", "payload"];

impl Envelope {
    /// `run_id:seq`, usable as an SSE `id:`.
    pub fn event_id(&self) -> String {
        event_id(self.run_id, self.seq)
    }
}

pub(crate) fn event_id(run_id: TaskId, seq: u64) -> String {
    format!("{run_id}:{seq}")
}

#[allow(clippy::cast_precision_loss, reason = "milliseconds of this millennium are far below 2^53")]
fn seconds(at: UnixMs) -> f64 {
    at.0 as f64 / 1000.0
}

#[allow(clippy::cast_possible_truncation, reason = "rounded, and a float that is too large saturates")]
fn millis(seconds: f64) -> UnixMs {
    UnixMs((seconds * 1000.0).round() as i64)
}

impl Serialize for Envelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Envelope", FIELDS.len())?;
        out.serialize_field("event_id", &self.event_id())?;
        out.serialize_field("seq", &self.seq)?;
        out.serialize_field("run_id", &self.run_id)?;
        out.serialize_field("session_id", &self.session_id)?;
        out.serialize_field("type", &self.family)?;
        out.serialize_field("created_at", &seconds(self.created_at))?;
        out.serialize_field("terminal", &self.terminal)?;
        out.serialize_field("payload", &self.payload)?;
        out.end()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    event_id: String,
    seq: u64,
    run_id: TaskId,
    session_id: ConversationId,
    r#type: Family,
    created_at: f64,
    terminal: bool,
    payload: Map<String, Value>,
}

impl<'de> Deserialize<'de> for Envelope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        if wire.event_id != event_id(wire.run_id, wire.seq) {
            return Err(serde::de::Error::custom("`event_id` is not `run_id:seq`"));
        }
        Ok(Self {
            seq: wire.seq,
            run_id: wire.run_id,
            session_id: wire.session_id,
            family: wire.r#type,
            created_at: millis(wire.created_at),
            terminal: wire.terminal,
            payload: wire.payload,
        })
    }
}
