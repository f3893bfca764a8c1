//! Folders and symbolic links: names without bytes of their own.

use super::{Job, place, precondition, step};
use crate::Error;
use model::action::Prior;
use model::fault::Point;
use model::witness::Found;
use model::{Digest, RelPath};

/// Gives a folder that is there other permission bits.
pub(crate) fn folder_mode(job: &Job<'_>, path: &RelPath, was: u32, mode: Option<u32>) -> Result<(), Error> {
    let executors = job.executors;
    let Some(mode) = mode else { return Ok(()) };
    match executors.workspace.look(path) {
        Found::Folder { mode: Some(now) } if now == was => {}
        found => {
            let found = match found {
                Found::Folder { mode: Some(now) } => format!("a folder with mode {now:o}"),
                other => precondition::found_words(&other),
            };
            return Err(Error::Prior {
                path: path.clone(),
                expected: format!("a folder with mode {was:o}"),
                found,
            });
        }
    }
    let parent = executors.workspace.parent(path)?;
    step(executors, Point::ItemRename, path, || parent.set_folder_mode(path.file_name(), path, mode))
}

/// Makes a folder where nothing is.
pub(crate) fn folder(job: &mut Job<'_>, path: &RelPath, mode: Option<u32>) -> Result<(), Error> {
    let executors = job.executors;
    precondition::expect(path, &Prior::Absent, &executors.workspace.look(path))?;
    let mut made = Vec::new();
    let parent = executors.workspace.parent_made(path, &mut made);
    job.made.append(&mut made);
    let parent = parent?;
    job.changed(&parent, path)?;
    step(executors, Point::ItemRename, path, || {
        if parent.make_folder(path.file_name(), path)? {
            return mode.map_or(Ok(()), |mode| parent.set_folder_mode(path.file_name(), path, mode));
        }
        precondition::expect(path, &Prior::Absent, &place::look(&parent, path.file_name(), path))
    })
}

/// Puts a link that says `target`, in place of exactly what `prior` says.
pub(crate) fn link(job: &mut Job<'_>, path: &RelPath, target: &str, prior: &Prior) -> Result<(), Error> {
    if matches!(prior, Prior::EmptyFolder) {
        return Err(Error::Request(format!(
            "`{path}` cannot be put where a folder is; delete the folder first"
        )));
    }
    let executors = job.executors;
    precondition::expect(path, prior, &executors.workspace.look(path))?;
    let mut made = Vec::new();
    let parent = executors.workspace.parent_made(path, &mut made);
    job.made.append(&mut made);
    let parent = parent?;
    job.changed(&parent, path)?;
    let new = Found::Symlink { target_sha256: Digest::of(target.as_bytes()) };
    let temp = job.temp();
    let placed = step(executors, Point::ItemWriteTemp, path, || parent.make_link(target, &temp, path))
        .and_then(|()| {
            step(executors, Point::ItemRename, path, || place::put(job, &parent, path, prior, &new))
        });
    if placed.is_err() && place::look(&parent, &temp, path) == new {
        // Ours, and nobody else could have made one of this name and target.
        parent.remove_file(&temp, path)?;
    }
    placed
}
