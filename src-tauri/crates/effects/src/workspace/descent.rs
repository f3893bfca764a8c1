//! The way down to the folder that a walk is at, with few folders open at once.

use super::Workspace;
use super::folder::Folder;
use crate::Error;
use model::RelPath;
use std::collections::VecDeque;

/// Folders that one walk keeps open.
const OPEN_FOLDERS_MAX: usize = 64;

/// Folders that are open, each in the one before it. Whoever walks depth first opens each of them about once.
pub(crate) struct Descent<'a> {
    workspace: &'a Workspace,
    open: VecDeque<(RelPath, Folder)>,
}

impl<'a> Descent<'a> {
    pub(crate) fn of(workspace: &'a Workspace) -> Self {
        Self { workspace, open: VecDeque::new() }
    }

    /// The folder at `path`.
    pub(crate) fn folder(&mut self, path: &RelPath) -> Result<&Folder, Error> {
        if self.workspace.is_hidden(path) {
            return Err(Error::Hidden(path.clone()));
        }
        while self.open.back().is_some_and(|(at, _)| !path.is_within(at)) {
            self.open.pop_back();
        }
        if self.open.is_empty() {
            self.open.push_back((RelPath::ROOT, self.workspace.folder(&RelPath::ROOT)?));
        }
        let gone = || Error::NotAFolder(path.clone());
        let known = self.open.back().map_or(0, |(at, _)| at.as_bytes().len());
        let rest = path.as_bytes().get(known..).unwrap_or_default();
        for part in rest.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
            let (above, folder) = self.open.back().ok_or_else(gone)?;
            let at = above.join(part).map_err(|_| gone())?;
            let inner = folder.enter(part, &at)?;
            if self.open.len() >= OPEN_FOLDERS_MAX {
                self.open.pop_front();
            }
            self.open.push_back((at, inner));
        }
        self.open.back().map(|(_, folder)| folder).ok_or_else(gone)
    }
}
