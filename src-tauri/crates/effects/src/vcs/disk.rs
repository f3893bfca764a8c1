//! What git leaves on the disk: made durable, and its lock files taken away when it was ended.

use super::refs;
use crate::{Error, Workspace};
use model::RelPath;
use model::vcs::VcsChange;
use model::witness::Found;
use std::collections::BTreeSet;
use std::io::ErrorKind;

/// Entries of the folder of objects that are looked at: git makes 258.
const OBJECT_FOLDERS_MAX: usize = 1024;

/// Makes folders and logs durable, which git itself does not sync.
///
/// # Errors
/// When the system cannot sync one of them.
pub(super) fn sync(workspace: &Workspace, change: &VcsChange) -> Result<(), Error> {
    let name = change.moves();
    let (of_ref, log) = (refs::file_of(name)?, refs::log_of(name)?);
    for path in [&refs::plain(".git/logs/HEAD")?, &log] {
        let file = workspace.parent(path).and_then(|parent| parent.open_file(path.file_name(), path));
        if let Some((file, _)) = there(file)? {
            match file.sync_all() {
                // Windows syncs only what was opened for writing. What a log may lose with the power is its last line.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                synced => synced.map_err(|e| Error::io("syncing", path, e))?,
            }
        }
    }
    let mut folders = BTreeSet::new();
    for path in [of_ref, log] {
        let mut at = path.parent();
        while !at.is_root() {
            folders.insert(at.clone());
            at = at.parent();
        }
    }
    if matches!(change, VcsChange::Commit { .. }) {
        let objects = refs::plain(".git/objects")?;
        if let Some(folder) = there(workspace.folder(&objects))? {
            let inside = folder.kinds(OBJECT_FOLDERS_MAX).map_err(|e| Error::io("listing", &objects, e))?;
            let inside = inside.iter().filter(|(name, is_folder)| *is_folder && name.len() == 2);
            folders.extend(inside.filter_map(|(name, _)| objects.join(name).ok()));
        }
        folders.insert(objects);
    }
    for path in folders {
        if let Some(folder) = there(workspace.folder(&path))? {
            folder.sync(&path)?;
        }
    }
    Ok(())
}

/// What is not there, or is somewhere else by a link, is not synced from here.
fn there<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error @ Error::Io { .. }) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Lock files that git may hold while it makes this change: of what is checked out, of the ref, of the packed refs and of
/// the index.
fn locks(change: &VcsChange) -> Result<[RelPath; 4], Error> {
    let plain = refs::plain;
    let of_ref = plain(&format!(".git/{}.lock", change.moves()))?;
    Ok([plain(".git/HEAD.lock")?, of_ref, plain(".git/packed-refs.lock")?, plain(".git/index.lock")?])
}

/// Those that are there.
pub(super) fn locked(workspace: &Workspace, change: &VcsChange) -> Result<Vec<RelPath>, Error> {
    let mut locks: Vec<RelPath> = locks(change)?.into();
    locks.retain(|lock| workspace.look(lock) != Found::Absent);
    Ok(locks)
}

/// Takes away the locks that git held when it was ended, so that the person's own git works again; in words. A lock that
/// was there before is somebody else's. One that may be somebody else's by what it holds is named only.
pub(super) fn unlock(
    workspace: &Workspace,
    change: &VcsChange,
    new: Option<&str>,
    before: &[RelPath],
) -> Result<Vec<String>, Error> {
    let [head, of_ref, ..] = locks(change)?;
    let mut said = Vec::new();
    for lock in locked(workspace, change)?.into_iter().filter(|lock| !before.contains(lock)) {
        let holds = refs::bytes_of(workspace, &lock, refs::LOOSE_BYTES_MAX).ok().flatten();
        let ours = match holds.as_deref() {
            Some(b"") => lock == head || lock == of_ref,
            Some(bytes) => lock == of_ref && new.is_some_and(|new| bytes.trim_ascii_end() == new.as_bytes()),
            None => false,
        };
        if !ours {
            said.push(format!("`{lock}` is there and was not before; if no git is at work, remove it"));
            continue;
        }
        let folder = workspace.parent(&lock)?;
        folder.remove_file(lock.file_name(), &lock)?;
        folder.sync(&lock)?;
        said.push(format!("`{lock}`, which git held when it was ended, is taken away"));
    }
    Ok(said)
}
