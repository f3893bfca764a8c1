//! Parts of lists.

use serde::{Deserialize, Serialize};

/// Rows of a page when none are asked for.
pub const PAGE_ROWS_DEFAULT: u32 = 50;
/// Rows of a page at most; a caller pages on.
pub const PAGE_ROWS_MAX: u32 = 500;

/// One part of a list. Hand `next` back as `after` for the following part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The rows, the newest first unless the command says otherwise.
    pub rows: Vec<T>,
    /// Where to go on; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
