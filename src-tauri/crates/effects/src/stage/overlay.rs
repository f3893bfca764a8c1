//! Making the view: a layer over the folder, else a copy that shares bytes, else a copy.

use super::Once;
use crate::command::removal::remove_tree;
use crate::command::view::View;
use crate::reads::walk::walk;
use crate::system::{layers, permissions};
use crate::workspace::entry::{Kind, Stat};
use crate::workspace::names;
use crate::{
    Error, Executors, STAGE_COPY_BYTES_MAX, STAGE_COPY_ENTRIES_MAX, STAGE_VIEW_DEPTH_MAX,
    STAGE_VIEW_ENTRIES_MAX, STAGE_VIEW_PATH_BYTES_MAX, Sandbox,
};
use model::RelPath;
use model::action::StageMethod;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A view as it was made.
pub(crate) enum Laid {
    /// What the command writes lands in `upper`.
    Layer {
        /// There.
        upper: PathBuf,
        /// The system's own.
        work: PathBuf,
    },
    /// The command works in `tree`, which was like this before.
    Copied {
        /// There.
        tree: PathBuf,
        /// Entry by entry.
        before: BTreeMap<RelPath, Print>,
    },
}

/// What tells an entry of a copy from the same entry changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Print {
    pub(crate) stat: Stat,
}

impl Laid {
    /// The folder that grows while the command runs.
    pub(crate) fn grows(&self) -> &Path {
        match self {
            Self::Layer { upper, .. } => upper,
            Self::Copied { tree, .. } => tree,
        }
    }

    /// Removes everything but what was taken out of it.
    pub(crate) fn clear(&self) {
        // What stays behind is swept with the attempt's folder.
        let _ = match self {
            Self::Layer { upper, work } => remove_tree(upper).and_then(|()| remove_tree(work)),
            Self::Copied { tree, .. } => remove_tree(tree),
        };
    }
}

/// Ways to try on this machine, the cheapest first.
pub(crate) fn methods(sandbox: &Sandbox) -> &'static [StageMethod] {
    const ALL: [StageMethod; 3] = [StageMethod::Overlay, StageMethod::Reflink, StageMethod::Copy];
    if sandbox.can_layer() { &ALL } else { ALL.get(1..).unwrap_or(&[]) }
}

/// Makes the view in `folder` and points `view` at it.
pub(crate) fn lay(
    executors: &Executors,
    method: StageMethod,
    folder: &Path,
    view: &mut View,
) -> Result<Laid, Once> {
    let make = |name: &str| -> Result<PathBuf, Error> {
        let path = folder.join(name);
        fs::create_dir(&path).map_err(|source| Error::Spool { doing: "making a staged view", source })?;
        Ok(path)
    };
    if method == StageMethod::Overlay {
        let (upper, work) = (make("upper")?, make("work")?);
        like(executors.workspace.root(), &upper);
        view.layer = Some((upper.clone(), work.clone()));
        return Ok(Laid::Layer { upper, work });
    }
    let tree = make("tree")?;
    copy_all(executors, method, &tree, &view.unseen)?;
    like(executors.workspace.root(), &tree);
    let before = prints(&tree)?;
    view.source = Some(tree.clone());
    Ok(Laid::Copied { tree, before })
}

/// The root of a view has the permissions of the folder it stands for.
fn like(root: &Path, view: &Path) {
    if let Ok(metadata) = fs::metadata(root) {
        // A view with other permissions is a view all the same.
        let _ = fs::set_permissions(view, metadata.permissions());
    }
}

fn copy_all(executors: &Executors, method: StageMethod, tree: &Path, unseen: &[RelPath]) -> Result<(), Once> {
    let found = walk(&executors.workspace, &RelPath::ROOT, true, STAGE_COPY_ENTRIES_MAX)?;
    let bytes: u64 = found.entries.iter().map(|e| e.stat.byte_size).sum();
    if found.cut || (method == StageMethod::Copy && bytes > STAGE_COPY_BYTES_MAX) {
        let say = format!(
            "the folder has more than {STAGE_COPY_ENTRIES_MAX} entries or {STAGE_COPY_BYTES_MAX} bytes, too many to copy"
        );
        return Err(Once::NotThisWay(say));
    }
    for entry in &found.entries {
        let at =
            names::below(tree, entry.path.as_bytes()).map_err(|e| Error::io("naming", &entry.path, e))?;
        // What it must not see is there, and empty.
        let cover = unseen.iter().find(|unseen| entry.path.is_within(unseen));
        if cover.is_some_and(|cover| *cover != entry.path) {
            continue;
        }
        match entry.stat.kind {
            Kind::File if cover.is_some() => {
                File::create_new(&at).map_err(|e| Error::io("covering", &entry.path, e))?;
            }
            Kind::Folder => {
                fs::create_dir(&at).map_err(|e| Error::io("copying the folder", &entry.path, e))?;
            }
            Kind::File => copy_file(executors, method, &entry.path, &at)?,
            Kind::Symlink => copy_link(executors, &entry.path, &at)?,
            // A device, socket or pipe is nothing a copy could have.
            Kind::Special => {}
        }
    }
    let is_seen = |path: &RelPath| !unseen.iter().any(|unseen| path.is_within(unseen));
    for entry in found.entries.iter().filter(|e| e.stat.kind == Kind::Folder && is_seen(&e.path)) {
        let at =
            names::below(tree, entry.path.as_bytes()).map_err(|e| Error::io("naming", &entry.path, e))?;
        set_mode(&at, &entry.stat);
    }
    Ok(())
}

