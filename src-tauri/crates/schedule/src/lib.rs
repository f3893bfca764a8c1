//! When what is scheduled is due: a rule, its slots, and what becomes of those that were missed.
//!
//! **What this room is for.** Rules of a calendar in a time zone, plain words for them, the slots of a rule, and a record for each
//! slot that came due.
//!
//! **What it must never do.** Read a clock, know a task, or make one. Of the machine it reads the database of time zones, or else
//! the one it brings along.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. A slot of a rule is one instant, and the slots of a rule are in order, each once (`schedule.md` 1).
//! 2. A time of day that a zone leaves out is due at the next instant there is; one that comes twice is due the first time.
//! 3. An interval stands on the grid of its own beginning, whenever anything looks.
//! 4. Each slot that came due is settled once: it fires, or it is passed over, and it is said why.
//!
//! Start reading at [`slots`], then [`settle`].

mod bounds;
mod catch_up;
mod conditions;
mod days;
mod plain_words;
mod rule;
mod seen;

pub use bounds::{delay_ms, hours, opens, within};
pub use catch_up::settle;
pub use conditions::{Only, conditions, unmet};
pub use days::{day_and_time, month};
pub use plain_words::{parse, said};
pub use rule::{Slots, check, cron, every, in_words, next, slots, zone_named};
pub use seen::{Files, ended_so, files_changed, steady, told};

/// Why a text is no rule, in words that say what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotARule(pub String);
