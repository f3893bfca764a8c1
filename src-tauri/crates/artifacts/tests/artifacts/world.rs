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
