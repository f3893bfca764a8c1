//! The append-only, hash-chained event log in SQLite; checkpoints; one fenced writer; verification.
//!
//! **What this room is for.** One file, `ledger.db`, holds what happened: events chained task by task, the gate's
//! entries in a chain of their own, small artifacts, disclosures, uses of grants, signed checkpoints. Projections
//! live in the same file, so that one transaction covers both. [`Writer`] puts a [`Batch`] on disk or refuses it;
//! [`Reader`] gives back the exact bytes; [`verify()`] says what they are worth.
//!
//! **What it must never do.** Serialise again what it stored. Repair, recreate or reset a broken store. Retry a
//! sync. Acknowledge what is not on disk. Decide: it refuses what contradicts the log and judges nothing else.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. The stored bytes are the preimage: what was hashed is stored, read, exported and hashed again.
//! 2. Ground rows are added and never changed; the database itself refuses anything else. Only a disclosure may go,
//!    and content of a small artifact that an event names as erased.
//! 3. `task_seq` counts from 1 without gaps, and each event carries the hash of the one before it.
//! 4. One batch is one durable boundary: all of it or nothing, whatever else shares its commit.
//! 5. Every row carries the epoch of its writer, and only the newest epoch writes.
//! 6. One commit is one sync. After one that failed nothing is written any more, and the reason is told.
//! 7. A full disk refuses the batch and leaves the store as it was.
//! 8. A broken chain is anchored anew by an event that names what it severed; the severed rows stay (proof.md 2).
//! 9. An empty or cut log is never valid; without a signature that somebody trusts nothing is valid either.
//!
//! **Where to start reading.** `migrations/ledger/0001_ground.sql`, then [`Batch`], [`Writer::commit`], [`Reader`].

mod backup;
mod batch;
mod check;
mod checkpoint;
mod commit_queue;
mod content;
mod covers;
mod engine;
mod error;
mod insert;
mod lock;
mod other_process;
mod prepare;
mod reader;
mod reads;
mod rows;
mod schema;
pub mod severed;
mod state;
mod tree;
pub mod verify;
mod wal;
mod writer;

pub use backup::{Backup, backup, put_back, restore, schema_of};
pub use batch::{Batch, Committed, NoProjections, Placed, Projector};
pub use checkpoint::{Checkpoint, CheckpointKind, NewCheckpoint};
pub use disk::owner_only;
pub use error::Error;
pub use lock::{Holder, holder};
pub use reader::Reader;
pub use reads::{Stats, Stored};
pub use schema::{FILE, SCHEMA};
pub use severed::Severed;
pub use verify::{Changed, PinState, Report, Verdict, check_pin, verify};
pub use writer::{OpenOptions, Writer};
