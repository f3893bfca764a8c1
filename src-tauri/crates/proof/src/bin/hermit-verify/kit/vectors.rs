//! A kit as it lies in its folder: `kit.json`, the key that a receiver trusts, and one zip for each vector.

use crate::read as bounded;
use crate::shown::line;
use seal::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The version of the format of a kit.
const FORMAT: &str = "hermit-kit/1";
const KIT_BYTES_MAX: u64 = 16 * 1024 * 1024;
const VECTOR_BYTES_MAX: u64 = 256 * 1024 * 1024;
const VECTORS_MAX: usize = 10_000;
const NAME_BYTES_MAX: usize = 200;

/// What is right to say of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// It is valid, on the word of the key.
    Valid,
    /// It is not: something in it is wrong.
    Invalid,
    /// It is not: something that belongs to it is missing.
    Incomplete,
    /// It is not: the key vouches for nothing in it.
    Unverifiable,
    /// It is of a format that the verifier does not know, and so not valid.
    Unsupported,
}

/// One bundle to check.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    pub name: String,
    /// The check that it is about.
    pub class: String,
    pub about: String,
    /// The requirement behind the check.
    pub requirement: String,
    pub verdict: Right,
    /// The first place at which something is wrong, where there is one.
    pub place: Option<String>,
    /// What this verifier says of it.
    pub says: String,
    pub sha256: Digest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    format: String,
    key_sha256: Digest,
    vectors: Vec<Vector>,
}

/// A kit whose every byte is the one that its list names.
pub struct Kit {
    pub folder: PathBuf,
    /// SHA-256 of `kit.json`, which has those of all else.
    pub sha256: Digest,
    key_sha256: Digest,
    pub vectors: Vec<Vector>,
}

/// Copies of a vector and of the key that a receiver trusts, each alone in its folder and without the name that tells what is wrong.
/// They are gone with it.
pub struct Alone {
    folder: tempfile::TempDir,
}

impl Alone {
    pub fn bundle(&self) -> PathBuf {
        self.folder.path().join("bundle/bundle.zip")
    }

    pub fn key(&self) -> PathBuf {
        self.folder.path().join("key/trusted.pub.pem")
    }
}

impl Kit {
    /// Copies what a verifier is handed out of the kit: beside it lie the right answers.
    ///
    /// # Errors
    /// When it cannot be copied, or was changed since the kit was read.
    pub fn alone(&self, vector: &Vector) -> Result<Alone, String> {
        let cannot = |e: std::io::Error| format!("cannot copy a vector into a folder of its own: {e}");
        let alone =
            Alone { folder: tempfile::Builder::new().prefix("hermit-kit-").tempdir().map_err(cannot)? };
        let copies = [
            (same(&self.bundle(vector), VECTOR_BYTES_MAX, &vector.sha256)?, alone.bundle()),
            (same(&self.key(), KIT_BYTES_MAX, &self.key_sha256)?, alone.key()),
        ];
        for (bytes, to) in copies {
            to.parent().map_or(Ok(()), std::fs::create_dir).map_err(cannot)?;
            std::fs::write(&to, bytes).map_err(cannot)?;
        }
        Ok(alone)
    }

    /// The key that a receiver of the vectors trusts.
    fn key(&self) -> PathBuf {
        self.folder.join("trusted.pub.pem")
    }

    /// Where a vector lies.
    fn bundle(&self, vector: &Vector) -> PathBuf {
        self.folder.join("vectors").join(format!("{}.zip", vector.name))
    }
}

/// Reads a kit that anybody may have made: its names lead nowhere else, and its bytes are those that it lists.
///
/// # Errors
/// What is wrong with it, in words.
pub fn read(folder: &Path) -> Result<Kit, String> {
    let path = folder.join("kit.json");
    let bytes = file(&path, KIT_BYTES_MAX)?;
    let listed: Listed = serde_json::from_slice(&bytes)
        .map_err(|e| format!("`{}` lists no kit: {}", path.display(), line(&e.to_string())))?;
    if listed.format != FORMAT {
        return Err(format!("it is a `{}`, and this program reads {FORMAT}", line(&listed.format)));
    }
    if listed.vectors.is_empty() || listed.vectors.len() > VECTORS_MAX {
        return Err(format!("a kit has from 1 to {VECTORS_MAX} vectors, not {}", listed.vectors.len()));
    }
    let kit = Kit {
        folder: folder.to_owned(),
        sha256: Digest::of(&bytes),
        key_sha256: listed.key_sha256,
        vectors: listed.vectors,
    };
    same(&kit.key(), KIT_BYTES_MAX, &kit.key_sha256)?;
    let mut names = BTreeSet::new();
    for vector in &kit.vectors {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_name = (1..=NAME_BYTES_MAX).contains(&vector.name.len()) && vector.name.chars().all(plain);
        if !is_name || !names.insert(vector.name.as_str()) {
            return Err(format!("`{}` is no name of a vector, or comes twice", vector.name.escape_default()));
        }
        same(&kit.bundle(vector), VECTOR_BYTES_MAX, &vector.sha256)?;
    }
    Ok(kit)
}

/// The bytes of a file, once they are those that the list names.
fn same(path: &Path, max: u64, digest: &Digest) -> Result<Vec<u8>, String> {
    let bytes = file(path, max)?;
    match Digest::of(&bytes) == *digest {
        true => Ok(bytes),
        false => Err(format!("`{}` was changed: kit.json has another digest of it", path.display())),
    }
}

fn file(path: &Path, max: u64) -> Result<Vec<u8>, String> {
    let name = path.to_str().ok_or_else(|| format!("`{}` is no name in UTF-8", path.display()))?;
    bounded(name, max)
}
