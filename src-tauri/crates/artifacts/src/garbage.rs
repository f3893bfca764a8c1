//! Files that nothing names any more: whole content, lists, and the chunks that no list leads to.
//!
//! Lists go first and chunks last, so that a collection that is broken off leaves chunks without a list, which the next
//! one finds, and never a list without its chunks.

use crate::Error;
use crate::lease::Held;
use crate::list::List;
use crate::store::{Store, sync_folder};
use model::{Digest, UnixMs};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

/// Whether garbage is only counted or removed too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Tell what would go.
    DryRun,
    /// Remove it.
    Remove,
}

/// How a collection goes about it.
#[derive(Debug, Clone, Copy)]
pub struct Sweep {
    /// Only look, or remove.
    pub mode: Mode,
    /// The time.
    pub now: UnixMs,
    /// Files that were written at this time or later are spared, whatever names them: an act that a dead host has left
    /// may still be found to have kept them. `None` where no act is open.
    pub spare_since: Option<UnixMs>,
}

/// What was, or would be, collected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    /// Content that nothing live names, sorted.
    pub digests: Vec<Digest>,
    /// Chunks that no list leads to, also those of the content that went.
    pub chunks: u64,
    /// Bytes on disk of all that.
    pub bytes: u64,
    /// Live content left alone.
    pub kept: u64,
    /// Content and chunks that nothing live names and that were spared, because an act may be about to name them.
    pub spared: u64,
    /// Live content whose list cannot be read. While there is one, no chunk goes: nobody can say which are its own.
    pub unreadable: Vec<Digest>,
    /// Files under names that are no digest; they are left alone too, and somebody should look.
    pub strangers: Vec<PathBuf>,
}

/// What the files come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// Different content.
    pub contents: u64,
    /// Bytes of it.
    pub content_bytes: u64,
    /// Files, chunks and lists among them.
    pub files: u64,
    /// Bytes on disk: less where content shares chunks.
    pub bytes: u64,
}

/// What was found when content was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many were read.
    pub checked: u64,
    /// Bytes of those that are whole.
    pub bytes: u64,
    /// Content that is not here.
    pub missing: Vec<Digest>,
    /// Content that is not what its name says, or cannot be read, with why.
    pub damaged: Vec<(Digest, String)>,
    /// Whether it ended before everything was read.
    pub broken_off: bool,
}

impl Verified {
    /// Whether everything that was read is whole.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.damaged.is_empty()
    }
}

/// A kind of file, and who may say that it stays.
enum Which<'a> {
    Content(&'a BTreeSet<Digest>),
    Chunk(&'a BTreeSet<Digest>),
}

struct Run<'a> {
    sweep: Sweep,
    collected: &'a mut Collected,
}

impl Store {
    /// Collects all content whose digest is not in `live`, and the chunks that only it led to. It may run beside acts that
    /// keep content: what they have just kept is spared. The caller has gathered `live` from all events there were when it
    /// was called.
    ///
    /// # Errors
    /// [`Error::Io`]; what was removed until then is gone, and was garbage.
    pub fn collect(&self, live: &BTreeSet<Digest>, sweep: Sweep) -> Result<Collected, Error> {
        let _one = self.collecting.lock().unwrap_or_else(PoisonError::into_inner);
        self.leases.lock().begin(sweep.now);
        let mut collected = Collected::default();
        let mut run = Run { sweep, collected: &mut collected };
        for folder in folders(&self.root, run.collected)? {
            self.clear(&folder, &Which::Content(live), &mut run)?;
        }
        self.clear(&self.lists, &Which::Content(live), &mut run)?;
        let gone: BTreeSet<Digest> = run.collected.digests.iter().copied().collect();
        let mut reached = BTreeSet::new();
        for digest in self.listed()?.into_iter().filter(|digest| !gone.contains(digest)) {
            match self.list(&digest) {
                Ok(list) => reached.extend(list.iter().flat_map(|l| &l.chunks).map(|chunk| chunk.sha256)),
                Err(Error::Corrupt { .. }) => run.collected.unreadable.push(digest),
                Err(error) => return Err(error),
            }
        }
        if run.collected.unreadable.is_empty() {
            for folder in folders(&self.chunks, run.collected)? {
                self.clear(&folder, &Which::Chunk(&reached), &mut run)?;
            }
        }
        collected.digests.sort();
        collected.digests.dedup();
        Ok(collected)
    }

