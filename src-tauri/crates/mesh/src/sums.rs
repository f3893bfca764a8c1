//! Which notices differ between two nodes of a large group: of each part of the makers both make a sum, and name the makers of those
//! parts alone whose sums differ. So what two nodes say to find one notice that one of them lacks does not grow with the group.

use crate::chain::Known;
use crate::node::Node;
use crate::sealed::Sealing;
use crate::state::State;
use crate::{Chance, NodeId, Says};
use model::UnixMs;
use std::collections::{BTreeMap, BTreeSet};

/// Makers that one letter names.
pub(crate) const HAS_MAX: usize = 128;
/// Parts of the makers.
pub(crate) const PARTS: usize = 64;
/// Hex digits of the sum of one part. Two that are the same by chance are others with the next notice.
const SUM_DIGITS: usize = 8;
/// How often one other node is told what is here of some parts, in milliseconds.
const NAME_EVERY_MS: i64 = 20_000;

/// To which part a maker belongs: keys are spread evenly.
pub(crate) fn part_of(maker: NodeId) -> u8 {
    maker.0.as_bytes().first().map_or(0, |first| first / 4)
}

impl State {
    /// The sum of each part, one behind the other.
    pub(crate) fn sums(&self) -> String {
        let mut hashers: Vec<seal::Hasher> = (0..PARTS).map(|_| seal::Hasher::new()).collect();
        for (maker, known) in self.has() {
            if let Some(hasher) = hashers.get_mut(usize::from(part_of(maker))) {
                hasher.update(maker.0.as_bytes());
                hasher.update(known.upto.to_be_bytes());
                // Of a withdrawn machine nobody sorts two branches out any more.
                if !self.withdrawn.contains_key(&maker) {
                    hasher.update(known.id.as_bytes());
                }
            }
        }
        let sums = hashers.into_iter().map(|hasher| hasher.finish().to_string());
        sums.map(|sum| sum.chars().take(SUM_DIGITS).collect::<String>()).collect()
    }

    /// What is here of some parts.
    fn has_of(&self, parts: &BTreeSet<u8>) -> BTreeMap<NodeId, Known> {
        let mut has = self.has();
        has.retain(|maker, _| parts.contains(&part_of(*maker)));
        has
    }
}

impl<S: Sealing> Node<S> {
    /// Tells another node what is here in short.
    pub(crate) fn tell_sums(&mut self, to: NodeId, chance: &mut dyn Chance) {
        let sums = self.state.sums();
        self.write_loose(to, Says::Sums { at: self.now, sums }, chance);
    }

    /// Another node said in short what it has: it is told what is here of the parts that differ, as many as fit.
    pub(crate) fn take_sums(&mut self, from: NodeId, at: UnixMs, sums: &str, chance: &mut dyn Chance) {
        let is_sums = sums.len() == PARTS * SUM_DIGITS && sums.is_ascii();
        if !is_sums || crate::notices::is_old(at, self.now) || self.names_early(from) {
            return;
        }
        let own = self.state.sums();
        let both = own.as_bytes().chunks(SUM_DIGITS).zip(sums.as_bytes().chunks(SUM_DIGITS));
        let differ: Vec<u8> =
            (0..).zip(both).filter(|(_, (own, told))| own != told).map(|(at, _)| at).collect();
        let first = chance.below(u32::try_from(differ.len()).unwrap_or(1).max(1));
        let first = usize::try_from(first).unwrap_or(0);
        let mut parts = BTreeSet::new();
        for part in differ.iter().cycle().skip(first).take(differ.len()) {
            parts.insert(*part);
            if self.state.has_of(&parts).len() > HAS_MAX {
                parts.remove(part);
                break;
            }
        }
        self.name(from, parts, chance);
    }

    fn names_early(&self, to: NodeId) -> bool {
        self.named.get(&to).is_some_and(|at| at.plus_ms(NAME_EVERY_MS) > self.now)
    }

    /// Tells another node what is here of some parts: it sends what lacks, and asks for what it lacks itself.
    pub(crate) fn name(&mut self, to: NodeId, parts: BTreeSet<u8>, chance: &mut dyn Chance) {
        if parts.is_empty() || self.names_early(to) {
            return;
        }
        let has = self.state.has_of(&parts);
        if has.len() > HAS_MAX {
            return;
        }
        self.named.insert(to, self.now);
        self.write_loose(to, Says::Has { at: self.now, has, of: parts }, chance);
    }
}
