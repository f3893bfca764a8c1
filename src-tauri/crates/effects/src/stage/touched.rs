//! Which places a staged command touched, and what is there in its view.

use super::lay::{self, Laid};
use crate::reads::walk::walk;
use crate::workspace::entry::{Kind, Stat};
use crate::{Error, Hands, MANIFEST_ENTRIES_MAX};
use model::RelPath;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What is at a place of the view now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Now {
    /// Nothing.
    Gone,
    /// A file, whose bytes lie here.
    File(PathBuf, Option<u32>),
    /// A folder that was not there before.
    Folder,
    /// A symbolic link, which lies here.
    Link(PathBuf),
    /// None of these: a device, a socket, a pipe.
    Other(&'static str),
}

/// Place by place.
pub(crate) type Touched = BTreeMap<RelPath, Now>;

/// Everything that may differ from the folder itself.
pub(crate) fn find(hands: &Hands, laid: &Laid) -> Result<Touched, Error> {
    let mut finder = Finder { hands, touched: Touched::new() };
    match laid {
        Laid::Layer { upper, .. } => finder.layer(&RelPath::ROOT, upper)?,
        Laid::Copied { tree, before } => {
            let after = lay::prints(tree)?;
            for path in before.keys().filter(|path| !after.contains_key(*path)) {
                finder.touched.insert(path.clone(), Now::Gone);
            }
            for (path, print) in &after {
                let was = before.get(path);
                let folders = was.is_some_and(|was| was.stat.kind == Kind::Folder);
                if was == Some(print) || (folders && print.stat.kind == Kind::Folder) {
                    continue;
                }
                let place = crate::workspace::names::below(tree, path.as_bytes())
                    .map_err(|e| Error::io("naming", path, e))?;
                finder.touched.insert(path.clone(), now(&print.stat, place));
            }
        }
    }
    Ok(finder.touched)
}

fn now(stat: &Stat, place: PathBuf) -> Now {
    match stat.kind {
        Kind::File => Now::File(place, stat.mode),
        Kind::Folder => Now::Folder,
        Kind::Symlink => Now::Link(place),
        Kind::Special => Now::Other(special(&place)),
    }
}

/// What something is that is no file, folder or link, by its own name.
#[cfg(unix)]
fn special(place: &Path) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match fs::symlink_metadata(place).map(|metadata| metadata.file_type()) {
        Ok(kind) if kind.is_fifo() => "a named pipe",
        Ok(kind) if kind.is_socket() => "a socket",
        Ok(kind) if kind.is_block_device() || kind.is_char_device() => "a device",
        _ => "a device, socket or pipe",
    }
}

#[cfg(not(unix))]
fn special(_: &Path) -> &'static str {
    "a device, socket or pipe"
}

struct Finder<'a> {
    hands: &'a Hands,
    touched: Touched,
}

impl Finder<'_> {
    /// Reads a layer's upper folder: what is in it was written, a device numbered nothing says that a name is gone.
    fn layer(&mut self, at: &RelPath, folder: &Path) -> Result<(), Error> {
        for (path, place) in lay::entries(at, folder)? {
            let metadata = fs::symlink_metadata(&place).map_err(|e| Error::io("looking at", &path, e))?;
            if is_whiteout(&metadata) {
                self.gone(&path)?;
                continue;
            }
            let stat = Stat::of(&cap_std::fs::Metadata::from_just_metadata(metadata));
            let below = self.kind_below(&path)?;
            match (stat.kind, below) {
                (Kind::Folder, Some(Kind::Folder)) => {
                    if is_opaque(&place) {
                        self.all_within_gone(&path)?;
                    }
                    self.layer(&path, &place)?;
                }
                (Kind::Folder, _) => {
                    self.touched.insert(path.clone(), Now::Folder);
                    self.layer(&path, &place)?;
                }
                (_, below) => {
                    if below == Some(Kind::Folder) {
                        self.all_within_gone(&path)?;
                    }
                    self.touched.insert(path, now(&stat, place));
                }
            }
        }
        Ok(())
    }

    /// What is at a path of the folder itself.
    fn kind_below(&self, path: &RelPath) -> Result<Option<Kind>, Error> {
        match self.hands.workspace.stat(path) {
            Ok(stat) => Ok(Some(stat.kind)),
            Err(Error::Absent(_) | Error::NotAFolder(_) | Error::Symlink { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn gone(&mut self, path: &RelPath) -> Result<(), Error> {
        match self.kind_below(path)? {
            None => return Ok(()),
            Some(Kind::Folder) => self.all_within_gone(path)?,
            Some(_) => {}
        }
        self.touched.insert(path.clone(), Now::Gone);
        Ok(())
    }

    fn all_within_gone(&mut self, path: &RelPath) -> Result<(), Error> {
        let found = walk(&self.hands.workspace, path, true, MANIFEST_ENTRIES_MAX)?;
        if let Some(unread) = found.unread.first() {
            return Err(Error::Request(format!("`{}` cannot be seen: {}", unread.path, unread.reason)));
        }
        for entry in found.entries {
            self.touched.entry(entry.path).or_insert(Now::Gone);
        }
        Ok(())
    }
}

#[cfg(unix)]
fn is_whiteout(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    metadata.file_type().is_char_device() && metadata.rdev() == 0
}

#[cfg(not(unix))]
fn is_whiteout(_: &fs::Metadata) -> bool {
    false
}

/// Whether a folder of a layer hides all that is in the folder below it.
#[cfg(target_os = "linux")]
fn is_opaque(folder: &Path) -> bool {
    ["user.overlay.opaque", "trusted.overlay.opaque"].iter().any(|name| {
        let mut value = [0u8; 1];
        matches!(rustix::fs::lgetxattr(folder, *name, &mut value), Ok(1) if value == *b"y")
    })
}

#[cfg(not(target_os = "linux"))]
fn is_opaque(_: &Path) -> bool {
    false
}

/// The machine's own time of changes, now: what is changed later has a later one. Nanoseconds since 1970.
pub(crate) fn moment(folder: &Path) -> Result<i64, Error> {
    let fail = |source| Error::Spool { doing: "noting when a staged run began", source };
    let at = folder.join("moment");
    fs::write(&at, b"now").map_err(fail)?;
    let metadata = fs::symlink_metadata(&at).map_err(fail)?;
    let stat = Stat::of(&cap_std::fs::Metadata::from_just_metadata(metadata));
    Ok(stat.changed_ns.max(stat.modified_ns))
}

/// Nobody else has changed a touched place since `begin`: times of change cannot be set back by a program. A place
/// that is not there may have been taken away, so the folder that would hold it is looked at.
pub(crate) fn undisturbed(hands: &Hands, touched: &Touched, begin: i64) -> Result<(), RelPath> {
    for path in touched.keys() {
        let mut at = path.clone();
        let stat = loop {
            match hands.workspace.stat(&at) {
                Ok(stat) => break Some(stat),
                Err(_) if at.is_root() => break None,
                Err(_) => at = at.parent(),
            }
        };
        // The root's own times are looked at like any folder's.
        let stat = if at.is_root() { root_stat(hands) } else { stat };
        let is_folder_on_the_way = at == *path && stat.is_some_and(|s| s.kind == Kind::Folder);
        if stat.is_some_and(|stat| stat.changed_ns > begin) && !is_folder_on_the_way {
            return Err(path.clone());
        }
    }
    Ok(())
}

fn root_stat(hands: &Hands) -> Option<Stat> {
    let metadata = fs::symlink_metadata(hands.workspace.root()).ok()?;
    Some(Stat::of(&cap_std::fs::Metadata::from_just_metadata(metadata)))
}
