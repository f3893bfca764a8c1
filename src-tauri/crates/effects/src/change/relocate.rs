//! Moving a file, never over another.

use super::{Job, place, precondition, step};
use crate::Error;
use crate::system::permissions;
use crate::workspace::folder::Folder;
use model::action::Prior;
use model::fault::Point;
use model::witness::Found;
use model::{Digest, RelPath};
use std::io;

/// Moves `from` to `to`, where nothing may be.
pub(crate) fn relocate(job: &mut Job<'_>, from: &RelPath, to: &RelPath, prior: &Prior) -> Result<(), Error> {
    let Prior::Sha256(digest) = prior else {
        return Err(Error::Request(format!(
            "`{from}` cannot be moved: the request does not say what it holds"
        )));
    };
    let executors = job.executors;
    precondition::expect(from, prior, &executors.workspace.look(from))?;
    precondition::expect(to, &Prior::Absent, &executors.workspace.look(to))?;
    let source = executors.workspace.parent(from)?;
    let mut made = Vec::new();
    let target = executors.workspace.parent_made(to, &mut made);
    job.made.append(&mut made);
    let target = target?;
    job.changed(&target, to)?;
    job.changed(&source, from)?;
    step(executors, Point::ItemMove, to, || {
        match source.rename_new(from.file_name(), &target, to.file_name()) {
            Ok(()) => check_moved(&source, &target, from, to, prior),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                precondition::expect(to, &Prior::Absent, &place::look(&target, to.file_name(), to))?;
                Err(Error::io("moving to", to, e))
            }
            Err(e) if e.kind() == io::ErrorKind::CrossesDevices => {
                across(job, &source, &target, from, to, digest)
            }
            Err(e) => Err(Error::io("moving", from, e)),
        }
    })
}

/// What was moved must be what was meant; else it goes back.
fn check_moved(
    source: &Folder,
    target: &Folder,
    from: &RelPath,
    to: &RelPath,
    prior: &Prior,
) -> Result<(), Error> {
    let moved = place::look(target, to.file_name(), to);
    if precondition::holds(prior, &moved) {
        return Ok(());
    }
    target
        .rename_new(to.file_name(), source, from.file_name())
        .map_err(|e| Error::io("putting back", from, e))?;
    precondition::expect(from, prior, &moved)
}

/// To another file system: copied whole and synced, put in place, and only then taken away at the source.
fn across(
    job: &mut Job<'_>,
    source: &Folder,
    target: &Folder,
    from: &RelPath,
    to: &RelPath,
    digest: &Digest,
) -> Result<(), Error> {
    let temp = job.temp();
    let copied = copy(source, target, &temp, from, to).and_then(|()| {
        let copied = place::look(target, &temp, to);
        precondition::expect(from, &Prior::Sha256(*digest), &copied)?;
        place::put(job, target, to, &Prior::Absent, &copied)
    });
    if let Err(error) = copied {
        // A temporary file here was only ever written by this copy.
        if !matches!(place::look(target, &temp, to), Found::Absent) {
            target.remove_file(&temp, to)?;
        }
        return Err(error);
    }
    target.sync(to)?;
    place::take(job, source, from, &Prior::Sha256(*digest))
}

fn copy(source: &Folder, target: &Folder, temp: &[u8], from: &RelPath, to: &RelPath) -> Result<(), Error> {
    let (mut reader, stat) = source.open_file(from.file_name(), from)?;
    let mut writer = target.create_file(temp, to)?;
    io::copy(&mut reader, &mut writer).map_err(|e| Error::io("copying", from, e))?;
    set_mode(&writer, stat.mode, to)?;
    writer.sync_all().map_err(|e| Error::io("syncing", to, e))
}

fn set_mode(file: &cap_std::fs::File, mode: Option<u32>, path: &RelPath) -> Result<(), Error> {
    let Some(mode) = mode else { return Ok(()) };
    permissions::set_bits(file, mode).map_err(|e| Error::io("setting the mode of", path, e))
}
