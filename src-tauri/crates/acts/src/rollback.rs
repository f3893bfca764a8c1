//! Undoing what receipts tell of.

use crate::{ActionRequest, Counts, Line, Part, Tool, count, folders, items, short, visible, visible_path};
use model::action::{ActionClass, ChangeItem, ExpectedEffect, LeftAsIs, Reversibility};
use model::artifact::TrustTier;
use model::grant::FilesystemScope;
use model::receipt::{ReceiptClass, ReplayClass, ResultCode};
use model::witness::Fingerprint;
use model::{ReceiptId, ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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

impl Tool for Rollback {
    fn classes(&self) -> BTreeSet<ActionClass> {
        let mut found = BTreeSet::from([ActionClass::Rollback]);
        if !self.items.is_empty() {
            found.extend(items::classes(&self.items));
        }
        found
    }

    fn resources(&self, workspace: WorkspaceId) -> BTreeSet<ResourceId> {
        let paths = self.items.iter().flat_map(items::changed_paths);
        let files = paths.map(|path| ResourceId::File(workspace, path.clone()));
        self.receipts().into_iter().map(ResourceId::Receipt).chain(files).collect()
    }

    fn counts(&self) -> Counts {
        Counts::of_changes(&self.items)
    }

    fn parts(&self) -> Vec<Part> {
        self.items.iter().flat_map(items::parts).chain([Part::Other]).collect()
    }

    /// Files alone are touched; their classes, item by item, are not asked.
    fn sends(&self) -> bool {
        false
    }

    fn reversibility(&self) -> Reversibility {
        Reversibility::Reversible
    }

    fn reversibility_without_changes(&self, _: &ActionRequest, _: ResultCode) -> Reversibility {
        Reversibility::NoEffect
    }

    fn receipt_class(&self) -> ReceiptClass {
        ReceiptClass::Rollback
    }

    fn replay_class(&self) -> ReplayClass {
        ReplayClass::IdempotentReplay
    }

    fn filesystem_scope(&self) -> FilesystemScope {
        FilesystemScope::Named
    }

    fn trust(&self) -> TrustTier {
        TrustTier::Observed
    }

    fn title(&self) -> String {
        let stays = self.left.len();
        let rest = if stays > 0 { format!(", leave {}", count(stays, "place")) } else { String::new() };
        format!("undo {}: {}{rest}", count(self.receipts().len(), "receipt"), items::title(&self.items))
    }

    fn lines(&self, request: &ActionRequest) -> Vec<Line> {
        let undone = self.receipts().into_iter().map(|receipt| {
            let part = if self.partly.contains(&receipt) { "a part of " } else { "" };
            Line::effect(format!("undo {part}the effects of receipt `{}`", short(&receipt)))
        });
        let mut lines: Vec<Line> =
            undone.chain(self.items.iter().map(items::line)).chain(folders::lines(request)).collect();
        lines.extend(self.left.iter().map(|stays| {
            let place = match &stays.resource {
                ResourceId::File(_, path) => visible_path(path),
                other => format!("`{other}`"),
            };
            Line::effect(format!("LEFT AS IT IS: {place}: {}", visible(&stays.why)))
        }));
        lines
    }

    fn expected(&self, workspace: WorkspaceId, found: &[Fingerprint]) -> Vec<ExpectedEffect> {
        items::expected(workspace, &self.items, found)
    }
}
