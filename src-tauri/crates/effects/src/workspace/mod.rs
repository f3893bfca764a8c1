//! One folder, and everything beneath it, by path and never through a link.
//!
//! Every step down is taken with a folder handle and a name, without following: what the kernel of the machine
//! opens is what the path says, even while somebody swaps folders for links.

pub(crate) mod descent;
pub(crate) mod entry;
pub(crate) mod folder;
pub(crate) mod names;
pub(crate) mod windows_names;

use crate::Error;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use entry::{Kind, Stat};
use folder::Folder;
use model::file_name::is_within;
use model::witness::Found;
use model::{RelPath, WorkspaceId};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A lease root: a handle on the folder, and its identity.
pub struct Workspace {
    id: WorkspaceId,
    root: PathBuf,
    folder: Folder,
    hidden: Vec<RelPath>,
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Workspace {
    /// Opens the folder at `root`, which may itself be reached through links.
    ///
    /// # Errors
    /// [`Error::Root`] when it is not there or no folder.
    pub fn open(root: &Path, id: WorkspaceId) -> Result<Self, Error> {
        let fail = |source| Error::Root { path: root.display().to_string(), source };
        let root = root.canonicalize().map_err(fail)?;
        let folder = Dir::open_ambient_dir(&root, ambient_authority()).map_err(fail)?;
        let folder = Folder::root(folder).map_err(fail)?;
        Ok(Self { id, root, folder, hidden: Vec::new() })
    }

    /// The same workspace with `folder` out of reach for files and commands, when it lies beneath the root:
    /// Hermit's own store and keys.
    #[must_use]
    pub fn without(mut self, folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        if let Ok(tail) = folder.strip_prefix(&self.root) {
            self.hidden.extend(names::path_of(tail).and_then(|bytes| RelPath::from_bytes(&bytes).ok()));
        }
        self
    }

    /// Its identity.
    pub fn id(&self) -> WorkspaceId {
        self.id
    }

    /// Where the root is on this machine. For commands and for a person, never for a model.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Folders that are out of reach.
    pub(crate) fn hidden(&self) -> &[RelPath] {
        &self.hidden
    }

    /// Whether a path is out of reach, in whatever way the disk takes its names.
    pub(crate) fn is_hidden(&self, path: &RelPath) -> bool {
        self.hidden.iter().any(|hidden| is_within(path.as_bytes(), hidden.as_bytes()))
    }

    /// The folder at `path`.
    pub(crate) fn folder(&self, path: &RelPath) -> Result<Folder, Error> {
        if self.is_hidden(path) {
            return Err(Error::Hidden(path.clone()));
        }
        let mut folder = self.folder.again().map_err(|e| Error::io("opening", path, e))?;
        let mut at = RelPath::ROOT;
        for part in path.as_bytes().split(|b| *b == b'/').filter(|part| !part.is_empty()) {
            at = at.join(part).map_err(|_| Error::NotAFolder(path.clone()))?;
            folder = folder.enter(part, &at)?;
        }
        Ok(folder)
    }

    /// The folder that holds `path`, which must name something below the root.
    pub(crate) fn parent(&self, path: &RelPath) -> Result<Folder, Error> {
        if path.is_root() {
            return Err(Error::NotAFile { path: path.clone(), kind: "the workspace folder itself" });
        }
        if self.is_hidden(path) {
            return Err(Error::Hidden(path.clone()));
        }
        self.folder(&path.parent())
    }

    /// The folder that holds `path`, made where it is missing; the folders made are added to `made`, outermost
    /// first, each synced into the one above it.
    pub(crate) fn parent_made(&self, path: &RelPath, made: &mut Vec<RelPath>) -> Result<Folder, Error> {
        if path.is_root() || self.is_hidden(path) {
            return self.parent(path);
        }
        let parent = path.parent();
        let mut folder = self.folder.again().map_err(|e| Error::io("opening", path, e))?;
        let mut at = RelPath::ROOT;
        for part in parent.as_bytes().split(|b| *b == b'/').filter(|part| !part.is_empty()) {
            at = at.join(part).map_err(|_| Error::NotAFolder(path.clone()))?;
            folder = match folder.enter(part, &at) {
                Err(Error::Absent(_)) => {
                    if folder.make_folder(part, &at)? {
                        made.push(at.clone());
                    }
                    folder.sync(&at)?;
                    folder.enter(part, &at)?
                }
                other => other?,
            };
        }
        Ok(folder)
    }

    /// What is at `path`; never fails.
    pub(crate) fn look(&self, path: &RelPath) -> Found {
        if path.is_root() {
            return Found::Folder { mode: None };
        }
        match self.parent(path).and_then(|parent| parent.look(path.file_name(), path)) {
            Ok(found) => found,
            Err(Error::Absent(_)) => Found::Absent,
            // A file where a folder would have to be: nothing can be at a path below it.
            Err(Error::NotAFolder(_)) => Found::Absent,
            Err(error) => Found::Unreadable { reason: error.to_string() },
        }
    }

    /// Kind, size and times at `path`.
    pub(crate) fn stat(&self, path: &RelPath) -> Result<Stat, Error> {
        if path.is_root() {
            return Ok(Stat { kind: Kind::Folder, ..Stat::default() });
        }
        self.parent(path)?.stat(path.file_name(), path)
    }

    /// All bytes of a regular file of at most `most` bytes.
    pub(crate) fn read_whole(&self, path: &RelPath, most: u64) -> Result<Vec<u8>, Error> {
        let (file, stat) = self.parent(path)?.open_file(path.file_name(), path)?;
        let too_long = || Error::Content {
            path: path.clone(),
            why: format!("it is longer than the {most} bytes Hermit takes in one piece"),
        };
        if stat.byte_size > most {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        file.take(most.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|e| Error::io("reading", path, e))?;
        if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
    }
}
