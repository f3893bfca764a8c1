//! Looking at files and folders.

use crate::{Counts, Line, Part, Tool, count, place, visible, visible_path};
use model::action::{ActionClass, ReadItem, Reversibility};
use model::grant::FilesystemScope;
use model::receipt::{ReplayClass, ResultCode};
use model::{RelPath, ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Files that one line names where they are hashed; of more it tells how many.
const HASHES_NAMED_MAX: usize = 3;

/// A look at files; at most [`model::limits::PARALLEL_READS`] run at once, unless a person set another number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observe {
    /// What to look at.
    pub items: Vec<ReadItem>,
}

impl Tool for Observe {
    fn classes(&self) -> BTreeSet<ActionClass> {
        BTreeSet::from([ActionClass::ReadLocal])
    }

    fn resources(&self, workspace: WorkspaceId) -> BTreeSet<ResourceId> {
        self.items.iter().map(|item| ResourceId::File(workspace, read_path(item).clone())).collect()
    }

    fn counts(&self) -> Counts {
        Counts::of_reads(&self.items)
    }

    fn parts(&self) -> Vec<Part> {
        self.items.iter().map(|item| Part::Read(read_path(item).clone())).collect()
    }

    fn reversibility(&self) -> Reversibility {
        Reversibility::NoEffect
    }

    fn reversibility_without_changes(&self, _: &crate::ActionRequest, _: ResultCode) -> Reversibility {
        Reversibility::NoEffect
    }

    fn replay_class(&self) -> ReplayClass {
        ReplayClass::ObserveOnly
    }

    fn filesystem_scope(&self) -> FilesystemScope {
        FilesystemScope::ReadLease
    }

    fn title(&self) -> String {
        match self.items.as_slice() {
            [ReadItem::Read { path }] => format!("read {}", visible_path(path)),
            [ReadItem::List { path, .. }] => format!("list {}", visible_path(path)),
            items => format!("look at {}", count(items.len(), "place")),
        }
    }

    fn one_line(&self) -> String {
        // A playbook hashes whole folders: their names are in the lines.
        let hashes = self.items.iter().all(|item| matches!(item, ReadItem::Hash { .. }));
        if hashes && self.items.len() > HASHES_NAMED_MAX {
            return format!("hash {}", count(self.items.len(), "file"));
        }
        let look = |item: &ReadItem| match item {
            ReadItem::List { path, .. } => format!("list {}", place(path)),
            ReadItem::Read { path } => format!("read {}", place(path)),
            ReadItem::Search { path, pattern, .. } => {
                format!("search {} for {pattern}", place(path))
            }
            ReadItem::Lines { path, from, to } => {
                format!("read lines {from} to {to} of {}", place(path))
            }
            ReadItem::Hash { path } | ReadItem::HashFolder { path } => {
                format!("hash {}", place(path))
            }
        };
        self.items.iter().map(look).collect::<Vec<_>>().join(", ")
    }

    fn lines(&self, _: &crate::ActionRequest) -> Vec<Line> {
        self.items.iter().map(|item| Line::effect(look(item))).collect()
    }
}

/// The place that a look is at, or below.
pub fn read_path(item: &ReadItem) -> &RelPath {
    match item {
        ReadItem::List { path, .. }
        | ReadItem::Read { path }
        | ReadItem::Lines { path, .. }
        | ReadItem::Search { path, .. }
        | ReadItem::Hash { path }
        | ReadItem::HashFolder { path } => path,
    }
}

/// A look in words.
fn look(item: &ReadItem) -> String {
    match item {
        ReadItem::List { path, recursive: true } => {
            format!("list {} and all folders inside", visible_path(path))
        }
        ReadItem::List { path, recursive: false } => format!("list {}", visible_path(path)),
        ReadItem::Read { path } => format!("read {}", visible_path(path)),
        ReadItem::Lines { path, from, to } => {
            format!("read lines {from} to {to} of {}", visible_path(path))
        }
        ReadItem::Search { path, pattern, glob } => {
            let glob = glob.as_ref().map(|glob| format!(" in files like \"{}\"", visible(glob)));
            let glob = glob.unwrap_or_default();
            format!("search {} for \"{}\"{glob}", visible_path(path), visible(pattern))
        }
        ReadItem::Hash { path } => format!("hash {}", visible_path(path)),
        ReadItem::HashFolder { path } => format!("hash the files of {}", visible_path(path)),
    }
}
