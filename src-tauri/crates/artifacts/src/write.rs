//! Keeping bytes: small ones are handed back for the ledger, larger ones become synced files.

use crate::Error;
use crate::store::{Store, make_folder, sync_folder};
use model::fault::Point;
use model::{Digest, limits};
use seal::Hasher;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

const PIECE: usize = 64 * 1024;

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
    /// In a file of their own, on disk already.
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
struct Temporary {
    file: File,
    path: PathBuf,
    kept: bool,
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
        let mut head = Vec::new();
        let small = limits::INLINE_ARTIFACT_BYTES_MAX as u64;
        Read::take(&mut *source, small + 1).read_to_end(&mut head).map_err(|e| unread(&e))?;
        if head.len() as u64 <= small {
            return Ok(Put::Inline { digest: Digest::of(&head), bytes: head });
        }
        self.stream(&head, source)
    }

    /// Keeps bytes in a file of their own however few they are: for content that must be on disk before any
    /// commit, such as what an executor is about to overwrite.
    ///
    /// # Errors
    /// As [`Store::put`].
    pub fn put_file(&self, bytes: &[u8]) -> Result<Digest, Error> {
        Ok(self.stream(&[], &mut &*bytes)?.digest())
    }

    fn stream(&self, head: &[u8], source: &mut dyn Read) -> Result<Put, Error> {
        self.reach(Point::ArtifactWriteTemp, Edge::Before)?;
        let mut temporary = self.temporary()?;
        let (digest, byte_size) = copy(&mut temporary.file, head, source)?;
        self.reach(Point::ArtifactWriteTemp, Edge::After)?;
        let path = self.path_of(&digest);
        if self.holds(&path, digest, byte_size) {
            // Whoever gave it its name may have stopped before the name was on disk.
            sync_folder(path.parent().unwrap_or(&self.root))?;
            return Ok(Put::Stored { digest, byte_size });
        }
        self.reach(Point::ArtifactSync, Edge::Before)?;
        temporary.file.sync_all().map_err(|e| Error::file("syncing an artifact", &e))?;
        self.reach(Point::ArtifactSync, Edge::After)?;
        self.settle(&mut temporary, &path)?;
        Ok(Put::Stored { digest, byte_size })
    }

    /// Whether the whole content is there under its name. A damaged file is written anew.
    fn holds(&self, path: &Path, digest: Digest, byte_size: u64) -> bool {
        std::fs::metadata(path).is_ok_and(|m| m.len() == byte_size) && self.verify_file(&digest).is_ok()
    }

    fn settle(&self, temporary: &mut Temporary, path: &Path) -> Result<(), Error> {
        let folder = path.parent().unwrap_or(&self.root);
        {
            // One at a time: a folder somebody else has just made may not be on disk yet.
            let _one = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
            make_folder(folder)?;
        }
        self.reach(Point::ArtifactRename, Edge::Before)?;
        std::fs::rename(&temporary.path, path).map_err(|e| Error::file("naming an artifact", &e))?;
        temporary.kept = true;
        self.reach(Point::ArtifactRename, Edge::After)?;
        self.reach(Point::ArtifactSyncFolder, Edge::Before)?;
        sync_folder(folder)?;
        self.reach(Point::ArtifactSyncFolder, Edge::After)
    }

    fn temporary(&self) -> Result<Temporary, Error> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.making.join(format!("{}-{number}", std::process::id()));
        let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|e| Error::file(format!("making `{}`", path.display()), &e))?;
        Ok(Temporary { file, path, kept: false })
    }

    fn reach(&self, point: Point, edge: Edge) -> Result<(), Error> {
        let reached = match edge {
            Edge::Before => self.faults.before(point),
            Edge::After => self.faults.after(point),
        };
        reached.map_err(|e| Error::file(format!("keeping an artifact (`{point}`)"), &e))
    }
}

#[derive(Clone, Copy)]
enum Edge {
    Before,
    After,
}

fn copy(file: &mut File, head: &[u8], source: &mut dyn Read) -> Result<(Digest, u64), Error> {
    let failed = |e: std::io::Error| Error::file("writing an artifact", &e);
    let (mut hasher, mut length, mut piece) = (Hasher::new(), head.len() as u64, vec![0_u8; PIECE]);
    hasher.update(head);
    file.write_all(head).map_err(failed)?;
    loop {
        let read = match source.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(unread(&e)),
        };
        let bytes = piece.get(..read).unwrap_or_default();
        length += bytes.len() as u64;
        if length > limits::ARTIFACT_BYTES_MAX {
            return Err(Error::TooLarge { max: limits::ARTIFACT_BYTES_MAX });
        }
        hasher.update(bytes);
        file.write_all(bytes).map_err(failed)?;
    }
    Ok((hasher.finish(), length))
}

fn unread(error: &std::io::Error) -> Error {
    Error::Source { why: error.to_string() }
}
