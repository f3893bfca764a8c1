//! Deleting a file, or a folder that is empty.

use super::{Job, place, precondition, step};
use crate::Error;
use crate::workspace::folder::Folder;
use model::RelPath;
use model::action::Prior;
use model::fault::Point;

/// Deletes `path`, which must be as `prior` says.
pub(crate) fn remove(job: &mut Job<'_>, path: &RelPath, prior: &Prior) -> Result<(), Error> {
    if matches!(prior, Prior::Absent) {
        return Err(Error::Request(format!("`{path}` cannot be deleted where nothing is expected")));
    }
    let executors = job.executors;
    precondition::expect(path, prior, &executors.workspace.look(path))?;
    let folder = executors.workspace.parent(path)?;
    job.changed(&folder, path)?;
    step(executors, Point::ItemDelete, path, || match prior {
        Prior::EmptyFolder => empty_folder(job, &folder, path),
        _ => place::take(job, &folder, path, prior),
    })
}

/// The system itself refuses to remove a folder that holds something: then it stays, because what is inside is
/// somebody's, and an undo is not worth it.
fn empty_folder(job: &mut Job<'_>, folder: &Folder, path: &RelPath) -> Result<(), Error> {
    match folder.remove_folder(path.file_name(), path) {
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::DirectoryNotEmpty => {
            job.notes.push(acts::items::folder_stays(path));
            Ok(())
        }
        other => other,
    }
}
