//! Undoing what receipts tell of.

use model::ReceiptId;
use model::action::{ChangeItem, LeftAsIs};
use serde::{Deserialize, Serialize};

/// An undo of the effects of one receipt or of many: one request, one card, one grant, one receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollback {
    /// Which; of many the newest that is undone wholly, or the newest of all.
    pub receipt_id: ReceiptId,
    /// The others that are undone wholly, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<ReceiptId>,
    /// Those of which something is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partly: Vec<ReceiptId>,
    /// What is left as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftAsIs>,
    /// The inverse change set, with what must be there now.
    pub items: Vec<ChangeItem>,
}

impl Rollback {
    /// Every receipt that it is about: those undone wholly, then those of which something is left.
    pub fn receipts(&self) -> Vec<ReceiptId> {
        let rest = self.also.iter().chain(&self.partly).copied().filter(|id| *id != self.receipt_id);
        std::iter::once(self.receipt_id).chain(rest).collect()
    }
}

impl crate::Action {
    /// Every receipt that an undo is about, as [`Rollback::receipts`]; none of any other act.
    pub fn undoes(&self) -> Vec<ReceiptId> {
        match self {
            Self::Rollback(undo) => undo.receipts(),
            _ => Vec::new(),
        }
    }
}
