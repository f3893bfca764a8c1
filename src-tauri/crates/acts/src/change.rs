//! Changing files.

use model::action::ChangeItem;
use serde::{Deserialize, Serialize};

/// A change set of files: one request, one card, one grant, one receipt, one rollback (governance.md 2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// In order.
    pub items: Vec<ChangeItem>,
}
