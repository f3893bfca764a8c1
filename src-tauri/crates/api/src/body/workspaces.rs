//! Folders that were worked in, and the project of each.

use crate::body::task_show::folder;
use crate::convert::every;
use crate::files::absolute;
use crate::{Host, Wire as _, fold};
use std::path::Path;
use wire::workspaces::{Files, FolderFiles, List, Moved, MovedTo, Workspace, Workspaces};
use wire::{Code, Error};

/// Names that are told.
const NAMES_MAX: usize = 24;
/// Entries that are looked at for them.
const LOOKED_MAX: usize = 20_000;

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Workspaces, Error> {
    let query = host.query()?;
    let projects = fold::store_state(&host.reader()?)?.projects;
    let uses = query.folder_uses().wire()?;
    let mut workspaces = every(|ask| query.workspaces(ask))?;
    // Those that were worked in last come first; one without a task, behind them.
    let place = |id| uses.iter().position(|one| one.workspace_id == id).unwrap_or(usize::MAX);
    workspaces.sort_by_cached_key(|row| place(row.workspace_id));
    let workspaces = workspaces.into_iter().map(|row| {
        let project = projects.get(&row.workspace_id);
        let used = uses.iter().find(|one| one.workspace_id == row.workspace_id);
        Workspace {
            tasks: used.map_or(0, |used| used.tasks),
            waiting: used.map_or(0, |used| used.waiting),
            last_task_id: used.map(|used| used.last_task_id.to_string()),
            last_at: used.map(|used| used.last_at.0),
            workspace_id: row.workspace_id.to_string(),
            folder: folder(&row),
            project_hash: project.map(|(hash, _)| hash.to_string()),
            project_source: project.map(|(_, source)| *source),
        }
    });
    Ok(Workspaces { workspaces: workspaces.collect() })
}

pub(crate) fn moved(host: &dyn Host, p: Moved) -> Result<MovedTo, Error> {
    let kernel = host.kernel()?;
    let (from, to) = (absolute("from", &p.from)?, absolute("to", &p.to)?);
    if host.workspace(&from).is_ok() {
        let why = format!("`{}` is still there, so that it was not moved", from.display());
        return Err(Error::new(Code::Conflict, why));
    }
    let (workspace_id, project) = kernel.workspace_moved(&from, &host.workspace(&to)?).wire()?;
    Ok(MovedTo { workspace_id: workspace_id.to_string(), project_hash: project.to_string() })
}

pub(crate) fn files(_: &dyn Host, p: Files) -> Result<FolderFiles, Error> {
    let folder = absolute("folder", &p.folder)?;
    Ok(if p.folders { folders(&folder, &p.folder) } else { below(&folder, &p.find.to_lowercase()) })
}

/// Folders that a person may mean who has typed so much. What cannot be read is not there.
fn folders(typed: &Path, text: &str) -> FolderFiles {
    let whole = text.ends_with(['/', '\\']) || text == "~";
    let (parent, begun) = match (whole, typed.parent(), typed.file_name()) {
        (false, Some(parent), Some(name)) => (parent, name.to_string_lossy().to_lowercase()),
        _ => (typed, String::new()),
    };
    let mut paths: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten().take(LOOKED_MAX) {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let fits = name.to_lowercase().starts_with(&begun) && name.starts_with('.') == begun.starts_with('.');
        if fits && entry.path().is_dir() {
            paths.extend(entry.path().to_str().map(str::to_owned));
        }
    }
    paths.sort_unstable();
    let more = paths.len() > NAMES_MAX;
    paths.truncate(NAMES_MAX);
    FolderFiles { paths, more }
}

/// Files below a folder in whose path `find` stands, level by level; hidden ones, and what lies behind links, are left out.
fn below(folder: &Path, find: &str) -> FolderFiles {
    let (mut paths, mut looked) = (Vec::new(), 0_usize);
    let mut level = vec![String::new()];
    while !level.is_empty() && paths.len() <= NAMES_MAX && looked < LOOKED_MAX {
        let mut deeper = Vec::new();
        for above in &level {
            let mut found: Vec<(String, bool)> = Vec::new();
            for entry in std::fs::read_dir(folder.join(above)).into_iter().flatten().flatten() {
                looked += 1;
                if looked >= LOOKED_MAX {
                    break;
                }
                let (name, kind) = (entry.file_name(), entry.file_type());
                let (Some(name), Ok(kind)) = (name.to_str(), kind) else { continue };
                if !name.starts_with('.') {
                    found.push((format!("{above}{name}"), kind.is_dir()));
                }
            }
            // Names that begin so are meant more likely than those in which it stands somewhere.
            found.sort_by_cached_key(|(path, _)| {
                let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
                (!name.starts_with(find), path.clone())
            });
            for (path, is_folder) in found {
                match is_folder {
                    true => deeper.push(format!("{path}/")),
                    false if path.to_lowercase().contains(find) => paths.push(path),
                    false => {}
                }
            }
        }
        level = deeper;
    }
    let more = paths.len() > NAMES_MAX || !level.is_empty();
    paths.truncate(NAMES_MAX);
    FolderFiles { paths, more }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_level_by_level_and_folders_by_their_beginning() {
        let dir = tempfile::tempdir().unwrap();
        for path in
            ["notes/deep/Meeting 2.md", "notes/meeting 1.md", "Nothing/.keep", "meeting.md", ".meeting.md"]
        {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = below(dir.path(), "meeting");
        assert_eq!(found.paths, ["meeting.md", "notes/meeting 1.md", "notes/deep/Meeting 2.md"]);
        assert!(!found.more);
        let root = dir.path().to_str().unwrap();
        let named = |text: &str| {
            let found = folders(Path::new(text), text).paths;
            found.iter().map(|path| path.strip_prefix(root).unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(named(&format!("{root}/no")), ["/Nothing", "/notes"]);
        assert_eq!(named(&format!("{root}/notes/")), ["/notes/deep"]);
        assert!(named(&format!("{root}/missing/")).is_empty());
    }

    #[test]
    fn a_large_folder_is_not_walked_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..60 {
            std::fs::write(dir.path().join(format!("{n:02}.txt")), "").unwrap();
        }
        let found = below(dir.path(), "");
        assert_eq!((found.paths.len(), found.more), (NAMES_MAX, true));
    }
}
