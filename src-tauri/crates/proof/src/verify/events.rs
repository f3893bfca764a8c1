//! The task's events: all of them in one chain and one tree, or a few with their places in it.

use super::Check;
use super::heads::stands_in;
use crate::container::Stop;
use crate::layout::{self as l, Named};
use crate::lines::Lines;
use crate::statement::Predicate;
use model::Event;
use seal::Digest;
use seal::chain::ChainVerifier;
use seal::merkle::{Frontier, leaf_hash};
use std::collections::BTreeMap;

impl Check<'_> {
    pub(super) fn events(&mut self, predicate: &Predicate) -> Result<(), Stop> {
        let places = self.sums.below("task/events/").chain(self.sums.below("task/proofs.tlog-proof/"));
        let single = places.map(str::to_owned).next();
        match (predicate.is_whole(), self.has(l::TASK_EVENTS), single) {
            (true, true, None) => self.all_events(predicate),
            (false, false, Some(_)) => self.some_events(predicate),
            (true, false, _) => Err(Stop::at(l::TASK_EVENTS, "it is missing")),
            (false, false, None) => Err(Stop::at("task/events", "the events it is about are missing")),
            (_, _, other) => {
                let name = other.unwrap_or_else(|| l::TASK_EVENTS.to_owned());
                Err(Stop::at(name, "it does not belong into a bundle of this scope"))
            }
        }
    }

    /// Chain, number and root of all events, in one pass.
    fn all_events(&mut self, predicate: &Predicate) -> Result<(), Stop> {
        let container = self.container;
        let mut lines = Lines::new(l::TASK_EVENTS, container.reader(l::TASK_EVENTS)?);
        let (mut chain, mut frontier) = (ChainVerifier::new(), Frontier::new());
        while let Some((number, line)) = lines.next()? {
            let place = || format!("{} line {number}", l::TASK_EVENTS);
            chain.push(line).map_err(|e| Stop::at(place(), e))?;
            let leaf = leaf_hash(line);
            frontier.push(leaf);
            let event = Event::from_bytes(line).map_err(|e| Stop::at(place(), e))?;
            self.may_be_leaf(&event.event_type, leaf);
            self.event(&event, predicate, &place)?;
        }
        let found = chain.len();
        if found != predicate.task_size {
            let why = format!("it has {found} events where {} were signed", predicate.task_size);
            return Err(Stop::at(format!("{} line {}", l::TASK_EVENTS, found + 1), why));
        }
        if frontier.root() != predicate.task_root {
            return Err(Stop::at(l::TASK_EVENTS, "its events do not give the root that was signed"));
        }
        self.summed(l::TASK_EVENTS, lines.digest())
    }

    /// Events shown alone, each with its place in the task's tree; of a span all, in one chain.
    fn some_events(&mut self, predicate: &Predicate) -> Result<(), Stop> {
        let mut shown: BTreeMap<u64, String> = BTreeMap::new();
        for name in self.sums.below("task/events/") {
            if let Some(Named::Event(seq)) = Named::parse(name) {
                shown.insert(seq, name.to_owned());
            }
        }
        for name in self.sums.below("task/proofs.tlog-proof/") {
            if let Some(Named::EventProof(seq)) = Named::parse(name)
                && !shown.contains_key(&seq)
            {
                return Err(Stop::at(name, "it proves the place of an event that is not here"));
            }
        }
        if let Some([first, last]) = predicate.span {
            let wanted = (first..=last).find(|seq| !shown.contains_key(seq));
            let strange = shown.keys().find(|seq| !(first..=last).contains(*seq));
            if let Some(seq) = wanted.or(strange.copied()) {
                let why = format!("events {first} to {last} are what it is about, no fewer and no others");
                return Err(Stop::at(Named::Event(seq).path(), why));
            }
        }
        let mut before: Option<(u64, Digest)> = None;
        for (seq, name) in shown {
            let (hash, points_to) = self.placed_event(&name, seq, predicate)?;
            if before.is_some_and(|(at, hash)| at + 1 == seq && hash != points_to) {
                return Err(Stop::at(name, "it does not point back to the event before it"));
            }
            before = Some((seq, hash));
        }
        Ok(())
    }

    /// One event and its place; its hash, and the hash it points back to.
    fn placed_event(
        &mut self,
        name: &str,
        seq: u64,
        predicate: &Predicate,
    ) -> Result<(Digest, Digest), Stop> {
        let bytes = self.whole(name, l::LINE_BYTES_MAX as u64)?;
        let event = Event::from_bytes(&bytes).map_err(|e| Stop::at(name, e))?;
        if event.task_seq != seq || seq > predicate.task_size {
            return Err(Stop::at(name, format!("it is event {} of its task, not {seq}", event.task_seq)));
        }
        let proof_name = Named::EventProof(seq).path();
        let head = self.heads.as_ref().map(|h| (h.task_note.clone(), h.task.clone()));
        if let Some((note, head)) = head {
            let proof = self.proof(&proof_name, &note)?;
            if proof.index != seq - 1 {
                return Err(Stop::at(
                    proof_name,
                    format!("it proves the place of leaf {}, counted from 0", proof.index),
                ));
            }
            stands_in(&proof_name, &proof, &leaf_hash(&bytes), &head)?;
        } else if self.has(&proof_name) {
            return Err(Stop::at(proof_name, "a store without keys proves no places"));
        }
        self.may_be_leaf(&event.event_type, leaf_hash(&bytes));
        self.event(&event, predicate, &|| name.to_owned())?;
        Ok((Digest::of(&bytes), event.prev_event_hash))
    }

    fn event(
        &mut self,
        event: &Event,
        predicate: &Predicate,
        place: &dyn Fn() -> String,
    ) -> Result<(), Stop> {
        if event.task_id != predicate.task_id {
            return Err(Stop::at(place(), format!("it belongs to task {}", event.task_id)));
        }
        if event.canon != seal::canon::CANON {
            return Err(Stop::at(place(), format!("its canonical form `{}` is not ours", event.canon)));
        }
        self.facts.take(event).map_err(|e| Stop::at(place(), e))?;
        self.counts.events += 1;
        // One receipt alone shows what it says itself; of its event only what the log says.
        if self.single {
            return Ok(());
        }
        self.open_leaves(&event.payload, "/payload")
    }
}
