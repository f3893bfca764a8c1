//! The running version: its source, and what it tells of itself (successor.md 2).
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};

params! {
    /// Nothing to say.
    Show {}
    /// A part of what this version tells of itself.
    Introspect {
        topic: Introspected,
        /// Only what has these words in its name, its place or what it is for; everything when absent.
        words: Option<String>,
        /// The `next` of the part before.
        after: Option<String>,
        limit: Option<u32>,
    }
}

answers! {
    /// The running version.
    Version {
        version: String,
        /// The digest of its source as `hermit source` writes it; none in a program that carries none.
        source_sha256: Option<String>,
        /// Files of it.
        source_files: u64,
        /// Bytes of it.
        source_bytes: u64,
    }
    /// A part of what this version tells of itself, in the order of its source.
    ToldList {
        rows: Vec<Told>,
        /// Where to go on; absent at the end.
        next: Option<String>,
    }
    /// One thing that a version tells of itself.
    Told {
        name: String,
        /// What it is for.
        about: String,
        /// Its value, or how it stands; empty where it has none.
        value: String,
        /// Where it stands in the source: a path, with `:LINE` where it is a line.
        at: String,
        /// What it leads to: doors of a room, tests of a requirement, requirements of a test, topics of a command.
        leads_to: Vec<String>,
    }
}

/// What can be asked of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Introspected {
    /// Crates, with their purpose and the rooms each needs.
    #[default]
    Rooms,
    /// Which room may import which.
    Doors,
    /// Commands of every surface, with what each needs.
    Commands,
    /// Constants that bound something.
    Limits,
    /// Requirements, how each stands, and the tests that show it.
    Requirements,
    /// Tests that show a requirement.
    Tests,
}
