//! What schedules wait for that happens at relays of Nostr and at other machines of the mesh (schedule.md 1, HV-3.5-1).

use crate::{Digest, UnixMs};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use words::schedule::MachineEvent;

/// Relays that one schedule asks.
const RELAYS_MAX: usize = 4;
/// Bytes of the address of a relay.
const RELAY_BYTES_MAX: usize = 300;
/// Authors, and kinds, that one schedule names.
const NAMED_MAX: usize = 20;
/// Bytes of the value of a tag.
const TAG_BYTES_MAX: usize = 200;
/// Minutes for which a machine is silent: more than lie between two signs of one that is here.
const SILENT_MINUTES: RangeInclusive<u32> = 15..=7 * 24 * 60;
/// Events that a task is told; of more, it is told how many.
pub const EVENTS_TOLD_MAX: usize = 20;
/// Bytes of the text of an event that a task is told.
pub const EVENT_TEXT_BYTES_MAX: usize = 2 * 1024;
/// Events that are remembered, so that none begins anything twice.
pub const EVENTS_SEEN_MAX: usize = 1_000;
/// How long before the newest event one looks back, in seconds: by another relay one may come later.
pub const EVENTS_BACK_SECS: i64 = 15 * 60;

/// Which events of which relays a schedule waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventFilter {
    /// The addresses of the relays.
    pub relays: Vec<String>,
    /// Whose, by their public keys; anybody's where there are none, and a tag is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<Digest>,
    /// Of which kinds; of any where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<u16>,
    /// With this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<EventTag>,
}

/// A tag of an event that relays find it by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventTag {
    /// Its name: one letter.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl EventFilter {
    /// Whether it can be meant.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> Result<(), String> {
        if self.relays.is_empty() || self.relays.len() > RELAYS_MAX {
            return Err(format!("a schedule asks 1 to {RELAYS_MAX} relays"));
        }
        if let Some(wrong) = self.relays.iter().find(|relay| !is_relay(relay)) {
            return Err(format!("`{wrong}` is no address of a relay: write it as wss://relay.example"));
        }
        if self.authors.len() > NAMED_MAX || self.kinds.len() > NAMED_MAX {
            return Err(format!("a schedule names at most {NAMED_MAX} authors and {NAMED_MAX} kinds"));
        }
        // All that a relay has would begin a task.
        if self.authors.is_empty() && self.tag.is_none() {
            return Err("name whose events count, by a public key of 64 hex digits, or a tag that they have, such as t=hermit".to_owned());
        }
        let is_fit = |tag: &EventTag| {
            let hidden = |c: char| c.is_whitespace() || c.is_control() || c == ',';
            tag.name.len() == 1
                && tag.name.chars().all(|c| c.is_ascii_alphabetic())
                && (1..=TAG_BYTES_MAX).contains(&tag.value.len())
                && !tag.value.chars().any(hidden)
        };
        match &self.tag {
            Some(tag) if !is_fit(tag) => Err(format!(
                "a tag is one letter and a value of 1 to {TAG_BYTES_MAX} bytes without spaces or commas, such as t=hermit"
            )),
            _ => Ok(()),
        }
    }

    /// Whether an event is one of these; a relay may say what it likes.
    pub fn fits(&self, author: &Digest, kind: u16, tags: &[Vec<String>]) -> bool {
        let has = |tag: &EventTag| {
            tags.iter().any(|one| one.first() == Some(&tag.name) && one.get(1) == Some(&tag.value))
        };
        (self.authors.is_empty() || self.authors.contains(author))
            && (self.kinds.is_empty() || self.kinds.contains(&kind))
            && self.tag.as_ref().is_none_or(has)
    }

    /// Which events, as a person reads it, without the relays: `a Nostr event of kind 1 tagged t=hermit`.
    pub fn in_words(&self) -> String {
        let all = |each: Vec<String>| each.join(", ");
        let kinds = match self.kinds.as_slice() {
            [] => String::new(),
            kinds => format!(" of kind {}", all(kinds.iter().map(ToString::to_string).collect())),
        };
        let authors = match self.authors.as_slice() {
            [] => String::new(),
            authors => format!(" by {}", all(authors.iter().map(ToString::to_string).collect())),
        };
        let tag =
            self.tag.as_ref().map_or_else(String::new, |tag| format!(" tagged {}={}", tag.name, tag.value));
        format!("a Nostr event{kinds}{authors}{tag}")
    }
}

/// Whether a text can be the address of a relay.
fn is_relay(text: &str) -> bool {
    let host = text.strip_prefix("wss://").or_else(|| text.strip_prefix("ws://"));
    host.is_some_and(|host| !host.is_empty() && !host.starts_with('/'))
        && text.len() <= RELAY_BYTES_MAX
        && !text.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, ',' | '@' | '"' | '\''))
}

