//! A bounded set of ids: the oldest goes first.

use seal::Digest;
use std::collections::{BTreeSet, VecDeque};

/// Ids in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ids {
    known: BTreeSet<Digest>,
    order: VecDeque<Digest>,
}

impl Ids {
    pub(crate) const fn new() -> Self {
        Self { known: BTreeSet::new(), order: VecDeque::new() }
    }

    pub(crate) fn contains(&self, id: &Digest) -> bool {
        self.known.contains(id)
    }

    /// Adds one, and lets go of the oldest where there are more than so many; false where it was known.
    pub(crate) fn add(&mut self, id: Digest, most: usize) -> bool {
        if !self.known.insert(id) {
            return false;
        }
        self.order.push_back(id);
        if self.order.len() > most
            && let Some(old) = self.order.pop_front()
        {
            self.known.remove(&old);
        }
        true
    }
}