    fn clear(&self, folder: &Path, which: &Which<'_>, run: &mut Run<'_>) -> Result<(), Error> {
        let mut changed = false;
        for path in listing(folder)? {
            changed |= self.one(&path, which, run)?;
        }
        if changed { sync_folder(folder) } else { Ok(()) }
    }

    fn one(&self, path: &Path, which: &Which<'_>, run: &mut Run<'_>) -> Result<bool, Error> {
        let name = path.file_name().and_then(|n| n.to_str());
        let ours = |digest: &Digest| match which {
            Which::Content(_) => self.path_of(digest) == path || self.list_path(digest) == path,
            Which::Chunk(_) => self.chunk_path(digest) == path,
        };
        let Some(digest) = name.and_then(|n| n.parse::<Digest>().ok()).filter(ours) else {
            run.collected.strangers.push(path.to_owned());
            return Ok(false);
        };
        match which {
            Which::Content(live) if live.contains(&digest) => {
                run.collected.kept += 1;
                return Ok(false);
            }
            Which::Chunk(reached) if reached.contains(&digest) => return Ok(false),
            Which::Content(_) | Which::Chunk(_) => {}
        }
        let failed = |e: std::io::Error| Error::file(format!("collecting `{}`", path.display()), &e);
        let metadata = std::fs::symlink_metadata(path).map_err(failed)?;
        // Held until the file is gone: whoever keeps the same bytes now either comes first, or finds them gone.
        let held = self.leases.lock();
        if leased(&held, which, &digest) || run.sweep.spares(&metadata) {
            run.collected.spared += 1;
            return Ok(false);
        }
        if run.sweep.mode == Mode::Remove {
            std::fs::remove_file(path).map_err(failed)?;
        }
        drop(held);
        run.collected.bytes += metadata.len();
        match which {
            Which::Content(_) => run.collected.digests.push(digest),
            Which::Chunk(_) => run.collected.chunks += 1,
        }
        Ok(run.sweep.mode == Mode::Remove)
    }

    /// Removes content that the log says is no longer kept; whether there was any. A small artifact is in the ledger and
    /// goes there. Chunks that other content has stay, and go with the last of it.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] when other content's list cannot be read, so that nobody can say whose its
    /// chunks are.
    pub fn erase(&self, digest: &Digest) -> Result<bool, Error> {
        let _one = self.collecting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut gone = remove(&self.path_of(digest))?;
        if !self.list_path(digest).is_file() {
            return Ok(gone);
        }
        // One that cannot be read leads nowhere; what were its chunks goes with the next collection.
        let own = self.list(digest).ok().flatten().unwrap_or(List { byte_size: 0, chunks: Vec::new() });
        self.leases.lock().lists_are_read();
        let mut shared = BTreeSet::new();
        for other in self.listed()?.into_iter().filter(|other| other != digest) {
            shared.extend(self.list(&other)?.iter().flat_map(|l| &l.chunks).map(|chunk| chunk.sha256));
        }
        // Chunks first: broken off, the list still leads the next attempt to them.
        for chunk in own.chunks.iter().filter(|chunk| !shared.contains(&chunk.sha256)) {
            let held = self.leases.lock();
            if !held.has_chunk(&chunk.sha256) {
                remove(&self.chunk_path(&chunk.sha256))?;
            }
        }
        gone |= remove(&self.list_path(digest))?;
        Ok(gone)
    }