fn copy_file(executors: &Executors, method: StageMethod, path: &RelPath, at: &Path) -> Result<(), Once> {
    let (file, stat) = match executors.workspace.parent(path)?.open_file(path.file_name(), path) {
        Ok(opened) => opened,
        // It went away between the walk and the copy: it is not there.
        Err(Error::Absent(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut from = file.into_std();
    if method == StageMethod::Reflink {
        layers::share(&from, at).map_err(|e| Once::NotThisWay(e.to_string()))?;
    } else {
        let mut to = File::create_new(at).map_err(|e| Error::io("copying", path, e))?;
        io::copy(&mut from, &mut to).map_err(|e| Error::io("copying", path, e))?;
    }
    set_mode(at, &stat);
    Ok(())
}

fn copy_link(executors: &Executors, path: &RelPath, at: &Path) -> Result<(), Error> {
    let target = executors.workspace.parent(path)?.link_target(path.file_name(), path)?;
    let target = names::os_name(&target).map_err(|e| Error::io("reading", path, e))?;
    layers::copy_link(target, at).map_err(|e| Error::io("copying the link", path, e))
}

fn set_mode(at: &Path, stat: &Stat) {
    if let Some(mode) = stat.mode {
        // A copy with other permissions shows as a change of them, which a person sees.
        let _ = permissions::set_permissions(at, mode);
    }
}

/// Entries below a folder of ours, links not followed.
pub(crate) fn prints(tree: &Path) -> Result<BTreeMap<RelPath, Print>, Error> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![(RelPath::ROOT, tree.to_path_buf())];
    while let Some((at, folder)) = waiting.pop() {
        for (path, place) in entries(&at, &folder)? {
            let metadata = fs::symlink_metadata(&place).map_err(|e| Error::io("looking at", &path, e))?;
            let stat = Stat::by_path(metadata);
            if stat.kind == Kind::Folder {
                waiting.push((path.clone(), place));
            }
            found.insert(path, Print { stat });
        }
    }
    Ok(found)
}

/// Names in a folder of ours, sorted, as paths of the view and as places on disk.
pub(crate) fn entries(at: &RelPath, folder: &Path) -> Result<Vec<(RelPath, PathBuf)>, Error> {
    let fail = |e| Error::io("listing the staged view of", at, e);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = names::name_bytes(&entry.file_name())
            .ok_or_else(|| Error::Request("the command made a name that is not UTF-8".to_owned()))?;
        let path = at
            .join(&name)
            .map_err(|e| Error::Request(format!("the command made a name that cannot be kept: {e}")))?;
        found.push((path, entry.path()));
    }
    found.sort();
    Ok(found)
}

/// What a view holds, as far as it can be seen.
#[derive(Debug, Default)]
pub(crate) struct Weight {
    /// On disk.
    pub(crate) bytes: u64,
    /// Below its root.
    pub(crate) entries: u64,
    /// Whether folders are in each other as no path could name them.
    pub(crate) too_deep: bool,
    /// Bytes that it may have.
    pub(crate) bytes_max: u64,
}

impl Weight {
    /// More than a staged command may leave behind, in words.
    pub(crate) fn too_much(&self) -> Option<String> {
        match self {
            Self { too_deep: true, .. } => Some(format!("{STAGE_VIEW_DEPTH_MAX} folders in each other")),
            Self { bytes, bytes_max, .. } if bytes > bytes_max => Some(format!("{bytes_max} bytes")),
            Self { entries, .. } if *entries > STAGE_VIEW_ENTRIES_MAX => {
                Some(format!("{STAGE_VIEW_ENTRIES_MAX} entries"))
            }
            _ => None,
        }
    }
}

/// Weighs a folder of ours, until it is too much.
pub(crate) fn weight(folder: &Path, bytes_max: u64) -> Weight {
    let mut weight = Weight { bytes_max, ..Weight::default() };
    let mut paths = 0;
    let mut waiting = vec![(folder.to_path_buf(), 0)];
    while let Some((at, depth)) = waiting.pop() {
        let entries = match fs::read_dir(&at) {
            Ok(entries) => entries,
            Err(error) => {
                weight.too_deep |= error.kind() == io::ErrorKind::InvalidFilename;
                continue;
            }
        };
        weight.too_deep |= depth > STAGE_VIEW_DEPTH_MAX || paths > STAGE_VIEW_PATH_BYTES_MAX;
        for entry in entries.flatten() {
            if weight.too_much().is_some() {
                return weight;
            }
            weight.entries = weight.entries.saturating_add(1);
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => {
                    let path = entry.path();
                    paths += path.as_os_str().len();
                    waiting.push((path, depth + 1));
                }
                Ok(metadata) => weight.bytes = weight.bytes.saturating_add(layers::bytes_on_disk(&metadata)),
                Err(_) => {}
            }
        }
    }
    weight
}

/// Entries at and below a place of ours.
pub(crate) fn count(place: &Path) -> u64 {
    let mut count = 1u64;
    let mut waiting = vec![place.to_path_buf()];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            count = count.saturating_add(1);
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            }
        }
    }
    count
}
