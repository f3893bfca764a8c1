//! The envelope of an event (HK-8.4) and how a draft becomes one.
//!
//! The canonical bytes of [`Event`] are what is stored, hashed, exported and hashed again (proof.md 1).

use crate::body::Body;
use crate::principal::PrincipalType;
use crate::{AttemptId, Error, EventId, PrincipalId, StepId, TaskId, UnixMs, WorkspaceId};
use seal::Digest;
use seal::disclose::Disclosure;
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use words::store::EntityType;

/// Where the body stands in the event: a disclosure names its leaf from the event's root.
const PAYLOAD: &str = "/payload";

/// Who acts, as every event names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// Its kind.
    pub actor_type: PrincipalType,
    /// Its identifier.
    pub actor_id: PrincipalId,
}

/// An event before the ledger has given it its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Its identifier.
    pub event_id: EventId,
    /// The task it belongs to; the system task where none precedes it (reconciliation C37).
    pub task_id: TaskId,
    /// The step, when it concerns one.
    pub step_id: Option<StepId>,
    /// The attempt, when it concerns one.
    pub attempt_id: Option<AttemptId>,
    /// When it happened.
    pub occurred_at: UnixMs,
    /// Who caused it.
    pub actor: Actor,
    /// What happened.
    pub body: Body,
    /// The event that led to it.
    pub causation_id: Option<EventId>,
    /// What it belongs together with: an ingress, gate request or attempt identifier.
    pub correlation_id: String,
    /// Makes its repetition harmless.
    pub idempotency_key: Option<String>,
    /// The workspace, when it concerns one.
    pub workspace_id: Option<WorkspaceId>,
}

/// One immutable event, as stored. The payload holds `{"$sd": …}` where a leaf is sensitive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Which canonical form: [`seal::canon::CANON`].
    pub canon: String,
    /// Its identifier.
    pub event_id: EventId,
    /// Version of the body's shape.
    pub schema_version: u32,
    /// What happened, dotted.
    pub event_type: String,
    /// What it is about.
    pub entity_type: EntityType,
    /// Which one.
    pub entity_id: String,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The step, when it concerns one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<StepId>,
    /// The attempt, when it concerns one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_id: Option<AttemptId>,
    /// Its place within the task: from 1, without gaps.
    pub task_seq: u64,
    /// When it happened.
    pub occurred_at: UnixMs,
    /// Kind of the actor.
    pub actor_type: PrincipalType,
    /// The actor.
    pub actor_id: PrincipalId,
    /// The body, sensitive leaves concealed.
    pub payload: Value,
    /// The event that led to it; null for the first of its chain.
    pub causation_id: Option<EventId>,
    /// What it belongs together with.
    pub correlation_id: String,
    /// Makes its repetition harmless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The workspace, when it concerns one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// SHA-256 of the bytes of the task's previous event; 64 zeros for the first.
    pub prev_event_hash: Digest,
}

/// A draft made ready for its place: sensitive leaves concealed, bytes written but for what only the place says.
/// Nearly all the work of an event is done here, outside the one door through which events are recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// The event, first of its task until it has its place.
    pub event: Event,
    /// What opens its sensitive leaves.
    pub disclosures: Vec<Disclosure>,
    /// Its bytes at any place.
    pub form: Form,
}

/// The canonical bytes of an event with two blanks: its number within the task and the link to the event before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// Up to the digits of the link, from there to the number, and the rest.
    parts: [Vec<u8>; 3],
}

impl Draft {
    /// Gives a draft its place: conceals its sensitive leaves and returns the event with its disclosures.
    ///
    /// # Errors
    /// [`Error::Malformed`] when the body does not canonicalise.
    pub fn place(
        self,
        task_seq: u64,
        prev_event_hash: Digest,
        salts: &mut dyn FnMut() -> [u8; 16],
    ) -> Result<(Event, Vec<Disclosure>), Error> {
        let malformed = |why: String| Error::Malformed { what: "event", why };
        let plain = self.body.to_value().map_err(|e| malformed(e.to_string()))?;
        let (payload, disclosures) =
            seal::disclose::conceal(plain, PAYLOAD, salts).map_err(|e| malformed(e.to_string()))?;
        let (entity_type, entity_id) = self.body.entity();
        let event = Event {
            canon: seal::canon::CANON.to_owned(),
            event_id: self.event_id,
            schema_version: self.body.version(),
            event_type: self.body.event_type().to_owned(),
            entity_type,
            entity_id,
            task_id: self.task_id,
            step_id: self.step_id,
            attempt_id: self.attempt_id,
            task_seq,
            occurred_at: self.occurred_at,
            actor_type: self.actor.actor_type,
            actor_id: self.actor.actor_id,
            payload,
            causation_id: self.causation_id,
            correlation_id: self.correlation_id,
            idempotency_key: self.idempotency_key,
            workspace_id: self.workspace_id,
            prev_event_hash,
        };
        Ok((event, disclosures))
    }