    /// What all files come to. Small artifacts are in the ledger and are not among them.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn weigh(&self) -> Result<Weight, Error> {
        let mut weight = Weight::default();
        let mut nobody = Collected::default();
        for folder in folders(&self.root, &mut nobody)? {
            for path in listing(&folder)? {
                let bytes = weight.add(&path)?;
                weight.contents += 1;
                weight.content_bytes += bytes;
            }
        }
        for folder in folders(&self.chunks, &mut nobody)? {
            for path in listing(&folder)? {
                weight.add(&path)?;
            }
        }
        for path in listing(&self.lists)? {
            weight.add(&path)?;
        }
        for digest in self.listed()? {
            weight.contents += 1;
            weight.content_bytes += self.list(&digest).ok().flatten().map_or(0, |list| list.byte_size);
        }
        Ok(weight)
    }

    /// Reads everything in `live` and tells what is not what its name says, or is not there. `go_on` is told after each
    /// content how many bytes were read so far, and may say that it is enough.
    ///
    /// # Errors
    /// [`Error::Io`] when the ledger cannot be read.
    pub fn verify<'d>(
        &self,
        live: impl IntoIterator<Item = &'d Digest>,
        go_on: &mut dyn FnMut(&Verified) -> bool,
    ) -> Result<Verified, Error> {
        let mut verified = Verified::default();
        for digest in live {
            match self.verify_one(digest) {
                Ok(bytes) => verified.bytes = verified.bytes.saturating_add(bytes),
                Err(Error::Missing { digest }) => verified.missing.push(digest),
                Err(error) => verified.damaged.push((*digest, error.to_string())),
            }
            verified.checked += 1;
            if !go_on(&verified) {
                verified.broken_off = true;
                break;
            }
        }
        Ok(verified)
    }

    /// A file that cannot be read is as good as damaged: nobody gets its bytes back.
    fn verify_one(&self, digest: &Digest) -> Result<u64, Error> {
        match self.inline_bytes(digest)? {
            Some(bytes) if Digest::of(&bytes) == *digest => Ok(bytes.len() as u64),
            Some(_) => Err(Error::corrupt(*digest, "its bytes in the ledger do not hash to its name")),
            None => self.verify_file(digest),
        }
    }

    /// Content that is a list of chunks.
    fn listed(&self) -> Result<Vec<Digest>, Error> {
        let names = listing(&self.lists)?.into_iter();
        Ok(names.filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect())
    }
}

impl Sweep {
    fn spares(&self, metadata: &std::fs::Metadata) -> bool {
        let written = metadata.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let written = written.and_then(|at| i64::try_from(at.as_millis()).ok()).unwrap_or(i64::MAX);
        self.spare_since.is_some_and(|since| written >= since.0)
    }
}

fn leased(held: &Held, which: &Which<'_>, digest: &Digest) -> bool {
    match which {
        Which::Content(_) => held.has_content(digest),
        Which::Chunk(_) => held.has_chunk(digest),
    }
}

impl Weight {
    fn add(&mut self, path: &Path) -> Result<u64, Error> {
        let metadata = std::fs::symlink_metadata(path);
        let metadata = metadata.map_err(|e| Error::file(format!("weighing `{}`", path.display()), &e))?;
        self.files += 1;
        self.bytes += metadata.len();
        Ok(metadata.len())
    }
}

/// Removes a file, and has its folder forget it; whether it was there.
pub(crate) fn remove(path: &Path) -> Result<bool, Error> {
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(Error::file(format!("removing `{}`", path.display()), &e)),
    }
    path.parent().map_or(Ok(()), sync_folder)?;
    Ok(true)
}

/// The folders within a folder; what is none is a stranger.
fn folders(within: &Path, collected: &mut Collected) -> Result<Vec<PathBuf>, Error> {
    let (folders, others) = listing(within)?.into_iter().partition(|path: &PathBuf| path.is_dir());
    collected.strangers.extend::<Vec<PathBuf>>(others);
    Ok(folders)
}

/// What is in a folder, in order; nothing where there is no folder.
fn listing(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |e: std::io::Error| Error::file(format!("listing `{}`", folder.display()), &e);
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(failed(e)),
    };
    let mut paths =
        entries.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}
