//! A handle on one folder: names in, nothing followed.

use super::Error;
use super::entry::{Kind, Stat};
use super::names::{AS_WINDOWS, name_bytes, os_name};
use super::windows_names::looks_short;
use crate::system::{file_identity, folder_moves, permissions};
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, OpenOptions};
use model::file_name::folded;
use model::witness::Found;
use model::{Digest, RelPath};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::{Mutex, PoisonError};

/// An open folder. Every method takes a single name inside it and, for its messages, the whole path.
pub(crate) struct Folder {
    dir: Dir,
    device: u64,
    inode: u64,
    /// Whole names that look like short ones, folded, as this was listed last: a walk asks about each name that is here.
    listed: Mutex<BTreeSet<String>>,
}

impl Folder {
    pub(crate) fn root(dir: Dir) -> io::Result<Self> {
        file_identity::is_told()?;
        let Stat { device, inode, .. } = Stat::of(&dir.dir_metadata()?);
        Ok(Self { dir, device, inode, listed: Mutex::default() })
    }

    pub(crate) fn again(&self) -> io::Result<Self> {
        let dir = self.dir.try_clone()?;
        Ok(Self { dir, device: self.device, inode: self.inode, listed: Mutex::default() })
    }

    /// The file system it is on.
    pub(crate) fn device(&self) -> u64 {
        self.device
    }

