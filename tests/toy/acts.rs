//! Making one folder.

use crate::{ActionRequest, Counts, Line, Tool, items, visible_path};
use model::action::{ActionClass, ChangeItem, ExpectedEffect, Reversibility};
use model::grant::FilesystemScope;
use model::witness::Fingerprint;
use model::{RelPath, ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A folder that is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folder {
    /// Where.
    pub path: RelPath,
}

impl Folder {
    /// The one change that it is.
    pub fn items(&self) -> [ChangeItem; 1] {
        [ChangeItem::Folder { path: self.path.clone(), mode: None, was: None }]
    }
}

impl Tool for Folder {
    fn offered() -> Option<&'static str> {
        Some(
            r#"{ "name": "folder", "description": "Make a folder.", "parameters": { "type": "object",
                "additionalProperties": false, "required": ["path"], "properties": { "path": { "type": "string" } } } }"#,
        )
    }

    fn classes(&self) -> BTreeSet<ActionClass> {
        BTreeSet::from([ActionClass::WriteLocal])
    }

    fn resources(&self, workspace: WorkspaceId) -> BTreeSet<ResourceId> {
        BTreeSet::from([ResourceId::File(workspace, self.path.clone())])
    }

    fn counts(&self) -> Counts {
        Counts::of_changes(&self.items())
    }

    fn reversibility(&self) -> Reversibility {
        Reversibility::Reversible
    }

    fn filesystem_scope(&self) -> FilesystemScope {
        FilesystemScope::Named
    }

    fn title(&self) -> String {
        format!("make the folder {}", visible_path(&self.path))
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        vec![Line::effect(self.title())]
    }

    fn expected(&self, workspace: WorkspaceId, found: &[Fingerprint]) -> Vec<ExpectedEffect> {
        items::expected(workspace, &self.items(), found)
    }
}
