//! Looks at relays and at other machines, for schedules that wait for an event of Nostr, or for something of a machine of the mesh
//! (schedule.md 1, HV-3.5-1).
//!
//! A look asks relays for what they have, and keeps no connection: a host that was off finds what came, and each event begins
//! something once, because those that were seen are on record with the slot that came of them. A relay is believed in nothing: what it
//! gives counts where its signature holds and it is what was asked for.

use super::seeing::Now;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::mesh_registry::{MeshMessage, MeshReceipt};
use mesh::NodeId;
use model::schedule::{
    EVENT_TEXT_BYTES_MAX, EVENTS_BACK_SECS, EVENTS_SEEN_MAX, EVENTS_TOLD_MAX, EventFilter, MachineEvent,
    SeenChange, SeenEvent, SeenState, ToldEvent, Trigger, Unseen,
};
use model::{Digest, UnixMs};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An event as a relay gave it, whose id and signature hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayEvent {
    /// Its id.
    pub id: Digest,
    /// The public key that signed it.
    pub author: Digest,
    /// When its author says that it was made, in seconds since 1970.
    pub at: i64,
    /// Its kind.
    pub kind: u16,
    /// Its tags.
    pub tags: Vec<Vec<String>>,
    /// Its text.
    pub text: String,
}

/// Relays, as a host reaches them.
pub trait Relays: Send + Sync {
    /// Events that a relay keeps and that were made at this second or later, a bounded number of them; each was verified. `is_over`:
    /// nobody waits for it any more.
    ///
    /// # Errors
    /// In words, when it does not answer.
    fn events(
        &self,
        relay: &str,
        of: (&EventFilter, i64),
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<RelayEvent>, String>;
}

/// When other machines were heard last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachinesHeard {
    /// When this was so.
    pub now: UnixMs,
    /// When each was heard last; and, of one that was not heard since one listens, since when that is, and `false`.
    pub last: BTreeMap<NodeId, (UnixMs, bool)>,
    /// How long one that is here may say nothing, in milliseconds.
    pub quiet_ms: i64,
}

/// What a host tells of relays and other machines; of this process alone.
#[derive(Default)]
pub(crate) struct Afar {
    relays: Option<Arc<dyn Relays>>,
    heard: Option<MachinesHeard>,
}

/// What is new at relays or of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToldAfar {
    Events(Vec<ToldEvent>, u64),
    Machine(u64),
}

impl ToldAfar {
    /// As what changed of what was waited for.
    pub(super) fn change(self, on: &Trigger) -> SeenChange {
        match (self, on) {
            (Self::Machine(count), Trigger::Machine { name, event, .. }) => {
                SeenChange::Machine { name: name.clone(), event: *event, count }
            }
            (Self::Events(events, more), _) => SeenChange::Events { events, more },
            (Self::Machine(more), _) => SeenChange::Events { events: Vec::new(), more },
        }
    }
}

impl Kernel {
    /// Relays are asked by this from now on.
    pub fn asks_relays_by(&self, relays: Arc<dyn Relays>) {
        lock(&self.afar).relays = Some(relays);
    }

    /// Which machines the mesh heard; none where it does not run.
    pub fn heard_machines(&self, heard: Option<MachinesHeard>) {
        lock(&self.afar).heard = heard;
    }

    /// A schedule may wait for this machine: it is paired.
    ///
    /// # Errors
    /// [`Error::Input`], which says what can be said.
    pub(super) fn check_machine(&self, name: &str) -> Result<(), Error> {
        match self.machine_named(name) {
            Some(_) => Ok(()),
            None => Err(Error::Input(format!(
                "no machine, or more than one, is paired as `{name}`: `hermit mesh nodes` names them"
            ))),
        }
    }

    /// The one paired machine of a name, or of a key.
    fn machine_named(&self, name: &str) -> Option<NodeId> {
        let registry = self.mesh_registry();
        let is_it = |node: NodeId, known: &str| {
            known.to_lowercase() == name.to_lowercase() || node.to_string() == name.to_lowercase()
        };
        let mut found = registry.state()?.peers().filter(|peer| is_it(peer.node, &peer.name));
        let only = found.next()?.node;
        found.next().is_none().then_some(only)
    }

