//! Everything below a folder, in the order of paths, bounded, with what could not be seen.
//!
//! Links are entries and never doors. A folder on another file system is an entry and is not entered: a mount is
//! somebody else's tree, and is looked at by naming it.

use crate::workspace::descent::Descent;
use crate::workspace::entry::{Kind, Stat};
use crate::{Error, Workspace};
use model::RelPath;

/// One entry found.
pub(crate) struct Entry {
    pub(crate) path: RelPath,
    pub(crate) stat: Stat,
}

/// What a walk could not look into, and why.
pub(crate) struct Unread {
    pub(crate) path: RelPath,
    pub(crate) reason: String,
}

/// What a walk found.
#[derive(Default)]
pub(crate) struct Walk {
    pub(crate) entries: Vec<Entry>,
    pub(crate) unread: Vec<Unread>,
    /// Whether there was more than asked for.
    pub(crate) cut: bool,
}

impl Walk {
    /// Leaves out what looks like a key, a password or a token, and says so place by place: a folder that holds nothing
    /// else with all below it, and of files `which`. Whoever names one by its path is asked about.
    pub(crate) fn without_secrets(&mut self, which: Secrets) {
        let mut folders: Vec<RelPath> = Vec::new();
        let mut left_out = Vec::new();
        self.entries.retain(|entry| {
            let is_folder = entry.stat.kind == Kind::Folder;
            if folders.last().is_some_and(|folder| entry.path.is_within(folder)) {
                return false;
            }
            if !acts::sensitive_paths::is_secret(&entry.path, is_folder) {
                return true;
            }
            if is_folder {
                folders.push(entry.path.clone());
            }
            if is_folder || which == Secrets::Unread {
                left_out.push(Unread { path: entry.path.clone(), reason: LEFT_OUT.to_owned() });
            }
            which == Secrets::Named
        });
        self.unread.retain(|unread| !acts::sensitive_paths::is_secret(&unread.path.parent(), true));
        self.unread.append(&mut left_out);
        self.unread.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// What a look that names no secret may tell of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrets {
    /// Its name alone.
    Named,
    /// That it was left out.
    Unread,
}

/// Why a secret is left out, for the proposer.
const LEFT_OUT: &str =
    "left out, because it looks like a key or a password; name exactly this path and a person is asked";

/// Walks the folder at `path`; with `deep`, also those inside. At most `most` entries.
pub(crate) fn walk(workspace: &Workspace, path: &RelPath, deep: bool, most: usize) -> Result<Walk, Error> {
    let mut found = Walk::default();
    let device = workspace.folder(path)?.device();
    let mut descent = Descent::of(workspace);
    let mut waiting = vec![path.clone()];
    while let Some(at) = waiting.pop() {
        if found.cut {
            break;
        }
        if let Err(error) = level(workspace, &mut descent, &at, device, most, deep, &mut found, &mut waiting)
        {
            if at == *path {
                return Err(error);
            }
            found.unread.push(Unread { path: at, reason: error.to_string() });
        }
    }
    found.entries.sort_by(|a, b| a.path.cmp(&b.path));
    found.unread.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

#[allow(clippy::too_many_arguments, reason = "one step of one walk")]
fn level(
    workspace: &Workspace,
    descent: &mut Descent<'_>,
    at: &RelPath,
    device: u64,
    most: usize,
    deep: bool,
    found: &mut Walk,
    waiting: &mut Vec<RelPath>,
) -> Result<(), Error> {
    let folder = descent.folder(at)?;
    if folder.device() != device {
        let reason = "another file system is mounted here; name this folder itself to look inside".to_owned();
        found.unread.push(Unread { path: at.clone(), reason });
        return Ok(());
    }
    let room = most.saturating_sub(found.entries.len()).saturating_sub(found.unread.len());
    let (names, more) = folder.entries(room).map_err(|e| Error::io("listing", at, e))?;
    found.cut |= more;
    let mut folders = Vec::new();
    for name in names {
        let path = match at.join(&name) {
            Ok(path) => path,
            Err(error) => {
                found.unread.push(Unread { path: at.clone(), reason: error.to_string() });
                continue;
            }
        };
        if workspace.is_hidden(&path) {
            let reason = "it belongs to Hermit itself and is out of reach".to_owned();
            found.unread.push(Unread { path, reason });
            continue;
        }
        match folder.stat(&name, &path) {
            Ok(stat) => {
                if deep && stat.kind == Kind::Folder {
                    folders.push(path.clone());
                }
                found.entries.push(Entry { path, stat });
            }
            // It went away between the listing and the look: it is not there.
            Err(Error::Absent(_)) => {}
            Err(error) => found.unread.push(Unread { path, reason: error.to_string() }),
        }
    }
    waiting.extend(folders.into_iter().rev());
    Ok(())
}

/// The unread part as a listing carries it.
pub(crate) fn unread_json(unread: &[Unread]) -> serde_json::Value {
    unread.iter().map(|u| serde_json::json!({"path": u.path.to_string(), "reason": u.reason})).collect()
}
