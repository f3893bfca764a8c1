//! The run stream: token and tool deltas, cursors, replay; never truth.
//!
//! **What this room is for.** One append-only stream of events per run, in the envelope of the run adapter contract
//! (RA 1.1, 1.2), so that a surface can be closed and opened again and show what it would have shown. A run is the
//! user-visible life of one task: `run_id` is the task's identifier (reconciliation C21). The ledger's events are
//! mirrored here by [`RunFold`], a pure mapping; deltas of text have no other home.
//!
//! **What it must never do.** Be believed: where the ledger says otherwise, the ledger is right. Hold an event that
//! mirrors something not yet committed there. Say of a run that it is at work: it holds what was said, not what is.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. `seq` grows within a run and is never given twice, not even after a power cut that lost the last of them;
//!    `event_id` is `run_id:seq`. Numbers may be left out.
//! 2. A run has at most one terminal event, and nothing follows it.
//! 3. A ledger event is mirrored once and in order, whoever offers it how often; one that was left out is asked for.
//! 4. A replay is ordered and goes on behind the cursor it is given. A cursor that is foreign, malformed or ahead
//!    replays from the start and says so.
//! 5. Deltas may go once their run has ended; every other event, the last `seq` and the terminal event stay.
//! 6. After a crash what is left is a beginning of what was written.
//! 7. What a model reasons is in no file. It is told, and told again, while the process lives that heard it ([`Thoughts`]);
//!    afterwards its events say that it came, with no word of it.
//!
//! **Where to start reading.** [`Family`] and [`Envelope`], then [`RunFold`], [`Writer`], [`Reader`];
//! `migrations/runstream/0001_streams.sql` for what is stored.

mod cursor;
mod envelope;
mod error;
mod family;
mod from_ledger;
mod reader;
mod schema;
mod thoughts;
mod watch;
mod writer;

pub use cursor::{Position, Resumed};
pub use envelope::{Draft, Envelope};
pub use error::Error;
pub use family::Family;
pub use from_ledger::{Lifecycle, RunFold, Usage};
pub use reader::{Page, Reader, Run};
pub use schema::{FILE, damaged, set_aside};
pub use thoughts::Thoughts;
pub use watch::Watch;
pub use writer::{Mirrored, Writer, Written};
