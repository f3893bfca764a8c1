//! Files of a trusted skill where commands can read them: below one folder beside the store, which holds nothing else.
//! Whoever changed them there is set right before they are named to a model again.

use super::{SkillBytes, read_whole};
use crate::workspace::folder::Folder;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn lay_out(shelf: &Path, skill: &SkillBytes) -> Result<PathBuf, String> {
    let failed = |e: std::io::Error| format!("its files cannot be laid out for commands: {e}");
    let short: String = skill.sha256.to_string().chars().take(16).collect();
    let parent = shelf.join(short);
    let place = parent.join(&skill.skill.name);
    if is_same(&place, skill) {
        return Ok(place);
    }
    if fs::symlink_metadata(&parent).is_ok() {
        fs::remove_dir_all(&parent).map_err(failed)?;
    }
    for (path, bytes) in &skill.files {
        let to = path.split('/').fold(place.clone(), |to, part| to.join(part));
        fs::create_dir_all(to.parent().unwrap_or(&place)).map_err(failed)?;
        fs::write(&to, bytes).map_err(failed)?;
        readable_only(&to, bytes.starts_with(b"#!")).map_err(failed)?;
    }
    match is_same(&place, skill) {
        true => Ok(place),
        false => Err("its files were changed while they were laid out for commands".to_owned()),
    }
}

/// Whether exactly these bytes lie there.
fn is_same(place: &Path, skill: &SkillBytes) -> bool {
    let Ok(dir) = Dir::open_ambient_dir(place, ambient_authority()) else { return false };
    let Ok(folder) = Folder::root(dir) else { return false };
    read_whole(&skill.skill.name, &folder).is_ok_and(|(there, _)| there.sha256 == skill.sha256)
}

#[cfg(unix)]
fn readable_only(file: &Path, runs: bool) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(if runs { 0o555 } else { 0o444 }))
}

#[cfg(not(unix))]
fn readable_only(_: &Path, _: bool) -> std::io::Result<()> {
    Ok(())
}
