//! Which places a staged command touched, and what is there in its view.

use super::ignore::Ignore;
use super::overlay::{self, Laid, Print};
use crate::reads::walk::walk;
use crate::system::layers::{is_opaque, is_whiteout, kind_of_special};
use crate::workspace::entry::{Kind, Stat};
use crate::{Error, Executors, MANIFEST_ENTRIES_MAX};
use model::RelPath;
use model::action::LeftOut;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Places that are left out and named, at most.
const LEFT_OUT_NAMED: usize = 16;

/// What is at a place of the view now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Now {
    /// Nothing.
    Gone,
    /// A file, whose bytes lie here.
    File(PathBuf, Option<u32>),
    /// A folder that was not there before, or has other permission bits.
    Folder(Option<u32>),
    /// A symbolic link, which lies here.
    Link(PathBuf),
    /// None of these: a device, a socket, a pipe.
    Other(&'static str),
}

/// Place by place.
pub(crate) type Touched = BTreeMap<RelPath, Now>;

/// What a command touched, and what of that the folder's own ignore rules leave out.
pub(crate) struct Seen {
    pub(crate) touched: Touched,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Everything that may differ from the folder itself.
pub(crate) fn find(executors: &Executors, laid: &Laid) -> Result<Seen, Error> {
    let mut finder = Finder {
        executors,
        ignore: Ignore::of(executors),
        waiting: Vec::new(),
        touched: Touched::new(),
        left_out: BTreeMap::new(),
    };
    match laid {
        Laid::Layer { upper, .. } => finder.layer(upper)?,
        Laid::Copied { tree, before } => finder.copied(tree, before)?,
    }
    Ok(Seen { touched: finder.touched, left_out: told(finder.left_out) })
}

/// The places with the most entries by name, all others together.
fn told(left_out: BTreeMap<RelPath, u64>) -> Vec<LeftOut> {
    let mut all: Vec<LeftOut> =
        left_out.into_iter().map(|(path, entries)| LeftOut { path, entries }).collect();
    all.sort_by(|a, b| b.entries.cmp(&a.entries).then_with(|| a.path.cmp(&b.path)));
    let rest: u64 = all.iter().skip(LEFT_OUT_NAMED).map(|one| one.entries).sum();
    all.truncate(LEFT_OUT_NAMED);
    if rest > 0 {
        all.push(LeftOut { path: RelPath::ROOT, entries: rest });
    }
    all
}

fn now(stat: &Stat, place: PathBuf) -> Now {
    match stat.kind {
        Kind::File => Now::File(place, stat.mode),
        Kind::Folder => Now::Folder(stat.mode),
        Kind::Symlink => Now::Link(place),
        Kind::Special => Now::Other(kind_of_special(&place)),
    }
}

struct Finder<'a> {
    executors: &'a Executors,
    ignore: Ignore<'a>,
    /// Folders of a layer that are still to be read; with `true`, of which only tracked files are looked at.
    waiting: Vec<(RelPath, PathBuf, bool)>,
    touched: Touched,
    left_out: BTreeMap<RelPath, u64>,
}

/// What the ignore rules say of a place.
enum Ruled {
    /// Nothing, or git keeps it all the same.
    In,
    /// It is left out with all below it.
    Out,
    /// It is left out but for files below it that git keeps.
    OutButTracked,
}

