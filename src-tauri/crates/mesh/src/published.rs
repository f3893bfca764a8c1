//! What an instance says of itself as anybody reads it at a relay: its chain, a line for each link, in parts (mesh.md 2).
//!
//! Each part is an addressable event under the key in force, so that a relay keeps the newest of each. They say that whoever holds that
//! key put these lines together, and nothing more: what the lines are worth is found by following them.

use crate::sealed::{NostrSealing, WireEvent, is_event};
use crate::{Error, NodeId};
use model::UnixMs;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The kind of a part: an addressable event of an application (NIP-78).
pub const CHAIN_KIND: u16 = 30_078;
/// Parts of a chain at most.
pub const CHAIN_PARTS_MAX: usize = 8;
/// Bytes of one part: with all that stands around it, it is shorter than what relays take.
const PART_BYTES_MAX: usize = 24 * 1024;
/// How the `d` tag of a part begins, before its number, which counts from 1.
const CHAIN_TAG: &str = "hermit-identity/1/";
/// The tag that says how many parts there are.
const OF: &str = "parts";

/// The events of a chain, by the key that signs them.
///
/// # Errors
/// [`Error::TooLarge`] for a chain that is longer than relays are given; [`Error::Refused`] for a line that is no text.
pub fn sign(sealing: &NostrSealing, lines: &[Vec<u8>], now: UnixMs) -> Result<Vec<WireEvent>, Error> {
    let parts = parts(lines)?;
    let count = parts.len().to_string();
    let event = |(at, content): (usize, &String)| {
        let tag = |name: &str, value: String| vec![name.to_owned(), value];
        let tags = vec![tag("d", format!("{CHAIN_TAG}{}", at + 1)), tag(OF, count.clone())];
        sealing.sign_event(CHAIN_KIND, tags, content, now)
    };
    parts.iter().enumerate().map(event).collect()
}

fn parts(lines: &[Vec<u8>]) -> Result<Vec<String>, Error> {
    let mut parts: Vec<String> = Vec::new();
    for line in lines {
        let line = std::str::from_utf8(line).map_err(|_| Error::Refused("a link is no text"))?;
        match parts.last_mut() {
            Some(part) if part.len() + line.len() < PART_BYTES_MAX => {
                part.push('\n');
                part.push_str(line);
            }
            _ => parts.push(line.to_owned()),
        }
    }
    let fits = parts.len() <= CHAIN_PARTS_MAX && parts.iter().all(|part| part.len() <= PART_BYTES_MAX);
    if fits { Ok(parts) } else { Err(Error::TooLarge) }
}

/// What a relay is asked for the chain of a key.
pub fn filter(key: NodeId) -> Value {
    let tags: Vec<String> = (1..=CHAIN_PARTS_MAX).map(|at| format!("{CHAIN_TAG}{at}")).collect();
    json!({ "kinds": [CHAIN_KIND], "authors": [key], "#d": tags, "limit": CHAIN_PARTS_MAX })
}

/// The lines of the newest chain of a key of which every part is among these events; none where there is none. Whatever that key did
/// not sign is not looked at.
pub fn read(events: &[WireEvent], key: NodeId) -> Option<Vec<Vec<u8>>> {
    let mut chains: BTreeMap<(i64, usize), BTreeMap<usize, &WireEvent>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.pubkey == key) {
        let Some((at, count)) = place(event) else { continue };
        if is_event(event, CHAIN_KIND) {
            chains.entry((event.created_at, count)).or_default().insert(at, event);
        }
    }
    let whole = chains.into_iter().rev().find(|((_, count), parts)| parts.len() == *count)?;
    let lines = whole.1.into_values().flat_map(|part| part.content.lines());
    Some(lines.map(|line| line.as_bytes().to_vec()).collect())
}

/// Which part an event is, and of how many.
fn place(event: &WireEvent) -> Option<(usize, usize)> {
    let value = |name: &str| {
        let tag = event.tags.iter().find(|tag| tag.first().is_some_and(|first| first == name))?;
        tag.get(1).map(String::as_str)
    };
    let at = value("d")?.strip_prefix(CHAIN_TAG)?.parse().ok()?;
    let count = value(OF)?.parse().ok()?;
    ((1..=CHAIN_PARTS_MAX).contains(&count) && (1..=count).contains(&at)).then_some((at, count))
}
