//! A store in a temporary folder, with a small ledger of inline content.

use artifacts::{InlineBlobs, Put, Store};
use model::Digest;
use model::fault::{Faults, NoFaults};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Stands for the ledger: keeps what is handed back inline.
#[derive(Default)]
pub struct Inline(pub Mutex<BTreeMap<Digest, Vec<u8>>>);

impl InlineBlobs for Inline {
    fn inline(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.lock().unwrap().get(digest).cloned())
    }
}

pub struct World {
    pub dir: TempDir,
    pub inline: Arc<Inline>,
}

impl World {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), inline: Arc::default() }
    }

    pub fn store(&self) -> Store {
        self.with_faults(Arc::new(NoFaults))
    }

    pub fn with_faults(&self, faults: Arc<dyn Faults>) -> Store {
        Store::open(self.dir.path(), Arc::<Inline>::clone(&self.inline), faults).unwrap()
    }

    /// Keeps bytes the way the kernel does: inline ones are committed.
    pub fn keep(&self, store: &Store, bytes: &[u8]) -> Digest {
        let put = store.put(bytes).unwrap();
        let digest = put.digest();
        if let Put::Inline { digest, bytes } = put {
            self.inline.0.lock().unwrap().insert(digest, bytes);
        }
        digest
    }

    /// Every file below the store's folder.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.dir.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { found.push(path) }
            }
        }
        found.sort();
        found
    }
}

/// Content of this length that differs by `seed`.
pub fn content(seed: u8, length: usize) -> Vec<u8> {
    (0..length).map(|n| (n as u8).wrapping_mul(31).wrapping_add(seed)).collect()
}

/// Content of this length that repeats nothing, different for every seed.
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// The files of one of the store's folders, anywhere below it.
pub fn files_below(world: &World, folder: &str) -> Vec<PathBuf> {
    let folder = world.dir.path().join("artifacts").join(folder);
    world.files().into_iter().filter(|path| path.starts_with(&folder)).collect()
}
