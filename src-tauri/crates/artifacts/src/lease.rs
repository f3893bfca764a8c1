//! What was just kept and is not named by an event yet: a collection leaves it alone.
//!
//! An act keeps bytes first and names them later, so between the two nothing leads to them. A collection that runs
//! beside such acts would take them for garbage. Therefore whoever keeps bytes says so here before they look whether the
//! bytes are there already, and a collection removes nothing without asking here, under the same lock: either the bytes
//! are spared, or the other one finds them gone and writes them again.

use model::{Digest, UnixMs, limits};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Everything that is spared.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Content, with when a collection first met it. This room asks no clock; collections bring the time.
    contents: BTreeMap<Digest, Option<UnixMs>>,
    /// Chunks, with how many writers are at them now. Those of nobody are spared until the next collection begins: the
    /// one that runs may have read the lists before theirs was there.
    chunks: BTreeMap<Digest, usize>,
}

impl Held {
    /// Whether content was just kept.
    pub fn has_content(&self, digest: &Digest) -> bool {
        self.contents.contains_key(digest)
    }

    /// Whether a chunk is being kept, or was since the collection that runs began.
    pub fn has_chunk(&self, digest: &Digest) -> bool {
        self.chunks.contains_key(digest)
    }

    /// Lists are read next: chunks that nobody writes have theirs by now.
    pub fn lists_are_read(&mut self) {
        self.chunks.retain(|_, writers| *writers > 0);
    }

    /// A collection begins: content that was met a day ago had its time.
    pub fn begin(&mut self, now: UnixMs) {
        self.lists_are_read();
        self.contents.retain(|_, met| met.get_or_insert(now).plus_ms(limits::CONTENT_LEASE_MS) > now);
    }
}

impl Leases {
    /// The leases, held still: what is removed meanwhile was not kept by anybody.
    pub fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Content is being kept.
    pub fn content(&self, digest: Digest) {
        self.lock().contents.insert(digest, None);
    }

    /// A writer begins that will keep chunks.
    pub const fn writer(&self) -> Writing<'_> {
        Writing { leases: self, chunks: Vec::new() }
    }
}

/// The chunks that one writer is at.
pub(crate) struct Writing<'l> {
    leases: &'l Leases,
    chunks: Vec<Digest>,
}

impl Writing<'_> {
    /// A chunk is being kept.
    pub fn chunk(&mut self, digest: Digest) {
        *self.leases.lock().chunks.entry(digest).or_insert(0) += 1;
        self.chunks.push(digest);
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let mut held = self.leases.lock();
        for digest in &self.chunks {
            if let Some(writers) = held.chunks.get_mut(digest) {
                *writers = writers.saturating_sub(1);
            }
        }
    }
}
