//! Keeping large content as chunks. Nothing gets its name before everything is on disk: the chunks first, the list last,
//! so that a list never names what a crash could take away, and what is broken off leaves nothing or garbage.

use crate::Error;
use crate::garbage::remove;
use crate::lease::Writing;
use crate::list::{Chunk, List};
use crate::store::Store;
use crate::write::{Put, Temporary, unread};
use fastcdc::v2020::{Error as Cut, StreamCDC};
use model::fault::Point;
use model::{Digest, limits};
use seal::Hasher;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// A source whose interruptions are no errors.
struct Steady<'s>(&'s mut dyn Read);

impl Read for Steady<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

impl Store {
    /// Keeps what a source gives as chunks; of those that are there already nothing is written.
    pub(crate) fn split(&self, head: &[u8], source: &mut dyn Read) -> Result<Put, Error> {
        let mut source = head.chain(Steady(source));
        let (least, average, most) =
            (limits::CHUNK_BYTES_MIN, limits::CHUNK_BYTES_AVERAGE, limits::CHUNK_BYTES_MAX);
        let (mut whole, mut list) = (Hasher::new(), List { byte_size: 0, chunks: Vec::new() });
        let mut writing = self.leases.writer();
        let mut fresh = Fresh { store: self, waiting: Vec::new(), ready: BTreeMap::new() };
        for cut in StreamCDC::new(&mut source, least, average, most) {
            let bytes = cut.map_err(|e| source_of(&e))?.data;
            list.byte_size += bytes.len() as u64;
            if list.byte_size > limits::ARTIFACT_BYTES_MAX {
                return Err(Error::TooLarge { max: limits::ARTIFACT_BYTES_MAX });
            }
            whole.update(&bytes);
            let chunk = Chunk { sha256: Digest::of(&bytes), bytes: bytes.len() as u64 };
            list.chunks.push(chunk);
            fresh.add(chunk, &bytes, &mut writing)?;
        }
        fresh.sync()?;
        let (digest, byte_size) = (whole.finish(), list.byte_size);
        self.leases.content(digest);
        if self.path_of(&digest).is_file() && self.holds(digest, byte_size) {
            return Ok(Put::Stored { digest, byte_size });
        }
        fresh.name()?;
        // Also of those that were there: whoever named them may have stopped before the name was on disk.
        let paths = list.chunks.iter().map(|chunk| self.chunk_path(&chunk.sha256));
        let folders: BTreeSet<_> = paths.filter_map(|path| path.parent().map(Path::to_owned)).collect();
        folders.iter().try_for_each(|folder| self.syncing_folder(folder))?;
        if self.list(&digest).ok().flatten().as_ref() != Some(&list) {
            self.whole_file(&list.to_bytes()?, &self.list_path(&digest))?;
        }
        self.syncing_folder(&self.lists)?;
        // Damaged, and read before the list: what does not hash to its name is nobody's content.
        remove(&self.path_of(&digest))?;
        Ok(Put::Stored { digest, byte_size })
    }

    fn has_chunk(&self, chunk: Chunk) -> bool {
        let path = self.chunk_path(&chunk.sha256);
        std::fs::metadata(&path).is_ok_and(|m| m.len() == chunk.bytes)
            && std::fs::read(&path).is_ok_and(|bytes| Digest::of(&bytes) == chunk.sha256)
    }
}

/// Chunks that are not there yet, in files without a name.
struct Fresh<'s> {
    store: &'s Store,
    /// Written, not synced.
    waiting: Vec<(Digest, Temporary)>,
    /// Synced, by digest.
    ready: BTreeMap<Digest, Temporary>,
}

impl Fresh<'_> {
    fn add(&mut self, chunk: Chunk, bytes: &[u8], writing: &mut Writing<'_>) -> Result<(), Error> {
        let again = self.ready.contains_key(&chunk.sha256)
            || self.waiting.iter().any(|(digest, _)| *digest == chunk.sha256);
        if again {
            return Ok(());
        }
        writing.chunk(chunk.sha256);
        if self.store.has_chunk(chunk) {
            return Ok(());
        }
        let mut temporary = self.store.temporary()?;
        self.store.at(Point::ArtifactWriteTemp, || temporary.write(bytes))?;
        self.waiting.push((chunk.sha256, temporary));
        if self.waiting.len() >= limits::CHUNKS_SYNCED_AT_ONCE { self.sync() } else { Ok(()) }
    }

    /// Brings what waits to the disk, all at once.
    fn sync(&mut self) -> Result<(), Error> {
        let store = self.store;
        if self.waiting.is_empty() {
            return Ok(());
        }
        store.at(Point::ArtifactSync, || {
            std::thread::scope(|scope| {
                let syncs: Vec<_> =
                    self.waiting.iter().map(|(_, temporary)| scope.spawn(|| temporary.sync())).collect();
                let broke_off = || Err(std::io::Error::other("a sync broke off"));
                syncs.into_iter().try_for_each(|sync| sync.join().unwrap_or_else(|_| broke_off()))
            })
        })?;
        for (digest, mut temporary) in self.waiting.drain(..) {
            // Synced; a thousand open files would be too many.
            temporary.close();
            self.ready.insert(digest, temporary);
        }
        Ok(())
    }

    /// Gives the chunks their names.
    fn name(self) -> Result<(), Error> {
        let store = self.store;
        self.ready
            .into_iter()
            .try_for_each(|(digest, mut temporary)| store.name(&mut temporary, &store.chunk_path(&digest)))
    }
}

fn source_of(error: &Cut) -> Error {
    match error {
        Cut::IoError(e) => unread(e),
        other => Error::Source { why: other.to_string() },
    }
}
