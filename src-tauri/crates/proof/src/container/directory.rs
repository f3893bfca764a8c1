//! A bundle as a folder.

use super::{Body, Sink, Stop, check_name, unread};
use crate::names::Names;
use crate::{Error, layout};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// No file of a bundle lies deeper.
const DEPTH_MAX: usize = 4;

pub(crate) struct Directory {
    root: PathBuf,
    files: Names<u64>,
}

impl Directory {
    pub(super) fn open(root: &Path) -> Result<Self, Stop> {
        let mut directory = Self { root: root.to_owned(), files: Names::default() };
        directory.walk(root, "", 0)?;
        directory.files.settle();
        Ok(directory)
    }

    fn walk(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<(), Stop> {
        let failed = |e: std::io::Error| Stop::Failed(Error::io("read", folder, &e));
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                if depth == DEPTH_MAX {
                    return Err(Stop::at(name, "folders nest deeper than in any bundle"));
                }
                self.walk(&entry.path(), &format!("{name}/"), depth + 1)?;
            } else if kind.is_file() {
                check_name(&name)?;
                self.files.add(&name, entry.metadata().map_err(failed)?.len());
                if self.files.len() > layout::FILES_MAX {
                    return Err(Stop::at("the directory", "it has more files than any bundle"));
                }
            } else {
                return Err(Stop::at(name, "it is a link or a special file, and a bundle has none"));
            }
        }
        Ok(())
    }

    pub(super) fn files(&self) -> &Names<u64> {
        &self.files
    }

    pub(super) fn size(&self, name: &str) -> Option<u64> {
        self.files.get(name).copied()
    }

    pub(super) fn reader(&self, name: &str) -> Result<Box<dyn Read + '_>, Stop> {
        if self.files.get(name).is_none() {
            return Err(Stop::at(name, "it is missing"));
        }
        let file = fs::File::open(self.root.join(name)).map_err(|e| unread(name, &e))?;
        Ok(Box::new(file))
    }
}

/// Writes a folder that does not exist yet.
pub(crate) struct DirectorySink {
    root: PathBuf,
}

impl DirectorySink {
    pub(crate) fn create(root: &Path) -> Result<Self, Error> {
        private_folder(root).map_err(|e| Error::io("make", root, &e))?;
        Ok(Self { root: root.to_owned() })
    }
}

impl Sink for DirectorySink {
    fn file(&mut self, name: &str, _size: u64, _crc: u32, body: &mut Body<'_>) -> Result<(), Error> {
        let path = self.root.join(name);
        if let Some(folder) = path.parent() {
            private_folders(folder).map_err(|e| Error::io("make", folder, &e))?;
        }
        let file = create_new(&path).map_err(|e| Error::io("write", &path, &e))?;
        let mut out = std::io::BufWriter::new(file);
        body(&mut out)?;
        out.into_inner().map_err(|e| Error::io("write", &path, e.error()))?;
        Ok(())
    }
}

/// A folder that is not there yet, for its owner alone: a proof tells what its owner did.
fn private_folder(path: &Path) -> std::io::Result<()> {
    disk::owner_only::new_folder(path)
}

fn private_folders(path: &Path) -> std::io::Result<()> {
    disk::owner_only::missing_folders(path)
}

/// A file that is not there yet, for its owner alone.
pub(crate) fn create_new(path: &Path) -> std::io::Result<fs::File> {
    disk::owner_only::create_new(path)
}
