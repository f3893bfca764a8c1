//! Changing files.

use crate::{Action, ActionRequest, Counts, Line, Observe, Part, Tool, folders, items};
use model::action::{ActionClass, ChangeItem, ExpectedEffect, Reversibility};
use model::artifact::TrustTier;
use model::grant::FilesystemScope;
use model::receipt::{ReplayClass, ResultCode};
use model::witness::Fingerprint;
use model::{RelPath, ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A change set of files: one request, one card, one grant, one receipt, one rollback (governance.md 2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// In order.
    pub items: Vec<ChangeItem>,
}

impl Tool for Change {
    fn classes(&self) -> BTreeSet<ActionClass> {
        items::classes(&self.items)
    }

    fn resources(&self, workspace: WorkspaceId) -> BTreeSet<ResourceId> {
        let paths = self.items.iter().flat_map(items::changed_paths);
        paths.map(|path| ResourceId::File(workspace, path.clone())).collect()
    }

    fn counts(&self) -> Counts {
        Counts::of_changes(&self.items)
    }

    fn parts(&self) -> Vec<Part> {
        self.items.iter().flat_map(items::parts).collect()
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
        items::title(&self.items)
    }

    fn one_line(&self) -> String {
        items::one_line(&self.items)
    }

    fn lines(&self, request: &ActionRequest) -> Vec<Line> {
        let work = request.guest.iter().flat_map(|work| crate::guest::of_work(work, &self.items));
        self.items.iter().map(items::line).chain(folders::lines(request)).chain(work).collect()
    }

    fn expected(&self, workspace: WorkspaceId, found: &[Fingerprint]) -> Vec<ExpectedEffect> {
        items::expected(workspace, &self.items, found)
    }

    fn look_instead(&self, there: &dyn Fn(&RelPath) -> bool) -> Option<Action> {
        Some(Action::Observe(Observe { items: items::looks(&self.items, there) }))
    }

    fn can_be_draft(&self) -> bool {
        true
    }
}
