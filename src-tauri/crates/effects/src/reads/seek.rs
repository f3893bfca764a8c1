//! Whether any place of the folder is like what somebody looks for, by its name alone.

use crate::workspace::folder::Folder;
use crate::{Error, Hands, MANIFEST_ENTRIES_MAX};
use model::RelPath;

impl Hands {
    /// The first place whose path is `wanted`, in the order of walking. Only names are looked at, and kinds as far as
    /// the listing of a folder tells them; no link is followed.
    ///
    /// # Errors
    /// When a folder cannot be looked into, or there are more than [`MANIFEST_ENTRIES_MAX`] entries: then nobody can say
    /// that there is none.
    pub fn seek(&self, wanted: &dyn Fn(&RelPath) -> bool) -> Result<Option<RelPath>, Error> {
        let mut room = MANIFEST_ENTRIES_MAX;
        below(&RelPath::ROOT, &self.workspace.folder(&RelPath::ROOT)?, wanted, &mut room)
    }
}

fn below(
    at: &RelPath,
    folder: &Folder,
    wanted: &dyn Fn(&RelPath) -> bool,
    room: &mut usize,
) -> Result<Option<RelPath>, Error> {
    let mut inside = Vec::new();
    for (name, is_folder) in folder.kinds().map_err(|e| Error::io("listing", at, e))? {
        *room = room.checked_sub(1).ok_or_else(|| {
            Error::Request(format!("the folder has more than {MANIFEST_ENTRIES_MAX} entries"))
        })?;
        let path =
            at.join(&name).map_err(|e| Error::Request(format!("a name in `{at}` cannot be kept: {e}")))?;
        if wanted(&path) {
            return Ok(Some(path));
        }
        if is_folder {
            inside.push((name, path));
        }
    }
    for (name, path) in inside {
        let found = match folder.enter(&name, &path) {
            Ok(inner) => below(&path, &inner, wanted, room)?,
            // It went away, or is something else by now: nothing is to be found there.
            Err(Error::Absent(_) | Error::NotAFolder(_) | Error::Symlink { .. }) => None,
            Err(error) => return Err(error),
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