impl Finder<'_> {
    /// What the rules say; `within` a place that is left out, of which only tracked files are looked at.
    fn ruled(&self, path: &RelPath, is_folder: bool, within: bool) -> Ruled {
        if !within && !self.ignore.names(path, is_folder) {
            return Ruled::In;
        }
        match is_folder {
            true if self.ignore.tracked_within(path).next().is_some() => Ruled::OutButTracked,
            false if self.ignore.tracks(path) => Ruled::In,
            _ => Ruled::Out,
        }
    }

    fn leave_out(&mut self, path: &RelPath, entries: u64) {
        let count = self.left_out.entry(path.clone()).or_default();
        *count = count.saturating_add(entries);
    }

    /// Reads a layer's upper folder: what is in it was written, a device numbered nothing says that a name is gone.
    fn layer(&mut self, upper: &Path) -> Result<(), Error> {
        self.waiting.push((RelPath::ROOT, upper.to_path_buf(), false));
        while let Some((at, folder, within)) = self.waiting.pop() {
            self.folder_of_layer(&at, &folder, within)?;
        }
        Ok(())
    }

    fn folder_of_layer(&mut self, at: &RelPath, folder: &Path, within: bool) -> Result<(), Error> {
        for (path, place) in overlay::entries(at, folder)? {
            let metadata = fs::symlink_metadata(&place).map_err(|e| Error::io("looking at", &path, e))?;
            let whiteout = is_whiteout(&metadata);
            let below = self.kind_below(&path)?;
            let is_folder = metadata.is_dir() || (whiteout && below == Some(Kind::Folder));
            match self.ruled(&path, is_folder, within) {
                Ruled::In if whiteout => self.gone(&path, below)?,
                Ruled::In => self.written(path, place, metadata, below)?,
                Ruled::Out if whiteout && below.is_none() => {}
                Ruled::Out => self.leave_out(&path, if whiteout { 1 } else { overlay::count(&place) }),
                Ruled::OutButTracked => {
                    if whiteout || is_opaque(&place) {
                        self.tracked_gone(&path)?;
                    }
                    if !whiteout {
                        self.waiting.push((path, place, true));
                    }
                }
            }
        }
        Ok(())
    }

    /// Something that the command wrote.
    fn written(
        &mut self,
        path: RelPath,
        place: PathBuf,
        metadata: fs::Metadata,
        below: Option<Kind>,
    ) -> Result<(), Error> {
        let stat = Stat::by_path(metadata);
        match (stat.kind, below) {
            (Kind::Folder, Some(Kind::Folder)) => {
                if is_opaque(&place) {
                    self.all_within_gone(&path)?;
                }
                if self.executors.workspace.stat(&path)?.mode != stat.mode {
                    self.touched.insert(path.clone(), Now::Folder(stat.mode));
                }
                self.waiting.push((path, place, false));
                Ok(())
            }
            (Kind::Folder, _) => {
                self.touched.insert(path.clone(), Now::Folder(stat.mode));
                self.waiting.push((path, place, false));
                Ok(())
            }
            (_, below) => {
                if below == Some(Kind::Folder) {
                    self.all_within_gone(&path)?;
                }
                self.touched.insert(path, now(&stat, place));
                Ok(())
            }
        }
    }

    /// Compares a copy with what it was before.
    fn copied(&mut self, tree: &Path, before: &BTreeMap<RelPath, Print>) -> Result<(), Error> {
        let after = overlay::prints(tree)?;
        for (path, was) in before.iter().filter(|(path, _)| !after.contains_key(*path)) {
            // What goes with a folder that goes, goes; what alone is gone and is left out, stays.
            let with_its_folder = self.touched.get(&path.parent()) == Some(&Now::Gone);
            match self.left_out_at(path, was.stat.kind == Kind::Folder).filter(|_| !with_its_folder) {
                Some(at) => self.leave_out(&at, 1),
                None => drop(self.touched.insert(path.clone(), Now::Gone)),
            }
        }
        for (path, print) in &after {
            let was = before.get(path);
            let same_folder = was.is_some_and(|was| {
                was.stat.kind == Kind::Folder
                    && print.stat.kind == Kind::Folder
                    && was.stat.mode == print.stat.mode
            });
            if was == Some(print) || same_folder {
                continue;
            }
            if let Some(at) = self.left_out_at(path, print.stat.kind == Kind::Folder) {
                self.leave_out(&at, 1);
                continue;
            }
            let place = crate::workspace::names::below(tree, path.as_bytes())
                .map_err(|e| Error::io("naming", path, e))?;
            self.touched.insert(path.clone(), now(&print.stat, place));
        }
        Ok(())
    }

    /// The outermost place at or above `path` that is left out, unless git keeps `path` itself.
    fn left_out_at(&self, path: &RelPath, is_folder: bool) -> Option<RelPath> {
        let mut found = None;
        let mut at = path.clone();
        while !at.is_root() {
            if self.ignore.names(&at, is_folder || at != *path) {
                found = Some(at.clone());
            }
            at = at.parent();
        }
        found.filter(|_| is_folder || !self.ignore.tracks(path))
    }

    /// What is at a path of the folder itself.
    fn kind_below(&self, path: &RelPath) -> Result<Option<Kind>, Error> {
        match self.executors.workspace.stat(path) {
            Ok(stat) => Ok(Some(stat.kind)),
            Err(Error::Absent(_) | Error::NotAFolder(_) | Error::Symlink { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Files that git keeps below a place that is left out are gone with it.
    fn tracked_gone(&mut self, path: &RelPath) -> Result<(), Error> {
        let tracked: Vec<RelPath> = self.ignore.tracked_within(path).cloned().collect();
        for file in tracked {
            if self.kind_below(&file)?.is_some() {
                self.touched.entry(file).or_insert(Now::Gone);
            }
        }
        Ok(())
    }

    fn gone(&mut self, path: &RelPath, below: Option<Kind>) -> Result<(), Error> {
        match below {
            None => return Ok(()),
            Some(Kind::Folder) => self.all_within_gone(path)?,
            Some(_) => {}
        }
        self.touched.insert(path.clone(), Now::Gone);
        Ok(())
    }

    fn all_within_gone(&mut self, path: &RelPath) -> Result<(), Error> {
        let found = walk(&self.executors.workspace, path, true, MANIFEST_ENTRIES_MAX)?;
        if let Some(unread) = found.unread.first() {
            return Err(Error::Request(format!("`{}` cannot be seen: {}", unread.path, unread.reason)));
        }
        for entry in found.entries {
            self.touched.entry(entry.path).or_insert(Now::Gone);
        }
        Ok(())
    }
}

/// The machine's own time of changes, now: what is changed later has a later one. Nanoseconds since 1970.
pub(crate) fn moment(folder: &Path) -> Result<i64, Error> {
    let fail = |source| Error::Spool { doing: "noting when a staged run began", source };
    let at = folder.join("moment");
    fs::write(&at, b"now").map_err(fail)?;
    let metadata = fs::symlink_metadata(&at).map_err(fail)?;
    let stat = Stat::by_path(metadata);
    Ok(stat.changed_ns.max(stat.modified_ns))
}

/// Nobody else has changed a touched place since `begin`: times of change cannot be set back by a program. A place
/// that is not there may have been taken away, so the folder that would hold it is looked at.
pub(crate) fn undisturbed(executors: &Executors, touched: &Touched, begin: i64) -> Result<(), RelPath> {
    // Where each place is, or the innermost folder above it that is there: folders come before what is in them.
    let mut known: BTreeMap<&RelPath, (RelPath, Option<Stat>)> = BTreeMap::new();
    for path in touched.keys() {
        let parent = path.parent();
        let above = known.get(&parent).filter(|(at, _)| *at != parent).cloned();
        let (at, stat) = above.unwrap_or_else(|| innermost(executors, path));
        known.insert(path, (at.clone(), stat));
        // The root's own times are looked at like any folder's.
        let stat = if at.is_root() { root_stat(executors) } else { stat };
        let is_folder_on_the_way = at == *path && stat.is_some_and(|s| s.kind == Kind::Folder);
        if stat.is_some_and(|stat| stat.changed_ns > begin) && !is_folder_on_the_way {
            return Err(path.clone());
        }
    }
    Ok(())
}

fn innermost(executors: &Executors, path: &RelPath) -> (RelPath, Option<Stat>) {
    let mut at = path.clone();
    loop {
        match executors.workspace.stat(&at) {
            Ok(stat) => return (at, Some(stat)),
            Err(_) if at.is_root() => return (at, None),
            Err(_) => at = at.parent(),
        }
    }
}

fn root_stat(executors: &Executors) -> Option<Stat> {
    let metadata = fs::symlink_metadata(executors.workspace.root()).ok()?;
    Some(Stat::by_path(metadata))
}
