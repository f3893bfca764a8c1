//! Content-addressed bytes on disk; seal, read, collect garbage by reachability.
//!
//! **What this room is for.** Everything a task produced, observed or was given is kept under the SHA-256 of its
//! bytes. What is small goes into the ledger's transaction ([`Put::Inline`]); what is larger becomes a synced file
//! `artifacts/sha256/<aa>/<hex>` before the event that names it is committed, so a committed event never points at
//! bytes that a crash could take away.
//!
//! **What it must never do.** Change or overwrite content. Return bytes that do not hash to their name. Read
//! without a bound. Delete what was not given as garbage by whoever knows what is reachable.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. A file under its final name is whole and on disk: temporary file, sync, rename, sync of the folder.
//! 2. Every read compares the digest; a file that was changed or lost is an error that names it.
//! 3. No artifact is larger than [`model::limits::ARTIFACT_BYTES_MAX`], written or read.
//! 4. Files belong to their owner alone: mode 0600, folders 0700.
//! 5. Nothing that is live is collected, and a dry run tells first what would go.
//!
//! **Where to start reading.** [`Store::put`], [`Store::read`], then [`Store::collect`].

mod error;
mod garbage;
mod read;
mod store;
mod write;

pub use error::Error;
pub use garbage::{Collected, Mode};
pub use read::Content;
pub use store::{InlineBlobs, NoInline, Store};
pub use write::Put;
