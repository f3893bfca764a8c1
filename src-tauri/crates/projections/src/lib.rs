//! Tables folded from events; disposable, rebuildable byte for byte; every list query and full-text search.
//!
//! **What this room is for.** The twelve views of HK-13.6 and what the screens need beside them, folded by [`Fold`]
//! inside the ledger's own transaction, asked through [`Query`].
//!
//! **What it must never do.** Be believed where authority is decided: nothing may act on a row of these tables
//! (HK-20.4). Hold a text that the ledger can no longer show: rows keep the digest of a sensitive leaf, and the
//! text is looked up where it can be erased. Be written by anything but the fold.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. Tables are a pure function of the events, the disclosures that survive, and small artifacts committed with
//!    their event: dropped and folded again, they are the same byte for byte.
//! 2. Events and tables change in one transaction: no reader sees one without the other.
//! 3. A conversation has at most one implicit focus, and only a person's doing or the end of the task moves it.
//! 4. A list has a cap, a cursor and one order; a page never repeats or skips a row that was there before.
//! 5. Only the writer rebuilds; a reader of another version says so.
//!
//! **Where to start reading.** `migrations/projections/0001_views.sql`, then [`Fold`], [`Query`], [`mod@rebuild`].

mod cell;
mod digest;
mod error;
mod fold;
pub mod names;
pub mod query;
pub mod rebuild;
pub mod rows;
mod schema;
pub mod vectors;

pub use digest::{TableDigest, digest, tables};
pub use error::Error;
pub use fold::Fold;
pub use names::{ActionState, ArtifactState, Ending, GrantState, MessageKind, Role, RunStatus, run_status};
pub use query::{Ask, Cursor, Order, Page, Query};
pub use rebuild::{Flow, Progress, rebuild};
pub use schema::{VERSION, migrate};
pub use vectors::{NewVector, Vectors, VectorsOf};
