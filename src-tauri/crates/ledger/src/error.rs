//! What can go wrong, told apart by what the caller can do about it.

use model::{EventId, GrantId, TaskId, UnixMs};
use seal::Digest;

/// Every refusal of this room. It can be cloned, because one failure may answer many callers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another process hosts the store: attach to it, or wait until it ends.
    #[error("the store is in use by process {pid}; attach to it, or end it first")]
    Held {
        /// The host's process; 0 when it has not said so yet.
        pid: u32,
        /// Since when.
        since: UnixMs,
        /// Where it can be reached, when it said so.
        address: Option<String>,
    },
    /// A process of another machine hosts the store, on a disk that both reach.
    #[error("the store is in use by another machine")]
    HeldElsewhere {
        /// Since when.
        since: UnixMs,
        /// The file that says so.
        path: String,
    },
    /// The task has moved on since the caller looked: look again.
    #[error("task `{task}` is at event {found}, not at {expected}; look again")]
    Moved {
        /// Which task.
        task: TaskId,
        /// The last `task_seq` the caller saw.
        expected: u64,
        /// The last one there is.
        found: u64,
    },
    /// The log has grown since the caller looked at all of it: look at what is new.
    #[error("the log is at event {found}, not at {expected}; look again")]
    Grown {
        /// The last `log_seq` the caller saw.
        expected: u64,
        /// The last one there is.
        found: u64,
    },
    /// The gate's chain has moved on since the caller looked.
    #[error("the gate's chain ends in `{found}`, not in `{expected}`; look again")]
    GateMoved {
        /// Where the first entry of the batch points.
        expected: Digest,
        /// The head there is.
        found: Digest,
    },
    /// The grant has been used as often as it may be.
    #[error("grant `{grant}` is used up")]
    GrantSpent {
        /// Which.
        grant: GrantId,
    },
    /// This was committed before; the first result stands.
    #[error("this was recorded before, as event `{event_id}`")]
    Duplicate {
        /// The event that already carries the idempotency key or identifier.
        event_id: EventId,
    },
    /// The batch contradicts itself or a limit. A mistake of the caller; nothing was written.
    #[error("this batch cannot be recorded: {why}")]
    Invalid {
        /// What is wrong.
        why: String,
    },
    /// Nothing is written any more in this process. Open the store again once the reason is gone.
    #[error("the store is read-only: {why}")]
    ReadOnly {
        /// Why.
        why: String,
    },
    /// The disk is full. Nothing was written and nothing is lost: free space and try again.
    #[error("the disk is full; nothing was recorded, free some space and try again")]
    Full,
    /// A newer Hermit made this store.
    #[error(
        "this store has schema {found}, and this Hermit knows up to {known}; open it with a newer Hermit"
    )]
    NewerSchema {
        /// Version of the store.
        found: u32,
        /// Newest version known here.
        known: u32,
    },
    /// The file is damaged. It is left as it is.
    #[error(
        "the ledger `{path}` is damaged: {why}; keep the file, and restore the newest backup into a new folder"
    )]
    Corrupt {
        /// Which file.
        path: String,
        /// What was found.
        why: String,
    },
    /// Something that was signed for is not what stands in the store.
    #[error("this store was changed behind Hermit's back: {why}")]
    Changed {
        /// It is in the store's own stream, which says whose keys count.
        own: bool,
        /// What.
        why: String,
    },
    /// There is no store in this folder.
    #[error("there is no ledger in `{dir}`; make one with `hermit keys init`")]
    NoStore {
        /// Where it was looked for.
        dir: String,
    },
    /// The projections refused the events; the batch was taken back.
    #[error("the views could not take this up: {why}")]
    Projection {
        /// What they said.
        why: String,
    },
    /// A key would not sign.
    #[error("the checkpoint could not be signed: {0}")]
    Signing(seal::Error),
    /// The caller asked to stop.
    #[error("stopped, as asked")]
    Cancelled,
    /// The file system or the database said no.
    #[error("{doing} failed: {why}")]
    Io {
        /// What was being done.
        doing: String,
        /// What was said.
        why: String,
    },
}

impl Error {
    pub(crate) fn io(doing: impl Into<String>, why: &impl ToString) -> Self {
        Self::Io { doing: doing.into(), why: why.to_string() }
    }

    pub(crate) fn invalid(why: impl ToString) -> Self {
        Self::Invalid { why: why.to_string() }
    }

    pub(crate) fn corrupt(path: &std::path::Path, why: impl ToString) -> Self {
        Self::Corrupt { path: path.display().to_string(), why: why.to_string() }
    }

    /// What a file operation said, a full disk told apart.
    pub(crate) fn file(doing: impl Into<String>, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        if matches!(error.kind(), StorageFull | QuotaExceeded) { Self::Full } else { Self::io(doing, error) }
    }

    /// What the database said, told apart by what can be done.
    pub(crate) fn sql(doing: &str, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match error.sqlite_error_code() {
            Some(Code::DiskFull) => Self::Full,
            Some(code @ (Code::DatabaseCorrupt | Code::NotADatabase)) => {
                Self::Corrupt { path: crate::FILE.to_owned(), why: format!("{doing}: {code:?}") }
            }
            _ if error.to_string().contains("ledger: stale epoch") => {
                Self::ReadOnly { why: "another host has taken the store over".to_owned() }
            }
            _ => Self::io(doing, error),
        }
    }
}
