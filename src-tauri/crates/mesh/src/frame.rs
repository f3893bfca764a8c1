//! Frames of NIP-01, as far as the mesh speaks it with a relay or with a node directly.

use crate::NodeId;
use crate::public::PUBLIC_TAG;
use crate::sealed::{PRESENCE_KIND, WRAP_KIND, WireEvent};
use serde_json::Value;

/// The longest frame that is looked at, in bytes.
pub const FRAME_BYTES_MAX: usize = 160 * 1024;
/// The name of the one subscription of a node.
pub const SUBSCRIPTION: &str = "hermit-mesh";
/// Letters of what a relay says that are kept.
const WHY_LETTERS: usize = 200;

/// A frame that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// An event, of a subscription or written directly.
    Event(Box<WireEvent>),
    /// What a relay says of an event that was written to it.
    Ok {
        /// The event.
        id: seal::Digest,
        /// Whether it has it.
        accepted: bool,
        /// Its words.
        why: String,
    },
    /// Anything else that is said for a person: a notice, or a closed subscription.
    Said(String),
    /// A relay asks who is there, and what is to be signed (NIP-42).
    Asks(String),
    /// A frame that changes nothing.
    Nothing,
}

/// Reads a frame; none where it is no frame, or too large.
pub fn read(bytes: &[u8]) -> Option<Frame> {
    if bytes.len() > FRAME_BYTES_MAX {
        return None;
    }
    if let Ok((_, _, event)) = serde_json::from_slice::<(Event, &str, WireEvent)>(bytes) {
        return Some(Frame::Event(Box::new(event)));
    }
    if let Ok((_, event)) = serde_json::from_slice::<(Event, WireEvent)>(bytes) {
        return Some(Frame::Event(Box::new(event)));
    }
    let parts: Vec<Value> = serde_json::from_slice(bytes).ok()?;
    let text = |at: usize| parts.get(at).and_then(Value::as_str);
    match text(0)? {
        "OK" => {
            let (accepted, why) = (parts.get(2)?.as_bool()?, shown(text(3).unwrap_or_default()));
            match text(1)?.parse() {
                Ok(id) => Some(Frame::Ok { id, accepted, why }),
                // Some relays refuse an event without saying which.
                Err(_) => (!accepted).then_some(Frame::Said(why)),
            }
        }
        "NOTICE" => Some(Frame::Said(shown(text(1)?))),
        "CLOSED" => Some(Frame::Said(shown(text(2).unwrap_or_default()))),
        "AUTH" => Some(text(1).map_or(Frame::Nothing, |challenge| Frame::Asks(challenge.to_owned()))),
        "EOSE" | "REQ" | "CLOSE" => Some(Frame::Nothing),
        _ => None,
    }
}

/// The word `EVENT` at the beginning of a frame.
struct Event;

impl<'de> serde::Deserialize<'de> for Event {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = <&str>::deserialize(deserializer)?;
        if word == "EVENT" { Ok(Self) } else { Err(serde::de::Error::custom("not an event")) }
    }
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !model::visible::is_hidden(*c)).take(WHY_LETTERS).collect()
}

/// The frame in which an event is written.
pub fn event(event: &WireEvent) -> Vec<u8> {
    serde_json::to_vec(&("EVENT", event)).unwrap_or_default()
}

/// The frame that tells a relay who is there.
pub fn proof(event: &WireEvent) -> Vec<u8> {
    serde_json::to_vec(&("AUTH", event)).unwrap_or_default()
}

/// The frame that subscribes to all that is for a node and its groups, from a time in seconds on.
pub fn subscribe(receivers: &[NodeId], since: i64) -> Vec<u8> {
    subscribe_to(receivers, since, &[])
}

/// The same, and to what these nodes tell everybody.
pub fn subscribe_to(receivers: &[NodeId], since: i64, public: &[NodeId]) -> Vec<u8> {
    let filter = serde_json::json!({ "kinds": [WRAP_KIND, PRESENCE_KIND], "#p": receivers, "since": since });
    if public.is_empty() {
        return serde_json::to_vec(&("REQ", SUBSCRIPTION, filter)).unwrap_or_default();
    }
    let open = serde_json::json!({ "kinds": [PRESENCE_KIND], "authors": public, "#d": [PUBLIC_TAG], "since": since });
    serde_json::to_vec(&("REQ", SUBSCRIPTION, filter, open)).unwrap_or_default()
}

/// The frame that tells whoever wrote an event directly that it came.
pub fn came(id: seal::Digest) -> Vec<u8> {
    serde_json::to_vec(&("OK", id, true, "")).unwrap_or_default()
}
