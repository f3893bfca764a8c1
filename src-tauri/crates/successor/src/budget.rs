//! What a clone may use up, and what it did use.

use serde::{Deserialize, Serialize};
use words::successor::BudgetPart;

/// The budget of a clone (successor.md 3). Enforced by whoever made the walls, never by the clone itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Milliseconds by the clock.
    pub wall_ms: u64,
    /// Milliseconds of processors, all processes together.
    pub cpu_ms: u64,
    /// Bytes of memory, all processes together where the system counts so.
    pub memory_bytes: u64,
    /// Bytes that it may write.
    pub disk_bytes: u64,
    /// Processes at once.
    pub processes: u32,
    /// Tokens of models, read and written.
    pub tokens: u64,
}

/// What a clone used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Used {
    /// Milliseconds by the clock.
    pub wall_ms: u64,
    /// Milliseconds of processors.
    pub cpu_ms: u64,
    /// Bytes of memory at its highest.
    pub memory_bytes: u64,
    /// Bytes that lay in its folder at its end.
    pub disk_bytes: u64,
    /// Tokens of models.
    pub tokens: u64,
    /// What it was ended for, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_for: Option<BudgetPart>,
}