    /// Does all that [`Draft::place`] and [`Event::to_bytes`] do, before the place is known.
    ///
    /// # Errors
    /// [`Error::Malformed`] when the event does not canonicalise.
    pub fn ready(self, salts: &mut dyn FnMut() -> [u8; 16]) -> Result<Ready, Error> {
        let (event, disclosures) = self.place(0, Digest::ZERO, salts)?;
        let form = Form::of(&event.to_bytes()?)?;
        Ok(Ready { event, disclosures, form })
    }
}

impl Form {
    /// Cuts the two blanks out of canonical bytes.
    fn of(bytes: &[u8]) -> Result<Self, Error> {
        let malformed = |why: &str| Error::Malformed { what: "event", why: why.to_owned() };
        let found = seal::canon::places(bytes, ["prev_event_hash", "task_seq"])
            .map_err(|e| malformed(&e.to_string()))?;
        let [Some(link), Some(number)] = found else {
            return Err(malformed("it has no number or no link"));
        };
        // The link's digits stand between its quotes.
        let cut = || {
            let part = |from: usize, to: usize| bytes.get(from..to).map(<[u8]>::to_vec);
            let (start, middle) = (part(0, link.start + 1)?, part(link.end - 1, number.start)?);
            Some([start, middle, part(number.end, bytes.len())?])
        };
        cut()
            .map(|parts| Self { parts })
            .ok_or_else(|| malformed("its number does not stand behind its link"))
    }

    /// The event's canonical bytes at a place. `task_seq` counts events, so it stays below 2^53.
    #[must_use]
    pub fn filled(&self, task_seq: u64, prev_event_hash: Digest) -> Vec<u8> {
        let [start, middle, end] = &self.parts;
        let (link, number) = (prev_event_hash.to_string(), task_seq.to_string());
        [start.as_slice(), link.as_bytes(), middle.as_slice(), number.as_bytes(), end.as_slice()].concat()
    }
}

impl Event {
    /// The canonical bytes: stored, hashed, exported.
    ///
    /// # Errors
    /// [`Error::Malformed`] when a value has no canonical form.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        seal::canon::to_canonical(self).map_err(|e| Error::Malformed { what: "event", why: e.to_string() })
    }

    /// Reads canonical bytes; any other form of the same value is refused.
    ///
    /// # Errors
    /// [`Error::Malformed`] when the bytes are no canonical event.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let malformed = |why: String| Error::Malformed { what: "event", why };
        let value = seal::canon::parse_canonical(bytes).map_err(|e| malformed(e.to_string()))?;
        serde_json::from_value(value).map_err(|e| malformed(e.to_string()))
    }

    /// The event without its body, and the body's own text, of canonical bytes: for whoever types bodies by the
    /// thousand and needs no value of them in between.
    ///
    /// # Errors
    /// [`Error::Malformed`] when the bytes are no canonical event.
    pub fn apart(bytes: &[u8]) -> Result<(Self, &str), Error> {
        let malformed = |why: String| Error::Malformed { what: "event", why };
        let [place] = seal::canon::places(bytes, ["payload"]).map_err(|e| malformed(e.to_string()))?;
        let place = place.ok_or_else(|| malformed("it has no payload".to_owned()))?;
        let (rest, after) = bytes.split_at_checked(place.end).unwrap_or_default();
        let (before, payload) = rest.split_at_checked(place.start).unwrap_or_default();
        let event = serde_json::from_slice(&[before, b"null", after].concat());
        let payload = std::str::from_utf8(payload).map_err(|e| malformed(e.to_string()))?;
        Ok((event.map_err(|e| malformed(e.to_string()))?, payload))
    }

    /// The typed body, with the sensitive leaves that `lookup` still discloses.
    ///
    /// # Errors
    /// [`Error::UnknownEvent`] for a type or version not in the registry, [`Error::Malformed`] otherwise.
    pub fn body(&self, lookup: &dyn Fn(&Digest) -> Option<Vec<u8>>) -> Result<Body, Error> {
        let value = seal::disclose::reveal_at(self.payload.clone(), PAYLOAD, lookup)
            .map_err(|e| Error::Malformed { what: "event", why: e.to_string() })?;
        Body::read(&self.event_type, self.schema_version, value)
    }

    /// Who caused it.
    pub const fn actor(&self) -> Actor {
        Actor { actor_type: self.actor_type, actor_id: self.actor_id }
    }
}
