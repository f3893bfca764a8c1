//! Relays of Nostr, asked by a look of a schedule that waits for an event there (schedule.md 1): connected to, asked once, and left. One
//! that does not answer is left alone for a while, so that looks do not wait for it each time.

use crate::model_http::certificates;
use crate::{Config, Home, SystemClock};
use kernel::command::afar_looks::{RelayEvent, Relays};
use model::schedule::{EVENTS_BACK_SECS, EventFilter};
use model::{Clock as _, Digest};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a relay that did not answer is left alone, the first time and at most; each time it is twice as long. It stays far below
/// [`EVENTS_BACK_SECS`]: what only this relay has is older than a look takes when it is left alone for longer.
const PAUSE_FIRST: Duration = Duration::from_secs(30);
const PAUSE_MOST: Duration = Duration::from_secs(300);
/// Relays that are known not to answer.
const AWAY_MAX: usize = 256;

/// A relay that did not answer.
struct Away {
    until: Instant,
    pause: Duration,
    why: String,
}

/// Relays as this host reaches them.
pub struct RelayLooks {
    home: Home,
    away: Mutex<BTreeMap<String, Away>>,
}

impl RelayLooks {
    pub const fn new(home: Home) -> Self {
        Self { home, away: Mutex::new(BTreeMap::new()) }
    }

    fn away(&self) -> MutexGuard<'_, BTreeMap<String, Away>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a relay is not asked now; none where it is.
    fn rests(&self, relay: &str) -> Option<String> {
        let away = self.away();
        let one = away.get(relay).filter(|one| Instant::now() < one.until)?;
        Some(format!("it is left alone for a while, for it did not answer: {}", one.why))
    }

    /// What came of asking a relay: why it did not answer, where it did not.
    fn asked(&self, relay: &str, away: Option<&str>) {
        let (mut all, now) = (self.away(), Instant::now());
        let before = all.remove(relay);
        let Some(why) = away else { return };
        let pause = before.map_or(PAUSE_FIRST, |one| one.pause.saturating_mul(2).min(PAUSE_MOST));
        if all.len() >= AWAY_MAX {
            all.retain(|_, one| now < one.until);
        }
        if all.len() < AWAY_MAX {
            all.insert(relay.to_owned(), Away { until: now + pause, pause, why: why.to_owned() });
        }
    }
}

impl Relays for RelayLooks {
    fn events(
        &self,
        relay: &str,
        (filter, since): (&EventFilter, i64),
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<RelayEvent>, String> {
        if let Some(why) = self.rests(relay) {
            return Err(why);
        }
        let authorities = match Config::in_force(&self.home).authorities() {
            Some(path) => certificates(&path).map_err(|e| e.to_string())?,
            None => Vec::new(),
        };
        // A relay gives the newest: those of a time that is to come, which anybody may make, would stand before all others.
        let until = SystemClock.now().0.div_euclid(1_000).saturating_add(EVENTS_BACK_SECS);
        let found = chat::events_at(relay, &asked(filter, (since, until)), &authorities, is_over);
        // Where nobody waited any more, it had no time to answer.
        if !is_over() {
            let away = found.as_ref().err().filter(|fault| matches!(fault, chat::Fault::Away { .. }));
            self.asked(relay, away.map(chat::Fault::why));
        }
        Ok(found.map_err(|e| e.to_string())?.iter().filter_map(read).collect())
    }
}

/// What a relay is asked, as NIP-01 has it.
fn asked(filter: &EventFilter, (since, until): (i64, i64)) -> Value {
    let mut asked = Map::new();
    asked.insert("since".to_owned(), json!(since.max(0)));
    asked.insert("until".to_owned(), json!(until));
    asked.insert("limit".to_owned(), json!(chat::LOOK_EVENTS_MAX));
    if !filter.authors.is_empty() {
        let authors: Vec<String> = filter.authors.iter().map(ToString::to_string).collect();
        asked.insert("authors".to_owned(), json!(authors));
    }
    if !filter.kinds.is_empty() {
        asked.insert("kinds".to_owned(), json!(filter.kinds));
    }
    if let Some(tag) = &filter.tag {
        asked.insert(format!("#{}", tag.name), json!([tag.value]));
    }
    Value::Object(asked)
}

/// An event that holds, as the kernel reads it.
fn read(event: &Value) -> Option<RelayEvent> {
    let digest = |name: &str| event.get(name)?.as_str()?.parse::<Digest>().ok();
    let tag = |tag: &Value| -> Option<Vec<String>> {
        tag.as_array()?.iter().map(|part| part.as_str().map(str::to_owned)).collect()
    };
    Some(RelayEvent {
        id: digest("id")?,
        author: digest("pubkey")?,
        at: event.get("created_at")?.as_i64()?,
        kind: u16::try_from(event.get("kind")?.as_u64()?).ok()?,
        tags: event.get("tags")?.as_array()?.iter().filter_map(tag).collect(),
        text: event.get("content")?.as_str()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_relay_that_does_not_answer_is_left_alone_for_a_while_and_no_other_with_it() {
        let folder = tempfile::TempDir::new().unwrap();
        let looks = RelayLooks::new(Home::find(Some(folder.path())).unwrap());
        // Whoever connects there is hung up on.
        let listeners = [(); 2].map(|()| TcpListener::bind(("127.0.0.1", 0)).unwrap());
        let relays = listeners.each_ref().map(|one| format!("ws://{}", one.local_addr().unwrap()));
        let (send, came) = std::sync::mpsc::channel();
        for (at, listener) in listeners.into_iter().enumerate() {
            let send = send.clone();
            std::thread::spawn(move || while listener.accept().is_ok_and(|_| send.send(at).is_ok()) {});
        }
        let filter = EventFilter { relays: relays.to_vec(), authors: Vec::new(), kinds: vec![1], tag: None };
        let ask = |relay: &str| looks.events(relay, (&filter, 0), &|| false).unwrap_err();
        let [first, second] = &relays;
        assert!(!ask(first).contains("left alone"));
        assert!(ask(first).contains("left alone"));
        assert!(!ask(second).contains("left alone"));
        assert_eq!(came.try_iter().collect::<Vec<_>>(), [0, 1], "the first was asked once");
        // One that answers is asked each time again.
        looks.asked(first, None);
        assert!(looks.rests(first).is_none() && looks.rests(second).is_some());
        looks.asked(first, Some("silence"));
        looks.asked(first, Some("silence"));
        assert_eq!(looks.away().get(first.as_str()).unwrap().pause, PAUSE_FIRST * 2);
    }
}
