//! What can go wrong, told apart by what the caller can do about it.

use crate::Family;
use model::TaskId;

/// Every refusal of this room.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Events of the ledger between the last mirrored one and this were left out: offer them first.
    #[error(
        "run `{run_id}` is mirrored up to event {mirrored}, so {offered} cannot follow; mirror those between first"
    )]
    Gap {
        /// Which run.
        run_id: TaskId,
        /// The last `task_seq` mirrored.
        mirrored: u64,
        /// The one offered.
        offered: u64,
    },
    /// A payload lacks what its family promises. A mistake of the caller; nothing was written.
    #[error("a `{family}` event needs `{field}` in its payload")]
    Payload {
        /// The family.
        family: Family,
        /// The key that is missing.
        field: &'static str,
    },
    /// A payload is larger than an event may be. A mistake of the caller; nothing was written.
    #[error("a `{family}` event of {bytes} bytes is too large; give it an artifact to point at")]
    TooLarge {
        /// The family.
        family: Family,
        /// How large its payload is.
        bytes: usize,
    },
    /// The run has not ended, so its deltas are still wanted.
    #[error("run `{run_id}` has not ended; its deltas stay until it has")]
    StillGoing {
        /// Which run.
        run_id: TaskId,
    },
    /// There is no such run.
    #[error("there is no run `{run_id}` in the journal")]
    NoRun {
        /// Which run.
        run_id: TaskId,
    },
    /// There is no journal in this folder yet.
    #[error("there is no journal in `{dir}`; the host of the store makes one")]
    NoJournal {
        /// The folder.
        dir: String,
    },
    /// The file is damaged or another program's. It is never truth: [`crate::set_aside`] it and open again.
    #[error("the journal is damaged: {why}; set it aside, it is written again from the ledger")]
    Damaged {
        /// What was found.
        why: String,
    },
    /// The file was written by a newer program.
    #[error("the journal has schema {found}, this program knows {known}; use a newer Hermit")]
    NewerSchema {
        /// The schema found.
        found: u32,
        /// The newest one known.
        known: u32,
    },
    /// The disk or the database says no.
    #[error("{doing}: {why}")]
    Disk {
        /// What was being done.
        doing: &'static str,
        /// What it said.
        why: String,
    },
}

impl Error {
    /// What SQLite said, told apart.
    pub(crate) fn sql(doing: &'static str, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged { why: error.to_string() },
            _ => Self::Disk { doing, why: error.to_string() },
        }
    }
}
