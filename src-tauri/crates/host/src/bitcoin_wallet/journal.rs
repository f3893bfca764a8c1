//! What the wallet has sent, written before it goes out: whoever asks again after a crash sends the same bytes, and pays once.

use model::Digest;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

const FILE: &str = "bitcoin-sent.json";
const LOCK: &str = "bitcoin-sent.lock";
/// Transactions that are kept; the oldest go first, which blocks have held for long.
const SENT_MAX: usize = 2_000;
/// The longest such file.
const BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A transaction that was, or was about to be, sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// What it carries.
    pub digest: Digest,
    pub txid: String,
    /// The whole of it in hex.
    pub raw: String,
    /// In satoshi.
    pub fee: u64,
    /// No block below this height holds it.
    pub from_height: u64,
    /// The block in which it was seen last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    sent: Vec<Entry>,
}

/// The file in a store's folder.
pub(super) struct Journal {
    path: PathBuf,
    lock: PathBuf,
}

impl Journal {
    pub(super) fn of(folder: &Path) -> Self {
        Self { path: folder.join(FILE), lock: folder.join(LOCK) }
    }

    /// Until the answer is dropped nobody else sends from this wallet.
    pub(super) fn claim(&self) -> io::Result<File> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&self.lock)?;
        file.lock()?;
        Ok(file)
    }

    /// What was sent, the oldest first.
    pub(super) fn read(&self) -> io::Result<Vec<Entry>> {
        let bytes = match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
            Ok(about) if about.len() > BYTES_MAX => {
                return Err(io::Error::other(format!("`{}` is too long", self.path.display())));
            }
            Ok(_) => std::fs::read(&self.path)?,
        };
        let sent: Sent = serde_json::from_slice(&bytes)?;
        Ok(sent.sent)
    }

    /// Keeps this in place of what has its digest.
    pub(super) fn keep(&self, entry: &Entry) -> io::Result<()> {
        let mut sent = self.read()?;
        sent.retain(|known| known.digest != entry.digest);
        sent.push(entry.clone());
        let over = sent.len().saturating_sub(SENT_MAX);
        sent.drain(..over);
        self.write(sent)
    }

    /// The block in which a transaction was seen.
    pub(super) fn seen(&self, txid: &str, block: &str) -> io::Result<()> {
        let mut sent = self.read()?;
        match sent.iter_mut().find(|known| known.txid == txid) {
            Some(known) if known.block.as_deref() != Some(block) => known.block = Some(block.to_owned()),
            _ => return Ok(()),
        }
        self.write(sent)
    }

    /// Forgets what no node took.
    pub(super) fn forget(&self, txid: &str) -> io::Result<()> {
        let mut sent = self.read()?;
        sent.retain(|known| known.txid != txid);
        self.write(sent)
    }

    fn write(&self, sent: Vec<Entry>) -> io::Result<()> {
        let bytes = serde_json::to_vec(&Sent { sent })?;
        disk::replace(&self.path, &bytes)
    }
}
