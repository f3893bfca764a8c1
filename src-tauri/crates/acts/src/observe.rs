//! Looking at files and folders.

use model::action::ReadItem;
use serde::{Deserialize, Serialize};

/// A look at files; at most [`model::limits::PARALLEL_READS_MAX`] run at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observe {
    /// What to look at.
    pub items: Vec<ReadItem>,
}
