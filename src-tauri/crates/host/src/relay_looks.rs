//! Relays of Nostr, asked by a look of a schedule that waits for an event there (schedule.md 1): connected to, asked once, and left.

use crate::model_http::certificates;
use crate::{Config, Home, SystemClock};
use kernel::command::afar_looks::{RelayEvent, Relays};
use model::schedule::{EVENTS_BACK_SECS, EventFilter};
use model::{Clock as _, Digest};
use serde_json::{Map, Value, json};

/// Relays as this host reaches them.
pub struct RelayLooks(pub Home);

impl Relays for RelayLooks {
    fn events(
        &self,
        relay: &str,
        (filter, since): (&EventFilter, i64),
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<RelayEvent>, String> {
        let authorities = match Config::in_force(&self.0).authorities() {
            Some(path) => certificates(&path).map_err(|e| e.to_string())?,
            None => Vec::new(),
        };
        // A relay gives the newest: those of a time that is to come, which anybody may make, would stand before all others.
        let until = SystemClock.now().0.div_euclid(1_000).saturating_add(EVENTS_BACK_SECS);
        let found = chat::events_at(relay, &asked(filter, (since, until)), &authorities, is_over);
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