/// Whether a schedule can wait for this of a machine.
///
/// # Errors
/// In words.
pub(super) fn check_machine(name: &str, event: MachineEvent, minutes: Option<u32>) -> Result<(), String> {
    if name.is_empty() || name.len() > 128 || name.chars().any(char::is_control) {
        return Err("a machine is named as `hermit mesh nodes` names it".to_owned());
    }
    match (event, minutes) {
        (MachineEvent::Silent, Some(minutes)) if SILENT_MINUTES.contains(&minutes) => Ok(()),
        (MachineEvent::Silent, _) => Err("a machine is silent for 15 minutes to 7 days".to_owned()),
        (MachineEvent::Message | MachineEvent::Receipt, None) => Ok(()),
        (MachineEvent::Message | MachineEvent::Receipt, Some(_)) => {
            Err("minutes belong to a machine that is silent".to_owned())
        }
    }
}

/// What of a machine is waited for, as a person reads it.
pub(super) fn machine_in_words(name: &str, event: MachineEvent, minutes: Option<u32>) -> String {
    match event {
        MachineEvent::Silent => {
            format!("when the machine {name} is silent for {} minutes", minutes.unwrap_or(0))
        }
        MachineEvent::Message => format!("when the machine {name} sends a message"),
        MachineEvent::Receipt => format!("when the machine {name} tells a receipt"),
    }
}

/// An event that a look saw.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenEvent {
    /// When its author says that it was made, in seconds since 1970.
    pub at: i64,
    /// Its id.
    pub id: Digest,
}

/// An event of a relay as a task is told it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldEvent {
    /// Its id.
    pub id: Digest,
    /// The public key that signed it.
    pub author: Digest,
    /// Its kind.
    pub event_kind: u16,
    /// When its author says that it was made.
    pub made_at: UnixMs,
    /// The beginning of its text, without the values of secrets.
    pub text: String,
    /// Bytes of the text beyond that.
    pub more: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(relays: &[&str], tag: Option<(&str, &str)>) -> EventFilter {
        EventFilter {
            relays: relays.iter().map(|relay| (*relay).to_owned()).collect(),
            authors: Vec::new(),
            kinds: Vec::new(),
            tag: tag.map(|(name, value)| EventTag { name: name.to_owned(), value: value.to_owned() }),
        }
    }

    #[test]
    fn relays_are_named_by_address_and_events_by_author_or_tag() {
        let tag = Some(("t", "hermit"));
        assert!(filter(&["wss://relay.example", "ws://127.0.0.1:7447"], tag).check().is_ok());
        for (relays, tag, word) in [
            (&[] as &[&str], tag, "1 to 4 relays"),
            (&["wss://a"; 5][..], tag, "1 to 4 relays"),
            (&["https://relay.example"][..], tag, "no address of a relay"),
            (&["wss://"][..], tag, "no address of a relay"),
            (&["wss://me@relay.example"][..], tag, "no address of a relay"),
            (&["wss://a"][..], None, "name whose events count"),
            (&["wss://a"][..], Some(("tt", "x")), "one letter"),
            (&["wss://a"][..], Some(("t", "a b")), "without spaces"),
        ] {
            let refused = filter(relays, tag).check();
            assert!(refused.as_ref().is_err_and(|why| why.contains(word)), "{relays:?} {tag:?}: {refused:?}");
        }
        let many = EventFilter { kinds: vec![1; 21], ..filter(&["wss://a"], tag) };
        assert!(many.check().is_err_and(|why| why.contains("at most 20")));
    }

    #[test]
    fn what_a_relay_gives_counts_only_where_it_is_what_was_asked_for() {
        let (me, other) = (Digest::of(b"me"), Digest::of(b"other"));
        let asked =
            EventFilter { authors: vec![me], kinds: vec![1], ..filter(&["wss://a"], Some(("t", "x"))) };
        let tags = vec![vec!["t".to_owned(), "x".to_owned()]];
        assert!(asked.fits(&me, 1, &tags));
        assert!(!asked.fits(&other, 1, &tags) && !asked.fits(&me, 2, &tags) && !asked.fits(&me, 1, &[]));
        let other_tag = vec![vec!["t".to_owned(), "y".to_owned(), "x".to_owned()]];
        assert!(!asked.fits(&me, 1, &other_tag));
    }

    #[test]
    fn a_machine_is_silent_for_longer_than_it_is_between_two_signs() {
        let check = |event, minutes| check_machine("laptop", event, minutes);
        assert!(check(MachineEvent::Silent, Some(15)).is_ok() && check(MachineEvent::Receipt, None).is_ok());
        for minutes in [None, Some(0), Some(14), Some(10_081)] {
            assert!(check(MachineEvent::Silent, minutes).is_err_and(|why| why.contains("15 minutes")));
        }
        assert!(check(MachineEvent::Message, Some(20)).is_err());
        assert!(check_machine("", MachineEvent::Message, None).is_err());
    }
}