    /// What relays have now of what a schedule waits for. Relays that do not answer are left out, unless none does.
    pub(super) fn events_seen(
        &self,
        filter: &EventFilter,
        before: Option<&SeenState>,
    ) -> Result<Result<Now, Unseen>, Error> {
        let Some(relays) = lock(&self.afar).relays.clone() else { return Ok(Err(Unseen::RelayMissing)) };
        let now = self.ports.clock.now().0.div_euclid(1_000);
        let (since, seen): (i64, &[SeenEvent]) = match before {
            Some(SeenState::Events { since, seen }) => (*since, seen.as_slice()),
            _ => (now.saturating_sub(EVENTS_BACK_SECS), Default::default()),
        };
        let (mut found, mut answers): (BTreeMap<SeenEvent, RelayEvent>, _) = (BTreeMap::new(), 0_u32);
        let ask = |relay: &str| relays.events(relay, (filter, since), &|| self.is_ending_looks());
        // All at once: one that does not answer holds up none of the others.
        let said: Vec<_> = std::thread::scope(|threads| {
            let ask = &ask;
            let asked: Vec<_> = filter.relays.iter().map(|relay| threads.spawn(move || ask(relay))).collect();
            let joined = asked.into_iter().map(|thread| match thread.join() {
                Ok(said) => said,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect()
        });
        for (relay, said) in filter.relays.iter().zip(said) {
            match said {
                Ok(events) => {
                    answers = answers.saturating_add(1);
                    let fit = events.into_iter().filter(|one| filter.fits(&one.author, one.kind, &one.tags));
                    found.extend(fit.map(|one| (SeenEvent { at: one.at, id: one.id }, one)));
                }
                Err(_) if self.is_ending_looks() => return Err(Error::Halted),
                Err(why) => tracing::debug!(relay, why, "a relay that a schedule asks does not answer"),
            }
        }
        if answers == 0 {
            return Ok(Err(Unseen::RelayMissing));
        }
        // One that is made in a time that is to come is looked at when that has come.
        let latest = now.saturating_add(EVENTS_BACK_SECS);
        let known: BTreeSet<&SeenEvent> = seen.iter().collect();
        found.retain(|one, _| one.at >= since && one.at <= latest && !known.contains(one));
        if found.is_empty() {
            let state = SeenState::Events { since, seen: seen.to_vec() };
            return Ok(Ok(Now::whole(state)));
        }
        let state = remembered((since, now), seen.iter().chain(found.keys()));
        // What there was before one looked first is no news.
        let afar = before.is_some().then(|| self.told_events(found.into_values()));
        Ok(Ok(Now { afar, ..Now::whole(state) }))
    }

    fn told_events(&self, found: impl ExactSizeIterator<Item = RelayEvent>) -> ToldAfar {
        let redactor = self.ports.redactor.now();
        let more = found.len().saturating_sub(EVENTS_TOLD_MAX) as u64;
        let told = found.take(EVENTS_TOLD_MAX).map(|one| {
            let mut text = redactor.text(&one.text).rest.into_owned();
            let whole = text.len();
            text.truncate(text.floor_char_boundary(EVENT_TEXT_BYTES_MAX));
            let more = whole.saturating_sub(text.len()) as u64;
            let made_at = UnixMs(one.at.saturating_mul(1_000));
            ToldEvent { id: one.id, author: one.author, event_kind: one.kind, made_at, text, more }
        });
        ToldAfar::Events(told.collect(), more)
    }

    /// What is so of a machine now.
    pub(super) fn machine_seen(
        &self,
        name: &str,
        (event, minutes): (MachineEvent, Option<u32>),
        before: Option<&SeenState>,
    ) -> Result<Now, Unseen> {
        let node = self.machine_named(name).ok_or(Unseen::MachineMissing)?;
        let (was_silent, was_newest) = match before {
            Some(SeenState::Machine { is_silent, newest }) => (*is_silent, *newest),
            _ => (false, 0),
        };
        let registry = self.mesh_registry();
        let (is_silent, newest, came) = match event {
            MachineEvent::Silent => {
                let is_silent = self.is_silent(node, minutes.unwrap_or(0), was_silent);
                let is_silent = is_silent.ok_or(Unseen::MachineMissing)?;
                (is_silent, 0, u64::from(is_silent && !was_silent))
            }
            MachineEvent::Message => {
                // Words are there where that machine signed them: any other may name it as the origin of what it sends.
                let is_its = |one: &&MeshMessage| !one.is_outgoing && one.node == node && one.text.is_some();
                let (newest, came) =
                    since(was_newest, registry.messages().filter(is_its).map(|one| one.place));
                (false, newest, came)
            }
            MachineEvent::Receipt => {
                // By when it came, and not by its number, which that machine gives: it may be put back, or name the largest there is.
                let is_its = |one: &&MeshReceipt| one.node == node;
                let (newest, came) =
                    since(was_newest, registry.receipts().filter(is_its).map(|one| one.place));
                (false, newest, came)
            }
        };
        let afar = (before.is_some() && came > 0).then_some(ToldAfar::Machine(came));
        Ok(Now { afar, ..Now::whole(SeenState::Machine { is_silent, newest }) })
    }

    /// Whether a machine was not heard for so many minutes; none where nobody listens. Whoever has not listened for so long yet says
    /// of one that was not heard what was known before: a host that starts again begins nothing again.
    fn is_silent(&self, node: NodeId, minutes: u32, was_silent: bool) -> Option<bool> {
        let afar = lock(&self.afar);
        let heard = afar.heard.as_ref()?;
        let (last, is_heard) = *heard.last.get(&node)?;
        let silent_ms = i64::from(minutes).saturating_mul(60_000).max(heard.quiet_ms);
        let is_over = last.plus_ms(silent_ms) <= heard.now;
        Some(is_over || (!is_heard && was_silent))
    }
}

/// The newest of these places, and how many lie behind another. Where fewer are left than there were, what comes next is new.
fn since(was_newest: u64, places: impl Iterator<Item = u64>) -> (u64, u64) {
    places.fold((0, 0), |(newest, came), place| (place.max(newest), came + u64::from(place > was_newest)))
}

/// What is remembered of events: those of the time that one looks back, the newest; and from when on one looks.
fn remembered<'e>((since, now): (i64, i64), all: impl Iterator<Item = &'e SeenEvent>) -> SeenState {
    let mut seen: Vec<SeenEvent> = all.cloned().collect();
    seen.sort();
    let newest = seen.last().map_or(now, |one| one.at.min(now));
    let mut since = since.max(newest.saturating_sub(EVENTS_BACK_SECS));
    if let Some(cut) = seen.len().checked_sub(EVENTS_SEEN_MAX + 1) {
        // Of more than are remembered, those of the oldest seconds count no more.
        since = since.max(seen.get(cut).map_or(since, |one| one.at.saturating_add(1)));
    }
    seen.retain(|one| one.at >= since);
    SeenState::Events { since, seen }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test fails by panicking")]

    use super::*;

    fn event(at: i64) -> SeenEvent {
        SeenEvent { at, id: Digest::of(&at.to_be_bytes()) }
    }

    #[test]
    fn what_is_remembered_is_bounded_and_whatever_is_forgotten_counts_no_more() {
        let now = 2_000_000;
        let all: Vec<SeenEvent> = (0..1_500).map(|nth| event(now - 1_500 + nth)).collect();
        let SeenState::Events { since, seen } = remembered((now - 5_000, now), all.iter()) else {
            panic!("events");
        };
        assert!(seen.len() <= EVENTS_SEEN_MAX && seen.iter().all(|one| one.at >= since));
        assert!(all.iter().filter(|one| one.at >= since).all(|one| seen.contains(one)));
        // One of a time that is to come moves nobody's look beyond now.
        let SeenState::Events { since, seen } = remembered((0, now), [event(now + 600)].iter()) else {
            panic!("events");
        };
        assert_eq!((since, seen.len()), (now - EVENTS_BACK_SECS, 1));
    }
}
