//! What the relay keeps: the newest that came, bounded in number and bytes. Of what takes the place of an older one, the newest.

use crate::lock;
use nostr_relay_builder::prelude::{
    Backend, BoxedFuture, DatabaseError, DatabaseEventStatus, Event, EventId, Events, Filter, Kind,
    MatchEventOptions, NostrDatabase, PublicKey, RejectedReason, SaveEventStatus, Timestamp,
};
use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::Mutex;

/// Events that are kept, and their bytes.
pub(super) const EVENTS_MAX: usize = 20_000;
const BYTES_MAX: usize = 32 * 1024 * 1024;
/// What an event weighs beside its words.
const EACH: usize = 512;

/// The events.
#[derive(Debug, Default)]
pub(super) struct Shelf(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// By the number with which they came, so that the first is the oldest.
    events: BTreeMap<u64, Event>,
    numbers: HashMap<EventId, u64>,
    /// Which event stands at a place where one takes the place of the former.
    places: HashMap<Place, u64>,
    bytes: usize,
    next: u64,
}

/// Whose events of which kind, and under which name.
type Place = (Kind, PublicKey, String);

fn place_of(event: &Event) -> Option<Place> {
    if event.kind.is_replaceable() {
        return Some((event.kind, event.pubkey, String::new()));
    }
    let name = event.tags.identifier().unwrap_or_default().to_owned();
    event.kind.is_addressable().then_some((event.kind, event.pubkey, name))
}

fn weight(event: &Event) -> usize {
    let tags = event.tags.iter().flat_map(|tag| tag.as_slice());
    EACH + event.content.len() + tags.map(|text| text.len() + size_of::<String>()).sum::<usize>()
}

impl Kept {
    fn save(&mut self, event: &Event) -> SaveEventStatus {
        if self.numbers.contains_key(&event.id) {
            return SaveEventStatus::Rejected(RejectedReason::Duplicate);
        }
        if event.is_expired() {
            return SaveEventStatus::Rejected(RejectedReason::Expired);
        }
        let place = place_of(event);
        let former = place.as_ref().and_then(|place| self.places.get(place)).copied();
        if let Some(number) = former {
            let is_newer = self.events.get(&number).is_none_or(|old| is_before(old, event));
            if !is_newer {
                return SaveEventStatus::Rejected(RejectedReason::Replaced);
            }
            self.remove(number);
        }
        let number = self.next;
        self.next += 1;
        self.bytes += weight(event);
        self.numbers.insert(event.id, number);
        self.places.extend(place.map(|place| (place, number)));
        self.events.insert(number, event.clone());
        while self.events.len() > EVENTS_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.events.keys().next().copied() else { break };
            self.remove(oldest);
        }
        SaveEventStatus::Success
    }

    fn remove(&mut self, number: u64) {
        let Some(event) = self.events.remove(&number) else { return };
        self.bytes = self.bytes.saturating_sub(weight(&event));
        self.numbers.remove(&event.id);
        if let Some(place) = place_of(&event)
            && self.places.get(&place) == Some(&number)
        {
            self.places.remove(&place);
        }
    }

    fn matching(&self, filter: &Filter) -> impl Iterator<Item = &Event> {
        self.events.values().filter(move |event| filter.match_event(event, MatchEventOptions::new()))
    }
}

/// Whether an event gives way to another one at its place: the newer one stands, and of two of one second that with the lower id.
fn is_before(old: &Event, new: &Event) -> bool {
    (old.created_at, new.id) < (new.created_at, old.id)
}

/// An answer that is there at once.
fn done<'a, T: Send + 'a>(value: T) -> BoxedFuture<'a, Result<T, DatabaseError>> {
    Box::pin(ready(Ok::<T, DatabaseError>(value)))
}

impl NostrDatabase for Shelf {
    fn backend(&self) -> Backend {
        Backend::Memory
    }

    fn save_event<'a>(&'a self, event: &'a Event) -> BoxedFuture<'a, Result<SaveEventStatus, DatabaseError>> {
        done(lock(&self.0).save(event))
    }

    fn check_id<'a>(
        &'a self,
        event_id: &'a EventId,
    ) -> BoxedFuture<'a, Result<DatabaseEventStatus, DatabaseError>> {
        let is_kept = lock(&self.0).numbers.contains_key(event_id);
        done(match is_kept {
            true => DatabaseEventStatus::Saved,
            false => DatabaseEventStatus::NotExistent,
        })
    }

    fn event_by_id<'a>(
        &'a self,
        event_id: &'a EventId,
    ) -> BoxedFuture<'a, Result<Option<Event>, DatabaseError>> {
        let kept = lock(&self.0);
        let event = kept.numbers.get(event_id).and_then(|number| kept.events.get(number)).cloned();
        done(event)
    }

    fn count(&self, filter: Filter) -> BoxedFuture<'_, Result<usize, DatabaseError>> {
        let count = lock(&self.0).matching(&filter).count();
        done(count)
    }

    fn query(&self, filter: Filter) -> BoxedFuture<'_, Result<Events, DatabaseError>> {
        let kept = lock(&self.0);
        let mut found: Vec<&Event> = kept.matching(&filter).collect();
        found.sort_unstable();
        found.truncate(filter.limit.unwrap_or(EVENTS_MAX));
        let mut events = Events::new(&filter);
        events.extend(found.into_iter().cloned());
        done(events)
    }

    /// Nobody here asks by it, and each question would be kept by the library for as long as a client stays.
    fn negentropy_items(
        &self,
        _: Filter,
    ) -> BoxedFuture<'_, Result<Vec<(EventId, Timestamp)>, DatabaseError>> {
        Box::pin(ready(Err::<Vec<_>, _>(DatabaseError::NotSupported)))
    }

    fn delete(&self, filter: Filter) -> BoxedFuture<'_, Result<(), DatabaseError>> {
        let mut kept = lock(&self.0);
        let numbers: Vec<u64> =
            kept.matching(&filter).filter_map(|event| kept.numbers.get(&event.id)).copied().collect();
        numbers.into_iter().for_each(|number| kept.remove(number));
        done(())
    }

    fn wipe(&self) -> BoxedFuture<'_, Result<(), DatabaseError>> {
        *lock(&self.0) = Kept::default();
        done(())
    }
}

#[cfg(test)]
mod tests;
