//! The letters to one node: numbered, and each bound to all before it.

use crate::Says;
use model::UnixMs;
use seal::Digest;
use std::collections::{BTreeMap, BTreeSet};

/// A letter that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// What it says.
    pub says: Says,
    /// Since when.
    pub at: UnixMs,
    /// Whether a relay has it.
    pub accepted: bool,
    /// What all before it come to.
    pub before: Digest,
    /// What all come to with it.
    pub chain: Digest,
}

/// The letters to one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// The number of the newest.
    pub last: u64,
    /// What all come to with it ([`crate::Letter::chain`]).
    pub chain: Digest,
    /// Those that were not opened yet.
    pub waiting: BTreeMap<u64, Waiting>,
}

impl Default for Lane {
    fn default() -> Self {
        Self { last: 0, chain: Digest::ZERO, waiting: BTreeMap::new() }
    }
}

impl Lane {
    /// Those that wait and are messages. What machines tell each other by themselves is none, nor is what was given up; a
    /// conversation that passes with its message is one with it.
    pub fn messages(&self) -> impl Iterator<Item = (u64, &Waiting)> {
        let inputs = self.waiting.values().filter_map(|letter| match &letter.says {
            Says::Input(input) => Some(input.conversation.as_str()),
            _ => None,
        });
        let inputs: BTreeSet<&str> = inputs.collect();
        let is_message = move |says: &Says| match says {
            Says::Input(_) | Says::Answer(_) | Says::Card(_) | Says::Decision(_) => true,
            Says::HandOver(over) => !inputs.contains(over.conversation.as_str()),
            _ => false,
        };
        let all = self.waiting.iter().map(|(number, letter)| (*number, letter));
        all.filter(move |(_, letter)| is_message(&letter.says))
    }

    pub(crate) fn push(&mut self, says: Says, at: UnixMs) {
        let before = self.chain;
        let said = serde_json::to_vec(&says).unwrap_or_default();
        self.chain = Digest::of(&[before.as_bytes().as_slice(), &said].concat());
        self.last += 1;
        self.waiting.insert(self.last, Waiting { says, at, accepted: false, before, chain: self.chain });
    }
}
