//! Files of a trusted skill where commands can read them: below one folder beside the store, which holds nothing else.
//! Whoever changed them there is set right before they are named to a model again.

use super::{SkillBytes, read_whole};
use crate::system::permissions;
use crate::workspace::folder::Folder;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use model::Digest;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

/// One at a time: tasks share the folder, and a store has one process that writes.
static SHELF: Mutex<()> = Mutex::new(());
/// How often a place is cleared that somebody fills at the same time.
const TRIES: usize = 3;

/// The folder of a skill: what lies there whole is left as it is, and anything else gives way in one step.
pub(super) fn lay_out(shelf: &Path, skill: &SkillBytes) -> Result<PathBuf, String> {
    let failed = |e: io::Error| format!("its files cannot be laid out for commands: {e}");
    let _one = SHELF.lock().unwrap_or_else(PoisonError::into_inner);
    let parent = shelf.join(skill.sha256.to_string());
    let place = parent.join(&skill.skill.name);
    if is_same(&place, skill) {
        return Ok(place);
    }
    let aside = aside(shelf).map_err(failed)?;
    let fresh = aside.path().join("new");
    written(&fresh.join(&skill.skill.name), skill).map_err(failed)?;
    for at in 0..TRIES {
        put_away(&parent, &aside.path().join(format!("old-{at}"))).map_err(failed)?;
        if disk::rename(&fresh, &parent).is_ok() {
            break;
        }
    }
    match is_same(&place, skill) {
        true => Ok(place),
        false => Err("its files were changed while they were laid out for commands".to_owned()),
    }
}

/// Takes a skill's folder away: no command reads there any more.
pub(super) fn clear(shelf: &Path, sha256: Digest) -> io::Result<()> {
    let _one = SHELF.lock().unwrap_or_else(PoisonError::into_inner);
    let parent = shelf.join(sha256.to_string());
    if fs::symlink_metadata(&parent).is_err() {
        return Ok(());
    }
    let aside = aside(shelf)?;
    put_away(&parent, &aside.path().join("old"))?;
    aside.close()
}

/// A folder beside the others, which is gone when it is dropped, with all that was put into it.
fn aside(shelf: &Path) -> io::Result<tempfile::TempDir> {
    fs::create_dir_all(shelf)?;
    tempfile::Builder::new().prefix(".aside-").tempdir_in(shelf)
}

fn put_away(from: &Path, to: &Path) -> io::Result<()> {
    match disk::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn written(place: &Path, skill: &SkillBytes) -> io::Result<()> {
    for (path, bytes) in &skill.files {
        let to = path.split('/').fold(place.to_owned(), |to, part| to.join(part));
        fs::create_dir_all(to.parent().unwrap_or(place))?;
        fs::write(&to, bytes)?;
        permissions::read_only(&to, bytes.starts_with(b"#!"))?;
    }
    Ok(())
}

/// Whether exactly these bytes lie there.
fn is_same(place: &Path, skill: &SkillBytes) -> bool {
    let Ok(dir) = Dir::open_ambient_dir(place, ambient_authority()) else { return false };
    let Ok(folder) = Folder::root(dir) else { return false };
    read_whole(&skill.skill.name, &folder).is_ok_and(|(there, _)| there.sha256 == skill.sha256)
}
