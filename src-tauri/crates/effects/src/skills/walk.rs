//! The files of a skill, one below the other, within bounds: no link is followed, and nothing but files and folders is there.

use crate::workspace::entry::{Kind, Stat};
use crate::workspace::folder::Folder;
use model::RelPath;
use model::limits::{SKILL_BYTES_MAX, SKILL_DEPTH_MAX, SKILL_FILES_MAX};
use std::collections::BTreeMap;
use std::io::Read as _;

/// A file as the system tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) stat: Stat,
}

/// Every file of a skill's folder, by path.
pub(super) fn entries(folder: &Folder) -> Result<Vec<Entry>, String> {
    let mut found = Vec::new();
    let (mut bytes, mut left) = (0_u64, SKILL_FILES_MAX);
    walk(folder, &RelPath::ROOT, (0, &mut left), &mut |_, _, at, stat| {
        bytes = bytes.saturating_add(stat.byte_size);
        found.push(Entry { path: named(at)?, stat });
        within(bytes)
    })?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Every file's bytes, by path.
pub(super) fn bytes(folder: &Folder) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut found = BTreeMap::new();
    let (mut bytes, mut left) = (0_u64, SKILL_FILES_MAX);
    walk(folder, &RelPath::ROOT, (0, &mut left), &mut |folder, name, at, _| {
        let path = named(at)?;
        let (file, _) = folder.open_file(name, at).map_err(|e| e.to_string())?;
        let left = SKILL_BYTES_MAX.saturating_sub(bytes);
        let mut read = Vec::new();
        let many = file.take(left.saturating_add(1)).read_to_end(&mut read);
        many.map_err(|e| format!("`{path}` cannot be read: {e}"))?;
        bytes = bytes.saturating_add(read.len() as u64);
        found.insert(path, read);
        within(bytes)
    })?;
    Ok(found)
}

fn within(bytes: u64) -> Result<(), String> {
    if bytes > SKILL_BYTES_MAX {
        let most = SKILL_BYTES_MAX / (1024 * 1024);
        return Err(format!("its files have more than {most} MiB together; take out what it does not need"));
    }
    Ok(())
}

/// A path that can be told and written down as it is.
fn named(at: &RelPath) -> Result<String, String> {
    let path = std::str::from_utf8(at.as_bytes()).ok();
    let plain = path.filter(|path| !path.chars().any(model::visible::is_hidden));
    plain.map(str::to_owned).ok_or_else(|| {
        format!(
            "the name of its file `{}` holds what cannot be seen; rename it",
            at.display_lossy().escape_debug()
        )
    })
}

type Visit<'v> = dyn FnMut(&Folder, &[u8], &RelPath, Stat) -> Result<(), String> + 'v;

/// Visits every file below a folder; `left` is how many files and folders may still be met.
fn walk(
    folder: &Folder,
    at: &RelPath,
    (depth, left): (usize, &mut usize),
    visit: &mut Visit<'_>,
) -> Result<(), String> {
    if depth > SKILL_DEPTH_MAX {
        return Err(format!("its folders lie more than {SKILL_DEPTH_MAX} deep; flatten them"));
    }
    let (names, more) = folder.entries(*left).map_err(|e| e.to_string())?;
    if more {
        return Err(format!(
            "it holds more than {SKILL_FILES_MAX} files and folders; take out what it does not need"
        ));
    }
    *left = left.saturating_sub(names.len());
    for name in names {
        let path = at.join(&name).map_err(|e| e.to_string())?;
        let stat = folder.stat(&name, &path).map_err(|e| e.to_string())?;
        match stat.kind {
            Kind::File => visit(folder, &name, &path, stat)?,
            Kind::Folder => {
                let inner = folder.enter(&name, &path).map_err(|e| e.to_string())?;
                walk(&inner, &path, (depth.saturating_add(1), &mut *left), visit)?;
            }
            Kind::Symlink => {
                return Err(format!(
                    "its file `{}` is a link, and not followed; put the file itself there",
                    path.display_lossy()
                ));
            }
            Kind::Special => {
                return Err(format!(
                    "`{}` in it is neither a file nor a folder; remove it",
                    path.display_lossy()
                ));
            }
        }
    }
    Ok(())
}
