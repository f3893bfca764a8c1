//! Which events of a gateway's stream still tell something. Their places are written down now and then (`matters` of
//! `gateway.read`), so that a stream of any length is read from there: those, and what came behind (decision 285).

use super::{PAGE, Traffic};
use crate::Error;
use ledger::{Reader, Stored};
use model::body::{Body, MessageQueued};
use model::gateway::{MessageAbout, MessageRefusal, MessageState};
use model::{Digest, PrincipalId, TaskId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Messages that went out, or will never, of which something is known: the newest, and as many states of lines. A button of an
/// older one orders nothing, and an answer to it is about no task.
pub(super) const MESSAGES_MAX: usize = 400;
/// Events behind the newest list of places before another is written.
pub(crate) const LISTED_EVERY: u64 = 250;

/// Places of one list: as many as an event holds.
pub(crate) const PLACES_MAX: usize = 20_000;
/// Events that are read at once in search of it.
const LOOK: usize = 300;

/// The events of one message that goes out.
#[derive(Debug, Default)]
struct Message {
    places: Vec<u64>,
    waits: bool,
    is_state: bool,
}

/// Places of events that still tell something.
#[derive(Debug, Default)]
pub(crate) struct Matters {
    /// The newest: whatever came behind it is read besides.
    newest: Option<u64>,
    /// How far the service was read.
    read: Option<u64>,
    refused: BTreeMap<MessageRefusal, u64>,
    silenced: VecDeque<u64>,
    /// The last message of each sender.
    received: BTreeMap<PrincipalId, u64>,
    /// By the key of each.
    messages: BTreeMap<String, Message>,
    /// Which message has a button that was not pressed.
    buttons: BTreeMap<Digest, String>,
}

impl Matters {
    /// Those of a gateway's stream.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn of(reader: &Reader, stream: TaskId) -> Result<Vec<u64>, Error> {
        let mut matters = Self::default();
        walk(reader, stream, &mut |place, body| matters.apply(place, body))?;
        Ok(matters.places().into_iter().collect())
    }

    fn apply(&mut self, place: u64, body: &Body) {
        self.newest = Some(place);
        match body {
            Body::GatewayRead(_) => self.read = Some(place),
            Body::MessageRefused(b) => {
                self.refused.insert(b.refusal, place);
            }
            Body::SenderSilenced(_) => {
                self.silenced.push_back(place);
                let more = self.silenced.len().saturating_sub(super::SILENCED_MAX);
                self.silenced.drain(..more);
            }
            Body::MessageReceived(b) => {
                self.received.insert(b.principal_id, place);
                if let Some(key) = b.button_sha256.and_then(|pressed| self.buttons.remove(&pressed)) {
                    self.change(&key, place, None);
                }
            }
            Body::MessageQueued(b) => {
                self.buttons.extend(b.button_sha256.map(|button| (button, b.repeat_key.clone())));
                self.change(&b.repeat_key, place, Some(true));
                if let Some(message) = self.messages.get_mut(&b.repeat_key) {
                    message.is_state = b.about == MessageAbout::State;
                }
            }
            Body::MessageSending(b) => self.change(&b.repeat_key, place, Some(true)),
            Body::MessageSettled(b) => {
                self.change(&b.repeat_key, place, Some(b.state == MessageState::Queued));
            }
            _ => {}
        }
    }

    fn change(&mut self, repeat_key: &str, place: u64, waits: Option<bool>) {
        let message = self.messages.entry(repeat_key.to_owned()).or_default();
        message.places.push(place);
        message.waits = waits.unwrap_or(message.waits);
    }

    fn places(&self) -> BTreeSet<u64> {
        let newest = |is_state: bool| {
            let settled = self.messages.values().filter(|one| !one.waits && one.is_state == is_state);
            let mut settled: Vec<&Message> = settled.collect();
            settled.sort_unstable_by_key(|one| std::cmp::Reverse(one.places.last().copied()));
            settled.truncate(MESSAGES_MAX);
            settled
        };
        let waiting = self.messages.values().filter(|one| one.waits);
        let messages = waiting.chain(newest(false)).chain(newest(true));
        let of_messages = messages.flat_map(|one| &one.places).copied();
        let others = self.refused.values().chain(&self.silenced).chain(self.received.values());
        of_messages.chain(others.copied()).chain(self.read).chain(self.newest).collect()
    }
}

