//! The folder of a release as it lies on the disk: plain files alone, few, and read no further than they may be long.

use super::{FILES_MAX, LOG, PROOF, STATEMENT};
use crate::Error;
use crate::container::{Stop, unread};
use seal::Digest;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// No file of a release lies deeper.
const DEPTH_MAX: usize = 8;
/// Bytes of a name.
const NAME_BYTES_MAX: usize = 256;

/// Files by name, with the bytes that each had when they were listed.
pub(crate) struct Folder {
    root: PathBuf,
    files: BTreeMap<String, u64>,
}

impl Folder {
    /// Lists the files without reading them. A file stands for the folder in which it lies.
    pub(crate) fn open(path: &Path) -> Result<Self, Stop> {
        let facts = fs::metadata(path).map_err(|e| Stop::Failed(Error::io("read", path, &e)))?;
        let is_statement = path.file_name().is_some_and(|name| name == STATEMENT);
        let root = match path.parent() {
            _ if facts.is_dir() => path,
            Some(parent) if is_statement && parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) if is_statement => parent,
            _ => {
                let why = format!("it is neither the folder of a release nor its `{STATEMENT}`");
                return Err(Stop::at(path.display().to_string(), why));
            }
        };
        let mut folder = Self { root: root.to_owned(), files: BTreeMap::new() };
        folder.walk(root, "", 0)?;
        Ok(folder)
    }

    fn walk(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<(), Stop> {
        let failed = |e: io::Error| Stop::Failed(Error::io("read", folder, &e));
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() && depth < DEPTH_MAX {
                self.walk(&entry.path(), &format!("{name}/"), depth + 1)?;
            } else if kind.is_file() && is_plain(&name) {
                self.files.insert(name, entry.metadata().map_err(failed)?.len());
            } else {
                let shown: String =
                    name.chars().take(NAME_BYTES_MAX).flat_map(char::escape_default).collect();
                return Err(Stop::at(shown, "a release has no such file: only plain files in few folders"));
            }
            if self.files.len() > FILES_MAX + 3 {
                return Err(Stop::at("the folder", "it has more files than any release"));
            }
        }
        Ok(())
    }

    /// Bytes of a file; none where it is not there.
    pub(crate) fn size(&self, name: &str) -> Option<u64> {
        self.files.get(name).copied()
    }

    /// The first file that is not one of these, nor of the three that say what they are.
    pub(crate) fn stray(&self, known: &BTreeMap<String, (Digest, u64)>) -> Option<&str> {
        let is_known = |name: &str| [STATEMENT, PROOF, LOG].contains(&name) || known.contains_key(name);
        self.files.keys().map(String::as_str).find(|name| !is_known(name))
    }

    /// A whole file of at most `max` bytes; none where it is not there.
    pub(crate) fn read(&self, name: &str, max: u64) -> Result<Option<Vec<u8>>, Stop> {
        let Some(size) = self.size(name) else { return Ok(None) };
        if size > max {
            return Err(Stop::at(
                name,
                format!("it has {size} bytes, more than the {max} such a file may have"),
            ));
        }
        let mut bytes = Vec::new();
        let file = File::open(self.root.join(name)).map_err(|e| unread(name, &e))?;
        file.take(size + 1).read_to_end(&mut bytes).map_err(|e| unread(name, &e))?;
        if bytes.len() as u64 != size {
            return Err(Stop::at(name, "its size changed while it was read"));
        }
        Ok(Some(bytes))
    }

    /// Digest of a file that has so many bytes, read in pieces.
    pub(crate) fn digest(&self, name: &str, size: u64) -> Result<Digest, Stop> {
        let file = File::open(self.root.join(name)).map_err(|e| unread(name, &e))?;
        let (digest, read) = disk::digest(file.take(size + 1)).map_err(|e| unread(name, &e))?;
        if read != size {
            return Err(Stop::at(name, "its size changed while it was read"));
        }
        Ok(digest)
    }
}

/// Whether a name stays in its folder on every system and can be shown as it is.
pub(crate) fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '~' | '/');
    let stays = |part: &str| !part.is_empty() && !part.ends_with('.');
    name.len() <= NAME_BYTES_MAX && name.chars().all(plain) && name.split('/').all(stays)
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn a_name_that_leads_elsewhere_or_cannot_be_shown_is_not_plain() {
        for plain in
            ["a", "programs/hermit.exe", "locks/src-tauri/x/Cargo.lock", "programs/Hermit_0.1.0+b~1.deb"]
        {
            assert!(is_plain(plain), "{plain}");
        }
        let long = "a".repeat(257);
        for odd in ["", "/a", "a/", "a//b", "..", "a/../b", "a/.", "a b", "a\\b", "c:", "ä", "a\n", &long] {
            assert!(!is_plain(odd), "{odd}");
        }
    }
}
