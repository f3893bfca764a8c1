//! The folder, its names, and who keeps the small ones.

use crate::Error;
use crate::lease::Leases;
use model::Digest;
use model::fault::Faults;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

/// Folder of the files, within the store's.
const FOLDER: &str = "artifacts/sha256";

/// Folder of lists of chunks, under the digest of the content that they are.
const LISTS: &str = "artifacts/lists";

/// Folder of chunks.
const CHUNKS: &str = "artifacts/chunks";

/// Folder of files in the making, on the same file system.
const MAKING: &str = "artifacts/tmp";

/// Where the small artifacts are: the ledger, as the caller reads it.
pub trait InlineBlobs: Send + Sync {
    /// The bytes of a small artifact, if it is one.
    ///
    /// # Errors
    /// Why it could not be read.
    fn inline(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String>;
}

/// No small artifacts: for tools and tests that need only files.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoInline;

impl InlineBlobs for NoInline {
    fn inline(&self, _: &Digest) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }
}

/// The artifacts of one store. May be shared between threads.
pub struct Store {
    pub(crate) root: PathBuf,
    pub(crate) lists: PathBuf,
    pub(crate) chunks: PathBuf,
    pub(crate) making: PathBuf,
    pub(crate) inline: Arc<dyn InlineBlobs>,
    pub(crate) faults: Arc<dyn Faults>,
    pub(crate) next: AtomicU64,
    pub(crate) folders: Mutex<()>,
    pub(crate) leases: Leases,
    /// Held by the collection that runs: there is one at a time.
    pub(crate) collecting: Mutex<()>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the artifacts of the store in `dir` for writing, and removes what broken-off writes left behind. Only
    /// the process that holds the ledger's lock may do that.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::Io`].
    pub fn open(dir: &Path, inline: Arc<dyn InlineBlobs>, faults: Arc<dyn Faults>) -> Result<Self, Error> {
        let store = Self::open_for_reading(dir, inline, faults);
        for folder in [&store.root, &store.lists, &store.chunks, &store.making] {
            make_folder(folder)?;
        }
        store.sweep()?;
        // Folders made by a host that was stopped before it synced their names.
        [&store.root, &store.lists, &store.chunks].into_iter().try_for_each(|folder| sync_folder(folder))?;
        Ok(store)
    }

    /// Opens them without touching the folder: for processes that only read.
    #[must_use]
    pub fn open_for_reading(dir: &Path, inline: Arc<dyn InlineBlobs>, faults: Arc<dyn Faults>) -> Self {
        Self {
            root: dir.join(FOLDER),
            lists: dir.join(LISTS),
            chunks: dir.join(CHUNKS),
            making: dir.join(MAKING),
            inline,
            faults,
            next: AtomicU64::new(0),
            folders: Mutex::new(()),
            leases: Leases::default(),
            collecting: Mutex::new(()),
        }
    }

    /// Where the file of a digest is, whether it is there or not. Large content is a list of chunks and has none.
    #[must_use]
    pub fn path_of(&self, digest: &Digest) -> PathBuf {
        let hex = digest.to_string();
        self.root.join(hex.get(..2).unwrap_or_default()).join(hex)
    }

    /// Whether an artifact is here, as far as can be told without reading it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn contains(&self, digest: &Digest) -> Result<bool, Error> {
        if self.path_of(digest).is_file() || self.list_path(digest).is_file() {
            return Ok(true);
        }
        Ok(self.inline_bytes(digest)?.is_some())
    }

    pub(crate) fn inline_bytes(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        let doing = || "reading a small artifact".to_owned();
        self.inline.inline(digest).map_err(|why| Error::Io { doing: doing(), why })
    }

    /// Removes temporary files: nothing names them, and no write is under way when a store is opened.
    fn sweep(&self) -> Result<(), Error> {
        let failed = |e: std::io::Error| Error::file("sweeping temporary files", &e);
        for entry in std::fs::read_dir(&self.making).map_err(failed)? {
            std::fs::remove_file(entry.map_err(failed)?.path()).map_err(failed)?;
        }
        Ok(())
    }
}

/// Makes a folder and the ones above it, for their owner alone, and syncs the places where their names stand.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Error> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().unwrap_or(folder);
    if above != folder {
        make_folder(above)?;
    }
    let failed = |e: std::io::Error| Error::file(format!("making `{}`", folder.display()), &e);
    match disk::owner_only::new_folder(folder) {
        Ok(()) => {}
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
        Err(e) => return Err(failed(e)),
    }
    sync_folder(above)
}

pub(crate) fn sync_folder(folder: &Path) -> Result<(), Error> {
    let failed = |e: std::io::Error| Error::file(format!("syncing `{}`", folder.display()), &e);
    disk::sync_folder(folder).map_err(failed)
}
