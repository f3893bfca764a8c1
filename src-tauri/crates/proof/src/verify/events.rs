//! The task's events: all of them in one chain and one tree, or a few with their places in it.

use super::Check;
use super::heads::stands_in;
use crate::container::Stop;
use crate::layout::{self as l, Named};
use crate::lines::Lines;
use crate::statement::Predicate;
use model::Event;
use seal::chain::ChainVerifier;
use seal::merkle::{Frontier, leaf_hash};

impl Check<'_> {
    pub(super) fn events(&mut self, predicate: &Predicate) -> Result<(), Stop> {
        let single = self.sums.keys().find(|n| n.starts_with("task/events/") || n.starts_with("task/proofs"));
        match (predicate.receipt_id, self.has(l::TASK_EVENTS), single.cloned()) {
            (None, true, None) => self.all_events(predicate),
            (Some(_), false, Some(_)) => self.some_events(predicate),
            (None, false, _) => Err(Stop::at(l::TASK_EVENTS, "it is missing")),
            (Some(_), false, None) => Err(Stop::at("task/events", "the receipt's event is missing")),
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
            frontier.push(leaf_hash(line));
            let event = Event::from_bytes(line).map_err(|e| Stop::at(place(), e))?;
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

    /// Events shown alone, each with its place in the task's tree.
    fn some_events(&mut self, predicate: &Predicate) -> Result<(), Stop> {
        let names: Vec<(String, Named)> =
            self.sums.keys().filter_map(|n| Some((n.clone(), Named::parse(n)?))).collect();
        for (name, named) in &names {
            match *named {
                Named::Event(seq) => self.placed_event(name, seq, predicate)?,
                Named::EventProof(seq) if !self.has(&Named::Event(seq).path()) => {
                    return Err(Stop::at(name, "it proves the place of an event that is not here"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn placed_event(&mut self, name: &str, seq: u64, predicate: &Predicate) -> Result<(), Stop> {
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
        self.event(&event, predicate, &|| name.to_owned())
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
        self.open_leaves(&event.payload, "/payload")
    }
}
