//! Folders by identifier: one identifier for one root in one store.

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::query::view;
use model::body::{ProjectKnown, ProjectSource, WorkspaceRegistered};
use model::fault::Point;
use model::principal::PrincipalType;
use model::{Sensitive, WorkspaceId};
use seal::Digest;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An absolute path in the written form: percent-encoded bytes, so that any name survives.
pub fn encode_root(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes
        .iter()
        .map(|b| match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b'\\' | b':' => {
                char::from(*b).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// The path behind the written form.
///
/// # Errors
/// When an escape is malformed.
pub fn decode_root(text: &str) -> Result<PathBuf, Error> {
    let bad = || Error::Broken(format!("`{text}` is not a stored folder"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next().ok_or_else(bad)?, rest.next().ok_or_else(bad)?];
        let digits = std::str::from_utf8(&digits).map_err(|_| bad())?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| bad())?);
    }
    Ok(PathBuf::from(os_string(bytes).ok_or_else(bad)?))
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt as _;
    Some(OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}

impl Kernel {
    /// The identifier of a folder, registered on first use; its project is recorded then, and whenever it is another one
    /// than before. `root` must be absolute and canonical.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn workspace(&self, root: &Path) -> Result<WorkspaceId, Error> {
        let (written, known) = (encode_root(root), self.known_workspace(root));
        let workspace_id =
            known.unwrap_or_else(|| WorkspaceId::fresh(&*self.ports.clock, &*self.ports.entropy));
        let kept = lock(&self.store).projects.get(&workspace_id).copied();
        let (project_hash, source) = match (kept, self.project(workspace_id, root)) {
            // A folder that was moved here stays the project that it was.
            (Some((kept, ProjectSource::Folder)), (_, ProjectSource::Folder)) => {
                (kept, ProjectSource::Folder)
            }
            (_, told) => told,
        };
        if kept == Some((project_hash, source)) {
            return Ok(workspace_id);
        }
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::WorkspaceRegister, actor, workspace_id.to_string(), None)?;
        if known.is_none() {
            w.push(WorkspaceRegistered { workspace_id, root_path: Sensitive::from(written) });
        }
        w.push(ProjectKnown { project_hash, workspace_id, source });
        self.commit(w)?;
        Ok(workspace_id)
    }

    /// A folder that no remote tells was moved or renamed: where it is now continues as the project that it was, with what is
    /// remembered there (memory.md 2). Answers its identifier there, and the project. `to` must be absolute and canonical.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a folder that no task worked in; [`Error::Conflict`] where a remote tells the project of either,
    /// and where something is remembered for the new place already.
    pub fn workspace_moved(&self, from: &Path, to: &Path) -> Result<(WorkspaceId, Digest), Error> {
        let unknown = || Error::NotFound { kind: "folder of a task", id: from.display().to_string() };
        let old = self.known_workspace(from).ok_or_else(unknown)?;
        let of = |workspace: WorkspaceId| lock(&self.store).projects.get(&workspace).copied();
        let by_remote = |place: &Path| {
            Error::Conflict(format!(
                "the project of `{}` is told by its git remote, wherever it lies; there is nothing to move",
                place.display()
            ))
        };
        let Some((project_hash, ProjectSource::Folder)) = of(old) else { return Err(by_remote(from)) };
        let new = self.workspace(to)?;
        let own = match of(new) {
            Some((own, ProjectSource::Folder)) => own,
            _ => return Err(by_remote(to)),
        };
        if own == project_hash {
            return Ok((new, project_hash));
        }
        let held = self.query()?.memory_root(Some(own), self.reader.log_head()?).map_err(view)?;
        if held.size > 0 {
            return Err(Error::Conflict(format!(
                "something is remembered for `{}` already; forget it there, or say it again in the other folder",
                to.display()
            )));
        }
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::WorkspaceRegister, actor, new.to_string(), None)?;
        w.push(ProjectKnown { project_hash, workspace_id: new, source: ProjectSource::Folder });
        self.commit(w)?;
        Ok((new, project_hash))
    }

    /// The identifier of a folder that was registered; looking does not register it.
    pub fn known_workspace(&self, root: &Path) -> Option<WorkspaceId> {
        let written = encode_root(root);
        let store = lock(&self.store);
        let known = store.workspaces.iter().find(|(_, path)| path.as_deref() == Some(written.as_str()));
        known.map(|(id, _)| *id)
    }

    /// The project of a folder. A remote's address has the same hash in every store, so that two clones are one project.
    /// A folder without one is a project of its own, told by its identifier and not by its path: paths are easily
    /// guessed, and the store's name is no secret that could salt them.
    fn project(&self, workspace_id: WorkspaceId, root: &Path) -> (Digest, ProjectSource) {
        let (source, told_by) = match self.ports.executors.remote(root) {
            Some(address) => (ProjectSource::Remote, address),
            None => (ProjectSource::Folder, workspace_id.to_string()),
        };
        (Digest::of(format!("hermit project v1\n{source}\n{told_by}").as_bytes()), source)
    }
}
