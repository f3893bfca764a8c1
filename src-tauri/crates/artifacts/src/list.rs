//! Large content as a list of chunks: which ones, in which order. Both are files beside those of whole content, and a
//! chunk may stand in many lists.

use crate::Error;
use crate::store::Store;
use model::{Digest, limits};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a list begins with; the digest of the rest of the file follows.
const FORMAT: &str = "hermit-chunks/1";

/// Chunks of any content at most: every one but the last has [`limits::CHUNK_BYTES_MIN`].
const CHUNKS_MAX: u64 = limits::ARTIFACT_BYTES_MAX / limits::CHUNK_BYTES_MIN as u64 + 1;

/// Bytes of a list at most: a line of it has fewer than 128.
const LIST_BYTES_MAX: u64 = (CHUNKS_MAX + 2) * 128;

/// One chunk of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chunk {
    pub sha256: Digest,
    pub bytes: u64,
}

/// The chunks of one content, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    pub byte_size: u64,
    pub chunks: Vec<Chunk>,
}

impl List {
    /// The file: a line that names the format and the digest of what follows, so that a list that was changed is never
    /// believed, not even by a collection that reads no content.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let text = serde_json::to_string(self);
        let text =
            text.map_err(|e| Error::Io { doing: "writing a list of chunks".to_owned(), why: e.to_string() })?;
        Ok(format!("{FORMAT} {}\n{text}\n", Digest::of(text.as_bytes())).into_bytes())
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "its list of chunks is no text".to_owned())?;
        let (head, text) = text.split_once('\n').ok_or("its list of chunks is cut off")?;
        let text = text.strip_suffix('\n').ok_or("its list of chunks is cut off")?;
        let named = head.strip_prefix(FORMAT).map(str::trim).unwrap_or_default();
        if named != Digest::of(text.as_bytes()).to_string() {
            return Err("its list of chunks was changed".to_owned());
        }
        let list: Self =
            serde_json::from_str(text).map_err(|e| format!("its list of chunks cannot be read: {e}"))?;
        let sum = list.chunks.iter().try_fold(0_u64, |sum, chunk| sum.checked_add(chunk.bytes));
        let bounded = list.chunks.iter().all(|chunk| chunk.bytes <= limits::CHUNK_BYTES_MAX as u64);
        if sum != Some(list.byte_size) || !bounded || list.byte_size > limits::ARTIFACT_BYTES_MAX {
            return Err("its list of chunks does not add up".to_owned());
        }
        Ok(list)
    }

    /// The bytes of the chunk that stands at `place` (from 1), of the content `of`, compared with their digest.
    ///
    /// # Errors
    /// [`Error::Corrupt`] of the content, naming the chunk; [`Error::Io`].
    pub fn chunk(&self, chunks: &Path, of: &Digest, place: usize) -> Result<Vec<u8>, Error> {
        let many = self.chunks.len();
        let Some(Chunk { sha256, bytes }) = self.chunks.get(place.wrapping_sub(1)).copied() else {
            return Err(Error::corrupt(*of, format!("it has {many} chunks, and no chunk {place}")));
        };
        let wrong =
            |how: &str| Error::corrupt(*of, format!("its chunk `{sha256}`, number {place} of {many}, {how}"));
        let path = chunk_path(chunks, &sha256);
        let mut found = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
        let read = std::fs::File::open(&path).and_then(|f| f.take(bytes + 1).read_to_end(&mut found));
        match read {
            Ok(_) if Digest::of(&found) == sha256 => Ok(found),
            Ok(_) => Err(wrong("is damaged")),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(wrong("is missing")),
            Err(e) => Err(Error::file(format!("reading `{}`", path.display()), &e)),
        }
    }
}

fn chunk_path(chunks: &Path, digest: &Digest) -> PathBuf {
    let hex = digest.to_string();
    chunks.join(hex.get(..1).unwrap_or_default()).join(hex)
}

impl Store {
    /// Where the list of a content is, if it is kept as one.
    pub(crate) fn list_path(&self, digest: &Digest) -> PathBuf {
        self.lists.join(digest.to_string())
    }

    /// In one of sixteen folders: content of many chunks syncs no more than those.
    pub(crate) fn chunk_path(&self, digest: &Digest) -> PathBuf {
        chunk_path(&self.chunks, digest)
    }

    /// The list of a content; `None` when it is not kept as one.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Io`].
    pub(crate) fn list(&self, digest: &Digest) -> Result<Option<List>, Error> {
        let path = self.list_path(digest);
        let mut bytes = Vec::new();
        let read = std::fs::File::open(&path).and_then(|f| f.take(LIST_BYTES_MAX).read_to_end(&mut bytes));
        match read {
            Ok(_) => List::parse(&bytes).map(Some).map_err(|why| Error::corrupt(*digest, why)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::file(format!("reading `{}`", path.display()), &e)),
        }
    }
}