impl Traffic {
    /// Whether a new list is due of the events that still tell something.
    pub(crate) const fn wants_list(&self) -> bool {
        self.behind >= LISTED_EVERY
    }

    /// Forgets the oldest of more messages than are known; what waits is none of them.
    pub(super) fn forget(&mut self) {
        // Where more wait than are known, only those that do not are looked for.
        for _ in MESSAGES_MAX.max(self.queue.len())..self.order.len() {
            let Some((key, button)) = self.order.pop_front() else { break };
            if self.queue.iter().any(|message| message.repeat_key == key) {
                self.order.push_back((key, button));
                continue;
            }
            self.told.remove(&key);
            // All states of a line have the same button.
            if let Some(button) = button.filter(|one| self.order.iter().all(|(_, of)| *of != Some(*one))) {
                self.buttons.remove(&button);
            }
        }
        for _ in MESSAGES_MAX..self.sent.len() {
            if let Some(oldest) = self.sent.pop_front() {
                self.about.remove(&oldest);
            }
        }
    }

    /// Counts a message that is to go out among those that are known. States of lines are counted apart, and the oldest of more than
    /// are known forgotten, with the button that no other of them has.
    pub(super) fn count_queued(&mut self, b: &MessageQueued) {
        if b.about != MessageAbout::State {
            self.order.push_back((b.repeat_key.clone(), b.button_sha256));
            return;
        }
        self.states.push_back((b.repeat_key.clone(), b.button_sha256));
        for _ in MESSAGES_MAX..self.states.len() {
            let Some((key, button)) = self.states.pop_front() else { break };
            if self.queue.iter().any(|message| message.repeat_key == key) {
                self.states.push_back((key, button));
                continue;
            }
            if let Some(button) = button.filter(|one| self.states.iter().all(|(_, of)| *of != Some(*one))) {
                self.buttons.remove(&button);
            }
        }
    }

    /// Reads what still tells something of a gateway's stream, and how many events that took.
    pub(super) fn read(reader: &Reader, stream: TaskId) -> Result<(Self, u64), Error> {
        let mut traffic = Self::default();
        let read = walk(reader, stream, &mut |_, body| traffic.apply(body))?;
        Ok((traffic, read))
    }
}

/// Hands on each event of a gateway's stream that still tells something, in order; how many were read for that.
pub(super) fn walk(reader: &Reader, stream: TaskId, each: &mut dyn FnMut(u64, &Body)) -> Result<u64, Error> {
    let mut read = 0;
    let mut after = 0;
    for place in listed(reader, stream, &mut read)? {
        let found = reader.events(stream, place.saturating_sub(1), 1)?;
        read = read.saturating_add(found.len() as u64);
        for stored in found.iter().filter(|stored| stored.task_seq == place) {
            each(place, &body_of(reader, stored)?);
        }
        after = place;
    }
    loop {
        let page = reader.events(stream, after, PAGE)?;
        let Some(last) = page.last() else { return Ok(read) };
        (after, read) = (last.task_seq, read.saturating_add(page.len() as u64));
        for stored in &page {
            each(stored.task_seq, &body_of(reader, stored)?);
        }
    }
}

/// The newest list of places, in order. A store of an older Hermit has none.
fn listed(reader: &Reader, stream: TaskId, read: &mut u64) -> Result<Vec<u64>, Error> {
    let mut end = reader.task_head(stream)?.map_or(0, |(seq, _)| seq);
    while end > 0 {
        let start = end.saturating_sub(LOOK as u64);
        let page = reader.events(stream, start, LOOK)?;
        *read = read.saturating_add(page.len() as u64);
        for stored in page.iter().rev().filter(|stored| stored.task_seq <= end) {
            if stored.event()?.event_type == "gateway.read"
                && let Body::GatewayRead(b) = body_of(reader, stored)?
                && let Some(places) = b.matters
            {
                return Ok(places);
            }
        }
        end = start;
    }
    Ok(Vec::new())
}

fn body_of(reader: &Reader, stored: &Stored) -> Result<Body, Error> {
    let event = stored.event()?;
    Ok(reader.revealing(|shown| event.body(shown))??)
}
