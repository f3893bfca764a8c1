//! The reference monitor: its state, its halt, its evidence.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
use crate::{PersonSigned, Text, Verdict};

params! {
    /// Nothing to say.
    State {}
    /// Why.
    Halt { reason: Option<String> }
    /// What a person signed; not needed in the process that holds the store.
    Boot { #[serde(default)] signed: Option<PersonSigned> }
    /// Where to, absolute; must not exist.
    Export { path: String }
    /// Which file, absolute; and the hash of the last entry, when it is known from elsewhere.
    Verify { path: String, root: Option<String> }
}

answers! {
    /// How the gate stands.
    GateState {
        /// The state that the gate is in, by its name in the document: `IDLE` or `HALTED`.
        state: String,
        /// Nothing executes until a person boots.
        halted: bool,
        reason: Option<Text>,
        session: String,
        since: Option<i64>,
        /// Entries of the chain.
        entries: u64,
        /// Hash of the last entry.
        head: String,
    }
    /// What was written.
    Exported { path: String, entries: u64, root: String, byte_size: u64 }
    /// What a check found.
    Verified { verdict: Verdict, reason: String, entries: u64, root: Option<String> }
}