    /// Device and inode: which folder it is, whatever its path.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// A name as the system takes it. Windows knows much by a short name as well, such as `SECRET~1`: rules are about the whole one,
    /// so nothing is reached by the other.
    fn named(&self, name: &[u8]) -> io::Result<OsString> {
        let os = os_name(name)?;
        let may_be_short = AS_WINDOWS && std::str::from_utf8(name).is_ok_and(looks_short);
        if may_be_short && self.is_there_by_another(&os, name)? {
            let name = String::from_utf8_lossy(name);
            let why = format!("Windows calls something with a longer name `{name}`; say its whole name");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(os)
    }

    /// Whether something is found by a name that the list of what is here does not have.
    fn is_there_by_another(&self, os: &OsStr, name: &[u8]) -> io::Result<bool> {
        let name = folded(name);
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if listed.contains(&name) {
            return Ok(false);
        }
        match self.dir.symlink_metadata(os) {
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(e),
        }
        listed.clear();
        for entry in self.dir.entries()? {
            let known = entry?.file_name();
            if known.to_str().is_some_and(looks_short) {
                listed.extend(name_bytes(&known).map(|known| folded(&known)));
            }
        }
        Ok(!listed.contains(&name))
    }

    /// The folder `name` inside this one.
    pub(crate) fn enter(&self, name: &[u8], path: &RelPath) -> Result<Self, Error> {
        let os = self.named(name).map_err(|e| Error::io("opening", path, e))?;
        match self.dir.open_dir_nofollow(&os) {
            Ok(dir) => Self::root(dir).map_err(|e| Error::io("looking at", path, e)),
            Err(error) => Err(match self.stat(name, path) {
                Ok(Stat { kind: Kind::Symlink, .. }) => self.link_refused(name, path),
                Ok(Stat { kind: Kind::Folder, .. }) => Error::io("opening", path, error),
                Ok(_) => Error::NotAFolder(path.clone()),
                Err(other) => other,
            }),
        }
    }

    fn link_refused(&self, name: &[u8], path: &RelPath) -> Error {
        let target = self.link_target(name, path);
        let target = target
            .map_or_else(|_| "an unreadable place".to_owned(), |t| String::from_utf8_lossy(&t).into_owned());
        Error::Symlink { at: path.clone(), target }
    }

    /// What a link says, as bytes.
    pub(crate) fn link_target(&self, name: &[u8], path: &RelPath) -> Result<Vec<u8>, Error> {
        let os = self.named(name).map_err(|e| Error::io("reading", path, e))?;
        let target = self.dir.read_link_contents(&os).map_err(|e| Error::io("reading", path, e))?;
        Ok(name_bytes(target.as_os_str())
            .unwrap_or_else(|| target.to_string_lossy().into_owned().into_bytes()))
    }

    pub(crate) fn stat(&self, name: &[u8], path: &RelPath) -> Result<Stat, Error> {
        let os = self.named(name).map_err(|e| Error::io("looking at", path, e))?;
        match self.dir.symlink_metadata(&os) {
            Ok(metadata) => Ok(Stat::of(&metadata)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Err(Error::Absent(path.clone())),
            Err(e) => Err(Error::io("looking at", path, e)),
        }
    }

    /// What is at `name`, with the digest of a file's bytes.
    pub(crate) fn look(&self, name: &[u8], path: &RelPath) -> Result<Found, Error> {
        let there = self.stat(name, path)?;
        Ok(match there.kind {
            Kind::Folder => Found::Folder { mode: there.mode },
            Kind::Special => Found::Special,
            Kind::Symlink => Found::Symlink { target_sha256: Digest::of(&self.link_target(name, path)?) },
            Kind::File => {
                let (mut file, stat) = self.open_file(name, path)?;
                let (sha256, byte_size) =
                    disk::digest(&mut file).map_err(|e| Error::io("reading", path, e))?;
                Found::File { sha256, byte_size, mode: stat.mode }
            }
        })
    }

    /// Opens a regular file for reading. A pipe that took its place is not waited for.
    pub(crate) fn open_file(&self, name: &[u8], path: &RelPath) -> Result<(File, Stat), Error> {
        let os = self.named(name).map_err(|e| Error::io("opening", path, e))?;
        let kind = self.stat(name, path)?.kind;
        self.regular(kind, name, path)?;
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = self.dir.open_with(&os, &options).map_err(|e| Error::io("opening", path, e))?;
        let stat = Stat::of(&file.metadata().map_err(|e| Error::io("looking at", path, e))?);
        self.regular(stat.kind, name, path)?;
        Ok((file, stat))
    }

    fn regular(&self, kind: Kind, name: &[u8], path: &RelPath) -> Result<(), Error> {
        match kind {
            Kind::File => Ok(()),
            Kind::Symlink => Err(self.link_refused(name, path)),
            other => Err(Error::NotAFile { path: path.clone(), kind: other.article() }),
        }
    }

    /// A new file that was not there, writable.
    pub(crate) fn create_file(&self, name: &[u8], path: &RelPath) -> Result<File, Error> {
        let os = self.named(name).map_err(|e| Error::io("creating", path, e))?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        self.dir.open_with(&os, &options).map_err(|e| Error::io("creating", path, e))
    }

    /// Makes a folder; false when somebody else made it first.
    pub(crate) fn make_folder(&self, name: &[u8], path: &RelPath) -> Result<bool, Error> {
        let os = self.named(name).map_err(|e| Error::io("making", path, e))?;
        match self.dir.create_dir(&os) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(Error::io("making", path, e)),
        }
    }

    /// Gives a folder these permission bits; what has become something else meanwhile is refused.
    pub(crate) fn set_folder_mode(&self, name: &[u8], path: &RelPath, mode: u32) -> Result<(), Error> {
        let set = self.named(name).and_then(|os| permissions::set_folder_bits(&self.dir, &os, mode));
        set.map_err(|e| Error::io("setting the mode of", path, e))
    }

    /// Makes a link that says `target`, whatever that is; it is never followed.
    pub(crate) fn make_link(&self, target: &str, name: &[u8], path: &RelPath) -> Result<(), Error> {
        let linked = self.named(name).and_then(|os| folder_moves::link(&self.dir, target, &os));
        linked.map_err(|e| Error::io("linking", path, e))
    }

    pub(crate) fn remove_file(&self, name: &[u8], path: &RelPath) -> Result<(), Error> {
        let os = self.named(name).map_err(|e| Error::io("removing", path, e))?;
        self.dir.remove_file(&os).map_err(|e| Error::io("removing", path, e))
    }

    pub(crate) fn remove_folder(&self, name: &[u8], path: &RelPath) -> Result<(), Error> {
        let os = self.named(name).map_err(|e| Error::io("removing", path, e))?;
        self.dir.remove_dir(&os).map_err(|e| Error::io("removing", path, e))
    }

    /// Makes the folder's entries durable.
    pub(crate) fn sync(&self, path: &RelPath) -> Result<(), Error> {
        folder_moves::sync_dir(&self.dir).map_err(|e| Error::io("syncing the folder of", path, e))
    }

    /// Renames within or between folders; fails with `AlreadyExists` when something is at the new place.
    pub(crate) fn rename_new(&self, from: &[u8], to: &Self, to_name: &[u8]) -> io::Result<()> {
        folder_moves::rename_new(&self.dir, &self.named(from)?, &to.dir, &to.named(to_name)?)
    }

    /// Renames over whatever is at the new place, within this folder.
    pub(crate) fn rename_over(&self, from: &[u8], to: &[u8]) -> io::Result<()> {
        self.dir.rename(self.named(from)?, &self.dir, self.named(to)?)
    }

    /// Swaps two entries in one step; `Unsupported` where the file system cannot.
    pub(crate) fn exchange(&self, one: &[u8], other: &[u8]) -> io::Result<()> {
        folder_moves::exchange(&self.dir, &self.named(one)?, &self.named(other)?)
    }

    /// Names inside, one more than `most` at most, and whether each is a folder, as the listing itself tells.
    pub(crate) fn kinds(&self, most: usize) -> io::Result<Vec<(Vec<u8>, bool)>> {
        let mut found = Vec::new();
        for entry in self.dir.entries()?.take(most.saturating_add(1)) {
            let entry = entry?;
            let name = name_bytes(&entry.file_name()).ok_or(io::ErrorKind::InvalidData)?;
            found.push((name, entry.file_type()?.is_dir()));
        }
        Ok(found)
    }

    /// Names inside, at most `most`; the second value says whether there were more.
    pub(crate) fn entries(&self, most: usize) -> io::Result<(Vec<Vec<u8>>, bool)> {
        let mut names = Vec::new();
        for entry in self.dir.entries()? {
            if names.len() >= most {
                return Ok((names, true));
            }
            if let Some(name) = name_bytes(&entry?.file_name()) {
                names.push(name);
            }
        }
        names.sort();
        Ok((names, false))
    }
}
