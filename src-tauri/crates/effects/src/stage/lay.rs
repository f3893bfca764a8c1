//! Making the view: a layer over the folder, else a copy that shares bytes, else a copy.

use super::Once;
use crate::command::spool::remove_tree;
use crate::command::view::View;
use crate::reads::walk::walk;
use crate::workspace::entry::{Kind, Stat};
use crate::workspace::names;
use crate::{Error, Hands, STAGE_COPY_BYTES_MAX, STAGE_COPY_ENTRIES_MAX, Sandbox};
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
pub(crate) fn lay(hands: &Hands, method: StageMethod, folder: &Path, view: &mut View) -> Result<Laid, Once> {
    let make = |name: &str| -> Result<PathBuf, Error> {
        let path = folder.join(name);
        fs::create_dir(&path).map_err(|source| Error::Spool { doing: "making a staged view", source })?;
        Ok(path)
    };
    if method == StageMethod::Overlay {
        let (upper, work) = (make("upper")?, make("work")?);
        like(hands.workspace.root(), &upper);
        view.layer = Some((upper.clone(), work.clone()));
        return Ok(Laid::Layer { upper, work });
    }
    let tree = make("tree")?;
    copy_all(hands, method, &tree)?;
    like(hands.workspace.root(), &tree);
    let before = prints(&tree)?;
    if hands.sandbox().can_hide() {
        view.source = Some(tree.clone());
    } else {
        // Without mounts of its own the command sees the copy where it lies.
        let within = view.cwd.strip_prefix(&view.root).map(Path::to_path_buf).unwrap_or_default();
        view.cwd = tree.join(within);
        view.root.clone_from(&tree);
    }
    Ok(Laid::Copied { tree, before })
}

/// The root of a view has the permissions of the folder it stands for.
fn like(root: &Path, view: &Path) {
    if let Ok(metadata) = fs::metadata(root) {
        // A view with other permissions is a view all the same.
        let _ = fs::set_permissions(view, metadata.permissions());
    }
}

fn copy_all(hands: &Hands, method: StageMethod, tree: &Path) -> Result<(), Once> {
    let found = walk(&hands.workspace, &RelPath::ROOT, true, STAGE_COPY_ENTRIES_MAX)?;
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
        match entry.stat.kind {
            Kind::Folder => {
                fs::create_dir(&at).map_err(|e| Error::io("copying the folder", &entry.path, e))?;
            }
            Kind::File => copy_file(hands, method, &entry.path, &at)?,
            Kind::Symlink => copy_link(hands, &entry.path, &at)?,
            // A device, socket or pipe is nothing a copy could have.
            Kind::Special => {}
        }
    }
    for entry in found.entries.iter().filter(|e| e.stat.kind == Kind::Folder) {
        let at =
            names::below(tree, entry.path.as_bytes()).map_err(|e| Error::io("naming", &entry.path, e))?;
        set_mode(&at, &entry.stat);
    }
    Ok(())
}

fn copy_file(hands: &Hands, method: StageMethod, path: &RelPath, at: &Path) -> Result<(), Once> {
    let (file, stat) = match hands.workspace.parent(path)?.open_file(path.file_name(), path) {
        Ok(opened) => opened,
        // It went away between the walk and the copy: it is not there.
        Err(Error::Absent(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut from = file.into_std();
    let mut to = File::create_new(at).map_err(|e| Error::io("copying", path, e))?;
    if method == StageMethod::Reflink {
        share(&from, &to).map_err(|e| Once::NotThisWay(e.to_string()))?;
    } else {
        io::copy(&mut from, &mut to).map_err(|e| Error::io("copying", path, e))?;
    }
    set_mode(at, &stat);
    Ok(())
}

/// One set of bytes for both files until one of them changes.
#[cfg(target_os = "linux")]
fn share(from: &File, to: &File) -> io::Result<()> {
    Ok(rustix::fs::ioctl_ficlone(to, from)?)
}

#[cfg(not(target_os = "linux"))]
fn share(_: &File, _: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn copy_link(hands: &Hands, path: &RelPath, at: &Path) -> Result<(), Error> {
    let target = hands.workspace.parent(path)?.link_target(path.file_name(), path)?;
    let target = names::os_name(&target).map_err(|e| Error::io("reading", path, e))?;
    std::os::unix::fs::symlink(target, at).map_err(|e| Error::io("copying the link", path, e))
}

#[cfg(not(unix))]
fn copy_link(_: &Hands, _: &RelPath, _: &Path) -> Result<(), Error> {
    Ok(())
}

#[cfg(unix)]
fn set_mode(at: &Path, stat: &Stat) {
    use std::os::unix::fs::PermissionsExt;
    if let Some(mode) = stat.mode {
        // A copy with other permissions shows as a change of them, which a person sees.
        let _ = fs::set_permissions(at, fs::Permissions::from_mode(mode));
    }
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: &Stat) {}

/// Entries below a folder of ours, links not followed.
pub(crate) fn prints(tree: &Path) -> Result<BTreeMap<RelPath, Print>, Error> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![(RelPath::ROOT, tree.to_path_buf())];
    while let Some((at, folder)) = waiting.pop() {
        for (path, place) in entries(&at, &folder)? {
            let metadata = fs::symlink_metadata(&place).map_err(|e| Error::io("looking at", &path, e))?;
            let stat = Stat::of(&cap_std::fs::Metadata::from_just_metadata(metadata));
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

/// Bytes on disk and entries below a folder of ours, as far as it can be seen.
pub(crate) fn weight(folder: &Path) -> (u64, u64) {
    let Ok(entries) = fs::read_dir(folder) else { return (0, 0) };
    let one = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            let (bytes, within) = weight(&entry.path());
            (bytes, within.saturating_add(1))
        }
        Ok(metadata) => (on_disk(&metadata), 1),
        Err(_) => (0, 1),
    };
    entries.flatten().map(one).fold((0, 0), |(bytes, many), (more, further)| {
        (bytes.saturating_add(more), many.saturating_add(further))
    })
}

/// Entries at and below a place of ours.
pub(crate) fn count(place: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(place) else { return 1 };
    let one = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => count(&entry.path()),
        _ => 1,
    };
    entries.flatten().map(one).fold(1, u64::saturating_add)
}

#[cfg(unix)]
fn on_disk(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(metadata).saturating_mul(512)
}

#[cfg(not(unix))]
fn on_disk(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}
