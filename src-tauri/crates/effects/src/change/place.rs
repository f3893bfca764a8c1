//! Putting bytes in place, and taking them away, without losing what somebody else put there meanwhile.

use super::Job;
use super::precondition::{self, holds};
use super::settle::State;
use crate::Error;
use crate::workspace::folder::Folder;
use model::RelPath;
use model::action::Prior;
use model::witness::Found;
use std::io;

/// What is at a name, absence included.
pub(crate) fn look(folder: &Folder, name: &[u8], path: &RelPath) -> Found {
    match folder.look(name, path) {
        Ok(found) => found,
        Err(Error::Absent(_)) => Found::Absent,
        Err(error) => Found::Unreadable { reason: error.to_string() },
    }
}

/// Puts the file `temp` at `path`, replacing exactly what `prior` says and nothing else.
///
/// Where something is to be replaced the two are exchanged in one step and what came out is compared: bytes that
/// arrived after the first look come out with the exchange and are put back.
pub(crate) fn put(
    job: &mut Job<'_>,
    folder: &Folder,
    path: &RelPath,
    prior: &Prior,
    new: &Found,
) -> Result<(), Error> {
    let temp = job.temp();
    let name = path.file_name();
    precondition::expect(path, prior, &look(folder, name, path))?;
    if matches!(prior, Prior::Absent) {
        return match folder.rename_new(&temp, folder, name) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                precondition::expect(path, prior, &look(folder, name, path))?;
                Err(Error::io("placing", path, e))
            }
            Err(e) => Err(Error::io("placing", path, e)),
        };
    }
    match folder.exchange(&temp, name) {
        Ok(()) => after_exchange(job, folder, path, prior, new),
        // The file system has no exchange: the look above is the last one, a rename the next step.
        Err(e) if e.kind() == io::ErrorKind::Unsupported => {
            folder.rename_over(&temp, name).map_err(|e| Error::io("placing", path, e))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            precondition::expect(path, prior, &look(folder, name, path))?;
            Err(Error::io("placing", path, e))
        }
        Err(e) => Err(Error::io("placing", path, e)),
    }
}

fn after_exchange(
    job: &mut Job<'_>,
    folder: &Folder,
    path: &RelPath,
    prior: &Prior,
    new: &Found,
) -> Result<(), Error> {
    let temp = job.temp();
    let came_out = look(folder, &temp, path);
    if holds(prior, &came_out) {
        return folder.remove_file(&temp, path).map_err(|error| {
            // What is replaced must not stay beside it: it is put back, and the new file is swept like any that came to
            // nothing.
            match folder.exchange(&temp, path.file_name()) {
                Ok(()) => error,
                Err(e) => Error::io("putting back", path, e),
            }
        });
    }
    folder.exchange(&temp, path.file_name()).map_err(|e| Error::io("putting back", path, e))?;
    let left = look(folder, &temp, path);
    if State::of(&left) != State::of(new) {
        // Somebody wrote into the new file in the instant it stood there: theirs is kept under a name of its own.
        keep_beside(job, folder, &temp, path)?;
    }
    precondition::expect(path, prior, &came_out)
}

/// Gives a temporary file that holds somebody's bytes a name a person will see.
pub(crate) fn keep_beside(
    job: &mut Job<'_>,
    folder: &Folder,
    temp: &[u8],
    path: &RelPath,
) -> Result<(), Error> {
    for number in 1..1_000u32 {
        let mut name: Vec<u8> = path.file_name().iter().copied().take(200).collect();
        name.extend_from_slice(format!(".kept-by-hermit-{number}").as_bytes());
        match folder.rename_new(temp, folder, &name) {
            Ok(()) => {
                let beside = path.parent().join(&name).unwrap_or_else(|_| path.clone());
                job.notes.push(format!("bytes that arrived at `{path}` meanwhile are kept as `{beside}`"));
                return Ok(());
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(Error::io("keeping", path, e)),
        }
    }
    Err(Error::Request(format!("no free name beside `{path}`; remove some `.kept-by-hermit-` files there")))
}

/// Takes `path` away, exactly as `prior` says it is: moved aside first, compared, then removed or put back.
pub(crate) fn take(job: &mut Job<'_>, folder: &Folder, path: &RelPath, prior: &Prior) -> Result<(), Error> {
    let temp = job.temp();
    let name = path.file_name();
    precondition::expect(path, prior, &look(folder, name, path))?;
    folder.rename_new(name, folder, &temp).map_err(|e| Error::io("removing", path, e))?;
    let aside = look(folder, &temp, path);
    if holds(prior, &aside) {
        return folder.remove_file(&temp, path).map_err(|error| {
            // It is there still, and nobody would find it by its temporary name.
            match folder.rename_new(&temp, folder, name) {
                Ok(()) => error,
                Err(e) => Error::io("putting back", path, e),
            }
        });
    }
    match folder.rename_new(&temp, folder, name) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => keep_beside(job, folder, &temp, path)?,
        Err(e) => return Err(Error::io("putting back", path, e)),
    }
    precondition::expect(path, prior, &aside)
}
