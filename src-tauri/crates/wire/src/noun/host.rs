//! The process that holds the store, and what waits for a person.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};

params! {
    /// Nothing to say.
    Status {}
    /// Nothing to say.
    Doctor {}
    /// Nothing to say.
    Resume {}
}

answers! {
    /// Who, and how it stands.
    HostStatus {
        /// This process: `owner` holds the store, `reader` only reads.
        role: String,
        /// The process that holds it, when one does.
        held_by: Option<Holder>,
        store_id: String,
        dir: String,
        version: String,
        epoch: u64,
        halted: bool,
        halt_reason: Option<Text>,
        waiting: Waiting,
    }
    /// A process that holds the store.
    Holder { pid: u32, since: i64, address: Option<String> }
    /// How much waits.
    Waiting {
        approvals: u64,
        questions: u64,
        unknown_effects: u64,
        undecided_messages: u64,
        running: u64,
    }
    /// What was found.
    Facts { facts: Vec<Fact> }
    /// One fact.
    Fact {
        name: String,
        /// `fine`, `note`, `trouble`.
        level: Level,
        value: String,
        /// What to do about it; empty when nothing is to be done.
        advice: String,
    }
    /// Tasks that go on.
    Resumed { tasks: Vec<String> }
}

/// How much a fact matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Fine,
    /// Worth knowing.
    Note,
    /// Something does not work.
    Trouble,
}
