//! What a schedule waits for at relays and at other machines, as people say it: `when a Nostr event of kind 1 by KEY comes at
//! wss://relay.example`, `when the machine laptop is silent for 30 minutes`.

use super::trigger::every;
use model::Digest;
use model::schedule::{EventFilter, EventTag, MachineEvent, Trigger};

/// Words that end a list.
const PARTS: [&str; 7] = ["of", "by", "tagged", "comes", "come", "looked", "every"];

/// `a Nostr event of kind 1, 7 by KEY tagged t=hermit comes at wss://a, wss://b, looked at every 10 minutes`.
pub(super) fn events(words: &[&str], lower: &[&str]) -> Option<Trigger> {
    let mut at = usize::from(matches!(lower.first(), Some(&("a" | "any"))));
    let ["nostr", "event" | "events", ..] = lower.get(at..)? else { return None };
    at += 2;
    let mut filter = EventFilter { relays: Vec::new(), authors: Vec::new(), kinds: Vec::new(), tag: None };
    loop {
        match lower.get(at..)? {
            ["of", "kind" | "kinds", ..] => {
                let (kinds, next) = list(words, lower, at + 2);
                filter
                    .kinds
                    .extend(kinds.iter().map(|kind| kind.parse().ok()).collect::<Option<Vec<u16>>>()?);
                at = next;
            }
            ["by", ..] => {
                let (authors, next) = list(words, lower, at + 1);
                let keys = authors.iter().map(|key| key.to_lowercase().parse().ok());
                filter.authors.extend(keys.collect::<Option<Vec<Digest>>>()?);
                at = next;
            }
            ["tagged", ..] if filter.tag.is_none() => {
                let (name, value) = words.get(at + 1)?.trim_matches(['"', '\'', '`']).split_once('=')?;
                filter.tag = Some(EventTag { name: name.to_owned(), value: value.to_owned() });
                at += 2;
            }
            ["comes" | "come", "at" | "to", ..] => break,
            _ => return None,
        }
    }
    let (relays, next) = list(words, lower, at + 2);
    filter.relays = relays;
    let every_ms = every(lower.get(next..).unwrap_or_default())?;
    Some(Trigger::Events { filter, every_ms })
}

/// What is named from here on, with commas or words between, and where something else begins.
fn list(words: &[&str], lower: &[&str], from: usize) -> (Vec<String>, usize) {
    let (mut named, mut at) = (Vec::new(), from);
    while let (Some(word), Some(small)) = (words.get(at), lower.get(at)) {
        if PARTS.contains(small) {
            break;
        }
        at += 1;
        if matches!(*small, "and" | "or" | ",") {
            continue;
        }
        let parts = word.split(',').map(|part| part.trim_matches(['"', '\'', '`']));
        named.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
    }
    (named, at)
}

/// `the machine laptop is silent for 30 minutes`, `the machine laptop sends a message`, `the machine laptop tells a receipt`. A name may
/// have several words.
pub(super) fn machine(words: &[&str], lower: &[&str]) -> Option<Trigger> {
    let the = usize::from(lower.first() == Some(&"the"));
    let (["machine", rest @ ..], [_, named @ ..]) = (lower.get(the..)?, words.get(the..)?) else {
        return None;
    };
    (1..rest.len()).rev().find_map(|end| {
        let (event, minutes) = what_of_machine(rest.get(end..)?)?;
        let name = named.get(..end)?.join(" ").trim_matches(['"', '\'', '`']).to_owned();
        Some(Trigger::Machine { name, event, minutes })
    })
}

fn what_of_machine(words: &[&str]) -> Option<(MachineEvent, Option<u32>)> {
    let silent = |minutes: u32| Some((MachineEvent::Silent, Some(minutes)));
    match words {
        ["is", "silent", "for", "an", "hour"] => silent(60),
        ["is", "silent", "for", number, "minutes"] => silent(number.parse().ok()?),
        ["is", "silent", "for", number, "hours"] => silent(number.parse::<u32>().ok()?.checked_mul(60)?),
        ["sends", "a", "message"] => Some((MachineEvent::Message, None)),
        ["tells", "a", "receipt"] => Some((MachineEvent::Receipt, None)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use crate::plain_words::trigger::parse;
    use model::Digest;
    use model::schedule::{EventFilter, EventTag, MachineEvent, Trigger};

    fn machine(name: &str, event: MachineEvent, minutes: Option<u32>) -> Trigger {
        Trigger::Machine { name: name.to_owned(), event, minutes }
    }

    #[test]
    fn each_is_understood_and_what_is_told_of_it_is_understood_again() {
        let key = Digest::of(b"somebody");
        let events = |relays: &[&str], authors: &[Digest], kinds: &[u16], tag: Option<&str>, minutes: u64| {
            let tag = tag.map(|value| EventTag { name: "t".to_owned(), value: value.to_owned() });
            let relays = relays.iter().map(|relay| (*relay).to_owned()).collect();
            let filter = EventFilter { relays, authors: authors.to_vec(), kinds: kinds.to_vec(), tag };
            Trigger::Events { filter, every_ms: minutes * 60_000 }
        };
        for (text, wanted) in [
            (
                format!("when a Nostr event of kind 1 by {key} comes at wss://Relay.example"),
                events(&["wss://Relay.example"], &[key], &[1], None, 15),
            ),
            (
                "when nostr events tagged t=Hermit come to wss://a and ws://127.0.0.1:80, every minute"
                    .to_owned(),
                events(&["wss://a", "ws://127.0.0.1:80"], &[], &[], Some("Hermit"), 1),
            ),
            (
                format!(
                    "when a nostr event of kinds 1, 7 and 30023 by {key} tagged t=x comes at wss://a, looked at every 10 minutes"
                ),
                events(&["wss://a"], &[key], &[1, 7, 30_023], Some("x"), 10),
            ),
            (
                "when the machine laptop is silent for 30 minutes".to_owned(),
                machine("laptop", MachineEvent::Silent, Some(30)),
            ),
            (
                "When machine \"Anna's desk\" is silent for 2 hours".to_owned(),
                machine("Anna's desk", MachineEvent::Silent, Some(120)),
            ),
            (
                "when the machine desk is silent for an hour".to_owned(),
                machine("desk", MachineEvent::Silent, Some(60)),
            ),
            (
                "when the machine server sends a message".to_owned(),
                machine("server", MachineEvent::Message, None),
            ),
            (
                "when the machine server tells a receipt".to_owned(),
                machine("server", MachineEvent::Receipt, None),
            ),
        ] {
            let found = parse(&text).unwrap().unwrap();
            assert_eq!(found, wanted, "{text}");
            assert_eq!(parse(&found.in_words()).unwrap().unwrap(), found, "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_or_would_be_anything_is_refused_with_words() {
        for (text, word) in [
            ("when a nostr event comes at wss://a", "name whose events count"),
            ("when a nostr event by nobody comes at wss://a", "not understood"),
            ("when a nostr event of kind 70000 tagged t=x comes at wss://a", "not understood"),
            ("when a nostr event tagged t=x comes at relay.example", "no address of a relay"),
            ("when a nostr event tagged t=x comes", "not understood"),
            ("when a nostr event tagged t=x comes at wss://a, every 90 minutes", "1 to 60 minutes"),
            ("when the machine laptop is silent for 3 minutes", "15 minutes to 7 days"),
            ("when the machine laptop is silent", "not understood"),
            ("when the machine is silent for 30 minutes", "not understood"),
        ] {
            let why = parse(text).unwrap().unwrap_err().to_string();
            assert!(why.contains(word), "{text}: {why}");
        }
    }
}
