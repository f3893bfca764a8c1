//! Files that nothing names any more.

use crate::Error;
use crate::store::{Store, sync_folder};
use model::Digest;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Whether garbage is only counted or removed too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Tell what would go.
    DryRun,
    /// Remove it.
    Remove,
}

/// What was, or would be, collected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    /// Digests that nothing live names, sorted.
    pub digests: Vec<Digest>,
    /// Their bytes on disk.
    pub bytes: u64,
    /// Live files left alone.
    pub kept: u64,
    /// Files under names that are no digest; they are left alone too, and somebody should look.
    pub strangers: Vec<PathBuf>,
}

impl Store {
    /// Collects every file whose digest is not in `live`. The caller holds the ledger's lock, writes no artifact
    /// meanwhile, and has gathered `live` from all events.
    ///
    /// # Errors
    /// [`Error::Io`]; what was removed until then is gone, and was garbage.
    pub fn collect(&self, live: &BTreeSet<Digest>, mode: Mode) -> Result<Collected, Error> {
        let mut collected = Collected::default();
        for folder in listing(&self.root)? {
            if !folder.is_dir() {
                collected.strangers.push(folder);
                continue;
            }
            let mut changed = false;
            for path in listing(&folder)? {
                changed |= self.one(&path, live, mode, &mut collected)?;
            }
            if changed {
                sync_folder(&folder)?;
            }
        }
        collected.digests.sort();
        Ok(collected)
    }

    fn one(
        &self,
        path: &Path,
        live: &BTreeSet<Digest>,
        mode: Mode,
        collected: &mut Collected,
    ) -> Result<bool, Error> {
        let name = path.file_name().and_then(|n| n.to_str());
        let digest = name.and_then(|n| n.parse::<Digest>().ok()).filter(|d| self.path_of(d) == path);
        let Some(digest) = digest else {
            collected.strangers.push(path.to_owned());
            return Ok(false);
        };
        if live.contains(&digest) {
            collected.kept += 1;
            return Ok(false);
        }
        let failed = |e: std::io::Error| Error::file(format!("collecting `{}`", path.display()), &e);
        let bytes = std::fs::symlink_metadata(path).map_err(failed)?.len();
        if mode == Mode::Remove {
            std::fs::remove_file(path).map_err(failed)?;
        }
        collected.bytes += bytes;
        collected.digests.push(digest);
        Ok(mode == Mode::Remove)
    }

    /// How many files there are, and their bytes on disk. Small artifacts are in the ledger and are not among them.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn weigh(&self) -> Result<(u64, u64), Error> {
        let (mut files, mut bytes) = (0u64, 0u64);
        if !self.root.is_dir() {
            return Ok((0, 0));
        }
        for folder in listing(&self.root)?.into_iter().filter(|folder| folder.is_dir()) {
            for path in listing(&folder)? {
                let metadata = std::fs::symlink_metadata(&path);
                let metadata =
                    metadata.map_err(|e| Error::file(format!("weighing `{}`", path.display()), &e))?;
                (files, bytes) = (files + 1, bytes.saturating_add(metadata.len()));
            }
        }
        Ok((files, bytes))
    }

    /// Reads every file and tells which are not what their names say. `live` digests that have no file and are not
    /// inline are told as missing.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn verify(&self, live: &BTreeSet<Digest>) -> Result<Vec<Error>, Error> {
        let mut wrong = Vec::new();
        for digest in live {
            if self.path_of(digest).exists() {
                match self.verify_file(digest) {
                    Ok(_) => {}
                    Err(e @ (Error::Corrupt { .. } | Error::Missing { .. } | Error::TooLarge { .. })) => {
                        wrong.push(e)
                    }
                    Err(e) => return Err(e),
                }
            } else if self.inline_bytes(digest)?.is_none() {
                wrong.push(Error::Missing { digest: *digest });
            }
        }
        Ok(wrong)
    }
}

fn listing(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |e: std::io::Error| Error::file(format!("listing `{}`", folder.display()), &e);
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        entries.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}
