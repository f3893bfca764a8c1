//! The log of releases: the hash of every envelope that the release key signed, oldest first, under one signed head.

use super::LOG_BYTES_MAX;
use crate::Error;
use seal::merkle;
use seal::note::{Checkpoint, Note, VerifierKey};
use seal::tlog_proof::{HEADER, TlogProof};
use seal::{Digest, PublicKey, Signer};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Name of the log, in its heads.
pub(crate) const ORIGIN: &str = "hermit.local/releases";
/// First line of the file of its leaves.
const HEAD: &str = "hermit-releases 1";
/// In the folder where whoever makes releases keeps the log: its leaves.
const LEAVES: &str = "releases.log";
/// In that folder: the head that was signed last.
const CHECKPOINT: &str = "checkpoint";
/// In that folder: a file that whoever makes a release holds locked, so that nobody goes on from the same leaves meanwhile.
const HELD: &str = "lock";

/// Holds the log for one release, until the file is closed or the program ends; refused where another release is being made.
pub(crate) fn hold(folder: &Path) -> Result<File, Error> {
    let path = folder.join(HELD);
    let held = disk::hold(&path).map_err(|e| Error::io("lock", &path, &e))?;
    held.ok_or_else(|| {
        let why = "another release is being made with it; begin again when that one is done".to_owned();
        Error::Given { what: "log of releases", why }
    })
}

/// The hashes of all leaves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Log {
    pub leaves: Vec<Digest>,
}

impl Log {
    /// Reads what [`Self::to_text`] writes, or says what is wrong with it.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
        let text = text.strip_suffix('\n').ok_or("its last line does not end")?;
        let mut lines = text.split('\n');
        if lines.next() != Some(HEAD) {
            return Err(format!("its first line is not `{HEAD}`"));
        }
        let leaves = lines.map(|line| line.parse::<Digest>().map_err(|e| e.to_string()));
        Ok(Self { leaves: leaves.collect::<Result<_, _>>()? })
    }

    /// The first line, and a line for each leaf.
    pub(crate) fn to_text(&self) -> String {
        let lines: String = self.leaves.iter().map(|leaf| format!("{leaf}\n")).collect();
        format!("{HEAD}\n{lines}")
    }

    /// Whether its first leaves are those of a head.
    pub(crate) fn begins_as(&self, head: &Checkpoint) -> bool {
        let first = usize::try_from(head.size).ok().and_then(|size| self.leaves.get(..size));
        first.is_some_and(|first| !first.is_empty() && merkle::root(first) == head.root)
    }

    /// Whether it is exactly what a head was signed over.
    pub(crate) fn is_under(&self, head: &Checkpoint) -> bool {
        head.size == self.leaves.len() as u64 && self.begins_as(head)
    }

    /// The log that was kept in a folder, under the head that this key signed; an empty one where there is none.
    pub(crate) fn kept(folder: &Path, key: &PublicKey) -> Result<Self, Error> {
        let (leaves, head) = (read(&folder.join(LEAVES))?, read(&folder.join(CHECKPOINT))?);
        let refused = |why: String| Error::Given { what: "log of releases", why };
        let (leaves, head) = match (leaves, head) {
            (None, None) => return Ok(Self::default()),
            (Some(leaves), Some(head)) => (leaves, head),
            _ => return Err(refused(format!("it needs both `{LEAVES}` and `{CHECKPOINT}`"))),
        };
        let log = Self::parse(&leaves).map_err(refused)?;
        let keys = keys(std::slice::from_ref(key)).map_err(|e| refused(e.to_string()))?;
        let head = Checkpoint::open(&head, ORIGIN, &keys).map_err(|e| refused(e.to_string()))?;
        if !log.is_under(&head) {
            return Err(refused("its leaves are not those of the head that was signed last".to_owned()));
        }
        Ok(log)
    }

    /// Puts an envelope behind all others, keeps the log in its folder, and proves that it stands there.
    pub(crate) fn append(
        &mut self,
        envelope: &[u8],
        folder: &Path,
        key: &dyn Signer,
    ) -> Result<TlogProof, Error> {
        let index = self.leaves.len() as u64;
        self.leaves.push(merkle::leaf_hash(envelope));
        let text = self.to_text();
        if text.len() as u64 > LOG_BYTES_MAX {
            return Err(Error::TooLarge { why: "the log of releases is full".to_owned() });
        }
        let head = Checkpoint::new(ORIGIN, index + 1, merkle::root(&self.leaves));
        let note = head.sign(key).map_err(Error::Signing)?;
        let hashes = merkle::inclusion_proof(index, &self.leaves).map_err(Error::inconsistent)?;
        let failed = |e: std::io::Error| Error::io("write", folder, &e);
        std::fs::create_dir_all(folder).map_err(failed)?;
        disk::replace(&folder.join(LEAVES), text.as_bytes()).map_err(failed)?;
        disk::replace(&folder.join(CHECKPOINT), &note.to_bytes()).map_err(failed)?;
        Ok(TlogProof::new(index, hashes, note))
    }
}

/// The keys under the name that they have in heads of this log.
pub(crate) fn keys(keys: &[PublicKey]) -> Result<Vec<VerifierKey>, seal::Error> {
    keys.iter().map(|key| VerifierKey::new(ORIGIN, *key)).collect()
}

/// The head in a file that somebody holds from before: a checkpoint, or the proof of an older release.
pub(crate) fn head_of(bytes: &[u8], keys: &[VerifierKey]) -> Result<Checkpoint, seal::Error> {
    let note = if bytes.starts_with(HEADER.as_bytes()) {
        TlogProof::parse(bytes)?.checkpoint
    } else {
        Note::parse(bytes)?
    };
    Checkpoint::open(&note.to_bytes(), ORIGIN, keys)
}

/// A file of the log; none where it is not there.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let mut bytes = Vec::new();
    let read = match File::open(path) {
        Ok(file) => file.take(LOG_BYTES_MAX + 1).read_to_end(&mut bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error),
    };
    read.map(|_| Some(bytes)).map_err(|e| Error::io("read", path, &e))
}
