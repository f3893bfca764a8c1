//! Content-addressed bytes on disk; seal, read, collect garbage by reachability.
//!
//! **What this room is for.** Everything a task produced, observed or was given is kept under the SHA-256 of its
//! bytes. What is small goes into the ledger's transaction ([`Put::Inline`]); what is larger becomes a synced file
//! `artifacts/sha256/<aa>/<hex>` before the event that names it is committed, so a committed event never points at
//! bytes that a crash could take away. Content of more than [`model::limits::WHOLE_ARTIFACT_BYTES_MAX`] is cut where its
//! own bytes say so, into chunks `artifacts/chunks/<a>/<hex>` that other content may share, with their list in
//! `artifacts/lists/<hex>` under the digest of the content, which stays its address.
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
//! 5. Nothing that is live is collected, and a dry run tells first what would go. What was just kept and is not named yet
//!    is spared (`lease.rs`), so a collection may run beside acts.
//! 6. A list is on disk after its chunks and goes before them; what a crash leaves is chunks without a list.
//! 7. A reader of large content holds one chunk in memory, and hands on no byte of it before it was compared.
//!
//! **Where to start reading.** [`Store::put`], [`Store::read`], `split.rs`, then [`Store::collect`].

mod error;
mod garbage;
mod lease;
mod list;
mod read;
mod split;
mod store;
mod write;

pub use error::Error;
pub use garbage::{Collected, Mode, Sweep, Verified, Weight};
pub use read::Content;
pub use store::{InlineBlobs, NoInline, Store};
pub use write::Put;
