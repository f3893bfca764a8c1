//! The gate's entries: each hashes to what it says and stands in the gate's tree, without the others being shown.

use super::Check;
use super::heads::stands_in;
use crate::container::Stop;
use crate::layout::{self as l, Named};
use crate::lines::Lines;
use crate::statement::Predicate;
use model::audit::{AuditEntry, GateDecision, KernelState};
use seal::merkle::leaf_hash;

impl Check<'_> {
    pub(super) fn gate(&mut self, predicate: &Predicate) -> Result<(), Stop> {
        let numbers = self.sums.gate_numbers();
        if self.has(l::GATE_ENTRIES) {
            self.entries(&numbers)?;
        } else if let Some(number) = numbers.first() {
            return Err(Stop::at(
                Named::GateProof(*number).path(),
                "it proves the place of an entry that is not here",
            ));
        } else if self.has(l::GATE_CHECKPOINT) {
            return Err(Stop::at(l::GATE_CHECKPOINT, "there are no entries it could be the head of"));
        }
        self.dispatches(predicate)
    }

    fn entries(&mut self, numbers: &[u64]) -> Result<(), Stop> {
        let container = self.container;
        let mut lines = Lines::new(l::GATE_ENTRIES, container.reader(l::GATE_ENTRIES)?);
        let mut numbers_left = numbers.iter();
        let mut last: Option<(u64, AuditEntry)> = None;
        while let Some((line_number, line)) = lines.next()? {
            let place = format!("{} line {line_number}", l::GATE_ENTRIES);
            let entry: AuditEntry = seal::canon::from_canonical(line).map_err(|e| Stop::at(&place, e))?;
            let computed = entry.computed_hash().map_err(|e| Stop::at(&place, e))?;
            if computed != entry.entry_hash {
                return Err(Stop::at(place, "its fields do not give the hash it says"));
            }
            let number = match (self.signed && !self.single, numbers_left.next()) {
                (true, Some(number)) => self.placed_entry(*number, line)?,
                (true, None) => return Err(Stop::at(place, "no proof of its place is here")),
                (false, None) => line_number,
                (false, Some(_)) => return Err(Stop::at(place, "this bundle proves no places of entries")),
            };
            if let Some((before, previous)) = &last
                && self.signed
                && !self.single
                && before + 1 == number
                && entry.prev_hash != previous.entry_hash
            {
                return Err(Stop::at(place, "it does not point back to the entry before it"));
            }
            let passes =
                entry.state_to == KernelState::Executing || entry.state_from == KernelState::Executing;
            let allowed = passes && entry.decision == GateDecision::Allow;
            // Where no place of it is proven, nothing else would notice.
            if self.entries.insert(entry.entry_hash, allowed).is_some() {
                return Err(Stop::at(place, "the same entry stands before it"));
            }
            self.counts.gate_entries += 1;
            last = Some((number, entry));
        }
        if numbers_left.next().is_some() {
            return Err(Stop::at(l::GATE_ENTRIES, "it has fewer entries than there are proofs"));
        }
        if last.is_none() {
            return Err(Stop::at(l::GATE_ENTRIES, "it is empty"));
        }
        self.summed(l::GATE_ENTRIES, lines.digest())
    }

    fn placed_entry(&mut self, number: u64, line: &[u8]) -> Result<u64, Stop> {
        let name = Named::GateProof(number).path();
        let gate = self.heads.as_ref().and_then(|heads| heads.gate.as_ref());
        let gate = gate.ok_or_else(|| Stop::at(l::GATE_CHECKPOINT, "it is missing"))?;
        let (note, head) = (gate.note.clone(), gate.head.clone());
        let proof = self.proof(&name, &note)?;
        if proof.index.checked_add(1) != Some(number) {
            return Err(Stop::at(
                name,
                format!("it proves the place of leaf {}, counted from 0", proof.index),
            ));
        }
        stands_in(&name, &proof, &leaf_hash(line), &head)?;
        Ok(number)
    }

    /// Everything that was dispatched was let pass by an entry that is here.
    fn dispatches(&mut self, predicate: &Predicate) -> Result<(), Stop> {
        if !predicate.is_whole() {
            return Ok(());
        }
        let missing: Vec<u64> = self
            .facts
            .dispatched
            .iter()
            .filter(|(hash, _)| !self.entries.contains_key(*hash))
            .map(|(_, seq)| *seq)
            .collect();
        for seq in missing {
            self.lacks(format!("the gate entry under which event {seq} dispatched an effect"));
        }
        let refused = self.facts.dispatched.iter().find(|(hash, _)| self.entries.get(*hash) == Some(&false));
        match refused {
            Some((hash, seq)) => {
                let why = format!("it names the gate entry `{hash}`, which lets nothing pass");
                Err(Stop::at(format!("{} line {seq}", l::TASK_EVENTS), why))
            }
            None => Ok(()),
        }
    }
}
