//! Keeping bytes: small ones are handed back for the ledger, larger ones become synced files, large ones chunks.

use crate::Error;
use crate::store::{Store, make_folder, sync_folder};
use model::fault::Point;
use model::{Digest, limits};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often a name is tried that the system does not give, and how long between.
const NAMED_TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(25);

/// Where bytes went.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "inline bytes are kept nowhere until the caller commits them"]
pub enum Put {
    /// Small: the caller commits them with the event that names them.
    Inline {
        /// SHA-256 of the bytes.
        digest: Digest,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// In files of their own, on disk already.
    Stored {
        /// SHA-256 of the bytes.
        digest: Digest,
        /// How many.
        byte_size: u64,
    },
}

impl Put {
    /// SHA-256 of the bytes.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        match self {
            Self::Inline { digest, .. } | Self::Stored { digest, .. } => *digest,
        }
    }

    /// How many bytes.
    #[must_use]
    pub const fn byte_size(&self) -> u64 {
        match self {
            Self::Inline { bytes, .. } => bytes.len() as u64,
            Self::Stored { byte_size, .. } => *byte_size,
        }
    }
}

/// A file in the making; it goes with the value unless it got its name.
pub(crate) struct Temporary {
    /// Absent once it is synced and waits for its name.
    file: Option<File>,
    path: PathBuf,
    kept: bool,
}

impl Temporary {
    pub fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    pub fn sync(&self) -> std::io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_all)
    }

    /// No more is written to it.
    pub fn close(&mut self) {
        self.file = None;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be removed now is swept when the store is opened next.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Store {
    /// Keeps bytes.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::Full`], [`Error::Io`]; nothing is kept then.
    pub fn put(&self, bytes: &[u8]) -> Result<Put, Error> {
        self.put_reader(&mut &*bytes)
    }

    /// Keeps everything a source gives, in memory that does not grow with it.
    ///
    /// # Errors
    /// As [`Store::put`], and [`Error::Source`].
    pub fn put_reader(&self, source: &mut dyn Read) -> Result<Put, Error> {
        let head = beginning(source, limits::WHOLE_ARTIFACT_BYTES_MAX)?;
        match head.len() {
            short if short <= limits::INLINE_ARTIFACT_BYTES_MAX => {
                Ok(Put::Inline { digest: Digest::of(&head), bytes: head })
            }
            whole if whole <= limits::WHOLE_ARTIFACT_BYTES_MAX => self.whole(&head),
            _ => self.split(&head, source),
        }
    }

    /// Keeps bytes in files however few they are: for content that must be on disk before any commit, such as what an
    /// executor is about to overwrite.
    ///
    /// # Errors
    /// As [`Store::put`].
    pub fn put_file(&self, bytes: &[u8]) -> Result<Digest, Error> {
        let put = if bytes.len() <= limits::WHOLE_ARTIFACT_BYTES_MAX {
            self.whole(bytes)
        } else {
            self.split(bytes, &mut std::io::empty())
        };
        Ok(put?.digest())
    }

    fn whole(&self, bytes: &[u8]) -> Result<Put, Error> {
        let (digest, byte_size) = (Digest::of(bytes), bytes.len() as u64);
        self.leases.content(digest);
        let path = self.path_of(&digest);
        if self.holds(digest, byte_size) {
            // Whoever gave it its name may have stopped before the name was on disk.
            sync_folder(path.parent().unwrap_or(&self.root))?;
        } else {
            self.whole_file(bytes, &path)?;
        }
        Ok(Put::Stored { digest, byte_size })
    }

    /// Whether the whole content is there under its name. A damaged file is written anew.
    pub(crate) fn holds(&self, digest: Digest, byte_size: u64) -> bool {
        let metadata = std::fs::metadata(self.path_of(&digest));
        metadata.is_ok_and(|m| m.len() == byte_size) && self.verify_file(&digest).is_ok()
    }

    /// A file under its final name, whole and on disk.
    pub(crate) fn whole_file(&self, bytes: &[u8], path: &Path) -> Result<(), Error> {
        let mut temporary = self.temporary()?;
        self.at(Point::ArtifactWriteTemp, || temporary.write(bytes))?;
        self.at(Point::ArtifactSync, || temporary.sync())?;
        self.name(&mut temporary, path)?;
        self.syncing_folder(path.parent().unwrap_or(&self.root))
    }

    /// Gives a synced file its name; the name is on disk when its folder is synced.
    pub(crate) fn name(&self, temporary: &mut Temporary, path: &Path) -> Result<(), Error> {
        {
            // One at a time: a folder somebody else has just made may not be on disk yet.
            let _one = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
            make_folder(path.parent().unwrap_or(&self.root))?;
        }
        let mut kept = true;
        self.at(Point::ArtifactRename, || {
            kept = renamed(&temporary.path, path)?;
            Ok(())
        })?;
        temporary.kept = kept;
        Ok(())
    }

    pub(crate) fn syncing_folder(&self, folder: &Path) -> Result<(), Error> {
        self.at(Point::ArtifactSyncFolder, || disk::sync_folder(folder))
    }

    pub(crate) fn temporary(&self) -> Result<Temporary, Error> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.making.join(format!("{}-{number}", std::process::id()));
        let file = disk::owner_only::create_new(&path);
        let file = file.map_err(|e| Error::file(format!("making `{}`", path.display()), &e))?;
        Ok(Temporary { file: Some(file), path, kept: false })
    }

    /// One durable boundary: what is done there, and a test's say before and after it.
    pub(crate) fn at(&self, point: Point, act: impl FnOnce() -> std::io::Result<()>) -> Result<(), Error> {
        let done = self.faults.before(point).and_then(|()| act()).and_then(|()| self.faults.after(point));
        done.map_err(|e| Error::file(format!("keeping an artifact (`{point}`)"), &e))
    }
}

/// Gives a file its name, unless one of that name holds the same. Windows refuses the name while somebody has such a file open, who may have
/// given it the name just now, or may be about to remove it.
fn renamed(from: &Path, to: &Path) -> std::io::Result<bool> {
    let mut tries = 0;
    loop {
        match std::fs::rename(from, to) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied && tries < NAMED_TRIES => {
                if is_same(from, to) {
                    return Ok(false);
                }
                tries += 1;
                std::thread::sleep(BETWEEN_TRIES);
            }
            done => return done.map(|()| true),
        }
    }
}

/// Whether two files hold the same bytes; one that cannot be read is like no other. None is larger than what is kept whole.
fn is_same(one: &Path, other: &Path) -> bool {
    matches!((std::fs::read(one), std::fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

/// What a source begins with: one byte more than `most` when it has more.
fn beginning(source: &mut dyn Read, most: usize) -> Result<Vec<u8>, Error> {
    let mut head = Vec::new();
    Read::take(&mut *source, most as u64 + 1).read_to_end(&mut head).map_err(|e| unread(&e))?;
    Ok(head)
}

pub(crate) fn unread(error: &std::io::Error) -> Error {
    Error::Source { why: error.to_string() }
}
